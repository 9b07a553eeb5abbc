// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	. "runtime/hazard"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// follow returns the changes after a number as "number state program reason".
func follow(t *testing.T, w *Watcher, after uint64) (list []string) {
	t.Helper()
	changes, missed, err := w.Changes(after)
	if err != nil || missed != 0 {
		t.Fatalf("missed %d, %v", missed, err)
	}
	for i, c := range changes {
		if c.Number != after+1+uint64(i) {
			t.Errorf("change %d, want %d", c.Number, after+1+uint64(i))
		}
		list = append(list, strings.TrimSpace(fmt.Sprintf("%v %v %s", c.State, c.Program, c.Reason)))
	}
	return list
}

func checkChanges(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("changes:\n\t%s\nwant:\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// waitUntil waits for a status that is as it should be.
func waitUntil(t testing.TB, w *Watcher, what string, ok func(Status) bool) Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for s := (Status{}); ; {
		next, err := w.Wait(ctx, s)
		if err != nil {
			t.Fatalf("waiting for %s: %v after %+v", what, err, s)
		}
		if s = next; ok(s) {
			return s
		}
	}
}

// TestNesting tests that what shows is the first that holds of what the runtime and the program
// say, and that each of them comes back after the others.
func TestNesting(t *testing.T) {
	c := publish(t)
	w := c.open()
	first := status(t, w)
	if first.Number == 0 || first.State != OK || first.Count(OK) == 0 || first.PID != c.cmd.Process.Pid {
		t.Errorf("first status: %+v", first)
	}
	c.must("stop")
	checkChanges(t, follow(t, w, first.Number), "Stopped OK read mem stats", "OK OK")

	n := status(t, w).Number
	c.must("set %d new version", Draining)
	c.must("stop")
	c.must("set %d new version", Draining) // changes nothing
	c.must("gc")
	c.must("set %d", OK)
	checkChanges(t, follow(t, w, n),
		"Draining Draining new version",
		"Stopped Draining read mem stats",
		"Draining Draining new version",
		"Stopped Draining GC sweep termination",
		"Draining Draining new version", // rather than Collecting
		"Stopped Draining GC mark termination",
		"Draining Draining new version",
		"OK OK")

	n = status(t, w).Number
	c.must("gc")
	checkChanges(t, follow(t, w, n),
		"Stopped OK GC sweep termination",
		"Collecting OK GC mark",
		"Stopped OK GC mark termination",
		"OK OK")

	s := status(t, w)
	if s.Count(Stopped) != first.Count(Stopped)+6 || s.Count(Collecting) != first.Count(Collecting)+1 || s.Count(Draining) != 4 {
		t.Errorf("stopped %d times, want %d, collecting %d, want %d, draining %d, want 4", s.Count(Stopped), first.Count(Stopped)+6,
			s.Count(Collecting), first.Count(Collecting)+1, s.Count(Draining))
	}
	for _, state := range []State{Stopped, Collecting, Draining} {
		if s.Time(state) <= 0 {
			t.Errorf("no time in state %v", state)
		}
	}
}

// TestSetErrors tests what can't be set.
func TestSetErrors(t *testing.T) {
	p, err := Publish(tempDir(t) + "/page")
	if err != nil {
		t.Fatal(err)
	}
	w, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	before := status(t, w).Number
	for _, s := range []State{Collecting, Stopped, Gone, Gone + 1, 255} {
		if err := p.Set(s, ""); err == nil {
			t.Errorf("Set(%v): no error", s)
		}
	}
	for _, r := range []string{strings.Repeat("x", MaxReason+1), "a\nb", "\xff", "\x7f", "\u0085"} {
		if err := p.Set(Draining, r); err == nil {
			t.Errorf("reason %q: no error", r)
		}
	}
	if s := status(t, w); s.Program != OK {
		t.Errorf("after errors: %+v, before: %d", s, before)
	}
	reason := strings.Repeat("ä", MaxReason/2)
	if err := p.Set(Overloaded, reason); err != nil {
		t.Fatal(err)
	}
	list, _, err := w.Changes(before)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(list, func(c Change) bool { return c.State == Overloaded && c.Reason == reason }) {
		t.Errorf("no change has the reason %q: %+v", reason, list)
	}
	if n := testing.AllocsPerRun(100, func() { p.Set(Overloaded, "queue"); p.Set(OK, "") }); n != 0 {
		t.Errorf("Set allocates %v times", n)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Set(OK, "x"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Set after Close: %v", err)
	}
	if err := p.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("second Close: %v", err)
	}
	if s := status(t, w); s.State != Gone || s.Reason != "closed" {
		t.Errorf("after Close: %+v", s)
	}
	var none *Publisher
	if none.Set(Draining, "") != nil || none.Close() != nil {
		t.Error("a nil Publisher does something")
	}
}

// TestKill tests that the end of a process is seen, of whatever kind.
func TestKill(t *testing.T) {
	for _, end := range []string{"kill", "return", "exit"} {
		t.Run(end, func(t *testing.T) {
			c := publish(t)
			w := c.open()
			s := waitUntil(t, w, "OK", func(s Status) bool { return s.State == OK })
			if end == "kill" {
				c.cmd.Process.Kill() // and does not collect it: it is a zombie
			} else {
				fmt.Fprintln(c.in, end)
			}
			s = waitUntil(t, w, "the end", func(s Status) bool { return s.State == Gone })
			if want := "the process has ended"; end == "kill" && s.Reason != want {
				t.Errorf("reason %q, want %q", s.Reason, want)
			}
			if _, err := w.Wait(t.Context(), s); !errors.Is(err, os.ErrProcessDone) {
				t.Errorf("Wait after the end: %v", err)
			}
			c.cmd.Wait()
			if again := status(t, w); again.State != Gone {
				t.Errorf("after the end: %+v", again)
			}
			_, err := Open(c.file)
			if end == "kill" && !errors.Is(err, os.ErrProcessDone) || end != "kill" && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Open after the end: %v", err)
			}
			// Another one takes over.
			if _, answer := start(t, c.file); answer != "ok" {
				t.Errorf("publishing again: %s", answer)
			}
		})
	}
}

// TestExec tests that a process that executes another program is gone, and that nobody is told so if
// that fails.
func TestExec(t *testing.T) {
	c := publish(t)
	w := c.open()
	n := status(t, w).Number
	if a := c.do("execfails"); !strings.Contains(a, "no such file") {
		t.Error(a)
	}
	checkChanges(t, follow(t, w, n), "Stopped OK execve", "OK OK")
	c.must("exec")
	waitUntil(t, w, "execve", func(s Status) bool { return s.State == Gone })
	if list := follow(t, w, n+2); !slices.Contains(list, "Stopped OK execve") {
		t.Errorf("changes: %q", list)
	}
	if err := c.cmd.Process.Signal(syscall.Signal(0)); err != nil {
		t.Fatalf("the process has ended: %v", err)
	}
	// Locks of the file go with it.
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		_, err := Open(c.file)
		if errors.Is(err, os.ErrProcessDone) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("Open after execve: %v", err)
		}
	}
}

// TestRawExec tests the same of execve that C calls: the runtime does not know.
func TestRawExec(t *testing.T) {
	c := publish(t)
	w, waiter := c.open(), c.open()
	waitUntil(t, waiter, "OK", func(s Status) bool { return s.State == OK })
	c.must("rawexec")
	waitUntil(t, waiter, "execve", func(s Status) bool { return s.State == Gone })
	if s := status(t, w); s.State != Gone {
		t.Errorf("who has not waited: %+v", s)
	}
	if err := c.cmd.Process.Signal(syscall.Signal(0)); err != nil {
		t.Fatalf("the process has ended: %v", err)
	}
}

// TestCut tests that nobody is harmed if somebody cuts the file: not the process that publishes,
// which stores into it while the world is stopped, and not those who read.
func TestCut(t *testing.T) {
	for _, mlock := range []string{"on", "off"} {
		t.Run("mlock "+mlock, func(t *testing.T) {
			c, answer := startWith(t, tempDir(t)+"/page", func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "HAZARD_TEST_MLOCK="+mlock) })
			if answer != "ok" {
				t.Fatal(answer)
			}
			testCut(t, c)
		})
	}
}

func testCut(t *testing.T, c *child) {
	w := c.open()
	waitUntil(t, w, "OK", func(s Status) bool { return s.State == OK })
	c.must("cut")
	c.must("stop") // faults in perfHazardChanged
	c.must("gc")
	if a := c.do("set %d", Draining); !strings.Contains(a, "was cut") {
		t.Errorf("Set: %s", a)
	}
	if _, err := w.Status(); err == nil || !strings.Contains(err.Error(), "is cut") {
		t.Errorf("Status: %v", err)
	}
	if _, err := w.Wait(t.Context(), Status{}); err == nil || !strings.Contains(err.Error(), "is cut") {
		t.Errorf("Wait: %v", err)
	}
	c.must("close")
	c.must("publish %s", c.file)
	c.must("set %d again", Draining)
	if s := status(t, c.open()); s.Program != Draining {
		t.Errorf("published again: %+v", s)
	}
	c.must("stop")
}

// TestCutAndGrown tests that a program learns that nobody can open its page if the file is cut, and has
// its size again before the next change.
func TestCutAndGrown(t *testing.T) {
	file := tempDir(t) + "/page"
	p, err := Publish(file)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, size := range []int64{0, 4096} {
		if err := os.Truncate(file, size); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Set(Draining, ""); err == nil || !strings.Contains(err.Error(), "was cut") {
		t.Errorf("Set: %v", err)
	}
	if w, err := Open(file); err == nil {
		w.Close()
		t.Error("the page can be opened")
	}
}

// TestCutInside is TestCutAndGrown for a file of which the first line is left, and a Set that changes
// nothing.
func TestCutInside(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC() // from now on, the runtime changes nothing
	file := tempDir(t) + "/page"
	p, err := Publish(file)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, size := range []int64{64, 65, 256, 512} {
		if err := p.Set(Draining, strconv.FormatInt(size, 10)); err != nil {
			t.Fatal(err)
		}
		for _, size := range []int64{size, 4096} {
			if err := os.Truncate(file, size); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Set(Draining, strconv.FormatInt(size, 10)); err == nil || !strings.Contains(err.Error(), "was cut") {
			t.Errorf("cut to %d bytes: %v", size, err)
		}
	}
	if err := p.Set(Draining, "whole again"); err != nil {
		t.Error(err)
	}
}

// TestCutWhileWaiting tests that who waits already learns of it.
func TestCutWhileWaiting(t *testing.T) {
	c := publish(t)
	w := c.open()
	s := waitUntil(t, w, "OK", func(s Status) bool { return s.State == OK })
	failed := make(chan error)
	go func() {
		for err := error(nil); err == nil; {
			s, err = w.Wait(t.Context(), s)
			if err != nil {
				failed <- err
			}
		}
	}()
	c.must("cut")
	select {
	case err := <-failed:
		if !strings.Contains(err.Error(), "is cut") {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("Wait does not return")
	}
}

// TestWaitEnds tests that Wait returns when its context ends, and when the Watcher is closed.
func TestWaitEnds(t *testing.T) {
	c := publish(t)
	w := c.open()
	s := waitUntil(t, w, "OK", func(s Status) bool { return s.State == OK })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	wait := func() {
		for err := error(nil); err == nil; {
			if s, err = w.Wait(ctx, s); err != nil {
				ended <- err
			}
		}
	}
	go wait()
	cancel()
	if err := <-ended; err != context.Canceled {
		t.Error(err)
	}
	ctx = t.Context()
	go wait()
	w.Close()
	if err := <-ended; !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	if _, err := w.Status(); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	if err := w.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
}

// TestStopped tests that a watcher learns of a stop that the process does not know of.
func TestStopped(t *testing.T) {
	c := publish(t)
	w := c.open()
	for range 3 {
		s := waitUntil(t, w, "OK", func(s Status) bool { return s.State == OK })
		// Then it takes three looks to know.
		if err := WaitHeard(t.Context(), w, s); err != nil {
			t.Fatal(err)
		}
		c.cmd.Process.Signal(syscall.SIGSTOP)
		s = waitUntil(t, w, "SIGSTOP", frozen) // maybe after another reason, if the machine is busy
		if s.Silent <= 0 || s.Program != OK {
			t.Errorf("stopped: %+v", s)
		}
		c.cmd.Process.Signal(syscall.SIGCONT)
	}
	waitUntil(t, w, "the end of it", func(s Status) bool { return s.State == OK })
}
