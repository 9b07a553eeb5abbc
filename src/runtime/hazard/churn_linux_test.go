// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	. "runtime/hazard"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// threads returns how many threads this process has.
func threads(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// TestChurn tests that watchers that come and go leave no thread behind.
func TestChurn(t *testing.T) {
	c := publish(t)
	before := threads(t)
	const n = 150
	for range n {
		w, err := Open(c.file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := w.Wait(t.Context(), Status{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if _, err := w.Wait(ctx, s); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		cancel()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	// The runtime has some for the system calls of its own.
	if after := threads(t); after > before+n/5 {
		t.Errorf("%d threads before, %d after %d watchers", before, after, n)
	}
}

// TestPublishChurn tests that whoever opens a page while it is published and closed gets a whole one,
// or none.
func TestPublishChurn(t *testing.T) {
	n := 20000
	if testing.Short() {
		n = 2000
	}
	file := tempDir(t) + "/page"
	stop, done := make(chan struct{}), make(chan error)
	var opened atomic.Int64
	go func() {
		for {
			select {
			case <-stop:
				close(done)
				return
			default:
			}
			w, err := Open(file)
			switch {
			case err == nil:
				opened.Add(1)
				w.Close()
			case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, os.ErrProcessDone):
				done <- err
			}
		}
	}()
	failed := 0
	deadline := time.Now().Add(time.Minute)
	for i := 0; i < n || opened.Load() == 0 && time.Now().Before(deadline); i++ {
		p, err := Publish(file)
		if err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			if failed++; failed < 5 {
				t.Error(err)
			}
		default:
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	for err := range done {
		t.Error(err)
	}
	if opened.Load() == 0 {
		t.Error("no page has been opened")
	}
}

// TestPublishInStop tests that a page does not say that the program is well while the world is about to
// be stopped: then the first change would be the end of a stop that has never begun.
func TestPublishInStop(t *testing.T) {
	n := 5000
	if testing.Short() {
		n = 1000
	}
	file := tempDir(t) + "/page"
	stop := make(chan struct{})
	var stoppers sync.WaitGroup
	defer stoppers.Wait()
	defer close(stop)
	for range 2 {
		stoppers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					runtime.ReadMemStats(new(runtime.MemStats))
				}
			}
		})
	}
	seen := 0
	deadline := time.Now().Add(time.Minute)
	for range n {
		p, err := Publish(file)
		if err != nil {
			t.Fatal(err)
		}
		w, err := Open(file)
		if err != nil {
			t.Fatal(err)
		}
		list, _, err := w.Changes(0)
		for err == nil && len(list) < 2 && seen == 0 { // at least one of them
			if time.Now().After(deadline) {
				t.Fatalf("no stop: %+v", list)
			}
			runtime.Gosched()
			list, _, err = w.Changes(0)
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(list) > 1 && list[0].Number == 1 {
			seen++
			if list[1].State != Stopped {
				t.Fatalf("after %d pages: %+v", seen, list)
			}
		}
		w.Close()
		p.Close()
	}
	t.Logf("%d of %d pages have had a stop", seen, n)
}

// TestAddresses tests that what is mapped for a page goes with it, and that a goroutine that says
// that it runs harms no page that is published meanwhile.
func TestAddresses(t *testing.T) {
	n := 2000
	if testing.Short() {
		n = 300
	}
	file := tempDir(t) + "/page"
	stop := make(chan struct{})
	var beats sync.WaitGroup
	defer beats.Wait()
	defer close(stop)
	for range 2 {
		beats.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					Beat()
				}
			}
		})
	}
	mapped := func() int {
		b, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(b), "hazard-test-")
	}
	for i := range n {
		p, err := Publish(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Set(Draining, "whole"); err != nil {
			t.Fatalf("page %d: %v", i, err)
		}
		w, err := Open(file)
		if err != nil {
			t.Fatal(err)
		}
		if s := status(t, w); s.Program != Draining {
			t.Fatalf("page %d: %+v", i, s)
		}
		w.Close()
		if n := mapped(); n != 1 {
			t.Fatalf("%d pages are mapped", n)
		}
		if err := os.Truncate(file, 0); err != nil { // a beat finds no page, sooner or later
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := mapped(); n != 0 {
		t.Errorf("%d pages are left", n)
	}
}
