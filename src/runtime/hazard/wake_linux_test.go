// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard_test

import (
	"context"
	"errors"
	. "runtime/hazard"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestWoken tests that each kind of change wakes who waits, rather than that he sees it when he looks.
// One wake that he does not sleep through is enough: a change may come before he sleeps.
func TestWoken(t *testing.T) {
	c := publish(t)
	for _, do := range []string{"set %[1]d", "stop", "execfails", "longstop"} {
		t.Run(strings.Fields(do)[0], func(t *testing.T) {
			wakes := CountWakes(t)
			w := c.open()
			s := waitUntil(t, w, "OK", func(s Status) bool { return s.State != Stopped })
			want := int64(1)
			if do == "longstop" {
				want = 2 // its end wakes as well
			}
			tries := 0
			for deadline := time.Now().Add(time.Minute); ; tries++ {
				if time.Now().After(deadline) {
					t.Fatalf("%d wakes by one %s of %d", wakes.Load(), do, tries)
				}
				s = settle(t, w, s)
				wakes.Store(0)
				n := s.Number
				if strings.Contains(do, "%") {
					c.do(do, []State{Draining, OK}[tries%2])
				} else {
					c.do("%s", do)
				}
				for s.Number == n {
					var err error
					if s, err = w.Wait(t.Context(), s); err != nil {
						t.Fatal(err)
					}
				}
				if s = settle(t, w, s); wakes.Load() >= want {
					break
				}
			}
			t.Logf("after %d times that have not", tries)
			w.Close()
		})
	}
}

// settle waits until nothing has changed for some time, so that who waits sleeps.
func settle(t *testing.T, w *Watcher, s Status) Status {
	t.Helper()
	for {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		next, err := w.Wait(ctx, s)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) && next.State != Stopped {
			return next
		}
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		s = next
	}
}

// TestFutexErrors tests that Wait does not take an error for a change, time and again.
func TestFutexErrors(t *testing.T) {
	c := publish(t)
	for _, errno := range []syscall.Errno{syscall.ENOSYS, syscall.EPERM, syscall.EFAULT} {
		starts, calls := FutexErrors(t, errno)
		w := c.open()
		s := status(t, w)
		for err := error(nil); err == nil; {
			if s, err = w.Wait(t.Context(), s); err != nil && !errors.Is(err, errno) {
				t.Errorf("Wait: %v, want %v", err, errno)
			}
		}
		if n := calls.Load(); n == 0 || n > starts.Load() {
			t.Errorf("%v: %d calls by a thread that was started %d times", errno, n, starts.Load())
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}
