// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"encoding"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

var (
	_ encoding.BinaryAppender = Clock{}
	_ fmt.Stringer            = Clock{}
)

// clockOf returns the clock with the entries in the map.
func clockOf(m map[uint16]uint32, overflow bool) Clock {
	c := Clock{Overflow: overflow}
	servers := make([]uint16, 0, len(m))
	for s := range m {
		servers = append(servers, s)
	}
	slices.Sort(servers)
	for i, s := range servers {
		c.Entry[i] = ClockEntry{s, m[s]}
		c.N++
	}
	return c
}

// randomClock returns a clock of few servers and small counts, so that clocks are often
// ordered, or equal.
func randomClock(r *rand.Rand, servers int) Clock {
	m := make(map[uint16]uint32)
	for range r.IntN(MaxClock + 1) {
		m[uint16(1+r.IntN(servers))] = uint32(1 + r.IntN(3))
	}
	return clockOf(m, r.IntN(4) == 0)
}

func merged(a, b Clock) Clock {
	a.Merge(&b)
	return a
}

func wellFormed(t *testing.T, c Clock) {
	t.Helper()
	if err := c.check(); err != nil {
		t.Fatalf("%v: %v", c, err)
	}
}

func TestClockMergeLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	overflows := 0
	for _, servers := range []int{3, 7, 12, 20} {
		for range 5000 {
			a, b, c := randomClock(r, servers), randomClock(r, servers), randomClock(r, servers)
			ab, ba := merged(a, b), merged(b, a)
			wellFormed(t, ab)
			if ab != ba {
				t.Fatalf("%v and %v: merged %v one way, %v the other", a, b, ab, ba)
			}
			if x, y := merged(ab, c), merged(a, merged(b, c)); x != y {
				t.Fatalf("%v, %v and %v: merged %v one way, %v the other", a, b, c, x, y)
			}
			if x := merged(a, a); x != a {
				t.Fatalf("%v merged with itself is %v", a, x)
			}
			if x := merged(ab, b); x != ab {
				t.Fatalf("%v merged with %v is %v, merged again %v", a, b, ab, x)
			}
			x := a
			x.Merge(&x)
			if x != a {
				t.Fatalf("%v merged into itself is %v", a, x)
			}

			// The merge against one of maps, which says when it must have overflowed.
			m := make(map[uint16]uint32)
			for _, e := range slices.Concat(a.entries(), b.entries()) {
				m[e.Server] = max(m[e.Server], e.Count)
			}
			lost := len(m) > MaxClock
			for s := uint16(servers); len(m) > MaxClock; s-- {
				delete(m, s)
			}
			if want := clockOf(m, lost || a.Overflow || b.Overflow); ab != want {
				t.Fatalf("%v and %v: merged %v, want %v", a, b, ab, want)
			}
			if lost {
				overflows++
				continue
			}
			// Without loss, a merge is the least upper bound.
			if !a.Before(&ab) || !b.Before(&ab) {
				t.Fatalf("%v and %v: not before their merge %v", a, b, ab)
			}
			if a.Before(&c) && b.Before(&c) && !ab.Before(&c) {
				t.Fatalf("%v and %v are before %v, their merge %v isn't", a, b, c, ab)
			}
			if a.Before(&b) != (ab == b) {
				t.Fatalf("%v before %v: %v, but their merge is %v", a, b, a.Before(&b), ab)
			}
		}
	}
	if overflows < 100 {
		t.Errorf("merges overflowed %d times: the test is too weak", overflows)
	}
}

func TestClockBeforeLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	var before, chains, concurrent int
	for range 50000 {
		a, b, c := randomClock(r, 4), randomClock(r, 4), randomClock(r, 4)
		if !a.Before(&a) || a.Concurrent(&a) {
			t.Fatalf("%v: before itself %v, concurrent %v", a, a.Before(&a), a.Concurrent(&a))
		}
		ab, ba, bc := a.Before(&b), b.Before(&a), b.Before(&c)
		if ab && ba && a != b {
			t.Fatalf("%v and %v are before each other", a, b)
		}
		if ab && bc && !a.Before(&c) {
			t.Fatalf("%v, %v, %v: not transitive", a, b, c)
		}
		if got := a.Concurrent(&b); got != (!ab && !ba) || got != b.Concurrent(&a) {
			t.Fatalf("%v and %v: before %v %v, concurrent %v", a, b, ab, ba, got)
		}

		// By the definition.
		want := !a.Overflow || b.Overflow
		for _, e := range a.entries() {
			want = want && e.Count <= b.count(e.Server)
		}
		if ab != want {
			t.Fatalf("%v before %v: %v, want %v", a, b, ab, want)
		}

		// What happens next is after.
		next := a
		next.Tick(uint16(1 + r.IntN(4)))
		if !a.Before(&next) || next.Before(&a) {
			t.Fatalf("%v ticks to %v: before %v, after %v", a, next, a.Before(&next), next.Before(&a))
		}
		if ab && a != b {
			before++
		}
		if ab && bc && a != b && b != c {
			chains++
		}
		if a.Concurrent(&b) {
			concurrent++
		}
	}
	if before < 100 || chains < 100 || concurrent < 100 {
		t.Errorf("%d ordered, %d chains, %d concurrent: the test is too weak", before, chains, concurrent)
	}
}

func TestClockTick(t *testing.T) {
	var c Clock
	for _, s := range []uint16{7, 1, 7, 1, 1, 65534, 3} {
		c.Tick(s)
		wellFormed(t, c)
	}
	if want := clockOf(map[uint16]uint32{1: 3, 3: 1, 7: 2, 65534: 1}, false); c != want {
		t.Fatalf("got %v, want %v", c, want)
	}
	was := c
	c.Tick(0)
	c.Tick(65535)
	if c != was {
		t.Errorf("ticks of no server made %v of %v", c, was)
	}

	for s := range uint16(4) {
		c.Tick(10 + s)
	}
	if c.N != MaxClock || c.Overflow {
		t.Fatalf("%v: should be full, and no more", c)
	}
	c.Tick(10)
	if c.Overflow || c.count(10) != 2 {
		t.Errorf("%v: a server that is in a full clock should count", c)
	}
	was = c
	c.Tick(5)
	was.Overflow = true
	if c != was {
		t.Errorf("got %v, want %v", c, was)
	}

	c = clockOf(map[uint16]uint32{1: math.MaxUint32 - 1}, false)
	c.Tick(1)
	if want := clockOf(map[uint16]uint32{1: math.MaxUint32}, false); c != want {
		t.Errorf("got %v, want %v", c, want)
	}
	c.Tick(1)
	if want := clockOf(map[uint16]uint32{1: math.MaxUint32}, true); c != want {
		t.Errorf("got %v, want %v", c, want)
	}
}

// A clock that nobody should have made, as its fields are exported.
func TestClockBadValue(t *testing.T) {
	bad := Clock{N: 200}
	good := clockOf(map[uint16]uint32{1: 1}, false)
	for _, f := range []func(c Clock){
		func(c Clock) { c.Tick(1) },
		func(c Clock) { c.Merge(&good) },
		func(c Clock) { c.Before(&good) },
		func(c Clock) { good.Before(&c) },
		func(c Clock) { _ = c.String() },
	} {
		f(bad)
	}
	for _, tt := range []struct {
		c    Clock
		want error
	}{
		{bad, errClockFlags},
		{Clock{N: 1}, errClockServer},
		{Clock{N: 1, Entry: [MaxClock]ClockEntry{{65535, 1}}}, errClockServer},
		{Clock{N: 1, Entry: [MaxClock]ClockEntry{{1, 0}}}, errClockCount},
		{Clock{N: 2, Entry: [MaxClock]ClockEntry{{2, 1}, {1, 1}}}, errClockOrder},
		{Clock{N: 2, Entry: [MaxClock]ClockEntry{{2, 1}, {2, 1}}}, errClockOrder},
		{Clock{N: 1, Entry: [MaxClock]ClockEntry{{1, 1}, {2, 1}}}, errClockUnused},
	} {
		b, err := tt.c.AppendBinary([]byte("x"))
		if err != tt.want || string(b) != "x" {
			t.Errorf("%+v: %q, %v; want error %v", tt.c, b, err, tt.want)
		}
	}
}

func TestClockBinary(t *testing.T) {
	for _, tt := range []struct {
		c    Clock
		want string
	}{
		{Clock{}, "00"},
		{Clock{Overflow: true}, "80"},
		{clockOf(map[uint16]uint32{7: 2, 1: 3}, false), "02 0001 00000003 0007 00000002"},
		{clockOf(map[uint16]uint32{0xfffe: 0x12345678}, true), "81 fffe 12345678"},
	} {
		b, err := tt.c.AppendBinary(nil)
		if err != nil || hex.EncodeToString(b) != strings.ReplaceAll(tt.want, " ", "") {
			t.Errorf("%v: %x, %v; want %s", tt.c, b, err, tt.want)
		}
	}
	r := rand.New(rand.NewPCG(3, 3))
	for range 2000 {
		c := randomClock(r, 300)
		b, err := c.AppendBinary([]byte("x"))
		if err != nil || b[0] != 'x' || len(b)-1 > maxClockSize {
			t.Fatalf("%v: %x, %v", c, b, err)
		}
		if got, err := ParseClock(b[1:]); got != c || err != nil {
			t.Fatalf("%x: %v, %v; want %v", b, got, err, c)
		}
	}
}

func TestParseClockErrors(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want error
	}{
		{"", errClockEmpty},
		{"09", errClockFlags},
		{"40", errClockFlags},
		{"7f", errClockFlags},
		{"00 00", errClockSize},
		{"01", errClockSize},
		{"01 0001 000000", errClockSize},
		{"01 0001 00000001 00", errClockSize},
		{"01 0001 00000001 0002 00000001", errClockSize},
		{"01 0000 00000001", errClockServer},
		{"01 ffff 00000001", errClockServer},
		{"01 0001 00000000", errClockCount},
		{"02 0002 00000001 0001 00000001", errClockOrder},
		{"02 0002 00000001 0002 00000002", errClockOrder},
	} {
		b, _ := hex.DecodeString(strings.ReplaceAll(tt.in, " ", ""))
		if c, err := ParseClock(b); err != tt.want || c != (Clock{}) {
			t.Errorf("%s: %v, %v; want error %v", tt.in, c, err, tt.want)
		}
	}
}

func TestClockString(t *testing.T) {
	for _, tt := range []struct {
		c    Clock
		want string
	}{
		{Clock{}, "{}"},
		{Clock{Overflow: true}, "{...}"},
		{clockOf(map[uint16]uint32{7: 2, 1: 3}, false), "{1:3 7:2}"},
		{clockOf(map[uint16]uint32{7: 2}, true), "{7:2 ...}"},
	} {
		if got := fmt.Sprint(tt.c); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func TestClockAllocs(t *testing.T) {
	a := clockOf(map[uint16]uint32{1: 1, 3: 1, 5: 1, 7: 1, 9: 1}, false)
	b := clockOf(map[uint16]uint32{2: 1, 4: 1, 6: 1, 8: 1, 9: 1}, false)
	buf := make([]byte, 0, maxClockSize)
	var l Local
	l.Init(9, new(atomic.Uint64))
	if n := testing.AllocsPerRun(100, func() {
		c := a
		c.Tick(2)
		c.Merge(&b)
		c.Tick(9)
		l.Merge(&c)
		c = l.Event()
		if c.Before(&a) || c.Concurrent(&c) {
			panic("wrong order")
		}
		buf, _ = c.AppendBinary(buf[:0])
		if got, err := ParseClock(buf); got != c || err != nil {
			panic("wrong clock")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestHappenedBefore(t *testing.T) {
	srv := func(id uint16) *Server { return &Server{ID: id} }
	id := TraceID{1}
	one, two := map[uint16]uint32{1: 2}, map[uint16]uint32{1: 2, 2: 1}
	end := map[uint16]uint32{1: math.MaxUint32}
	for _, tt := range []struct {
		name string
		t, u Record
		want bool
	}{
		{"known", Record{Server: srv(1), Trace: id, After: clockOf(one, false)}, Record{Trace: id, Before: clockOf(two, false)}, true},
		{"not yet", Record{Server: srv(1), Trace: id, After: clockOf(one, false)}, Record{Trace: id, Before: clockOf(map[uint16]uint32{1: 1, 2: 1}, false)}, false},
		{"not at all", Record{Server: srv(1), Trace: id, After: clockOf(one, false)}, Record{Trace: id, Before: clockOf(map[uint16]uint32{2: 9}, false)}, false},
		{"other request", Record{Server: srv(1), Trace: id, After: clockOf(one, false)}, Record{Trace: TraceID{2}, Before: clockOf(two, false)}, false},
		{"no request", Record{Server: srv(1), After: clockOf(one, false)}, Record{Before: clockOf(two, false)}, false},
		{"no server", Record{Trace: id, After: clockOf(one, false)}, Record{Trace: id, Before: clockOf(two, false)}, false},
		{"no server ID", Record{Server: srv(0), Trace: id}, Record{Trace: id, Before: clockOf(two, false)}, false},
		{"not counted", Record{Server: srv(3), Trace: id, After: clockOf(one, true)}, Record{Trace: id, Before: clockOf(two, true)}, false},
		{"other entry lost", Record{Server: srv(1), Trace: id, After: clockOf(map[uint16]uint32{1: 2, 9: 1}, false)}, Record{Trace: id, Before: clockOf(two, true)}, true},
		{"end of counting", Record{Server: srv(1), Trace: id, After: clockOf(end, true)}, Record{Trace: id, Before: clockOf(end, true)}, false},
	} {
		if got := tt.t.HappenedBefore(&tt.u); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestLocal(t *testing.T) {
	var l Local
	l.Init(3, nil)
	in := clockOf(map[uint16]uint32{1: 4}, false)
	l.Merge(&in)
	if c := l.Clock(); c != in {
		t.Errorf("got %v, want %v", c, in)
	}
	l.Event()
	if c, want := l.Event(), clockOf(map[uint16]uint32{1: 4, 3: 2}, false); c != want || l.Clock() != want {
		t.Errorf("got %v and %v, want %v", c, l.Clock(), want)
	}

	// Without an ID, clocks pass through.
	l.Init(0, new(atomic.Uint64))
	l.Merge(&in)
	if c := l.Event(); c != in {
		t.Errorf("got %v, want %v", c, in)
	}

	// Counts go on, and if someone claims to know of more of our events than there were,
	// they go on from there.
	var counts atomic.Uint64
	counts.Store(10)
	l.Init(3, &counts)
	if c := l.Event(); c.count(3) != 11 {
		t.Errorf("got %v, want 11 events of 3", c)
	}
	in = clockOf(map[uint16]uint32{3: 100}, false)
	l.Merge(&in)
	if c := l.Event(); c.count(3) != 101 {
		t.Errorf("got %v, want 101 events of 3", c)
	}

	// Where counts end, they say so.
	counts.Store(math.MaxUint32 - 1)
	l.Init(3, &counts)
	if c := l.Event(); c.count(3) != math.MaxUint32 || c.Overflow {
		t.Errorf("got %v, want the last count", c)
	}
	l.Init(3, &counts)
	if c := l.Event(); c.count(3) != math.MaxUint32 || !c.Overflow {
		t.Errorf("got %v, want an overflow", c)
	}
}

// Two Locals of a request that share their counts, and goroutines that share these.
func TestLocalConcurrent(t *testing.T) {
	const goroutines, events = 8, 500
	var counts atomic.Uint64
	var locals [2]Local
	for i := range locals {
		locals[i].Init(5, &counts)
	}
	var clocks [goroutines][events]Clock
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			l := &locals[g%len(locals)]
			in := Clock{}
			for i := range events {
				in.Tick(uint16(10 + g/len(locals)))
				l.Merge(&in)
				clocks[g][i] = l.Event()
			}
		})
	}
	wg.Wait()
	seen := make(map[uint32]bool)
	for l := range locals {
		var all []Clock
		for g := l; g < goroutines; g += len(locals) {
			for i, c := range clocks[g] {
				wellFormed(t, c)
				if seen[c.count(5)] {
					t.Fatalf("%v: not the only event with this count", c)
				}
				seen[c.count(5)] = true
				if i > 0 && !clocks[g][i-1].Before(&c) {
					t.Fatalf("%v: not after %v", c, clocks[g][i-1])
				}
				all = append(all, c)
			}
		}
		// Events of a Local have an order.
		slices.SortFunc(all, func(a, b Clock) int { return int(a.count(5)) - int(b.count(5)) })
		for i := range all[1:] {
			if !all[i].Before(&all[i+1]) {
				t.Fatalf("%v has a higher count than %v, but is not after it", all[i+1], all[i])
			}
		}
	}
	if len(seen) != goroutines*events || counts.Load() != goroutines*events {
		t.Errorf("%d counts, %d counted, want %d", len(seen), counts.Load(), goroutines*events)
	}
}

// All errors say whose they are and differ.
func TestErrorsDiffer(t *testing.T) {
	seen := make(map[string]bool)
	for _, err := range []error{
		errClockEmpty, errClockFlags, errClockSize, errClockServer, errClockOrder, errClockCount, errClockUnused,
		errTraceID, errSpanID,
		errTraceparentSize, errTraceparentVersion, errTraceparentTrace, errTraceparentSpan, errTraceparentFlags,
		errStateSize, errStateMembers, errStateMember, errStateTwice, errStateClock,
	} {
		if !strings.HasPrefix(err.Error(), "task: ") || seen[err.Error()] || errors.Unwrap(err) != nil {
			t.Errorf("%v", err)
		}
		seen[err.Error()] = true
	}
}
