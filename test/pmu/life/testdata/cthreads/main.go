// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

// Cthreads is a program with threads that C created, which come, wait, call Go
// and go while it is profiled.
package main

// #include "threads.h"
import "C"

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"pmu/test/life/testdata/session"
)

var called atomic.Int32

//export callGo
func callGo() { called.Add(1) }

var meeting sync.WaitGroup

//export callMeet
func callMeet() {
	meeting.Done()
	meeting.Wait()
}

// makeSpares has n threads of C in Go at a time, so that there are so many Ms for such
// threads when they have ended.
func makeSpares(n int) {
	meeting.Add(n)
	C.meet(C.int(n))
}

func cpuTime() time.Duration {
	var r syscall.Rusage
	session.Check(syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

var kinds = map[string]int{
	"call":   C.CALL,
	"wait":   C.WAIT,
	"spin":   C.SPIN,
	"vanish": C.VANISH,
	"chain":  C.CHAIN,
	"signal": C.SIGNAL,
}

// what returns the flags that are named in arg: call,spin.
func what(arg string) (flags C.int) {
	for _, s := range strings.Split(arg, ",") {
		flags |= C.int(kinds[s])
	}
	return flags
}

// modes are what the program does, by its first argument.
var modes = map[string]func(){
	"run":    run,
	"found":  found,
	"second": second,
	"failed": failed,
	"storm":  storm,
	"reuse":  reuse,
	"idle":   idle,
	"late":   late,
}

func main() {
	C.initThreads()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGWINCH)
	file, args = os.Args[2], os.Args[3:]
	session.Main(modes)
}

// file is where the profile goes, args are the mode's arguments.
var (
	file string
	args []string
)

// number returns an argument as a number. ns converts it from milliseconds.
func number(i int) C.int {
	n, err := strconv.Atoi(args[i])
	session.Check(err)
	return C.int(n)
}
func ns(i int) C.long { return C.long(number(i)) * 1e6 }

// run has N threads, so many at a time, do what is named and compute for some ms,
// beside others that wait, with a limit of descriptors if it is not 0.
func run() {
	if n := number(5); n != 0 {
		session.Check(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: uint64(n), Max: uint64(n)}))
	}
	if n := number(4); n > 0 {
		C.startWaiters(n, 0, 0)
	}
	C.threads(1, 1, C.CALL, 0) // from then on, the runtime knows when threads end
	if os.Getenv("CTHREADS") == "norings" {
		C.forbidRings()
	}
	session.Start("task-clock:uk", 1e6)
	C.threads(number(0), number(1), what(args[2]), ns(3))
	settle("end")
	session.Stop(file)
	printTimes()
}

// found has N threads wait, be found, and then call Go.
func found() {
	session.Start("task-clock:uk", 1e6)
	C.startWaiters(number(0), C.LATE, 0)
	awaitFound()
	settle("found")
	C.callWaiters()
	settle("called")
	C.endWaiters()
	settle("end")
	session.Stop(file)
}

// second has N threads wait, be found by one session, and compute during another.
func second() {
	first, err := pprof.StartSession(pprof.PerfEvent(io.Discard, "page-faults:uk", 1000))
	session.Check(err)
	C.startWaiters(number(0), C.SPIN, ns(1))
	awaitFound()
	session.Start("task-clock:uk", 1e6)
	fmt.Printf("both: %v\n", resources())
	C.endWaiters()
	session.Stop(file)
	settle("end")
	first.Stop()
	printTimes()
}

// failed has N threads compute during a session, after one that had too few
// descriptors for them has found them.
func failed() {
	var most syscall.Rlimit
	session.Check(syscall.Getrlimit(syscall.RLIMIT_NOFILE, &most))
	session.Check(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 64, Max: most.Max}))
	var firstBuf bytes.Buffer
	first, err := pprof.StartSession(pprof.PerfEvent(&firstBuf, "page-faults:uk", 1000))
	session.Check(err)
	C.startWaiters(number(0), C.SPIN, ns(1))
	for before := -1; ; time.Sleep(100 * time.Millisecond) { // until all have been tried
		u := resources()
		if u.fds == before && u.fds > 10 {
			break
		}
		before = u.fds
	}
	session.Check(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &most))
	session.Start("task-clock:uk", 1e6)
	C.endWaiters()
	session.Stop(file)
	first.Stop()
	session.Check(os.WriteFile(file+".first", firstBuf.Bytes(), 0o666))
	printTimes()
}

// storm has threads of C call Go, with signals for Go, while sessions start and stop for
// some ms.
func storm() {
	// A thread that crosses to Go can wait for a P, or be given one, before it counts as
	// being in Go: cgocallbackg sets isExtraInC after exitsyscall. A signal then needs
	// another M for its handler. Where there is none the handler waits for one to be
	// made, and if all who could do that wait for the thread's P, they wait for ever.
	// Go 1.27.4 itself does, in 2 of 4 runs of 20 s of such threads beside runtime.GC.
	makeSpares(8)
	C.startStorm()
	session.Start("task-clock:uk", 50e3)
	sessions := 0
	for end := time.Now().Add(time.Duration(number(0)) * time.Millisecond); time.Now().Before(end); sessions++ {
		s, err := pprof.StartSession(pprof.PerfEvent(io.Discard, "page-faults:uk", 10))
		session.Check(err)
		s.Stop()
	}
	fmt.Printf("%d calls, %d sessions\n", C.endStorm(), sessions)
	session.Stop(file)
}

// reuse has a thread end and another one get its ID.
func reuse() {
	session.Start("task-clock:uk", 1e6)
	C.startOne(what(args[0]), 0, 0)
	awaitFound()
	tid := C.endOne()
	if len(args) == 3 { // otherwise the session does not get to know
		settle("dead")
	}
	n := C.startOne(what(args[1])|C.WAIT, tid, ns(2))
	if n < 0 {
		session.Stop(file)
		session.Check(syscall.Exec("/proc/self/exe", os.Args, os.Environ())) // once more
	}
	awaitFound()
	C.endOne()
	settle("end")
	session.Stop(file)
	fmt.Printf("reused: %d\n", n)
	printTimes()
}

// clocked and spent return what all computing in C has taken, by the event's clock and of
// CPU time, in ns. They call no C.
func clocked() int64 { return atomic.LoadInt64((*int64)(unsafe.Pointer(&C.clocked))) }
func spent() int64   { return atomic.LoadInt64((*int64)(unsafe.Pointer(&C.cpuTime))) }

// printTimes prints them.
func printTimes() { fmt.Printf("clocked: %d\nspent: %d\n", clocked(), spent()) }

// late has a thread begin while no goroutine can look for it, and prints what it has run
// until then. It needs GODEBUG=asyncpreemptoff=1.
func late() {
	runtime.GOMAXPROCS(1)
	session.Start("task-clock:uk", 1e6)
	C.startLate(ns(0))
	awaitFound()
	half := int64(ns(0)) / 2
	C.lateBegin = 1
	for clocked() < half { // without a call, this goroutine keeps the P
	}
	before := spent()
	C.endLate()
	session.Stop(file)
	fmt.Printf("before: %d\n", before)
	printTimes()
}

// idle prints the CPU time that a session takes, without and with N idle threads.
func idle() {
	n := number(0)
	for range number(1) {
		for _, n := range []C.int{0, n} {
			C.startWaiters(n, what(args[2]), 0)
			session.Start("task-clock", 0)
			time.Sleep(300 * time.Millisecond) // to find them all
			before, begin := cpuTime(), time.Now()
			time.Sleep(time.Second)
			spent := cpuTime() - before
			fmt.Printf("idle %d: %d ns/s\n", n, int64(float64(spent)/time.Since(begin).Seconds()))
			session.Stop(file)
			C.endWaiters()
		}
	}
}
