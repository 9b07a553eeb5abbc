// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests of counters of the processor's events, which are compared with counters that
// the tests open themselves.

package pprof

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

//go:noinline
func counterSpin(n int) {
	for ; n > 0; n-- {
	}
}

// openPMU opens counters of the processor. A machine without a PMU must say so.
func openPMU(t *testing.T, events ...string) *Counters {
	t.Helper()
	c, err := OpenCounters(events...)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.EOPNOTSUPP) {
		if !strings.Contains(err.Error(), "PMU") {
			t.Errorf("error without a cause: %v", err)
		}
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// A perfStat counts the instructions of all threads of this process, and of those
// that they start, in user mode, as perf stat does: the kernel has counters follow
// from thread to thread, and the runtime has no part in it.
type perfStat struct {
	t   *testing.T
	fds []int
}

func newPerfStat(t *testing.T) *perfStat {
	t.Helper()
	p := &perfStat{t: t}
	t.Cleanup(p.close)
	// A thread that begins in between may have a counter or not.
	for range 100 {
		threads := perfThreadIDs(t)
		for _, tid := range threads {
			p.open(tid)
		}
		if slices.Equal(perfThreadIDs(t), threads) {
			return p
		}
		p.close()
	}
	t.Fatal("threads begin and end all the time")
	return nil
}

func (p *perfStat) open(tid int) {
	p.t.Helper()
	const (
		hardware, instructions = 0, 1
		totalTimes             = 3 // PERF_FORMAT_TOTAL_TIME_ENABLED, _RUNNING
		inherit                = 1 << 1
		excludeKernel          = 1 << 5
		excludeHV              = 1 << 6
		cloexec                = 8
	)
	attr := struct { // PERF_ATTR_SIZE_VER0
		typ, size                                     uint32
		config, period, sampleType, readFormat, flags uint64
		wakeup, bpType                                uint32
		bpAddr                                        uint64
	}{typ: hardware, size: 64, config: instructions, readFormat: totalTimes, flags: inherit | excludeKernel | excludeHV}
	fd, _, errno := syscall.Syscall6(uintptr(perfEventOpenNr(p.t).value), uintptr(unsafe.Pointer(&attr)), uintptr(tid), ^uintptr(0), ^uintptr(0), cloexec, 0)
	if errno != 0 {
		p.t.Fatalf("perf_event_open of thread %d: %v", tid, errno)
	}
	p.fds = append(p.fds, int(fd))
}

func (p *perfStat) read() (n int64) {
	p.t.Helper()
	for _, fd := range p.fds {
		var v struct{ value, enabled, running uint64 }
		if _, err := syscall.Read(fd, (*[unsafe.Sizeof(v)]byte)(unsafe.Pointer(&v))[:]); err != nil {
			p.t.Fatal(err)
		}
		if v.enabled != v.running {
			perfSkip(p.t, "instructions", "the processor has too few counters, or of several kinds")
		}
		n += int64(v.value)
	}
	return n
}

func (p *perfStat) close() {
	for _, fd := range p.fds {
		syscall.Close(fd)
	}
	p.fds = nil
}

// Instructions are the same number wherever a goroutine runs.
//
// What the runtime does besides counts too: every 10 ms a goroutine is preempted,
// for some 1,200 instructions, and sysmon wakes up, for 900, or, after it has been
// at rest, 62 times in 6 ms. How many ms a loop takes is the machine's affair. So
// that is not estimated, but counted: no count may have less than the loops,
// or differ from what the kernel counts for the same threads.
func TestCountersInstructions(t *testing.T) {
	c := openPMU(t, "cycles", "instructions", "page-faults")
	const n = 1 << 20
	// The loop's length in instructions, and that it is one: a count that
	// were an estimate would hardly be a multiple of it.
	before := c.read(t)
	counterSpin(16 * n)
	per := (int64(c.read(t)[1].Sub(before[1]).Value) + 8*n) / (16 * n)
	if per < 2 || per > 6 {
		t.Fatalf("%d instructions in a loop that counts down", per)
	}
	check := func(how string, loops int64, end int, f func()) {
		t.Helper()
		stat := newPerfStat(t)
		threads := threadCount()
		var all [4]int64 // around the two readings of c
		all[0] = stat.read()
		before := c.read(t)
		all[1] = stat.read()
		f()
		all[2] = stat.read()
		after := c.read(t)
		all[3] = stat.read()
		stat.close()
		begin := threadCount() - threads + end

		v := after[1].Sub(before[1])
		low, high, want := all[2]-all[1], all[3]-all[0], per*loops
		t.Logf("%s: %d instructions; loops: %d (%+.4f %%); the kernel: %d to %d (%+d, %+d), %d threads begin and %d end", how, v.Value,
			want, 100*float64(int64(v.Value)-want)/float64(want), low, high, low-int64(v.Value), high-int64(v.Value), begin, end)
		if int64(v.Value) < want || !v.Exact() {
			t.Errorf("%s: %d instructions, want at least %d; %v of %v", how, v.Value, want, v.Running, v.Enabled)
		}
		if cyc := after[0].Sub(before[0]); cyc.Value == 0 || cyc.Running != v.Running {
			t.Errorf("%s: %d cycles, not in a group with instructions: %v and %v", how, cyc.Value, cyc.Running, v.Running)
		}
		// A thread executes some 3,000 instructions before it is armed, and after.
		low -= 10_000 * int64(max(begin, 0)+end)
		if int64(v.Value) < low || int64(v.Value) > high {
			t.Errorf("%s: %d instructions, the kernel has %d to %d", how, v.Value, low, high)
		}
	}
	check("one thread", 64*n, 0, func() { counterSpin(64 * n) })
	const calls, each = 512, n / 2
	check("many threads", calls*each, counterWorkEnds, func() { counterWork(t, calls, func() { counterSpin(each) }) })
}

var _ = emulated(TestCountersInstructions)

// More events than the processor has counters take turns, and say so.
func TestCountersMultiplexed(t *testing.T) {
	const n = 1 << 20
	count := func(c *Counters, loops int) []CounterValue {
		before := c.read(t)
		for range loops {
			counterSpin(n)
		}
		after := c.read(t)
		for i := range after {
			after[i] = after[i].Sub(before[i])
		}
		return after
	}
	alone := openPMU(t, "instructions")
	want := float64(count(alone, 1)[0].Value)
	alone.Close()

	// Two sets, together with more events than any processor has counters
	// for one thread.
	events := []string{"instructions", "instructions:k", "instructions:uk", "cycles", "cycles:k", "cycles:uk", "branches"}
	if c, err := OpenCounters(events...); err == nil {
		c.Close()
	} else {
		events[6] = "r8" // the emulated machine has no branches
	}
	first := openPMU(t, append(events, "page-faults")...)
	for range 3 {
		openPMU(t, events...)
	}
	const loops = 1 << 8
	for i, v := range count(first, loops) {
		name := first.Events()[i].Name
		t.Logf("%s: %d in %.1f %% of the time, scaled %.0f", name, v.Value, 100*float64(v.Running)/float64(v.Enabled), v.Scaled())
		switch {
		case name == "page-faults":
			if !v.Exact() {
				t.Errorf("%s waits for a counter of the processor: %v of %v", name, v.Running, v.Enabled)
			}
		case v.Exact():
			t.Errorf("%s did not have to wait for a counter", name)
		case name == "instructions":
			if got := v.Scaled() / loops; got < want*0.9 || got > want*1.1 {
				t.Errorf("%s scaled: %.0f, want %.0f", name, got, want)
			}
		}
	}
}

var _ = emulated(TestCountersMultiplexed)
