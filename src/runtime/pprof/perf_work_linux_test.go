// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Work for the tests to profile: functions with breakpoints, and what causes other
// events.

package pprof

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// perfCalls returns the name of the event of calls of a function of this package.
func perfCalls(fn string) string { return "mem:runtime/pprof." + fn + ":x" }

// perfWrites returns the name of the event of writes to the variable at p. Test
// binaries have no symbol table, so it can't be named.
func perfWrites[T any](p *T) string {
	return fmt.Sprintf("mem:%p/%d:w", p, unsafe.Sizeof(*p))
}

// Functions with breakpoints. Their callers are told apart by their frames.

//go:noinline
func perfTargetA(n *int) { *n++ }

//go:noinline
func perfTargetB(n *int) { *n += 2 }

//go:noinline
func perfTargetC(n *int) { *n += 3 }

//go:noinline
func perfTargetD(n *int) { *n += 4 }

//go:noinline
func perfCaller1(n int) (x int) {
	for range n {
		perfTargetA(&x)
	}
	return x
}

//go:noinline
func perfCaller2(n int) (x int) {
	for range n {
		perfTargetA(&x)
	}
	return x
}

//go:noinline
func perfCaller3(n int) (x int) {
	for range n {
		perfTargetA(&x)
		runtime.Gosched()
	}
	return x
}

// perfCallersOfA runs three callers of perfTargetA in procs goroutines each, and
// returns how many calls each makes.
func perfCallersOfA(procs, scale int) (calls map[string]int64, run func()) {
	callers := []struct {
		name string
		f    func(int) int
		n    int
	}{
		{"perfCaller1", perfCaller1, 7 * scale},
		{"perfCaller2", perfCaller2, 11 * scale},
		{"perfCaller3", perfCaller3, 2 * scale},
	}
	calls = make(map[string]int64)
	for _, c := range callers {
		calls[c.name] = int64(c.n * procs)
	}
	return calls, func() {
		var wg sync.WaitGroup
		for _, c := range callers {
			for range procs {
				wg.Go(func() { c.f(c.n) })
			}
		}
		wg.Wait()
	}
}

// perfRepeat calls f n times.
func perfRepeat(n int, f func()) {
	for range n {
		f()
	}
}

// perfCallTarget calls counterTarget n times. Neither has a stack check in the
// loop, where the scheduler could take the P away.
func perfCallTarget(n int) (x int) {
	for range n {
		counterTarget(&x)
	}
	return x
}

// perfWithoutPreemption runs the test again in a process where goroutines are not
// preempted by signals, and reports whether this is it. A preemption on a
// breakpoint hits it once more, which is told from a call only where the hit has
// not been lost; and a goroutine that can't be preempted keeps its P.
func perfWithoutPreemption(t *testing.T) bool {
	t.Helper()
	if perfInChild() != "" {
		return true
	}
	perfChild(t, "asyncpreemptoff", func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "GODEBUG=asyncpreemptoff=1")
	})
	return false
}

// perfSpin computes for d on a thread of its own.
func perfSpin(d time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	x := 2 // of its own: salt1 would be shared by the threads that spin
	cpuHogger(cpuHog1, &x, d)
}

//go:noinline
func perfCompute(n int) (x int) {
	for i := range n {
		x += i * i
	}
	return x
}

func perfMedian(s []float64) float64 {
	return slices.Sorted(slices.Values(s))[len(s)/2]
}

// perfFault causes a number of page faults, in the calling thread.
func perfFault(t *testing.T, faults int) {
	t.Helper()
	size := os.Getpagesize()
	for ; faults > 0; faults -= 512 {
		b, err := syscall.Mmap(-1, 0, min(faults, 512)*size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			t.Fatal(err)
		}
		syscall.Madvise(b, syscall.MADV_NOHUGEPAGE) // fails where there are no huge pages
		for i := 0; i < len(b); i += size {
			b[i] = 1
		}
		syscall.Munmap(b)
	}
}

// perfBlockSIGPROF blocks SIGPROF on the current thread, to which it locks the
// goroutine, and returns a function that undoes both.
func perfBlockSIGPROF(t *testing.T) (unblock func()) {
	t.Helper()
	setmask := func(how uintptr) {
		set := uint64(1) << (syscall.SIGPROF - 1) // on the architectures that the tests run on
		if _, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, how, uintptr(unsafe.Pointer(&set)), 0, 8, 0, 0); errno != 0 {
			t.Fatalf("rt_sigprocmask: %v", errno)
		}
	}
	const block, unblockHow = 0, 1
	runtime.LockOSThread()
	setmask(block)
	return func() {
		setmask(unblockHow)
		runtime.UnlockOSThread()
	}
}

// perfParked starts n threads that sleep until release is called, which waits until they
// have ended.
func perfParked(n int) (release func()) {
	quit := make(chan bool)
	var wg, ready sync.WaitGroup
	ready.Add(n)
	for range n {
		wg.Go(func() {
			runtime.LockOSThread() // for ever, so the thread exits
			ready.Done()
			<-quit
		})
	}
	ready.Wait()
	return func() {
		close(quit)
		wg.Wait()
	}
}

// perfChurn starts threads that compute a little and exit, until quit is closed.
func perfChurn(quit chan bool) {
	for {
		select {
		case <-quit:
			return
		default:
		}
		done := make(chan bool)
		go func() {
			runtime.LockOSThread() // for ever, so the thread exits
			x := 1
			x = cpuHog0(x, 2e4)
			done <- x == 0
		}()
		<-done
	}
}

// perfDeep calls f with n more frames on the stack.
func perfDeep(n int, f func()) {
	if n > 0 {
		perfDeep(n-1, f)
	} else {
		f()
	}
}
