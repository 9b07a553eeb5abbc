// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	. "runtime/hazard"
	"testing"
	"time"
)

// TestContainers tests that processes with the same ID, in namespaces of their own, may share a
// directory.
func TestContainers(t *testing.T) {
	dir := tempDir(t)
	mount := mountIn("/proc", "proc", "hidepid=0")
	probe := exec.Command("/bin/true")
	mount(probe)
	if err := probe.Run(); err != nil {
		t.Skip("no namespaces: ", err)
	}
	for i := range 2 {
		_, answer := startWith(t, "", func(cmd *exec.Cmd) {
			mount(cmd)
			cmd.Env = append(cmd.Env, "HAZARD_TEST_SHM="+dir)
		})
		if answer == errNoMount.Error() {
			t.Skip(answer)
		}
		if answer != "ok" {
			t.Fatal(answer)
		}
		if files, _ := filepath.Glob(dir + "/go-0/hazard-*1"); len(files) != i+1 {
			t.Errorf("%d containers publish in %q", i+1, files)
		}
	}
}

// TestNoOther tests that files beside the page are not touched.
func TestNoOther(t *testing.T) {
	file := tempDir(t) + "/page"
	other := fmt.Sprintf("%s.%d.new", file, os.Getpid())
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Publish(file)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := os.Lstat(other); err != nil {
		t.Error(err)
	}
}

// stalePage returns the page of a process that has been killed.
func stalePage(t *testing.T) []byte {
	t.Helper()
	c := publish(t)
	page, err := os.ReadFile(c.file)
	if err != nil {
		t.Fatal(err)
	}
	c.cmd.Process.Kill()
	c.cmd.Wait()
	return page
}

// TestSiblings tests that Publish without a name removes what others have left there, and nothing else.
func TestSiblings(t *testing.T) {
	Shm(t, tempDir(t))
	dir := filepath.Dir(File(1))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	page := stalePage(t)
	for name, b := range map[string][]byte{"hazard-1": page, "hazard-2": page, "other": page, "hazard-text": []byte("text")} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(publish(t).file, dir+"/hazard-live"); err != nil {
		t.Fatal(err)
	}
	p, err := Publish("")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for name, want := range map[string]bool{"hazard-1": false, "hazard-2": false, "other": true, "hazard-text": true, "hazard-live": true} {
		if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLetGo tests a page whose process has ended, while one that it has forked has not yet closed the
// file.
func TestLetGo(t *testing.T) {
	file := tempDir(t) + "/page"
	if err := os.WriteFile(file, stalePage(t), 0o600); err != nil {
		t.Fatal(err)
	}
	hold, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	if err := LockPage(hold); err != nil {
		t.Fatal(err)
	}
	if p, err := Publish(file); !errors.Is(err, fs.ErrExist) {
		t.Errorf("while it is held: %v", err)
		p.Close()
	}
	LetGo(t, 4, func() { hold.Close() }) // the first one is of the new page
	p, err := Publish(file)
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
}

// TestLetGoElsewhere is TestLetGo for a process of which it is not known whether it has ended.
func TestLetGoElsewhere(t *testing.T) {
	file := tempDir(t) + "/page"
	page := stalePage(t)
	page[32]++ // its namespace
	if err := os.WriteFile(file, page, 0o600); err != nil {
		t.Fatal(err)
	}
	hold, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	if err := LockPage(hold); err != nil {
		t.Fatal(err)
	}
	LetGo(t, 4, func() { hold.Close() })
	p, err := Publish(file)
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
}

// TestFirstThread tests a process whose first thread has ended.
func TestFirstThread(t *testing.T) {
	c, answer := startWith(t, tempDir(t)+"/page", func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "HAZARD_TEST_FIRST=ends")
	})
	if answer != "ok" {
		t.Fatal(answer)
	}
	c.must("set %d", Draining)
	if s := status(t, c.open()); s.Program != Draining {
		t.Errorf("%+v", s)
	}
}

// TestExit tests that a program ends, whatever holds up its last change.
func TestExit(t *testing.T) {
	for _, how := range []string{"exitlocked", "exitbubble", "exitbusy", "exitfed"} {
		t.Run(how, func(t *testing.T) {
			c := publish(t)
			w := c.open()
			fmt.Fprintln(c.in, how)
			done := make(chan error)
			go func() { done <- c.cmd.Wait() }()
			select {
			case err := <-done:
				if s := (*exec.ExitError)(nil); !errors.As(err, &s) || s.ExitCode() != 3 {
					t.Error(err)
				}
			case <-time.After(20 * time.Second):
				c.cmd.Process.Kill()
				t.Fatalf("it does not end: %v", <-done)
			}
			if s := status(t, w); s.State != Gone {
				t.Errorf("%+v", s)
			}
			if _, err := os.Lstat(c.file); (how == "exitfed" || how == "exitbusy") && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the file is left: %v", err)
			}
		})
	}
}
