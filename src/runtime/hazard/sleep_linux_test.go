// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// testFile is a file with a page, opened twice.
func testFile(t *testing.T) (f, other *os.File) {
	name := t.TempDir() + "/page"
	if err := os.WriteFile(name, testPage(7), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range []**os.File{&f, &other} {
		var err error
		if *p, err = os.OpenFile(name, os.O_RDWR, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { (*p).Close() })
	}
	return f, other
}

// TestWaiterLock tests that the publisher knows of each who waits, also if that one comes when the thread
// of those before is about to end.
func TestWaiterLock(t *testing.T) {
	defer func(f func(*byte, uint32, time.Duration) syscall.Errno) { futexWait = f }(futexWait)
	var calls atomic.Int64
	futexWait = func(*byte, uint32, time.Duration) syscall.Errno {
		calls.Add(1)
		runtime.Gosched()
		return syscall.ETIMEDOUT
	}
	f, other := testFile(t)
	s := &sleeper{f: f, says: true}
	started := 0
	defer func(f func(*os.File, int64, int16) error) { setLock = f }(setLock)
	set := setLock
	setLock = func(f *os.File, at int64, kind int16) error {
		if kind == syscall.F_UNLCK {
			time.Sleep(time.Millisecond) // who begins to wait now is not to be harmed
		}
		return set(f, at, kind)
	}
	for started < 50 {
		anew, err := s.begin()
		if err != nil {
			t.Fatal(err)
		}
		if anew {
			started++
		}
		for n := calls.Load(); calls.Load() < n+2; { // those before have ended by then
			runtime.Gosched()
			if held, err := locked(other, lockWaiter, syscall.F_WRLCK); !held {
				t.Fatalf("the lock is lost, of a thread that was started %d times: %v", started, err)
			}
		}
		s.end()
		runtime.Gosched()
	}
	s.close()
	if held, err := locked(other, lockWaiter, syscall.F_WRLCK); held || err != nil {
		t.Errorf("the lock is left: %v", err)
	}
}

// TestBusyIdle tests that the thread ends when nobody waits, also if the page changes all the time.
func TestBusyIdle(t *testing.T) {
	defer func(f func(*byte, uint32, time.Duration) syscall.Errno) { futexWait = f }(futexWait)
	f, _ := testFile(t)
	s := &sleeper{f: f}
	for _, errno := range []syscall.Errno{0, syscall.EAGAIN, syscall.EINTR, syscall.ETIMEDOUT} {
		futexWait = func(*byte, uint32, time.Duration) syscall.Errno {
			time.Sleep(10 * time.Microsecond)
			return errno
		}
		if _, err := s.begin(); err != nil {
			t.Fatal(err)
		}
		s.mu.Lock()
		done := s.done
		s.mu.Unlock()
		s.end()
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Fatalf("%v: it does not end", errno)
		}
	}
}

// TestBusyPage tests that a page that changes all the time is not taken to be damaged.
func TestBusyPage(t *testing.T) {
	f, other := testFile(t)
	page, err := syscall.Mmap(int(other.Fd()), 0, pageSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(page)
	word := (*atomic.Uint32)(unsafe.Pointer(&page[offChanges]))
	var stop atomic.Bool
	var writer sync.WaitGroup
	writer.Go(func() {
		for !stop.Load() {
			word.Add(1)
		}
	})
	for first := word.Load(); word.Load() == first; {
		runtime.Gosched()
	}
	p := &pageFile{f: f}
	// With one CPU, each read is whole.
	for deadline := time.Now().Add(time.Second); err == nil && time.Now().Before(deadline); {
		_, err = p.read()
	}
	if err != nil && !errors.Is(err, errBusy) {
		t.Error(err)
	}
	stop.Store(true)
	writer.Wait()
	if _, err := p.read(); err != nil {
		t.Error(err)
	}
}

// TestOneLook tests that a watcher looks as often as each 10 ms, however many wait with it.
func TestOneLook(t *testing.T) {
	defer func(f func(*byte, uint32, time.Duration) syscall.Errno) { futexWait = f }(futexWait)
	timeout := make(chan time.Duration)
	futexWait = func(_ *byte, _ uint32, d time.Duration) syscall.Errno {
		timeout <- d
		return syscall.ETIMEDOUT
	}
	f, _ := testFile(t)
	var looks atomic.Int64
	s := &sleeper{f: f, look: func() bool { return looks.Add(1) == 3 }}
	const n = 50
	for range n {
		if _, err := s.begin(); err != nil {
			t.Fatal(err)
		}
	}
	<-timeout // it has told of what was before
	changed, _ := s.next()
	for range 2 {
		if d := <-timeout; d != beatEvery {
			t.Errorf("a look after %v", d)
		}
	}
	<-changed
	if n := looks.Load(); n != 3 && n != 4 { // one more if it was late at the start
		t.Errorf("%d looks", n)
	}
	done := s.done
	for range n {
		s.end()
	}
	<-timeout
	<-done
}

// TestLookDespiteSignals tests that a watcher looks if no wait in the kernel lasts as long as it
// should.
func TestLookDespiteSignals(t *testing.T) {
	defer func(f func(*byte, uint32, time.Duration) syscall.Errno) { futexWait = f }(futexWait)
	futexWait = func(*byte, uint32, time.Duration) syscall.Errno {
		time.Sleep(beatEvery / 4)
		return syscall.EINTR
	}
	f, _ := testFile(t)
	looked := make(chan struct{})
	s := &sleeper{f: f, look: func() bool { looked <- struct{}{}; return false }}
	if _, err := s.begin(); err != nil {
		t.Fatal(err)
	}
	done := s.done
	for range 3 {
		select {
		case <-looked:
		case <-time.After(time.Minute):
			t.Fatal("it does not look")
		}
	}
	s.end()
	for {
		select {
		case <-looked:
			continue
		case <-done:
		}
		break
	}
}
