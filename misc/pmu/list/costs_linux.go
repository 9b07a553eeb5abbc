// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build amd64 || arm64

package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"pmu/bench/bare"
)

// costs measures which events the machine counts, and the cost of what a profile
// consists of. Each cost is the minimum of many short rounds: even on a busy machine
// one of them is undisturbed.
func costs() []fact {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var facts []fact
	for _, e := range []struct {
		name  string
		event bare.Event
		n     uint64 // spinning and writing cause at least this many
	}{
		{"cycles", bare.Cycles, 1000},
		{"instructions", bare.Instructions, 1000},
		{"breakpoints", bare.Writes(&target), 10},
	} {
		facts = append(facts, fact{e.name, counts(e.event, e.n)})
	}
	cost := func(name string, ns float64, err error) {
		value := fmt.Sprintf("%.3f µs", ns/1000)
		if err != nil {
			value = "not measured: " + err.Error()
		}
		facts = append(facts, fact{name, value})
	}
	cost("nanotime", perCall(1000, func() { time.Since(start) }), nil)
	cost("system call", perCall(1000, func() { syscall.RawSyscall(syscall.SYS_GETPPID, 0, 0, 0) }), nil)
	cost("thread's CPU clock", perCall(1000, func() {
		var ts syscall.Timespec
		syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockThreadCPUTime, uintptr(unsafe.Pointer(&ts)), 0)
	}), nil)
	ns, err := signalCost()
	cost("signal sent to itself", ns, err)
	ns, err = switchCost()
	cost("switch of threads on a CPU", ns, err)
	overflows := []struct {
		name string
		act  bare.Action
	}{
		{"overflow: interrupt", bare.Nothing},
		{"and ring record", bare.Record},
		{"and wake-up", bare.Ring},
		{"and signal", bare.Signal},
	}
	acts := make([]bare.Action, len(overflows))
	for i, o := range overflows {
		acts[i] = o.act
	}
	sums, err := overflowCosts(bare.TaskClock, acts)
	for i, o := range overflows {
		cost(o.name, sums[i], err)
	}
	return facts
}

const clockThreadCPUTime = 3 // CLOCK_THREAD_CPUTIME_ID

var (
	start  = time.Now()
	target uint64 // is written
)

// perCall returns how many nanoseconds a call takes.
func perCall(n int, call func()) float64 {
	least := time.Duration(1 << 62)
	for i := 0; i < 20; i++ {
		t := time.Now()
		for j := 0; j < n; j++ {
			call()
		}
		least = min(least, time.Since(t))
	}
	return float64(least) / float64(n)
}

// counts reports whether an event that the thread causes at least n times is counted.
func counts(e bare.Event, n uint64) string {
	c, err := bare.Count(e, bare.User)
	if err != nil {
		return "not counted: " + err.Error()
	}
	defer c.Close()
	bare.Spin(2 * n)
	for i := uint64(0); i < n; i++ {
		write()
	}
	if got := c.Read(); got < n {
		return fmt.Sprintf("counted, but %d, not %d or more", got, n)
	}
	return "counted"
}

//go:noinline
func write() { target++ }

// signalCost returns what a signal takes, with the system call that sends it.
func signalCost() (float64, error) {
	s, err := bare.NewSampler(bare.TaskClock, bare.User, 1e9, bare.Signal) // for its handler; it is not started
	if err != nil {
		return 0, err
	}
	defer s.Close()
	return perCall(50, bare.Interrupt), nil
}

// overflowCosts returns how long an overflow of an event that counts time takes with
// each of the actions.
func overflowCosts(e bare.Event, acts []bare.Action) ([]float64, error) {
	const (
		period = 50_000    // ns, well above the least that the kernel takes, 10,000
		work   = 4_000_000 // instructions, for a millisecond or so
		rounds = 40
	)
	costs := make([]float64, len(acts))
	samplers := make([]*bare.Sampler, len(acts))
	least := make([]time.Duration, 1+len(acts)) // the first without a sampler
	for i, act := range acts {
		s, err := bare.NewSampler(e, bare.User, period, act)
		if err != nil {
			return costs, err
		}
		defer s.Close()
		samplers[i] = s
	}
	spin := func(round, i int) {
		t := time.Now()
		bare.Spin(work)
		if d := time.Since(t); round == 0 || d < least[i] {
			least[i] = d
		}
	}
	for round := 0; round < rounds; round++ {
		spin(round, 0)
		for i, s := range samplers {
			s.Start()
			spin(round, 1+i)
			s.Stop()
		}
	}
	for i, d := range least[1:] {
		// The time that the interrupts take counts as well.
		costs[i] = float64(d-least[0]) / (float64(d) / period)
	}
	return costs, nil
}

// switchCost returns how long one thread takes to wake another on the same CPU and
// sleep: half of the time that a byte takes to the other thread and back.
func switchCost() (float64, error) {
	var there, back [2]int
	for _, p := range []*[2]int{&there, &back} {
		if err := syscall.Pipe2(p[:], syscall.O_CLOEXEC); err != nil {
			return 0, os.NewSyscallError("pipe2", err)
		}
		defer syscall.Close(p[0])
	}
	// Both threads sleep with a P. They are bound to a CPU, so they end with their
	// goroutines.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	pass := func(fd int, call uintptr) bool {
		var b [1]byte
		n, _, _ := syscall.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(&b)), 1)
		return n == 1
	}
	go func() {
		runtime.LockOSThread()
		defer syscall.Close(back[1])
		if bindToCPU() != nil {
			return
		}
		for pass(there[0], syscall.SYS_READ) && pass(back[1], syscall.SYS_WRITE) {
		}
	}()
	type result struct {
		d   float64
		err error
	}
	c := make(chan result)
	go func() {
		runtime.LockOSThread()
		defer syscall.Close(there[1])
		if err := bindToCPU(); err != nil {
			c <- result{0, err}
			return
		}
		var err error
		d := perCall(200, func() {
			if err == nil && !(pass(there[1], syscall.SYS_WRITE) && pass(back[0], syscall.SYS_READ)) {
				err = fmt.Errorf("the other thread has ended")
			}
		})
		c <- result{d / 2, err}
	}()
	r := <-c
	return r.d, r.err
}

// bindToCPU binds the calling thread to the first CPU that it may use.
func bindToCPU() error {
	var set [128]uint64
	n, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(set), uintptr(unsafe.Pointer(&set)))
	if errno != 0 {
		return os.NewSyscallError("sched_getaffinity", errno)
	}
	for i := range set {
		if b := set[i] & -set[i]; b != 0 {
			set = [len(set)]uint64{}
			set[i] = b
			break
		}
	}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, n, uintptr(unsafe.Pointer(&set))); errno != 0 {
		return os.NewSyscallError("sched_setaffinity", errno)
	}
	return nil
}
