// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard_test

import (
	"errors"
	"os"
	"os/exec"
	. "runtime/hazard"
	"strings"
	"syscall"
	"testing"
)

// TestNoShm tests a machine without /dev/shm.
func TestNoShm(t *testing.T) {
	Shm(t, t.TempDir()+"/none")
	p, err := Publish("")
	if err == nil {
		p.Close()
		t.Fatal("no error")
	}
	if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "mount a tmpfs") {
		t.Error(err)
	}
}

// mountIn has a child mount a file system on a directory, for itself. For proc it has IDs of its own.
func mountIn(dir, kind, options string) func(*exec.Cmd) {
	return func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Environ(), "HAZARD_TEST_MOUNT="+strings.Join([]string{dir, kind, options}, " "))
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
		if kind == "proc" {
			cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWPID
		}
	}
}

// mountChild is mountIn's part in the child. It leaves nothing free.
func mountChild(arg string) error {
	f := strings.Fields(arg)
	if err := syscall.Mount("none", f[0], f[1], 0, f[2]); err != nil {
		return errNoMount
	}
	if f[1] == "proc" {
		return nil
	}
	return os.WriteFile(f[0]+"/fill", make([]byte, 4096), 0o600)
}

var errNoMount = errors.New("can't mount")

// TestFileSystems tests file systems on which nothing can be published.
func TestFileSystems(t *testing.T) {
	for _, c := range []struct{ kind, options, says string }{
		{"tmpfs", "size=4096", "its tmpfs is full"},
		{"tmpfs", "size=8192", "ok"},
		{"ramfs", "mode=0700", "want tmpfs"},
	} {
		t.Run(c.kind+" "+c.options, func(t *testing.T) {
			dir := t.TempDir()
			probe := exec.Command("/bin/true")
			mountIn(dir, c.kind, c.options)(probe)
			if err := probe.Run(); err != nil {
				t.Skip("no namespaces: ", err)
			}
			_, answer := startWith(t, dir+"/page", mountIn(dir, c.kind, c.options))
			if answer == errNoMount.Error() {
				t.Skip(answer)
			}
			if !strings.Contains(answer, c.says) {
				t.Errorf("%s, want %s", answer, c.says)
			}
		})
	}
}
