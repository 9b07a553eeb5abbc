// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build amd64 || arm64

// The clocks of accounts (perfaccount.go).
//
// A goroutine's switch reads the clock three times: when it stops, when it is ready,
// and when it runs. With nanotime that is most of what an account costs: 109
// instructions a call on the emulated arm64 machine, and 27 ns on a virtual machine
// under kvm-clock, where the processor's clock takes 11 ns. So these readings are of the
// processor's clock, perfTicks, and only say how the time between two readings of
// perfNow is divided.
//
// perfNow is nanotime, but cheaper. It converts the processor's clock as the kernel's
// vDSO does, from an origin that each thread gets from nanotime, at most perfClockWindow
// earlier, and with a rate that all of them measure. It is within some hundred
// nanoseconds of nanotime, and may go backwards by as much from one thread to another,
// or when a thread gets a new origin. Whoever subtracts its results has to allow for
// that.
//
// If the processor's clock turns out to be unfit, both are nanotime.

package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"unsafe"
)

const (
	perfClockWindow = 10_000_000 // ns that an origin serves
	perfClockError  = 20_000     // ns by which it may be wrong at the end of a window
)

// A perfClock is what a thread converts with. Only the thread uses it, and not in signal
// handlers.
type perfClock struct {
	ticks int64  // the origin, by the processor's clock
	nanos int64  // and by nanotime
	rate  uint64 // ns per tick, with 32 bits of fraction
	limit uint64 // ticks from the origin up to which it serves; 0 if there is none
}

var _ [unsafe.Sizeof(perfM{}.clock) - unsafe.Sizeof(perfClock{})]byte // it fits

// perfClockRate is how the rate is measured. It belongs to the thread that has set busy,
// but others may look at atomics.
var perfClockRate struct {
	busy  atomic.Uint32
	unfit atomic.Bool
	rate  atomic.Uint64 // as in perfClock; 0 if not known
	nanos atomic.Int64  // over which it was measured

	least atomic.Int64 // the width of the narrowest pair; 0 if there was none

	// The times between which it is measured, older first.
	older, newer perfClockPair
	faults       int
	since        int64 // nanotime of the latest fault
}

// A perfClockPair is two clocks read at once: nanotime between two readings of ticks,
// which are width apart.
type perfClockPair struct {
	ticks, width, nanos int64
}

// perfNow returns about nanotime, and perfTicks of the same moment. mp is the current M.
// If the clock's origin serves, that is
//
//	ticks = perfReadTime()
//	nanos = c.nanos + (ticks - c.ticks) * c.rate >> 32
//
// and otherwise perfClockUpdate. It is in assembly because the compiler would not put it
// into one function.
//
//go:noescape
func perfNow(mp *m) (nanos, ticks int64)

// perfReadTime returns the processor's clock, by which the kernel tells time. Unlike
// cputicks it does not wait for the instructions before it, which takes three times as
// long.
//
//go:noescape
func perfReadTime() int64

// perfTicks returns the processor's clock, or nanotime.
//
//go:nosplit
//go:nowritebarrierrec
func perfTicks() int64 {
	if perfClockRate.unfit.Load() {
		return nanotime()
	}
	return perfReadTime()
}

// perfClockFit reports whether perfTicks is perfReadTime.
//
//go:nowritebarrierrec
func perfClockFit() bool { return !perfClockRate.unfit.Load() }

// perfTickRate returns the rate of perfTicks, in ns with 32 bits of fraction.
//
//go:nowritebarrierrec
func perfTickRate() uint64 {
	if perfClockRate.unfit.Load() {
		return 1 << 32
	}
	return perfClockRate.rate.Load()
}

// perfClockUpdate sets a new origin and returns what perfNow does. ticks may be earlier
// than nanos, but not later.
//
// The thread may lose its CPU between two readings. As long as there is no rate, each call
// comes here, and what it returns ends up in accounts: so a pair that is not narrow is read
// again.
//
//go:nosplit
//go:nowritebarrierrec
func perfClockUpdate(c *perfClock) (nanos, ticks int64) {
	const tries = 4 // how often a pair is read that is not narrow
	r := &perfClockRate
	var p perfClockPair
	for try := 1; ; try++ {
		from := perfReadTime()
		nanos := nanotime()
		width := perfReadTime() - from
		if try == 1 || width < p.width {
			ticks = from
			p = perfClockPair{from + width/2, width, nanos}
		}
		if p.width < 4*r.least.Load() || try == tries {
			break
		}
	}
	if r.unfit.Load() {
		c.limit = 0
		return p.nanos, p.nanos
	}
	if r.busy.CompareAndSwap(0, 1) {
		if least := r.least.Load(); least == 0 || p.width < least {
			r.least.Store(p.width)
		}
		if p.width < 4*r.least.Load() {
			c.check(p)
			perfClockMeasure(p)
		}
		r.busy.Store(0)
	}
	// If something came in between the readings, the next one tries again.
	rate := r.rate.Load()
	if rate == 0 || uint64(p.width)*rate>>32 > perfClockError/8 {
		c.limit = 0
		return p.nanos, ticks
	}
	// A quarter of what the rate was measured over, so that its error is at most that of
	// the pairs. The limit times the rate is less than 1<<56.
	window := min(uint64(r.nanos.Load())/4, perfClockWindow)
	*c = perfClock{p.ticks, p.nanos, rate, window << 32 / rate}
	return p.nanos, ticks
}

// perfClockMeasure measures the rate by p and earlier pairs.
//
//go:nosplit
//go:nowritebarrierrec
func perfClockMeasure(p perfClockPair) {
	const (
		baseline = 1_000_000_000 // ns over which the rate is measured, or twice that
		least    = 2_000_000     // ns over which it is measured at first
	)
	r := &perfClockRate
	if r.newer.nanos == 0 || p.nanos-r.newer.nanos > 8*baseline {
		// The first one, or after so long that the machine may have slept.
		r.rate.Store(0)
		r.older, r.newer = p, p
		return
	}
	if p.nanos-r.newer.nanos > baseline {
		r.older, r.newer = r.newer, p
	}
	nanos, ticks := p.nanos-r.older.nanos, p.ticks-r.older.ticks
	if nanos < least {
		return
	}
	r.nanos.Store(nanos)
	for nanos >= 1<<31 {
		nanos, ticks = nanos/2, ticks/2
	}
	if ticks <= 0 {
		r.unfit.Store(true)
		return
	}
	r.rate.Store(uint64(nanos) << 32 / uint64(ticks))
}

// check compares p with what the thread's old origin makes of it. Processors whose clocks
// differ, or stop, give themselves away here. A single fault may be that of a machine
// that has slept, or of a virtual one that has moved. The caller has set perfClockRate.busy.
//
//go:nosplit
//go:nowritebarrierrec
func (c *perfClock) check(p perfClockPair) {
	const faults = 32 // more than it can bear
	elapsed := p.nanos - c.nanos
	r := &perfClockRate
	if c.limit == 0 || elapsed > 64*perfClockWindow || c.nanos < r.since {
		return
	}
	wrong := int64(uint64(p.ticks-c.ticks)*c.rate>>32) - elapsed
	if most := elapsed>>10 + perfClockError; -most <= wrong && wrong <= most {
		if r.faults > 0 {
			r.faults--
		}
		return
	}
	// What was measured is of no use: the processor's clock may have gone on while the
	// machine slept, and CLOCK_MONOTONIC did not (clock_gettime(2)). Nor are the origins of
	// all threads, none of which is another fault.
	r.newer.nanos, r.since = 0, p.nanos
	if r.faults += 4; r.faults >= faults {
		r.unfit.Store(true)
	}
}

// perfClockInit looks whether the kernel itself tells time by the processor's clock.
// If it does not on x86, it has found the processors' clocks to differ. It is called
// before the first account is made, on a goroutine's stack.
func perfClockInit() {
	if goarch.IsAmd64 == 0 {
		return // the architecture has one clock for all processors
	}
	name := []byte("/sys/devices/system/clocksource/clocksource0/current_clocksource\x00")
	fd := open(&name[0], 0 /* O_RDONLY */, 0)
	if fd < 0 {
		return // no sysfs; perfClock.check looks
	}
	var b [32]byte
	n := read(fd, noescape(unsafe.Pointer(&b)), int32(len(b)))
	closefd(fd)
	switch string(b[:max(n-1, 0)]) {
	case "tsc", "kvm-clock", "hyperv_clocksource_tsc_page":
	default:
		perfClockRate.unfit.Store(true)
	}
}
