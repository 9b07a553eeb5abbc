// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard

import (
	"fmt"
	"internal/synctest"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// A sleeper tells goroutines that a page has changed. While one of them waits, and for some time after
// that, a goroutine has a thread that sleeps in the kernel. Who waits often comes back.
//
// Only the kernel looks at the word where it is mapped, and answers EFAULT if there is none.
type sleeper struct {
	f      *os.File
	says   bool               // to the publisher that somebody waits, by a lock
	linger time.Duration      // how long the goroutine stays
	look   func() (news bool) // called each 10 ms, if not nil

	mu      sync.Mutex
	waits   int           // who waits
	left    time.Time     // when the last one has gone
	changed chan struct{} // closed when the page has changed, or may have
	page    []byte        // mapped while the goroutine runs
	done    chan struct{} // closed when it has ended
	err     error         // why it has, if not for want of somebody who waits
	closed  bool
}

// begin begins to wait. It reports whether nobody has waited for some time.
func (s *sleeper) begin() (anew bool, err error) {
	if synctest.IsInBubble() {
		return false, errBubble
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	if s.page == nil && !s.closed {
		if err := s.start(); err != nil {
			return false, err
		}
		anew = true
	}
	s.waits++
	return anew, nil
}

// start starts the goroutine. The caller has locked mu.
func (s *sleeper) start() error {
	c, err := s.f.SyscallConn()
	if err != nil {
		return err
	}
	var page []byte
	if e := c.Control(func(fd uintptr) {
		page, err = syscall.Mmap(int(fd), 0, pageSize, syscall.PROT_READ, syscall.MAP_SHARED)
	}); e != nil {
		return e
	}
	if err != nil {
		return os.NewSyscallError("mmap", err)
	}
	if s.says {
		if err := setLock(s.f, lockWaiter, syscall.F_RDLCK); err != nil {
			syscall.Munmap(page)
			return err
		}
	}
	s.page, s.done, s.err = page, make(chan struct{}), nil
	outside(s.sleep)
	return nil
}

// outside starts a goroutine that has neither the labels nor the task of its caller, for whom it
// does not work alone.
func outside(f func()) { time.AfterFunc(0, f) }

// end ends what begin has begun.
func (s *sleeper) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits--
	s.left = time.Now()
}

// next returns a channel that is closed by the next change, or an error if changes are not told
// any more.
func (s *sleeper) next() (<-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed, s.err
}

// running reports whether somebody waits, or has a short time ago.
func (s *sleeper) running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.page != nil
}

// sleep is the goroutine. Who waits looks at the page each time after it has read the word.
func (s *sleeper) sleep() {
	var word [4]byte
	patience := lookEvery
	if s.look != nil {
		patience = beatEvery
	}
	looked := time.Now()
	for errno := syscall.Errno(0); ; {
		changed, err := told(errno)
		// Signals may end each wait before its time.
		if s.look != nil && (errno == syscall.ETIMEDOUT || time.Since(looked) >= beatEvery) {
			looked = time.Now()
			changed = s.look() || changed
		}
		if changed && err == nil {
			if _, err = s.f.ReadAt(word[:], offChanges); err != nil {
				err = fmt.Errorf("the page can't be read any more: %w", err)
			}
		}
		if s.over(changed, err) {
			return
		}
		runtime.Gosched() // they first: this one would keep its P in the system call for some time
		errno = futexWait(&s.page[offChanges], futexValue(word[:]), patience)
	}
}

// told returns what futexWait has found.
func told(errno syscall.Errno) (changed bool, err error) {
	switch errno {
	case 0, syscall.EAGAIN, syscall.EINTR:
		return true, nil
	case syscall.ETIMEDOUT:
		return false, nil
	}
	return false, os.NewSyscallError("futex", errno)
}

// tell tells those who wait that there may be something to see.
func (s *sleeper) tell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tellLocked()
}

func (s *sleeper) tellLocked() {
	if s.changed != nil {
		close(s.changed)
		s.changed = make(chan struct{})
	}
}

// over tells those who wait, and reports whether there is nobody to wait for. Then nothing of the
// goroutine is left.
func (s *sleeper) over(changed bool, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if changed || err != nil {
		s.tellLocked()
	}
	if !s.closed && err == nil && (s.waits > 0 || time.Since(s.left) < s.linger) {
		return false
	}
	// With mu: if somebody begins to wait now, this must not take away what he gets.
	if s.says {
		setLock(s.f, lockWaiter, syscall.F_UNLCK)
	}
	syscall.Munmap(s.page)
	s.page, s.err = nil, err
	close(s.done)
	return true
}

// close ends the goroutine, and waits until it has ended.
func (s *sleeper) close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return errWatcherClosed
	}
	s.closed = true
	s.mu.Unlock()
	for s.wake() {
	}
	return nil
}

// wake wakes the goroutine, and reports whether that has not ended. If somebody has cut the file,
// the kernel does not find the page. Then it takes until the goroutine wakes by itself.
func (s *sleeper) wake() bool {
	s.mu.Lock()
	if s.page == nil {
		s.mu.Unlock()
		return false
	}
	done := s.done
	wakeFutex(&s.page[offChanges])
	s.mu.Unlock()
	t := time.NewTimer(time.Millisecond) // it may have been about to sleep
	defer t.Stop()
	select {
	case <-done:
		return false
	case <-t.C:
		return true
	}
}

var errWatcherClosed = fmt.Errorf("the watcher is closed: %w", os.ErrClosed)
