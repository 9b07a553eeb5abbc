// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard_test

import (
	"encoding/binary"
	"errors"
	"internal/hazardfeed"
	"os"
	. "runtime/hazard"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
)

// openCopy opens a copy of a page with changes, whose lock somebody holds.
func openCopy(t *testing.T, page []byte, change func(b []byte)) error {
	t.Helper()
	b := append([]byte(nil), page...)
	change(b)
	f, err := os.OpenFile(tempDir(t)+"/copy", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := LockPage(f); err != nil {
		t.Fatal(err)
	}
	w, err := Open(f.Name())
	if err == nil {
		w.Close()
	}
	return err
}

// TestFollowErrors tests pages whose process can't be followed.
func TestFollowErrors(t *testing.T) {
	c := publish(t)
	page, err := os.ReadFile(c.file)
	if err != nil {
		t.Fatal(err)
	}
	if err := openCopy(t, page, func([]byte) {}); err != nil {
		t.Errorf("a copy: %v", err)
	}
	// The ID is another process's by now, or a thread's.
	if err := openCopy(t, page, func(b []byte) { b[24]++ }); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("a process that has begun at another time: %v", err)
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	pid := strconv.Itoa(os.Getpid())
	i := slices.IndexFunc(threads, func(e os.DirEntry) bool { return e.Name() != pid })
	if i < 0 {
		t.Fatal("there is one thread")
	}
	id, err := strconv.Atoi(threads[i].Name())
	if err != nil {
		t.Fatal(err)
	}
	thread := func(b []byte) { binary.LittleEndian.PutUint32(b[16:], uint32(id)) }
	if err := openCopy(t, page, thread); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("a thread: %v", err)
	}
	later := func(b []byte) { binary.LittleEndian.PutUint64(b[40:], uint64(Nanotime())+1e12) }
	if err := openCopy(t, page, later); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("of a clock that is ahead: %v", err)
	}
	NoPoll(t)
	if err := openCopy(t, page, func([]byte) {}); !errors.Is(err, os.ErrNoDeadline) {
		t.Errorf("without a poller: %v", err)
	}
}

// TestBubble tests that nothing of a bubble gets into what the process has once.
func TestBubble(t *testing.T) {
	file := tempDir(t) + "/page"
	check := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v", what, err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		_, err := Publish(file)
		check("Publish", err)
	})
	p, err := Publish(file)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	w, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	synctest.Test(t, func(t *testing.T) {
		_, err := Open(file)
		check("Open", err)
		_, err = w.Status()
		check("Status", err)
		_, err = w.Wait(t.Context(), Status{})
		check("Wait", err)
		_, err = hazardfeed.Open()
		check("a feed", err)
		if err := p.Set(Draining, "in a bubble"); err != nil {
			t.Error(err)
		}
	})
	if s := status(t, w); s.Program != Draining {
		t.Errorf("%+v", s)
	}
}
