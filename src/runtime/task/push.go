// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"encoding/binary"
	"internal/runtime/perf"
	"internal/taskrecord"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A record in a ring is a sequence of words: numbers, and strings with their lengths. It
// is written by push and read by an unpacker, which alone know what follows what. Names of
// kinds and places in the program are left to the reader.

// callHanded is a bit beside a call's flags: another goroutine than the one that made the call has
// ended it, whose ID follows.
const callHanded = 1 << 16

// A packer packs words.
type packer struct{ w []uint64 }

func (p *packer) u(v uint64) { p.w = append(p.w, v) }
func (p *packer) i(v int64)  { p.w = append(p.w, uint64(v)) }
func (p *packer) bytes(b []byte) {
	n := len(p.w)
	for range (len(b) + 7) / 8 {
		p.w = append(p.w, 0)
	}
	if len(b) > 0 {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&p.w[n])), len(b)), b)
	}
}
func (p *packer) str(s string) {
	p.u(uint64(len(s)))
	p.bytes(unsafe.Slice(unsafe.StringData(s), len(s)))
}

// parts packs those that are not 0.
func (p *packer) parts(parts *[perf.NumParts]int64) {
	at, mask := len(p.w), uint64(0)
	w := append(p.w, 0)
	for i, d := range parts {
		if d != 0 {
			mask |= 1 << i
			w = append(w, uint64(d))
		}
	}
	w[at] = mask
	p.w = w
}

func (p *packer) usage(u *perf.GoroutineTime) {
	p.parts(&u.Parts)
	p.w = append(p.w, uint64(u.Measured), u.Switches, u.Preemptions, u.Migrations)
}

func (p *packer) counts(c *[perf.MaxEvents]perf.Count, slots int) {
	for i := range slots {
		p.u(c[i].Value)
		p.u(c[i].Enabled)
		p.u(c[i].Running)
	}
}

// clock packs c; if c is nil, one of which nothing has happened.
func (p *packer) clock(c *taskrecord.Clock) {
	if c == nil {
		p.u(0)
		return
	}
	n := uint64(c.N)
	if c.Overflow {
		n |= 1 << 8
	}
	p.u(n)
	for _, e := range c.Entry[:c.N] {
		p.u(uint64(e.Server)<<32 | uint64(e.Count))
	}
}

// packers are kept for those who push next, each for some Ps: one that is taken meanwhile is made.
// There are few, so that what they have grown to for long records may stay.
var packers [shards]struct {
	free atomic.Pointer[packer]
	_    [line - 8]byte
}

// push pushes the record of t, which has ended. Its counts are those of set, or nil. usual is nil
// unless it was slow, and last unless it has a clock.
func (r *recorder) push(t *Task, shard int, last *taskrecord.Clock, u *perf.TaskUsage, set *eventSet, flags taskrecord.Flags, d *details, threshold int64, usual *usual) {
	free := &packers[shard].free
	p := free.Swap(nil)
	if p == nil {
		p = new(packer)
	}
	if d == nil {
		d = &noDetails
	}
	ring := perf.TaskRing
	p.begin(t, last, u, set, flags, d, threshold)
	if flags&taskrecord.Slow != 0 {
		ring = perf.SlowTaskRing
		p.slow(u, d, usual)
		log := stretches.Get().(*[perf.MaxTaskStretches]perf.TaskStretch)
		p.stretches(u, log[:runtime_perfTaskLogRead(t.id, log[:])])
		stretches.Put(log)
		var outlived [maxOutlived]perf.TaskGoroutine
		m := 0
		if u.Working > 0 {
			m = runtime_perfTaskMembers(t.id, outlived[:])
		}
		p.outlived(outlived[:m])
	}
	p.end(u, d)
	if !runtime_perfTaskPush(ring, p.w) {
		r.tooLong.Add(1)
	}
	free.Store(p)
}

// begin packs what each record begins with.
func (p *packer) begin(t *Task, last *taskrecord.Clock, u *perf.TaskUsage, set *eventSet, flags taskrecord.Flags, d *details, threshold int64) {
	word := binary.NativeEndian.Uint64
	p.w = append(p.w[:0], word(t.trace[:8]), word(t.trace[8:]), word(t.span[:]), word(t.parent[:]),
		uint64(t.kind.id)<<32|uint64(flags), uint64(u.Began+wallOffset(u.Ended)), uint64(u.Wall))
	p.clock(t.first)
	p.clock(last)
	p.u(t.goid)
	p.u(u.EndedBy)
	if u.Goroutines > 1 {
		p.parts(&u.Ender)
	} else {
		p.u(0) // all of it is 0
	}
	p.u(u.Goroutines)
	p.u(u.Working)
	p.i(threshold)
	p.usage(&u.GoroutineTime)
	slots := 0
	if set != nil {
		slots = len(set.slots)
		p.u(set.number)
	} else {
		p.u(0)
	}
	p.counts(&u.Counts, slots)
	p.details(u, d, slots)
}

// details packs what was noted about a task.
func (p *packer) details(u *perf.TaskUsage, d *details, slots int) {
	p.u(uint64(len(d.notes)))
	for i := range d.notes {
		p.str(d.notes[i].Key)
		p.str(d.notes[i].Value)
	}
	p.u(uint64(len(d.regions)))
	for i := range d.regions {
		g := &d.regions[i]
		p.str(g.name)
		p.i(g.n)
		p.i(g.wall)
		p.i(g.max)
		p.usage(&g.usage)
		p.counts(&g.counts, slots)
	}
	p.u(uint64(len(d.calls)))
	for i := range d.calls {
		c := &d.calls[i]
		p.bytes(c.span[:])
		handed := uint64(0)
		if c.ender != c.goid {
			handed = callHanded
		}
		p.u(uint64(c.kind)<<32 | handed | uint64(c.flags))
		p.i(c.start - u.Began)
		p.i(c.wall)
		p.str(c.remote)
		p.u(c.goid)
		if handed != 0 {
			p.u(c.ender)
		}
	}
}

// end packs what is not in the record.
func (p *packer) end(u *perf.TaskUsage, d *details) {
	l := &d.lost
	p.w = append(p.w, uint64(u.Short+l.Stretches), uint64(u.ShortNanos), uint64(u.NoMemory), uint64(l.Regions), uint64(l.Calls), uint64(l.Notes), uint64(u.Unfound))
}

var noDetails details // of tasks that have none; nobody writes them

var stretches = sync.Pool{New: func() any { return new([perf.MaxTaskStretches]perf.TaskStretch) }}

// slow packs what only a slow task's record has, before its stretches and those that outlived it.
func (p *packer) slow(u *perf.TaskUsage, d *details, usual *usual) {
	p.i(usual.tasks)
	p.i(usual.wall)
	p.usage(&usual.usage)
	p.u(uint64(usual.events))
	for _, n := range usual.count[:usual.events] {
		p.u(n)
	}
	p.u(uint64(len(d.spans)))
	for i := range d.spans {
		s := &d.spans[i]
		p.str(s.name)
		p.u(s.goid)
		p.i(s.start - u.Began)
		p.i(s.end - u.Began)
	}
}

// stretches packs those of a task's log.
func (p *packer) stretches(u *perf.TaskUsage, log []perf.TaskStretch) {
	p.u(uint64(len(log)))
	for i := range log {
		s := &log[i]
		p.u(s.Goid)
		p.i(s.Start - u.Began)
		p.i(s.Wake - u.Began)
		p.i(s.End - u.Began)
		onThread := uint64(0)
		if s.OnThread {
			onThread = 1
		}
		p.u(uint64(s.Part) | uint64(s.Reason)<<8 | onThread<<16 | uint64(s.Stop)<<24)
		p.u(uint64(s.WakerKind)<<32 | uint64(s.BehindKind))
		p.u(s.BehindSpan)
		p.u(s.Waker)
		p.u(s.WakerSpan)
		p.i(s.Behind)
		p.i(s.Stopped)
		p.u(uint64(s.StackLen)<<8 | uint64(s.WakerLen))
		for _, pc := range s.Stack[:s.StackLen] {
			p.u(uint64(pc))
		}
		for _, pc := range s.WakerStack[:s.WakerLen] {
			p.u(uint64(pc))
		}
	}
}

// outlived packs goroutines that have outlived a task.
func (p *packer) outlived(list []perf.TaskGoroutine) {
	p.u(uint64(len(list)))
	for _, g := range list {
		p.u(g.Goid)
		p.u(uint64(g.Start))
		p.u(uint64(g.Created))
		p.u(uint64(g.Part))
	}
}
