// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	. "runtime/task"
	"testing"
)

// A writerTo writes some text, and then fails or not. meanwhile is called in between.
type writerTo struct {
	text      string
	err       error
	meanwhile func()
}

func (t writerTo) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, t.text)
	if t.meanwhile != nil {
		t.meanwhile()
	}
	if err == nil {
		err = t.err
	}
	return int64(n), err
}

// TestFlightFiles tests that a trace is written beside what is there, since who calls a server
// can choose the trace's ID, and that a write that fails removes nothing but its own file.
func TestFlightFiles(t *testing.T) {
	failed := errors.New("failed")
	for _, test := range []struct {
		name string
		prep func(dir string) error // what is there
	}{
		{"nothing", func(dir string) error { return nil }},
		{"file", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "trace-1.out"), []byte("old"), 0o666)
		}},
		{"read-only", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "trace-1.out"), []byte("old"), 0o444)
		}},
		{"directory", func(dir string) error { return os.Mkdir(filepath.Join(dir, "trace-1.out"), 0o777) }},
		{"link", func(dir string) error {
			if err := os.WriteFile(filepath.Join(dir, "target"), []byte("old"), 0o666); err != nil {
				return err
			}
			return os.Symlink("target", filepath.Join(dir, "trace-1.out"))
		}},
		{"dangling link", func(dir string) error { return os.Symlink("nowhere", filepath.Join(dir, "trace-1.out")) }},
		{"hard link", func(dir string) error {
			if err := os.WriteFile(filepath.Join(dir, "target"), []byte("old"), 0o666); err != nil {
				return err
			}
			return os.Link(filepath.Join(dir, "target"), filepath.Join(dir, "trace-1.out"))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := test.prep(dir); err != nil {
				t.Skip(err) // a system or file system without such links
			}
			before := contents(t, dir)
			name := filepath.Join(dir, "trace-1")
			if err := WriteTrace(writerTo{"half", failed, nil}, name); err != failed {
				t.Errorf("error %v", err)
			}
			same(t, "after a write that failed", contents(t, dir), before)
			for i := range 3 {
				if err := WriteTrace(writerTo{fmt.Sprint("new", i), nil, nil}, name); err != nil {
					t.Fatal(err)
				}
				want := []string{"trace-1.out", "trace-1-2.out", "trace-1-3.out", "trace-1-4.out"}
				if test.name != "nothing" {
					want = want[1:]
				}
				before[want[i]] = fmt.Sprint("file new", i)
				same(t, "after a write", contents(t, dir), before)
			}
			if err := WriteTrace(writerTo{"half", failed, nil}, name); err != failed {
				t.Errorf("error %v", err)
			}
			same(t, "after the last write that failed", contents(t, dir), before)
		})
	}
}

// TestFlightFileReplaced tests that a write that fails does not remove a file that somebody else
// put in the place of its own one.
func TestFlightFileReplaced(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "plan9" {
		t.Skip("a file that is open can't be replaced")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "trace-1.out")
	failed := errors.New("failed")
	err := WriteTrace(writerTo{"half", failed, func() {
		if err := os.Rename(file, file+".moved"); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(file, []byte("theirs"), 0o666); err != nil {
			t.Error(err)
		}
	}}, filepath.Join(dir, "trace-1"))
	if err != failed {
		t.Errorf("error %v", err)
	}
	same(t, "after the write", contents(t, dir), map[string]string{"trace-1.out": "file theirs", "trace-1.out.moved": "file half"})
}

// TestFlightNames tests that the names of a trace's files end somewhere, in an error.
func TestFlightNames(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "trace-1")
	for i := range 100 {
		if err := WriteTrace(writerTo{"new", nil, nil}, name); err != nil {
			t.Fatalf("file %d: %v", i+1, err)
		}
	}
	before := contents(t, dir)
	if err := WriteTrace(writerTo{"more", nil, nil}, name); !errors.Is(err, os.ErrExist) {
		t.Errorf("error %v, want that the file is there", err)
	}
	same(t, "at the end of names", contents(t, dir), before)
	if len(before) != 100 || before["trace-1-100.out"] != "file new" {
		t.Errorf("%d files: %v", len(before), before)
	}
}

// contents returns what each entry of a directory is.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for _, e := range list {
		name := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir():
			all[e.Name()] = "directory"
		case e.Type()&os.ModeSymlink != 0:
			target, err := os.Readlink(name)
			if err != nil {
				t.Fatal(err)
			}
			all[e.Name()] = "link to " + target
		default:
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all[e.Name()] = "file " + string(b)
		}
	}
	return all
}

func same(t *testing.T, when string, got, want map[string]string) {
	t.Helper()
	for name, what := range want {
		if got[name] != what {
			t.Errorf("%s: %s is %q, want %q", when, name, got[name], what)
		}
	}
	for name, what := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: there is %s: %q", when, name, what)
		}
	}
}
