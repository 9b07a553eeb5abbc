// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"encoding/binary"
	"fmt"
	"internal/testenv"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/hazard"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// A hazardWaiter is a thread that waits for a change of the page of this process.
type hazardWaiter struct {
	word *byte
	tid  atomic.Int64
	done chan syscall.Errno // what the wait has returned
}

func (w *hazardWaiter) futex(op, val uintptr, d time.Duration) (uintptr, syscall.Errno) {
	ts := syscall.NsecToTimespec(int64(d))
	n, _, errno := syscall.Syscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(w.word)), op, val, uintptr(unsafe.Pointer(&ts)), 0, 0)
	return n, errno
}

// sleep has the thread wait, and returns when it sleeps, somewhere.
func (w *hazardWaiter) sleep(t *testing.T, value uint32) {
	w.tid.Store(0)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		w.tid.Store(int64(syscall.Gettid()))
		_, errno := w.futex(0, uintptr(value), time.Minute)
		w.done <- errno
	}()
	for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/stat", w.tid.Load()))
		if err == nil && strings.Contains(string(stat), ") S ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the thread does not sleep")
		}
	}
}

// TestPerfHazardWakes tests that nobody is woken while the world is stopped, which takes the longer
// the more there are, and that all are woken when Ps have been given to threads.
func TestPerfHazardWakes(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) == 4 {
		t.Skip("futex has another number")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which stops the world itself
	dir, err := os.MkdirTemp("/dev/shm", "hazard-test-*")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(dir)
	p, err := hazard.Publish(dir + "/page")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	f, err := os.Open(dir + "/page")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	page, err := syscall.Mmap(int(f.Fd()), 0, 4096, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(page)
	w := &hazardWaiter{word: &page[64], done: make(chan syscall.Errno, 1)}
	value := func() uint32 { return binary.NativeEndian.Uint32(page[64:]) }

	// What the thread sleeps for may be the scheduler at first. Then it finds another value, and
	// the test is done again.
	for tries := 0; ; tries++ {
		before := value()
		w.sleep(t, before)
		runtime.PerfHazardStarts(false)
		if value() != before+1 {
			t.Fatalf("change %d, want %d", value(), before+1)
		}
		woken, _ := w.futex(1, 1<<31-1, 0)
		errno := <-w.done
		if errno == 0 && woken == 1 {
			break
		}
		if errno == 0 {
			t.Fatal("woken before the world is started")
		}
		if tries == 1000 {
			t.Fatalf("the thread finds %v", errno)
		}
	}
	for tries := 0; ; tries++ {
		w.sleep(t, value())
		runtime.PerfHazardStarts(true)
		// Whether it slept then: it does not, and nobody else wakes it.
		woken, _ := w.futex(1, 1<<31-1, 0)
		errno := <-w.done
		if errno == 0 && woken == 0 {
			break
		}
		if tries == 100 {
			t.Fatalf("not woken when the Ps run: %v", errno)
		}
	}
}

// TestCgoPerfHazard tests that a handler of C's for SIGBUS gets what is C's, and no store into a page
// whose file was cut.
func TestCgoPerfHazard(t *testing.T) {
	exe := perfCgoProg(t, "sanitizers have handlers of their own")
	if _, err := os.Stat("/dev/shm"); err != nil {
		t.Skip(err)
	}
	cmd := testenv.CleanCmdEnv(exec.Command(exe, "CgoPerfHazard"))
	cmd.Env = append(cmd.Env, "PERF_HAZARD_SIGBUS=1")
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "OK\n" {
		t.Errorf("%v\n%s", err, out)
	}
}
