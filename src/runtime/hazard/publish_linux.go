// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard

import (
	"errors"
	"fmt"
	"internal/hazardfeed"
	"internal/runtime/exithook"
	"internal/synctest"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
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

	line [64]byte // of the file
	read pageFile // what Set finds there
}

// publishing is what this process publishes, or nil.
var publishing struct {
	sync.Mutex
	p      *publisher
	hooked bool

	exits atomic.Bool // the program does
}

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

func (p *publisher) publish(file string) error {
	if synctest.IsInBubble() {
		return errBubble
	}
	// Whatever may wait for a file system comes before the lock, for which the end of the program waits.
	if err := p.create(file); err != nil {
		return err
	}
	publishing.Lock()
	defer publishing.Unlock()
	if err := p.show(); err != nil {
		p.f.Close()
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

const tmpfile = 0x400000 | syscall.O_DIRECTORY // O_TMPFILE

// create makes a file without a name. So nothing is left of a process that is killed meanwhile.
func (p *publisher) create(file string) (err error) {
	if file == "" {
		if file, err = File(os.Getpid()), makeDefaultDir(); err != nil {
			return err
		}
		removeSiblings()
	}
	if p.file, err = filepath.Abs(file); err != nil {
		return err
	}
	if p.id, err = self(); err != nil {
		return err
	}
	dir := filepath.Dir(p.file)
	if err := onTmpfs(dir); err != nil {
		return err
	}
	p.f, err = os.OpenFile(dir, os.O_RDWR|tmpfile|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	if err := p.fill(); err != nil {
		p.f.Close()
		return err
	}
	return nil
}

// show maps the page, and gives the file its name when there is a change in it: nobody sees half a
// page. The caller has locked publishing.
func (p *publisher) show() error {
	if publishing.p != nil {
		return fmt.Errorf("this process publishes in %s: close that first: %w", publishing.p.file, fs.ErrExist)
	}
	addr, errno := runtime_hazardPublish(int32(p.f.Fd()))
	if errno != 0 {
		return os.NewSyscallError("mmap of "+p.file, syscall.Errno(errno))
	}
	// A page that is swapped out would be read back while the world is stopped. It is only one, and
	// if it can't be locked it is like the rest of the program.
	mlock(addr)
	if err := p.name(); err != nil {
		runtime_hazardClose()
		return err
	}
	return nil
}

// mlock keeps the page at addr in memory. Tests replace it.
var mlock = func(addr uintptr) { syscall.Syscall(syscall.SYS_MLOCK, addr, pageSize, 0) }

// fill makes the file the page of a process that has not yet been in any state.
func (p *publisher) fill() error {
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
	p.line, p.read.f = p.id.line(), p.f
	if _, err := p.f.WriteAt(p.line[:], 0); err != nil {
		return err
	}
	if p.inode, err = p.f.Stat(); err != nil {
		return err
	}
	return setLock(p.f, lockPublisher, syscall.F_WRLCK)
}

var errBubble = fmt.Errorf("what is published is the process's, whose goroutines and clock are not those of a bubble of testing/synctest: call this from outside: %w", errors.ErrUnsupported)

var errClosed = fmt.Errorf("the page is closed: %w", fs.ErrClosed)

func (p *publisher) set(s State, reason string) error {
	// If many wait for the lock, unpublish gets it when they are through, and no others come.
	if publishing.exits.Load() {
		return errClosed
	}
	publishing.Lock()
	defer publishing.Unlock()
	if publishing.p != p || publishing.exits.Load() {
		return errClosed
	}
	whole := runtime_hazardSet(uint8(s), reason)
	var info syscall.Stat_t
	if err := syscall.Fstat(int(p.f.Fd()), &info); err != nil {
		return os.NewSyscallError("fstat of "+p.file, err)
	}
	// A file that was cut and has grown again has storage, but not what was there, which a Set that changes
	// nothing does not write.
	if !p.reads() || !whole || info.Size < pageSize {
		return fmt.Errorf("%s was cut or written to, so nobody can read it: close and publish again", p.file)
	}
	if info.Nlink == 0 {
		return fmt.Errorf("%s was removed, so nobody can open it: close and publish again: %w", p.file, fs.ErrNotExist)
	}
	return nil
}

// reads reports whether others can read the file. The caller has locked publishing.
func (p *publisher) reads() bool {
	n, err := p.read.read()
	page := p.read.page[:]
	if [64]byte(page) != p.line {
		return false
	}
	last := lastNumber(page, n)
	return errors.Is(err, errBusy) || err == nil && last != 0 && uint32(last) == n
}

func (p *publisher) close() error {
	publishing.Lock()
	if publishing.p != p {
		publishing.Unlock()
		return errClosed
	}
	p.end()
	publishing.Unlock()
	if p.feed != nil { // nobody opens it any more
		p.feed.finish()
	}
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
	p.f.Close()
}

// unpublish is called when the program exits, which must not wait for long: not for somebody who has
// the lock and waits for a file system, and not for the thread of a feed. What is not done then is told by the
// kernel.
func unpublish() {
	publishing.exits.Store(true)
	for range 100 {
		if publishing.TryLock() {
			defer publishing.Unlock()
			if publishing.p != nil {
				publishing.p.end()
			}
			return
		}
		pause(time.Millisecond)
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
