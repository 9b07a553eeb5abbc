// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

// Prog ends in the way that it is told, while it is profiled.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"syscall"
	"time"

	"pmu/test/life/testdata/session"
)

//go:noinline
func compute(n int) (x int) {
	for i := range n {
		x += i * i
	}
	return x
}

// spin computes on n goroutines.
func spin(n int) {
	done := make(chan int)
	for range n {
		go func() { done <- compute(20e6) }()
	}
	for range n {
		<-done
	}
}

// modes are what the program does, by its first argument.
var modes = map[string]func(){
	"goexit":        goexit,
	"goexit-locked": goexit,
	"panic":         panics,
	"fault":         fault,
	"exit":          exit,
	"overflow":      overflow,
	"notify":        notify,
	"knobs":         knobs,
	"storm":         storm,
	"sleep":         sleep,
}

func main() { session.Main(modes) }

func goexit() {
	// The main goroutine's thread runs other goroutines now. If it is locked it
	// can't, nor can it exit: it parks.
	if os.Args[1] == "goexit-locked" {
		runtime.LockOSThread()
	}
	session.Start("task-clock:uk", 100e3)
	go func() {
		for range 10 {
			spin(4)
		}
		pprof.StopCPUProfile()
		fmt.Println("stopped")
		os.Exit(0)
	}()
	runtime.Goexit()
}

func panics() {
	session.Start("task-clock:uk", 100e3)
	go spin(4)
	spin(2)
	panic("at the disco")
}

func fault() {
	session.Start("page-faults:uk", 1)
	go spin(4)
	func() {
		defer func() { fmt.Println("recovered:", recover() != nil) }()
		var p *int
		*p = 1
	}()
	func() {
		debug.SetPanicOnFault(true)
		defer func() { fmt.Println("recovered:", recover() != nil) }()
		b, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		session.Check(err)
		b[0] = 1
	}()
	pprof.StopCPUProfile()
}

func exit() {
	session.Start("task-clock:uk", 100e3)
	go spin(4)
	spin(2)
	os.Exit(7)
}

func overflow() {
	session.Start("task-clock:uk", 100e3)
	debug.SetMaxStack(1 << 20)
	var f func(n int) int
	f = func(n int) int { return f(n+1) + 1 }
	f(0)
}

func notify() {
	// Package signal never delivers SIGPROF.
	c := make(chan os.Signal, 100)
	signal.Notify(c, syscall.SIGPROF)
	session.Start("task-clock:uk", 100e3)
	spin(4)
	signal.Ignore(syscall.SIGPROF)
	spin(4)
	signal.Reset(syscall.SIGPROF)
	spin(4)
	syscall.Kill(os.Getpid(), syscall.SIGPROF)
	pprof.StopCPUProfile()
	signal.Stop(c)
	session.Start("task-clock:uk", 100e3)
	signal.Notify(c, syscall.SIGPROF)
	signal.Ignore(syscall.SIGPROF)
	spin(4)
	session.Stop(os.Args[2])
}

// knobs changes what a program may change while it is profiled.
func knobs() {
	session.Start("task-clock:uk", 100e3)
	for i := range 40 {
		runtime.GOMAXPROCS(1 + i%8)
		debug.SetGCPercent(1 + 50*(i%2))
		for range 100 {
			_ = make([]byte, 10e3)
		}
		compute(5e6)
		if i%8 == 0 {
			spin(8)
		}
	}
	session.Stop(os.Args[2])
}

// storm starts processes from a program that is profiled at a high rate.
func storm() {
	session.Start("task-clock:uk", 50e3)
	done := make(chan error)
	const each = 50
	for range 4 {
		go func() {
			for range each {
				r, w, err := os.Pipe()
				session.Check(err)
				p, err := os.StartProcess("/bin/ls", []string{"ls", "-l", "/proc/self/fd"}, &os.ProcAttr{Files: []*os.File{nil, w, nil}})
				session.Check(err)
				w.Close()
				out, err := io.ReadAll(r)
				session.Check(err)
				r.Close()
				st, err := p.Wait()
				session.Check(err)
				if !st.Success() || bytes.Contains(out, []byte("perf_event")) || !bytes.Contains(out, []byte("pipe:")) {
					done <- fmt.Errorf("%v: %s", st, out)
					return
				}
			}
			done <- nil
		}()
	}
	for range 4 {
		session.Check(<-done)
	}
	session.Stop(os.Args[2])
	fmt.Println("processes:", 4*each)
}

// sleep makes blocking calls from Go code.
func sleep() {
	session.Start(os.Args[2], 1)
	n := 0
	for t := time.Now(); time.Since(t) < time.Second/2; n++ {
		ts := syscall.NsecToTimespec(50e3)
		compute(1e4)
		session.Check(syscall.Nanosleep(&ts, nil))
	}
	pprof.StopCPUProfile()
	fmt.Println("slept:", n > 100)
}
