// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard_test

import (
	"context"
	"errors"
	. "runtime/hazard"
	"syscall"
	"testing"
	"time"
)

const bySignal = "silent: stopped by a signal"

func frozen(s Status) bool { return s.State == Stopped && s.Reason == bySignal }

// untilIdle waits until w has no thread any more, as nobody has waited for some time.
func untilIdle(t *testing.T, w *Watcher) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); Sleeping(w); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it waits on in the kernel, though nobody does")
		}
	}
}

// TestFrozenBefore tests a process that is stopped before anybody waits, so that it is never heard.
func TestFrozenBefore(t *testing.T) {
	c := publish(t)
	c.cmd.Process.Signal(syscall.SIGSTOP)
	w := c.open()
	s := waitUntil(t, w, "SIGSTOP", frozen)
	if s.Silent <= 0 || s.Silent > time.Hour {
		t.Errorf("silent for %v", s.Silent)
	}
	c.cmd.Process.Signal(syscall.SIGCONT)
	waitUntil(t, w, "SIGCONT", func(s Status) bool { return s.State == OK })
}

// TestFrozenTwice tests that who waits again after some time is told the same of a process that is
// stopped all the time.
func TestFrozenTwice(t *testing.T) {
	c := publish(t)
	w := c.open()
	waitUntil(t, w, "OK", func(s Status) bool { return s.State == OK })
	c.cmd.Process.Signal(syscall.SIGSTOP)
	first := waitUntil(t, w, "SIGSTOP", frozen)
	untilIdle(t, w)
	again, err := w.Wait(t.Context(), Status{})
	if err != nil || !frozen(again) {
		t.Fatalf("again: %+v, %v", again, err)
	}
	if !again.Since.Round(time.Second).Equal(first.Since.Round(time.Second)) && again.Since.Sub(first.Since).Abs() > time.Second {
		t.Errorf("stopped since %v, before since %v", again.Since, first.Since)
	}
	// It stays so for as many looks as it takes to know.
	for range 150 {
		ctx, cancel := context.WithTimeout(t.Context(), 11*time.Millisecond)
		s, err := w.Wait(ctx, again)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("later: %+v, %v", s, err)
		}
	}
	if s := status(t, w); !frozen(s) {
		t.Errorf("status: %+v", s)
	}
	// Who does not wait sees the end of it, too.
	untilIdle(t, w)
	c.cmd.Process.Signal(syscall.SIGCONT)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if s := status(t, w); s.State == OK && s.Silent == 0 {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("after SIGCONT: %+v", s)
		}
	}
}

// TestSilent tests that a process that has not been heard yet is not silent since it began, or
// since the machine did.
func TestSilent(t *testing.T) {
	c := publish(t)
	c.must("stop")
	w := c.open()
	begin := time.Now()
	s := waitUntil(t, w, "OK", func(s Status) bool { return s.State == OK })
	for range 50 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		next, err := w.Wait(ctx, s)
		cancel()
		if err == nil {
			s = next
		} else if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		// It is heard after a second, and may be late after that.
		if s := status(t, w); s.Silent > time.Since(begin) {
			t.Fatalf("silent for %v of %v: %+v", s.Silent, time.Since(begin), s)
		}
	}
	untilIdle(t, w)
	if s := status(t, w); s.Silent != 0 {
		t.Errorf("silent for %v, though nobody listens", s.Silent)
	}
}
