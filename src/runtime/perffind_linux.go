// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Finding threads that C created: those that have come, those that have samples, and
// those that have ended.
//
// runtime/pprof says which threads there are, when some may have come or gone.
// Samples are looked for many times a second. For a thread that has none, that takes
// a look at its entry in perfForeign and at its ring's first page.
//
// A thread ID does not say whether a thread has ended: the kernel may have given it
// to another one. The counter does. poll(2) reports POLLHUP for the event of a
// thread that has exited (perf_poll in kernel/events/core.c), from before the ID is
// free. But it also does for an event without a ring; see ownerEnded.

package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"internal/runtime/sys"
	"internal/runtime/syscall/linux"
	"unsafe"
)

// perfHasForeign reports whether the program may have threads that Go did not
// create.
//
//go:linkname perfHasForeign runtime/pprof.runtime_perfHasForeign
func perfHasForeign() bool { return iscgo }

// perfForeignChunk is how many entries of the table are looked at in one go. Then
// threads that begin or end can take perfProf.lock, and the world can stop.
const perfForeignChunk = 128

// perfLook records the samples of threads that run C. It returns how long that took,
// in ns, not counting the search for them. It must not be called after perfStop.
//
//go:linkname perfLook runtime/pprof.runtime_perfLook
func perfLook() (spent int64) {
	for i := uint32(0); perfLookAt(i, &spent); i += perfForeignChunk {
	}
	return spent
}

// perfLookAt is perfLook for a chunk of entries. It reports whether there is another
// chunk. (Its prologue is where the goroutine can be preempted.)
//
//go:noinline
func perfLookAt(begin uint32, spent *int64) (more bool) {
	var ns int64
	systemstack(func() {
		// Writing samples takes locks that this thread's handler takes.
		var mask sigset
		sigsave(&mask)
		sigblock(false)
		lock(&perfProf.lock)
		if tab := perfForeignCurrent(); tab != nil {
			for i := begin; i < begin+perfForeignChunk; i++ {
				e := tab.at(i)
				p := e.t.Load()
				if p == 0 || e.ring == 0 || !perfRingWaits(e.ring) {
					continue
				}
				if t := (*perfThread)(unsafe.Pointer(p)); t.inC() {
					start := nanotime()
					t.lookForeign()
					ns += nanotime() - start
				}
			}
			more = begin+perfForeignChunk <= tab.mask
		}
		unlock(&perfProf.lock)
		msigrestore(mask)
	})
	*spent += ns
	return more
}

// perfScan arms the threads in tids that are not armed and have no M, for one session, or
// for all if session is -1. tids are in ascending order. They are overwritten:
// tids[:failed] are those that could not be armed. spent is the CPU time that arming took,
// and ran the CPU time that the armed ones had used before, both in ns. perfScan must not
// be called after perfStop.
//
//go:linkname perfScan runtime/pprof.runtime_perfScan
func perfScan(tids []int32, session int) (failed int, spent, ran int64) {
	var ss *perfSession
	if session >= 0 {
		ss = &perfTables.sessions[session]
	}

	// This makes a list of threads without an M out of one of all threads.
	// perfArmFound finds those that it misses.
	for mp := (*m)(atomic.Loadp(unsafe.Pointer(&allm))); mp != nil; mp = mp.alllink {
		perfExclude(tids, int32(atomic.Load64(&mp.procid)))
	}
	for _, tid := range tids {
		if tid > 0 && perfArmFound(tid, ss, &spent, &ran) != perf.OpNone {
			tids[failed] = tid
			failed++
		}
	}
	return failed, spent, ran
}

// perfExclude makes tid negative in tids, if it is there.
func perfExclude(tids []int32, tid int32) {
	lo, hi := 0, len(tids)
	for lo < hi {
		m := int(uint(lo+hi) / 2)
		if max(tids[m], -tids[m]) < tid {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo < len(tids) && tids[lo] == tid {
		tids[lo] = -tid
	}
}

// perfArmFound arms thread tid for ss, or for all sessions if that is nil, unless it
// is armed or has an M: such a thread arms itself. A thread that Go is just creating
// may not have a procid yet; its minit adopts the counters.
//
//go:noinline
func perfArmFound(tid int32, ss *perfSession, spent, ran *int64) (op perf.Op) {
	var ns, before int64
	systemstack(func() {
		lock(&perfProf.lock)
		known := perfForeignFind(tid) != nil
		unlock(&perfProf.lock)
		if known {
			return
		}
		start := perfThreadTime()
		t := perfNewThread()
		t.makeStacks()
		lock(&perfProf.lock)
		if perfProf.state.Load() != perfSampling || perfForeignFind(tid) != nil || perfHasM(tid) {
			t.recycle()
		} else {
			t.assign(nil, tid)
			f := t.arm(ss)
			if f.Errno != _ESRCH {
				op = f.Op
			}
			if f.Op == perf.OpNone {
				// After it was armed, so that none of its time is in neither.
				before = perfTimeOf(tid)
			}
			if t.ring.base != 0 {
				perfRingWaits(t.ring.base) // faults its page in, which perfLook need not do
			}
		}
		unlock(&perfProf.lock)
		ns = perfThreadTime() - start
	})
	*spent += ns
	*ran += before
	return op
}

// perfHasM reports whether thread tid has an M.
func perfHasM(tid int32) bool {
	for mp := (*m)(atomic.Loadp(unsafe.Pointer(&allm))); mp != nil; mp = mp.alllink {
		if int32(atomic.Load64(&mp.procid)) == tid {
			return true
		}
	}
	return false
}

// A perfPoll is struct pollfd.
type perfPoll struct {
	fd              int32
	events, revents int16
}

const _POLLHUP = 0x10

// sys_ppoll is the number of ppoll(2), which every architecture has.
const sys_ppoll = goarch.Is386*309 + goarch.IsAmd64*271 + goarch.IsArm*336 + goarch.IsArm64*73 +
	goarch.IsLoong64*73 + goarch.IsMips*4302 + goarch.IsMipsle*4302 + goarch.IsMips64*5261 + goarch.IsMips64le*5261 +
	goarch.IsPpc64*281 + goarch.IsPpc64le*281 + goarch.IsRiscv64*73 + goarch.IsS390x*302

// perfPollNow polls the n descriptors at p without waiting. It reports whether any of
// them has an event.
func perfPollNow(p *perfPoll, n uintptr) bool {
	var now [2]int64 // struct timespec, of either size
	r, _, errno := linux.Syscall6(sys_ppoll, uintptr(noescape(unsafe.Pointer(p))), n, uintptr(noescape(unsafe.Pointer(&now))), 0, 0, 0)
	return errno == 0 && r > 0
}

// ended reports whether t's thread has exited. The caller holds perfProf.lock.
func (t *perfThread) ended() bool {
	c := t.anyCounter()
	if t.ring.base == 0 {
		return c.ownerEnded()
	}
	p := perfPoll{fd: c.fd}
	return perfPollNow(&p, 1) && p.revents&_POLLHUP != 0 && c.isOpen()
}

// ownerEnded reports whether the thread that gets c's signals has exited. Since Linux
// 5.12 the kernel does not name it any more then (f_getown_ex in fs/fcntl.c). Before
// 5.12 such counters stay until the session ends.
func (c *perfCounter) ownerEnded() bool {
	own := fOwnerEx{typ: _F_OWNER_TID, pid: -1}
	return c.isOpen() && fcntlPtr(c.fd, _F_GETOWN_EX, uintptr(noescape(unsafe.Pointer(&own)))) >= 0 && own.pid == 0
}

// anyCounter returns one of t's counters.
func (t *perfThread) anyCounter() *perfCounter { return &t.ctr[sys.TrailingZeros8(uint8(t.slots))] }

// disarmEnded disarms t, whose thread has ended. The caller holds perfProf.lock, and
// no signal handler of this thread can run that takes a perfSlot.lock.
func (t *perfThread) disarmEnded() {
	mp := t.mp.ptr()
	t.stop(t.slots)
	t.disarm(t.slots)
	if mp != nil {
		// The thread did not call dropm, so its M is gone for good. The next thread
		// with its ID must not be taken for it.
		atomic.Store64(&mp.procid, 0)
	}
}

// perfDisarmEnded disarms the threads of C that have ended. It returns the CPU time that
// this took, in ns, not counting the search for them. It must not be called after perfStop.
//
//go:linkname perfDisarmEnded runtime/pprof.runtime_perfDisarmEnded
func perfDisarmEnded() (spent int64) {
	for i := uint32(0); perfDisarmEndedAt(i, &spent); i += perfForeignChunk {
	}
	return spent
}

// perfDisarmEndedAt is perfDisarmEnded for a chunk of entries. It reports whether there
// is another chunk.
//
//go:noinline
func perfDisarmEndedAt(begin uint32, spent *int64) (more bool) {
	var ns int64
	systemstack(func() {
		var mask sigset
		sigsave(&mask)
		sigblock(false)
		lock(&perfProf.lock)
		// Other entries may take the place of those that are removed.
		for start := perfThreadTime(); perfDisarmEndedChunk(begin); {
			ns = perfThreadTime() - start
		}
		if tab := perfForeignCurrent(); tab != nil {
			more = begin+perfForeignChunk <= tab.mask
		}
		unlock(&perfProf.lock)
		msigrestore(mask)
	})
	*spent += ns
	return more
}

// perfDisarmEndedChunk is perfDisarmEndedAt with the locks held. It reports whether some
// thread had ended.
func perfDisarmEndedChunk(begin uint32) (some bool) {
	tab := perfForeignCurrent()
	if tab == nil {
		return false
	}
	var ts [perfForeignChunk]*perfThread
	var polls [perfForeignChunk]perfPoll
	n := 0
	for i := begin; i < begin+perfForeignChunk; i++ {
		if p := tab.at(i).t.Load(); p != 0 {
			t := (*perfThread)(unsafe.Pointer(p))
			if t.ring.base == 0 {
				if t.anyCounter().ownerEnded() {
					t.disarmEnded()
					some = true
				}
				continue
			}
			ts[n] = t
			polls[n].fd = t.anyCounter().fd
			n++
		}
	}
	if n == 0 || !perfPollNow(&polls[0], uintptr(n)) {
		return some
	}
	for i, t := range ts[:n] {
		if polls[i].revents&_POLLHUP != 0 && t.anyCounter().isOpen() {
			t.disarmEnded()
			some = true
		}
	}
	return some
}
