// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard

import (
	"context"
	"errors"
	"fmt"
	"internal/synctest"
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
	if synctest.IsInBubble() {
		return errBubble
	}
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
	if w.id.begin > runtime_nanotime() {
		return fmt.Errorf("%s was published in the future: its process has another monotonic clock, in a time namespace of its own: watch it over HTTP: %w", file, errors.ErrUnsupported)
	}
	if err := w.follow(); err != nil {
		return err
	}
	raw, err := w.file.status()
	if err != nil {
		w.pidfd.Close()
		return err
	}
	w.quiet = silence{beat: raw.beat, number: raw.number}
	w.gone, w.closed = make(chan struct{}), make(chan struct{})
	w.sleeper = sleeper{f: w.file.f, says: true, linger: lookEvery, look: w.look}
	outside(w.awaitEnd)
	return nil
}

// pidfdOpen opens a process. Tests replace it.
var pidfdOpen = unix.PidFDOpen

// follow opens the process. If that is another one by now, or publishes no more, it is an error.
func (w *watcher) follow() error {
	fd, err := pidfdOpen(w.id.pid, 0)
	switch {
	case err == syscall.ESRCH, err == syscall.EINVAL, err == syscall.ENOENT: // the last two: a thread has this ID
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
	if err := w.pidfd.SetReadDeadline(time.Time{}); err != nil {
		w.pidfd.Close()
		return fmt.Errorf("nobody can wait for the end of process %d: %w", w.id.pid, err)
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
// If the kernel does not say, it does.
func (w *watcher) publishes() bool {
	held, err := locked(w.file.f, lockPublisher, syscall.F_RDLCK)
	return held || err != nil
}

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

func (w *watcher) status() (Status, error) { return w.answer(false) }

// answer returns the status for who asks. anew: he is the first one to wait for some time.
func (w *watcher) answer(anew bool) (Status, error) {
	w.reading.Lock()
	defer w.reading.Unlock()
	s, err := w.read()
	if err != nil || w.quiet.why == "" || w.running() && !anew {
		return s, err
	}
	// Nobody has looked for some time whether that still holds.
	w.quiet.next = 0
	if !w.quiet.check(w) {
		return s, nil
	}
	w.tell()
	return w.read()
}

// join begins to wait. It reports whether nobody has for some time.
func (w *watcher) join() (anew bool, err error) {
	w.reading.Lock()
	defer w.reading.Unlock()
	if anew, err = w.begin(); anew {
		w.read() // what has been meanwhile is no sign that somebody is heard; who waits gets the error
		w.quiet.anew(runtime_nanotime())
	}
	return anew, err
}

// look is called each 10 ms while somebody waits. It reports whether those who do have something
// to see.
func (w *watcher) look() (news bool) {
	w.reading.Lock()
	defer w.reading.Unlock()
	s, err := w.read()
	return err != nil || s.State != Gone && w.quiet.look(w)
}

// read returns what the page says, or that the process has ended, or publishes no more. It tells
// those who wait if that is new. The caller has locked reading.
func (w *watcher) read() (Status, error) {
	if w.file.f == nil || isClosed(w.closed) {
		return Status{}, errWatcherClosed
	}
	if synctest.IsInBubble() { // it makes a channel for others
		return Status{}, errBubble
	}
	// Before the page is read: it says nothing after that.
	gone, at := !w.publishes(), now()
	if isClosed(w.gone) {
		gone, at = true, w.at
	}
	raw, err := w.file.status()
	if err != nil {
		return Status{}, err
	}
	c, q := now(), &w.quiet
	news := q.hear(&raw, c.mono)
	if gone && !q.gone {
		q.gone, q.at, news = true, at, true
	}
	if news {
		w.tell()
	}
	s := raw.status(&w.id, c)
	if q.gone {
		s.end(&raw, q.at, c)
	}
	q.add(&s, c, w.running())
	return s, nil
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
	anew, err := w.join()
	if err != nil {
		return after, err
	}
	defer w.end()
	for {
		changed, deaf := w.next() // before the page is read
		s, err := w.answer(anew)
		if err != nil || s.Number != after.Number || s.State != after.State || s.Reason != after.Reason {
			return s, err
		}
		if deaf != nil {
			return s, deaf
		}
		anew = false
		select {
		case <-ctx.Done():
			return s, ctx.Err()
		case <-w.closed:
		case <-w.gone:
		case <-changed:
		}
	}
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
