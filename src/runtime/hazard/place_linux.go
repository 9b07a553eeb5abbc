// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Where a page is published, and what is left there.

package hazard

import (
	"errors"
	"fmt"
	"internal/syscall/unix"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// File returns the file that [Publish] chooses for the process with an ID, if the user and the namespace
// of process IDs are the same and the file's name was left to it: /dev/shm/go-UID/hazard-NAMESPACE-PID.
func File(pid int) string {
	return defaultDir() + defaultPrefix + strconv.FormatUint(pidNamespace(), 10) + "-" + strconv.Itoa(pid)
}

const defaultPrefix = "/hazard-"

// shm is a tmpfs. Tests replace it.
var shm = "/dev/shm"

func defaultDir() string { return shm + "/go-" + strconv.Itoa(os.Geteuid()) }

// onTmpfs returns an error if a directory is not in memory: on a disk, a store into the page would wait
// now and then until the page is written, while the world is stopped. A ramfs can't promise storage.
func onTmpfs(dir string) error {
	const tmpfs = 0x01021994
	var s syscall.Statfs_t
	err := syscall.Statfs(dir, &s)
	for err == syscall.EINTR {
		err = syscall.Statfs(dir, &s)
	}
	if err != nil {
		return os.NewSyscallError("statfs of "+dir, err)
	}
	if t := uint32(s.Type); t != tmpfs {
		return fmt.Errorf("%s: its file system has type %#x, want tmpfs, which never waits for a disk: use a file below /dev/shm, or mount a tmpfs: %w", dir, t, errors.ErrUnsupported)
	}
	return nil
}

// name gives the file its name, in the place of a page that is stale.
func (p *publisher) name() (err error) {
	const follow = 0x400 // AT_SYMLINK_FOLLOW
	// /proc/self has no files if the first thread has ended, as a C program's main may.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	temp := "/proc/thread-self/fd/" + strconv.Itoa(int(p.f.Fd()))
	for range 10 { // others may do the same
		err = unix.Linkat(unix.AT_FDCWD, temp, unix.AT_FDCWD, p.file, follow)
		if err != syscall.EEXIST {
			return os.NewSyscallError("linkat of "+p.file, err)
		}
		again, held := removeStale(p.file)
		if !again {
			return held
		}
		if err = held; err != nil {
			time.Sleep(10 * time.Millisecond)
		}
	}
	if err == nil {
		err = fmt.Errorf("%s: others publish there time and again: %w", p.file, fs.ErrExist)
	}
	return err
}

// removeStale removes a page that nobody publishes any more. What is no page stays. It reports whether
// the name may be free the next time: if there is an error as well, if somebody lets go of the page.
func removeStale(file string) (again bool, err error) {
	f, err := os.OpenFile(file, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	if err := own(f); err != nil {
		return false, fmt.Errorf("%s: %w", file, err)
	}
	var line [64]byte
	if _, err := f.ReadAt(line[:], 0); err != nil {
		return false, fmt.Errorf("%s: is no page of a program's state: use another file, or remove it: %w", file, fs.ErrExist)
	}
	id, err := parseIdentity(line[:])
	if err != nil {
		return false, fmt.Errorf("%s: %w: use another file, or remove it: %w", file, err, fs.ErrExist)
	}
	// Only who has the lock may remove it, and only if the name has not gone to another one before.
	// A child that is about to call execve lets go of the lock, and so does another one that removes the page.
	if err := setLock(f, lockPublisher, syscall.F_WRLCK); err != nil {
		if id.ended() {
			return true, fmt.Errorf("%s: the process %d that published it has ended, but one that it has forked keeps it open: end that, or use another file: %w", file, id.pid, fs.ErrExist)
		}
		return true, fmt.Errorf("%s: process %d publishes in it: use another file: %w", file, id.pid, fs.ErrExist)
	}
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Lstat(file)
	if err == nil && os.SameFile(mine, named) {
		err = os.Remove(file)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return true, nil
}

// removeSiblings removes what processes have left in the directory of [File] that were killed.
func removeSiblings() {
	d, err := os.Open(defaultDir())
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(100) // there may be any number, and others remove some, too
	for _, name := range names {
		if name = "/" + name; strings.HasPrefix(name, defaultPrefix) {
			removeStale(d.Name() + name)
		}
	}
}

// makeDefaultDir makes the directory of [File], or sees that it is this user's alone.
func makeDefaultDir() error {
	dir := defaultDir()
	switch err := os.Mkdir(dir, 0o700); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no %s: mount a tmpfs there, or name a file on another one: %w", shm, errors.ErrUnsupported)
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if uid := int(info.Sys().(*syscall.Stat_t).Uid); !info.IsDir() || uid != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s (%v, of user %d) is no directory of this user's alone: name another file", dir, info.Mode(), uid)
	}
	return nil
}
