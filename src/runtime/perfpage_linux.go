// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Reading counters without system calls.
//
// The kernel describes an event in a page that can be mapped from its
// descriptor: perf_event_open(2), section "MMAP layout". While the event counts,
// index names a register of the processor, which the event's own thread can read,
// and the count is that plus offset. While it does not, index is 0. A sequence
// lock guards this, which changes whenever the event begins or ends to count.
//
// So a thread reads its own counters in the processor. What a thread has counted
// that has not run since it was read last, as the sequence lock tells, is what it
// was. Only one that runs elsewhere, or has run since, takes a system call.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"unsafe"
)

// perfMaxPages bounds the pages that all sets have mapped. They are accounted as
// locked memory, as are the rings of profiles, which must not go without because
// of them: it is half of what one processor adds to a user's allowance
// (kernel.perf_event_mlock_kb). Threads that get no pages are read by system calls.
const perfMaxPages = 64

var perfPages int // that are mapped. Protected by perfCount.lock

// A perfPage is the page of one event on one thread. The kernel writes it, at any
// time; whoever holds perfCount.lock reads it. It stays when the program closes
// the descriptor behind our back, and so does the event.
type perfPage uintptr // its address; 0 if there is none

func (p perfPage) info() *perfEventMmapPage { return (*perfEventMmapPage)(unsafe.Pointer(p)) }

func (p *perfPage) open(fd int32) {
	if perfPages >= perfMaxPages {
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

// readable reports whether the kernel lets programs read the event's register,
// and says how to make its own time of the processor's.
//
//go:nowritebarrierrec
func (p perfPage) readable() bool {
	want := perfAttrBit(_PERF_CAP_USER_RDPMC) | perfAttrBit(_PERF_CAP_USER_TIME)
	return p != 0 && p.info().capabilities&want == want
}

// perfPageTries is how often a page is read that changes meanwhile.
const perfPageTries = 8

// read returns the count of p's event, which must be of the current thread. ok is
// false if the event does not count now, or its register can't be read.
//
// There is one thing that this does not survive: an administrator who forbids
// the register to all programs (/sys/bus/event_source/devices/cpu/rdpmc,
// kernel.perf_user_access) just then. That is so for all who read counters in
// user mode.
//
//go:nowritebarrierrec
func (p perfPage) read() (c perf.Count, ok bool) {
	if !p.readable() {
		return c, false
	}
	info := p.info()
	for range perfPageTries {
		seq := atomic.Load(&info.lock)
		index := atomic.Load(&info.index)
		if index == 0 || !perfIsCounter(index-1) {
			return c, false
		}
		unused := 64 - info.pmcWidth
		value := int64(perfReadCounter(index-1)<<unused) >> unused
		now := info.since(perfReadTime())
		c = perf.Count{Value: uint64(info.offset + value), Enabled: info.timeEnabled + now, Running: info.timeRunning + now}
		// The kernel changes the page in interrupts of this thread, and then
		// all that is between the two loads is done again. (So the order in
		// which another processor would see them does not matter.)
		if seq == atomic.Load(&info.lock) {
			return c, true
		}
	}
	return c, false
}

// since returns the time in ns from when the kernel last wrote p's times to
// the time of the processor's clock.
//
//go:nowritebarrierrec
func (p *perfEventMmapPage) since(clock uint64) uint64 {
	if p.capabilities&perfAttrBit(_PERF_CAP_USER_TIME_SHORT) != 0 {
		clock = p.timeCycles + (clock-p.timeCycles)&p.timeMask
	}
	mult, shift := uint64(p.timeMult), p.timeShift
	high, low := clock>>shift, clock&(1<<shift-1)
	return p.timeOffset + high*mult + low*mult>>shift
}

// state returns the sequence lock of p. While it is the same, the event has neither
// begun nor ended to count.
//
//go:nowritebarrierrec
func (p perfPage) state() uint32 { return atomic.Load(&p.info().lock) }

// idle reports whether p's event, which may be of another thread, does not count,
// and in which state p is then.
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
