// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build amd64 || arm64

package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"internal/testenv"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"runtime/task"
	"strconv"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// What really is taken from a thread, by a quota or by another program, against what the kernel says
// of it. A program by itself does that: its thread is not to be preempted by the scheduler, as the
// kernel's numbers do not tell running from that.

// A perfTakenLive is what such a program finds out, in ns. The numbers of the kernel are those within
// what is accounted, and those around it.
type perfTakenLive struct {
	Preempted          int64
	Delay, DelayAround int64 // by schedstat
	Throttled          int64 // by cpu.stat
	Running, InCalls   int64
	Switches           uint64
}

const perfTakenEnv = "GO_TEST_PERF_TAKEN"

// TestPerfTakenHog tests that preempted is what a program of the highest priority has taken.
func TestPerfTakenHog(t *testing.T) {
	for _, mode := range []string{"computes", "calls"} {
		t.Run(mode, func(t *testing.T) {
			x := runPerfTakenLive(t, mode, "hog", "")
			x.check(t)
		})
	}
}

// TestPerfTakenQuota tests that preempted is what a quota has taken.
func TestPerfTakenQuota(t *testing.T) {
	group := fmt.Sprint("/sys/fs/cgroup/cpu/go-test-", os.Getpid())
	if err := os.Mkdir(group, 0o777); err != nil {
		t.Skip("no control group of version 1 can be made:", err)
	}
	defer os.Remove(group)
	for file, value := range map[string]string{"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "20000"} {
		if err := os.WriteFile(group+"/"+file, []byte(value), 0); err != nil {
			t.Skip("no quota can be set:", err)
		}
	}
	for _, mode := range []string{"computes", "calls"} {
		t.Run(mode, func(t *testing.T) {
			x := runPerfTakenLive(t, mode, "quota", group)
			x.check(t)
			if x.Preempted < x.Throttled*95/100 {
				t.Errorf("preempted %v, but throttled for %v", time.Duration(x.Preempted), time.Duration(x.Throttled))
			}
			if x.Throttled == 0 {
				t.Error("it was not throttled")
			}
		})
	}
}

// check tests that preempted is within 5 % of what was taken.
func (x *perfTakenLive) check(t *testing.T) {
	t.Helper()
	t.Logf("%+v", *x)
	if x.Delay < 50e6 {
		t.Skip("the thread has hardly been kept from its CPU")
	}
	if x.Preempted < x.Delay*95/100 || x.Preempted > x.DelayAround*105/100 {
		t.Errorf("preempted %v, but taken were %v to %v", time.Duration(x.Preempted), time.Duration(x.Delay), time.Duration(x.DelayAround))
	}
}

// runPerfTakenLive runs the program.
func runPerfTakenLive(t *testing.T, mode, taker, group string) *perfTakenLive {
	if _, err := os.Stat("/proc/self/task/" + strconv.Itoa(os.Getpid()) + "/schedstat"); err != nil {
		t.Skip("the kernel does not say what it takes:", err)
	}
	cmd := testenv.CleanCmdEnv(exec.Command(testenv.Executable(t), "-test.run=^TestPerfTakenLive$"))
	cmd.Env = append(cmd.Env, perfTakenEnv+"="+mode, perfTakenEnv+"_BY="+taker, perfTakenEnv+"_GROUP="+group,
		"GODEBUG=asyncpreemptoff=1", "GOMAXPROCS=2")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	x := new(perfTakenLive)
	if err := json.Unmarshal(out, x); err != nil {
		t.Skipf("%s", out)
	}
	return x
}

// TestPerfTakenLive is the program, if the environment says so.
func TestPerfTakenLive(t *testing.T) {
	mode := os.Getenv(perfTakenEnv)
	if mode == "" {
		t.Skip("a program of other tests")
	}
	if mode == "hog" {
		perfTakenHog()
	}
	perfTakenOneCPU()
	stat := -1
	if group := os.Getenv(perfTakenEnv + "_GROUP"); group != "" {
		if err := os.WriteFile(group+"/cgroup.procs", []byte("0"), 0); err != nil {
			perfTakenSkip(err)
		}
		stat, _ = syscall.Open(group+"/cpu.stat", syscall.O_RDONLY, 0)
	}
	if os.Getenv(perfTakenEnv+"_BY") == "hog" {
		perfTakenStartHog()
	}
	x := perfTakenMeasure(mode == "calls", stat)
	perfTakenKill()
	b, _ := json.Marshal(x)
	os.Stdout.Write(b)
	os.Exit(0) // before anything else is written
}

var (
	perfTakenSink uint64

	// The program's hog begins, and ends.
	perfTakenBegin = func() error { return nil }
	perfTakenKill  = func() error { return nil }
)

// perfTakenHog is the hog. It runs when its standard input ends, and then for a time that it
// ends by itself: the program may not get to kill it.
func perfTakenHog() {
	runtime.LockOSThread()
	if err := syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), -20); err != nil {
		perfTakenSkip(err)
	}
	os.Stdout.WriteString(perfTakenReady)
	io.Copy(io.Discard, os.Stdin)
	perfTakenSpin(700 * time.Millisecond)
	os.Exit(0)
}

// perfTakenReady is what the hog says when it has its priority.
const perfTakenReady = "ready"

// perfTakenStartHog starts a hog on this CPU, and of this session, which waits for perfTakenBegin.
func perfTakenStartHog() {
	hog := exec.Command(os.Args[0], "-test.run=^TestPerfTakenLive$")
	hog.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	hog.Env = append(os.Environ(), perfTakenEnv+"=hog", "GOMAXPROCS=1")
	in, err := hog.StdinPipe()
	if err != nil {
		perfTakenSkip(err)
	}
	out, err := hog.StdoutPipe()
	if err != nil {
		perfTakenSkip(err)
	}
	if err := hog.Start(); err != nil {
		perfTakenSkip(err)
	}
	perfTakenBegin, perfTakenKill = in.Close, hog.Process.Kill
	said := make([]byte, len(perfTakenReady))
	if n, err := io.ReadFull(out, said); err != nil || string(said) != perfTakenReady {
		perfTakenSkip(fmt.Errorf("the hog says %q, %v", said[:n], err))
	}
}

// perfTakenSkip ends the program: it cannot do what it is for.
func perfTakenSkip(err error) {
	perfTakenKill()
	fmt.Println("cannot be tried here:", err)
	os.Exit(0)
}

// perfTakenOneCPU has the program's threads use one CPU: what a group is throttled for is a sum over those
// that it uses.
func perfTakenOneCPU() {
	var set [128]uint64
	syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(set), uintptr(unsafe.Pointer(&set)))
	one := false
	for i := range set {
		for bit := range 64 {
			if set[i]&(1<<bit) != 0 {
				if one {
					set[i] &^= 1 << bit
				}
				one = true
			}
		}
	}
	threads, _ := os.ReadDir("/proc/self/task")
	for _, x := range threads {
		tid, _ := strconv.Atoi(x.Name())
		syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, uintptr(tid), unsafe.Sizeof(set), uintptr(unsafe.Pointer(&set)))
	}
}

// perfTakenMeasure has a task run until much was taken from it, with system calls or without.
func perfTakenMeasure(calls bool, stat int) *perfTakenLive {
	runtime.LockOSThread()
	debug.SetGCPercent(-1)
	if err := task.Start(task.Config{}); err != nil {
		perfTakenSkip(err)
	}
	delay, err := syscall.Open(fmt.Sprintf("/proc/self/task/%d/schedstat", syscall.Gettid()), syscall.O_RDONLY, 0)
	if err != nil {
		perfTakenSkip(err)
	}
	perfTakenBegin()
	_, u := task.New(context.Background(), "live")
	around := perfTakenNumber(delay, 1)
	before, _ := u.Usage()
	from, throttled := perfTakenNumber(delay, 1), perfTakenNumber(stat, 2)
	perfTakenWindow(delay, from+300e6, calls)
	x := &perfTakenLive{Delay: perfTakenNumber(delay, 1) - from, Throttled: perfTakenNumber(stat, 2) - throttled}
	after, _ := u.Usage()
	x.DelayAround = perfTakenNumber(delay, 1) - around
	x.Preempted = int64(after.Part(pprof.TimePreempted) - before.Part(pprof.TimePreempted))
	x.Running = int64(after.Part(pprof.TimeRunning) - before.Part(pprof.TimeRunning))
	x.InCalls = int64(after.Part(pprof.TimeSyscall) - before.Part(pprof.TimeSyscall))
	x.Switches = uint64(after.Switches - before.Switches)
	u.End()
	return x
}

// perfTakenWindow runs until the thread has waited for so long. It calls nothing at whose beginning it
// could be preempted.
func perfTakenWindow(delay int, until int64, calls bool) {
	for n := range 40_000 { // a second of work or more, if nobody takes anything
		for range 20_000 {
			perfTakenSink = perfTakenSink*6364136223846793005 + 1
		}
		if calls {
			syscall.Syscall(syscall.SYS_GETPPID, 0, 0, 0)
		}
		if n%100 == 0 && perfTakenNumber(delay, 1) > until {
			return
		}
	}
}

// perfTakenNumber returns the number after so many others in a file, without telling the scheduler that
// it reads.
//
//go:nosplit
func perfTakenNumber(fd, skip int) (n int64) {
	var b [128]byte
	size, _, errno := syscall.RawSyscall6(syscall.SYS_PREAD64, uintptr(fd), uintptr(unsafe.Pointer(&b)), unsafe.Sizeof(b), 0, 0, 0)
	if errno != 0 {
		return 0
	}
	digits := false
	for i := uintptr(0); i < size && i < unsafe.Sizeof(b); i++ {
		if d := b[i&127]; d >= '0' && d <= '9' {
			n, digits = n*10+int64(d-'0'), true
			continue
		}
		if digits {
			if skip == 0 {
				return n
			}
			skip--
		}
		n, digits = 0, false
	}
	return n
}
