// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests of what goroutines count, by events of which a call causes exactly one.

package pprof

import (
	"bytes"
	"fmt"
	"internal/testenv"
	"iter"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// An exactEvent is an event that happens exactly once in each call of cause.
type exactEvent struct {
	name  string
	cause func()
}

// exactEvents returns the exact events of this machine, of which there is one at least.
func exactEvents(t *testing.T) (events []exactEvent) {
	t.Helper()
	for _, e := range []exactEvent{
		{"mem:runtime/pprof.counterTarget:x", func() { var x int; counterTarget(&x) }},
		// Linux: a static tracepoint. Getppid gives up no P for the call.
		{"syscalls:sys_enter_getppid:k", func() { syscall.Getppid() }},
	} {
		if strings.HasPrefix(e.name, "syscalls:") && perfCompat() {
			// A 64-bit kernel has other numbers for these system calls than for its own, and its
			// tracepoints leave them out (arch_trace_is_compat_syscall).
			t.Log(e.name + ": a 64-bit kernel traces no system calls of 32-bit programs")
		} else if c, err := OpenCounters(e.name); err == nil {
			c.Close()
			events = append(events, e)
		} else {
			t.Log(err)
		}
	}
	if len(events) == 0 {
		perfSkip(t, "root", "neither breakpoints nor tracepoints can be counted here")
	}
	return events
}

// perfCompat reports whether this is a 32-bit program of x86 on a 64-bit kernel.
func perfCompat() bool {
	var u syscall.Utsname
	if runtime.GOARCH != "386" || syscall.Uname(&u) != nil {
		return false
	}
	machine := make([]byte, 0, len(u.Machine))
	for _, c := range u.Machine {
		machine = append(machine, byte(c))
	}
	return bytes.HasPrefix(machine, []byte("x86_64"))
}

// inExactChild runs the test in a child in which a breakpoint counts exactly; see
// TestCountersBreakpoint. It reports whether this is the child.
func inExactChild(t *testing.T) bool {
	t.Helper()
	if strings.Contains(os.Getenv("GODEBUG"), "asyncpreemptoff=1") {
		return true
	}
	name := t.Name()[strings.LastIndexByte(t.Name(), '/')+1:] // not as one of TestEmulated
	args := []string{"-test.run=^" + name + "$", "-test.v", fmt.Sprintf("-test.short=%t", testing.Short())}
	cmd := testenv.Command(t, testenv.Executable(t), args...)
	cmd.Env = append(cmd.Environ(), "GODEBUG=asyncpreemptoff=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: ")) {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
	return false
}

// counted returns what the calling goroutine has counted of c's first event.
func counted(t *testing.T, c *Counters) uint64 {
	t.Helper()
	var v [8]CounterValue
	if err := c.Goroutine(v[:]); err != nil {
		t.Error(err)
	}
	return v[0].Value
}

// TestCountersGoroutine tests that each goroutine counts exactly what it does, whatever
// else it does meanwhile, and that all goroutines, the scheduler, and threads without
// accounted goroutines together count what the process does.
func TestCountersGoroutine(t *testing.T) {
	events := exactEvents(t)
	if !inExactChild(t) {
		return
	}
	runs := 100
	if testing.Short() {
		runs = 4
	}
	for _, e := range events {
		t.Run(e.name, func(t *testing.T) { goroutinesCount(t, e, runs) })
	}
}

var _ = emulated(TestCountersGoroutine)

// goroutinesCount runs 60 goroutines, of which the i'th causes i events, and others that
// are not accounted, and checks everybody's count in two sets.
func goroutinesCount(t *testing.T, e exactEvent, runs int) {
	const goroutines = 60
	sets := [2]*Counters{mustOpenCounters(t, e.name, "page-faults"), mustOpenCounters(t, e.name)}
	var accounted, other, wrong atomic.Uint64
	w := newGoroutineWork(t)
	inNew(func() {
		for _, c := range sets {
			counted(t, c) // what this goroutine starts is accounted
		}
		for range runs {
			for i := range goroutines {
				w.wg.Add(2)
				go w.do(i, func(n int) {
					for range n {
						e.cause()
					}
					accounted.Add(uint64(n))
				}, func(n int) {
					for s, c := range sets {
						if got := counted(t, c); got != uint64(n) {
							wrong.Add(1)
							t.Errorf("goroutine that does %d of work %d: set %d counts %d", n, i%goroutineWorks, s, got)
						}
					}
				})
				inNewAsync(func() {
					defer w.wg.Done()
					for range i % 5 {
						e.cause()
						runtime.Gosched()
					}
					other.Add(uint64(i % 5))
				})
			}
			w.wg.Wait()
		}
	})
	t.Logf("%d goroutines in each of %d runs, %d of them wrong; %d events, and %d of other goroutines",
		goroutines, runs, wrong.Load(), accounted.Load(), other.Load())
	for s, c := range sets {
		l, err := counterDivision(c)
		if err != nil {
			t.Fatal(err)
		}
		all := c.read(t)[0].Value
		ours, between, elsewhere := l.goroutines[0].Value, l.between[0].Value, l.elsewhere[0].Value
		t.Logf("set %d: %d by goroutines, %d between them, %d elsewhere; %d in all", s, ours, between, elsewhere, all)
		if ours != accounted.Load() || between+elsewhere != other.Load() || all != accounted.Load()+other.Load() {
			t.Errorf("set %d: %d by goroutines, want %d; %d between and %d elsewhere, want %d; %d in all", s,
				ours, accounted.Load(), between, elsewhere, other.Load(), all)
		}
	}
}

// A goroutineWork is what goroutines do that are counted meanwhile: all that may take
// them from their thread, or look as if it did.
type goroutineWork struct {
	t    *testing.T
	wg   sync.WaitGroup
	mu   sync.Mutex
	pipe [2]int // each byte written lets one reader go on
}

func newGoroutineWork(t *testing.T) *goroutineWork {
	w := &goroutineWork{t: t}
	if err := syscall.Pipe(w.pipe[:]); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(w.pipe[0]); syscall.Close(w.pipe[1]) })
	return w
}

const goroutineWorks = 12

// do causes i events by cause, in between work, and says by check how many the calling
// goroutine has caused.
func (w *goroutineWork) do(i int, cause, check func(n int)) {
	defer w.wg.Done()
	defer func() { check(i); recover() }() // however it ends
	switch kind := i % goroutineWorks; kind {
	case 8:
		w.coroutine(i, cause, check)
		return
	case 9:
		defer runtime.Goexit() // and the others return
	case 10:
		defer panic("the end")
	case 11:
		runtime.LockOSThread() // the thread ends, too
	}
	for n := range i {
		cause(1)
		w.step(i, n)
	}
}

// step is the n'th thing that goroutine i does besides causing events.
func (w *goroutineWork) step(i, n int) {
	switch (i + n) % 8 {
	case 0:
		runtime.Gosched()
	case 1:
		c := make(chan int)
		go func() { <-c; c <- 1 }()
		c <- 1
		<-c
	case 2: // loses its P
		inNewAsync(func() { syscall.Write(w.pipe[1], make([]byte, 1)) })
		syscall.Read(w.pipe[0], make([]byte, 1))
	case 3:
		time.Sleep(time.Microsecond)
	case 4:
		runtime.LockOSThread()
		runtime.Gosched()
		runtime.UnlockOSThread()
	case 5:
		w.mu.Lock()
		runtime.Gosched()
		w.mu.Unlock()
	case 6:
		timeDeep(100)
		goroutineSink.Store(new([1 << 12]int)) // may have to help the collector
	case 7:
		if i%20 != 0 {
			return // stopping the world takes long
		}
		runtime.GC()
		runtime.GOMAXPROCS(2 + n%3)
	}
}

var goroutineSink atomic.Pointer[[1 << 12]int]

// coroutine causes half of i events, and has a coroutine cause as many, by turns: it is
// another goroutine.
func (w *goroutineWork) coroutine(i int, cause, check func(n int)) {
	defer func() { recover() }()
	next, stop := iter.Pull(func(yield func(int) bool) {
		for n := range i / 2 {
			cause(1)
			if n%3 == 0 {
				runtime.Gosched()
			}
			check(n + 1)
			if !yield(n) {
				return
			}
		}
	})
	defer stop()
	for n := range i - i/2 {
		cause(1)
		w.step(i, n)
		next()
		if n%2 == 0 { // by another goroutine, which has another thread perhaps
			done := make(chan bool)
			go func() { check(0); close(done) }()
			<-done
		}
	}
	cause(i / 2) // so that they are i again
}
