// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The log of a task: what its goroutines waited for, as it happened.
//
// It has a bound. When it is full the shorter half goes, and from then on only what is
// longer is added. So what made a task slow is in it, however much there was.

package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"internal/runtime/sys"
	"unsafe"
)

// perfTaskConfig is how tasks are followed. Written under lock.
var perfTaskConfig struct {
	lock   mutex
	least  int64 // ticks: perfAccount.least of members
	every  int64 // ticks: a millisecond; see perfTaken
	memory int   // bytes of chunks that there are
	procs  []perfTaskProc
}

// A perfTaskLog is a task's log. Protected by root.lock.
type perfTaskLog struct {
	chunks [perf.MaxTaskStretches / perf.TaskStretchChunk]*perfTaskChunk
	n      int
	least  int64 // ticks: shorter stretches are not added

	short      int64 // that were not added for that
	shortTicks int64
	noMemory   int64
}

// A perfTaskChunk is a piece of a log. All of them are allocated when recording begins.
type perfTaskChunk struct {
	_         sys.NotInHeap
	node      lfnode
	stretches [perf.TaskStretchChunk]perf.TaskStretch
}

var perfFreeChunks lfstack

// A perfTaskProc is who had a P lately. Whoever has the P writes it, and reads it.
type perfTaskProc struct {
	next uint32
	had  [8]struct {
		from, to int64
		span     uint64
		kind     uint32
	}
	_ [56]byte // apart from the next one's
}

// perfStops are the latest times for which the world was stopped, in ticks. The thread
// that starts the world writes them. Others may see one half-written, which then is taken
// for what it seems to be; hence the bound in perfStoppedIn.
var perfStops struct {
	next atomic.Uint32
	stop [16]struct {
		from, to int64
		reason   stwReason
	}
}

// perfTaskFollow begins to follow tasks, or changes how.
//
//go:linkname perfTaskFollow runtime/task.runtime_perfTaskFollow
func perfTaskFollow(c *perf.TaskConfig) {
	// The first account prepares the clocks. Their rate is known after some milliseconds.
	for start := nanotime(); ; {
		mp := acquirem()
		perfOwnAccount()
		perfNow(mp)
		releasem(mp)
		if perfTickRate() > 0 || nanotime()-start > 20e6 {
			break
		}
	}
	perfTellWorld(&perfWorld.task, perfStopped)
	perfAccountHooks.kind = perfTaskKind
	perfAccountHooks.sampled = perfTaskSampled
	perfAccountHooks.profiled = perfTaskProfiled
	k := &perfTaskConfig
	systemstack(func() {
		perfSleptInit()
		lock(&k.lock)
		k.least = perfNanosToTicks(c.Least)
		k.every = perfNanosToTicks(1e6)
		if k.procs == nil {
			// Ps beyond have none: an entry of two Ps would have two writers.
			const n = perf.MaxTaskProcs
			p := persistentalloc(n*unsafe.Sizeof(perfTaskProc{}), 64, &memstats.other_sys)
			k.procs = unsafe.Slice((*perfTaskProc)(p), n)
		}
		for k.memory < c.Memory {
			chunk := (*perfTaskChunk)(persistentalloc(unsafe.Sizeof(perfTaskChunk{}), tagAlign, &memstats.other_sys))
			perfFreeChunks.push(&chunk.node)
			k.memory += int(unsafe.Sizeof(*chunk))
		}
		unlock(&k.lock)
	})
}

// perfNanosToTicks and perfTicksToNanos convert lengths, as well as is known.
//
//go:nowritebarrierrec
func perfNanosToTicks(nanos int64) int64 {
	if rate := perfTickRate(); rate > 0 {
		return int64(float64(nanos) * (1 << 32) / float64(rate))
	}
	return nanos // a guess: where the rate can't be measured
}

//go:nowritebarrierrec
func perfTicksToNanos(ticks int64) int64 {
	if rate := perfTickRate(); rate > 0 {
		return int64(float64(ticks) * float64(rate) / (1 << 32))
	}
	return ticks
}

// reset makes l empty.
func (l *perfTaskLog) reset() {
	l.n, l.least, l.short, l.shortTicks, l.noMemory = 0, 0, 0, 0, 0
}

// free gives l's memory to others.
//
//go:nowritebarrierrec
func (l *perfTaskLog) free() {
	for i := range l.chunks {
		c := l.chunks[i]
		if c == nil {
			break
		}
		l.chunks[i] = nil
		perfFreeChunks.push(&c.node)
	}
	l.n = 0
}

//go:nowritebarrierrec
func (l *perfTaskLog) at(i int) *perf.TaskStretch {
	return &l.chunks[i/perf.TaskStretchChunk].stretches[i%perf.TaskStretchChunk]
}

// add adds s.
//
//go:nowritebarrierrec
func (l *perfTaskLog) add(s *perf.TaskStretch) {
	if d := s.End - s.Start; d < l.least {
		l.short++
		l.shortTicks += d
		return
	}
	if l.n == perf.MaxTaskStretches {
		l.thin()
	}
	i := l.n / perf.TaskStretchChunk
	if l.chunks[i] == nil {
		c := (*perfTaskChunk)(perfFreeChunks.pop())
		if c == nil {
			l.noMemory++
			return
		}
		l.chunks[i] = c
	}
	*l.at(l.n) = *s
	l.n++
}

// thin drops the shorter half of a full log, or a little more: by powers of two, and of
// the longest of these the oldest ones.
//
//go:nowritebarrierrec
func (l *perfTaskLog) thin() {
	var lengths [65]uint8
	for i := range l.n {
		s := l.at(i)
		lengths[sys.Len64(uint64(s.End-s.Start))]++
	}
	drop, power := 0, 0
	for drop < perf.MaxTaskStretches/2 {
		drop += int(lengths[power])
		power++
	}
	// All below 1<<(power-1) go, and of those below 1<<power as many as are needed.
	l.least = 1 << max(power-1, 0) >> 1
	drop = perf.MaxTaskStretches / 2
	kept := 0
	for pass := range 2 {
		kept = 0
		for i := range l.n {
			s := l.at(i)
			n := sys.Len64(uint64(s.End - s.Start))
			if drop > 0 && (n < power-1 || pass == 1 && n == power-1) {
				drop--
				l.short++
				l.shortTicks += s.End - s.Start
				continue
			}
			if kept != i {
				*l.at(kept) = *s
			}
			kept++
		}
		l.n = kept
	}
}

// perfLogAway is called when the goroutine gets a thread, at now, and has been without
// one for longer than least. It is called on the system stack, before the goroutine can
// use its own, so that its frames are as they were when it left.
//
//go:nowritebarrierrec
func perfLogAway(gp *g, a *perfAccount, now int64) {
	m := a.member.ptr()
	if m == nil {
		return
	}
	s := perf.TaskStretch{Goid: gp.goid, Start: a.turn, Wake: a.since, End: now, Part: perf.PartRunnable}
	if s.Wake > s.Start {
		s.Part, s.Reason = perfWaits[gp.waitreason].part, uint8(gp.waitreason)
	}
	if w := &m.woken; w.since == a.turn {
		s.Waker, s.WakerSpan, s.WakerKind, s.WakerLen = w.goid, w.span, w.kind, w.n
		s.WakerStack = w.stack
	} else {
		s.Waker = a.waker
	}
	s.StackLen = perfFramePCs(gp, gp.sched.bp, s.Stack[:])
	s.BehindKind, s.BehindSpan, s.Behind = perfBehind(getg().m, s.Wake, now)
	m.log(&s)
}

// perfLogKept is called when the goroutine has been in a.part, with its thread, for longer
// than least, up to now, or most of that in another part. bp is the frame pointer of where it was.
//
//go:nowritebarrierrec
func perfLogKept(gp *g, a *perfAccount, part perf.Part, bp uintptr, now int64) {
	m := a.member.ptr()
	if m == nil {
		return
	}
	s := perf.TaskStretch{Goid: gp.goid, Start: a.since, Wake: now, End: now, Part: part, OnThread: true}
	if a.part != perf.PartSyscall && a.part != perf.PartC {
		s.Reason = uint8(gp.waitreason)
	}
	s.StackLen = perfFramePCs(gp, bp, s.Stack[:])
	m.log(&s)
}

// log adds s to the logs of m's task and of those that it is a child of.
//
//go:nowritebarrierrec
func (m *perfMember) log(s *perf.TaskStretch) {
	s.Stopped, s.Stop = perfStoppedIn(s.Start, s.End)
	root := m.task.root
	root.lockTree()
	for t := m.task; t != nil; t = t.parent {
		if t.open.Load() {
			t.log.add(s)
		}
	}
	unlock(&root.lock)
}

// perfWake notes who makes the goroutine of a runnable, which has waited for longer than
// least.
//
//go:nowritebarrierrec
func perfWake(a *perfAccount) {
	m := a.member.ptr()
	if m == nil {
		return
	}
	w := &m.woken
	w.since, w.goid, w.span, w.kind, w.n = a.turn, a.waker, 0, 0, 0
	mp := getg().m
	by := mp.curg
	if by == nil || a.waker == 0 {
		return
	}
	if b := perfAccountOf(by); b != nil && b.member != 0 {
		if t := b.member.ptr().task.live(); t != nil {
			w.span, w.kind = t.span, t.kind.Load()
		}
	}
	if getg() == mp.g0 {
		w.n = perfFramePCs(by, by.sched.bp, w.stack[:])
	}
}

// perfRan is called when the goroutine leaves its thread, which it has had for longer
// than least, at now.
//
//go:nowritebarrierrec
func perfRan(a *perfAccount, now int64) {
	mp := getg().m
	if m := a.member.ptr(); m != nil && mp.p != 0 {
		t := m.task.live()
		if id := mp.p.ptr().id; t != nil && int(id) < len(perfTaskConfig.procs) {
			p := &perfTaskConfig.procs[id]
			h := &p.had[p.next%uint32(len(p.had))]
			p.next++
			h.from, h.to, h.span, h.kind = a.turn, now, t.span, t.kind.Load()
		}
	}
}

// perfBehind returns the kind of the tasks that had mp's P for longest between from and to,
// which one that was if it was only one, and for how long they had it.
//
//go:nowritebarrierrec
func perfBehind(mp *m, from, to int64) (kind uint32, span uint64, nanos int64) {
	if mp.p == 0 || int(mp.p.ptr().id) >= len(perfTaskConfig.procs) {
		return 0, 0, 0
	}
	p := &perfTaskConfig.procs[mp.p.ptr().id]
	for i := range p.had {
		sum, of := int64(0), p.had[i].span
		for j := range p.had { // few
			if h := &p.had[j]; h.kind == p.had[i].kind {
				if d := min(h.to, to) - max(h.from, from); d > 0 {
					sum += d
					if h.span != of {
						of = 0
					}
				}
			}
		}
		if sum > nanos {
			kind, span, nanos = p.had[i].kind, of, sum
		}
	}
	return kind, span, nanos
}

// perfStopped is called before the world is started, which was stopped as w says.
//
//go:nowritebarrierrec
func perfStopped(w worldStop) {
	s := &perfStops
	n := s.next.Load()
	stop := &s.stop[n%uint32(len(s.stop))]
	stop.to = perfTicks()
	stop.from = stop.to - perfNanosToTicks(nanotime()-w.startedStopping)
	stop.reason = w.reason
	s.next.Store(n + 1)
}

// perfStoppedIn returns for how long the world was stopped between from and to, and why for
// longest.
//
//go:nowritebarrierrec
func perfStoppedIn(from, to int64) (ticks int64, reason uint8) {
	longest := int64(0)
	for i := range perfStops.stop {
		s := &perfStops.stop[i]
		d := min(s.to, to) - max(s.from, from)
		if d <= 0 {
			continue
		}
		ticks += d
		if d > longest {
			longest, reason = d, uint8(s.reason)
		}
	}
	return min(ticks, to-from), reason
}

// perfFramePCs stores the return addresses of gp's frames, from the one whose frame pointer
// is bp on. gp does not use its stack meanwhile, and nobody moves it: gp is on the current
// thread, on the system stack. Frame pointers may be wrong, below assembly: what is not on
// the stack ends it.
//
//go:nowritebarrierrec
func perfFramePCs(gp *g, bp uintptr, pcs []uintptr) (n uint8) {
	if goarch.IsAmd64 == 0 && goarch.IsArm64 == 0 {
		return 0
	}
	for int(n) < len(pcs) {
		if bp < gp.stack.lo || bp > gp.stack.hi-2*goarch.PtrSize || bp%goarch.PtrSize != 0 {
			break
		}
		pc := *(*uintptr)(unsafe.Pointer(bp + goarch.PtrSize))
		if pc == 0 {
			break
		}
		pcs[n] = pc
		n++
		up := *(*uintptr)(unsafe.Pointer(bp))
		if up <= bp {
			break
		}
		bp = up
	}
	return n
}

// perfTaskLogRead stores the log of a task that has ended and has not been given up, with
// times by the monotonic clock. dst has room for MaxTaskStretches.
//
//go:linkname perfTaskLogRead runtime/task.runtime_perfTaskLogRead
func perfTaskLogRead(id perf.TaskID, dst []perf.TaskStretch) (n int) {
	mp := acquirem()
	if t := perfFindTask(id); t != nil {
		root := t.root
		lock(&root.lock)
		nanos, ticks := perfNow(mp)
		for n < t.log.n && n < len(dst) {
			s := &dst[n]
			*s = *t.log.at(n)
			s.Start = nanos - perfTicksToNanos(ticks-s.Start)
			s.Wake = nanos - perfTicksToNanos(ticks-s.Wake)
			s.End = nanos - perfTicksToNanos(ticks-s.End)
			s.Behind = perfTicksToNanos(s.Behind)
			s.Stopped = perfTicksToNanos(s.Stopped)
			n++
		}
		unlock(&root.lock)
	}
	releasem(mp)
	return n
}

// perfTaskReason returns the name of a wait reason, and of a reason to stop the world.
//
//go:linkname perfTaskReason runtime/task.runtime_perfTaskReason
func perfTaskReason(wait, stop uint8) (string, string) {
	w, s := "", ""
	if int(wait) < len(waitReasonStrings) && wait != 0 {
		w = waitReasonStrings[wait]
	}
	if int(stop) < len(stwReasonStrings) {
		s = stwReasonStrings[stop]
	}
	return w, s
}

// perfTaskExpand stores the logical frames of return addresses that perfFramePCs has
// stored, as runtime.Callers would return them.
//
//go:linkname perfTaskExpand runtime/task.runtime_perfTaskExpand
func perfTaskExpand(dst, pcs []uintptr) int {
	var buf [perf.MaxStretchStack + 1]uintptr // the first one says how many to skip
	return fpunwindExpand(dst, buf[:1+copy(buf[1:], pcs)])
}
