// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests of events of the processor, for the emulated machine.

package pprof

import (
	"bytes"
	"context"
	"internal/profile"
	"internal/testenv"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"
)

// TestPerfCycles tests that samples x period is what the counter says, to less
// than a period per thread.
func TestPerfCycles(t *testing.T) {
	perfNeeds(t, "cycles")
	for _, event := range []string{"cycles", "cycles:uk"} {
		t.Run(event, func(t *testing.T) {
			r := perfProfileOf(t, []perfReq{{event, 1e6}}, func() {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				salt1 = cpuHog0(salt1, 5e7)
			})[0]
			t.Logf("ledger:\n%s", r.ledger())
			r.balance()
			r.near("samples in cpuHog0", float64(r.count(perfStartsWith("cpuHog0"))), float64(r.total()), 0.04*float64(r.total()))
		})
	}
}

var _ = emulated(TestPerfCycles)

// TestPerfSessionsOfCycles tests sessions that share the PMU, one of which comes and
// goes while another one samples the same event.
func TestPerfSessionsOfCycles(t *testing.T) {
	perfNeeds(t, "cycles")
	perfNeeds(t, "instructions")
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var whole bytes.Buffer
	s, err := StartSession(PerfEvent(&whole, "cycles", 500e3))
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, buf *bytes.Buffer) *perfResult {
		p, err := profile.Parse(buf)
		if err != nil {
			t.Fatal(err)
		}
		r := &perfResult{t, name, p}
		t.Logf("ledger:\n%s", r.ledger())
		if err := ledgerError(p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return r
	}
	var parts int64
	for range 3 {
		var cycles, instructions bytes.Buffer
		o, err := StartSession(PerfEvent(&cycles, "cycles", 200e3), PerfEvent(&instructions, "instructions", 300e3))
		if err != nil {
			t.Fatal(err)
		}
		salt1 = cpuHog0(salt1, 5e6)
		o.Stop()
		parts += check("cycles", &cycles).comment("counted")
		check("instructions", &instructions)
	}
	s.Stop()
	if all := check("cycles", &whole).comment("counted"); parts == 0 || parts > all {
		t.Errorf("%d cycles counted in sessions during one with %d", parts, all)
	}
}

var _ = emulated(TestPerfSessionsOfCycles)

// TestPerfFourEvents tests hardware and software events together: they share
// one ring per thread, and their overflows often one signal. The cycles are of
// the user mode: where the kernel runs with interrupts off for longer than a
// period, the PMU's interrupt stands for several overflows.
func TestPerfFourEvents(t *testing.T) {
	perfNeeds(t, "cycles")
	perfNeeds(t, "r11")
	rs := perfProfileOf(t, []perfReq{{"cycles", 200e3}, {"r11", 200e3}, {"task-clock:uk", 200e3}, {"page-faults:uk", 11}}, func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		// Faults one by one, not in a burst, in which samples would cost more
		// than the session lets them and the period be lengthened.
		for range 1000 {
			salt1 = cpuHog0(salt1, 2e4)
			perfFault(t, 2)
		}
	})
	for _, r := range rs {
		t.Logf("ledger:\n%s", r.ledger())
		r.balance()
		if counted := float64(r.comment("counted")); counted > 1e6 {
			perfWithin(t, r.name+": events counted and sampled", counted, float64(r.events()), 0.01)
		}
		if r.total() < 20 {
			t.Errorf("%s: only %d samples", r.name, r.total())
		}
	}
	perfWithin(t, "events of cycles and of raw event 0x11", float64(rs[0].events()), float64(rs[1].events()), 0.01)
}

var _ = emulated(TestPerfFourEvents)

// TestPerfFourThreads tests that each of four threads gets its samples: thread i
// does i times the work of the first. The profiler's own reading of the rings is
// in the profile as the scheduler's, at some 2,000 cycles for each sample. The
// period is long enough for hardly any sample to fall there, and far from simple
// fractions of 10 ms: after that long a goroutine is preempted, on the emulated
// machine nearly to the cycle, and sample after sample would be in the same place.
func TestPerfFourThreads(t *testing.T) {
	perfNeeds(t, "cycles")
	const unit = 2e7 // iterations
	runtime.GC()     // sweeps what earlier tests have left, which would have samples
	r := perfProfileOf(t, []perfReq{{"cycles", 1.618e6}}, func() {
		var wg sync.WaitGroup
		for i := 1; i <= 4; i++ {
			wg.Go(func() {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				Do(context.Background(), Labels("thread", strconv.Itoa(i)), func(context.Context) {
					cpuHog0(2, i*unit) // the same number, for the same way through the loop
				})
			})
		}
		wg.Wait()
	})[0]
	r.balance()
	var n [5]int64
	for i := 1; i <= 4; i++ {
		n[i] = r.count(func(s *profile.Sample) bool {
			return slices.Equal(s.Label["thread"], []string{strconv.Itoa(i)}) && strings.Contains(strings.Join(perfFrames(s), " "), "cpuHog0")
		})
	}
	t.Logf("samples: %v", n[1:])
	var all int64
	for _, m := range n {
		all += m
	}
	if all < 80 {
		t.Fatalf("only %d samples:\n%s", all, r.byStack())
	}
	others := r.total() - all
	if others > max(3, all/100) {
		t.Errorf("%d samples outside the threads' work:\n%s", others, r.byStack())
	}
	for i := 1; i <= 4; i++ {
		// A thread's samples are its cycles by the period, up or down. That of each
		// of the four has i tenths of a part in what is wanted of thread i.
		rounding := 1 + float64(i)/5
		r.near("samples of thread "+strconv.Itoa(i), float64(n[i]), float64(i)*float64(all)/10, rounding+float64(others))
	}
}

var _ = emulated(TestPerfFourThreads)

//go:noinline
func handlerCost1(n int) int { return cpuHog0(2, n) }

//go:noinline
func handlerCost3(n int) int { return cpuHog0(2, n) }

// TestPerfHandlerCost tests what samples add to the cycles of the program that
// they are of, at 10 kHz of a processor with 1 GHz. They are counted where they
// are spent, right after an overflow, so they do not overflow themselves: they
// are a part of each sample. So totals are a little too large, and all parts of
// the program have the same share in that. Where the ring is read for many samples
// at once, some fall there, and are neither function's.
func TestPerfHandlerCost(t *testing.T) {
	perfNeeds(t, "cycles")
	testenv.SkipIfOptimizationOff(t)
	measure := func(period uint64) (one, three, others, shown, took float64) {
		r := perfProfileOf(t, []perfReq{{"cycles", period}}, func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			start := threadTime(t)
			handlerCost1(10e6)
			handlerCost3(30e6)
			took = float64(threadTime(t) - start)
		})[0]
		r.balance()
		shown = float64(r.comment("cost")) / float64(r.comment("time enabled"))
		for _, s := range r.Sample {
			fs := perfFrames(s)
			has := func(fn string) bool { return slices.Contains(fs, fn) }
			n := float64(s.Value[1]) / float64(r.Period)
			switch {
			case has("runtime._PerfHandler"):
				others += n
			case has("runtime/pprof.handlerCost1"):
				one += n
			case has("runtime/pprof.handlerCost3"):
				three += n
			default:
				others += n
			}
			if has("runtime.perfSessionSigprof") && !has("runtime._PerfHandler") {
				t.Errorf("%d samples of the handler are charged to the program: %s", s.Value[0], fs)
			}
		}
		return one, three, others, shown, took
	}
	const slowPeriod, fastPeriod = 10e6, 100e3
	slow1, slow3, _, _, slow := measure(slowPeriod)
	one, three, others, shown, fast := measure(fastPeriod)
	more := (one+three)*fastPeriod/((slow1+slow3)*slowPeriod) - 1
	t.Logf("at 10 kHz %.2f %% more cycles than at 100 Hz; the comments say %.2f %%; the functions have %.0f and %.0f samples, and %.0f are others", 100*more, 100*shown, one, three, others)
	if more > shown {
		t.Errorf("handlers execute %.2f %% more cycles, though all that samples cost is %.2f %%", 100*more, 100*shown)
	}
	// The comments' are with the kernel's part, and by time: the overhead bound's
	// estimate, from a clock's samples. A clock's interrupt is 3.3 us here, and the PMU's
	// 2.6, of 11 us for a sample with a signal and 5 for one with the kernel's stack.
	perfWithin(t, "what samples cost, and what the comments say, in ns", fast-slow, shown*fast, 0.15)
	// Each of the others was in the second function's time with a probability of 3/4.
	if want, d := 3*(one+three)/4, 1+5*math.Sqrt(others*3/16); math.Abs(three-want) > d {
		t.Errorf("the second function has %.0f samples, want %.1f +- %.1f", three, want, d)
	}
}

var _ = emulated(TestPerfHandlerCost)

// A perfBlockingCall is a system call that blocks.
type perfBlockingCall struct {
	name    string
	restart bool // begins again after a signal
	call    func() syscall.Errno
}

// perfBlockingCalls returns system calls that block for some 50 µs or a millisecond. feed
// writes for n of those that read, at their pace, a little later.
func perfBlockingCalls(t *testing.T) (calls []perfBlockingCall, feed func(n int)) {
	ms := syscall.NsecToTimespec(1e6)
	us := syscall.NsecToTimespec(50e3)
	at := func(p *syscall.Timespec) uintptr { return uintptr(unsafe.Pointer(p)) }
	var p [2]int
	if err := syscall.Pipe2(p[:], 0); err != nil {
		t.Fatal(err)
	}
	epoll, err := syscall.EpollCreate1(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, fd := range []int{p[0], p[1], epoll} {
			syscall.Close(fd)
		}
	})
	var event syscall.EpollEvent
	var word uint32
	var b [1]byte
	calls = []perfBlockingCall{
		{"nanosleep", false, func() syscall.Errno {
			_, _, e := syscall.Syscall(syscall.SYS_NANOSLEEP, at(&us), 0, 0)
			return e
		}},
		{"ppoll", false, func() syscall.Errno {
			timeout := ms // which the kernel changes
			_, _, e := syscall.Syscall6(syscall.SYS_PPOLL, 0, 0, at(&timeout), 0, 0, 0)
			return e
		}},
		{"epoll_pwait", false, func() syscall.Errno {
			_, _, e := syscall.Syscall6(syscall.SYS_EPOLL_PWAIT, uintptr(epoll), uintptr(unsafe.Pointer(&event)), 1, 1, 0, 0)
			return e
		}},
		{"futex with a timeout", false, func() syscall.Errno {
			const futexWaitPrivate = 128
			_, _, e := syscall.Syscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(&word)), futexWaitPrivate, 0, at(&us), 0, 0)
			return e
		}},
		{"read of a pipe that is empty", true, func() syscall.Errno {
			_, _, e := syscall.Syscall(syscall.SYS_READ, uintptr(p[0]), uintptr(unsafe.Pointer(&b)), 1)
			return e
		}},
	}
	return calls, func(n int) {
		for range n {
			syscall.Syscall(syscall.SYS_NANOSLEEP, at(&us), 0, 0)
			syscall.Write(p[1], []byte{0})
		}
	}
}

// interrupted makes the call n times on a thread of its own, each after some other work,
// and returns how many of them returned EINTR.
func (c *perfBlockingCall) interrupted(t *testing.T, n int) (interrupted int) {
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for i := range n {
			salt1 = cpuHog0(salt1, 1000+i%1000)
			switch e := c.call(); e {
			case syscall.EINTR:
				interrupted++
			case 0, syscall.ETIMEDOUT:
			default:
				t.Errorf("%s: %v", c.name, e)
			}
		}
	}()
	<-done
	return interrupted
}

// TestPerfInterrupted counts how many blocking system calls return EINTR. A hardware
// event of the user mode can overflow just before a call, and the interrupt come
// inside (skid): the signal then interrupts the call. Those that SA_RESTART applies
// to (signal(7)) begin again, and only the others return EINTR.
func TestPerfInterrupted(t *testing.T) {
	perfNeeds(t, "instructions")
	if !perfWithoutPreemption(t) { // whose signals interrupt calls, too
		return
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const n = 1000
	calls, feed := perfBlockingCalls(t)
	for _, tt := range []struct {
		event  string
		period uint64
		skid   bool
	}{
		{"instructions:u", 20e3, true},
		{"cycles:u", 20e3, true},
		{"task-clock:u", 50e3, false},
		{"instructions:uk", 20e3, true},
		{"cycles:uk", 20e3, true},
		{"task-clock:uk", 50e3, true},
	} {
		if err := StartCPUProfileWithConfig(PerfEvent(io.Discard, tt.event, tt.period)); err != nil {
			t.Fatal(err)
		}
		for _, c := range calls {
			var w sync.WaitGroup
			if c.restart {
				w.Go(func() { feed(n) })
			}
			interrupted := c.interrupted(t, n)
			w.Wait()
			t.Logf("%s, period %d: %d of %d calls of %s returned EINTR", tt.event, tt.period, interrupted, n, c.name)
			if interrupted > 0 && (c.restart || !tt.skid) {
				t.Errorf("%s, period %d: %d of %d calls of %s returned EINTR", tt.event, tt.period, interrupted, n, c.name)
			}
		}
		StopCPUProfile()
	}
}

var _ = emulated(TestPerfInterrupted)
