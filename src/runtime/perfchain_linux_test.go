// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"
)

// chainLoad works in many ways: JSON, maps, regular expressions, sorting, channels,
// stacks that grow, system calls and the time.
func chainLoad(n int) {
	type record struct {
		Name string
		Tags []string
		Sub  map[string]float64
	}
	re := regexp.MustCompile(`"t(\d+)".*?7`)
	for i := range n {
		r := record{Name: fmt.Sprint(i), Sub: map[string]float64{}}
		for j := range 20 {
			r.Tags = append(r.Tags, fmt.Sprint("t", i*j))
			r.Sub[r.Tags[j]] = float64(j)
		}
		b, _ := json.Marshal(&r)
		json.Unmarshal(b, &r)
		re.FindAll(b, -1)
		slices.Sort(r.Tags)
		done := make(chan bool)
		go func() {
			unwindDeep(i%100, func() { unwindBigFrame(func() { done <- true }) })
		}()
		<-done
		os.Getppid()
		pprof.Lookup("goroutine").WriteTo(io.Discard, 0)
	}
}

// TestPerfChains tests that the stacks that the kernel records are those that the
// unwinder finds, for the same overflows.
func TestPerfChains(t *testing.T) {
	if !runtime.PerfHasChains {
		t.Skip("the kernel can't follow Go's stacks on this architecture")
	}
	t.Setenv("GO_PPROF_STACKS", "kernel")
	n := 65000
	if testing.Short() {
		n = 3000
	}
	tap := new(runtime.PerfChainTap)
	if err := pprof.StartCPUProfileWithConfig(pprof.PerfEvent(io.Discard, "task-clock:u", 200e3)); err != nil {
		t.Skip(err)
	}
	tap.Start()
	for round := 0; tap.Compared < n; round++ {
		if chainLoad(100); round > 20 && tap.Compared == 0 {
			break // there was no room for rings
		}
	}
	tap.Stop()
	pprof.StopCPUProfile()
	t.Logf("%d compared, %d equal, %d explained, %d different; %d in the kernel, %d late", tap.Compared, tap.Equal, tap.Explained, tap.NDifferent, tap.Kernel, tap.Late)
	for i := range min(tap.NDifferent, len(tap.Different)) {
		d := &tap.Different[i]
		t.Logf("chain:   %s\nunwound: %s", chainNames(d.Chain()), chainNames(d.Unwound()))
	}
	if tap.Compared < n {
		t.Errorf("only %d stacks compared", tap.Compared)
	}
	// A thousandth, and some for chance where few are compared.
	if tap.NDifferent > tap.Compared/1000+10 {
		t.Errorf("%d of %d stacks differ", tap.NDifferent, tap.Compared)
	}
}

func chainNames(pcs []uintptr) string {
	var b strings.Builder
	for _, pc := range pcs {
		f := runtime.FuncForPC(pc - 1)
		if f == nil {
			fmt.Fprintf(&b, " %#x", pc)
			continue
		}
		fmt.Fprintf(&b, " %s+%d", f.Name(), pc-1-f.Entry())
	}
	return b.String()
}

// TestPerfFollowed tests that each goroutine has an account while threads are sampled
// without signals, whatever it is in when that begins, and none afterwards.
func TestPerfFollowed(t *testing.T) {
	if !runtime.PerfHasChains {
		t.Skip("the kernel can't follow Go's stacks on this architecture")
	}
	t.Setenv("GO_PPROF_STACKS", "kernel")
	var session atomic.Int64 // the number of the one that runs, or 0
	var looks, missed atomic.Int64
	stop := make(chan bool)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				syscall.Close(-1) // a change of status, and back
				if n := session.Load(); n != 0 {
					has := runtime.PerfHasAccount()
					if n == session.Load() {
						looks.Add(1)
						if !has {
							missed.Add(1)
						}
					}
				}
				runtime.Gosched() // there may be one CPU
			}
		})
	}
	defer wg.Wait()
	defer close(stop)
	for n := range int64(50) {
		if runtime.PerfHasAccount() {
			t.Fatal("the test's goroutine has an account")
		}
		if err := pprof.StartCPUProfileWithConfig(pprof.PerfEvent(io.Discard, "task-clock:u", 1e6)); err != nil {
			t.Skip(err)
		}
		session.Store(n + 1)
		for before := looks.Load(); looks.Load() < before+100; {
			runtime.Gosched()
		}
		has := runtime.PerfHasAccount()
		session.Store(0)
		pprof.StopCPUProfile()
		runtime.Gosched()
		if !has {
			t.Fatal("the test's goroutine has no account")
		}
	}
	t.Logf("%d looks", looks.Load())
	if n := missed.Load(); n != 0 {
		t.Errorf("%d times of %d a goroutine had no account", n, looks.Load())
	}
}

// TestPerfFollowedWorkers tests that the garbage collector's workers have an account, too, if
// they are started while threads are sampled without signals.
func TestPerfFollowedWorkers(t *testing.T) {
	_, before := runtime.PerfUnfollowed()
	perfChainStart(t, 1e6)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(int(before) + 2))
	runtime.GC()
	n, workers := runtime.PerfUnfollowed()
	if workers <= before {
		t.Fatalf("%d workers, and %d before", workers, before)
	}
	if n != 0 {
		t.Errorf("%d goroutines have no account", n)
	}
}

// TestPerfChainGrows tests which records wait for newstack to read them: those of a stack that
// it moves, and not those of what runs on the thread when it has preempted a goroutine.
func TestPerfChainGrows(t *testing.T) {
	if !runtime.PerfHasChains {
		t.Skip("the kernel can't follow Go's stacks on this architecture")
	}
	for _, tt := range []struct {
		stack string
		want  bool
	}{
		{"scanblock schedule", false},
		{"newstack morestack", true},
		{"copystack newstack morestack", true},
		{"scanblock copystack newstack morestack", true},
		{"gopreempt_m newstack morestack", false},
		{"preemptPark newstack morestack", false},
		{"scanblock schedule gopreempt_m newstack morestack", false},
	} {
		if got := runtime.PerfChainGrows(strings.Fields(tt.stack)...); got != tt.want {
			t.Errorf("%s: %t", tt.stack, got)
		}
	}
}

// TestPerfChainCost tests that a session finds out what the stacks of records cost, and
// what their interrupts do without. Interrupts may differ by more than a deep stack costs,
// so there are several tries.
func TestPerfChainCost(t *testing.T) {
	if !runtime.PerfHasChains {
		t.Skip("the kernel can't follow Go's stacks on this architecture")
	}
	t.Setenv("GO_PPROF_STACKS", "kernel")
	for range 20 {
		if err := pprof.StartCPUProfileWithConfig(pprof.PerfEvent(io.Discard, "task-clock:u", 1e6)); err != nil {
			t.Skip(err)
		}
		bare, chain := runtime.PerfChainCost()
		pprof.StopCPUProfile()
		if bare > 0 && chain > 0 {
			t.Logf("%d ns, and %d ns for each KiB", bare, chain)
			return
		}
	}
	t.Error("stacks in records, or their interrupts, cost nothing")
}

// TestPerfChainSpent tests that time in which a thread that reads has no CPU does not count.
func TestPerfChainSpent(t *testing.T) {
	const least = 1000 // it may rise by an eighth, and a read may be four times as dear
	if n := runtime.PerfChainSpent(1e9, least); n < 10*least || n > 10*least*9/8*4 {
		t.Errorf("a second without a CPU counts %d ns", n)
	}
	// Up to here a slow machine adds to it.
	if n := runtime.PerfChainSpent(5000, least); n < 5000 || n > 10*least*9/8*4 {
		t.Errorf("5000 ns count %d", n)
	}
}

// TestPerfCostStopped tests that samples that are looked at when the session has been
// stopped cost no more than others. The clock's interrupts that are no samples cost too, and
// are known by the thread's CPU time, which its counters say.
func TestPerfCostStopped(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, stacks := range []string{"kernel", "signal"} {
		t.Setenv("GO_PPROF_STACKS", stacks)
		if err := pprof.StartCPUProfileWithConfig(pprof.PerfEvent(io.Discard, "task-clock:u", 100e3)); err != nil {
			t.Skip(err)
		}
		cost, most := runtime.PerfCostStopped()
		pprof.StopCPUProfile()
		if cost > most {
			t.Errorf("%s: they cost %d ns, want at most %d", stacks, cost, most)
		}
	}
}

// TestPerfChainWindow tests that a window of the overhead bound begins when the thread begins
// to read its ring: what overflows while it does is read next time.
func TestPerfChainWindow(t *testing.T) {
	perfChainSession(t, 1e6)
	const ns = 50e6
	if late := runtime.PerfChainWindow(ns); late < ns {
		t.Errorf("it has begun %d ns ago, want %d or more", late, int64(ns))
	}
}

// TestPerfChainBefore tests that a window has no samples from before it, whose cost counts
// nevertheless.
func TestPerfChainBefore(t *testing.T) {
	perfChainSession(t, 50e3)
	for range 1000 {
		perfChainWork()
		if n, counted, charged := runtime.PerfChainBefore(); n >= 4 {
			if counted != 0 || charged != n {
				t.Errorf("of %d samples before it the window has %d, and %d are charged for", n, counted, charged)
			}
			return
		}
	}
	t.Error("the thread's ring has never had four samples")
}

// TestPerfChainStopped tests that a thread waits until another has read its ring, where that
// stops the session: until then the labels of its goroutine are those of its records.
func TestPerfChainStopped(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it would wait for the test
	for range 50 {
		if reads, waits := perfChainStopped(t); reads {
			if !waits {
				t.Error("the thread goes on while another one reads its ring")
			}
			return
		}
	}
	t.Error("the other thread has never read the ring")
}

// perfChainStopped reports whether another thread, which stops a session, reads the ring of
// this one, and whether this one would then wait for it.
func perfChainStopped(t *testing.T) (reads, waits bool) {
	perfChainSession(t, 50e3)
	var stop uint32
	stopped := make(chan bool)
	go func() {
		for atomic.LoadUint32(&stop) == 0 {
			runtime.Gosched()
		}
		pprof.StopCPUProfile()
		close(stopped)
	}()
	records := false
	for i := 0; i < 1000 && !records; i++ {
		perfChainWork()
		records, reads, waits = runtime.PerfChainStopped(&stop)
	}
	atomic.StoreUint32(&stop, 1)
	<-stopped
	return reads, waits
}

// TestPerfChainOwns tests what is known of the goroutine of a thread: nothing, if it may leave
// while another thread looks, and that it is in no call of C where it makes a system call.
func TestPerfChainOwns(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, quiet := range []bool{false, true} {
		t.Run(fmt.Sprintf("quiet=%t", quiet), func(t *testing.T) {
			if quiet {
				perfChainSession(t, 50e3)
			} else {
				perfChainStart(t, 1<<50)
			}
			check := func(where string, thread unsafe.Pointer, want bool) {
				t.Helper()
				if owns, calls := runtime.PerfChainOwns(thread); owns != want || calls {
					t.Errorf("%s: it owns its records: %t, want %t; it calls C: %t", where, owns, want, calls)
				}
			}
			thread := runtime.PerfChainOf()
			check("on the thread", thread, true)
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			defer w.Close()
			fd := int(r.Fd()) // blocking
			done := make(chan bool)
			go func() {
				defer close(done)
				for !runtime.PerfInSyscall(thread) {
					runtime.Gosched()
				}
				check("elsewhere", thread, quiet)
				w.Write([]byte{0})
			}()
			var b [1]byte
			syscall.Read(fd, b[:])
			<-done
			check("after a call", thread, true)
		})
	}
}

// TestPerfChainRing tests that a thread has a ring for what its samples need until it reads
// them, and a timer for that from the first one on.
func TestPerfChainRing(t *testing.T) {
	const never = 1 << 50
	for _, tt := range []struct {
		name    string
		periods []uint64 // ns
		want    uint64   // the ring's size
	}{
		{"never", []uint64{never}, 16 << 10},
		{"seldom", []uint64{1e6}, 16 << 10},
		{"often", []uint64{100e3}, 64 << 10},
		{"two", []uint64{1e6, 1e6}, 64 << 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			perfChainStart(t, tt.periods...)
			if tt.periods[0] != never {
				perfChainWait(t)
			}
			ring, timer := runtime.PerfChainThread()
			if want := max(tt.want, uint64(os.Getpagesize())); ring != want || timer != (tt.periods[0] != never) {
				t.Errorf("a ring of %d, timer %v; want %d, %v", ring, timer, want, !timer)
			}
		})
	}
}

// perfChainSession has the calling goroutine's thread sampled by its clock, with the stacks
// that the kernel finds, until the test ends.
func perfChainSession(t *testing.T, period uint64) {
	perfChainStart(t, period)
	perfChainWait(t)
}

func perfChainStart(t *testing.T, periods ...uint64) {
	if !runtime.PerfHasChains {
		t.Skip("the kernel can't follow Go's stacks on this architecture")
	}
	t.Setenv("GO_PPROF_STACKS", "kernel")
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	var options []pprof.ProfilingOption
	for i, p := range periods {
		options = append(options, pprof.PerfEvent(io.Discard, []string{"task-clock:u", "cpu-clock:u"}[i], p))
	}
	if err := pprof.StartCPUProfileWithConfig(options[0], options[1:]...); err != nil {
		t.Skip(err)
	}
	t.Cleanup(pprof.StopCPUProfile)
}

// perfChainWait waits until the calling thread is sampled without signals, as it is from its
// first sample on.
func perfChainWait(t *testing.T) {
	for i := 0; !runtime.PerfChainQuiet(); i++ {
		if i == 10_000 {
			t.Fatal("the thread is signalled")
		}
		perfChainWork()
	}
}

//go:noinline
func perfChainWork() (x int) {
	for i := range 1_000_000 {
		x += i * x
	}
	return x
}

// TestPerfBellRang tests that a ring is read twice as often when half of it was written, and
// half as often only if as many of the longest records would fit for certain.
func TestPerfBellRang(t *testing.T) {
	const size = 64 << 10
	for _, tt := range []struct {
		what          string
		interval      int64 // ms
		took          int64 // ms
		tail, head, n uint64
		want          int64 // ms
	}{
		{"few short records", 8, 8, 2000, 2000, 15, 16},
		{"many short records", 8, 8, 3000, 3000, 16, 8},
		{"few soon", 8, 4, 2000, 2000, 7, 16},
		{"as fast, soon", 8, 2, 2000, 2000, 4, 8},
		{"as slow, late", 8, 12, 3000, 3000, 22, 16},
		{"few long records", 8, 8, size / 4, size / 4, 1, 16},
		{"few longer records", 8, 8, size / 3, size / 3, 1, 8},
		{"some are left", 8, 8, 1000, 1100, 1, 8},
		{"nothing", 8, 8, 0, 0, 0, 16},
		{"no time", 8, 0, 0, 0, 0, 8},
		{"less than no time", 8, -1000, 0, 0, 0, 8},
		{"half a ring", 8, 8, size/2 + 8, size/2 + 8, 100, 4},
		{"as often as can be", 1, 1, size, size, 100, 1},
		{"as rarely as may be", 100, 100, 0, 0, 0, 100},
	} {
		if got := runtime.PerfBellRang(tt.interval*1e6, tt.took*1e6, size, tt.tail, tt.head, tt.n); got != tt.want*1e6 {
			t.Errorf("%s: %d ns, want %d ms", tt.what, got, tt.want)
		}
	}
}
