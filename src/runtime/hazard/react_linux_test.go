// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	. "runtime/hazard"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const reactions = 300

// ball is a byte that a process waits for, by an eventfd's read. It takes a thread, as the wait for a
// page does.
type ball struct{ there, back int } // eventfds

func newBall(t *testing.T) ball {
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
func react(p *Publisher) error {
	for i := range reactions {
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

// TestReaction tests how soon a change is known in another process, in units of how long a ball needs
// to get there. They take turns.
func TestReaction(t *testing.T) {
	b := newBall(t)
	c, answer := startWith(t, tempDir(t)+"/page", func(cmd *exec.Cmd) {
		cmd.ExtraFiles = []*os.File{os.NewFile(uintptr(dup(t, b.there)), "there"), os.NewFile(uintptr(dup(t, b.back)), "back")}
	})
	if answer != "ok" {
		t.Fatal(answer)
	}
	w := c.open()
	s := waitUntil(t, w, "OK", func(s Status) bool { return s.State == OK })
	c.in.Write([]byte("react\n"))
	var changes, balls []time.Duration
	for range reactions {
		throw(b.there)
		thrown := catch(b.back)
		balls = append(balls, time.Duration(Nanotime()-thrown))

		was := s.Program
		throw(b.there)
		for s.Program == was { // there are collections, too
			next, err := w.Wait(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			s = next
		}
		known := time.Now()
		list, _, err := w.Changes(0)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(list, func(c Change) bool { return c.Number == s.Number })
		changes = append(changes, known.Sub(list[i].Time))
	}
	slices.Sort(changes)
	slices.Sort(balls)
	at := func(list []time.Duration, part float64) time.Duration { return list[int(part*float64(len(list)-1))] }
	t.Logf("a change: median %v, p99 %v, most %v; a ball: median %v, p99 %v, most %v", at(changes, 0.5), at(changes, 0.99), at(changes, 1),
		at(balls, 0.5), at(balls, 0.99), at(balls, 1))
	if ratio := float64(at(changes, 0.5)) / float64(at(balls, 0.5)); ratio > 6 {
		t.Errorf("a change is known after %.1f times as long as a ball needs, want 6 at most", ratio)
	}
	if strings.Contains(os.Getenv("PMU_TEST_REQUIRE"), "quiet") && (at(changes, 0.5) > 50*time.Microsecond || at(changes, 0.99) > time.Millisecond) {
		t.Error("on a quiet machine the median should be 50us at most, and p99 1ms")
	}
}

func dup(t *testing.T, fd int) int {
	t.Helper()
	n, err := syscall.Dup(fd)
	if err != nil {
		t.Fatal(err)
	}
	syscall.CloseOnExec(n)
	return n
}

// TestGoneSoon tests how soon the end of a process that is killed is known, in units of how long its
// parent needs to know.
func TestGoneSoon(t *testing.T) {
	n := 20
	if testing.Short() {
		n = 5
	}
	var gone, waited []time.Duration
	for range n {
		c := publish(t)
		w := c.open()
		s := waitUntil(t, w, "OK", func(s Status) bool { return s.State == OK })
		done := make(chan time.Time)
		go func() {
			c.cmd.Process.Wait()
			done <- time.Now()
		}()
		begin := time.Now()
		c.cmd.Process.Kill()
		for s.State != Gone {
			next, err := w.Wait(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			s = next
		}
		gone = append(gone, time.Since(begin))
		waited = append(waited, (<-done).Sub(begin))
	}
	slices.Sort(gone)
	slices.Sort(waited)
	t.Logf("Gone after: median %v, most %v; its parent knows after: median %v, most %v", gone[n/2], gone[n-1], waited[n/2], waited[n-1])
	if gone[n/2] > 4*waited[n/2] {
		t.Errorf("the median is more than four times the parent's")
	}
	if strings.Contains(os.Getenv("PMU_TEST_REQUIRE"), "quiet") && gone[n-1] > 10*time.Millisecond {
		t.Error("on a quiet machine it should be 10ms at most")
	}
}
