// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard

import (
	"context"
	"errors"
	"fmt"
	"internal/syscall/unix"
	"os"
	"sync"
	"syscall"
	"time"
)

type watcher struct {
	id    identity
	pidfd *os.File

	gone   chan struct{} // closed when the process has ended, at
	at     clock
	closed chan struct{}
	sleeper

	// reading is locked while the page is read, and what follows is used.
	reading sync.Mutex
	file    pageFile
	quiet   silence
}

func (w *watcher) open(file string) (err error) {
	if file == "" {
		if file, err = published(); err != nil {
			return err
		}
	}
	if err := w.file.openPage(file); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			w.file.f.Close()
		}
	}()
	if w.id, err = w.file.identity(); err != nil {
		return err
	}
	if n := pidNamespace(); w.id.pidns != n {
		return fmt.Errorf("%s is published in another namespace of process IDs (%d, this one is %d): watch it from there, or over HTTP: %w", file, w.id.pidns, n, errors.ErrUnsupported)
	}
	if err := w.follow(); err != nil {
		return err
	}
	if _, err := w.file.status(); err != nil {
		w.pidfd.Close()
		return err
	}
	w.gone, w.closed = make(chan struct{}), make(chan struct{})
	w.sleeper = sleeper{f: w.file.f, says: true, linger: lookEvery}
	outside(w.awaitEnd)
	return nil
}

// follow opens the process. If that is another one by now, or publishes no more, it is an error.
func (w *watcher) follow() error {
	fd, err := unix.PidFDOpen(w.id.pid, 0)
	switch {
	case err == syscall.ESRCH:
		return w.stale()
	case err == syscall.ENOSYS:
		return fmt.Errorf("the end of a process is told by Linux 5.3 and later: %w", errors.ErrUnsupported)
	case err != nil:
		return os.NewSyscallError("pidfd_open", err)
	}
	// What is open now is the process that has this ID until it is closed.
	if err := syscall.SetNonblock(int(fd), true); err == nil { // so that a goroutine can wait for it
		w.pidfd = os.NewFile(fd, "pidfd")
	} else {
		syscall.Close(int(fd))
		return os.NewSyscallError("pidfd", err)
	}
	s, err := readStat(procDir(w.id.pid))
	if err == nil && s.start != w.id.start || !w.publishes() {
		err = w.stale()
	}
	if err != nil {
		w.pidfd.Close()
		return err
	}
	return nil
}

// publishes reports whether a process has the page open in which it publishes.
func (w *watcher) publishes() bool { return locked(w.file.f, lockPublisher, syscall.F_RDLCK) }

func (w *watcher) stale() error {
	return fmt.Errorf("process %d, which published in %s, %w", w.id.pid, w.file.name, errEnded)
}

// errEnded reads as the end of a sentence.
var errEnded error = endedError{}

type endedError struct{}

func (endedError) Error() string        { return "has ended, or publishes no more" }
func (endedError) Is(target error) bool { return target == os.ErrProcessDone }

// awaitEnd waits until the process has ended.
func (w *watcher) awaitEnd() {
	c, err := w.pidfd.SyscallConn()
	if err != nil {
		return
	}
	asked := false
	err = c.Read(func(uintptr) bool {
		// Nothing makes it readable but the end.
		again := asked
		asked = true
		return again
	})
	if err == nil {
		w.at = now()
		close(w.gone)
	}
}

func (w *watcher) status() (Status, error) {
	w.reading.Lock()
	defer w.reading.Unlock()
	s, raw, err := w.statusLocked()
	// Without anybody who waits nobody has looked whether that has ended.
	if err == nil && (w.quiet.why != "" || raw.execs()) && w.quiet.look(w, &s, &raw) {
		s, _, err = w.statusLocked()
	}
	return s, err
}

// statusLocked returns what the page says, or that the process has ended.
func (w *watcher) statusLocked() (Status, rawStatus, error) {
	if w.file.f == nil || isClosed(w.closed) {
		return Status{}, rawStatus{}, errWatcherClosed
	}
	gone := isClosed(w.gone) // before the page is read: it says nothing after that
	raw, err := w.file.status()
	if err != nil {
		return Status{}, raw, err
	}
	c := now()
	s := raw.status(&w.id, c)
	if gone {
		s.end(&raw, w.at, c)
	} else if w.quiet.gone {
		s.end(&raw, w.quiet.at, c)
	}
	w.quiet.add(&s, &raw, c, w.running())
	return s, raw, nil
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (w *watcher) wait(ctx context.Context, after Status) (Status, error) {
	if w.file.f == nil {
		return after, errWatcherClosed
	}
	if after.State == Gone && after.Number != 0 {
		return after, fmt.Errorf("process %d %w", after.PID, errEnded)
	}
	anew, err := w.begin()
	if err != nil {
		return after, err
	}
	defer w.end()
	t := time.NewTicker(beatEvery)
	defer t.Stop()
	for look := false; ; {
		changed, deaf := w.next() // before the page is read
		s, err := w.waited(anew, look)
		if err != nil || s.Number != after.Number || s.State != after.State || s.Reason != after.Reason {
			return s, err
		}
		if deaf != nil {
			return s, deaf
		}
		anew, look = false, false
		select {
		case <-ctx.Done():
			return s, ctx.Err()
		case <-w.closed:
		case <-w.gone:
		case <-changed:
		case <-t.C:
			look = true
		}
	}
}

// waited returns the status for who waits. He may be the first one to do so for some time.
func (w *watcher) waited(anew, look bool) (Status, error) {
	w.reading.Lock()
	defer w.reading.Unlock()
	if anew {
		w.quiet.anew()
	}
	s, raw, err := w.statusLocked()
	if err == nil && look && w.quiet.look(w, &s, &raw) {
		s, _, err = w.statusLocked()
	}
	return s, err
}

func (w *watcher) changes(after uint64) (list []Change, missed uint64, err error) {
	w.reading.Lock()
	defer w.reading.Unlock()
	if w.file.f == nil || isClosed(w.closed) {
		return nil, 0, errWatcherClosed
	}
	return w.file.changes(after)
}

func (w *watcher) close() error {
	if w.file.f == nil {
		return errWatcherClosed
	}
	if err := w.sleeper.close(); err != nil {
		return err
	}
	close(w.closed)
	w.reading.Lock() // nobody reads any more
	defer w.reading.Unlock()
	w.pidfd.Close() // ends awaitEnd
	return w.file.f.Close()
}
