// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"cmp"
	"internal/race"
	"math/rand"
	"runtime/pprof"
	"slices"
	"testing"
	"time"
)

// A program is a request that is made up: goroutines that run, wait, start others, and wait for
// some of these. It knows where its latency went, without a critical path.
type program struct {
	r    *rand.Rand
	list []*routine
	most int
}

// A routine is a goroutine of a program.
type routine struct {
	id    uint64
	by    *routine // that started it
	born  time.Duration
	end   time.Duration
	steps []step
}

// A step is what a goroutine did in [from, to).
type step struct {
	from, wake, to time.Duration
	part           Part     // in [from, wake); it is runnable then
	waker          Waker    // if it waited
	whom           *routine // that it waited for, or nil
}

var programSpan = SpanID{1}

var externalParts = []Part{pprof.TimeSleep, pprof.TimeNetwork, pprof.TimeSyscall, pprof.TimeMutex, pprof.TimeChan, pprof.TimeGC, pprof.TimeOther}

var externalWakers = []Waker{{}, {Goroutine: 1000}, {Goroutine: 1001, Span: SpanID{9}, Kind: "other"}}

func (p *program) length() time.Duration {
	switch p.r.Intn(4) {
	case 0:
		return time.Duration(p.r.Intn(3)) // zero, too
	case 1:
		return time.Duration(p.r.Intn(int(10 * time.Microsecond)))
	}
	return time.Duration(p.r.Intn(int(100 * time.Microsecond)))
}

// run makes a goroutine that is started at a time.
func (p *program) run(by *routine, born time.Duration) *routine {
	g := &routine{id: uint64(len(p.list) + 1), by: by, born: born}
	p.list = append(p.list, g)
	at := born
	do := func(s step) {
		s.from, at = at, s.to
		if s.from < s.to {
			g.steps = append(g.steps, s)
		}
	}
	run := func() {
		to := at + p.length()
		do(step{part: pprof.TimeRunning, wake: to, to: to})
	}
	if by != nil {
		do(step{part: pprof.TimeRunnable, wake: at, to: at + 1 + p.length(), waker: Waker{Goroutine: by.id, Span: programSpan}})
	}
	var started []*routine
	// wait waits for those that are left, or for the next one.
	wait := func(n int) {
		last := slices.MaxFunc(started[:n], func(a, b *routine) int { return cmp.Compare(a.end, b.end) })
		if last.end > at {
			part := []Part{pprof.TimeChan, pprof.TimeSelect, pprof.TimeSync}[p.r.Intn(3)]
			do(step{part: part, wake: last.end, to: last.end + p.length(), whom: last, waker: Waker{Goroutine: last.id, Span: programSpan}})
		}
		started = started[n:]
	}
	for range p.r.Intn(6) {
		run()
		switch p.r.Intn(5) {
		case 0, 1:
			wake := at + p.length()
			do(step{part: externalParts[p.r.Intn(len(externalParts))], wake: wake, to: wake + p.length(), waker: externalWakers[p.r.Intn(len(externalWakers))]})
		case 2, 3:
			for range 1 + p.r.Intn(4) {
				if len(p.list) < p.most {
					run()
					started = append(started, p.run(g, at))
				}
			}
		case 4:
			if len(started) > 0 {
				wait(1)
			}
		}
	}
	run()
	if n := len(started); n > 0 && p.r.Intn(4) != 0 { // otherwise nobody waits for them
		wait(n)
		run()
	}
	g.end = at
	return g
}

// latency adds where the time went of what ends on g.
func (g *routine) latency(l *Latency, from, to time.Duration) {
	for _, s := range g.steps {
		start, wake, end := max(s.from, from), max(from, min(s.wake, to)), min(s.to, to)
		if s.whom != nil && start < wake {
			s.whom.latency(l, start, wake)
		} else {
			l[s.part] += max(0, wake-start)
		}
		l[pprof.TimeRunnable] += max(0, end-max(wake, start))
	}
	if from < g.born {
		g.by.latency(l, from, min(g.born, to))
	}
}

// task returns the record of the program, and where its latency went, if g has ended it.
func (p *program) task(g *routine) (*Record, Latency) {
	t := &Record{Span: programSpan, Kind: "program", Flags: Slow, Goroutine: 1, Goroutines: int64(len(p.list)), Wall: g.end}
	t.Ender.Goroutine = g.id
	for _, o := range p.list {
		if o.born >= t.Wall {
			t.Goroutines--
		}
		for _, s := range o.steps {
			start, wake, end := min(s.from, t.Wall), min(s.wake, t.Wall), min(s.to, t.Wall)
			for _, of := range []*[NumParts]time.Duration{&t.Parts, &t.Ender.Parts} {
				if of == &t.Parts || o == g {
					of[s.part] += wake - start
					of[pprof.TimeRunnable] += end - wake
				}
			}
			if s.part != pprof.TimeRunning && s.to <= t.Wall {
				t.Timeline = append(t.Timeline, Stretch{Goroutine: o.id, Start: s.from, Wake: s.wake, End: s.to, Part: s.part, Waker: s.waker})
			}
		}
	}
	slices.SortStableFunc(t.Timeline, func(a, b Stretch) int { return cmp.Compare(a.Start, b.Start) })
	if t.Goroutines == 1 {
		t.Ender.Parts = [NumParts]time.Duration{}
	}
	for range p.r.Intn(3) {
		t.Calls = append(t.Calls, Call{Span: SpanID{byte(2 + p.r.Intn(3))}, Kind: "call", Flags: Flags(p.r.Intn(16)), Start: p.length(), Wall: p.length()})
	}
	var truth Latency
	g.latency(&truth, 0, t.Wall)
	return t, truth
}

// lose takes something out of a record.
func lose(r *rand.Rand, t *Record) {
	drop := func(f func(s Stretch) bool) {
		t.Timeline = slices.DeleteFunc(t.Timeline, f)
	}
	switch r.Intn(5) {
	case 0:
		t.Timeline = nil
	case 1: // what is short
		drop(func(s Stretch) bool { return s.End-s.Start < 10*time.Microsecond })
	case 2: // those that there was no memory for
		drop(func(s Stretch) bool { return r.Intn(3) == 0 })
	case 3: // goroutines that had left it
		drop(func(s Stretch) bool { return s.Goroutine%2 == 0 })
	case 4: // of an older release
		t.Ender = Ender{}
	}
}

// checkLatency checks what is so of all records.
func checkLatency(t *testing.T, x *Record) Latency {
	t.Helper()
	l := x.Latency()
	if len(x.Timeline) > 0 {
		if d := x.gaps(x.CriticalPath())[Elsewhere]; d != 0 {
			t.Fatalf("gaps of the path have %d elsewhere once more\n%+v", d, x)
		}
	}
	var sum time.Duration
	for p, d := range l {
		if d < 0 {
			t.Fatalf("%s %d", PartName(Part(p)), d)
		}
		sum += d
	}
	if sum != max(0, x.Wall) {
		t.Fatalf("the parts are %d in sum, of %d: %v", sum, x.Wall, l)
	}
	if running := max(0, x.Parts[pprof.TimeRunning]) + max(0, x.Ender.Parts[pprof.TimeRunning]); l[pprof.TimeRunning] > running {
		t.Fatalf("running %d, of %d", l[pprof.TimeRunning], running)
	}
	return l
}

// TestLatencyAway has a goroutine that works for another task between two stretches, and one that it
// has started then, which computes to the end.
func TestLatencyAway(t *testing.T) {
	self := SpanID{1}
	x := &Record{Span: self, Goroutine: 1, Goroutines: 2, Wall: 151 * testMs, Ender: Ender{Goroutine: 2}, Timeline: []Stretch{
		waited(1, pprof.TimeSleep, 1, 5, 5, Waker{}),
		waited(1, pprof.TimeSleep, 45, 49, 49, Waker{}), // from 5 to 45 it works for another task
		waited(2, pprof.TimeRunnable, 50, 50, 51, Waker{Goroutine: 1, Span: self}),
	}}
	x.Ender.Parts[pprof.TimeRunning], x.Ender.Parts[pprof.TimeRunnable] = 100*testMs, 1*testMs
	x.Parts = x.Ender.Parts
	x.Parts[pprof.TimeRunning] += 2 * testMs
	x.Parts[pprof.TimeSleep] = 8 * testMs
	want := Latency{Elsewhere: 40 * testMs}
	want[pprof.TimeRunning], want[pprof.TimeRunnable], want[pprof.TimeSleep] = 102*testMs, 1*testMs, 8*testMs
	if got := checkLatency(t, x); got != want {
		t.Errorf("got %v, want %v, on %s", got, want, pathText(x.CriticalPath()))
	}
}

// TestLatency has a million records: of programs whose latency is known, as they are and with
// something lost, and those that other tests use, which may make no sense.
func TestLatency(t *testing.T) {
	n := 1_000_000
	if race.Enabled || testing.Short() {
		n = 20_000
	}
	r := rand.New(rand.NewSource(39))
	var whole, by, alone, bare, lost int
	for i := range n {
		switch i % 50 {
		case 48:
			checkLatency(t, oddTask(r))
			continue
		case 49:
			checkLatency(t, randomTask(r))
			continue
		}
		p := &program{r: r, most: 1 + r.Intn(8)}
		g := p.run(nil, 0)
		if r.Intn(4) == 0 { // another one ends the task
			g = p.list[r.Intn(len(p.list))]
			by++
		}
		x, truth := p.task(g)
		if got := checkLatency(t, x); got != truth {
			t.Fatalf("record %d: got %v, want %v\n%+v", i, got, truth, x)
		}
		whole++
		full := *x
		x.Timeline = slices.Clone(x.Timeline)
		lose(r, x)
		got := checkLatency(t, x)
		lost++
		if x.Goroutines == 1 && g.id == 1 {
			alone++
			if want := Latency(append(x.Parts[:], 0)); got != want {
				t.Fatalf("record %d, of one goroutine: got %v, want %v\n%+v", i, got, want, x)
			}
		} else if len(x.Timeline) == 0 && len(full.Timeline) > 0 && g.id == 1 && x.Ender.Goroutine != 0 {
			bare++
			if want := Latency(append(x.Ender.Parts[:], 0)); got != want {
				t.Fatalf("record %d, without timeline: got %v, want %v\n%+v", i, got, want, x)
			}
		}
	}
	t.Logf("%d programs, %d ended by another goroutine, %d incomplete, %d of them of one goroutine, %d without timeline", whole, by, lost, alone, bare)
	for _, n := range []int{whole, by, alone, bare, lost} {
		if n < 100 {
			t.Errorf("too few of one kind")
		}
	}
}
