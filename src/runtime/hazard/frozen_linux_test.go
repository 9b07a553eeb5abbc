// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard_test

import (
	"context"
	"errors"
	"fmt"
	. "runtime/hazard"
	"syscall"
	"testing"
	"time"
)

func frozen(s Status) bool { return s.State == Stopped && s.Reason == BySignal }

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
}

// TestThawed tests that the first who looks is told that a process runs again that was stopped when
// nobody did: whether he waits or not, and whether the page has changed meanwhile or not.
func TestThawed(t *testing.T) {
	ask := map[string]func(w *Watcher) (Status, error){
		"Status": (*Watcher).Status,
		"Wait":   func(w *Watcher) (Status, error) { return w.Wait(t.Context(), Status{}) },
	}
	for name, ask := range ask {
		for _, change := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " change ", change), func(t *testing.T) {
				t.Parallel()
				c := publish(t)
				c.cmd.Process.Signal(syscall.SIGSTOP)
				w := c.open()
				waitUntil(t, w, "SIGSTOP", frozen)
				untilIdle(t, w)
				c.cmd.Process.Signal(syscall.SIGCONT) // the kernel says R at once
				if change {
					c.must("set %d", Draining)
					c.must("set %d", OK)
				}
				if s, err := ask(w); err != nil || s.State == Stopped && s.Reason == BySignal || s.Silent != 0 {
					t.Errorf("after SIGCONT: %+v, %v", s, err)
				}
			})
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
