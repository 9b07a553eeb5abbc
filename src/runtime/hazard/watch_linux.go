// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"internal/syscall/unix"
	"io"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// A watcher never looks into the page where it is mapped: that would end the program if somebody
// cuts the file. It reads the file. Only the kernel looks at the word that it waits for, and
// answers EFAULT if there is none.
type watcher struct {
	name  string
	f     *os.File
	id    identity
	began time.Time
	pidfd *os.File

	gone   chan struct{} // closed when the process has ended, at
	at     clock
	closed chan struct{}

	// reading is locked while the page is read, and what follows is used.
	reading sync.Mutex
	page    [pageSize]byte
	quiet   silence

	waiting sync.Mutex
	waits   int           // calls of wait
	changed chan struct{} // closed when the page has changed, or may have
	sleeps  bool          // a goroutine is in sleep
	ended   bool          // by close
}

func (w *watcher) open(file string) (err error) {
	if file == "" {
		publishing.Lock()
		p := publishing.p
		publishing.Unlock()
		if p == nil {
			return fmt.Errorf("this process publishes nothing: call Publish first: %w", os.ErrNotExist)
		}
		file = p.file
	}
	w.name = file
	w.f, err = os.OpenFile(file, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			w.f.Close()
		}
	}()
	if err := own(w.f); err != nil {
		return fmt.Errorf("%s %w", file, err)
	}
	if err := w.readAt(w.page[:], 0); err != nil {
		return err
	}
	if w.id, err = parseIdentity(w.page[:]); err != nil {
		return fmt.Errorf("%s %w", file, err)
	}
	if n := pidNamespace(); w.id.pidns != n {
		return fmt.Errorf("%s is published in another namespace of process IDs (%d, this one is %d): watch it from there, or over HTTP: %w", file, w.id.pidns, n, errors.ErrUnsupported)
	}
	if err := w.follow(); err != nil {
		return err
	}
	w.gone, w.closed, w.changed = make(chan struct{}), make(chan struct{}), make(chan struct{})
	if _, err := w.status(); err != nil {
		w.pidfd.Close()
		return err
	}
	go w.awaitEnd()
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
	if err == nil && s.start != w.id.start || !locked(w.f, lockPublisher, syscall.F_RDLCK) {
		err = w.stale()
	}
	if err != nil {
		w.pidfd.Close()
		return err
	}
	w.began = w.id.since()
	return nil
}

func (w *watcher) stale() error {
	return fmt.Errorf("process %d, which published in %s, %w", w.id.pid, w.name, errEnded)
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

func (w *watcher) readAt(b []byte, at int64) error {
	_, err := w.f.ReadAt(b, at)
	if err == io.EOF {
		return fmt.Errorf("%s is cut: it has less than %d bytes", w.name, pageSize)
	}
	return err
}

// read reads the page, as it was after the last change at some moment during this call. The
// caller has locked reading.
func (w *watcher) read() (changes uint32, err error) {
	var word [4]byte
	for range 1000 {
		// Each ReadAt takes and gives up a lock of the file, and calls the kernel. So what it
		// reads is not from before what the one before has read.
		if err := w.readAt(word[:], offChanges); err != nil {
			return 0, err
		}
		before := word
		if err := w.readAt(w.page[:], 0); err != nil {
			return 0, err
		}
		if err := w.readAt(word[:], offChanges); err != nil {
			return 0, err
		}
		if word == before {
			return binary.LittleEndian.Uint32(word[:]), nil
		}
	}
	return 0, fmt.Errorf("%s %w", w.name, errDamaged) // no world stops so often
}

func (w *watcher) status() (Status, error) {
	w.reading.Lock()
	defer w.reading.Unlock()
	s, _, err := w.statusLocked()
	return s, err
}

// statusLocked returns what the page says, or that the process has ended.
func (w *watcher) statusLocked() (Status, rawStatus, error) {
	if isClosed(w.closed) {
		return Status{}, rawStatus{}, errWatcherClosed
	}
	gone := isClosed(w.gone) // before the page is read: it says nothing after that
	changes, err := w.read()
	if err != nil {
		return Status{}, rawStatus{}, err
	}
	raw, err := parseStatus(w.page[:], changes)
	if err != nil {
		return Status{}, raw, fmt.Errorf("%s %w", w.name, err)
	}
	c := now()
	s := raw.status(&w.id, c)
	s.Start = w.began
	if gone {
		s.end(&raw, w.at, c)
	} else if w.quiet.gone {
		s.end(&raw, w.quiet.at, c)
	}
	w.quiet.add(&s, &raw, c)
	return s, raw, nil
}

func now() clock { return clock{time.Now(), runtime_nanotime()} }

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

var errWatcherClosed = fmt.Errorf("the watcher is closed: %w", os.ErrClosed)

func (w *watcher) wait(ctx context.Context, after Status) (Status, error) {
	if after.State == Gone && after.Number != 0 {
		return after, fmt.Errorf("process %d %w", after.PID, errEnded)
	}
	changed, anew := w.begin()
	defer w.end()
	t := time.NewTicker(beatEvery)
	defer t.Stop()
	gone := w.gone
	for look := false; ; {
		w.reading.Lock()
		if anew && !w.quiet.gone {
			w.quiet = silence{}
		}
		anew = false
		s, raw, err := w.statusLocked()
		if err == nil && look && w.quiet.look(w, &s, &raw) {
			s, raw, err = w.statusLocked()
		}
		w.reading.Unlock()
		if err != nil || s.Number != after.Number || s.State != after.State || s.Reason != after.Reason {
			return s, err
		}
		look = false
		select {
		case <-ctx.Done():
			return s, ctx.Err()
		case <-w.closed:
		case <-gone:
		case <-changed:
			changed = w.change()
		case <-t.C:
			look = true
		}
	}
}

// begin begins a call of wait. It returns the channel that is closed by the next change, and
// whether nobody has waited for some time. There is a goroutine that sleeps until there is one.
func (w *watcher) begin() (changed chan struct{}, anew bool) {
	w.waiting.Lock()
	defer w.waiting.Unlock()
	w.waits++
	if !w.sleeps && !w.ended {
		w.sleeps, anew = true, true
		go w.sleep()
	}
	return w.changed, anew
}

func (w *watcher) change() chan struct{} {
	w.waiting.Lock()
	defer w.waiting.Unlock()
	return w.changed
}

func (w *watcher) end() {
	w.waiting.Lock()
	defer w.waiting.Unlock()
	w.waits--
}

// sleep tells those who wait of changes. It goes on for a second after the last of them, who often
// comes back. Meanwhile the lock says to the publisher that somebody waits.
func (w *watcher) sleep() {
	if setLock(w.f, lockWaiter, syscall.F_RDLCK) == nil {
		defer setLock(w.f, lockWaiter, syscall.F_UNLCK)
	}
	var page []byte
	c, err := w.f.SyscallConn()
	if err == nil {
		c.Control(func(fd uintptr) {
			page, err = syscall.Mmap(int(fd), 0, pageSize, syscall.PROT_READ, syscall.MAP_SHARED)
		})
	}
	if err == nil {
		defer syscall.Munmap(page)
	}
	var word [4]byte
	for {
		bad := err != nil || w.readAt(word[:], offChanges) != nil
		w.waiting.Lock()
		// What came before the word was read is seen by those who look now.
		close(w.changed)
		w.changed = make(chan struct{})
		if w.ended || bad {
			// wait looks each 10 ms all the same.
			w.sleeps = false
			w.waiting.Unlock()
			return
		}
		w.waiting.Unlock()
		runtime.Gosched() // they first: this one would keep its P in the system call for some time
		for !futexWait(&page[offChanges], binary.NativeEndian.Uint32(word[:]), time.Second) {
			w.waiting.Lock()
			if idle := w.waits == 0; idle || w.ended {
				w.sleeps = false
				w.waiting.Unlock()
				return
			}
			w.waiting.Unlock()
		}
	}
}

// futexWait waits until a word is woken, if it is old. It reports false after d.
func futexWait(word *byte, old uint32, d time.Duration) bool {
	const wait = 0 // by processes that share the page
	ts := syscall.NsecToTimespec(int64(d))
	_, _, errno := syscall.Syscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(word)), wait, uintptr(old), uintptr(unsafe.Pointer(&ts)), 0, 0)
	return errno != syscall.ETIMEDOUT
}

func (w *watcher) changes(after uint64) (list []Change, missed uint64, err error) {
	w.reading.Lock()
	defer w.reading.Unlock()
	if isClosed(w.closed) {
		return nil, 0, errWatcherClosed
	}
	n, err := w.read()
	if err != nil {
		return nil, 0, err
	}
	raw, missed, err := parseChanges(w.page[:], n, after)
	if err != nil {
		return nil, 0, fmt.Errorf("%s %w", w.name, err)
	}
	c := now()
	for i := range raw {
		list = append(list, raw[i].change(c))
	}
	return list, missed, nil
}

func (w *watcher) close() error {
	w.waiting.Lock()
	if w.ended {
		w.waiting.Unlock()
		return errWatcherClosed
	}
	w.ended = true
	close(w.closed)
	w.waiting.Unlock()
	w.reading.Lock() // nobody reads any more
	defer w.reading.Unlock()
	w.pidfd.Close() // ends awaitEnd
	return w.f.Close()
}
