// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"errors"
	"fmt"
	"internal/testenv"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"
)

func mustOpenCounters(t *testing.T, events ...string) *Counters {
	t.Helper()
	c, err := OpenCounters(events...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// read returns the values of all events of c.
func (c *Counters) read(t *testing.T) []CounterValue {
	t.Helper()
	v := make([]CounterValue, len(c.events))
	if err := c.Read(v); err != nil {
		t.Fatal(err)
	}
	return v
}

// counterWorkEnds is how many threads end in counterWork, at most.
const counterWorkEnds = 4

// counterWork runs f n times, distributed over all the ways in which code can
// come to run on another thread: goroutines that are handed from thread to
// thread, locked threads, threads that begin and end meanwhile.
func counterWork(t *testing.T, n int, f func()) {
	const ways = 4
	per := n / ways
	// This goroutine, on its present thread.
	for range n - (ways-1)*per {
		f()
	}
	var wg sync.WaitGroup
	// Goroutines that yield all the time.
	const goroutines = 5
	for g := range goroutines {
		wg.Go(func() {
			for i := g; i < per; i += goroutines {
				f()
				runtime.Gosched()
			}
		})
	}
	wg.Wait()
	// A goroutine that is passed to another thread at every step, by blocking
	// the one that it is on in a system call.
	var p [2]int
	if err := syscall.Pipe(p[:]); err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(p[0])
	defer syscall.Close(p[1])
	token := make([]byte, 1)
	wg.Go(func() {
		for i := range per {
			f()
			if i%64 == 0 {
				wg.Go(func() { syscall.Write(p[1], token) })
				syscall.Read(p[0], make([]byte, 1))
			}
		}
	})
	wg.Wait()
	// Threads that end with their goroutine.
	var tids [counterWorkEnds]int
	for g := range tids {
		wg.Go(func() {
			runtime.LockOSThread()
			tids[g] = syscall.Gettid()
			for i := g; i < per; i += len(tids) {
				f()
			}
		})
	}
	wg.Wait()
	perfThreadsEnd(t, tids[:])
}

// perfThreadsEnd waits until threads of goroutines that were locked to them have ended.
func perfThreadsEnd(t *testing.T, tids []int) {
	t.Helper()
	for _, tid := range tids {
		if tid == syscall.Getpid() {
			continue // the main thread never ends
		}
		waitFor(t, "locked threads have ended", func() bool {
			_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", tid))
			return err != nil
		})
	}
}

//go:noinline
//go:nosplit
func counterTarget(x *int) { *x++ }

// Breakpoints count calls, exactly: how often the function's first instruction
// is executed. A signal at this very instruction makes the processor execute
// it again, so the test runs in a child without asynchronous preemption. The
// other kind starts a function with a stack check once more, so there is none.
func TestCountersBreakpoint(t *testing.T) {
	counterNeedsBreakpoints(t)
	if os.Getenv("GODEBUG") != "asyncpreemptoff=1" {
		cmd := testenv.Command(t, testenv.Executable(t), "-test.run=^TestCountersBreakpoint$", "-test.v")
		cmd.Env = append(cmd.Environ(), "GODEBUG=asyncpreemptoff=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("calls counted")) {
			t.Fatalf("%v\n%s", err, out)
		}
		t.Logf("%s", out)
		return
	}
	const event = "mem:runtime/pprof.counterTarget:x"
	const n = 20000
	c := mustOpenCounters(t, event, "task-clock")
	// A second set counts for itself.
	c2 := mustOpenCounters(t, event)
	var x [1]int
	call := func() { var y int; counterTarget(&y) }
	counterTarget(&x[0])
	before := c.read(t)
	counterWork(t, n, call)
	after := c.read(t)
	if got := after[0].Sub(before[0]); got.Value != n || !got.Exact() {
		t.Errorf("%d calls counted %d, %v enabled, %v running", n, got.Value, got.Enabled, got.Running)
	}
	if got := c2.read(t)[0].Value; got != n+1 {
		t.Errorf("second set: %d calls counted %d", n+1, got)
	}
	fmt.Println(after[0].Value-before[0].Value, "calls counted")
}

var _ = emulated(TestCountersBreakpoint)

// A profile and counters do not disturb each other.
func TestCountersWithProfile(t *testing.T) {
	counterNeedsBreakpoints(t)
	const n = 20000
	// The emulated machine interrupts in time only for the first user of
	// cycles, which has to be the profile.
	event, counted := "cycles", "instructions"
	if c, err := OpenCounters(event); err == nil {
		c.Close()
	} else {
		event, counted = "task-clock", "task-clock"
	}
	c := mustOpenCounters(t, "mem:runtime/pprof.counterTarget:x", counted)
	var inner, outer [2][]CounterValue
	outer[0] = c.read(t)
	r := perfProfileOnce(t, []perfReq{{event, 1e6}}, func() {
		inner[0] = c.read(t)
		var x int
		for range n {
			counterTarget(&x)
		}
		for range 20 {
			counterSpin(1 << 20)
		}
		inner[1] = c.read(t)
	})[0] // which has checked that the samples are what the profile's counters counted
	outer[1] = c.read(t)
	// A signal at the breakpoint makes it hit again; see TestCountersBreakpoint. Where
	// interrupts are dear, the thread is there most of the time.
	if got := inner[1][0].Sub(inner[0][0]); got.Value < n || got.Value > n+n/100+uint64(r.total()) || !got.Exact() {
		t.Errorf("%d calls counted %d while profiled with %d samples", n, got.Value, r.total())
	}
	profiled := r.comment("counted")
	low, high := int64(inner[1][1].Sub(inner[0][1]).Value), int64(outer[1][1].Sub(outer[0][1]).Value)
	t.Logf("%d to %d %s counted, %d %s in the profile", low, high, counted, profiled, event)
	if event != counted {
		// How many instructions are a cycle is the machine's affair: an
		// eighth on the emulated one with a shift of 3.
		low, high = low/32, high*32
	}
	if profiled < low || profiled > high {
		t.Errorf("%d to %d %s counted, %d %s in the profile:\n%s", low, high, counted, profiled, event, r.ledger())
	}
}

var _ = emulated(TestCountersWithProfile)

// rusage returns the process's use of resources, as the kernel accounts it.
func rusage(t *testing.T) *syscall.Rusage {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

func cpuTime(r *syscall.Rusage) int64 { return r.Utime.Nano() + r.Stime.Nano() }

// bracket is two readings of c around f, each between two of what the kernel
// accounts: so its difference is bounded from both sides.
func bracket(t *testing.T, c *Counters, f func()) (v []CounterValue, inner, outer [2]*syscall.Rusage) {
	outer[0] = rusage(t)
	before := c.read(t)
	inner[0] = rusage(t)
	f()
	inner[1] = rusage(t)
	after := c.read(t)
	outer[1] = rusage(t)
	for i := range before {
		v = append(v, after[i].Sub(before[i]))
	}
	return v, inner, outer
}

func TestCountersPageFaults(t *testing.T) {
	const n = 4096
	exact := true
	c, err := OpenCounters("page-faults:uk")
	if errors.Is(err, syscall.EACCES) {
		// Without the permission to count in the kernel, faults of system
		// calls that copy to the program's memory are missing.
		exact = false
		c, err = OpenCounters("page-faults")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	v, inner, outer := bracket(t, c, func() {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				runtime.LockOSThread() // ends the thread
				perfFault(t, n/4)
			})
		}
		wg.Wait()
	})
	faults := func(r [2]*syscall.Rusage) uint64 {
		return uint64(r[1].Minflt + r[1].Majflt - r[0].Minflt - r[0].Majflt)
	}
	low, high := faults(inner), faults(outer)
	t.Logf("%d page faults; getrusage: %d to %d", v[0].Value, low, high)
	// A thread has a few page faults (its stack) before it is armed.
	const slack = 16 * 4
	if v[0].Value < n || exact && v[0].Value+slack < low || v[0].Value > high {
		t.Errorf("%d page faults counted, getrusage has %d to %d, caused %d", v[0].Value, low, high, n)
	}
}

var _ = emulated(TestCountersPageFaults)

// stolen returns a function that returns how long since then, at most, in ns,
// the hypervisor ran something else in place of this machine's processors, or
// these ran interrupts. Some kernels leave that out of a thread's CPU time, but
// its clock ticks on. (proc_stat(5); kernel/sched/core.c, update_rq_clock_task)
func stolen(t *testing.T) func() int64 {
	ticks := func() (n int64) {
		b, err := os.ReadFile("/proc/stat")
		if err != nil {
			t.Fatal(err)
		}
		f := strings.Fields(string(b)) // cpu user nice system idle iowait irq softirq steal ...
		for _, s := range f[6:9] {
			v, err := strconv.ParseInt(s, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			n += v
		}
		return n
	}
	before := ticks()
	return func() int64 { return (ticks() - before + 2) * 1e7 } // USER_HZ is 100
}

func TestCountersTaskClock(t *testing.T) {
	c := mustOpenCounters(t, "task-clock")
	var own [4]int64 // CPU time of each thread, in ns, from when it runs Go
	stolen := stolen(t)
	v, inner, outer := bracket(t, c, func() {
		var wg sync.WaitGroup
		for i := range own {
			wg.Go(func() {
				runtime.LockOSThread() // ends the thread
				start := threadTime(t)
				for own[i] < 50e6 {
					own[i] = threadTime(t) - start
				}
			})
		}
		wg.Wait()
	})
	counted := int64(v[0].Value)
	var low int64
	for _, ns := range own {
		low += ns
	}
	process, high := cpuTime(inner[1])-cpuTime(inner[0]), cpuTime(outer[1])-cpuTime(outer[0])
	// A thread's own CPU time begins and ends in the middle of a context
	// switch, the event's a little later and earlier.
	low -= low/50 + 1e6
	high += high/50 + 1e6 + stolen()
	t.Logf("%.3f ms; threads: %.3f ms at least; getrusage: %.3f ms; at most %.3f", float64(counted)/1e6, float64(low)/1e6, float64(process)/1e6, float64(high)/1e6)
	if counted < low || counted > high {
		t.Errorf("%d ns counted, want %d to %d", counted, low, high)
	}
}

var _ = emulated(TestCountersTaskClock)

// threadTime returns the CPU time of this thread, in ns.
func threadTime(t *testing.T) int64 {
	var ts syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, 3 /* CLOCK_THREAD_CPUTIME_ID */, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		t.Error(errno)
	}
	return ts.Nano()
}

// switches returns the context switches of each thread in /proc/self.
func switches(t *testing.T) map[string]uint64 {
	m := make(map[string]uint64)
	files, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil || len(files) == 0 {
		t.Fatal("no /proc/self/task", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue // it has ended
		}
		for line := range strings.Lines(string(b)) {
			if name, val, _ := strings.Cut(line, ":"); strings.HasSuffix(name, "_ctxt_switches") {
				x, err := strconv.ParseUint(strings.TrimSpace(val), 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				m[f] += x
			}
		}
	}
	return m
}

func TestCountersContextSwitches(t *testing.T) {
	c, err := OpenCounters("context-switches")
	if errors.Is(err, syscall.EACCES) {
		// They occur in the kernel only. The error must say what to do.
		if !strings.Contains(err.Error(), "perf_event_paranoid") {
			t.Errorf("error without a remedy: %v", err)
		}
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var p, q [2]int
	if err := errors.Join(syscall.Pipe(p[:]), syscall.Pipe(q[:])); err != nil {
		t.Fatal(err)
	}
	const n = 2000
	var procs uint64 // at least so many, in threads that were there all the time
	v, inner, outer := bracket(t, c, func() {
		before := switches(t)
		defer func() {
			for f, n := range switches(t) {
				if b, ok := before[f]; ok {
					procs += n - b
				}
			}
		}()
		var wg sync.WaitGroup
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			b := make([]byte, 1)
			for range n {
				syscall.Read(p[0], b)
				syscall.Write(q[1], b)
			}
		})
		b := make([]byte, 1)
		for range n {
			syscall.Write(p[1], b)
			syscall.Read(q[0], b)
		}
		wg.Wait()
	})
	count := func(r [2]*syscall.Rusage) uint64 {
		return uint64(r[1].Nvcsw + r[1].Nivcsw - r[0].Nvcsw - r[0].Nivcsw)
	}
	low, high := count(inner), count(outer)
	t.Logf("%d context switches; getrusage: %d to %d; /proc/self/task: at least %d", v[0].Value, low, high, procs)
	// A thread that begins or ends meanwhile has switches while not armed.
	const slack = 16
	if v[0].Value < n || v[0].Value+slack < low || v[0].Value > high || v[0].Value < procs {
		t.Errorf("%d context switches counted, getrusage has %d to %d, /proc/self/task at least %d", v[0].Value, low, high, procs)
	}
}

var _ = emulated(TestCountersContextSwitches)
