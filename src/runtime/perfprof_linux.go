// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Counters of performance-monitoring events, one set per thread.
//
// Each thread has one counter per slot that samples an event, opened for that thread
// only (perf_event_open(2), pid = tid, cpu = -1): it counts wherever the thread
// runs and costs other threads nothing. An overflow makes the kernel write a
// record to the thread's ring and send SIGPROF to that very thread
// (fcntl(2), F_SETOWN_EX with F_OWNER_TID).
//
// Who arms a thread: those that exist when a session starts are armed by the
// goroutine that starts it, because any thread may open counters for any other
// of its process and one that is deep in a system call or in C would not come
// by for long. A thread that comes later arms itself in minit, which every
// thread passes before it runs Go code, C threads that call into Go included.
// So the schedule path needs no check at all.
//
// Who disarms it: the thread itself in unminit, before it exits; otherwise
// whoever stops the session, synchronously. Threads that Go did not create, and
// those that return from Go to C: see perfforeign_linux.go.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"internal/runtime/sys"
	"unsafe"
)

// A perfThread is the counters of one thread.
//
// It is allocated outside the heap and never freed, only reused, so that a
// signal handler that has just loaded a pointer to it may always lock it and
// look whether it still belongs to its thread.
type perfThread struct {
	_ sys.NotInHeap

	// next and prev link the threads of perfLinux.armed, or the free list. round
	// is that of the latest perfEachThread which has come by. Protected by
	// perfProf.lock.
	next, prev *perfThread
	round      uint32

	// lock protects everything below. Its value is perfHandlerLock if a signal
	// handler of the thread has it, and else says which M does. The thread's
	// handler waits for another thread that has it, and gives up if it has
	// interrupted its own thread in the middle: then the next signal finds what
	// is in the ring. Who has it is on the system stack and waits for nothing but
	// the locks of perfSlots, which are taken after it.
	lock atomic.Uint32

	used    bool     // belongs to a thread
	mp      muintptr // the thread's M; 0 if it has none, see perfforeign_linux.go
	foreign bool     // Go did not create the thread, and t is in perfForeign. Protected by perfProf.lock
	tid     int32
	slots   perfSlots     // those for which there is a counter
	n       int           // they are below
	knocked atomic.Uint32 // the thread has been sent a SIGPROF by knock, and has had none since
	ring    perfRing
	ctr     [perf.MaxEvents]perfCounter // by slot
	stacks  *perfStacks                 // of a thread that runs C; see perfforeign_linux.go. Stays when t is reused
	load    perfBound
	alike   perfAlike

	// What the handler works with. It is here and not on its stack because
	// most of it need not be zeroed for each signal.
	hits perfHits
	stk  perfStack
	walk perfWalk
}

// A perfCounter is one event's counter on one thread.
type perfCounter struct {
	fd      int32
	stopped bool   // for good
	phased  bool   // runs with the event's period; before, with a random first one
	id      uint64 // the kernel's name for it in ring records; 0 if there never was one

	stopHead uint64 // the ring's head when it was stopped: its records are before
	joined   int64  // ns, what samples had cost on the thread before it

	start    uint64 // where the first overflow was due if it could not come so soon; or 0
	first    uint64 // the first period
	phaseEnd uint64 // ring records before it were written with the first period,
	phaseSum uint64 // and stand for these events that are not yet recorded
	due      uint64 // without a ring: the counter's value at the next overflow

	period        uint64 // events between samples: cfg.Periods[rung], once phased
	base          uint64 // the counter's value when it began to run with that period; 0 before
	carry         uint64 // events of unfinished periods, for the next sample; of threads that run C
	rung, maxRung uint8
	minRung       uint8 // the kernel throttles the event below

	perf.Ledger // of this counter, to be completed and added to its slot's at disarm
}

const (
	_ESRCH  = 3
	_EBADF  = 9
	_EMFILE = 24
)

// perfLinux is the Linux part of perfProf. Protected by perfProf.lock.
var perfLinux struct {
	armed, last *perfThread // threads that have counters, doubly linked
	round       uint32      // see perfEachThread
	free        *perfThread // linked by next only

	// readFormat is what read(2) of a counter returns, and _PERF_SAMPLE_READ: value,
	// time enabled, time running, ID and, from Linux 6.0 on, records lost.
	readFormat uint64

	// regs says that samples have the user's registers. Not all kernels do that
	// on all architectures.
	regs bool

	// sigEntry is where the kernel begins the handling of SIGPROF: a sanitizer's
	// wrapper of the handler, perhaps.
	sigEntry uintptr

	// fds is the least descriptor that sessions must not take. The kernel
	// gives the least one that is free, so that this many are in use then.
	fds int32

	// exec is the thread that is in execve, or 0; see perfExec.
	exec int32

	// cost is the least perf.Limits.Cost of all sessions, and minClock the least
	// first period of a clock, in ns. They are written before any thread is armed
	// for the session that changes them, and handlers read cost without a lock.
	cost     atomic.Int32 // not 64 bits: see perfInAtomic64
	minClock uint64
}

// perfHooks is the engine as threads and signals reach it. The first session sets
// them, before perfProf.used and perfProf.state, which are looked at before they
// are called; later ones leave them as they are. They are variables so that the
// linker leaves the engine out of a program that has nothing to start a session.
// (The compiler does not look for write barriers behind them: what they are set
// to is marked itself.)
var perfHooks struct {
	init, exit func(mp *m)
	exec       func(mp *m, begin bool)
	cross      func(mp *m, toGo bool)
	sigprof    func(c *sigctxt, gp *g, mp *m, delayed bool) bool
}

// perfosStart arms all threads for the session. The calling thread comes first: what
// is wrong with an event or with our permissions shows there and is returned. Another
// thread that can't be armed for lack of descriptors or memory is counted in
// the ledger, not a reason to go without a profile.
func perfosStart(ss *perfSession, limits perf.Limits) perf.Failure {
	alone := perfProf.active == 0 // starts and stops come one after the other
	if alone {
		perfForeignReset()
		perfLinux.regs = true
		perfLinux.readFormat = _PERF_FORMAT_TOTAL_TIME_ENABLED | _PERF_FORMAT_TOTAL_TIME_RUNNING | _PERF_FORMAT_ID | _PERF_FORMAT_LOST
	}
	if !perfProf.used.Load() {
		perfHooks.init = perfSessionInitThread
		perfHooks.exit = perfSessionExitThread
		perfHooks.exec = perfSessionExec
		perfHooks.cross = perfSessionCross
		perfHooks.sigprof = perfSessionSigprof
		perfProf.used.Store(true)
	}
	perfInstallHandler()

	mp := acquirem() // the self-armed thread must stay the current one
	perfLinux.fds = int32(limits.FD)
	perfLimitCost(nil)
	if alone {
		var sa sigactiont
		sysSigaction(_SIGPROF, nil, &sa)
		perfLinux.sigEntry = sa.sa_handler
		// With other sessions' counters running, what they cost would be measured
		// too. What was measured for the first of them holds.
		perfLinux.minClock = perfMinClock
		perfMeasureCost(mp, ss)
	}
	perfStartRungs(ss)

	// From here on new threads arm themselves. A thread that is being created
	// has either not reached minit's check, which will see the new state, or
	// has stored its procid before that check, and the loop below sees it.
	// Both are sequentially consistent.
	lock(&perfProf.lock)
	perfProf.active |= ss.mask
	perfProf.state.Store(perfSampling)
	unlock(&perfProf.lock)

	var f perf.Failure
	systemstack(func() { f = perfArm(mp, ss, false) })
	releasem(mp)
	if f.Op != perf.OpNone {
		perfosStop(ss)
		return f
	}
	// allm is prepended to and its removed elements keep their links, so it
	// can be walked without a lock, which would stop the scheduler for the
	// time of all these system calls.
	for p := (*m)(atomic.Loadp(unsafe.Pointer(&allm))); p != nil; p = p.alllink {
		perfStartThread(p, ss)
	}
	perfEachThread(func(t *perfThread) bool {
		if t.mp == 0 {
			t.join(ss, false) // it runs C, and is known from another session
		}
		return true
	})
	return perf.Failure{}
}

// perfStartThread arms an existing thread for the session, if it is not yet. Like
// perfNextThread it is called for each of perhaps thousands of threads, at some
// ten microseconds, and it is on entry that the goroutine can be preempted: to
// stop the world must not wait for all of them.
//
//go:noinline
func perfStartThread(mp *m, ss *perfSession) {
	systemstack(func() { perfArm(mp, ss, false) })
}

// perfosStop disarms all threads of the session's counters, and gives SIGPROF back if
// it was the last one.
func perfosStop(ss *perfSession) {
	perfStopThreads(ss)
	perfLimitCost(ss)
	perfRestoreHandler()
}

// perfLimitCost has the overhead bound keep what the strictest session asks for that
// has not ended.
func perfLimitCost(ended *perfSession) {
	least := perf.MaxCost
	lock(&perfProf.lock)
	for i := range perfProf.sessions {
		if ss := &perfProf.sessions[i]; ss.n != 0 && ss != ended {
			least = min(least, ss.cost)
		}
	}
	perfLinux.cost.Store(int32(least))
	unlock(&perfProf.lock)
}

// perfInitThread arms the current thread if a session is running. Called from
// minit, with signals unblocked, possibly without a P.
func perfInitThread(mp *m) {
	if perfCount.open.Load() != 0 {
		perfCountHooks.init(mp)
	}
	if perfProf.state.Load() == perfSampling {
		perfHooks.init(mp)
	}
}

func perfSessionInitThread(mp *m) {
	systemstack(func() { perfArm(mp, nil, true) })
}

// perfCross is called by a thread of C that has an M, as it goes to Go, and when it
// goes back to C that Go did not call. It must not be preempted, see cgocallbackg. And
// mp.isExtraInC must be false, so that no signal makes the thread take an M for its
// handler (see badsignal): arming that one would wait for perfProf.lock, of which the
// holder may wait for what is held here.
//
//go:nosplit
func perfCross(mp *m, toGo bool) {
	if mp.perf.Load() != 0 {
		perfHooks.cross(mp, toGo)
	}
}

// perfSessionCross records what has overflowed where the thread comes from and has not
// been read yet. Else whoever looks at the ring next would take it for the other's.
//
// It holds the thread's lock, so that its handler does not wait for a slot's.
//
//go:nosplit
func perfSessionCross(mp *m, toGo bool) {
	systemstack(func() {
		t := (*perfThread)(unsafe.Pointer(mp.perf.Load()))
		if t == nil {
			return
		}
		t.acquire()
		if t.mp.ptr() == mp && t.ring.base != 0 && t.ring.head() != t.ring.tail {
			if toGo && mp.ncgo == 0 { // from C that Go did not call
				t.readForeign()
			} else {
				t.drainLeafs(t.ring.head(), false)
			}
			t.drainLeafs(t.ring.head(), true) // overflowed here, while the handler gave up
		}
		t.lock.Store(0)
	})
}

// perfExitThread disarms the current thread, which exits or leaves Go. Called
// from unminit with all signals blocked, possibly without a P.
//
//go:nowritebarrierrec
func perfExitThread(mp *m) {
	// unminit is about to do this. Doing it before the states are looked at
	// means that whoever starts a session or opens a set later does not find
	// the thread, and that one who has found it holds the lock that is taken
	// below until it is armed.
	atomic.Store64(&mp.procid, 0)
	// In the reverse order of perfInitThread, so that what a profile counts of
	// a thread is a part of what a set does.
	if perfProf.state.Load() != perfIdle {
		perfHooks.exit(mp)
	}
	if perfCount.open.Load() != 0 {
		perfCountHooks.exit(mp)
	}
}

//go:nowritebarrierrec
func perfSessionExitThread(mp *m) {
	lock(&perfProf.lock)
	if t := (*perfThread)(unsafe.Pointer(mp.perf.Load())); t == nil {
		// Never armed, or disarmed by perfStopThreads.
	} else if mp.isextra && !perfThreadEnds(mp) {
		t.abandon(mp)
	} else {
		t.stop(t.slots)
		t.close(t.slots)
	}
	unlock(&perfProf.lock)
}

// perfNewThread returns an unused perfThread.
func perfNewThread() *perfThread {
	lock(&perfProf.lock)
	t := perfLinux.free
	if t != nil {
		perfLinux.free = t.next
		t.next = nil
	}
	unlock(&perfProf.lock)
	if t == nil {
		t = (*perfThread)(persistentalloc(unsafe.Sizeof(perfThread{}), 0, &memstats.other_sys))
	}
	return t
}

// perfArm opens and starts a session's counters on mp's thread, or those of all
// sessions if ss is nil, unless the thread is not there. With ss, the thread may be
// armed for others already, and a failure on the calling thread is not counted, for
// it ends the session. A fresh thread has just begun.
func perfArm(mp *m, ss *perfSession, fresh bool) (f perf.Failure) {
	spare := perfNewThread()
	if mp.isextra {
		spare.makeStacks()
	}
	lock(&perfProf.lock)
	tid := int32(atomic.Load64(&mp.procid))
	t := (*perfThread)(unsafe.Pointer(mp.perf.Load()))
	switch {
	case perfProf.active == 0 || tid == 0:
	case t == nil && perfForeignAdopt(mp, tid):
		t = (*perfThread)(unsafe.Pointer(mp.perf.Load()))
	case t == nil:
		t, spare = spare, nil
		t.start(mp, tid)
	}
	if spare != nil {
		spare.recycle()
	}
	if t != nil {
		f = t.arm(ss, fresh)
	}
	unlock(&perfProf.lock)
	return f
}

// start makes t the perfThread of thread tid, whose M is mp, or nil if it has none.
// It is to be armed next. The caller holds perfProf.lock.
func (t *perfThread) start(mp *m, tid int32) {
	t.acquire()
	t.used = true
	t.mp.set(mp)
	t.tid = tid
	t.load = perfBound{}
	t.lock.Store(0)
}

// arm opens and starts the counters that t's thread lacks: those of ss, or of all
// sessions. If it has none then, t is recycled. The caller holds perfProf.lock.
func (t *perfThread) arm(ss *perfSession, fresh bool) (f perf.Failure) {
	if ss != nil {
		f = t.join(ss, fresh)
	} else {
		for i := range perfProf.sessions {
			if e := t.join(&perfProf.sessions[i], fresh); e.Op != perf.OpNone {
				f = e
			}
		}
	}
	if t.slots == 0 {
		t.free()
	}
	return f
}

// join opens and starts the session's counters on t's thread, unless they are. If one
// can't be, none is, and that is entered in the ledger. The caller holds
// perfProf.lock. The thread may be sampled by other sessions meanwhile, and its
// handler runs as long as t.lock is not held.
func (t *perfThread) join(ss *perfSession, fresh bool) (f perf.Failure) {
	if ss.mask&perfProf.active == 0 || ss.mask&t.slots != 0 {
		return perf.Failure{}
	}
	var ctr [perf.MaxEvents]perfCounter
	opened := 0
	for ; opened < ss.n; opened++ {
		slot := ss.slots[opened]
		op, errno := t.openCounter(int(slot), &ctr[slot], &ctr[ss.slots[0]], fresh)
		if op != perf.OpNone {
			f = perf.Failure{Slot: opened, Op: op, Errno: errno}
			break
		}
	}
	if f.Op != perf.OpNone {
		// The one that failed may have a descriptor, too.
		for _, slot := range ss.slots[:opened+1] {
			ctr[slot].close()
		}
		if t.slots == 0 {
			t.ring.close()
		}
		perfCountFailure(ss, f)
		return f
	}

	t.acquire()
	for _, slot := range ss.slots[:ss.n] {
		t.ctr[slot] = ctr[slot]
		t.ctr[slot].joined = t.load.total()
		t.n = max(t.n, int(slot)+1)
	}
	first := t.slots == 0
	t.slots |= ss.mask
	if !first {
		t.rebase()
	}
	t.lock.Store(0)
	if first {
		t.link()
		mp := t.mp.ptr()
		if mp != nil {
			mp.perf.Store(uintptr(unsafe.Pointer(t)))
		}
		if mp == nil || mp.isextra {
			perfForeignInsert(t)
		}
	}
	for _, slot := range ss.slots[:ss.n] {
		perfProf.slots[slot].stats.Threads++
		if t.ring.base == 0 {
			perfProf.slots[slot].stats.NoRing++
		}
		// Can't fail for an open counter.
		ioctl(t.ctr[slot].fd, _PERF_EVENT_IOC_ENABLE, 0)
	}
	return perf.Failure{}
}

// perfCountFailure enters in the session's ledger that a thread could not be armed.
func perfCountFailure(ss *perfSession, f perf.Failure) {
	if f.Errno == _ESRCH {
		return // the thread is gone
	}
	// A thread is sampled for all events or for none.
	for _, slot := range ss.slots[:ss.n] {
		perfProf.slots[slot].stats.Fail(f)
	}
}

// recycle puts an unused t on the free list. The caller holds perfProf.lock.
func (t *perfThread) recycle() {
	t.next = perfLinux.free
	perfLinux.free = t
}

// perfHandlerLock is the value of perfThread.lock that a signal handler has.
const perfHandlerLock = 1

// perfLockOf returns the value of perfThread.lock that mp's thread has.
//
//go:nowritebarrierrec
func perfLockOf(mp *m) uint32 { return perfHandlerLock + 1 + uint32(mp.id) }

// acquire takes t.lock in normal code.
//
//go:nowritebarrierrec
func (t *perfThread) acquire() {
	for !t.lock.CompareAndSwap(0, perfLockOf(getg().m)) {
		osyield()
	}
}

// acquireInHandler takes t.lock in a signal handler of mp's thread, unless that thread
// has it.
//
//go:nowritebarrierrec
func (t *perfThread) acquireInHandler(mp *m) bool {
	for !t.lock.CompareAndSwap(0, perfHandlerLock) {
		if t.lock.Load() == perfLockOf(mp) {
			return false
		}
		osyield()
	}
	return true
}

// link puts t at the end of perfLinux.armed. perfEachThread, if it is under way, has
// nothing to do for it. The caller holds perfProf.lock.
func (t *perfThread) link() {
	t.round = perfLinux.round
	t.prev, t.next = perfLinux.last, nil
	if t.prev != nil {
		t.prev.next = t
	} else {
		perfLinux.armed = t
	}
	perfLinux.last = t
}

func (t *perfThread) unlink() {
	if t.prev != nil {
		t.prev.next = t.next
	} else {
		perfLinux.armed = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	} else {
		perfLinux.last = t.prev
	}
	t.prev, t.next = nil, nil
}

// perfEachThread calls f on the system stack for each thread that is armed now, with
// perfProf.lock held. It releases the lock between threads, so that one that exits does
// not wait for all the others, and lets the world stop there. One call is under way at a
// time, but the goroutine may go on on another thread than before.
//
// f reports whether it is done with t, which it may have freed. If not, it is called
// again, unless t has exited. Threads that f is done with go to the end of the list, as
// do new ones.
func perfEachThread(f func(t *perfThread) (done bool)) {
	lock(&perfProf.lock)
	perfLinux.round++
	round := perfLinux.round
	unlock(&perfProf.lock)
	for perfNextThread(round, f) {
	}
}

//go:noinline
func perfNextThread(round uint32, f func(t *perfThread) (done bool)) (more bool) {
	systemstack(func() {
		lock(&perfProf.lock)
		t := perfLinux.armed
		more = t != nil && t.round != round
		wait := false
		if more {
			wait = !f(t)
			if !wait && t == perfLinux.armed {
				t.unlink()
				t.link()
			}
		}
		unlock(&perfProf.lock)
		if wait {
			osyield()
		}
	})
	return more
}

// free gives up t's descriptors and ring, and t. Its lock may be free or not;
// the handler does not use a perfThread with mp == 0.
func (t *perfThread) free() {
	t.acquire()
	t.used = false
	t.mp.set(nil)
	t.ring.close()
	for i := range t.ctr[:t.n] {
		t.ctr[i].close()
		t.ctr[i] = perfCounter{}
	}
	t.n = 0
	t.slots = 0
	t.lock.Store(0)
	t.recycle()
}

// perfIs reports whether fd is still the counter that the kernel calls id.
// Programs that become daemons close all descriptors there may be, and what
// they open next gets the numbers. Then reading one would take the program's
// data, or wait for some, and the flags set would be those of its file.
//
//go:nowritebarrierrec
func perfIs(fd int32, id uint64) bool {
	var got uint64
	return ioctl(fd, _PERF_EVENT_IOC_ID, uintptr(noescape(unsafe.Pointer(&got)))) == 0 && got == id
}

// ours reports whether the counter's descriptor is still the counter.
//
//go:nowritebarrierrec
func (c *perfCounter) ours() bool { return c.id != 0 && c.fd >= 0 && perfIs(c.fd, c.id) }

// control performs an ioctl on the counter, if it is still there.
//
//go:nowritebarrierrec
func (c *perfCounter) control(req uintptr) {
	if c.ours() {
		ioctl(c.fd, req, 0)
	}
}

// close closes the counter's descriptor, if it is still there.
func (c *perfCounter) close() {
	if c.ours() {
		closefd(c.fd)
	}
}

// openCounter opens in c the counter of slot i on t's thread, stopped. ring is the
// first counter that is opened with it. If it fails, c has a descriptor if it has an
// ID. The caller holds perfProf.lock.
func (t *perfThread) openCounter(i int, c, ring *perfCounter, fresh bool) (perf.Op, int32) {
	s := &perfProf.slots[i]
	period := s.cfg.Periods[s.rung]
	start, first := perfFirstPeriod(&s.cfg, period, fresh)
	*c = perfCounter{phased: first == period, due: first, start: start, first: first, period: period, rung: s.rung, maxRung: s.rung}

	fd := perfOpen(s, t.tid, first)
	if fd >= perfLinux.fds {
		closefd(fd)
		fd = -_EMFILE
	}
	if fd < 0 {
		return perf.OpOpen, -fd
	}
	c.fd = fd
	if r := ioctl(fd, _PERF_EVENT_IOC_ID, uintptr(unsafe.Pointer(&c.id))); r < 0 {
		closefd(fd)
		return perf.OpControl, -r
	}

	own := fOwnerEx{typ: _F_OWNER_TID, pid: t.tid}
	if r := fcntlPtr(fd, _F_SETOWN_EX, uintptr(unsafe.Pointer(&own))); r < 0 {
		return perf.OpSignal, -r
	}
	if r := fcntlPtr(fd, _F_SETSIG, _SIGPROF); r < 0 {
		return perf.OpSignal, -r
	}
	if t.getsSignals() {
		if r := fcntlPtr(fd, _F_SETFL, _O_ASYNC); r < 0 {
			return perf.OpSignal, -r
		}
	}
	switch {
	case c == ring && t.slots == 0:
		// Going without a ring costs accuracy, not the profile: see
		// drainCounters. It is counted as NoRing.
		t.ring.open(fd)
	case t.ring.base != 0:
		// The mapping keeps the event for which it was made in existence after
		// its descriptor is closed, so that any counter may end first.
		if c != ring {
			return t.share(c, ring)
		}
		for k := range t.ctr[:t.n] {
			if t.ctr[k].ours() {
				return t.share(c, &t.ctr[k])
			}
		}
		return perf.OpRing, _EBADF // the program has closed them all
	}
	return perf.OpNone, 0
}

// share has c write to the ring that the counter other writes to.
func (t *perfThread) share(c, other *perfCounter) (perf.Op, int32) {
	if r := ioctl(c.fd, _PERF_EVENT_IOC_SET_OUTPUT, uintptr(other.fd)); r < 0 {
		return perf.OpRing, -r
	}
	return perf.OpNone, 0
}

// perfOpen opens a counter of the slot's event for thread tid, stopped. It
// returns a descriptor or a negated errno.
//
// The session's first thread finds out what the kernel can do; what it found
// then holds for all threads.
func perfOpen(s *perfSlot, tid int32, period uint64) int32 {
	auto := s.cfg.Precise < 0 && s.stats.Threads == 0
	if auto {
		s.stats.Precise = perfMaxPrecise
	}
	for {
		attr := perfAttr(&s.cfg.Attr, s.stats.Precise)
		attr.samplePeriod = period
		attr.readFormat = perfLinux.readFormat
		if perfLinux.regs {
			attr.sampleType |= _PERF_SAMPLE_REGS_USER
			attr.sampleRegsUser = perfSampleRegs
		}
		if s.cfg.Software() {
			// The kernel makes one perf_sample_data for an occurrence of the event and
			// uses it for all counters that it makes overflow (do_perf_sw_event in
			// kernel/events/core.c). Since Linux 6.1 or so it fills in only what an
			// earlier counter's record has not had (perf_prepare_sample): all of them
			// have the first one's ID. But what is read is each counter's own.
			attr.sampleType |= _PERF_SAMPLE_READ
		}
		fd := perf_event_open(&attr, tid, -1, -1, _PERF_FLAG_FD_CLOEXEC)
		switch {
		case fd >= 0:
			return fd
		case fd == -_ENOSYS && perfLinux.regs && perfLinux.armed == nil:
			// Perhaps a kernel without CONFIG_HAVE_PERF_REGS, as mips had until
			// 5.13. If there is no perf_event_open it comes back.
			perfLinux.regs = false
		case auto && s.stats.Precise > 0:
			// Nobody asked for this precision: take the next lower one.
			s.stats.Precise--
		case fd == -_EINVAL && perfLinux.readFormat&_PERF_FORMAT_LOST != 0 && perfLinux.armed == nil:
			// Perhaps Linux before 6.0. If it is another EINVAL it comes back.
			perfLinux.readFormat &^= _PERF_FORMAT_LOST
			if auto {
				s.stats.Precise = perfMaxPrecise
			}
		default:
			return fd
		}
	}
}

// perfMaxPrecise is the highest level of precise_ip: required to have no skid.
const perfMaxPrecise = 3

// perfAttr returns what the kernel is asked for to sample the event, but for the
// period and the format of reads.
func perfAttr(c *perf.Attr, precise int8) perfEventAttr {
	attr := perfEventAttr{
		typ:          c.Type,
		size:         uint32(unsafe.Sizeof(perfEventAttr{})),
		config:       c.Config,
		sampleType:   perfSampleType,
		clockid:      1, // CLOCK_MONOTONIC, as nanotime
		bits:         perfAttrBit(_PERF_ATTR_DISABLED) | perfAttrBit(_PERF_ATTR_USE_CLOCKID) | perfAttrPreciseIP(uint(precise)),
		wakeupEvents: 1,
		bpType:       c.BPType,
		config1:      c.Config1,
		config2:      c.Config2,
		config3:      c.Config3,
	}
	for _, f := range [...]struct {
		set bool
		bit uint
	}{
		{c.ExcludeUser, _PERF_ATTR_EXCLUDE_USER},
		{c.ExcludeKernel, _PERF_ATTR_EXCLUDE_KERNEL},
		{c.ExcludeHV, _PERF_ATTR_EXCLUDE_HV},
		{c.ExcludeIdle, _PERF_ATTR_EXCLUDE_IDLE},
		{c.ExcludeHost, _PERF_ATTR_EXCLUDE_HOST},
		{c.ExcludeGuest, _PERF_ATTR_EXCLUDE_GUEST},
	} {
		if f.set {
			attr.bits |= perfAttrBit(f.bit)
		}
	}
	return attr
}

// perfMinFirst is the least first period of a hardware counter, and
// perfMinClock that of a clock, in ns, where a sample does not cost more (see
// perfLinux.minClock). With one that is shorter than an interrupt the thread
// would go from one to the next, and its handler not get to set the event's
// period, or its own code to unblock the signal.
//
// perfThreadStart is what a new thread takes from arming itself to the first
// goroutine, in ns. It was 5 to 8 us in a virtual machine.
const (
	perfMinFirst    = 1 << 14
	perfMinClock    = 50 * 1000
	perfThreadStart = 6 * 1000
)

// perfStartRungs chooses the periods that threads start with for the session. Clocks
// interrupt a thread even if it is the kernel's or another clock's interrupt
// that runs. With four of 10 us, at 12 us for an interrupt, a thread never got
// as far as the signal handler, where the overhead bound would have acted. So
// they start with periods that together cost no more than the bound allows. It
// takes the shorter ones where they are cheap enough.
func perfStartRungs(ss *perfSession) {
	clocks := uint64(0) // of all sessions
	for i := range perfProf.slots[:perfProf.n] {
		if perfProf.slots[i].cfg.Clock() {
			clocks++
		}
	}
	least := clocks * uint64(perfCost.whole*100/int64(perfLinux.cost.Load()))
	for _, slot := range ss.slots[:ss.n] {
		s := &perfProf.slots[slot]
		s.rung = 0
		for ps := &s.cfg.Periods; s.cfg.Clock() && ps[s.rung] < least && ps[s.rung+1] != 0; s.rung++ {
		}
	}
	// Until the first handler has run, their interrupts take half of the time.
	perfLinux.minClock = max(perfMinClock, clocks*uint64(perfCost.whole))
}

// perfFirstPeriod returns where a thread's first overflow of an event is due
// that it starts with the given period: uniformly random in [1, period].
//
// For every period's worth of events the user should expect one sample, also
// from threads that are too short to see a whole period: they get one with the
// probability of the part of a period that they ran. See setThreadCPUProfiler,
// which does the same for the timer, and go.dev/issue/40435.
//
// The kernel has no separate first period. So the counter starts with the
// random one, and the handler sets the event's own at the first overflow.
//
// One that is due before an interrupt can be taken is put off until it can be,
// and where it was due is returned as start. Code that runs a little later has
// the sample then, but for a new thread that would be one thing's time blamed on
// another: its first microseconds are the scheduler's, and what it was created
// for had 10 % too many samples where it took 80 us. So an overflow due there is
// not sampled at all, and the thread begins with the one after that. lostStart
// enters it in the ledger.
func perfFirstPeriod(c *perf.Config, period uint64, fresh bool) (start, first uint64) {
	first = 1 + uint64(cheaprand64())%period
	least := uint64(0)
	switch {
	case c.Clock():
		least = perfLinux.minClock
	case c.Interrupts():
		least = perfMinFirst
	}
	switch {
	case first >= least:
		return 0, first
	case c.Clock() && fresh && first < perfThreadStart:
		return first, first + period
	}
	return first, min(least, period)
}

// lostStart returns what the overflow stands for that was due before the counter
// could interrupt, if it had no sample later either. The counter's value tells
// whether the thread came so far. (A clock's may have been in time that was to be
// filtered out; the ledger of such a clock has it as not sampled.)
func (c *perfCounter) lostStart(s *perfSlot, value uint64) uint64 {
	period := s.cfg.Periods[s.rung]
	putOff := c.first < c.start+period
	if c.start == 0 || value < c.start || putOff && value >= c.first || s.cfg.FilteredClock() {
		return 0
	}
	return period
}

// event returns the index of the event that the record is about, or -1 if that has
// been closed.
//
//go:nowritebarrierrec
func (t *perfThread) event(rec *perfRecord) int {
	for i := range t.ctr[:t.n] {
		if t.ctr[i].id == rec.id && t.slots.has(i) {
			return i
		}
	}
	return -1
}

// phase sets the event's period on a counter that has overflowed for the first
// time. Called by the signal handler with t.lock held.
//
// The counter is stopped around it because PERF_EVENT_IOC_PERIOD sets the
// kernel's period_left to 0 (__perf_event_period in kernel/events/core.c). A
// running software or breakpoint event takes that for an overflow at its very
// next occurrence; one that is started again with period_left == 0 begins a
// full period (perf_swevent_add calls perf_swevent_set_period), and so do
// hardware counters and clocks.
//
//go:nowritebarrierrec
func (t *perfThread) phase(i int) {
	c := &t.ctr[i]
	c.phased = true
	if c.stopped || !c.ours() {
		// It is being disarmed, and must not be started again, or the program has
		// closed it. All its records are of the first period.
		c.phaseEnd = ^uint64(0)
		return
	}
	ioctl(c.fd, _PERF_EVENT_IOC_DISABLE, 0)
	if t.ring.base != 0 {
		c.phaseEnd = t.ring.head()
	}
	t.restart(c, c.period)
}

// stop stops t's counters of the given slots. When it returns none of them can
// overflow.
//
//go:nowritebarrierrec
func (t *perfThread) stop(slots perfSlots) {
	t.acquire() // not between phase's two steps
	for i := range t.ctr[:t.n] {
		if c := &t.ctr[i]; slots.has(i) {
			c.stopped = true
			c.control(_PERF_EVENT_IOC_DISABLE)
		}
	}
	if t.ring.base != 0 {
		head := t.ring.head()
		for i := range t.ctr[:t.n] {
			if slots.has(i) {
				t.ctr[i].stopHead = head
			}
		}
	}
	if t.slots&^slots != 0 {
		t.rebase()
	}
	t.lock.Store(0)
}

// pending reports whether t's ring has records that its handler has not seen, from
// before the counters of the given slots were stopped.
func (t *perfThread) pending(slots perfSlots) bool {
	t.acquire()
	p := false
	for i := range t.ctr[:t.n] {
		p = p || t.ring.base != 0 && slots.has(i) && t.ring.tail < t.ctr[i].stopHead
	}
	t.lock.Store(0)
	return p
}

// close completes the ledger from t's counters of the given slots, which are stopped,
// and closes them. When that were all, it frees t. The caller holds perfProf.lock, and
// no signal handler of this thread can run that takes a perfSlot.lock.
func (t *perfThread) close(slots perfSlots) {
	slots &= t.slots
	last := slots == t.slots
	if last {
		perfForeignRemove(t)
	}
	t.drainForeign()
	if mp := t.mp.ptr(); last && mp != nil {
		mp.perf.Store(0)
	}
	t.acquire()
	// What the thread's handler did not see any more, because the signal is
	// still pending or was blocked until the end. Its stack is gone.
	if t.ring.base != 0 {
		if last {
			t.drainLeafs(t.ring.head(), false)
		} else {
			t.takeLeafs(slots)
		}
	}
	for i := range t.ctr[:t.n] {
		if !slots.has(i) {
			continue
		}
		t.settle(i)
		if !last {
			t.ctr[i].close()
			t.ctr[i] = perfCounter{}
		}
	}
	t.slots &^= slots
	if !last {
		t.rebase()
	}
	t.lock.Store(0)
	if last {
		t.unlink()
		t.free()
	}
}

// settle enters in the ledger what the stopped counter of slot i has counted, and
// what became of it.
func (t *perfThread) settle(i int) {
	c := &t.ctr[i]
	s := &perfProf.slots[i]
	var v perfCounterValue
	if v.read(c) {
		c.Counted = perf.Count{Value: v.value, Enabled: v.enabled, Running: v.running}
		// The ring's own count of what did not fit is shared by all
		// events and reported late; the kernel's per event is exact.
		if v.lost != 0 || perfLinux.readFormat&_PERF_FORMAT_LOST != 0 {
			c.LostRing = v.lost
		}
	} else {
		c.MissedReads = 1
	}
	c.Cost = uint64(t.load.total() - c.joined)
	c.MaxPeriod = s.cfg.Periods[c.maxRung]
	// Losses are part of the profile, so that its total is right.
	start := c.lostStart(s, v.value)
	if c.LostRing != 0 {
		n := c.lostEvents(c.LostRing, v.value-min(v.value, start), s.cfg.Clock())
		s.addLeaf(0, _PerfLostRing, c.LostRing, n)
		c.Lost = n
	}
	if late := c.late(s, v.value, c.Lost); late != 0 {
		s.addLeaf(0, _PerfLostLate, late, late*c.period)
		c.LostLate = late
		c.Lost += late * c.period
	}
	if start != 0 {
		s.addLeaf(0, _PerfLostStart, 1, start)
		c.LostStart = 1
		c.Lost += start
	}
	s.stats.Add(&c.Ledger)
}

// lostEvents returns what n lost overflows of c stand for, of all the events
// that it has counted. They were lost with the period of then, which is not
// known if there were several: but what no other sample stands for is. (Of
// a clock that is an upper limit, as it may have counted the kernel's time.)
//
// The bound makes several, and a thread whose handler could not run since before
// the first overflow, so that it overflows with its first period, again and again.
func (c *perfCounter) lostEvents(n, counted uint64, clock bool) uint64 {
	if counted == 0 {
		return n * c.period
	}
	left := counted - min(counted, c.Sampled)
	// The first sample stands for up to a period more than has been counted.
	if c.maxRung == 0 && n*c.period <= left+c.period {
		return n * c.period
	}
	if clock {
		return min(n*c.period, left)
	}
	return left
}

// late returns how many periods there are in what the counter has counted since
// the last overflow that the ledger knows, which should be none. lost is what
// the overflows stand for that are known to be lost.
//
// The kernel writes one record per interrupt. An interrupt that is held up for
// longer than a period stands for several overflows: a timer's handler skips
// what has passed (hrtimer_forward_now in kernel/events/core.c), and so do the
// drivers of PMUs, whose counter has gone on meanwhile. Interrupts are held up
// while the kernel has them off, and by a hypervisor that runs something else.
func (c *perfCounter) late(s *perfSlot, value, lost uint64) uint64 {
	if s.cfg.FilteredClock() {
		return 0
	}
	known := c.Sampled + lost + c.Replayed
	if known == 0 {
		if value < c.first {
			return 0
		}
		return 1 + (value-c.first)/c.period
	}
	// The first sample stands for the period that the thread started with, and
	// came after c.first events.
	last := known - min(known, s.cfg.Periods[s.rung]) + c.first + c.phaseSum
	if value < last {
		return 0
	}
	return (value - last) / c.period
}

// A perfCounterValue is what read(2) returns for perfLinux.readFormat.
type perfCounterValue struct {
	value, enabled, running, id, lost uint64
}

// perfReadSize returns the size of what perfLinux.readFormat says, in bytes.
//
//go:nowritebarrierrec
func perfReadSize() int32 {
	n := int32(unsafe.Sizeof(perfCounterValue{}))
	if perfLinux.readFormat&_PERF_FORMAT_LOST == 0 {
		n -= 8
	}
	return n
}

// read reads the counter c. It reports whether that worked; it does not if
// the program has closed the descriptor behind our back.
//
//go:nowritebarrierrec
func (v *perfCounterValue) read(c *perfCounter) bool {
	n := perfReadSize()
	return c.ours() && read(c.fd, noescape(unsafe.Pointer(v)), n) == n
}

// perfDrainWait bounds how long perfStopThreads waits for handlers.
const perfDrainWait = 500 * 1000 // ns

// perfStopThreads ends the session on all threads.
//
// It goes over them twice: stopping first makes the end of the profile the
// same for all threads, to some microseconds for each of them.
func perfStopThreads(ss *perfSession) {
	lock(&perfProf.lock)
	if perfProf.active &^= ss.mask; perfProf.active == 0 {
		perfProf.state.Store(perfDraining)
	}
	unlock(&perfProf.lock)
	perfEachThread(func(t *perfThread) bool {
		t.stop(ss.mask)
		return true
	})
	// A thread that runs takes its signal at once. Give it the time, so that
	// its last samples have stacks. One that does not run, or blocks SIGPROF,
	// is not waited for.
	deadline := nanotime() + perfDrainWait
	perfEachThread(func(t *perfThread) bool {
		if t.pending(ss.mask) && nanotime() < deadline {
			return false
		}
		// What is written to the buffers, this thread's handler must not want to
		// write to them meanwhile. (See perfSlot.lock.)
		var mask sigset
		sigsave(&mask)
		sigblock(false)
		t.close(ss.mask)
		msigrestore(mask)
		return true
	})
}
