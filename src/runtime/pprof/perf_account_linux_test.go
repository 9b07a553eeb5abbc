// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests of time for which a goroutine's thread has no CPU.

package pprof

import (
	"fmt"
	"internal/testenv"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// TestTimePreempted tests that the time for which a hog on the same CPU takes it away is
// preempted, and the rest, which is the thread's CPU time, running: where it is always
// found out, and at the ends of intervals.
func TestTimePreempted(t *testing.T) {
	cpus := affinity(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer setAffinity(t, cpus)
	one := firstCPU(cpus)
	setAffinity(t, one) // the hog's, too
	hog := hog(t)
	defer func() { hog.Process.Kill(); hog.Wait() }()
	for _, always := range []bool{true, false} {
		done := make(chan bool)
		inNewAsync(func() {
			defer close(done)
			runtime.LockOSThread()
			setAffinity(t, one)
			defer setAffinity(t, cpus)
			if always {
				if err := MeasureCPUTime(true); err != nil {
					t.Error(err)
				}
			}
			timePreempted(t, always)
		})
		<-done
	}
}

// timePreempted spins in intervals, and compares its account with the thread's clock, and
// with the kernel's statistics.
func timePreempted(t *testing.T, always bool) {
	stolen := stolen(t)
	var all, quiet preemptedTime // quiet: where the goroutine kept its thread
	// Until there is enough of what is to be compared. How often the goroutine keeps its thread,
	// and the thread loses its CPU to the hog, depends on what else runs here.
	enough := func() bool {
		return all.n >= 300 && quiet.n >= 100 && quiet.wall-time.Duration(quiet.cpu) >= quiet.running/10
	}
	for start := time.Now(); !enough() && time.Since(start) < time.Minute; {
		p := preemptedTime{n: 1, delay: -threadDelay(t), cpu: -threadTime(t)}
		var last time.Duration
		u := timeOf(t, func() {
			last = RunningTime()
			for start := time.Now(); time.Since(start) < 3*time.Millisecond; {
				now := RunningTime()
				if now < last {
					t.Errorf("running time went from %v to %v", last, now)
				}
				last = now
			}
		})
		p.cpu += threadTime(t)
		if now := RunningTime(); now < last {
			t.Errorf("after an interval, running time went from %v to %v", last, now)
		}
		p.delay += threadDelay(t)
		p.wall, p.running, p.preempted, p.measured = u.Wall, u.parts[TimeRunning], u.parts[TimePreempted], u.Measured
		all.add(p)
		if u.Switches == 0 {
			quiet.add(p)
		}
	}
	// What a hypervisor steals is CPU time by one of the kernel's clocks, not by another.
	slack := time.Duration(stolen())
	if always {
		t.Logf("always measured: %v", all)
		all.check(t, slack)
	}
	t.Logf("without a switch: %v", quiet)
	quiet.check(t, slack)
	// The kernel's statistics are also of what is between two intervals.
	off := quiet.wall - time.Duration(quiet.cpu)
	if d := quiet.preempted - off; quiet.n < 100 || off < quiet.running/10 || max(d, -d) > off/20+slack || quiet.preempted > time.Duration(quiet.delay)+slack {
		t.Errorf("beside a hog, without a switch: %v", quiet)
	}
}

// TestTimeMeasured tests that what is measured stays that when the thread loses its CPU, and
// then the goroutine its thread.
func TestTimeMeasured(t *testing.T) {
	inNew(func() { timeMeasured(t) })
}

func timeMeasured(t *testing.T) {
	var last GoroutineTime
	for range 100 {
		var outer, iv Interval
		var u GoroutineTime
		outer.Start(nil)
		timeSpin(100 * time.Microsecond)
		RunningTime()
		iv.Start(nil)
		// The scheduler is not told.
		ts := syscall.NsecToTimespec(int64(100 * time.Microsecond))
		syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
		runtime.Gosched()
		if err := iv.Stop(&u, nil); err != nil || u.Measured < 0 || u.Measured > u.Wall {
			t.Errorf("%v measured of %v; error %v", u.Measured, u.Wall, err)
		}
		outer.Stop(nil, nil)
		ReadGoroutineTime(&u)
		if u.Measured < last.Measured {
			t.Errorf("%v measured, then %v", last.Measured, u.Measured)
		}
		last = u
	}
}

// A preemptedTime is what was measured of so many intervals.
type preemptedTime struct {
	n                                  int
	wall, running, preempted, measured time.Duration
	cpu, delay                         int64 // by the kernel
}

func (p *preemptedTime) add(o preemptedTime) {
	p.n += o.n
	p.wall += o.wall
	p.running += o.running
	p.preempted += o.preempted
	p.measured += o.measured
	p.cpu += o.cpu
	p.delay += o.delay
}

func (p preemptedTime) String() string {
	return fmt.Sprintf("in %d intervals, %v: running %v, by the thread's clock %v; preempted %v, by the kernel's statistics %v; measured %v",
		p.n, p.wall, p.running, time.Duration(p.cpu), p.preempted, time.Duration(p.delay), p.measured)
}

// check tests that all is measured, and that running is CPU time.
func (p preemptedTime) check(t *testing.T, slack time.Duration) {
	t.Helper()
	onThread := p.running + p.preempted
	if d := p.running - time.Duration(p.cpu); p.measured < onThread*99/100 || p.measured > onThread || max(d, -d) > p.running/20+slack {
		t.Errorf("beside a hog: %v", p)
	}
}

// TestTimeStopped tests a process that is stopped for longer than 1<<32 ns, and one that
// is stopped in a goroutine's first interval.
func TestTimeStopped(t *testing.T) {
	if child := perfInChild(); child != "" {
		runtime.LockOSThread()
		if err := MeasureCPUTime(true); err != nil {
			t.Fatal(err)
		}
		if child == "later" { // the rate of the processor's clock is known
			for range 10 {
				timeOf(t, func() { timeSpin(time.Millisecond) })
			}
		}
		cpu := threadTime(t)
		u := timeOf(t, func() {
			os.Stdout.WriteString("ready\n")
			start := time.Now()
			for last := start; ; {
				now := time.Now()
				if now.Sub(last) > 500*time.Millisecond || now.Sub(start) > time.Minute {
					t.Logf("stopped for %v", now.Sub(last))
					break
				}
				last = now
			}
		})
		cpu = threadTime(t) - cpu
		t.Logf("running %v, by the thread's clock %v, preempted %v, runnable %v, of %v", u.parts[TimeRunning], time.Duration(cpu),
			u.parts[TimePreempted], u.parts[TimeRunnable], u.Wall)
		// The rare process that is stopped in the scheduler has a runnable goroutine.
		if d := u.parts[TimeRunning] - time.Duration(cpu); d < -u.Wall/20 || d > u.Wall/20 {
			t.Errorf("running %v, by the thread's clock %v", u.parts[TimeRunning], time.Duration(cpu))
		}
		return
	}
	timeStopped(t, "first", time.Second)
	if !testing.Short() {
		timeStopped(t, "later", 5*time.Second)
	}
}

// timeStopped stops a child for a while.
func timeStopped(t *testing.T, child string, length time.Duration) {
	cmd := testenv.Command(t, testenv.Executable(t), "-test.run=^TestTimeStopped$", "-test.v")
	cmd.Env = append(cmd.Environ(), "PMU_TEST_CHILD="+child)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	b := make([]byte, 1<<12)
	for {
		n, err := out.Read(b)
		all.Write(b[:n])
		if err != nil {
			break
		}
		if strings.HasSuffix(all.String(), "ready\n") {
			time.Sleep(10 * time.Millisecond)
			cmd.Process.Signal(syscall.SIGSTOP)
			time.Sleep(length)
			cmd.Process.Signal(syscall.SIGCONT)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, all.String())
	}
	t.Logf("%s", all.String())
}

// TestTimeMigrations tests that a goroutine that has another thread than before has that
// counted.
func TestTimeMigrations(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	inNew(func() {
		const n = 10
		seen := uint64(0) // at least so many
		u := timeOf(t, func() {
			thread := syscall.Gettid()
			for deadline := time.Now().Add(time.Minute); seen < n && time.Now().Before(deadline); {
				timeMove()
				if now := syscall.Gettid(); now != thread {
					seen++
					thread = now
				}
			}
		})
		if seen < n || u.Migrations < seen || u.Migrations > u.Switches {
			t.Errorf("another thread %d times: %d migrations, %d switches", seen, u.Migrations, u.Switches)
		}
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		u = timeOf(t, func() {
			for range n {
				timeMove()
			}
		})
		if u.Migrations != 0 || u.Switches < n {
			t.Errorf("%d migrations, %d switches of a locked goroutine", u.Migrations, u.Switches)
		}
	})
}

// timeMove moves the goroutine to another thread, mostly, where there is one P: another
// one runs on its thread meanwhile, and keeps it.
func timeMove() {
	moved, quit := make(chan bool), make(chan bool)
	inNewAsync(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		close(moved)
		<-quit
	})
	<-moved
	close(quit)
}

// hog starts a process that has its CPU for itself, as far as others let it.
func hog(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// A cpuSet is a cpu_set_t; see sched_setaffinity(2).
type cpuSet [1024 / 64]uint64

func affinity(t *testing.T) (s cpuSet) {
	t.Helper()
	if _, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(s), uintptr(unsafe.Pointer(&s))); errno != 0 {
		t.Fatal(errno)
	}
	return s
}

func setAffinity(t *testing.T, s cpuSet) {
	t.Helper()
	if _, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(s), uintptr(unsafe.Pointer(&s))); errno != 0 {
		t.Error(errno)
	}
}

func firstCPU(s cpuSet) (first cpuSet) {
	for i, w := range s {
		if w != 0 {
			first[i] = w & -w
			break
		}
	}
	return first
}

// threadDelay returns for how long the thread has waited for a CPU; see schedstat in
// proc(5).
func threadDelay(t *testing.T) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/thread-self/schedstat")
	if err != nil {
		t.Skip(err)
	}
	f := strings.Fields(string(b))
	n, err := strconv.ParseInt(f[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
