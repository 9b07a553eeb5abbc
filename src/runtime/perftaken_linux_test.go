// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"context"
	"runtime"
	"runtime/pprof"
	"runtime/task"
	"syscall"
	"testing"
	"time"
)

// TestPerfTaken tests what a thread's clocks are taken to say, by planted ones.
func TestPerfTaken(t *testing.T) {
	if err := task.Start(task.Config{}); err != nil { // which finds out how fast the clock is
		t.Fatal(err)
	}
	defer task.Stop()
	const ms = 1_000_000
	for _, tt := range []struct {
		name string
		do   func(x *runtime.PerfTaken) (lost int64)
		want int64
	}{
		{"nothing lost", func(x *runtime.PerfTaken) int64 {
			return x.Read(15*ms, 5*ms, 1)
		}, 0},
		{"lost", func(x *runtime.PerfTaken) int64 {
			return x.Read(20*ms, 3*ms, 1)
		}, 7 * ms},
		{"asleep between two goroutines", func(x *runtime.PerfTaken) int64 {
			x.Left(11 * ms)
			x.Got(14 * ms)
			return x.Read(16*ms, 3*ms, 1)
		}, 0},
		{"asleep between two, and lost", func(x *runtime.PerfTaken) int64 {
			x.Left(11 * ms)
			x.Got(14 * ms)
			return x.Read(26*ms, 3*ms, 1)
		}, 10 * ms},
		{"busy between two, and lost", func(x *runtime.PerfTaken) int64 { // or part of that in between
			x.Left(11 * ms)
			x.Got(14 * ms)
			return x.Read(26*ms, 6*ms, 1)
		}, 7 * ms},
		{"a clock with more ticks", func(x *runtime.PerfTaken) int64 {
			x.Left(1 << 50)
			x.Got(14 * ms)
			return x.Read(26*ms, 6*ms, 1)
		}, 0},
		{"a clock with fewer ticks", func(x *runtime.PerfTaken) int64 {
			x.Left(-1 << 50)
			x.Got(14 * ms)
			x.Left(15 * ms)
			return x.Read(26*ms, 6*ms, 1)
		}, 0},
		{"in a system call", func(x *runtime.PerfTaken) int64 {
			x.Gap(4 * ms)
			return x.Read(16*ms, 2*ms, 1)
		}, 0},
		{"busy between two", func(x *runtime.PerfTaken) int64 {
			x.Left(11 * ms)
			x.Got(14 * ms)
			return x.Read(16*ms, 6*ms, 1)
		}, 0},
		{"a second reading", func(x *runtime.PerfTaken) int64 {
			x.Gap(4 * ms)
			x.Read(30*ms, 2*ms, 1)
			return x.Read(40*ms, 4*ms, 1)
		}, 8 * ms},
		{"another thread", func(x *runtime.PerfTaken) int64 {
			return x.Read(20*ms, 1*ms, 2)
		}, 0},
		{"another thread, then lost", func(x *runtime.PerfTaken) int64 {
			x.Read(20*ms, 1*ms, 2)
			return x.Read(30*ms, 2*ms, 2)
		}, 9 * ms},
	} {
		x := new(runtime.PerfTaken)
		if lost := x.Read(10*ms, 0, 1); lost > 0 {
			t.Errorf("%s: the first reading says that %d ns were lost", tt.name, lost)
		}
		// Ticks are whole, and a gap has two ends.
		if lost := max(tt.do(x), 0); lost < tt.want-1000 || lost > tt.want+1000 {
			t.Errorf("%s: %d ns, want %d", tt.name, lost, tt.want)
		}
	}
}

// perfTakenSpin has the goroutine run for d by the clock.
func perfTakenSpin(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
	}
}

// perfTakenUntil calls do, on a thread of its own, in new tasks until the goroutine has kept its
// thread for all of one.
func perfTakenUntil(t *testing.T, do func(x *task.Task) bool) (u task.Usage) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for range 1000 {
		_, x := task.New(context.Background(), "taken")
		ok := do(x)
		u, _ := x.Usage()
		x.End()
		if ok && u.Switches == 0 {
			return u
		}
	}
	t.Fatal("the goroutine never keeps its thread")
	return u
}

// TestPerfTakenPlanted tests that what a thread lost of a stretch of running that is long is not
// said to be running, by a planted loss. What really is taken comes on top.
func TestPerfTakenPlanted(t *testing.T) {
	if err := task.Start(task.Config{}); err != nil {
		t.Fatal(err)
	}
	defer task.Stop()
	const lost, all = 2 * time.Millisecond, 4 * time.Millisecond
	for _, tt := range []struct {
		name string
		end  func() // of the stretch
	}{
		{"to the end of the task", func() {}},
		{"to a system call", func() { syscall.Syscall(syscall.SYS_GETPPID, 0, 0, 0) }},
	} {
		u := perfTakenUntil(t, func(*task.Task) bool {
			syscall.Syscall(syscall.SYS_GETPPID, 0, 0, 0) // a stretch begins, after the task has
			ok := runtime.PerfPlantTaken(int64(lost))
			perfTakenSpin(all)
			tt.end()
			return ok
		})
		if got := u.Part(pprof.TimePreempted); got < lost*99/100 {
			t.Errorf("%s: preempted %v, want %v", tt.name, got, lost)
		}
		if got := u.Part(pprof.TimeRunning); got > u.Wall-lost*99/100 {
			t.Errorf("%s: running %v of %v, %v of which were taken", tt.name, got, u.Wall, lost)
		}
		if u.Measured < all*99/100 { // what the thread did beside takes a little
			t.Errorf("%s: measured %v, want %v", tt.name, u.Measured, all)
		}
	}
}

// TestPerfTakenLeaves is TestPerfTakenPlanted for a stretch that ends as the goroutine waits.
func TestPerfTakenLeaves(t *testing.T) {
	if err := task.Start(task.Config{}); err != nil {
		t.Fatal(err)
	}
	defer task.Stop()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const lost, all = 2 * time.Millisecond, 4 * time.Millisecond
	for range 1000 {
		_, x := task.New(context.Background(), "taken")
		time.Sleep(time.Microsecond) // the account of a thread that has a page is plain from here on
		ok := runtime.PerfPlantTaken(int64(lost))
		perfTakenSpin(all)
		time.Sleep(time.Microsecond)
		u, _ := x.Usage()
		x.End()
		if !ok || u.Switches > 2 {
			continue // it was preempted
		}
		// The thread was without a goroutine for a part of the time between two readings.
		if got := u.Part(pprof.TimePreempted); got < lost*6/10 {
			t.Errorf("preempted %v, want %v", got, lost)
		}
		return
	}
	t.Fatal("the goroutine never keeps its thread")
}

// TestPerfTakenBetween is TestPerfTakenPlanted where something else reads the thread's clocks, or would
// have to, before the stretch ends: on threads with a page that says if they have their CPU, and without.
func TestPerfTakenBetween(t *testing.T) {
	if err := task.Start(task.Config{}); err != nil {
		t.Fatal(err)
	}
	defer task.Stop()
	const lost, all = 2 * time.Millisecond, 4 * time.Millisecond
	call := func(context.Context) { syscall.Syscall(syscall.SYS_GETPPID, 0, 0, 0) }
	calls := func(ctx context.Context) {
		for start := time.Now(); time.Since(start) < 3*time.Millisecond; {
			perfTakenSpin(20 * time.Microsecond)
			call(ctx)
		}
	}
	begins := func(ctx context.Context) {
		_, x := task.New(ctx, "child")
		x.End()
	}
	spin := func(context.Context) { perfTakenSpin(all) }
	for _, tt := range []struct {
		name            string
		page            bool
		begin, run, end func(ctx context.Context)
	}{
		{"a task begins on a thread without a page", false, call, spin, begins},
		{"after many system calls without a page", false, calls, spin, call},
		{"after many system calls with a page", true, calls, spin, call},
		{"in short stretches without a page", false, calls, calls, call},
		{"in short stretches with a page", true, calls, calls, call},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range 500 {
				ctx, x := task.New(context.Background(), "taken")
				var before, after task.Usage
				ok := make(chan bool)
				go func() {
					runtime.LockOSThread() // for good: the thread ends
					if tt.page {
						begins(ctx)
					} else {
						runtime.PerfDropMeter()
					}
					before, _ = x.Usage()
					wall, cpu := runtime.PerfThreadClocks()
					tt.begin(ctx)
					planted := runtime.PerfPlantTaken(int64(lost))
					tt.run(ctx)
					tt.end(ctx)
					wall2, cpu2 := runtime.PerfThreadClocks()
					after, _ = x.Usage()
					really := time.Duration(wall2 - wall - (cpu2 - cpu))
					ok <- planted && really < lost*2/10 // else it may be that
				}()
				good := <-ok
				x.End()
				if !good {
					continue
				}
				// What the thread did beside takes a part of the time between two readings. (With short
				// stretches these are a millisecond apart, of which no more can be lost.)
				if got := after.Part(pprof.TimePreempted) - before.Part(pprof.TimePreempted); got < lost*4/10 {
					t.Errorf("preempted %v, want %v", got, lost)
				}
				return
			}
			t.Skip("the machine is busy: in 500 attempts a thread was not once left alone for some ms")
		})
	}
}

// TestPerfTakenAsleep tests that a thread that sleeps beside the goroutine's running, in a system
// call or because the goroutine does, does not count as one that has lost its CPU.
func TestPerfTakenAsleep(t *testing.T) {
	if err := task.Start(task.Config{}); err != nil {
		t.Fatal(err)
	}
	defer task.Stop()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const n, d = 50, 400 * time.Microsecond
	for name, sleep := range map[string]func(){
		"in a system call": func() {
			ts := syscall.NsecToTimespec(int64(d))
			for syscall.Nanosleep(&ts, &ts) != nil { // a signal
			}
		},
		"goroutine": func() { time.Sleep(d) },
	} {
		_, x := task.New(context.Background(), "taken")
		wall, cpu := runtime.PerfThreadClocks()
		for range n {
			perfTakenSpin(1500 * time.Microsecond)
			sleep()
		}
		wall2, cpu2 := runtime.PerfThreadClocks()
		u, _ := x.Usage()
		x.End()
		// It has slept for n*d at least, so that no more was taken.
		most := time.Duration(wall2-wall-(cpu2-cpu)) - n*d
		if got := u.Part(pprof.TimePreempted); got > most+n*d/10 {
			t.Errorf("%s: preempted %v, but without sleeping the thread was without a CPU for %v at most", name, got, most)
		}
	}
}

// TestPerfTakenSlept tests what numbers of sleeps are taken to say, and that the kernel counts them.
func TestPerfTakenSlept(t *testing.T) {
	if err := task.Start(task.Config{}); err != nil {
		t.Fatal(err)
	}
	defer task.Stop()
	for _, tt := range []struct {
		first, second int64
		awake         bool
	}{{5, 5, true}, {0, 0, true}, {5, 6, false}, {-1, -1, false}, {5, -1, false}, {-1, 5, false}} {
		if got := new(runtime.PerfTaken).Awake(tt.first, tt.second); got != tt.awake {
			t.Errorf("%d, then %d: awake %v", tt.first, tt.second, got)
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := runtime.PerfSlept()
	if before < 0 {
		t.Skip("the kernel does not count")
	}
	ts := syscall.NsecToTimespec(int64(5 * time.Millisecond))
	for syscall.Nanosleep(&ts, &ts) != nil {
	}
	if after := runtime.PerfSlept(); after == before {
		t.Errorf("slept %d times before and after a sleep", after)
	}
}

// TestPerfTakenInCall tests that what was taken in a system call that did not sleep is preempted, and what was
// in one that did is not.
func TestPerfTakenInCall(t *testing.T) {
	if err := task.Start(task.Config{}); err != nil {
		t.Fatal(err)
	}
	defer task.Stop()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if runtime.PerfSlept() < 0 {
		t.Skip("the kernel does not count sleeps")
	}
	const lost = time.Millisecond
	busy := make([]byte, 64<<20) // to fill that takes more than twice as long
	zero, err := syscall.Open("/dev/zero", syscall.O_RDONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer syscall.Close(zero)
	for _, sleeps := range []bool{false, true} {
		ok := false
		for range 1000 {
			_, x := task.New(context.Background(), "taken")
			perfTakenSpin(2 * time.Millisecond)
			began := time.Now()
			syscall.Syscall(syscall.SYS_GETPPID, 0, 0, 0) // the clocks are read
			syscall.Syscall(syscall.SYS_GETPPID, 0, 0, 0)
			before, _ := x.Usage()
			planted := runtime.PerfPlantTaken(int64(lost))
			sum, slept := runtime.PerfTakenSum(), runtime.PerfSlept()
			if sleeps {
				ts := syscall.NsecToTimespec(int64(2 * lost))
				for syscall.Nanosleep(&ts, &ts) != nil { // a signal
				}
			} else { // it stays, and does not wait
				syscall.Read(zero, busy)
			}
			awake := slept == runtime.PerfSlept()
			after, _ := x.Usage()
			elapsed := time.Since(began)
			x.End()
			taken := time.Duration(runtime.PerfTakenSum() - sum)
			part := func(p pprof.TimePart) time.Duration { return after.Part(p) - before.Part(p) }
			// What is taken is of the whole time since the clocks were read, so the call has to be nearly all of it.
			in := part(pprof.TimeSyscall) + part(pprof.TimePreempted)
			if !planted || awake == sleeps || after.Switches != before.Switches || in < 2*lost || in < elapsed*19/20 {
				continue
			}
			got := part(pprof.TimePreempted)
			if sleeps && (got > lost/10 || taken > lost/10) || !sleeps && (got < lost*9/10 || taken < lost*9/10) {
				t.Errorf("sleeps %v: preempted %v, %v of it awake; in the call %v", sleeps, got, taken, part(pprof.TimeSyscall))
			}
			ok = true
			break
		}
		if !ok {
			t.Errorf("sleeps %v: it never does", sleeps)
		}
	}
}
