// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"context"
	"errors"
	"internal/msan"
	"internal/profile"
	"internal/race"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestPerfLabels tests that every sample has the label of the goroutine that it
// interrupted: goroutine i writes a variable i times under label i, and moves
// from thread to thread.
func TestPerfLabels(t *testing.T) {
	perfNeedsExact(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const goroutines = 60
	r := perfProfileOf(t, []perfReq{{perfWrites(&perfShared), 1}}, func() {
		var wg sync.WaitGroup
		for i := 1; i <= goroutines; i++ {
			wg.Go(func() {
				for range i {
					Do(context.Background(), Labels("i", strconv.Itoa(i)), func(context.Context) { perfWriterA(1) })
					runtime.Gosched()
					Do(context.Background(), Labels("j", strconv.Itoa(i)), func(context.Context) { perfWriterB(1) })
				}
				perfWriterB(1) // without a label
			})
		}
		wg.Wait()
	})[0]
	for i := 1; i <= goroutines; i++ {
		for key, writer := range map[string]string{"i": "perfWriterA", "j": "perfWriterB"} {
			inWriter := perfStartsWith(writer)
			got := r.count(func(s *profile.Sample) bool {
				return inWriter(s) && len(s.Label) == 1 && slices.Equal(s.Label[key], []string{strconv.Itoa(i)})
			})
			if got != int64(i) {
				t.Errorf("label %s=%d has %d samples in %s, want %d", key, i, got, writer, i)
			}
		}
	}
	if got := r.count(func(s *profile.Sample) bool { return len(s.Label) == 0 }); got != goroutines {
		t.Errorf("%d samples without a label, want %d", got, goroutines)
	}
	const all = goroutines*(goroutines+1) + goroutines
	if r.total() != all {
		t.Errorf("%d samples, want %d", r.total(), all)
	}
	if t.Failed() {
		t.Logf("%s\n%s", r.ledger(), r.byStack())
	}
}

// perfTypes returns the sample types of a profile, and its period type, as text.
func perfTypes(p *profile.Profile) (types []string, period string) {
	for _, t := range p.SampleType {
		types = append(types, t.Type+"/"+t.Unit)
	}
	return types, p.PeriodType.Type + "/" + p.PeriodType.Unit
}

// perfTake takes one profile of several events.
func perfTake(t *testing.T, period uint64, events []string, f func()) *perfResult {
	t.Helper()
	t.Setenv(multipleEnv, "true")
	var buf bytes.Buffer
	if err := StartCPUProfileWithConfig(PerfEvents(&buf, period, events...)); err != nil {
		t.Fatal(err)
	}
	f()
	StopCPUProfile()
	p, err := profile.Parse(&buf)
	if err != nil {
		t.Fatal(err)
	}
	return &perfResult{t, strings.Join(events, ","), p}
}

// TestPerfTypes tests the sample types of profiles: names that other programs
// take, which differ where profiles must not be compared.
func TestPerfTypes(t *testing.T) {
	perfNeeds(t, "task-clock:uk")
	for _, tt := range []struct {
		events []string
		types  []string
	}{
		{[]string{"task-clock"}, []string{"task_clock/nanoseconds"}},
		{[]string{"task-clock:u"}, []string{"task_clock_u/nanoseconds"}},
		{[]string{"task-clock:uk"}, []string{"task_clock/nanoseconds"}},
		{[]string{"cpu-clock:k"}, []string{"cpu_clock_k/nanoseconds"}},
		{[]string{"faults"}, []string{"page_faults/count"}},
		{[]string{"page-faults:uk", "task-clock", "page-faults", "task-clock:u"},
			[]string{"page_faults_uk/count", "task_clock/nanoseconds", "page_faults/count", "task_clock_u/nanoseconds"}},
	} {
		r := perfTake(t, 1e6, tt.events, func() {})
		types, period := perfTypes(r.Profile)
		if !slices.Equal(types, append([]string{"samples/count"}, tt.types...)) || period != tt.types[0] {
			t.Errorf("%s: types %v, period type %v; want %v", r.name, types, period, tt.types)
		}
		if got, want := r.DefaultSampleType, types[1]; got+"/"+r.PeriodType.Unit != want {
			t.Errorf("%s: the default is %s, want %s", r.name, got, want)
		}
		for i, want := range tt.events {
			if want == "faults" {
				want = "page-faults"
			}
			if !slices.Contains(r.Comments, "event: "+want) {
				t.Errorf("%s: no comment names event %d:\n%s", r.name, i, r.ledger())
			}
		}
	}
}

// TestPerfSamplesColumn tests that samples are those of the event whose period
// the profile has, so that samples x period means something.
func TestPerfSamplesColumn(t *testing.T) {
	perfNeedsExact(t)
	const a, b = 300, 700
	r := perfTake(t, 1, []string{perfCalls("perfTargetA"), perfCalls("perfTargetB")}, func() {
		perfCaller1(a)
		var x int
		for range b {
			perfTargetB(&x)
		}
	})
	var sum [3]int64
	for _, s := range r.Sample {
		if s.Value[0]*r.Period != s.Value[1] {
			t.Errorf("%v: %d samples, period %d, values %d", perfFrames(s), s.Value[0], r.Period, s.Value[1:])
		}
		for i, v := range s.Value {
			sum[i] += v
		}
	}
	if sum != [3]int64{a, a, b} {
		t.Errorf("sums %d, want %d samples, %d and %d", sum, a, a, b)
	}
}

// TestPerfKernelTime tests that a clock's profile has all of the CPU time of a
// program that spends half of it in the kernel, and the system call in its stacks.
func TestPerfKernelTime(t *testing.T) {
	perfNeeds(t, "task-clock:uk")
	zero, err := os.Open("/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	defer zero.Close()
	fd := int(zero.Fd())
	set, err := OpenCounters("task-clock")
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()

	var reading, all, counted int64 // CPU time of the thread, twice, and what the set counted
	r := perfProfileOf(t, []perfReq{{"task-clock", 1e6}}, func() {
		before := set.read(t)
		reading, all = perfReadHalf(t, fd)
		counted = int64(set.read(t)[0].Sub(before[0]).Value)
	})[0]
	r.balance()
	if types, _ := perfTypes(r.Profile); types[1] != "task_clock/nanoseconds" {
		t.Errorf("types %v", types)
	}
	if !slices.Contains(r.Comments, "kernel: included") {
		t.Errorf("the ledger does not say that the kernel is included:\n%s", r.ledger())
	}
	// The profile began before the set was read and ended after it.
	slack := r.comment("threads") * perfMaxPeriod(r)
	if least := counted - slack; r.events() < least || r.events() > r.comment("counted")+slack || r.events() < all-slack {
		t.Errorf("%d ns in the profile; the set counted %d, the thread's clock %d; slack %d", r.events(), counted, all, slack)
	} else {
		t.Logf("%d ns in the profile; the set counted %d, the thread's clock %d", r.events(), counted, all)
	}
	if race.Enabled || msan.Enabled {
		return // each read has a sanitizer look at the whole buffer, without a stack
	}
	thread, inCall, inKernel := perfReadTimes(r)
	// 600 samples, of which half: the standard deviation is 2 %.
	got, want := float64(inCall)/float64(thread), float64(reading)/float64(all)
	if got < want-0.1 || got > want+0.1 {
		t.Errorf("%.1f %% of the thread's time is in reads, want %.1f:\n%s", 100*got, 100*want, r.byStack())
	} else {
		t.Logf("%.1f %% of the thread's time is in reads, want %.1f", 100*got, 100*want)
	}
	if inKernel < inCall/2 {
		t.Errorf("of %d ns in reads only %d are in the kernel", inCall, inKernel)
	}
}

// perfReadHalf reads from fd and computes by turns, for 600 ms of CPU time on a thread of
// its own. It returns the thread's CPU time in the reads, and in all.
func perfReadHalf(t *testing.T, fd int) (reading, all int64) {
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		start := threadTime(t)
		now, x := start, 2
		for buf := make([]byte, 1<<20); now-start < 600e6; now = threadTime(t) {
			var read int64
			for read < 1e6 {
				for range 16 {
					if _, err := syscall.Read(fd, buf); err != nil {
						t.Error(err)
						return
					}
				}
				read = threadTime(t) - now
			}
			reading += read
			for end := threadTime(t) + read; threadTime(t) < end; {
				x = cpuHog0(x, 1e4)
			}
		}
		all = now - start
	}()
	<-done
	return reading, all
}

// perfReadTimes returns the time that the profile has of perfReadHalf's thread, of its
// reads, and of these with a function of the kernel.
func perfReadTimes(r *perfResult) (thread, inCall, inKernel int64) {
	for _, s := range r.Sample {
		fs := perfFrames(s)
		if !slices.ContainsFunc(fs, func(f string) bool { return strings.HasPrefix(f, "runtime/pprof.perfReadHalf.func") }) {
			continue
		}
		thread += s.Value[1]
		if i := slices.IndexFunc(fs, func(f string) bool { return strings.HasSuffix(f, ".Syscall6") }); i >= 0 && slices.Contains(fs, "syscall.Read") {
			inCall += s.Value[1]
			if i > 0 {
				inKernel += s.Value[1] // the kernel's function is the leaf
			}
		}
	}
	return thread, inCall, inKernel
}

// perfCheckUserOnly checks a process that may not sample the kernel: clocks leave
// it out, and say so.
func perfCheckUserOnly(t *testing.T) {
	t.Helper()
	for _, event := range []string{"task-clock", "cpu-clock"} {
		r := perfTake(t, 1e6, []string{event, "page-faults"}, func() { perfSpin(20 * time.Millisecond) })
		types, period := perfTypes(r.Profile)
		want := strings.ReplaceAll(event, "-", "_") + "_u/nanoseconds"
		if types[1] != want || period != want {
			t.Errorf("types %v, period type %s, want %s", types, period, want)
		}
		if r.Comments[0] != "event: "+event || !strings.HasPrefix(r.Comments[1], "warning: user mode only") || !strings.Contains(r.Comments[1], "perf_event_paranoid") ||
			!slices.Contains(r.Comments, "kernel: excluded") {
			t.Errorf("the profile does not begin with what is missing:\n%s", r.ledger())
		}
	}
	// Who asks for user mode has no warning, and who asks for the kernel has an error.
	r := perfTake(t, 1e6, []string{"task-clock:u"}, func() {})
	if strings.Contains(r.ledger(), "warning") {
		t.Errorf("task-clock:u:\n%s", r.ledger())
	}
	for _, opt := range []ProfilingOption{
		PerfEvent(io.Discard, "task-clock:uk", 0),
		PerfEvents(io.Discard, 0, "task-clock", "task-clock:u"), // would be the same
		PerfEvents(io.Discard, 0, "task-clock", "page-faults:k"),
	} {
		if err := perfWantError(t, []ProfilingOption{opt}, "perf_event_paranoid"); !errors.Is(err, syscall.EACCES) {
			t.Errorf("error is %v", errors.Unwrap(err))
		}
	}
	for _, e := range Events() {
		if (e.Name == "task-clock" || e.Name == "cpu-clock") && (!e.Sampled || e.Err != nil) {
			t.Errorf("%s: %+v", e.Name, e)
		}
	}
	set, err := OpenCounters("task-clock")
	if err != nil {
		t.Error(err)
		return
	}
	set.Close()
}
