// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// For how much of a stretch of time the current thread had no CPU.
//
// The kernel's clock of a thread's CPU time takes a system call. But the page of an
// event of the thread (perfpage_linux.go) changes whenever the kernel takes the thread
// from its CPU or puts it on one, because the event then stops and starts to count. As
// long as the page's sequence lock is the same, the thread has had its CPU all the
// time, and there is nothing to ask for. Any event will do. It is one that counts
// nothing, and it needs no descriptor: the mapping keeps it.
//
// A hypervisor that takes the CPU away is seen only by a kernel that accounts for it
// (CONFIG_PARAVIRT_TIME_ACCOUNTING), and then at the next change.

package runtime

import (
	"internal/runtime/perf"
	"unsafe"
)

// A perfCPU is what is known of one thread's CPU time. The thread writes it; page and
// opened under perfCount.lock, too.
type perfCPU struct {
	opened bool
	page   perfPage // 0 if there is none
	seq    uint32   // the page's, at the latest reading of the clocks; see perfTaken
}

var perfCPUPages int // that are mapped. Protected by perfCount.lock

// perfCPUWorks says whether pages change with the thread's CPU: 0 not yet known, 1 yes,
// 2 no. Protected by perfCount.lock.
var perfCPUWorks uint8

// perfCPUOpen makes the CPU time of mp's thread, the current one, cheap to know if it
// can. It returns true: without a page it is known, too.
func perfCPUOpen(mp *m) bool {
	if t := mp.meter.ptr(); t == nil || !t.cpu.opened {
		if a := perfAccountOf(getg()); a != nil {
			a.settleNow(mp, perfCPUFree) // what it has lost; open reads the clocks
		}
		perfCountHooks.exitMeter = perfExitMeter // before there is one
		systemstack(func() {
			spare := perfNewMeter()
			lock(&perfCount.lock)
			perfNeedMeter(mp, spare).cpu.open()
			unlock(&perfCount.lock)
		})
	}
	return true
}

func (c *perfCPU) open() {
	// The bound of pages, as perfMaxPages is that of counters. It leaves profiles a quarter of
	// what one processor adds to the user's allowance.
	const most = 32
	c.opened = true
	if perfCPUWorks == 2 || perfCPUPages >= most {
		return
	}
	attr := perfAttr(&perf.Attr{Type: perf.TypeSoftware, Config: perf.SWDummy, ExcludeKernel: true, ExcludeHV: true}, 0)
	attr.sampleType = 0
	attr.wakeupEvents = 0
	attr.bits &^= perfAttrBit(perf.AttrDisabled)
	fd := perf_event_open(&attr, 0, -1, -1, perf.FlagFDCloexec)
	if fd < 0 {
		return
	}
	c.page.open(fd)
	closefd(fd)
	if c.page == 0 {
		return
	}
	perfCPUPages++
	if perfCPUWorks == 0 {
		perfCPUWorks = 2
		before := c.page.state()
		// Sleeping takes the thread from its CPU, unless the timer is there before.
		for usec := uint32(1); usec <= 10_000 && perfCPUWorks == 2; usec *= 10 {
			usleep(usec)
			if c.page.state() != before {
				perfCPUWorks = 1
			}
		}
	}
	if perfCPUWorks == 2 {
		c.closePage()
		return
	}
	c.sync()
}

// close gives the page back. The caller holds perfCount.lock.
//
//go:nowritebarrierrec
func (c *perfCPU) close() {
	c.closePage()
	*c = perfCPU{}
}

//go:nowritebarrierrec
func (c *perfCPU) closePage() {
	if c.page != 0 {
		c.page.close()
		perfCPUPages--
	}
}

// perfCPUKnown reports whether it is known, from now on, for how long the current
// thread has no CPU.
//
//go:nowritebarrierrec
func perfCPUKnown(effort uint8) bool {
	t := getg().m.meter.ptr()
	if t == nil {
		return false
	}
	if t.cpu.undisturbed() {
		return true
	}
	if !t.cpu.asks(effort) {
		return false
	}
	t.cpu.sync()
	return true
}

// perfCPUOff returns for how long the current thread has had no CPU, in ns, since
// perfCPUKnown has returned true. ok is false if that is not known.
//
//go:nowritebarrierrec
func perfCPUOff(effort uint8) (off int64, ok bool) {
	t := getg().m.meter.ptr()
	if t == nil {
		return 0, false
	}
	if t.cpu.undisturbed() {
		return 0, true
	}
	if !t.cpu.asks(effort) {
		return 0, false
	}
	return t.cpu.sync(), true
}

// undisturbed reports whether the thread has had its CPU since the latest sync.
//
//go:nowritebarrierrec
func (c *perfCPU) undisturbed() bool { return c.page != 0 && c.page.state() == c.seq }

// perfCPUUndisturbed reports whether it is known, without asking, that mp's thread has
// had its CPU since perfCPUKnown has returned true.
//
//go:nosplit
//go:nowritebarrierrec
func perfCPUUndisturbed(mp *m) bool {
	t := mp.meter.ptr()
	return t != nil && t.cpu.page != 0 && t.cpu.page.info().lock == t.cpu.seq
}

// asks reports whether the clock is to be read.
//
//go:nowritebarrierrec
func (c *perfCPU) asks(effort uint8) bool {
	return effort == perfCPUAlways || effort == perfCPUPaged && c.page != 0
}

// sync reads the clocks. It returns for how long the thread has had no CPU since the
// latest sync.
//
//go:nowritebarrierrec
func (c *perfCPU) sync() (off int64) {
	off, _, _ = perfReadTaken(getg().m, c, perfTicks())
	return off
}

// perfThreadTime returns the current thread's CPU time, in ns. (getrusage(2) would not
// count what has passed since the kernel's last tick.)
//
//go:linkname perfThreadTime runtime/pprof.runtime_perfThreadTime
//go:nosplit
//go:nowritebarrierrec
func perfThreadTime() int64 {
	var ts [2]uintptr
	clock_gettime(_CLOCK_THREAD_CPUTIME_ID, (*[2]uintptr)(noescape(unsafe.Pointer(&ts))))
	return int64(ts[0])*1e9 + int64(ts[1])
}

// perfTimeOf returns the CPU time of another thread of the program, in ns, or 0 if it has
// ended. Its clock is what pthread_getcpuclockid(3) returns.
func perfTimeOf(tid int32) int64 {
	const sched, perThread = 2, 4 // CPUCLOCK_SCHED, CPUCLOCK_PERTHREAD_MASK
	var ts [2]uintptr
	clock_gettime(^tid<<3|sched|perThread, (*[2]uintptr)(noescape(unsafe.Pointer(&ts))))
	return int64(ts[0])*1e9 + int64(ts[1])
}
