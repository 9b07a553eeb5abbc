// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	. "runtime/hazard"
	"slices"
	"syscall"
	"testing"
	"time"
)

// ball is a byte that a process waits for, by an eventfd's read. It takes a thread, as the wait for a
// page does.
type ball struct{ there, back int } // eventfds

func newBall(t testing.TB) ball {
	t.Helper()
	fd := func() int {
		n, err := eventfd()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { syscall.Close(n) })
		return n
	}
	return ball{fd(), fd()}
}

func eventfd() (int, error) {
	n, _, errno := syscall.RawSyscall(syscall.SYS_EVENTFD2, 0, 0, 0) // inherited
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}

// throw writes a time, now.
func throw(fd int) {
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], uint64(Nanotime()))
	if _, err := syscall.Write(fd, b[:]); err != nil {
		panic(err)
	}
}

// catch waits for a ball, and returns when it was thrown.
func catch(fd int) int64 {
	var b [8]byte
	for {
		if _, err := syscall.Read(fd, b[:]); err != syscall.EINTR {
			return int64(binary.NativeEndian.Uint64(b[:]))
		}
	}
}

// react throws balls back, and then changes its state. The other process sleeps by then: if it did
// not, it would see the change when it looks.
func react(p *Publisher, n int) error {
	for i := range n {
		catch(3)
		time.Sleep(time.Millisecond)
		throw(4)
		catch(3)
		time.Sleep(time.Millisecond)
		if err := p.Set([]State{Draining, OK}[i%2], "now"); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkReaction measures how soon a change is known in another process, beside how long a ball
// needs to get there. They take turns.
func BenchmarkReaction(b *testing.B) {
	ball := newBall(b)
	c, answer := startWith(b, tempDir(b)+"/page", func(cmd *exec.Cmd) {
		cmd.ExtraFiles = []*os.File{os.NewFile(uintptr(dup(b, ball.there)), "there"), os.NewFile(uintptr(dup(b, ball.back)), "back")}
	})
	if answer != "ok" {
		b.Fatal(answer)
	}
	w := c.open()
	s := waitUntil(b, w, "OK", func(s Status) bool { return s.State == OK })
	fmt.Fprintf(c.in, "react %d\n", b.N)
	var changes, balls []time.Duration
	for range b.N {
		throw(ball.there)
		thrown := catch(ball.back)
		balls = append(balls, time.Duration(Nanotime()-thrown))

		was := s.Program
		throw(ball.there)
		for s.Program == was { // there are collections, too
			next, err := w.Wait(b.Context(), s)
			if err != nil {
				b.Fatal(err)
			}
			s = next
		}
		known := time.Now()
		list, _, err := w.Changes(0)
		if err != nil {
			b.Fatal(err)
		}
		i := slices.IndexFunc(list, func(c Change) bool { return c.Number == s.Number })
		changes = append(changes, known.Sub(list[i].Time))
	}
	report(b, "change", changes)
	report(b, "ball", balls)
}

// report reports the median and the 99th percentile of times.
func report(b *testing.B, what string, list []time.Duration) {
	slices.Sort(list)
	for _, p := range []int{50, 99} {
		b.ReportMetric(float64(list[(len(list)-1)*p/100]), fmt.Sprintf("%s-p%d-ns", what, p))
	}
}

func dup(t testing.TB, fd int) int {
	t.Helper()
	n, err := syscall.Dup(fd)
	if err != nil {
		t.Fatal(err)
	}
	syscall.CloseOnExec(n)
	return n
}

// BenchmarkGone measures how soon the end of a process that is killed is known, beside how soon its parent
// knows.
func BenchmarkGone(b *testing.B) {
	var gone, waited []time.Duration
	for range b.N {
		c := publish(b)
		w := c.open()
		s := waitUntil(b, w, "OK", func(s Status) bool { return s.State == OK })
		done := make(chan time.Time)
		go func() {
			c.cmd.Process.Wait()
			done <- time.Now()
		}()
		begin := time.Now()
		c.cmd.Process.Kill()
		for s.State != Gone {
			next, err := w.Wait(b.Context(), s)
			if err != nil {
				b.Fatal(err)
			}
			s = next
		}
		gone = append(gone, time.Since(begin))
		waited = append(waited, (<-done).Sub(begin))
		w.Close()
	}
	report(b, "gone", gone)
	report(b, "parent", waited)
}
