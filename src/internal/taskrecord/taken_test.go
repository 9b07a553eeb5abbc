// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

// TestTakenFiles tests what is read in the kernel's files, by made-up ones.
func TestTakenFiles(t *testing.T) {
	const v1 = "nr_periods 32\nnr_throttled 30\nthrottled_time 1826797616\nnr_bursts 0\nburst_time 0\n"
	const v2 = "usage_usec 100\nuser_usec 60\nsystem_usec 40\nnr_periods 32\nnr_throttled 30\nthrottled_usec 1826797\nnr_bursts 0\nburst_usec 0\n"
	const stat = "cpu  10 20 30 40 50 60 70 123 90 100\ncpu0 1 2 3 4 5 6 7 999 9 10\nintr 5\n"
	for _, tt := range []struct {
		name  string
		parse func(b []byte) (time.Duration, error)
		file  string
		want  time.Duration // or -1 if it is not known
	}{
		{"cpu.stat, version 1", ParseThrottled, v1, 1826797616},
		{"cpu.stat, version 2", ParseThrottled, v2, 1826797000},
		{"cpu.stat, version 2, no quota", ParseThrottled, "usage_usec 100\nuser_usec 60\nsystem_usec 40\n", 0},
		{"cpu.stat, without a line's end", ParseThrottled, "throttled_usec 7", 7000},
		{"cpu.stat, empty", ParseThrottled, "", -1},
		{"cpu.stat, no number", ParseThrottled, "throttled_usec many\n", -1},
		{"cpu.stat, negative", ParseThrottled, "throttled_time -5\n", -1},
		{"cpu.stat, too large", ParseThrottled, "throttled_usec 9223372036854775807\n", -1},
		{"schedstat", ParseDelay, "1000 2000 3\n", 2000},
		{"schedstat, never waited", ParseDelay, "1000 0 3\n", 0},
		{"schedstat, not counted", ParseDelay, "0 0 0\n", -1},
		{"schedstat, short", ParseDelay, "1000\n", -1},
		{"schedstat, empty", ParseDelay, "", -1},
		{"stat", ParseStolen, stat, 1230 * time.Millisecond},
		{"stat, before Linux 2.6.11", ParseStolen, "cpu  10 20 30 40 50 60 70\ncpu0 1 2 3 4 5 6 7\n", -1},
		{"stat, without a sum", ParseStolen, "cpu0 1 2 3 4 5 6 7 8 9 10\n", -1},
	} {
		got, err := tt.parse([]byte(tt.file))
		if err != nil {
			got = -1
		}
		if got != tt.want {
			t.Errorf("%s: %d, %v; want %d", tt.name, got, err, tt.want)
		}
	}
}

// TestTakenCause tests that a cause is named only where the numbers leave no other.
func TestTakenCause(t *testing.T) {
	const s = time.Second
	const quota, others, hypervisor = "the quota", "other threads, of this program or another", "the hypervisor"
	for _, tt := range []struct {
		name string
		t    Taken
		want string
	}{
		{"a quota", Taken{Preempted: 6 * s, Throttled: 5800 * testMs, Delay: 6100 * testMs}, quota},
		{"a quota, and threads that waited as well", Taken{Preempted: 6 * s, Throttled: 5800 * testMs, Delay: 8 * s}, quota},
		{"a quota, and threads that waited as much", Taken{Preempted: 6 * s, Throttled: 5800 * testMs, Delay: 12 * s}, ""},
		{"a quota, and steal as much", Taken{Preempted: 6 * s, Throttled: 5800 * testMs, Delay: 6 * s, Stolen: 4 * s}, ""},
		{"a quota that took a third", Taken{Preempted: 6 * s, Throttled: 2 * s, Delay: 6 * s}, others},
		{"a quota that took half", Taken{Preempted: 6 * s, Throttled: 3 * s, Delay: 6 * s}, ""},
		{"others", Taken{Preempted: 6 * s, Delay: 6100 * testMs}, others},
		{"others, and a quota of other threads", Taken{Preempted: 6 * s, Throttled: 6 * s, Delay: 12 * s}, ""},
		{"a hypervisor", Taken{Preempted: 6 * s, Delay: 100 * testMs, Stolen: 7 * s}, hypervisor},
		{"a hypervisor, from other CPUs", Taken{Preempted: 6 * s, Delay: 6 * s, Stolen: 50 * s}, ""},
		{"a hypervisor takes little", Taken{Preempted: 6 * s, Delay: 6 * s, Stolen: s}, others},
		{"nothing of it", Taken{Preempted: 6 * s}, ""},
		{"threads that have ended, and a quota", Taken{Preempted: 6 * s, Throttled: 4 * s, Delay: 4 * s}, ""},
		{"little", Taken{Preempted: testMs, Throttled: testMs, Delay: testMs}, ""},
	} {
		tt.t.Known = allTakenKnown
		got := tt.t.cause()
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if words := tt.t.Words(); got != "" != strings.Contains(words, "So most of it was "+got+".") {
			t.Errorf("%s: %s", tt.name, words)
		}
		for _, known := range []TakenKnown{ThrottledKnown, DelayKnown, StolenKnown} {
			x := tt.t
			x.Known &^= known
			if got := x.cause(); got != "" {
				t.Errorf("%s: %q, but %d is not known", tt.name, got, known)
			}
		}
	}
	const want = "Threads that worked for tasks had no CPU for 6 s, and did not sleep. In the same time " +
		"the CPU quota has stopped the program's control group for 5.8 s (a sum over CPUs), " +
		"all threads of the program have waited for a CPU for 6.1 s, a hypervisor has taken 0 ns from all CPUs. " +
		"So most of it was the quota."
	if got := (Taken{6 * s, 5800 * testMs, 6100 * testMs, 0, allTakenKnown}).Words(); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}

// TestTakenSums tests what was taken in two times.
func TestTakenSums(t *testing.T) {
	base := Taken{1, 10, 100, 1000, allTakenKnown}
	later := Taken{3, 30, 90, 3000, ThrottledKnown | DelayKnown} // a thread has ended
	want := Taken{2, 20, 0, 2000, ThrottledKnown | DelayKnown}
	if got := later.Since(base); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got := (Taken{}).Plus(want); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := want.Plus(base), (Taken{3, 30, 100, 3000, ThrottledKnown | DelayKnown}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestTakenMark tests that a mark of an older release, which says nothing of what was taken, is read, and
// one that says what cannot be is not.
func TestTakenMark(t *testing.T) {
	header := func(add func(c *coder)) []byte {
		c := coder{b: appendString([]byte{endMark}, "p")}
		c.progress(new(Progress))
		add(&c)
		return c.b
	}
	for _, tt := range []struct {
		name string
		add  func(c *coder)
		ok   bool
		want Taken
	}{
		{"older", func(c *coder) {}, true, Taken{}},
		{"this", func(c *coder) { c.taken(&Taken{1, 2, 3, 4, DelayKnown}) }, true, Taken{1, 2, 3, 4, DelayKnown}},
		{"later", func(c *coder) { c.taken(&Taken{Delay: 3}); c.b = append(c.b, 7) }, true, Taken{Delay: 3}},
		{"negative", func(c *coder) {
			d := time.Duration(-1)
			unsigned(c, new(uint8))
			signed(c, &d)
			c.b = append(c.b, 0, 0, 0)
		}, false, Taken{}},
		{"too large", func(c *coder) {
			d := time.Duration(maxTaken + 1)
			unsigned(c, new(uint8))
			signed(c, &d)
			c.b = append(c.b, 0, 0, 0)
		}, false, Taken{}},
		{"cut", func(c *coder) { c.b = append(c.b, 7) }, false, Taken{}},
	} {
		c := coder{reading: true, b: header(tt.add)}
		m := c.mark()
		if ok := c.err == nil; ok != tt.ok || ok && m.Taken != tt.want {
			t.Errorf("%s: %v, %v", tt.name, m, c.err)
		}
	}
	// A whole file without them.
	var file bytes.Buffer
	w := NewFileWriter(&file, new(Server))
	w.Mark(&Mark{Process: "p", Taken: Taken{Preempted: 5}})
	var got *Mark
	r := NewFileReader(&file)
	r.Mark = func(m *Mark) { got = m }
	if _, err := r.Next(); err != io.EOF || got == nil || got.Taken.Preempted != 5 {
		t.Errorf("%v, %v", got, err)
	}
}
