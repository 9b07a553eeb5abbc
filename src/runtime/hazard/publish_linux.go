// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard

import (
	"errors"
	"fmt"
	"internal/hazardfeed"
	"internal/runtime/exithook"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

type publisher struct {
	file  string // absolute
	id    identity
	f     *os.File    // keeps the lock
	inode fs.FileInfo // of f
	done  chan struct{}
	feed  *feed // if somebody has opened it; with publishing
}

// publishing is what this process publishes, or nil.
var publishing struct {
	sync.Mutex
	p      *publisher
	hooked bool
}

// File returns the file that [Publish] chooses for the process with an ID, if the user is the same
// and the file's name was left to it: /dev/shm/go-UID/hazard-PID.
func File(pid int) string { return defaultDir() + "/hazard-" + strconv.Itoa(pid) }

// shm is a tmpfs. Tests replace it.
var shm = "/dev/shm"

func defaultDir() string { return shm + "/go-" + strconv.Itoa(os.Geteuid()) }

// published returns the file of this process's page.
func published() (file string, err error) {
	publishing.Lock()
	defer publishing.Unlock()
	if publishing.p == nil {
		return "", errNothing
	}
	return publishing.p.file, nil
}

var errNothing = fmt.Errorf("this process publishes nothing: call Publish first: %w", fs.ErrNotExist)

func (p *publisher) publish(file string) (err error) {
	publishing.Lock()
	defer publishing.Unlock()
	if publishing.p != nil {
		return fmt.Errorf("this process publishes in %s: close that first: %w", publishing.p.file, fs.ErrExist)
	}
	if file == "" {
		if file, err = File(os.Getpid()), makeDefaultDir(); err != nil {
			return err
		}
	}
	if file, err = filepath.Abs(file); err != nil {
		return err
	}
	if p.id, err = self(); err != nil {
		return err
	}
	// The file gets its name when there is a change in it: nobody sees half a page.
	p.file = file
	temp := file + "." + strconv.Itoa(p.id.pid) + ".new"
	os.Remove(temp) // of an earlier process with this ID, which was killed just then
	p.f, err = os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		os.Remove(temp)
		if err != nil {
			p.f.Close()
		}
	}()
	if err := p.fill(); err != nil {
		return err
	}
	addr, errno := runtime_hazardPublish(int32(p.f.Fd()))
	if errno != 0 {
		return os.NewSyscallError("mmap of "+file, syscall.Errno(errno))
	}
	// A page that is swapped out would be read back while the world is stopped. It is only one, and
	// if it can't be locked it is like the rest of the program.
	mlock(addr)
	if err := p.name(temp); err != nil {
		runtime_hazardClose()
		return err
	}
	publishing.p = p
	if !publishing.hooked {
		publishing.hooked = true
		exithook.Add(exithook.Hook{F: unpublish, RunOnFailure: true})
	}
	hazardfeed.Register(openFeed)
	p.done = make(chan struct{})
	outside(p.beats)
	return nil
}

// mlock keeps the page at addr in memory. Tests replace it.
var mlock = func(addr uintptr) { syscall.Syscall(syscall.SYS_MLOCK, addr, pageSize, 0) }

// fill makes the file the page of a process that has not yet been in any state.
func (p *publisher) fill() error {
	if err := onTmpfs(p.f, p.file); err != nil {
		return err
	}
	// Without storage of its own, a store into the page could fail when the file system is full.
	err := syscall.Fallocate(int(p.f.Fd()), 0, 0, pageSize)
	for err == syscall.EINTR {
		err = syscall.Fallocate(int(p.f.Fd()), 0, 0, pageSize)
	}
	if err == syscall.ENOSPC {
		return fmt.Errorf("%s: its tmpfs is full: free memory there, or use another one: %w", p.file, err)
	}
	if err != nil {
		return os.NewSyscallError("fallocate of "+p.file, err)
	}
	if err := p.f.Chmod(0o600); err != nil { // whatever the umask
		return err
	}
	if _, err := p.f.WriteAt(p.id.line(), 0); err != nil {
		return err
	}
	if p.inode, err = p.f.Stat(); err != nil {
		return err
	}
	return setLock(p.f, lockPublisher, syscall.F_WRLCK)
}

// onTmpfs returns an error if f is not in memory: on a disk, a store into the page would wait now
// and then until the page is written, while the world is stopped. A ramfs can't promise storage.
func onTmpfs(f *os.File, file string) error {
	const tmpfs = 0x01021994
	var s syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &s); err != nil {
		return os.NewSyscallError("fstatfs of "+file, err)
	}
	if t := uint32(s.Type); t != tmpfs {
		return fmt.Errorf("%s: its file system has type %#x, want tmpfs, which never waits for a disk: use a file below /dev/shm, or mount a tmpfs: %w", file, t, errors.ErrUnsupported)
	}
	return nil
}

// name gives temp its name, in the place of a page that is stale.
func (p *publisher) name(temp string) error {
	for range 10 { // others may do the same
		err := os.Link(temp, p.file)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := removeStale(p.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return fmt.Errorf("%s: others publish there time and again: %w", p.file, fs.ErrExist)
}

// removeStale removes a page that nobody publishes any more. What is no page stays.
func removeStale(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := own(f); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	var line [64]byte
	if _, err := f.ReadAt(line[:], 0); err != nil {
		return fmt.Errorf("%s: is no page of a program's state: use another file, or remove it: %w", file, fs.ErrExist)
	}
	id, err := parseIdentity(line[:])
	if err != nil {
		return fmt.Errorf("%s: %w: use another file, or remove it: %w", file, err, fs.ErrExist)
	}
	// Only who has the lock may remove it, and only if the name has not gone to another one before.
	if err := setLock(f, lockPublisher, syscall.F_WRLCK); err != nil {
		if id.ended() {
			return fmt.Errorf("%s: the process %d that published it has ended, but one that it has forked keeps it open: end that, or use another file: %w", file, id.pid, fs.ErrExist)
		}
		return fmt.Errorf("%s: process %d publishes in it: use another file: %w", file, id.pid, fs.ErrExist)
	}
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := os.Lstat(file)
	if err != nil {
		return err
	}
	if !os.SameFile(mine, named) {
		return nil // look again
	}
	return os.Remove(file)
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

var errClosed = fmt.Errorf("the page is closed: %w", fs.ErrClosed)

func (p *publisher) set(s State, reason string) error {
	publishing.Lock()
	defer publishing.Unlock()
	if publishing.p != p {
		return errClosed
	}
	whole := runtime_hazardSet(uint8(s), reason)
	var info syscall.Stat_t
	if err := syscall.Fstat(int(p.f.Fd()), &info); err != nil {
		return os.NewSyscallError("fstat of "+p.file, err)
	}
	if !whole || info.Size < pageSize {
		return fmt.Errorf("%s was cut, so nobody can read it: close and publish again", p.file)
	}
	if info.Nlink == 0 {
		return fmt.Errorf("%s was removed, so nobody can open it: close and publish again: %w", p.file, fs.ErrNotExist)
	}
	return nil
}

func (p *publisher) close() error {
	publishing.Lock()
	defer publishing.Unlock()
	if publishing.p != p {
		return errClosed
	}
	p.end()
	return nil
}

// end ends p. The caller has locked publishing.
func (p *publisher) end() {
	publishing.p = nil
	close(p.done)
	runtime_hazardClose()
	// Another file may have got the name, of a process in another namespace.
	if named, err := os.Lstat(p.file); err == nil && os.SameFile(p.inode, named) {
		os.Remove(p.file)
	}
	if p.feed != nil {
		p.feed.finish()
	}
	p.f.Close()
}

// unpublish is called when the program exits.
func unpublish() {
	publishing.Lock()
	defer publishing.Unlock()
	if publishing.p != nil {
		publishing.p.end()
	}
}

const (
	beatEvery  = 10 * time.Millisecond
	lookEvery  = time.Second // whether somebody waits
	missedLate = 3           // looks without a beat, and something is wrong
)

// beats says each 10 ms that goroutines run, while somebody waits.
func (p *publisher) beats() {
	t := time.NewTicker(lookEvery)
	defer t.Stop()
	waited := false
	left := 0 // beats until the next look
	for {
		select {
		case <-p.done:
			return
		case <-t.C:
		}
		if left--; left < 0 {
			now, _ := locked(p.f, lockWaiter, syscall.F_WRLCK)
			if now && !waited {
				t.Reset(beatEvery)
			} else if !now && waited {
				t.Reset(lookEvery)
			}
			if waited = now; waited {
				left = int(lookEvery / beatEvery)
			}
		}
		if waited {
			runtime_hazardBeat()
		}
	}
}
