// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	. "runtime/hazard"
	"strings"
	"syscall"
	"testing"
)

// TestPublishErrors tests files in which nothing can be published, and that nothing is left behind.
func TestPublishErrors(t *testing.T) {
	dir := tempDir(t)
	other := publish(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(in("text"), []byte("something else"), 0o600))
	must(os.WriteFile(in("page of text"), []byte(strings.Repeat("x", 4096)), 0o600))
	must(os.WriteFile(in("open to all"), nil, 0o600))
	must(os.Chmod(in("open to all"), 0o622))
	must(os.Symlink(other.file, in("link")))
	must(syscall.Mkfifo(in("fifo"), 0o600))
	must(os.Mkdir(in("dir"), 0o700))
	disk := filepath.Join(t.TempDir(), "page")
	var s syscall.Statfs_t
	must(syscall.Statfs(filepath.Dir(disk), &s))
	onDisk := uint32(s.Type) != 0x01021994

	for _, c := range []struct {
		file string
		is   error
		says string
	}{
		{other.file, fs.ErrExist, "publishes in it"},
		{in("text"), fs.ErrExist, "no page"},
		{in("page of text"), fs.ErrExist, "is not a page"},
		{in("open to all"), nil, "mode 0622"},
		{in("link"), syscall.ELOOP, ""},
		{in("fifo"), nil, "no regular file"},
		{in("dir"), nil, "is a directory"},
		{in("none/page"), fs.ErrNotExist, ""},
		{disk, nil, "want tmpfs"},
	} {
		if c.file == disk && !onDisk {
			continue // the rest tests the same
		}
		p, err := Publish(c.file)
		if err == nil {
			p.Close()
			t.Errorf("%s: no error", c.file)
			continue
		}
		if c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v, %s", c.file, err, c.is, c.says)
		}
	}
	if left := entries(t, dir); left != 6 {
		t.Errorf("%d files, want 6", left)
	}
	if s := status(t, other.open()); s.State == Gone {
		t.Errorf("the other one: %+v", s)
	}
	// None of these errors keeps the process from publishing.
	p, err := Publish(in("page"))
	must(err)
	defer p.Close()
	if _, err := Publish(in("second")); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), in("page")) {
		t.Errorf("a second page: %v", err)
	}
	info, err := os.Lstat(in("page"))
	must(err)
	if info.Mode() != 0o600 || info.Size() != 4096 {
		t.Errorf("the file has mode %v and %d bytes", info.Mode(), info.Size())
	}
}

// TestOpenErrors tests files that can't be watched.
func TestOpenErrors(t *testing.T) {
	c := publish(t)
	page, err := os.ReadFile(c.file)
	if err != nil {
		t.Fatal(err)
	}
	dir := tempDir(t)
	check := func(name string, is error, says string) {
		t.Helper()
		file := filepath.Join(dir, name)
		w, err := Open(file)
		if err == nil {
			w.Close()
			t.Errorf("%s: no error", name)
		} else if is != nil && !errors.Is(err, is) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %v, %s", name, err, is, says)
		}
	}
	write := func(name string, change func(b []byte) []byte) {
		b := change(append([]byte(nil), page...))
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check("missing", fs.ErrNotExist, "")
	for _, n := range []int{0, 1, 63, 64, 300, 4095} {
		write("cut", func(b []byte) []byte { return b[:n] })
		check("cut", nil, "is cut")
	}
	write("text", func(b []byte) []byte { return []byte(strings.Repeat("x", 5000)) })
	check("text", nil, "is not a page")
	write("copy", func(b []byte) []byte { return b }) // nobody holds its lock
	check("copy", os.ErrProcessDone, "ended")
	write("elsewhere", func(b []byte) []byte { b[32]++; return b })
	check("elsewhere", errors.ErrUnsupported, "another namespace")
	write("newer", func(b []byte) []byte { b[8]++; return b })
	check("newer", nil, "version 2")
	os.Symlink(c.file, filepath.Join(dir, "link"))
	check("link", syscall.ELOOP, "")
	syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600)
	check("fifo", nil, "no regular file")
	check(".", nil, "no regular file")
	write("open to all", func(b []byte) []byte { return b })
	os.Chmod(filepath.Join(dir, "open to all"), 0o666)
	check("open to all", nil, "mode 0666")
	if w, err := Open(""); err == nil {
		w.Close()
		t.Error("the page of a process that has none: no error")
	}

	// A page that is damaged later.
	w := c.open()
	f, err := os.OpenFile(c.file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.WriteAt(make([]byte, 4096-64), 64)
	if s, err := w.Status(); err == nil {
		t.Errorf("damaged: %+v", s)
	}
	if list, _, err := w.Changes(0); err == nil {
		t.Errorf("damaged: %v", list)
	}
	c.must("set %d whole again", Draining)
	if s := status(t, w); s.Reason != "whole again" {
		t.Errorf("after the next change: %+v", s)
	}
}

// TestDefault tests a file that has no name, in the directory that Publish makes.
func TestDefault(t *testing.T) {
	tempDir(t) // or there are no pages
	_, before := os.Lstat(filepath.Dir(File(1)))
	p, err := Publish("")
	if err != nil {
		t.Fatal(err)
	}
	if before != nil {
		defer os.Remove(filepath.Dir(File(1)))
	}
	defer p.Close()
	w, err := Open(File(os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	if info, err := os.Lstat(filepath.Dir(File(1))); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
}
