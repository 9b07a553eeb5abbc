// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The timer that has a thread read its ring in time.
//
// The kernel could signal that a ring is half full, but not for a ring whose
// events send no signals themselves: whether an event signals is one flag, and one
// that does so does it at each overflow, whatever its watermark (__perf_event_overflow
// and perf_event_wakeup in kernel/events/core.c). So each thread has a timer of its CPU
// time, timer_create(2). It costs no interrupt, as the kernel looks at it in its tick.

package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"unsafe"
)

const (
	perfBellLeast = 1000 * 1000     // ns of CPU time. The tick makes it more
	perfBellFirst = 4 * 1000 * 1000 // 40 KiB of the ring at 35 kHz
)

// A perfBell is a thread's timer. Protected by perfThread.lock.
type perfBell struct {
	id       int32
	exists   bool
	interval int64  // ns
	head     uint64 // the ring's, when the timer expired last
	read     uint64 // the ring's, then
	cpu      int64  // the thread's CPU time then, in ns
}

// since begins to count what is written, as if the timer had expired at cpu.
//
//go:nowritebarrierrec
func (b *perfBell) since(r *perfRing, cpu int64) { b.head, b.read, b.cpu = r.head(), r.read, cpu }

// make creates the timer of t's thread, stopped. It reports whether that worked.
//
//go:nowritebarrierrec
func (b *perfBell) make(t *perfThread) bool {
	var ev sigevent
	ev.notify = _SIGEV_THREAD_ID
	ev.signo = _SIGPROF
	ev.sigev_notify_thread_id = t.tid
	ev.value = uintptr(unsafe.Pointer(t))
	// The clock of a thread's CPU time: make_thread_cpuclock in
	// include/linux/posix-timers.h with CPUCLOCK_SCHED.
	b.exists = timer_create(^t.tid<<3|6, (*sigevent)(noescape(unsafe.Pointer(&ev))), &b.id) == 0
	return b.exists
}

// ring sets the timer, or stops it if interval is 0.
//
//go:nowritebarrierrec
func (b *perfBell) ring(interval int64) {
	if !b.exists {
		return
	}
	b.interval = interval
	var spec itimerspec
	spec.it_value.setNsec(interval)
	spec.it_interval = spec.it_value
	timer_settime(b.id, 0, (*itimerspec)(noescape(unsafe.Pointer(&spec))), nil)
}

// rang chooses the next interval after the timer has expired, when the thread's CPU time was cpu, and r has
// been read up to head.
// What counts is what has been written since it expired before, not what was there: the thread
// reads its ring also when its goroutine leaves it, but may stop doing so.
//
// The tick makes the time since then less than the interval, or more. So the rate of records
// says how many there will be, and not their number. Stacks may become deep at any time. So as many records must fit, in twice the
// interval and the tick after it, if they are as long as the kernel makes them by default. More of them may
// come at any time, too: that can't be foreseen, and what does not fit is in the ledger. If
// some were left in the ring, nobody knows how many.
//
//go:nowritebarrierrec
func (b *perfBell) rang(r *perfRing, head uint64, cpu int64) {
	const (
		most = 100 * 1000 * 1000 // ns, so that no sample waits longer in a busy thread
		tick = 10 * 1000 * 1000  // ns by which it is late at most: the tick of a kernel with HZ=100
	)
	size, written, n, took := r.mask+1, head-b.head, r.read-b.read, cpu-b.cpu
	b.head, b.read, b.cpu = head, r.read, cpu
	longest := int64(max(written, n*perfChainLongest))
	switch {
	case written > size/2 && b.interval > perfBellLeast:
		b.ring(max(b.interval/2, perfBellLeast))
	case r.tail == head && longest < int64(size) && longest*(2*b.interval+tick) < int64(size/8*7)*took && b.interval < most:
		b.ring(min(b.interval*2, most))
	}
}

// delete deletes the timer.
func (b *perfBell) delete() {
	if b.exists {
		timer_delete(b.id)
		*b = perfBell{}
	}
}

// isBell reports whether the signal is from t's timer. In siginfo_t's union, struct {
// int si_tid; int si_overrun; sigval_t si_value; } has the place of si_addr.
//
//go:nowritebarrierrec
func (t *perfThread) isBell(c *sigctxt) bool {
	if int32(c.sigcode()) != _SI_TIMER || !t.chain.bell.exists || goarch.PtrSize != 8 {
		return false
	}
	return atomic.Loaduintptr((*uintptr)(add(unsafe.Pointer(&c.info.si_addr), 8))) == uintptr(unsafe.Pointer(t))
}
