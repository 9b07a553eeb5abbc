// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"encoding/binary"
	"internal/runtime/perf"
	"runtime"
	"runtime/task/record"
	"slices"
	"time"
	"unsafe"
)

// A Reader reads the records of tasks that have ended. It has its own place in the rings
// and takes nothing away from others. A record that was not read in time is lost to it,
// and counted. No reader holds up the program, whatever it does.
//
// A Reader must not be used by several goroutines at once.
type Reader struct {
	at    [perf.MaxTaskProcs * perf.NumTaskRings]place
	next  int
	buf   []uint64
	stats ReaderStats

	// since is the latest end of a task, in ns since 1970, such that a record of it, or of one
	// before it, is lost. See [record.Early].
	since int64
}

// A place is a reader's place in a ring.
type place struct {
	pos    uint64
	number uint64 // of the record that is next
	begun  bool
}

// ReaderStats are a reader's numbers. Of those records that were pushed since its
// place was first in their ring,
//
//	Pushed = Popped + Dropped + Waiting
type ReaderStats struct {
	Pushed  uint64
	Popped  uint64 // returned by Next
	Dropped uint64 // written over before
	Waiting uint64 // in the rings
}

// NewReader returns a reader that begins with the oldest records that the rings have, or
// with the next ones.
func NewReader(oldest bool) *Reader {
	r := new(Reader)
	for i := range r.at {
		tail, head, pushed, first := runtime_perfTaskRingState(i)
		if oldest {
			r.at[i] = place{tail, first, true}
			if first > 0 {
				r.peek(i)
			}
		} else {
			r.at[i] = place{head, pushed, true}
		}
	}
	return r
}

// peek notes that records before the next one of ring i are lost.
func (r *Reader) peek(i int) {
	pos := r.at[i].pos
	if n, _ := r.read(i, &pos); n > 0 {
		r.lost()
	}
}

// read reads the next record of ring i from pos on into r.buf, and returns its length, or 0, and
// its number.
func (r *Reader) read(i int, pos *uint64) (n int, number uint64) {
	n, number = runtime_perfTaskPop(i, pos, r.buf)
	for n > len(r.buf) {
		r.buf = make([]uint64, n+n/2)
		n, number = runtime_perfTaskPop(i, pos, r.buf)
	}
	return n, number
}

// lost notes that records before the one in r.buf are lost.
func (r *Reader) lost() {
	p := unpacker{r.buf[2+1+1+1:]} // after the IDs and the kind; see push
	start := p.i()
	r.since = max(r.since, start+p.i())
}

// Next returns the next record, or nil if there is none at the moment. The rings take
// turns.
func (r *Reader) Next() *record.Task {
	for range r.at {
		i := r.next
		if r.next++; r.next == len(r.at) {
			r.next = 0
		}
		if t := r.pop(i); t != nil {
			return t
		}
	}
	return nil
}

func (r *Reader) pop(i int) *record.Task {
	at := &r.at[i]
	n, number := r.read(i, &at.pos)
	if n == 0 {
		return nil
	}
	lost := number - at.number
	if lost > 0 {
		r.lost()
	}
	r.stats.Dropped += lost
	r.stats.Popped++
	at.number = number + 1
	t := (&unpacker{w: r.buf[:n]}).task(i%perf.NumTaskRings == perf.SlowTaskRing)
	t.Lost.Before = int64(lost)
	if t.Start+int64(t.Wall) < r.since {
		t.Flags |= record.Early
	}
	return t
}

// Stats returns the reader's numbers.
func (r *Reader) Stats() ReaderStats {
	s := r.stats
	for i := range r.at {
		at := &r.at[i]
		_, _, pushed, oldest := runtime_perfTaskRingState(i)
		if pushed <= at.number {
			continue
		}
		lost := max(oldest, at.number) - at.number
		s.Dropped += lost
		s.Waiting += pushed - at.number - lost
	}
	s.Pushed = s.Popped + s.Dropped + s.Waiting
	return s
}

// An unpacker reads what a packer has packed.
type unpacker struct{ w []uint64 }

func (p *unpacker) u() uint64 {
	v := p.w[0]
	p.w = p.w[1:]
	return v
}
func (p *unpacker) i() int64                { return int64(p.u()) }
func (p *unpacker) duration() time.Duration { return time.Duration(p.u()) }
func (p *unpacker) bytes(dst []byte) {
	if len(dst) > 0 {
		copy(dst, unsafe.Slice((*byte)(unsafe.Pointer(&p.w[0])), len(dst)))
		p.w = p.w[(len(dst)+7)/8:]
	}
}
func (p *unpacker) str() string {
	b := make([]byte, p.u())
	p.bytes(b)
	return string(b)
}

func (p *unpacker) usage(u *record.Usage) {
	mask := p.u()
	for i := range u.Parts {
		if mask&(1<<i) != 0 {
			u.Parts[i] = p.duration()
		}
	}
	u.Measured = p.duration()
	u.Switches = p.i()
	u.Preemptions = p.i()
	u.Migrations = p.i()
}

func (p *unpacker) counts(set *eventSet) []record.Count {
	if set == nil {
		return nil
	}
	var raw [perf.MaxEvents]perf.Count
	for i := range set.slots {
		raw[i] = perf.Count{Value: p.u(), Enabled: p.u(), Running: p.u()}
	}
	values := set.values(raw[:])
	counts := make([]record.Count, len(values))
	for i, v := range values {
		counts[i] = record.Count{Value: v.Value, Enabled: v.Enabled, Running: v.Running}
	}
	return counts
}

func (p *unpacker) clock(c *record.Clock) {
	n := p.u()
	c.N, c.Overflow = uint8(n), n&(1<<8) != 0
	for i := range c.Entry[:c.N] {
		e := p.u()
		c.Entry[i] = record.ClockEntry{Server: uint16(e >> 32), Count: uint32(e)}
	}
}

func (p *unpacker) task(slow bool) *record.Task {
	r := lastRecording.Load()
	t := &record.Task{Server: r.server}
	p.bytes(t.Trace[:])
	p.bytes(t.Span[:])
	p.bytes(t.Parent[:])
	kind := p.u()
	t.Kind, t.Flags = kindName(uint32(kind>>32)), record.Flags(kind)
	t.Start = p.i()
	t.Wall = p.duration()
	p.clock(&t.Before)
	p.clock(&t.After)
	t.Goroutine = p.u()
	t.Goroutines = p.i()
	t.Outliving = p.i()
	t.Threshold = p.duration()
	p.usage(&t.Usage)
	set := eventSetOf(p.u())
	if t.Count = p.counts(set); set != nil {
		t.Events = set.names
	}
	for range p.u() {
		t.Notes = append(t.Notes, record.Note{Key: p.str(), Value: p.str()})
	}
	for range p.u() {
		g := record.Region{Name: p.str(), N: p.i(), Wall: p.duration(), Max: p.duration()}
		p.usage(&g.Usage)
		g.Count = p.counts(set)
		t.Regions = append(t.Regions, g)
	}
	for range p.u() {
		var c record.Call
		p.bytes(c.Span[:])
		kind := p.u()
		c.Kind, c.Flags = kindName(uint32(kind>>32)), record.Flags(kind)
		c.Start, c.Wall, c.Remote = p.duration(), p.duration(), p.str()
		t.Calls = append(t.Calls, c)
	}
	slices.SortStableFunc(t.Calls, func(a, b record.Call) int { return int(a.Start - b.Start) })
	if slow {
		p.slow(t, r)
	}
	t.Lost = record.Lost{Stretches: p.i(), StretchesTime: p.duration(), Memory: p.i(), Regions: p.i(), Calls: p.i(), Notes: p.i()}
	return t
}

func (p *unpacker) slow(t *record.Task, r *recorder) {
	t.Usual = &record.Usual{Tasks: p.i(), Wall: p.duration()}
	p.usage(&t.Usual.Usage)
	for range p.u() {
		t.Usual.Count = append(t.Usual.Count, record.Count{Value: p.u()})
	}
	for range p.u() {
		s := record.Stretch{Region: p.str(), Goroutine: p.u(), Start: p.duration(), End: p.duration()}
		s.Wake = s.End
		t.Timeline = append(t.Timeline, s)
	}
	for range p.u() {
		t.Timeline = append(t.Timeline, p.stretch())
	}
	slices.SortStableFunc(t.Timeline, func(a, b record.Stretch) int { return int(a.Start - b.Start) })
	for range p.u() {
		g := record.Goroutine{ID: p.u(), Func: function(uintptr(p.u()))}
		created := uintptr(p.u())
		g.Part = record.Part(p.u())
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

// serverGoroutine reports whether a function is that of a goroutine that a server starts
// on behalf of a request and ends by itself: it has outlived nothing.
func serverGoroutine(name string) bool { return name == "net/http.(*connReader).backgroundRead" }

func (p *unpacker) stretch() record.Stretch {
	s := record.Stretch{Goroutine: p.u(), Start: p.duration(), Wake: p.duration(), End: p.duration()}
	bits := p.u()
	s.Part, s.OnThread = record.Part(bits&0xff), bits>>16&1 != 0
	reason, stop := runtime_perfTaskReason(uint8(bits>>8), uint8(bits>>24))
	s.Reason = reason
	kinds := p.u()
	s.Waker.Goroutine = p.u()
	binary.LittleEndian.PutUint64(s.Waker.Span[:], p.u())
	s.Waker.Kind = kindName(uint32(kinds >> 32))
	s.Behind, s.Stopped = p.duration(), p.duration()
	if s.Behind > 0 {
		s.BehindKind = kindName(uint32(kinds))
	}
	if s.Stopped > 0 {
		s.StopReason = stop
	}
	n := p.u()
	s.Stack = p.frames(int(n >> 8))
	s.Waker.Stack = p.frames(int(n & 0xff))
	return s
}

func (p *unpacker) frames(n int) []record.Frame {
	var pcs [16]uintptr
	for i := range n {
		pcs[i] = uintptr(p.u())
	}
	var all [64]uintptr
	return frames(all[:runtime_perfTaskExpand(all[:], pcs[:n])])
}

// frames returns the places of return addresses, without those in the runtime that led
// to them, and without the one that all goroutines return to, which is below the others
// if these are few.
func frames(pcs []uintptr) (f []record.Frame) {
	if len(pcs) == 0 {
		return nil
	}
	for all := runtime.CallersFrames(pcs); ; {
		frame, more := all.Next()
		if frame.Function != "" && frame.Function != "runtime.goexit" && (len(f) > 0 || !internalFrame(frame.Function)) {
			f = append(f, record.Frame{Func: frame.Function, File: frame.File, Line: frame.Line})
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
