// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"cmp"
	"encoding/binary"
	"internal/runtime/perf"
	"internal/taskrecord"
	"runtime"
	"runtime/pprof"
	"slices"
	"time"
	"unsafe"
)

// A ringReader is a [taskrecord.RingReader].
type ringReader struct {
	at    [perf.AllTaskRings]cursor
	next  int
	last  int // that Next has returned a record of
	stats taskrecord.RingStats
	ringBuffer

	// since is the latest end of a task, in ns since 1970, such that a record of it, or of one
	// before it, is lost. See [taskrecord.Early].
	since int64

	// rounds says that Round was called, and heads is how many records had been pushed to each ring then.
	rounds bool
	heads  [perf.AllTaskRings]uint64
}

// A cursor is a reader's place in a ring.
type cursor struct {
	pos    uint64
	number uint64 // of the record that is next
	lost   uint64 // before that, of which no record has told yet
}

// newRingReader is [taskrecord.NewRingReader].
//
//go:linkname newRingReader internal/taskrecord.newRingReader
func newRingReader(oldest bool) taskrecord.RingReader { return openRings(oldest) }

// openRings returns a reader that begins with the oldest records that the rings have, or
// with the next ones.
func openRings(oldest bool) *ringReader {
	r := new(ringReader)
	for i := range r.at {
		tail, head, pushed, first := runtime_perfTaskRingState(i)
		if oldest {
			r.at[i] = cursor{pos: tail, number: first}
			if first > 0 {
				r.peek(i)
			}
		} else {
			r.at[i] = cursor{pos: head, number: pushed}
		}
	}
	return r
}

// peek notes that records before the next one of ring i are lost.
func (r *ringReader) peek(i int) {
	pos := r.at[i].pos
	if n, _, _ := r.read(i, &pos); n > 0 {
		if t := unpack(r.buf[:n], i); t != nil {
			r.lost(t)
		}
	}
}

// A ringBuffer has the words of the record that was read last.
type ringBuffer struct{ buf []uint64 }

// read reads the next record of ring i from pos on into r.buf. It returns its length, its
// number, and whether there were others before it, as runtime_perfTaskPop does.
func (r *ringBuffer) read(i int, pos *uint64) (n int, number uint64, skipped bool) {
	n, number, skipped = runtime_perfTaskPop(i, pos, r.buf)
	for n > len(r.buf) {
		r.buf = make([]uint64, n+n/2)
		n, number, skipped = runtime_perfTaskPop(i, pos, r.buf)
	}
	return n, number, skipped
}

// lost notes that records before t are lost.
func (r *ringReader) lost(t *taskrecord.Record) { r.since = max(r.since, t.Start+int64(t.Wall)) }

// Next returns the next record, or nil if there is none at the moment. The rings take
// turns.
func (r *ringReader) Next() *taskrecord.Record {
	for range r.at {
		i := r.next
		if r.next++; r.next == len(r.at) {
			r.next = 0
		}
		if t := r.pop(i); t != nil {
			r.last = i
			return t
		}
	}
	return nil
}

// pop returns the next record of ring i that is whole, or nil if there is none.
func (r *ringReader) pop(i int) *taskrecord.Record {
	at := &r.at[i]
	for {
		// The first one after those of a round, if they are lost, tells how many they are.
		if r.rounds && at.number >= r.heads[i] && at.lost == 0 {
			return nil
		}
		n, number, skipped := r.read(i, &at.pos)
		switch {
		case n == 0:
			return nil
		case n < 0 || number < at.number || number > at.number && !skipped:
			// This is none, or none of those that follow the one before. Who knows where the next
			// one begins? The head is known.
			_, head, pushed, _ := runtime_perfTaskRingState(i)
			at.pos = head
			at.drop(&r.stats, pushed)
			continue
		}
		at.drop(&r.stats, number)
		t := unpack(r.buf[:n], i)
		if t == nil {
			at.drop(&r.stats, number+1)
			continue
		}
		r.stats.Popped++
		at.number++
		if at.lost > 0 {
			r.lost(t)
		}
		t.Lost.Before = int64(at.lost)
		at.lost = 0
		if t.Start+int64(t.Wall) < r.since {
			t.Flags |= taskrecord.Early
		}
		return t
	}
}

// drop counts the records before one as lost.
func (at *cursor) drop(s *taskrecord.RingStats, before uint64) {
	n := before - at.number
	s.Dropped += n
	at.lost += n
	at.number = before
}

// Stats returns the reader's numbers.
func (r *ringReader) Stats() taskrecord.RingStats {
	s := r.stats
	for i := range r.at {
		at := &r.at[i]
		tail, _, pushed, oldest := runtime_perfTaskRingState(i)
		if pushed <= at.number {
			continue
		}
		lost := uint64(0)
		if at.pos < tail {
			lost = max(oldest, at.number) - at.number
		}
		s.Dropped += lost
		s.Waiting += pushed - at.number - lost
	}
	s.Pushed = s.Popped + s.Dropped + s.Waiting
	return s
}

// Server returns the server of records, or nil if nothing has ever been recorded.
func (r *ringReader) Server() *taskrecord.Server {
	if r := lastRecording.Load(); r != nil {
		return r.server
	}
	return nil
}

// unpack returns the record that words of ring i are, or nil if they are none.
func unpack(words []uint64, i int) *taskrecord.Record {
	p := &unpacker{w: words}
	return p.whole(i)
}

// An unpacker reads what a packer has packed. It believes nothing: what does not fit is bad,
// and so is all that follows it, which it reads as zeros.
type unpacker struct {
	w   []uint64
	bad bool

	// stacks, if it is not nil, has the stacks so far. Records then share them.
	stacks map[stackPCs][]taskrecord.Frame
}

// stackPCs are the return addresses of a stack, and zeros.
type stackPCs [max(perf.MaxStretchStack, perf.MaxWakerStack)]uintptr

// whole returns the record of ring i, or nil if the words are none.
func (p *unpacker) whole(i int) *taskrecord.Record {
	t := p.task(i%perf.NumTaskRings == perf.SlowTaskRing)
	if p.bad || len(p.w) != 0 {
		return nil
	}
	return t
}

// must says that words are bad if ok is false.
func (p *unpacker) must(ok bool) {
	if !ok {
		p.w, p.bad = nil, true
	}
}

func (p *unpacker) u() uint64 {
	if len(p.w) == 0 {
		p.bad = true
		return 0
	}
	v := p.w[0]
	p.w = p.w[1:]
	return v
}
func (p *unpacker) i() int64                { return int64(p.u()) }
func (p *unpacker) duration() time.Duration { return time.Duration(p.u()) }

// most reads a number that may be n at most.
func (p *unpacker) most(n uint64) uint64 {
	v := p.u()
	p.must(v <= n)
	if p.bad {
		return 0
	}
	return v
}

// count reads how many of something follow, each of which takes a number of words or more.
func (p *unpacker) count(words int) int { return int(p.most(uint64(len(p.w) / words))) }

func (p *unpacker) bytes(dst []byte) {
	n := (len(dst) + 7) / 8
	p.must(n <= len(p.w))
	if n > 0 && !p.bad {
		copy(dst, unsafe.Slice((*byte)(unsafe.Pointer(&p.w[0])), len(dst)))
		p.w = p.w[n:]
	}
}
func (p *unpacker) str() string {
	b := make([]byte, p.most(uint64(len(p.w))*8))
	p.bytes(b)
	return string(b)
}

func (p *unpacker) parts(parts *[taskrecord.NumParts]time.Duration) {
	mask := p.most(1<<len(parts) - 1)
	for i := range parts {
		if mask&(1<<i) != 0 {
			parts[i] = p.duration()
		}
	}
}

func (p *unpacker) usage(u *taskrecord.Usage) {
	p.parts(&u.Parts)
	u.Measured = p.duration()
	u.Switches = p.i()
	u.Preemptions = p.i()
	u.Migrations = p.i()
}

func (p *unpacker) counts(set *eventSet) []pprof.CounterValue {
	if set == nil || p.bad {
		return nil
	}
	var raw [perf.MaxEvents]perf.Count
	for i := range set.slots {
		raw[i] = perf.Count{Value: p.u(), Enabled: p.u(), Running: p.u()}
	}
	return set.values(raw[:])
}

func (p *unpacker) clock(c *taskrecord.Clock) {
	n := p.u()
	p.must(n&^(1<<8) <= uint64(len(c.Entry)))
	if p.bad {
		return
	}
	c.N, c.Overflow = uint8(n), n&(1<<8) != 0
	for i := range c.Entry[:c.N] {
		e := p.u()
		c.Entry[i] = taskrecord.ClockEntry{Server: uint16(e >> 32), Count: uint32(e)}
	}
}

// head reads what a record begins with: which task it is of, and when that was.
func (p *unpacker) head(t *taskrecord.Record) {
	p.bytes(t.Trace[:])
	p.bytes(t.Span[:])
	p.bytes(t.Parent[:])
	kind := p.u()
	t.Kind, t.Flags = kindName(uint32(kind>>32)), taskrecord.Flags(kind)
	t.Start = p.i()
	t.Wall = p.duration()
}

func (p *unpacker) task(slow bool) *taskrecord.Record {
	r := lastRecording.Load()
	t := &taskrecord.Record{Server: r.server}
	p.head(t)
	p.clock(&t.Before)
	p.clock(&t.After)
	t.Goroutine = p.u()
	t.Ender.Goroutine = p.u()
	p.parts(&t.Ender.Parts)
	t.Goroutines = p.i()
	t.Outliving = p.i()
	t.Threshold = p.duration()
	p.usage(&t.Usage)
	number := p.u()
	set := eventSetOf(number)
	p.must(set != nil || number == 0)
	if t.Count = p.counts(set); set != nil {
		t.Events = set.names
	}
	for range p.count(2) {
		t.Notes = append(t.Notes, taskrecord.Note{Key: p.str(), Value: p.str()})
	}
	for range p.count(9) {
		g := taskrecord.RegionSum{Name: p.str(), N: p.i(), Wall: p.duration(), Max: p.duration()}
		p.usage(&g.Usage)
		g.Count = p.counts(set)
		t.Regions = append(t.Regions, g)
	}
	for range p.count(6) {
		var c taskrecord.Call
		p.bytes(c.Span[:])
		kind := p.u()
		c.Kind, c.Flags = kindName(uint32(kind>>32)), taskrecord.Flags(kind)
		c.Start, c.Wall, c.Remote = p.duration(), p.duration(), p.str()
		c.Goroutine = p.u()
		if c.Ender = c.Goroutine; kind&callHanded != 0 {
			c.Ender = p.u()
		}
		t.Calls = append(t.Calls, c)
	}
	slices.SortStableFunc(t.Calls, func(a, b taskrecord.Call) int { return cmp.Compare(a.Start, b.Start) })
	if slow {
		p.slow(t)
	}
	t.Lost = taskrecord.Lost{Stretches: p.i(), StretchesTime: p.duration(), Memory: p.i(), Regions: p.i(), Calls: p.i(), Notes: p.i(), Unfound: p.i()}
	return t
}

func (p *unpacker) slow(t *taskrecord.Record) {
	t.Usual = &taskrecord.Usual{Tasks: p.i(), Wall: p.duration()}
	p.usage(&t.Usual.Usage)
	for range p.most(perf.MaxEvents) {
		t.Usual.Count = append(t.Usual.Count, pprof.CounterValue{Value: p.u()})
	}
	for range p.count(4) {
		s := taskrecord.Stretch{Region: p.str(), Goroutine: p.u(), Start: p.duration(), End: p.duration()}
		s.Wake = s.End
		t.Timeline = append(t.Timeline, s)
	}
	n := p.most(perf.MaxTaskStretches)
	t.Timeline = slices.Grow(t.Timeline, int(n))
	for range n {
		t.Timeline = append(t.Timeline, p.stretch())
	}
	slices.SortStableFunc(t.Timeline, func(a, b taskrecord.Stretch) int { return cmp.Compare(a.Start, b.Start) })
	t.Disown()
	for range p.most(maxOutlived) {
		g := taskrecord.Goroutine{ID: p.u(), Func: function(uintptr(p.u()))}
		created := uintptr(p.u())
		g.Part = p.part(p.u())
		if f := frames([]uintptr{created}); len(f) > 0 {
			g.Created = f[0]
		}
		if serverGoroutine(g.Func) {
			t.Outliving--
			continue
		}
		t.Outlived = append(t.Outlived, g)
	}
}

func (p *unpacker) part(v uint64) taskrecord.Part {
	p.must(v < uint64(taskrecord.NumParts))
	return taskrecord.Part(v)
}

// serverGoroutine reports whether a function is that of a goroutine that a server starts
// on behalf of a request and ends by itself: it has outlived nothing.
func serverGoroutine(name string) bool { return name == "net/http.(*connReader).backgroundRead" }

func (p *unpacker) stretch() taskrecord.Stretch {
	s := taskrecord.Stretch{Goroutine: p.u(), Start: p.duration(), Wake: p.duration(), End: p.duration()}
	bits := p.u()
	s.Part, s.OnThread = p.part(bits&0xff), bits>>16&1 != 0
	reason, stop := runtime_perfTaskReason(uint8(bits>>8), uint8(bits>>24))
	s.Reason = reason
	kinds, behind := p.u(), p.u()
	s.Waker.Goroutine = p.u()
	binary.LittleEndian.PutUint64(s.Waker.Span[:], p.u())
	r := renamed.Load()
	s.Waker.Kind = kindName(r.kind(binary.LittleEndian.Uint64(s.Waker.Span[:]), uint32(kinds>>32)))
	s.Behind, s.Stopped = p.duration(), p.duration()
	if s.Behind > 0 {
		s.BehindKind = kindName(r.kind(behind, uint32(kinds)))
	}
	if s.Stopped > 0 {
		s.StopReason = stop
	}
	n := p.u()
	s.Stack = p.frames(n >> 8)
	s.Waker.Stack = p.frames(n & 0xff)
	return s
}

func (p *unpacker) frames(n uint64) []taskrecord.Frame {
	var pcs stackPCs
	p.must(n <= uint64(len(pcs)))
	if p.bad || n == 0 {
		return nil
	}
	for i := range n {
		pcs[i] = uintptr(p.u())
	}
	if f, ok := p.stacks[pcs]; ok {
		return f
	}
	var all [64]uintptr
	f := frames(all[:runtime_perfTaskExpand(all[:], pcs[:n])])
	if p.stacks != nil {
		p.stacks[pcs] = f
	}
	return f
}

// frames returns the places of return addresses, without those in the runtime that led
// to them, and without the one that all goroutines return to, which is below the others
// if these are few.
func frames(pcs []uintptr) (f []taskrecord.Frame) {
	if len(pcs) == 0 {
		return nil
	}
	for all := runtime.CallersFrames(pcs); ; {
		frame, more := all.Next()
		if frame.Function != "" && frame.Function != "runtime.goexit" && (len(f) > 0 || !internalFrame(frame.Function)) {
			f = append(f, taskrecord.Frame{Func: frame.Function, File: frame.File, Line: frame.Line})
		}
		if !more || len(f) == maxFrames {
			return f
		}
	}
}

const maxFrames = 8

// internalFrame reports whether a function is how a goroutine waits, rather than where.
func internalFrame(name string) bool {
	for _, prefix := range []string{"runtime.", "internal/", "sync.", "time.Sleep", "syscall."} {
		if len(name) > len(prefix) && name[:len(prefix)] == prefix || name == prefix {
			return true
		}
	}
	return false
}

func function(pc uintptr) string {
	if f := runtime.FuncForPC(pc); f != nil {
		return f.Name()
	}
	return ""
}
