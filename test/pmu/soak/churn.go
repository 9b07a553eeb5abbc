// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

// every calls f at most once in d until ctx is done.
func every(ctx context.Context, d time.Duration, f func()) {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f()
		}
	}
}

// churnThreads has threads come, compute and exit.
func (s *soak) churnThreads(ctx context.Context) {
	every(ctx, 20*time.Millisecond, func() {
		n := s.threads.Add(1) % works
		done := make(chan string)
		go func() {
			runtime.LockOSThread() // for ever, so the thread exits
			done <- work(uint64(n))
		}()
		if got := <-done; got != s.want[n] {
			s.errorf("thread: got %s, want %s", got, s.want[n])
		}
	})
}

// childEnv is set in the processes that startProcesses starts.
const childEnv = "PMU_SOAK_CHILD"

// child prints how many counters it has inherited.
func child() { fmt.Printf("%d counters", len(perfDescriptors())) }

// startProcesses starts programs, which must not inherit a counter.
func (s *soak) startProcesses(ctx context.Context) {
	every(ctx, 250*time.Millisecond, func() {
		s.procs.Add(1)
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), childEnv+"=1", "GOMAXPROCS=1")
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != "0 counters" {
			s.errorf("process: %q, %v", out, err)
		}
	})
}

// touchPages causes page faults, independently of the other load.
func (s *soak) touchPages(ctx context.Context) {
	const pages = 64
	every(ctx, 10*time.Millisecond, func() {
		b, err := syscall.Mmap(-1, 0, pages*4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			s.errorf("mmap: %v", err)
			return
		}
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		syscall.Munmap(b)
	})
}

// turnKnobs changes what a program may change while it is profiled.
func (s *soak) turnKnobs(ctx context.Context, r *rand.Rand) {
	cpus := runtime.NumCPU()
	every(ctx, time.Second, func() {
		runtime.GOMAXPROCS(1 + r.IntN(2*cpus))
		debug.SetGCPercent([]int{5, 20, 100, 200}[r.IntN(4)])
		func() {
			defer func() {
				if e := recover(); e == nil || !strings.Contains(fmt.Sprint(e), "nil pointer") {
					s.errorf("recovered %v", e)
				}
			}()
			var p *record
			s.logf("%s", p.Name)
		}()
	})
}
