// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const perfDozeForever = int64(1 << 60)

// TestPerfDozeEnd tests that perfDozeEnd ends a sleep that has begun or is about to, and
// that nothing else does: neither signals nor the time.
func TestPerfDozeEnd(t *testing.T) {
	const each = 500
	for _, wall := range []int64{1e6, 1e15} {
		for i := range 2 * each {
			var returned atomic.Bool
			done := make(chan bool)
			changes := runtime.PerfDozeChanges()
			go func() {
				_, _, ok := runtime.PerfDozeWait(changes, perfDozeForever, wall, nil)
				returned.Store(true)
				done <- ok
			}()
			if i < each {
				tid := runtime.PerfDozing()
				for ; tid == 0; tid = runtime.PerfDozing() {
					runtime.Gosched()
				}
				if i%10 == 0 {
					for range 10 {
						syscall.Tgkill(os.Getpid(), tid, syscall.SIGURG)
						time.Sleep(time.Millisecond)
					}
				}
				if returned.Load() {
					t.Fatal("a sleep has ended that nothing should end")
				}
			}
			runtime.PerfDozeEnd()
			if !<-done {
				t.Fatal("the system can't sleep")
			}
		}
	}
	if runtime.PerfDozing() != 0 {
		t.Error("nobody sleeps, but a thread is said to")
	}
}

// TestPerfDozeCPU tests that the process's CPU time ends a sleep, and that the sleeper's
// own does not count.
func TestPerfDozeCPU(t *testing.T) {
	for range 10 {
		var end atomic.Bool
		busy := make(chan bool)
		go func() {
			for !end.Load() {
			}
			busy <- true
		}()
		until := runtime.PerfDozeTime() + 20e6
		if _, _, ok := runtime.PerfDozeWait(runtime.PerfDozeChanges(), until, 1e15, nil); !ok {
			t.Error("the system can't sleep")
		}
		if now := runtime.PerfDozeTime(); now < until {
			t.Errorf("the sleep until %d ns of CPU time has ended at %d", until, now)
		}
		end.Store(true)
		<-busy
	}
}

// TestPerfDozeCannot tests that a process that may have no timers is told so.
func TestPerfDozeCannot(t *testing.T) {
	const RLIMIT_SIGPENDING = 11
	var old syscall.Rlimit
	if err := syscall.Getrlimit(RLIMIT_SIGPENDING, &old); err != nil {
		t.Skip(err)
	}
	none := old
	none.Cur = 0
	if err := syscall.Setrlimit(RLIMIT_SIGPENDING, &none); err != nil {
		t.Skip(err)
	}
	_, _, ok := runtime.PerfDozeWait(runtime.PerfDozeChanges(), perfDozeForever, 1e15, nil)
	if err := syscall.Setrlimit(RLIMIT_SIGPENDING, &old); err != nil {
		t.Fatal(err)
	}
	if ok {
		t.Error("a process without timers has slept")
	}
}
