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
	"runtime/pprof"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

var called atomic.Int32

//export callGo
func callGo() { called.Add(1) }

func cpuTime() time.Duration {
	var r syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &r))
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

// A test is one run of the program: the profile that it writes, and its arguments.
type test struct {
	file string
	args []string
	buf  bytes.Buffer
}

// modes are what the program does, by its first argument.
var modes = map[string]func(t *test){
	"run":    run,
	"found":  found,
	"second": second,
	"failed": failed,
	"storm":  storm,
	"reuse":  reuse,
	"idle":   idle,
}

func main() {
	C.initThreads()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGWINCH)
	t := &test{file: os.Args[2], args: os.Args[3:]}
	modes[os.Args[1]](t)
	check(os.WriteFile(t.file, t.buf.Bytes(), 0o666))
}

// start starts the profile.
func (t *test) start(event string, period uint64) {
	t.buf.Reset()
	check(pprof.StartCPUProfileWithConfig(pprof.PerfEvent(&t.buf, event, period)))
}

// number returns an argument, ns one that is milliseconds.
func (t *test) number(i int) C.int {
	n, err := strconv.Atoi(t.args[i])
	check(err)
	return C.int(n)
}
func (t *test) ns(i int) C.long { return C.long(t.number(i)) * 1e6 }

// run has N threads, so many at a time, do what is named and compute for some ms,
// beside others that wait, with a limit of descriptors if it is not 0.
func run(t *test) {
	if n := t.number(5); n != 0 {
		check(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: uint64(n), Max: uint64(n)}))
	}
	if n := t.number(4); n > 0 {
		C.startWaiters(n, 0, 0)
	}
	C.threads(1, 1, C.CALL, 0) // from then on, the runtime knows when threads end
	if os.Getenv("CTHREADS") == "norings" {
		C.forbidRings()
	}
	t.start("task-clock:uk", 1e6)
	C.threads(t.number(0), t.number(1), what(t.args[2]), t.ns(3))
	settle("end")
	pprof.StopCPUProfile()
	fmt.Printf("clocked: %d\n", C.getClocked())
}

// found has N threads wait, be found, and then call Go.
func found(t *test) {
	t.start("task-clock:uk", 1e6)
	C.startWaiters(t.number(0), C.LATE, 0)
	awaitFound()
	settle("found")
	C.endWaiters()
	settle("end")
	pprof.StopCPUProfile()
}

// second has N threads wait, be found by one session, and compute during another.
func second(t *test) {
	first, err := pprof.StartSession(pprof.PerfEvent(io.Discard, "page-faults:uk", 1000))
	check(err)
	C.startWaiters(t.number(0), C.SPIN, t.ns(1))
	awaitFound()
	t.start("task-clock:uk", 1e6)
	fmt.Printf("both: %v\n", resources())
	C.endWaiters()
	pprof.StopCPUProfile()
	settle("end")
	first.Stop()
	fmt.Printf("clocked: %d\n", C.getClocked())
}

// failed has N threads compute during a session, after one that had too few
// descriptors for them has found them.
func failed(t *test) {
	var most syscall.Rlimit
	check(syscall.Getrlimit(syscall.RLIMIT_NOFILE, &most))
	check(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 64, Max: most.Max}))
	var firstBuf bytes.Buffer
	first, err := pprof.StartSession(pprof.PerfEvent(&firstBuf, "page-faults:uk", 1000))
	check(err)
	C.startWaiters(t.number(0), C.SPIN, t.ns(1))
	for before := -1; ; time.Sleep(100 * time.Millisecond) { // until all have been tried
		u := resources()
		if u.fds == before && u.fds > 10 {
			break
		}
		before = u.fds
	}
	check(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &most))
	t.start("task-clock:uk", 1e6)
	C.endWaiters()
	pprof.StopCPUProfile()
	first.Stop()
	check(os.WriteFile(t.file+".first", firstBuf.Bytes(), 0o666))
	fmt.Printf("clocked: %d\n", C.getClocked())
}

// storm has threads of C call Go, with signals for Go, while sessions start and stop for
// some ms.
func storm(t *test) {
	C.startStorm()
	t.start("task-clock:uk", 50e3)
	sessions := 0
	for end := time.Now().Add(time.Duration(t.number(0)) * time.Millisecond); time.Now().Before(end); sessions++ {
		s, err := pprof.StartSession(pprof.PerfEvent(io.Discard, "page-faults:uk", 10))
		check(err)
		s.Stop()
	}
	fmt.Printf("%d calls, %d sessions\n", C.endStorm(), sessions)
	pprof.StopCPUProfile()
}

// reuse has a thread end and another one get its ID.
func reuse(t *test) {
	t.start("task-clock:uk", 1e6)
	C.startOne(what(t.args[0]), 0, 0)
	awaitFound()
	tid := C.endOne()
	if len(t.args) == 3 { // otherwise the session does not get to know
		settle("dead")
	}
	n := C.startOne(what(t.args[1])|C.WAIT, tid, t.ns(2))
	if n < 0 {
		pprof.StopCPUProfile()
		check(syscall.Exec("/proc/self/exe", os.Args, os.Environ())) // once more
	}
	awaitFound()
	C.endOne()
	settle("end")
	pprof.StopCPUProfile()
	fmt.Printf("reused: %d\nclocked: %d\n", n, C.getClocked())
}

// idle prints the CPU time that a session takes, without and with N idle threads.
func idle(t *test) {
	n := t.number(0)
	for range t.number(1) {
		for _, n := range []C.int{0, n} {
			C.startWaiters(n, what(t.args[2]), 0)
			t.start("task-clock", 0)
			time.Sleep(300 * time.Millisecond) // to find them all
			before, begin := cpuTime(), time.Now()
			time.Sleep(time.Second)
			spent := cpuTime() - before
			fmt.Printf("idle %d: %d ns/s\n", n, int64(float64(spent)/time.Since(begin).Seconds()))
			pprof.StopCPUProfile()
			C.endWaiters()
		}
	}
}
