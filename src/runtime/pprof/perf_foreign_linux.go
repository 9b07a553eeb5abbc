// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// foreignInterval is how often a session reads the samples of threads that
	// run C, and looks whether threads have come or gone. One that Go did not
	// create and that lives shorter may not be seen. Rings hold 292 samples, or
	// 73 where memory is short: 14 or 3 per millisecond; of page faults and the like
	// 170 or 42.
	foreignInterval = 20 * time.Millisecond

	// foreignIdle is the CPU time that a program uses between two looks if it does
	// something. One that uses less is idle: the next look comes when a thread that runs
	// C has a sample, or when so much has been used since the last one. For a thread
	// that has begun, that and a tick of the kernel is no later than foreignInterval.
	foreignIdle = 5 * time.Millisecond

	// foreignBusy is the part of a CPU, one of so many, from which on a program is busy.
	// Threads are looked for between looks at rings then, too. All looks together take
	// far less, and so does an idle program.
	foreignBusy = 20

	// What costs more than its part of a CPU, which is one of so many, is done less
	// often. Looking at rings has foreignShare. So have finding new threads and, with a
	// quarter of that, listing all and disarming those that have ended.
	foreignShare    = 500
	foreignShareNew = foreignShare * 4 / 3
	foreignShareAll = foreignShare * 4

	// foreignLate is for how long rings have room at least, if a thread has at most a
	// sample each millisecond of its CPU time.
	foreignLate = 200 * time.Millisecond

	// foreignSweep is how often all threads are listed, even if none seems to have
	// come or gone. While the program is idle only the CPU time is checked so often, as
	// threads that run between the kernel's ticks only seem to use none.
	foreignSweep = time.Second
)

// A foreignThreads finds the threads that Go did not create while a session runs,
// and has their samples read.
type foreignThreads struct {
	stop, done chan struct{}

	lookAt time.Time // when to look at rings next
	looked time.Time // when that was last over
	busy   bool      // whether the program did much before

	used      int64         // runtime_perfDozeTime at the end of that look
	dozed     time.Duration // CPU time that dozing has taken since
	sleepless bool          // the system can't doze
	polls     []uint64      // memory of runtime_perfDozeWait
	looks     atomic.Int64  // for tests

	findAt time.Time // when to look for threads next
	list   threadList
	dir    taskDir
	tids   []int32
	ended  bool // threads have ended since runtime_perfDisarmEnded

	swept time.Time // when all threads were last listed
	allAt time.Time // when that may be next
	all   bool      // whether they should be, as some may have been missed

	looking, finding, sweeping allowance

	mu     sync.Mutex // guards what follows, and is held while threads are armed
	failed []int32    // threads that could not be armed, in ascending order
	late   int64      // ns of CPU time that threads had used when they were found
}

// An allowance is CPU time that may be spent: one part in share of all time. It is saved
// up, or owed, for as long as foreignSweep, or for a few usual looks if they take longer.
//
// A look may cost far more than those before and after it. The host of a virtual machine
// takes the CPU away for milliseconds at a time, which the kernel counts as the thread's
// CPU time where the host does not say so. Put off by 500 times as much, the next look
// would find rings long full. So what single ones cost is made up for in several waits,
// none of them longer than foreignLate or than a few usual looks call for.
type allowance struct {
	share  time.Duration    // a number
	saved  time.Duration    // negative if too much was spent
	at     time.Time        // when it was that; zero before anything was spent
	recent [5]time.Duration // what the last ones cost, of which the median is usual
}

// spend spends the CPU time cost, and returns how long not to spend any.
func (a *allowance) spend(cost time.Duration, now time.Time) time.Duration {
	cost = max(cost, 0) // what others have taken is known by the wall clock
	copy(a.recent[1:], a.recent[:])
	a.recent[0] = cost
	sorted := a.recent
	slices.Sort(sorted[:])
	few := 4 * sorted[len(sorted)/2]

	most := foreignSweep / a.share
	a.saved = min(a.saved+now.Sub(a.at)/a.share, most) - cost
	a.saved = max(a.saved, -max(most, few))
	a.at = now
	return min(max(-a.saved, 0)*a.share, max(foreignLate, few*a.share))
}

// findForeign finds the threads that there are, and from then on those that come.
func findForeign() *foreignThreads {
	f := newForeign()
	f.find(true)
	f.late = 0 // nobody is late at the start
	go f.run()
	return f
}

func newForeign() *foreignThreads {
	return &foreignThreads{
		stop:     make(chan struct{}),
		done:     make(chan struct{}),
		all:      true,
		looking:  allowance{share: foreignShare},
		finding:  allowance{share: foreignShareNew},
		sweeping: allowance{share: foreignShareAll},
	}
}

// end ends f.
func (f *foreignThreads) end() {
	close(f.stop)
	runtime_perfDozeEnd()
	<-f.done
}

func (f *foreignThreads) run() {
	defer close(f.done)
	timer := time.NewTimer(foreignInterval)
	defer timer.Stop()
	for rest := time.Duration(0); f.wait(timer, rest); {
		rest = f.look()
	}
}

// wait waits until it is time to look, which it must not be before rest has passed. It
// reports false if f ends.
func (f *foreignThreads) wait(timer *time.Timer, rest time.Duration) bool {
	timer.Reset(max(foreignInterval, rest))
	select {
	case <-timer.C:
	case <-f.stop:
		return false
	}
	changes := runtime_perfDozeChanges() // before the look at f.stop; see end
	if f.stopped() {
		return false
	}
	if !f.sleepless && !time.Now().Before(f.lookAt) {
		used := time.Duration(runtime_perfDozeTime() - f.used)
		f.busy = used >= time.Since(f.looked)/foreignBusy
		if used < foreignIdle {
			f.busy = false
			f.sleepless = !f.doze(changes)
		}
	}
	return !f.stopped()
}

// stopped reports whether f has been told to end.
func (f *foreignThreads) stopped() bool {
	select {
	case <-f.stop:
		return true
	default:
		return false
	}
}

// doze sleeps while the program is idle. It reports false if the system can't.
func (f *foreignThreads) doze(changes uint32) (ok bool) {
	var spent int64
	f.polls, spent, ok = runtime_perfDozeWait(changes, f.used+int64(foreignIdle), int64(foreignSweep), f.polls)
	f.dozed += time.Duration(spent)
	return ok
}

// Provided by package runtime; see perfcpu_linux.go, perffind_linux.go and
// perfdoze_linux.go there.

func runtime_perfThreadTime() int64
func runtime_perfDisarmEnded() (spent int64)
func runtime_perfDozeTime() int64
func runtime_perfDozeChanges() uint32
func runtime_perfDozeEnd()
func runtime_perfDozeWait(changes uint32, cpu, wall int64, polls []uint64) (grown []uint64, spent int64, ok bool)

// look has samples read and looks for threads, where it is time to. It returns how long
// it is not.
func (f *foreignThreads) look() time.Duration {
	// So that the time is this thread's.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	rings := !time.Now().Before(f.lookAt)
	var cost int64
	if rings {
		f.looks.Add(1)
		start := runtime_perfThreadTime()
		spent := runtime_perfLook()
		cost = runtime_perfThreadTime() - start - spent
	}
	if !time.Now().Before(f.findAt) {
		f.find(rings && !f.busy)
	}
	if rings {
		start := runtime_perfThreadTime()
		f.used = runtime_perfDozeTime()
		cost += runtime_perfThreadTime() - start + int64(f.dozed)
		f.dozed = 0
		now := time.Now()
		f.looked = now
		f.lookAt = now.Add(f.looking.spend(time.Duration(cost), now))
	}
	// A program that does nothing needs no look for threads before the next one at
	// rings: waking a thread is dear.
	next := f.lookAt
	if f.busy && f.findAt.Before(next) {
		next = f.findAt
	}
	return time.Until(next)
}

// find has the threads armed that are new and those disarmed that have ended, if some seem
// to have come or gone. All are listed where that is due. idle says that the program did
// nothing before.
func (f *foreignThreads) find(idle bool) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var state threadState
	cost := cpuTimeOf(func() (spent int64) {
		state = readThreadState()
		return 0
	})
	now := time.Now()
	change, all := f.due(state, now)
	if change && !all {
		cost += cpuTimeOf(func() (spent int64) { return f.arm(state, false) })
	}
	f.findAt = now.Add(f.finding.spend(cost, now))
	switch {
	case all:
		cost = cpuTimeOf(func() (spent int64) { return runtime_perfDisarmEnded() + f.arm(state, true) })
		f.swept = now
	case f.ended && (idle || !now.Before(f.allAt)):
		// If it is idle, the events of those that have ended would keep it from dozing.
		cost = cpuTimeOf(runtime_perfDisarmEnded)
	default:
		return
	}
	f.ended = false
	f.allAt = now.Add(f.sweeping.spend(cost, now))
}

// cpuTimeOf returns the CPU time that do takes, less the time that it returns. The
// goroutine is locked to its thread.
func cpuTimeOf(do func() (spent int64)) time.Duration {
	start := runtime_perfThreadTime()
	spent := do()
	return time.Duration(runtime_perfThreadTime() - start - spent)
}

// due reports whether threads may have come or gone, and whether it is time to list all.
func (f *foreignThreads) due(state threadState, now time.Time) (change, all bool) {
	if state.last < f.list.state.last {
		// IDs are given in turns, and this one comes before the last one. So those of
		// threads that have ended may be given again, which list takes for known.
		f.all = true
	}
	all = (f.all || now.Sub(f.swept) >= foreignSweep) && !now.Before(f.allAt)
	return state != f.list.state, all
}

// arm lists new threads, or all, and has them armed. state is from before. It returns how
// long arming took.
func (f *foreignThreads) arm(state threadState, all bool) (spent int64) {
	tids, ended, ok := f.list.update(&f.dir, state, all, f.tids[:0])
	f.tids = tids
	f.ended = f.ended || ended
	f.all = !ok || f.all && !all
	if len(tids) == 0 {
		return 0
	}
	slices.Sort(tids)
	f.mu.Lock()
	defer f.mu.Unlock()
	if all {
		// What can't be armed is not tried again, so that it is counted once.
		f.failed = slices.DeleteFunc(f.failed, func(tid int32) bool { return !contains(tids, tid) })
		tids = slices.DeleteFunc(tids, func(tid int32) bool { return contains(f.failed, tid) })
	} else {
		f.failed = slices.DeleteFunc(f.failed, func(tid int32) bool { return contains(tids, tid) })
	}
	failed, spent, ran := runtime_perfScan(tids, -1)
	f.late += ran
	if failed > 0 {
		f.failed = append(f.failed, tids[:failed]...)
		slices.Sort(f.failed)
	}
	return spent
}

// retry arms the threads for a new session that could not be armed for others.
func (f *foreignThreads) retry(session int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	runtime_perfDisarmEnded() // for their descriptors
	failed, _, _ := runtime_perfScan(f.failed, session)
	f.failed = f.failed[:failed]
}

// foundLate returns the CPU time that threads had used when they were found, in ns. Those
// that there were when f began are not counted.
func (f *foreignThreads) foundLate() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.late
}
