// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Reading counters without system calls.
//
// The kernel describes an event in a page that can be mapped from its
// descriptor: perf_event_open(2), section "MMAP layout". While the event counts,
// index names a register of the processor, which the event's own thread can read,
// and the count is that plus offset. While it does not count, index is 0. A sequence
// lock guards these fields. It changes whenever the event starts or stops counting.
//
// A thread reads its own counters from registers. Another thread's latest reading is
// still right if its sequence lock has not changed. Otherwise it takes a system call.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"unsafe"
)

// perfMaxPages bounds the pages that all sets have mapped. Like the rings of profiles
// they are accounted as locked memory, and they must not leave profiles without
// rings: they take at most half of what one processor adds to a user's allowance
// (kernel.perf_event_mlock_kb). Threads without pages are read by system calls.
const perfMaxPages = 64

var perfPages int // that are mapped, perfCPUPages included. Protected by perfCount.lock

// A perfPage is the page of one event on one thread. The kernel writes it, at any
// time; whoever holds perfCount.lock reads it. Page and event stay when the program
// closes the descriptor.
type perfPage uintptr // its address; 0 if there is none

//go:nosplit
func (p perfPage) info() *perfEventMmapPage { return (*perfEventMmapPage)(unsafe.Pointer(p)) }

func (p *perfPage) open(fd int32) {
	if perfPages-perfCPUPages >= perfMaxPages {
		return
	}
	addr, err := mmap(nil, physPageSize, _PROT_READ, _MAP_SHARED, fd, 0)
	if err != 0 {
		return
	}
	perfPages++
	*p = perfPage(addr)
}

//go:nowritebarrierrec
func (p *perfPage) close() {
	if *p != 0 {
		munmap(unsafe.Pointer(*p), physPageSize)
		perfPages--
		*p = 0
	}
}

// readable reports whether the kernel lets programs read the event's register, and
// says how to convert the processor's clock to nanoseconds.
//
//go:nowritebarrierrec
func (p perfPage) readable() bool {
	want := perfAttrBit(perf.CapUserRDPMC) | perfAttrBit(perf.CapUserTime)
	return p != 0 && p.info().capabilities&want == want
}

// timely reports whether the page says how to convert the processor's clock.
//
//go:nosplit
//go:nowritebarrierrec
func (p perfPage) timely() bool {
	return p.info().capabilities&perfAttrBit(perf.CapUserTime) != 0
}

var perfNoBase [perf.MaxEvents]uint64 // for perfReadCounters: no base

// perfPageTries is how often reading a page is tried, as it may change meanwhile.
const perfPageTries = 8

// read returns what p's event, which must be of the current thread, has counted. ok is
// false if the event does not count now, or its register can't be read.
//
// It does not survive an administrator who forbids the register to all programs
// (/sys/bus/event_source/devices/cpu/rdpmc, kernel.perf_user_access) just then. Nor
// does any other program that reads counters in user mode.
//
//go:nowritebarrierrec
func (p perfPage) read() (value uint64, ok bool) {
	if !p.readable() {
		return 0, false
	}
	for range perfPageTries {
		if ok = perfReadCounters(&p, &perfNoBase[0], &value, 1); ok {
			break
		}
	}
	return value, ok
}

// times returns the times of p's event, as read does its count.
//
//go:nosplit
//go:nowritebarrierrec
func (p perfPage) times() (t perfTimes, ok bool) {
	info := p.info()
	for range perfPageTries {
		seq := atomic.Load(&info.lock)
		now := info.since(uint64(perfReadTime()))
		t = perfTimes{enabled: info.timeEnabled + now, running: info.timeRunning + now}
		if seq == atomic.Load(&info.lock) {
			return t, true
		}
	}
	return t, false
}

// since returns the time, in ns, between the kernel's last update of p's times and a
// time of the processor's clock.
//
//go:nosplit
//go:nowritebarrierrec
func (p *perfEventMmapPage) since(clock uint64) uint64 {
	if p.capabilities&perfAttrBit(perf.CapUserTimeShort) != 0 {
		clock = p.timeCycles + (clock-p.timeCycles)&p.timeMask
	}
	mult, shift := uint64(p.timeMult), p.timeShift
	high, low := clock>>shift, clock&(1<<shift-1)
	return p.timeOffset + high*mult + low*mult>>shift
}

// state returns the sequence lock of p. As long as it is the same, the event has
// neither started nor stopped counting.
//
//go:nosplit
//go:nowritebarrierrec
func (p perfPage) state() uint32 { return atomic.Load(&p.info().lock) }

// idle reports whether p's event, which may be another thread's, is not counting, and
// the state that p has then.
//
//go:nowritebarrierrec
func (p perfPage) idle() (seq uint32, ok bool) {
	if !p.readable() {
		return 0, false
	}
	info := p.info()
	seq = atomic.Load(&info.lock)
	ok = atomic.Load(&info.index) == 0
	return seq, ok && seq == atomic.Load(&info.lock) && seq&1 == 0
}
