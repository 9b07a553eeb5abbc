// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard

import (
	"context"
	"errors"
	"internal/hazardfeed"
	"internal/synctest"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const (
	MaxReason = maxReason
	BySignal  = bySignal
)

// Nanotime is the clock of pages.
func Nanotime() int64 { return runtime_nanotime() }

// WaitHeard waits with w after s until beats are heard.
func WaitHeard(ctx context.Context, w *Watcher, s Status) error {
	for range 1000 {
		ctx, cancel := context.WithTimeout(ctx, 2*beatEvery)
		next, err := w.Wait(ctx, s)
		cancel()
		if err == nil {
			s = next
		} else if !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		w.reading.Lock()
		heard := w.quiet.heard && w.quiet.looks <= 0
		w.reading.Unlock()
		if heard {
			return nil
		}
	}
	return errors.New("no beat is heard")
}

// Beat says that goroutines run.
func Beat() { runtime_hazardBeat() }

// SleepersOf returns how many wait with the feed's thread.
func SleepersOf(f hazardfeed.Feed) int {
	s := &f.(*feedUser).feed.sleeper
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waits
}

// Sleeping reports whether a goroutine waits in the kernel for w.
func Sleeping(w *Watcher) bool { return w.running() }

// Shm replaces /dev/shm by another directory.
func Shm(t *testing.T, dir string) {
	old := shm
	t.Cleanup(func() { shm = old })
	shm = dir
}

// SetShm is Shm for a process of its own.
func SetShm(dir string) { shm = dir }

// LockPublishing keeps what this process publishes locked.
func LockPublishing() { publishing.Lock() }

// ExitInBubble ends the program in a bubble whose time stands still, as a goroutine of it waits for
// what this process publishes.
func ExitInBubble(code int) {
	LockPublishing()
	synctest.Run(func() {
		go LockPublishing()
		os.Exit(code)
	})
}

// StickFeed leaves a feed with a thread that does not end.
func StickFeed() error {
	there := make(chan struct{})
	futexWait = func(*byte, uint32, time.Duration) syscall.Errno {
		close(there)
		select {}
	}
	f, err := openFeed()
	if err != nil {
		return err
	}
	<-there
	f.Leave()
	return nil
}

// LetGo calls f before the nth attempt to lock a page as its publisher does.
func LetGo(t *testing.T, n int, f func()) {
	old := setLock
	t.Cleanup(func() { setLock = old })
	setLock = func(file *os.File, at int64, kind int16) error {
		if at == lockPublisher {
			if n--; n == 0 {
				f()
			}
		}
		return old(file, at, kind)
	}
}

// NoMlock keeps pages from being locked in memory.
func NoMlock() { mlock = func(uintptr) {} }

// Supported returns an error if the kernel, or what stands for it, can't have pages in a directory.
func Supported(dir string) error {
	f, err := os.OpenFile(dir, os.O_RDWR|tmpfile, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = locked(f, lockPublisher, syscall.F_WRLCK)
	return err
}

// LockPage locks a page as who publishes does.
func LockPage(f *os.File) error { return setLock(f, lockPublisher, syscall.F_WRLCK) }

// NoPoll has processes be opened as files that nobody can wait for.
func NoPoll(t *testing.T) {
	old := pidfdOpen
	t.Cleanup(func() { pidfdOpen = old })
	pidfdOpen = func(pid, flags int) (uintptr, error) {
		fd, err := syscall.Open("/proc/self/stat", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		return uintptr(fd), err
	}
}

// FutexErrors has each wait in the kernel return an error. It counts them, and the threads that are
// started to wait.
func FutexErrors(t *testing.T, errno syscall.Errno) (starts, calls *atomic.Int64) {
	old, lock := futexWait, setLock
	t.Cleanup(func() { futexWait, setLock = old, lock })
	starts, calls = new(atomic.Int64), new(atomic.Int64)
	setLock = func(f *os.File, at int64, kind int16) error {
		if at == lockWaiter && kind == syscall.F_RDLCK {
			starts.Add(1)
		}
		return lock(f, at, kind)
	}
	futexWait = func(word *byte, old uint32, d time.Duration) syscall.Errno {
		calls.Add(1)
		return errno
	}
	return starts, calls
}

// CountWakes counts the waits in the kernel that somebody has ended.
func CountWakes(t *testing.T) (wakes *atomic.Int64) {
	old := futexWait
	t.Cleanup(func() { futexWait = old })
	wakes = new(atomic.Int64)
	futexWait = func(word *byte, old uint32, d time.Duration) syscall.Errno {
		errno := waitFutex(word, old, d)
		if errno == 0 {
			wakes.Add(1)
		}
		return errno
	}
	return wakes
}
