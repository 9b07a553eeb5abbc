// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A fakeProcess has files of the kernel's.
type fakeProcess struct {
	t   *testing.T
	pid int
}

// newFakeProcess returns one with the ID of this process, whose CPU time is known.
func newFakeProcess(t *testing.T) fakeProcess {
	proc, cgroup := procFS, cgroupFS
	t.Cleanup(func() { procFS, cgroupFS = proc, cgroup })
	procFS, cgroupFS = t.TempDir(), t.TempDir()
	return fakeProcess{t, os.Getpid()}
}

func (f fakeProcess) write(name, format string, args ...any) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(name, fmt.Appendf(nil, format, args...), 0o666); err != nil {
		f.t.Fatal(err)
	}
}

// states sets the states of the first thread and of another one.
func (f fakeProcess) states(first, other string) {
	const rest = " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 22"
	dir := procDir(f.pid)
	f.write(dir+"/stat", "%d (a ) R (b) %s%s\n", f.pid, first, rest)
	f.write(fmt.Sprintf("%s/task/%d/stat", dir, f.pid), "%d (a ) R (b) %s%s\n", f.pid, first, rest)
	f.write(dir+"/task/1/stat", "1 (x) %s%s\n", other, rest)
}

// TestAsk tests what reasons are found in the kernel's files.
func TestAsk(t *testing.T) {
	f := newFakeProcess(t)
	dir := procDir(f.pid)
	check := func(what string, q *silence, want string) {
		t.Helper()
		if got, known := q.ask(f.pid); got != want || known == (what == "the first look") {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	check("no files", &silence{}, "")
	f.states("T", "T")
	check("SIGSTOP", &silence{}, "silent: stopped by a signal")
	f.states("t", "t")
	check("ptrace", &silence{}, "silent: stopped by a tracer")
	if s, err := readStat(dir); err != nil || s.start != 4711 || s.state != 't' {
		t.Errorf("%+v, %v", s, err)
	}

	defer func(f func(int) (int64, bool)) { cpuTimeOf = f }(cpuTimeOf)
	var nanos int64
	cpuTimeOf = func(int) (int64, bool) { return nanos, true }
	f.states("S", "R")
	q := &silence{}
	check("the first look", q, "")
	check("no CPU", q, "silent: no CPU")
	nanos++
	check("it runs", q, "")
	f.states("S", "S")
	check("it sleeps", q, "")
	f.states("D", "D")
	check("it waits for a disk", q, "")

	for _, version := range []struct{ line, file string }{
		{"0::/a/b", "/a/b/cpu.stat"},
		{"3:memory:/x\n2:cpu,cpuacct:/a\n0::/none", "/cpu/a/cpu.stat"},
	} {
		f.states("S", "R")
		f.write(dir+"/cgroup", "%s\n", version.line)
		f.write(cgroupFS+version.file, "nr_periods 7\nnr_throttled 3\nthrottled_usec 4\n")
		q := &silence{}
		check("the first look", q, "")
		check("a quota that has not been reached", q, "silent: no CPU")
		f.write(cgroupFS+version.file, "nr_periods 8\nnr_throttled 4\nthrottled_usec 4\n")
		check("a period is over", q, "silent: no CPU: quota")
		check("later in this silence", q, "silent: no CPU: quota")

		// What has been cut short before the next silence has not made it.
		f.write(cgroupFS+version.file, "nr_periods 9\nnr_throttled 5\nthrottled_usec 4\n")
		q.hear(&rawStatus{beat: q.beat + 1}, runtime_nanotime())
		q.looks = missedLate
		check("the first look", q, "")
		check("the next silence", q, "silent: no CPU")
	}
	f.write(dir+"/stat", "garbage")
	check("garbage", &silence{}, "")
}

// TestThaws tests that a process that no signal stops any more is not taken to be stopped until there
// is another reason.
func TestThaws(t *testing.T) {
	f := newFakeProcess(t)
	defer func(f func(int) (int64, bool)) { cpuTimeOf = f }(cpuTimeOf)
	cpuTimeOf = func(int) (int64, bool) { return 1, true } // it has not run yet
	for _, state := range []string{"T", "t"} {
		f.states(state, state)
		q := &silence{}
		if !q.check(asker{f.pid}) || q.why == "" {
			t.Errorf("in state %s: %q", state, q.why)
		}
		f.states("R", "R")
		q.next = 0
		if !q.check(asker{f.pid}) || q.why != "" {
			t.Errorf("no more in state %s: %q", state, q.why)
		}
	}
}

// TestHalts tests a process whose first thread stops before others do.
func TestHalts(t *testing.T) {
	f := newFakeProcess(t)
	defer func(f func(int) (int64, bool)) { cpuTimeOf = f }(cpuTimeOf)
	var nanos int64
	cpuTimeOf = func(int) (int64, bool) { return nanos, true }
	for _, state := range []string{"T", "t"} {
		f.states(state, "R")
		q := &silence{}
		q.check(asker{f.pid})
		why := q.why
		f.states(state, state)
		nanos++ // of the other thread
		for range 100 {
			q.looks++
			if q.check(asker{f.pid}) || q.why != why || why == "" {
				t.Fatalf("in state %s: %q, then %q", state, why, q.why)
			}
		}
		f.states("R", "R")
		nanos++
		if !q.check(asker{f.pid}) || q.why != "" {
			t.Errorf("no more in state %s: %q", state, q.why)
		}
	}
}

// An asker asks the kernel's files.
type asker struct{ pid int }

func (a asker) ask(q *silence) (string, bool) { return q.ask(a.pid) }

// TestAskSeldom tests that what takes long is not asked each 10 ms of a process of which nothing changes,
// and is asked at once if something does.
func TestAskSeldom(t *testing.T) {
	f := newFakeProcess(t)
	defer func(f func(int) (int64, bool)) { cpuTimeOf = f }(cpuTimeOf)
	var nanos int64
	cpuTimeOf = func(int) (int64, bool) { return nanos, true }
	f.states("D", "D")
	q := &silence{}
	q.ask(f.pid)
	asked := 0
	for range 1000 {
		q.looks++
		next := q.next
		if why, known := q.ask(f.pid); why != "" || !known {
			t.Fatalf("in state D: %q", why)
		}
		if q.next != next {
			asked++
		}
	}
	if asked < 10 || asked > 20 {
		t.Errorf("asked %d times in 10 s", asked)
	}
	f.states("D", "R")
	for n := 1; ; n++ {
		q.looks++
		if why, _ := q.ask(f.pid); why != "" {
			break
		}
		if n == 100 {
			t.Fatal("not asked for a second")
		}
	}
	nanos++ // it runs
	if why, known := q.ask(f.pid); why != "" || !known || q.next != 0 {
		t.Errorf("it runs: %q; the next look is %d", why, q.next)
	}
}
