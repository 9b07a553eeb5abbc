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
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func start(w io.Writer, event string, period uint64) {
	check(pprof.StartCPUProfileWithConfig(pprof.PerfEvent(w, event, period)))
}

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

func main() { modes[os.Args[1]]() }

func goexit() {
	// The main goroutine's thread runs other goroutines now. If it is locked it
	// can't, nor can it exit: it parks.
	if os.Args[1] == "goexit-locked" {
		runtime.LockOSThread()
	}
	start(io.Discard, "task-clock:uk", 100e3)
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
	start(io.Discard, "task-clock:uk", 100e3)
	go spin(4)
	spin(2)
	panic("at the disco")
}

func fault() {
	start(io.Discard, "page-faults:uk", 1)
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
		check(err)
		b[0] = 1
	}()
	pprof.StopCPUProfile()
}

func exit() {
	start(io.Discard, "task-clock:uk", 100e3)
	go spin(4)
	spin(2)
	os.Exit(7)
}

func overflow() {
	start(io.Discard, "task-clock:uk", 100e3)
	debug.SetMaxStack(1 << 20)
	var f func(n int) int
	f = func(n int) int { return f(n+1) + 1 }
	f(0)
}

func notify() {
	// Package signal never delivers SIGPROF.
	c := make(chan os.Signal, 100)
	signal.Notify(c, syscall.SIGPROF)
	start(io.Discard, "task-clock:uk", 100e3)
	spin(4)
	signal.Ignore(syscall.SIGPROF)
	spin(4)
	signal.Reset(syscall.SIGPROF)
	spin(4)
	syscall.Kill(os.Getpid(), syscall.SIGPROF)
	pprof.StopCPUProfile()
	signal.Stop(c)
	var buf bytes.Buffer
	start(&buf, "task-clock:uk", 100e3)
	signal.Notify(c, syscall.SIGPROF)
	signal.Ignore(syscall.SIGPROF)
	spin(4)
	pprof.StopCPUProfile()
	check(os.WriteFile(os.Args[2], buf.Bytes(), 0o666))
}

// knobs changes what a program may change while it is profiled.
func knobs() {
	var buf bytes.Buffer
	start(&buf, "task-clock:uk", 100e3)
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
	pprof.StopCPUProfile()
	check(os.WriteFile(os.Args[2], buf.Bytes(), 0o666))
}

// storm starts processes from a program that is profiled at a high rate.
func storm() {
	var buf bytes.Buffer
	start(&buf, "task-clock:uk", 50e3)
	done := make(chan error)
	const each = 50
	for range 4 {
		go func() {
			for range each {
				r, w, err := os.Pipe()
				check(err)
				p, err := os.StartProcess("/bin/ls", []string{"ls", "-l", "/proc/self/fd"}, &os.ProcAttr{Files: []*os.File{nil, w, nil}})
				check(err)
				w.Close()
				out, err := io.ReadAll(r)
				check(err)
				r.Close()
				st, err := p.Wait()
				check(err)
				if !st.Success() || bytes.Contains(out, []byte("perf_event")) || !bytes.Contains(out, []byte("pipe:")) {
					done <- fmt.Errorf("%v: %s", st, out)
					return
				}
			}
			done <- nil
		}()
	}
	for range 4 {
		check(<-done)
	}
	pprof.StopCPUProfile()
	fmt.Println("processes:", 4*each)
	check(os.WriteFile(os.Args[2], buf.Bytes(), 0o666))
}

// sleep makes blocking calls from Go code.
func sleep() {
	start(io.Discard, os.Args[2], 1)
	n := 0
	for t := time.Now(); time.Since(t) < time.Second/2; n++ {
		ts := syscall.NsecToTimespec(50e3)
		compute(1e4)
		check(syscall.Nanosleep(&ts, nil))
	}
	pprof.StopCPUProfile()
	fmt.Println("slept:", n > 100)
}
