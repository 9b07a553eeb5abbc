// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests of sets of counters that come and go, and of what limits them.

package pprof

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// openPerfFiles returns the number of descriptors of perf events, and fails the test if
// one would survive exec.
func openPerfFiles(t *testing.T) int {
	fds := perfFDs(t)
	for _, fd := range fds {
		if flags, _, _ := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0); flags&syscall.FD_CLOEXEC == 0 {
			t.Errorf("descriptor %d is not close-on-exec", fd)
		}
	}
	return len(fds)
}

// TestCountersChurn opens and closes sets while threads come and go.
func TestCountersChurn(t *testing.T) {
	idle := openPerfFiles(t)
	stop := make(chan bool)
	var wg sync.WaitGroup
	end := sync.OnceFunc(func() {
		close(stop)
		wg.Wait()
	})
	defer end()
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				done := make(chan bool)
				go func() {
					runtime.LockOSThread() // ends the thread
					close(done)
				}()
				<-done
			}
		})
	}
	rounds := 50
	if testing.Short() {
		rounds = 5
	}
	for range rounds {
		a := mustOpenCounters(t, "task-clock", "page-faults")
		b := mustOpenCounters(t, "cpu-clock")
		if n := openPerfFiles(t) - idle; n < 3 {
			t.Errorf("%d descriptors open", n)
		}
		va, vb := a.read(t), b.read(t)
		a0, b0 := va[0].Value, vb[0].Value
		// The kernel's clock can stand still: where the processor's is not reliable, it goes
		// no further than a tick from the last one, which may be late (sched_clock_local in
		// kernel/sched/clock.c). But it goes on.
		moved := false
		for i := 0; i < 10 || !moved; i++ {
			wa, wb := a.read(t), b.read(t)
			if wa[0].Value < va[0].Value || wa[1].Value < va[1].Value || wb[0].Value < vb[0].Value {
				t.Fatalf("counts went back: %v to %v, %v to %v", va, wa, vb, wb)
			}
			if moved = wa[0].Value > a0 && wb[0].Value > b0; !moved && i > 1e6 {
				t.Fatalf("counts stand still: %v, %v", wa, wb)
			}
			va, vb = wa, wb
		}
		a.Close()
		b.Close()
	}
	end()
	if n := openPerfFiles(t); n != idle {
		t.Errorf("%d descriptors left open", n-idle)
	}
}

var _ = emulated(TestCountersChurn)

func TestCountersTooManySets(t *testing.T) {
	var sets []*Counters
	defer func() {
		for _, c := range sets {
			c.Close()
		}
	}()
	for len(sets) < 100 {
		c, err := OpenCounters("task-clock")
		if err != nil {
			if len(sets) < 8 || !strings.Contains(err.Error(), "open already") {
				t.Errorf("after %d sets: %v", len(sets), err)
			}
			return
		}
		sets = append(sets, c)
	}
	t.Error("no limit")
}

var _ = emulated(TestCountersTooManySets)

// A thread that can't be armed is an error of Read, with its cause. With
// existing threads it is one of OpenCounters.
func TestCountersNoDescriptors(t *testing.T) {
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	restore := func() { syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old) }
	defer restore()
	c := mustOpenCounters(t, "task-clock")
	lim := old
	lim.Cur = 3
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		t.Fatal(err)
	}
	// More locked goroutines than threads there are.
	n := 2 * threadCount()
	var in, out sync.WaitGroup
	release := make(chan bool)
	for range max(n, 20) {
		in.Add(1)
		out.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			in.Done()
			<-release
		})
	}
	in.Wait()
	_, openErr := OpenCounters("page-faults")
	restore()
	close(release)
	out.Wait()
	if !errors.Is(openErr, syscall.EMFILE) || !strings.Contains(openErr.Error(), "ulimit -n") {
		t.Errorf("OpenCounters without descriptors: error %v", openErr)
	}
	err := c.Read(make([]CounterValue, 1))
	if err == nil || !strings.Contains(err.Error(), "threads are not in the counts") || !strings.Contains(err.Error(), "ulimit -n") {
		t.Errorf("Read with threads missing: error %v", err)
	}
}

var _ = emulated(TestCountersNoDescriptors)
