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
	"strings"
	"syscall"
	"testing"
)

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
	for level, mods := range []string{"", ":p", ":pp", ":ppp"} {
		t.Setenv(precisionEnv, fmt.Sprint(level))
		got, err := perfComments(t, "task-clock")
		if want := fmt.Sprintf("GO_PPROF_PRECISION=%d: ignored, as clock events have no levels of precision\n", level); err != nil || !strings.Contains(got, want) {
			t.Errorf("level %d: %v, %s", level, err, got)
		}

		perfCheckLevel(t, level, mods)
		if got, err := perfComments(t, "cycles:pp"); err == nil && !strings.Contains(got, "ignored, as the event's name has its own level") {
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
	if got, err := perfComments(t, "task-clock"); err != nil || strings.Contains(got, precisionEnv) {
		t.Errorf("without the variable: %v, %s", err, got)
	}
}

// perfComments returns the comments of an empty profile of the event.
func perfComments(t *testing.T, event string) (string, error) {
	t.Helper()
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

// perfCheckLevel tests the event cycles with a level of precision from the environment, for
// which its name would have the modifiers mods.
func perfCheckLevel(t *testing.T, level int, mods string) {
	t.Helper()
	got, err := perfComments(t, "cycles")
	_, plain := perfComments(t, "cycles:p")
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
}
