// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// What the tests share: what they need of the machine, profiles and what is said of
// them, children, and work to do.

package pprof

import (
	"bytes"
	"errors"
	"fmt"
	"internal/profile"
	"internal/race"
	"internal/testenv"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// perfNeeds skips the test if the kernel can't sample the event here, as in a
// container or, for hardware events, in most virtual machines. On machines
// that must be able to, PMU_TEST_REQUIRE lists the events, separated by commas,
// and then the test fails.
func perfNeeds(t *testing.T, event string) {
	t.Helper()
	perfNeedsAs(t, event, event)
}

// perfCan reports whether the event can be sampled here.
func perfCan(event string) bool {
	if StartCPUProfileWithConfig(PerfEvent(new(bytes.Buffer), event, 0)) != nil {
		return false
	}
	StopCPUProfile()
	return true
}

func perfNeedsAs(t *testing.T, need, event string) {
	t.Helper()
	err := StartCPUProfileWithConfig(PerfEvent(new(bytes.Buffer), event, 0))
	if err == nil {
		StopCPUProfile()
		return
	}
	var errno syscall.Errno
	if !errors.As(err, &errno) && !errors.Is(err, errors.ErrUnsupported) {
		t.Fatal(err)
	}
	perfSkip(t, need, err.Error())
}

// perfNeedsExact is perfNeeds for breakpoints, whose hits the test will count.
func perfNeedsExact(t *testing.T) {
	t.Helper()
	if race.Enabled {
		t.Skip("the thread sanitizer delivers signals late, when the stack is another one")
	}
	perfNeedsAs(t, "breakpoints", fmt.Sprintf("mem:%p:w", &perfNeedsVar))
}

var perfNeedsVar int64

// perfNeedsRoot is perfNeeds for permission to change settings of the kernel.
func perfNeedsRoot(t *testing.T) {
	t.Helper()
	f, err := os.OpenFile("/proc/sys/kernel/perf_event_paranoid", os.O_WRONLY, 0)
	if err != nil {
		perfSkip(t, "root", err.Error())
	}
	f.Close()
}

func perfSkip(t *testing.T, need, why string) {
	t.Helper()
	required := slices.Contains(strings.Split(os.Getenv("PMU_TEST_REQUIRE"), ","), need)
	if need == "breakpoints" && rawBreakpointDead(t) {
		required = false // no machine can be made to have them
	}
	if required {
		t.Fatalf("%s is required here: %s", need, why)
	}
	t.Skip(why)
}

// perfSetSysctl sets a kernel.* setting until the test ends. It is the whole
// machine's: who else wants to set it waits until then, in this process, too.
func perfSetSysctl(t *testing.T, name, value string) {
	t.Helper()
	file := "/proc/sys/kernel/" + name
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() }) // which unlocks it, after it is set again
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(value), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.WriteFile(file, old, 0); err != nil {
			t.Error(err)
		}
	})
}

// perfOrdinaryUser makes a command run as a user without capabilities. The test
// binary's directory may not be accessible to it, so the command is a copy of
// the binary that is.
func perfOrdinaryUser(t *testing.T) func(*exec.Cmd) {
	dir, err := os.MkdirTemp("/tmp", "perf")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return func(cmd *exec.Cmd) {
		b, err := os.ReadFile(cmd.Path)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Path = dir + "/pprof.test"
		if err := os.WriteFile(cmd.Path, b, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
		cmd.Dir = "/"
		const nobody = 65534
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
}

// A perfReq is an event to sample; name "" is the OS timer.
type perfReq struct {
	name   string
	period uint64
}

// perfProfileOf runs f while it samples the events, and returns their profiles.
// It runs f more than once if the machine is stalled (see perfUnstalled).
func perfProfileOf(t *testing.T, events []perfReq, f func()) []*perfResult {
	t.Helper()
	return perfUnstalled(t, func() []*perfResult { return perfProfileOnce(t, events, f) })
}

// perfUnstalled returns the profiles that take makes, made again when too many
// interrupts were late. They are on a machine whose hypervisor runs something
// else meanwhile, see perfCounter.late in the runtime. An engine that loses
// samples loses them each time.
func perfUnstalled(t *testing.T, take func() []*perfResult) []*perfResult {
	t.Helper()
	for try := 1; ; try++ {
		rs := take()
		late := 0.0
		for _, r := range rs {
			late = max(late, float64(r.inFrame("runtime._PerfLostLate"))/float64(max(1, r.total())))
		}
		if late <= perfMaxLost || perfStall <= 0 {
			return rs
		}
		t.Logf("the machine was stalled: interrupts for %.1f %% of the periods were late", 100*late)
		wait := 100 * time.Millisecond << min(try, 8)
		perfStall -= wait
		time.Sleep(wait)
	}
}

// perfStall is how long all tests may wait for the machine together. It can be
// stalled for a while. But where interrupts are always late, as beside another
// profiler that takes all the time that they have, waiting does not help.
var perfStall = 2 * time.Minute

// perfProfileOnce runs f once while it samples the events, and returns their
// profiles.
func perfProfileOnce(t *testing.T, events []perfReq, f func()) []*perfResult {
	t.Helper()
	if len(events) > 1 {
		t.Setenv(multipleEnv, "true")
	}
	bufs := make([]bytes.Buffer, len(events))
	var opts []ProfilingOption
	for i, e := range events {
		if e.name == "" {
			opts = append(opts, OSTimer(&bufs[i]))
		} else {
			opts = append(opts, PerfEvent(&bufs[i], e.name, e.period))
		}
	}
	if err := StartCPUProfileWithConfig(opts[0], opts[1:]...); err != nil {
		t.Fatal(err)
	}
	f()
	StopCPUProfile()
	var rs []*perfResult
	for i := range bufs {
		p, err := profile.Parse(&bufs[i])
		if err != nil {
			t.Fatalf("profile of %s: %v", events[i].name, err)
		}
		if err := ledgerError(p); err != nil && events[i].name != "" {
			t.Errorf("profile of %s: %v; ledger:\n\t%s", events[i].name, err, strings.Join(p.Comments, "\n\t"))
		}
		rs = append(rs, &perfResult{t, events[i].name, p})
	}
	return rs
}

// A perfResult is the profile of one event.
type perfResult struct {
	t    *testing.T
	name string
	*profile.Profile
}

// comment returns the number in the comment "key: number ...".
func (r *perfResult) comment(key string) int64 {
	r.t.Helper()
	for _, c := range r.Comments {
		if v, ok := strings.CutPrefix(c, key+": "); ok {
			v, _, _ = strings.Cut(v, " ")
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				r.t.Fatalf("%s: comment %q: %v", r.name, c, err)
			}
			return n
		}
	}
	r.t.Fatalf("%s: no comment %q in:\n%s", r.name, key, r.ledger())
	return 0
}

func (r *perfResult) ledger() string { return "\t" + strings.Join(r.Comments, "\n\t") }

// total returns the number of samples.
func (r *perfResult) total() int64 { return r.count(func(*profile.Sample) bool { return true }) }

// count returns the number of samples for which match returns true.
func (r *perfResult) count(match func(*profile.Sample) bool) int64 {
	var n int64
	for _, s := range r.Sample {
		if match(s) {
			n += s.Value[0]
		}
	}
	return n
}

// perfFrames returns the functions of a sample's stack, leaf first.
func perfFrames(s *profile.Sample) []string {
	var fs []string
	for _, loc := range s.Location {
		for _, line := range loc.Line {
			fs = append(fs, line.Function.Name)
		}
	}
	return fs
}

// perfStartsWith returns a match for samples whose stack starts, at the leaf,
// with these functions of this package. (A signal that preempts the goroutine at
// the same time injects a call of asyncPreempt, which must not show.)
func perfStartsWith(fn ...string) func(*profile.Sample) bool {
	return func(s *profile.Sample) bool {
		fs := perfFrames(s)
		for i, f := range fn {
			if i >= len(fs) || fs[i] != "runtime/pprof."+f {
				return false
			}
		}
		return true
	}
}

// byStack returns how many samples have each stack.
func (r *perfResult) byStack() string {
	var b strings.Builder
	for _, s := range r.Sample {
		fmt.Fprintf(&b, "\t%d %v %s\n", s.Value, s.Label, strings.Join(perfFrames(s), " < "))
	}
	return b.String()
}

// near fails the test unless got is within want +- d.
func (r *perfResult) near(what string, got, want, d float64) {
	r.t.Helper()
	if got < want-d || got > want+d {
		r.t.Errorf("%s: %s: got %.1f, want %.1f +- %.1f; ledger:\n%s", r.name, what, got, want, d, r.ledger())
	} else {
		r.t.Logf("%s: %s: got %.1f, want %.1f +- %.1f", r.name, what, got, want, d)
	}
}

// perfMaxLost is the part of the samples that a test may lose to a machine that
// is busy with other things. Each is in the ledger and, under its own name, in
// the profile.
//
// A clock's interrupt that is held up loses what of that is beyond a period. Hypervisors
// hold up for some tenths of a millisecond, so that clocks of a shorter period lose more: see
// balance.
const perfMaxLost = 0.05

// balance fails the test unless the samples stand for what the counters counted,
// to less than one sample per thread, and nearly all of them have been taken.
// (The first period of each thread is random, the last is not complete. So each
// thread has the quotient of counter and period, or one more.)
func (r *perfResult) balance() {
	r.t.Helper()
	counted, period := float64(r.comment("counted")), float64(r.comment("period"))
	r.near("samples against counter / period", float64(r.events())/period, counted/period,
		float64(r.comment("threads")*perfMaxPeriod(r))/period)
	most := perfMaxLost
	if strings.Contains(r.name, "clock") {
		most *= min(max(1e6/period, 1), 4)
	}
	if lost := r.lost(); lost > most {
		r.t.Errorf("%s: %.1f %% of the samples were lost; ledger:\n%s", r.name, 100*lost, r.ledger())
	}
}

// inFrame returns the number of samples that have the function in their stack.
func (r *perfResult) inFrame(fn string) int64 {
	return r.count(func(s *profile.Sample) bool { return slices.Contains(perfFrames(s), fn) })
}

// lost returns the part of the samples that were lost.
func (r *perfResult) lost() float64 {
	n := r.count(func(s *profile.Sample) bool {
		return slices.ContainsFunc(perfFrames(s), func(f string) bool {
			return strings.HasPrefix(f, "runtime._PerfLost") || f == "runtime/pprof.lostProfileEvent"
		})
	})
	return float64(n) / float64(max(1, r.total()))
}

// events returns the number of events that the samples stand for.
func (r *perfResult) events() int64 {
	var n int64
	for _, s := range r.Sample {
		n += s.Value[1]
	}
	return n
}

// warned returns the number of threads that were not sampled.
func (r *perfResult) warned() int64 { return perfLedger(r.Profile)["threads not sampled"] }

// stopped returns the number of threads on which a breakpoint was stopped.
func (r *perfResult) stopped() int64 {
	return perfLedger(r.Profile)["threads stopped"]
}

// perfMaxPeriod returns the longest period that the overhead bound has taken.
func perfMaxPeriod(r *perfResult) int64 {
	return max(r.comment("period"), perfLedger(r.Profile)["longest period"])
}

// perfWithin fails the test unless a and b differ by at most the given part.
func perfWithin(t *testing.T, what string, a, b, part float64) {
	t.Helper()
	if math.Abs(a-b) > part*math.Max(a, b) {
		t.Errorf("%s: %.0f and %.0f differ by more than %.1f %%", what, a, b, 100*part)
	} else {
		t.Logf("%s: %.0f and %.0f", what, a, b)
	}
}

func perfAtoi(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// perfChild runs this test again, alone, in a process of its own, where
// perfInChild returns the mode. prepare may change the command. perfChild
// returns the command's output and fails if the test does.
func perfChild(t *testing.T, mode string, prepare func(*exec.Cmd)) string {
	t.Helper()
	out, err := perfChildResult(t, mode, prepare)
	t.Logf("%s:\n%s", mode, out)
	if err != nil {
		t.Errorf("%s: %v", mode, err)
	}
	return out
}

func perfChildResult(t *testing.T, mode string, prepare func(*exec.Cmd)) (string, error) {
	t.Helper()
	name, _, _ := strings.Cut(strings.TrimPrefix(t.Name(), "TestEmulated/"), "/")
	cmd := testenv.Command(t, testenv.Executable(t), "-test.run=^"+name+"$", "-test.v="+strconv.FormatBool(testing.Verbose()))
	cmd.Env = append(cmd.Environ(), "PMU_TEST_CHILD="+mode, "PMU_TEST_EVENT=")
	if prepare != nil {
		prepare(cmd)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// perfInChild returns the mode in a process of perfChild's, otherwise "".
func perfInChild() string { return os.Getenv("PMU_TEST_CHILD") }

// perfThreads has n threads run f one after the other, each on a thread that is
// new, and exits with it.
func perfThreads(n int, f func()) {
	for range n {
		done := make(chan bool)
		go func() {
			defer close(done)
			runtime.LockOSThread() // for ever, so the thread exits
			f()
		}()
		<-done
	}
}
