// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard_test

import (
	"errors"
	"io/fs"
	"os"
	. "runtime/hazard"
	"testing"
)

// TestZero tests that values that Publish and Open have not made harm nobody.
func TestZero(t *testing.T) {
	zero := new(Publisher)
	if err := zero.Set(Draining, ""); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Set, while nothing is published: %v", err)
	}
	file := tempDir(t) + "/page"
	p, err := Publish(file)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, other := range []*Publisher{zero, new(Publisher)} {
		if err := other.Set(Draining, "of another"); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Set: %v", err)
		}
		if err := other.Close(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Close: %v", err)
		}
	}
	w, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if s := status(t, w); s.Program != OK {
		t.Errorf("after Set of others: %+v", s)
	}
	if _, err := os.Lstat(file); err != nil {
		t.Errorf("after Close of others: %v", err)
	}

	none := new(Watcher)
	if s, err := none.Status(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Status: %+v, %v", s, err)
	}
	if s, err := none.Wait(t.Context(), Status{}); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Wait: %+v, %v", s, err)
	}
	if list, _, err := none.Changes(0); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Changes: %v, %v", list, err)
	}
	if err := none.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Close: %v", err)
	}
}

// TestRemoved tests that a program learns that nobody can find its page any more.
func TestRemoved(t *testing.T) {
	file := tempDir(t) + "/page"
	p, err := Publish(file)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Set(Draining, ""); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := p.Set(OK, ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Set: %v", err)
	}
}
