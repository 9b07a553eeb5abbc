// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
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

	// foreignShare is the part of a CPU that looking takes at most, and that
	// finding threads does: one of so many. What costs more is done less often.
	foreignShare = 500

	// foreignLate is for how long rings have room at least, if a thread has at most a
	// sample each millisecond of its CPU time.
	foreignLate = 200 * time.Millisecond

	// foreignSweep is how often all threads are listed even if none seems to have
	// come or gone. While the program is idle only the CPU time is checked so often, as
	// threads that run between the kernel's ticks only seem to use none.
	foreignSweep = time.Second
)

// A foreignThreads finds the threads that Go did not create while a session runs,
// and has their samples read.
type foreignThreads struct {
	stop, done chan struct{}

	seen   threadState   // before threads were last listed
	listed time.Time     // when that was
	rest   time.Duration // from then on
	tids   []int32
	buf    []byte

	used      int64         // runtime_perfDozeTime at the end of the last look
	dozed     time.Duration // CPU time that dozing has taken since
	sleepless bool          // the system can't doze
	polls     []uint64      // memory of runtime_perfDozeWait
	looks     atomic.Int64  // for tests

	looking, finding allowance

	mu     sync.Mutex // guards failed, and is held while threads are armed
	failed []int32    // threads that could not be armed, in ascending order
}

// An allowance is CPU time that may be spent: one part in foreignShare of all time. It
// is saved up, or owed, for as long as foreignSweep, or for a few usual looks if they take
// longer.
//
// A look may cost far more than those before and after it. The first one at a ring faults
// its page in: 300 new threads took 5 ms on a busy machine. And the host of a virtual
// machine takes the CPU away for milliseconds at a time, which the kernel counts as the
// thread's CPU time where the host does not say so. Put off by 500 times as much, the next
// look would find rings long full. So what single ones cost is made up for in several
// waits, none of them longer than foreignLate or than a few usual looks call for.
type allowance struct {
	saved  time.Duration    // negative if too much was spent
	at     time.Time        // when it was that; zero before anything was spent
	recent [5]time.Duration // what the last ones cost, of which the median is usual
}

// spend spends the CPU time cost, and returns how long not to spend any.
func (a *allowance) spend(cost time.Duration, now time.Time) time.Duration {
	copy(a.recent[1:], a.recent[:])
	a.recent[0] = cost
	sorted := a.recent
	slices.Sort(sorted[:])
	few := 4 * sorted[len(sorted)/2]

	const most = foreignSweep / foreignShare
	a.saved = min(a.saved+now.Sub(a.at)/foreignShare, most) - cost
	a.saved = max(a.saved, -max(most, few))
	a.at = now
	return min(max(-a.saved, 0)*foreignShare, max(foreignLate, few*foreignShare))
}

// findForeign finds the threads that there are, and from then on those that come.
func findForeign() *foreignThreads {
	f := newForeign()
	f.find(readThreadState())
	go f.run()
	return f
}

func newForeign() *foreignThreads {
	return &foreignThreads{
		stop: make(chan struct{}),
		done: make(chan struct{}),
		buf:  make([]byte, 16<<10),
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
	if f.ended() {
		return false
	}
	if !f.sleepless && runtime_perfDozeTime()-f.used < int64(foreignIdle) {
		f.sleepless = !f.doze(changes)
	}
	return !f.ended()
}

// ended reports whether f has ended.
func (f *foreignThreads) ended() bool {
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

// Provided by package runtime; see perfdoze_linux.go there.

func runtime_perfDozeTime() int64
func runtime_perfDozeChanges() uint32
func runtime_perfDozeEnd()
func runtime_perfDozeWait(changes uint32, cpu, wall int64, polls []uint64) (grown []uint64, spent int64, ok bool)

// look has samples read, and looks for threads if some seem to have come or gone.
// It returns how long not to look for samples again.
func (f *foreignThreads) look() time.Duration {
	// So that the time is this thread's.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	f.looks.Add(1)
	start := threadCPUTime()
	spent := time.Duration(runtime_perfLook())
	state := readThreadState()
	cost := threadCPUTime() - start - spent
	if f.due(state, time.Now()) {
		f.find(state)
	}
	start = threadCPUTime()
	f.used = runtime_perfDozeTime()
	cost += threadCPUTime() - start + f.dozed
	f.dozed = 0
	return f.looking.spend(cost, time.Now())
}

// due reports whether threads are to be listed.
func (f *foreignThreads) due(state threadState, now time.Time) bool {
	since := now.Sub(f.listed)
	return since >= f.rest && (state != f.seen || since >= foreignSweep)
}

// find passes the list of threads to the runtime. state is from before it was read.
func (f *foreignThreads) find(state threadState) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := threadCPUTime()
	f.seen = state
	f.tids = f.list(f.tids[:0])
	slices.Sort(f.tids)
	f.mu.Lock()
	defer f.mu.Unlock()
	// What can't be armed is not tried again, so that it is counted once.
	f.failed = slices.DeleteFunc(f.failed, func(tid int32) bool { return !contains(f.tids, tid) })
	f.tids = slices.DeleteFunc(f.tids, func(tid int32) bool { return contains(f.failed, tid) })
	failed, spent := runtime_perfScan(f.tids, -1)
	if failed > 0 {
		f.failed = append(f.failed, f.tids[:failed]...)
		slices.Sort(f.failed)
	}
	f.listed = time.Now()
	f.rest = f.finding.spend(threadCPUTime()-start-time.Duration(spent), f.listed)
}

// retry arms the threads for a new session that could not be armed for others.
func (f *foreignThreads) retry(session int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	failed, _ := runtime_perfScan(f.failed, session)
	f.failed = f.failed[:failed]
}

func contains(sorted []int32, tid int32) bool {
	_, found := slices.BinarySearch(sorted, tid)
	return found
}

// list appends the IDs of all threads to tids. Without /proc there are none, and
// only threads that run Go are sampled.
func (f *foreignThreads) list(tids []int32) []int32 {
	// As os.ReadDir, in a fifth of the time: this is done often.
	fd, err := syscall.Open("/proc/self/task", syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return tids
	}
	defer syscall.Close(fd)
	for {
		n, err := syscall.ReadDirent(fd, f.buf)
		if n <= 0 || err != nil {
			return tids
		}
		tids = appendTIDs(tids, f.buf[:n])
	}
}

// appendTIDs appends the names in b that are numbers. b has entries as
// getdents64(2) returns them: u64 inode, s64 offset, u16 size of the entry, u8
// type, and the name up to a zero.
func appendTIDs(tids []int32, b []byte) []int32 {
	const size, name = 16, 19
	for len(b) > name {
		n := int(binary.NativeEndian.Uint16(b[size:]))
		if n <= name || n > len(b) {
			break
		}
		tid := int32(0)
		for _, c := range b[name:n] {
			if c < '0' || c > '9' {
				break // the zero, or . and ..
			}
			tid = 10*tid + int32(c-'0')
		}
		if tid > 0 {
			tids = append(tids, tid)
		}
		b = b[n:]
	}
	return tids
}

// A threadState differs from an earlier one if a thread of the process has been
// created since, or has ended.
type threadState struct {
	threads uint64
	last    [16]byte // the ID that was given last to a thread or process; see proc_loadavg(5)
}

// readThreadState takes two short system calls on names in /proc, however many
// threads there are. (If they fail, threads are looked for at each sweep.)
func readThreadState() (s threadState) {
	var st syscall.Stat_t
	if syscall.Stat("/proc/self/task", &st) == nil {
		s.threads = uint64(st.Nlink) // as for any directory, 2 more than there are below
	}
	if fd, err := syscall.Open("/proc/loadavg", syscall.O_RDONLY|syscall.O_CLOEXEC, 0); err == nil {
		var b [128]byte
		n, _ := syscall.Read(fd, b[:])
		syscall.Close(fd)
		line := b[:max(n, 0)]
		copy(s.last[:], line[bytes.LastIndexByte(line, ' ')+1:])
	}
	return s
}

// threadCPUTime returns the CPU time of the current thread.
func threadCPUTime() time.Duration {
	const RUSAGE_THREAD = 1
	var r syscall.Rusage
	if syscall.Getrusage(RUSAGE_THREAD, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
