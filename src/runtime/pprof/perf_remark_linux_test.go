// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"errors"
	"fmt"
	"internal/perfevent"
	"internal/profile"
	"io"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestPerfTooMany checks that more events than can be sampled are refused
// before their names are looked at: it allocates nothing for each.
func TestPerfTooMany(t *testing.T) {
	const n = 10_000
	var names []string
	var opts []ProfilingOption
	for i := range n {
		names = append(names, fmt.Sprintf("r%x", i+1))
		opts = append(opts, PerfEvent(new(bytes.Buffer), names[i], 0))
	}
	for _, test := range []struct {
		what  string
		start func(n int) error
		want  string
	}{
		{"PerfEvents", func(n int) error { return StartCPUProfileWithConfig(PerfEvents(io.Discard, 0, names[:n]...)) },
			"cpu profile: %d events at once; at most 8 can be sampled"},
		{"options", func(n int) error { return StartCPUProfileWithConfig(opts[0], opts[1:n]...) },
			"cpu profile: %d events at once; at most 8 can be sampled"},
		{"both", func(n int) error {
			return StartCPUProfileWithConfig(opts[0], PerfEvents(io.Discard, 0, names[1:n]...))
		}, "cpu profile: %d events at once; at most 8 can be sampled"},
		{"OpenCounters", func(n int) error { _, err := OpenCounters(names[:n]...); return err },
			"counters: %d events at once; at most 8 can be counted"},
	} {
		var allocs [2]uint64
		for i, n := range []int{9, n} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := test.start(n)
			runtime.ReadMemStats(&after)
			allocs[i] = after.Mallocs - before.Mallocs
			if want := fmt.Sprintf(test.want, n); err == nil || err.Error() != want {
				t.Errorf("%s: %v, want %s", test.what, err, want)
			}
		}
		t.Logf("%s: %d allocations for 9 events, %d for %d", test.what, allocs[0], allocs[1], n)
		if allocs[1] > allocs[0]+1000 {
			t.Errorf("%s: %d allocations for 9 events, %d for %d", test.what, allocs[0], allocs[1], n)
		}
	}
}

// TestPerfEventsNoSwitch checks that several events of one profile need no
// environment variable, and several profiles do.
func TestPerfEventsNoSwitch(t *testing.T) {
	perfNeeds(t, "task-clock")
	t.Setenv(multipleEnv, "")
	var buf bytes.Buffer
	names := []string{"task-clock", "cpu-clock", "page-faults", "minor-faults", "major-faults", "alignment-faults", "emulation-faults", "task-clock:I"}
	if err := StartCPUProfileWithConfig(PerfEvents(&buf, 0, names...)); err != nil {
		t.Fatal(err)
	}
	StopCPUProfile()
	if buf.Len() == 0 {
		t.Error("no profile")
	}
	const remedy = "cpu profile: 2 profiles at once need GO_PPROF_ENABLE_MULTIPLE_CPU_PROFILES=true in the environment; one profile of several events, by PerfEvents, does not"
	for _, opts := range [][]ProfilingOption{
		{PerfEvent(&buf, "task-clock", 0), PerfEvent(io.Discard, "page-faults", 0)},
		{PerfEvents(&buf, 0, "task-clock", "page-faults"), PerfEvent(io.Discard, "cpu-clock", 0)},
		{OSTimer(&buf), PerfEvents(io.Discard, 0, "task-clock", "page-faults")},
	} {
		if err := perfWantError(t, opts); err.Error() != remedy {
			t.Errorf("%v", err)
		}
	}
	// Nine are as many as ever.
	perfWantError(t, []ProfilingOption{PerfEvents(&buf, 0, append(names, "cs")...)}, "9 events at once; at most 8")
}

// TestPerfPrecisionEnv checks GO_PPROF_PRECISION.
func TestPerfPrecisionEnv(t *testing.T) {
	perfNeeds(t, "task-clock")
	for _, v := range []string{"4", "-1", "03", "ppp", "true", " 3", strings.Repeat("x", 1000)} {
		t.Setenv(precisionEnv, v)
		perfWantError(t, []ProfilingOption{PerfEvent(io.Discard, "task-clock", 0)}, "GO_PPROF_PRECISION=", "not a level of precision from 0 to 3")
		if err := StartCPUProfileWithConfig(OSTimer(io.Discard)); err != nil {
			t.Errorf("the timer: %v", err)
		}
		StopCPUProfile()
	}
	comments := func(event string) (string, error) {
		var buf bytes.Buffer
		if err := StartCPUProfileWithConfig(PerfEvent(&buf, event, 1<<40)); err != nil {
			return "", err
		}
		StopCPUProfile()
		p, err := profile.Parse(&buf)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(p.Comments, "\n") + "\n", nil
	}
	for level, mods := range []string{"", ":p", ":pp", ":ppp"} {
		t.Setenv(precisionEnv, fmt.Sprint(level))
		got, err := comments("task-clock")
		if want := fmt.Sprintf("GO_PPROF_PRECISION=%d: ignored, as clock events have no levels of precision\n", level); err != nil || !strings.Contains(got, want) {
			t.Errorf("level %d: %v, %s", level, err, got)
		}

		got, err = comments("cycles")
		_, plain := comments("cycles:p")
		switch {
		case err == nil:
			for _, want := range []string{"event: cycles" + mods + "\n", fmt.Sprintf("precise_ip: %d\n", level)} {
				if !strings.Contains(got, want) {
					t.Errorf("level %d: no %q in\n%s", level, want, got)
				}
			}
		case level == 0:
			if strings.Contains(err.Error(), precisionEnv) {
				t.Errorf("level 0: %v", err)
			}
		case errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.EOPNOTSUPP):
			if want := fmt.Sprintf("; it is GO_PPROF_PRECISION=%d that asks for this precision", level); !strings.HasSuffix(err.Error(), want) || !strings.Contains(err.Error(), "cycles"+mods) {
				t.Errorf("level %d: %v", level, err)
			}
			if strings.Contains(plain.Error(), precisionEnv) {
				t.Errorf("cycles:p by name: %v", plain)
			}
		default:
			var pe *perfevent.Error
			if want := fmt.Sprintf("; it is GO_PPROF_PRECISION=%d that asks for this precision", level); !errors.As(err, &pe) || !strings.HasSuffix(pe.Reason, want) {
				t.Errorf("level %d: %v", level, err)
			}
		}
		if got, err := comments("cycles:pp"); err == nil && !strings.Contains(got, "ignored, as the event's name has its own level") {
			t.Errorf("cycles:pp: %s", got)
		}

		// Counting knows no precision.
		if c, err := OpenCounters("task-clock"); err != nil {
			t.Error(err)
		} else {
			c.Close()
		}
	}
	t.Setenv(precisionEnv, "")
	if got, err := comments("task-clock"); err != nil || strings.Contains(got, precisionEnv) {
		t.Errorf("without the variable: %v, %s", err, got)
	}
}

// TestPerfWithoutSamples checks that a profile without samples says so, and
// another one does not.
func TestPerfWithoutSamples(t *testing.T) {
	perfNeeds(t, "task-clock")
	// The first period is random, up to the period.
	r := perfProfileOf(t, []perfReq{{"major-faults", 1 << 40}}, func() { perfSpin(20 * time.Millisecond) })[0]
	if want := "no samples: the program was idle, or the event is rarer than its period"; !strings.Contains(r.ledger(), want) {
		t.Errorf("no %q in\n%s", want, r.ledger())
	}
	r = perfProfileOf(t, []perfReq{{"task-clock", 1e6}}, func() { perfSpin(50 * time.Millisecond) })[0]
	if r.total() == 0 || strings.Contains(r.ledger(), "no samples") {
		t.Errorf("%d samples in\n%s", r.total(), r.ledger())
	}
}

func TestSilentCause(t *testing.T) {
	for _, test := range []struct {
		event            string
		counted, running uint64
		want             string
	}{
		{"cycles", 0, 5e6, errProbeSilent.Error()},
		{"cycles", 0, 999_999, ""}, // too short to say
		{"cycles", 0, 0, ""},
		{"cycles", 1000, 5e6, ""}, // less than a period
		{"cycles:k", 0, 5e6, ""},  // never in the kernel
		{"cycles:G", 0, 5e6, ""},  // no guest
		{"cycles:H", 0, 5e6, errProbeSilent.Error()},
		{"task-clock", 0, 5e6, errProbeSilent.Error()},
		{"cache-misses", 0, 5e9, ""},
		{"page-faults", 0, 5e9, ""},
		{"major-faults", 0, 5e9, ""},
	} {
		e, err := new(perfevent.Resolver).Parse(test.event)
		if err != nil {
			t.Fatal(err)
		}
		if got := silentCause(e, test.counted, test.running); got != test.want {
			t.Errorf("%s: counted %d in %d ns: %q", test.event, test.counted, test.running, got)
		}
	}
}
