// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Counters of performance-monitoring events, one set per thread.
//
// Each thread has one counter per event of the session, opened for that thread
// only (perf_event_open(2), pid = tid, cpu = -1): it counts wherever the thread
// runs and costs other threads nothing. An overflow makes the kernel write a
// record to the thread's ring and send SIGPROF to that very thread
// (fcntl(2), F_SETOWN_EX with F_OWNER_TID).
//
// Who arms a thread: those that exist when the session starts are armed by the
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

	// next and prev link the threads of perfLinux.armed or .stopping, or the
	// free list. Protected by perfProf.lock.
	next, prev *perfThread

	// lock protects everything below. The owner's signal handler tries it and
	// gives up if it is taken: whoever has it drains the ring. Normal code
	// spins for it, and must not be interrupted by the handler of the same
	// perfThread for longer than that handler runs, which the handler's
	// giving up guarantees.
	lock atomic.Uint32

	used    bool     // belongs to a thread
	mp      muintptr // the thread's M; 0 if it has none, see perfforeign_linux.go
	tid     int32
	n       int  // counters in use: perfProf.n, or fewer while being armed
	stopped bool // the counters have been stopped for good
	ring    perfRing
	ctr     [perf.MaxEvents]perfCounter
	stacks  *perfStacks // of a thread that runs C; see perfforeign_linux.go. Stays when t is reused
	load    perfBound
	twins   struct {
		time int64 // of the latest record of a software event
		seen uint8 // events that have had a record with that time
	}

	// What the handler works with. It is here and not on its stack because
	// most of it need not be zeroed for each signal.
	hits perfHits
	stk  perfStack
	walk perfWalk
}

// A perfCounter is one event's counter on one thread. See perf.Stats for the
// units of the ledger's part.
type perfCounter struct {
	fd     int32
	phased bool   // runs with the event's period; before, with a random first one
	id     uint64 // the kernel's name for it in ring records

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

	events     uint64 // what the recorded samples stand for
	samples    uint64
	delayed    uint64
	inHandler  uint64
	lostRing   uint64
	lostUnwind uint64
	throttled  uint64
	replayed   uint64
	stuck      uint64 // 1 if it was stopped; see perfThread.stuck
}

const (
	_ESRCH  = 3
	_EBADF  = 9
	_EMFILE = 24
)

// perfLinux is the Linux part of perfProf. Protected by perfProf.lock.
var perfLinux struct {
	armed    *perfThread // threads of this session, doubly linked
	stopping *perfThread // of these, those whose counters perfosStop has stopped
	free     *perfThread // linked by next only

	// readFormat is what read(2) of a counter returns: value, time enabled,
	// time running and, from Linux 6.0 on, records lost.
	readFormat uint64

	// fds is the least descriptor that the session must not take. The kernel
	// gives the least one that is free, so that this many are in use then.
	fds int32

	// cost is perf.Limits.Cost, and minClock the least first period of a clock, in
	// ns. They are written before any thread is armed, and handlers read them
	// without a lock.
	cost     int64
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
	sigprof    func(c *sigctxt, gp *g, mp *m, delayed bool) bool
}

// perfosStart arms all threads. The calling thread comes first: what is wrong
// with an event or with our permissions shows there and is returned. Another
// thread that can't be armed for lack of descriptors or memory is counted in
// the ledger, not a reason to go without a profile.
func perfosStart(limits perf.Limits) perf.Failure {
	for i := range perfProf.slots[:perfProf.n] {
		c := &perfProf.slots[i].cfg
		perfProf.watch = perfProf.watch || perfWatches(i, uintptr(c.Config1))
		perfProf.exact = perfProf.exact || c.Exact
	}
	perfForeignReset()
	if !perfProf.used.Load() {
		perfHooks.init = perfSessionInitThread
		perfHooks.exit = perfSessionExitThread
		perfHooks.sigprof = perfSessionSigprof
		perfProf.used.Store(true)
	}
	perfInstallHandler()

	mp := acquirem() // the self-armed thread must stay the current one
	perfLinux.readFormat = _PERF_FORMAT_TOTAL_TIME_ENABLED | _PERF_FORMAT_TOTAL_TIME_RUNNING | _PERF_FORMAT_LOST
	perfLinux.fds = int32(limits.FD)
	perfLinux.cost = int64(limits.Cost)
	perfLinux.minClock = perfMinClock
	perfMeasureCost(mp)
	perfStartRungs()

	// From here on new threads arm themselves. A thread that is being created
	// has either not reached minit's check, which will see the new state, or
	// has stored its procid before that check, and the loop below sees it.
	// Both are sequentially consistent.
	perfProf.state.Store(perfSampling)

	var f perf.Failure
	systemstack(func() { f = perfArm(mp, true, false) })
	if f.Op != perf.OpNone {
		systemstack(perfStopThreads)
		releasem(mp)
		perfRestoreHandler()
		return f
	}
	// allm is prepended to and its removed elements keep their links, so it
	// can be walked without a lock, which would stop the scheduler for the
	// time of all these system calls.
	systemstack(func() {
		for p := (*m)(atomic.Loadp(unsafe.Pointer(&allm))); p != nil; p = p.alllink {
			if p != mp {
				perfArm(p, false, false)
			}
		}
	})
	releasem(mp)
	return perf.Failure{}
}

// perfosStop disarms all threads and gives SIGPROF back.
func perfosStop() {
	mp := acquirem()
	systemstack(perfStopThreads)
	releasem(mp)
	perfRestoreHandler()
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
	systemstack(func() { perfArm(mp, false, true) })
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
	} else if mp.isextra {
		t.abandon(mp)
	} else {
		t.stop()
		t.close(mp)
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

// perfArm opens and starts the counters of mp's thread, unless they are
// already, or the thread is not there. If must is set, no failure is counted,
// for it ends the session. A fresh thread has just begun.
func perfArm(mp *m, must, fresh bool) (f perf.Failure) {
	t := perfNewThread()
	lock(&perfProf.lock)
	tid := int32(atomic.Load64(&mp.procid))
	switch {
	case perfProf.state.Load() != perfSampling || mp.perf.Load() != 0 || tid == 0:
		t.recycle()
	case perfForeignAdopt(mp, tid):
		t.recycle()
	default:
		if f = t.arm(mp, tid, fresh); f.Op != perf.OpNone && !must {
			perfCountFailure(f)
		}
	}
	unlock(&perfProf.lock)
	return f
}

// arm opens and starts the counters of thread tid, whose M is mp, or nil if Go
// did not create it. On failure it recycles t. The caller holds perfProf.lock.
func (t *perfThread) arm(mp *m, tid int32, fresh bool) perf.Failure {
	t.acquire()
	t.used = true
	t.mp.set(mp)
	t.tid = tid
	t.load = perfBound{}
	f := t.open(fresh)
	t.lock.Store(0)
	if f.Op != perf.OpNone {
		t.free()
		return f
	}
	t.link(&perfLinux.armed)
	if mp != nil {
		mp.perf.Store(uintptr(unsafe.Pointer(t)))
	} else {
		perfForeignInsert(t)
	}
	for i := range t.ctr[:t.n] {
		perfProf.slots[i].stats.Threads++
		if t.ring.base == 0 {
			perfProf.slots[i].stats.NoRing++
		}
		// Can't fail for an open counter.
		ioctl(t.ctr[i].fd, _PERF_EVENT_IOC_ENABLE, 0)
	}
	return perf.Failure{}
}

// perfCountFailure enters in the ledger that a thread could not be armed.
func perfCountFailure(f perf.Failure) {
	if f.Errno == _ESRCH {
		return // the thread is gone
	}
	// A thread is sampled for all events or for none.
	for i := range perfProf.slots[:perfProf.n] {
		failed := &perfProf.slots[i].stats.Failed
		k := 0
		for k < len(failed)-1 && failed[k].Threads != 0 && (failed[k].Op != f.Op || failed[k].Errno != f.Errno) {
			k++
		}
		if failed[k].Threads == 0 {
			failed[k].Op, failed[k].Errno = f.Op, f.Errno
		}
		failed[k].Threads++
	}
}

// recycle puts an unused t on the free list. The caller holds perfProf.lock.
func (t *perfThread) recycle() {
	t.next = perfLinux.free
	perfLinux.free = t
}

// acquire takes t.lock in normal code.
//
//go:nowritebarrierrec
func (t *perfThread) acquire() {
	for !t.lock.CompareAndSwap(0, 1) {
		osyield()
	}
}

func (t *perfThread) link(list **perfThread) {
	t.prev, t.next = nil, *list
	if t.next != nil {
		t.next.prev = t
	}
	*list = t
}

func (t *perfThread) unlink() {
	switch t {
	case perfLinux.armed:
		perfLinux.armed = t.next
	case perfLinux.stopping:
		perfLinux.stopping = t.next
	}
	if t.prev != nil {
		t.prev.next = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	}
	t.prev, t.next = nil, nil
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
	}
	t.n = 0
	t.stopped = false
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
func (c *perfCounter) ours() bool { return perfIs(c.fd, c.id) }

// control performs an ioctl on the counter, if it is still there.
//
//go:nowritebarrierrec
func (c *perfCounter) control(req uintptr) {
	if c.ours() {
		ioctl(c.fd, req, 0)
	}
}

// close closes the counter's descriptor. One without an ID has just been opened.
func (c *perfCounter) close() {
	if c.id == 0 || c.ours() {
		closefd(c.fd)
	}
}

// open opens all counters of t, stopped.
func (t *perfThread) open(fresh bool) perf.Failure {
	for i := range perfProf.slots[:perfProf.n] {
		if op, errno := t.openCounter(i, fresh); op != perf.OpNone {
			return perf.Failure{Slot: i, Op: op, Errno: errno}
		}
	}
	return perf.Failure{}
}

func (t *perfThread) openCounter(i int, fresh bool) (perf.Op, int32) {
	s := &perfProf.slots[i]
	c := &t.ctr[i]
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
	t.n = i + 1

	own := fOwnerEx{typ: _F_OWNER_TID, pid: t.tid}
	if r := fcntlPtr(fd, _F_SETOWN_EX, uintptr(unsafe.Pointer(&own))); r < 0 {
		return perf.OpSignal, -r
	}
	if r := fcntlPtr(fd, _F_SETSIG, _SIGPROF); r < 0 {
		return perf.OpSignal, -r
	}
	if t.mp != 0 || perfForeignSignals() {
		if r := fcntlPtr(fd, _F_SETFL, _O_ASYNC); r < 0 {
			return perf.OpSignal, -r
		}
	}
	if r := ioctl(fd, _PERF_EVENT_IOC_ID, uintptr(unsafe.Pointer(&c.id))); r < 0 {
		return perf.OpControl, -r
	}
	if i == 0 {
		// Going without a ring costs accuracy, not the profile: see
		// drainCounters. It is counted as NoRing.
		t.ring.open(fd)
	} else if t.ring.base != 0 {
		if r := ioctl(fd, _PERF_EVENT_IOC_SET_OUTPUT, uintptr(t.ctr[0].fd)); r < 0 {
			return perf.OpRing, -r
		}
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
		attr := perfAttr(s)
		attr.samplePeriod = period
		fd := perf_event_open(&attr, tid, -1, -1, _PERF_FLAG_FD_CLOEXEC)
		switch {
		case fd >= 0:
			return fd
		case auto && s.stats.Precise > 0:
			// Nobody asked for this precision: take the next lower one.
			s.stats.Precise--
		case fd == -_EINVAL && perfLinux.readFormat&_PERF_FORMAT_LOST != 0:
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

// perfAttr returns the attributes of a counter of the slot's event, but for
// the period.
func perfAttr(s *perfSlot) perfEventAttr {
	c := &s.cfg
	attr := perfEventAttr{
		typ:          c.Type,
		size:         uint32(unsafe.Sizeof(perfEventAttr{})),
		config:       c.Config,
		sampleType:   _PERF_SAMPLE_IDENTIFIER | _PERF_SAMPLE_IP | _PERF_SAMPLE_TIME,
		clockid:      1, // CLOCK_MONOTONIC, as nanotime
		readFormat:   perfLinux.readFormat,
		bits:         perfAttrBit(_PERF_ATTR_DISABLED) | perfAttrBit(_PERF_ATTR_USE_CLOCKID) | perfAttrPreciseIP(uint(s.stats.Precise)),
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

// perfStartRungs chooses the periods that threads start with. Clocks
// interrupt a thread even if it is the kernel's or another clock's interrupt
// that runs. With four of 10 us, at 12 us for an interrupt, a thread never got
// as far as the signal handler, where the overhead bound would have acted. So
// they start with periods that together cost no more than the bound allows. It
// takes the shorter ones where they are cheap enough.
func perfStartRungs() {
	slots := perfProf.slots[:perfProf.n]
	clocks := uint64(0)
	for i := range slots {
		if slots[i].cfg.Clock {
			clocks++
		}
	}
	least := clocks * uint64(perfCost.whole*100/perfLinux.cost)
	for i := range slots {
		s := &slots[i]
		s.rung = 0
		for ps := &s.cfg.Periods; s.cfg.Clock && ps[s.rung] < least && ps[s.rung+1] != 0; s.rung++ {
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
	case c.Clock:
		least = perfLinux.minClock
	case perfInterrupts(c):
		least = perfMinFirst
	}
	switch {
	case first >= least:
		return 0, first
	case c.Clock && fresh && first < perfThreadStart:
		return first, first + period
	}
	return first, min(least, period)
}

// perfInterrupts reports whether each overflow of the event is an interrupt.
// Those of other events than clocks and the PMU's are noticed where they are
// counted.
func perfInterrupts(c *perf.Config) bool {
	return c.Clock || c.Type != _PERF_TYPE_SOFTWARE && c.Type != _PERF_TYPE_BREAKPOINT && c.Type != _PERF_TYPE_TRACEPOINT
}

// lostStart returns what the overflow stands for that was due before the counter
// could interrupt, if it had no sample later either. The counter's value tells
// whether the thread came so far. (A clock's may have been in time that was to be
// filtered out; the ledger of such a clock has it as not sampled.)
func (c *perfCounter) lostStart(s *perfSlot, value uint64) uint64 {
	period := s.cfg.Periods[s.rung]
	putOff := c.first < c.start+period
	if c.start == 0 || value < c.start || putOff && value >= c.first || s.filteredClock() {
		return 0
	}
	return period
}

// filteredClock reports whether the counters of s include what is filtered out of
// its samples.
//
//go:nowritebarrierrec
func (s *perfSlot) filteredClock() bool {
	return s.cfg.Clock && (s.cfg.ExcludeKernel || s.cfg.ExcludeUser)
}

// event returns the index of the event that the record is about, or -1.
//
// Two software events that differ only in what they exclude can overflow at the
// same occurrence. Then Linux since 6.1 or so writes the second record with the
// first one's ID and time: it fills in a perf_sample_data once and uses it for
// both (do_perf_sw_event and perf_prepare_sample in kernel/events/core.c). No
// two occurrences have the same time, so that tells these records. A clock's
// interrupt may come between the two; it has a perf_sample_data of its own.
//
//go:nowritebarrierrec
func (t *perfThread) event(rec *perfRecord) int {
	for i := range t.ctr[:t.n] {
		if t.ctr[i].id != rec.id {
			continue
		}
		if c := &perfProf.slots[i].cfg; rec.typ == _PERF_RECORD_SAMPLE && c.Type == _PERF_TYPE_SOFTWARE && !c.Clock {
			return t.twin(i, rec)
		}
		return i
	}
	return -1
}

// twin returns the index of the event to which a record belongs that has the
// ID of software event i.
//
//go:nowritebarrierrec
func (t *perfThread) twin(i int, rec *perfRecord) int {
	if rec.time != t.twins.time || t.twins.seen>>i&1 == 0 {
		t.twins.time = rec.time
		t.twins.seen = 1 << i
		return i
	}
	kernel := rec.misc&_PERF_RECORD_MISC_CPUMODE_MASK == _PERF_RECORD_MISC_KERNEL
	for j := range t.ctr[:t.n] {
		c := &perfProf.slots[j].cfg
		if t.twins.seen>>j&1 == 0 && c.Type == _PERF_TYPE_SOFTWARE && c.Config == perfProf.slots[i].cfg.Config &&
			!(kernel && c.ExcludeKernel) && !(!kernel && c.ExcludeUser) {
			t.twins.seen |= 1 << j
			return j
		}
	}
	return i
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
	if t.stopped || !c.ours() {
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

// stop stops t's counters. When it returns none of them can overflow.
//
//go:nowritebarrierrec
func (t *perfThread) stop() {
	t.acquire() // not between phase's two steps
	t.stopped = true
	for i := range t.ctr[:t.n] {
		t.ctr[i].control(_PERF_EVENT_IOC_DISABLE)
	}
	t.lock.Store(0)
}

// pending reports whether t's ring has records that its handler has not seen.
func (t *perfThread) pending() bool {
	t.acquire()
	p := t.ring.base != 0 && t.ring.head() != t.ring.tail
	t.lock.Store(0)
	return p
}

// close completes the ledger from t's stopped counters, and frees t.
// The caller holds perfProf.lock.
func (t *perfThread) close(mp *m) {
	if mp != nil {
		mp.perf.Store(0)
	} else {
		perfForeignRemove(t)
		t.drainForeign()
	}
	t.acquire()
	// What the thread's handler did not see any more, because the signal is
	// still pending or was blocked until the end. Its stack is gone.
	if t.ring.base != 0 {
		t.drainLeafs(t.ring.head(), false)
	}
	for i := range t.ctr[:t.n] {
		c := &t.ctr[i]
		s := &perfProf.slots[i]
		st := &s.stats
		var v perfCounterValue
		if v.read(c) {
			st.Events += v.value
			st.Enabled += v.enabled
			st.Running += v.running
			// The ring's own count of what did not fit is shared by all
			// events and reported late; the kernel's per event is exact.
			if v.lost != 0 || perfLinux.readFormat&_PERF_FORMAT_LOST != 0 {
				c.lostRing = v.lost
			}
		} else {
			st.MissedReads++
		}
		st.Samples += c.samples
		st.Delayed += c.delayed
		st.InHandler += c.inHandler
		st.LostRing += c.lostRing
		st.LostUnwind += c.lostUnwind
		st.Sampled += c.events
		st.Throttled += c.throttled
		st.Cost += uint64(t.load.sum + t.load.cost() + perfWhole(t.load.exact.seen))
		st.MaxPeriod = max(st.MaxPeriod, s.cfg.Periods[c.maxRung])
		st.Replayed += c.replayed
		st.Stuck += c.stuck
		// Losses are part of the profile, so that its total is right.
		lost := uint64(0)
		start := c.lostStart(s, v.value)
		if c.lostRing != 0 {
			n := c.lostEvents(c.lostRing, v.value-min(v.value, start), s.cfg.Clock)
			s.addLeaf(0, _PerfLostRing, c.lostRing, n)
			lost += n
		}
		if c.lostUnwind != 0 {
			n := c.lostUnwind * c.period
			s.addLeaf(0, _PerfLostState, c.lostUnwind, n)
			lost += n
		}
		if late := c.late(s, v.value, lost); late != 0 {
			s.addLeaf(0, _PerfLostLate, late, late*c.period)
			st.LostLate += late
			lost += late * c.period
		}
		if start != 0 {
			s.addLeaf(0, _PerfLostStart, 1, start)
			st.LostStart++
			lost += start
		}
		st.Lost += lost
	}
	t.lock.Store(0)
	t.unlink()
	t.free()
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
	left := counted - min(counted, c.events)
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
	if s.filteredClock() {
		return 0
	}
	known := c.events + lost + c.replayed
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
	value, enabled, running, lost uint64
}

// read reads the counter c. It reports whether that worked; it does not if
// the program has closed the descriptor behind our back.
//
//go:nowritebarrierrec
func (v *perfCounterValue) read(c *perfCounter) bool {
	n := int32(unsafe.Sizeof(*v))
	if perfLinux.readFormat&_PERF_FORMAT_LOST == 0 {
		n -= 8
	}
	return c.ours() && read(c.fd, noescape(unsafe.Pointer(v)), n) == n
}

// perfDrainWait bounds how long perfStopThreads waits for handlers.
const perfDrainWait = 500 * 1000 // ns

// perfStopThreads ends the session on all threads.
//
// It goes over them twice: stopping first makes the end of the profile the
// same for all threads, to some microseconds. The calling thread must be the
// first, for the second part writes to the profile buffers, whose locks the
// handler takes. (See perfSlot.lock.)
func perfStopThreads() {
	self := getg().m
	lock(&perfProf.lock)
	perfProf.state.Store(perfDraining)
	if t := (*perfThread)(unsafe.Pointer(self.perf.Load())); t != nil {
		t.stop()
		// Signals for this thread have been delivered on return from the
		// system calls, and the handler has drained the ring.
		t.close(self)
	}
	unlock(&perfProf.lock)

	// The lock is released between threads, so that one that exits does not
	// wait for all the others. It may unlink itself from either list.
	for {
		lock(&perfProf.lock)
		t := perfLinux.armed
		if t != nil {
			t.unlink()
			t.link(&perfLinux.stopping)
			t.stop()
		}
		unlock(&perfProf.lock)
		if t == nil {
			break
		}
	}

	// A thread that runs takes its signal at once. Give it the time, so that
	// its last samples have stacks. One that does not run, or blocks SIGPROF,
	// is not waited for.
	deadline := nanotime() + perfDrainWait
	for {
		lock(&perfProf.lock)
		t := perfLinux.stopping
		if t != nil && (!t.pending() || nanotime() > deadline) {
			t.close(t.mp.ptr())
		}
		unlock(&perfProf.lock)
		if t == nil {
			break
		}
		osyield()
	}
}
