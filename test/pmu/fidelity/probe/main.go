// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Probe is a program whose correct profile is known. It runs the case named by the
// variable PMU_FIDELITY_CASE and prints what it did, one "name value" per line.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"pmu/demo/demo"
)

// A probe is one case. What setup does is not in the profile if the program
// profiles itself. scale is the amount of work.
type probe struct {
	setup func()
	run   func(scale float64)
}

var probes = map[string]probe{
	"calls":     {run: calls},
	"alternate": {run: alternate},
	"labels":    {run: labels},
	"short":     {run: short},
	"blocked":   {setup: block, run: blocked},
	"time":      {run: cpuTime},
	"brief":     {run: brief},
	"mutex":     {setup: mutexAlone, run: mutex},
}

func main() {
	p, ok := probes[os.Getenv("PMU_FIDELITY_CASE")]
	if !ok {
		fmt.Fprintln(os.Stderr, "PMU_FIDELITY_CASE is none of the cases")
		os.Exit(2)
	}
	if p.setup != nil {
		p.setup()
	}
	demo.Main("cycles", p.run)
}

// spin computes. It has no calls, and takes the same time for the same n.
func spin(n int) int {
	x := 2
	for i := 0; i < n; i++ {
		if x > 0 {
			x *= x
		} else {
			x *= x + 1
		}
	}
	return x
}

var sink int

// calls calls target from two callers.

//go:noinline
//go:nosplit
func Target(n *int) { *n++ }

//go:noinline
func CallerA(n int) {
	for i := 0; i < n; i++ {
		Target(&sink)
	}
}

//go:noinline
func CallerB(n int) {
	for i := 0; i < n; i++ {
		Target(&sink)
	}
}

func calls(scale float64) {
	a, b := int(7000*scale), int(11000*scale)
	CallerA(a)
	CallerB(b)
	fmt.Println("main.CallerA", a)
	fmt.Println("main.CallerB", b)
}

// alternate writes a variable from two functions in turns.

var Shared int64

//go:noinline
func WriterA(x int64) { Shared = x }

//go:noinline
func WriterB(x int64) { Shared = x }

func alternate(scale float64) {
	n := int64(200e3 * scale)
	for i := int64(0); i < n; i++ {
		WriterA(i)
		WriterB(i)
	}
	fmt.Println("main.WriterA", n)
	fmt.Println("main.WriterB", n)
}

// labels writes a variable i times under label i, for i from 1 to 60, in
// goroutines that go from thread to thread.
func labels(float64) {
	const n = 60
	var wg sync.WaitGroup
	for i := 1; i <= n; i++ {
		i := i
		wg.Add(1)
		go pprof.Do(context.Background(), pprof.Labels("i", strconv.Itoa(i)), func(context.Context) {
			defer wg.Done()
			for j := 0; j < i; j++ {
				WriterA(1)
				runtime.Gosched()
			}
		})
	}
	wg.Wait()
	fmt.Println("labels", n)
}

// short does the same work in thousands of threads and in one, and prints the
// CPU time that it took. It takes more in new threads: their caches are cold.

//go:noinline
func ShortThreads(n int) int { return spin(n) }

//go:noinline
func OneThread(n int) int { return spin(n) }

func short(scale float64) {
	const work = 60e3
	n := int(3000*scale) / 40
	var shortTime, oneTime atomic.Int64
	timed := func(sum *atomic.Int64, f func(int) int) {
		before := threadTime()
		f(work)
		sum.Add(threadTime() - before)
	}
	for turn := 0; turn < 10; turn++ {
		for i := 0; i < n; i++ {
			var wg sync.WaitGroup
			for j := 0; j < 4; j++ {
				wg.Add(1)
				go func() {
					defer wg.Done()
					runtime.LockOSThread() // for ever, so the thread exits
					timed(&shortTime, ShortThreads)
				}()
			}
			wg.Wait()
		}
		runtime.LockOSThread()
		for i := 0; i < 4*n; i++ {
			timed(&oneTime, OneThread)
		}
		runtime.UnlockOSThread()
	}
	fmt.Println("main.ShortThreads", shortTime.Load())
	fmt.Println("main.OneThread", oneTime.Load())
}

// The functions that share a work have the same instructions, one by one, so
// that n times the iterations are n times the work.

// block puts four threads into a system call. blocked lets them go on.

var (
	blockedPipe  [2]int
	blockedScale float64
	blockedDone  sync.WaitGroup
)

//go:noinline
func Blocked1(n int) int { return spin(n) }

//go:noinline
func Blocked2(n int) int { return spin(n) }

//go:noinline
func Blocked3(n int) int { return spin(n) }

//go:noinline
func Blocked4(n int) int { return spin(n) }

func block() {
	if err := syscall.Pipe2(blockedPipe[:], 0); err != nil {
		panic(err)
	}
	for i, f := range []func(int) int{Blocked1, Blocked2, Blocked3, Blocked4} {
		i, f := i, f
		blockedDone.Add(1)
		go func() {
			defer blockedDone.Done()
			runtime.LockOSThread()
			var b [1]byte
			for {
				if n, err := syscall.Read(blockedPipe[0], b[:]); n == 1 {
					break
				} else if err != syscall.EINTR {
					panic(err)
				}
			}
			f((i + 1) * int(50e6*blockedScale))
		}()
	}
	inRead := func() (n int) {
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			panic(err)
		}
		for _, task := range tasks {
			b, err := os.ReadFile("/proc/self/task/" + task.Name() + "/syscall")
			// The number of the call, and its first argument.
			if s := string(b); err == nil && s != "running\n" {
				var call, fd int
				fmt.Sscanf(s, "%d 0x%x", &call, &fd)
				if call == syscall.SYS_READ && fd == blockedPipe[0] {
					n++
				}
			}
		}
		return n
	}
	for deadline := time.Now().Add(10 * time.Second); inRead() < 4; runtime.Gosched() {
		if time.Now().After(deadline) {
			panic("the threads are not in read(2)")
		}
	}
}

func blocked(scale float64) {
	blockedScale = scale
	if _, err := syscall.Write(blockedPipe[1], make([]byte, 4)); err != nil {
		panic(err)
	}
	blockedDone.Wait()
	for i := 1; i <= 4; i++ {
		fmt.Printf("main.Blocked%d %d\n", i, i)
	}
}

// cpuTime computes in four goroutines, and prints the CPU time of the process.
func cpuTime(scale float64) {
	before := usage()
	var wg sync.WaitGroup
	for i := 0; i < 4; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			spin(int(100e6 * scale))
		}()
	}
	wg.Wait()
	fmt.Println("ns", usage()-before)
}

// usage returns the CPU time of the process, in ns.
func usage() int64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return r.Utime.Nano() + r.Stime.Nano()
}

// threadTime returns the CPU time of the thread, in ns. (getrusage's is up to a
// tick old.)
func threadTime() int64 {
	const CLOCK_THREAD_CPUTIME_ID = 3
	var ts syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, CLOCK_THREAD_CPUTIME_ID, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		panic(errno)
	}
	return ts.Nano()
}

// brief computes for some milliseconds, in four functions.

//go:noinline
func Brief1(n int) int { return spin(n) }

//go:noinline
func Brief2(n int) int { return spin(n) }

//go:noinline
func Brief3(n int) int { return spin(n) }

//go:noinline
func Brief4(n int) int { return spin(n) }

func brief(scale float64) {
	for i, f := range []func(int) int{Brief1, Brief2, Brief3, Brief4} {
		f((i + 1) * int(5e6*scale))
		fmt.Printf("main.Brief%d %d\n", i+1, i+1)
	}
}

// mutex locks mutexes, works and unlocks them, again and again. mutexAlone does as much
// of each alone, for the time that it takes.

var (
	mutexes   [32]sync.Mutex
	mutexTime [3]int64
)

//go:noinline
func MutexLock(mus []sync.Mutex) {
	for i := range mus {
		mus[i].Lock()
	}
}

//go:noinline
func MutexWork() { sink = spin(200) }

//go:noinline
func MutexUnlock(mus []sync.Mutex) {
	for i := range mus {
		mus[i].Unlock()
	}
}

func mutexAlone() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	many := make([]sync.Mutex, 64*len(mutexes)) // in the processor's first cache
	parts := [...]func(mus []sync.Mutex){MutexLock, func([]sync.Mutex) { MutexWork() }, MutexUnlock}
	for i := 0; i < 2000; i++ {
		for k, part := range parts {
			before := threadTime()
			for m := many; len(m) > 0; m = m[len(mutexes):] {
				part(m[:len(mutexes)])
			}
			mutexTime[k] += threadTime() - before
		}
	}
}

func mutex(scale float64) {
	random := uint32(1)
	for i := 0; i < int(500e3*scale); i++ {
		MutexLock(mutexes[:])
		MutexWork()
		MutexUnlock(mutexes[:])
		// Without a pause of another length each time, a period that is nearly a simple
		// multiple of a round would see the same few places of it for long.
		random = random*1664525 + 1013904223
		for n := random >> 24; n > 0; n-- {
		}
	}
	fmt.Println("main.MutexLock", mutexTime[0])
	fmt.Println("main.MutexWork", mutexTime[1])
	fmt.Println("main.MutexUnlock", mutexTime[2])
}
