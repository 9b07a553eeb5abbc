// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Sleeping while threads that run C do nothing.
//
// Looking for samples many times a second costs little. But waking a thread for it
// does, on some virtual machines half a millisecond. So the goroutine of runtime/pprof
// that looks sleeps while the program is idle, until one of these comes:
//
//   - a record in a ring, or the end of its thread: poll(2) on the events. The kernel
//     wakes who polls at each sample; see perfEventAttr.wakeupEvents.
//   - CPU time that the process uses: timer_create(2). Threads that have no counters
//     yet can't begin or run without. The kernel looks at the timer in its tick, so a
//     thread that runs may be a tick late.
//   - a change of the set of rings, or the end of the session: perfDozeEnd.
//   - some time, in case that threads run between ticks only.
//
// Nothing is kept between two sleeps, neither descriptors nor timers.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
	"unsafe"
)

var perfDoze struct {
	changes atomic.Uint32 // how often perfDozeEnd has been called
	tid     atomic.Int32  // the thread that sleeps in perfDozeWait, or 0
	own     int64         // CPU time that perfDozer.poll has used
}

const processCPUTime = 2 // CLOCK_PROCESS_CPUTIME_ID

// perfDozeChanges returns a number for perfDozeWait.
//
//go:linkname perfDozeChanges runtime/pprof.runtime_perfDozeChanges
func perfDozeChanges() uint32 { return perfDoze.changes.Load() }

// perfDozeEnd ends the sleep of perfDozeWait, and the next one if that has an earlier
// number from perfDozeChanges.
//
// The thread may have awoken meanwhile. Then it gets the signal as if it had been asked
// to preempt a goroutine and is late, which all threads must expect.
//
//go:linkname perfDozeEnd runtime/pprof.runtime_perfDozeEnd
//go:nowritebarrierrec
func perfDozeEnd() {
	perfDoze.changes.Add(1)
	if tid := perfDoze.tid.Load(); tid != 0 {
		tgkill(getpid(), int(tid), sigPreempt)
	}
}

// perfDozeTime returns the CPU time that the process has used, but in perfDozeWait. It
// takes longer the more threads there are, unless a timer of it runs.
//
//go:linkname perfDozeTime runtime/pprof.runtime_perfDozeTime
//go:nosplit
func perfDozeTime() int64 {
	var ts [2]uintptr
	clock_gettime(processCPUTime, (*[2]uintptr)(noescape(unsafe.Pointer(&ts))))
	return int64(ts[0])*1e9 + int64(ts[1]) - perfDoze.own
}

// perfDozeWait sleeps until a thread that runs C has a sample or ends, perfDozeTime has
// come to cpu, or perfDozeEnd has been called since changes was current. It checks the
// time each wall ns, or less often if there are many rings. One goroutine may call it at a
// time, and none after perfStop. polls is memory to use, and returned for the next call.
// spent is the CPU time that it has taken.
//
//go:linkname perfDozeWait runtime/pprof.runtime_perfDozeWait
func perfDozeWait(changes uint32, cpu, wall int64, polls []uint64) (grown []uint64, spent int64, ok bool) {
	own := perfDoze.own
	var most uint32
	systemstack(func() {
		lock(&perfProf.lock)
		most = perfForeign.n
		unlock(&perfProf.lock)
	})
	if uint32(cap(polls)) < most {
		polls = make([]uint64, most+most/4)
	}
	polls = polls[:cap(polls)]
	// What comes or moves from here on ends the sleep before it begins.
	n := 0
	for i := uint32(0); perfDozePolls(i, polls, &n); i += perfForeignChunk {
	}
	p := perfDozer{
		changes: changes,
		cpu:     cpu,
		polls:   unsafe.Pointer(unsafe.SliceData(polls)),
		n:       uintptr(n),
		wall:    wall,
	}
	sigsave(&p.closed)
	p.open = p.closed
	sigdelset(&p.open, sigPreempt) // the program may have been started with it blocked
	entersyscallblock()
	ok = p.sleep()
	exitsyscall()
	KeepAlive(polls)
	return polls, perfDoze.own - own, ok
}

// A perfDozer is what sleep needs.
type perfDozer struct {
	changes uint32
	cpu     int64
	wall    int64
	polls   unsafe.Pointer
	n       uintptr // of polls

	closed, open sigset // the thread's, and the one to sleep with
}

// perfDozePolls appends the events of a chunk of entries that have rings to polls[:*n].
// It reports whether there is another chunk.
//
//go:noinline
func perfDozePolls(begin uint32, polls []uint64, n *int) (more bool) {
	const _POLLIN = 0x1
	systemstack(func() {
		lock(&perfProf.lock)
		if tab := perfForeignCurrent(); tab != nil {
			for i := begin; i < begin+perfForeignChunk; i++ {
				e := tab.at(i)
				p := e.t.Load()
				if p == 0 || e.ring == 0 || *n == len(polls) {
					continue
				}
				t := (*perfThread)(unsafe.Pointer(p))
				*(*perfPoll)(unsafe.Pointer(&polls[*n])) = perfPoll{fd: t.anyCounter().fd, events: _POLLIN}
				*n++
			}
			more = begin+perfForeignChunk <= tab.mask
		}
		unlock(&perfProf.lock)
	})
	return more
}

// sleep is perfDozeWait without a P. It reports false if the system can't. Signals stay
// blocked but in ppoll(2), so that none comes too early to end it. There may be little
// stack, and none of the functions called here splits it.
//
//go:nosplit
//go:nowritebarrierrec
func (p *perfDozer) sleep() bool {
	// Polling takes one part of a CPU in so many at most. It takes longer the more rings
	// there are, and is done less often then.
	const share = 5000
	sigblock(false)
	tid := int32(gettid())
	var ev sigevent
	ev.notify = _SIGEV_THREAD_ID
	ev.signo = sigPreempt
	ev.sigev_notify_thread_id = tid
	var timer, errno int32
	ok := timer_create(processCPUTime, &ev, &timer) == 0
	if ok {
		perfDoze.tid.Store(tid)
		// Whoever makes a change after this look sees tid.
		for errno == 0 && perfDoze.changes.Load() == p.changes {
			start := perfThreadTime()
			errno = p.poll(timer)
			spent := perfThreadTime() - start
			perfDoze.own += spent
			p.wall = max(p.wall, spent*share)
		}
		perfDoze.tid.Store(0)
		timer_delete(timer)
	}
	msigrestore(p.closed)
	return ok && errno <= 0
}

// perfDozePolled is what poll returns if there is something to do.
const perfDozePolled = -1

// poll sleeps for p.wall at most, or shorter for no reason. It returns 0, perfDozePolled,
// or an errno if the system can't sleep.
//
//go:nosplit
//go:nowritebarrierrec
func (p *perfDozer) poll(timer int32) (errno int32) {
	left := p.cpu - perfDozeTime()
	if left <= 0 {
		return perfDozePolled
	}
	var spec itimerspec
	spec.it_value.setNsec(left) // the CPU time of this poll counts, too
	if e := timer_settime(timer, 0, &spec, nil); e != 0 {
		return -e
	}
	wall := [2]uintptr{uintptr(p.wall / 1e9), uintptr(p.wall % 1e9)} // as for clock_gettime
	n, _, e := linux.Syscall6(sys_ppoll, uintptr(p.polls), p.n, uintptr(noescape(unsafe.Pointer(&wall))),
		uintptr(noescape(unsafe.Pointer(&p.open))), unsafe.Sizeof(p.open), 0)
	switch {
	case e == _EINTR:
		return 0 // the timer, perfDozeEnd or any other signal
	case e == 0 && n > 0:
		return perfDozePolled
	}
	return int32(e)
}
