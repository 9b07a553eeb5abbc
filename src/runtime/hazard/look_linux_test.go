// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard

import (
	"testing"
	"time"
)

// A fakeKernel answers what it is told to.
type fakeKernel struct {
	t       *testing.T
	q       silence
	why     string
	unknown bool
	asked   int
	raw     rawStatus
}

// newFakeKernel returns one for a page whose last beat is some time ago, for which somebody begins to
// wait.
func newFakeKernel(t *testing.T, beat time.Duration) *fakeKernel {
	k := &fakeKernel{t: t}
	k.raw.beat = uint32((runtime_nanotime() - int64(beat)) / 1e6)
	k.q.beat = k.raw.beat
	k.q.anew(runtime_nanotime())
	return k
}

func (k *fakeKernel) ask(*silence) (string, bool) {
	k.asked++
	return k.why, !k.unknown
}

// looks looks n times. It returns after how many there was news first, or 0.
func (k *fakeKernel) looks(n int) (news int) {
	for i := range n {
		told := k.q.hear(&k.raw, runtime_nanotime())
		if (k.q.look(k) || told) && news == 0 {
			news = i + 1
		}
	}
	return news
}

func (k *fakeKernel) status(waits bool) Status {
	c := now()
	s := k.raw.status(&identity{}, c)
	k.q.hear(&k.raw, c.mono)
	k.q.add(&s, c, waits)
	return s
}

func (k *fakeKernel) check(what string, waits bool, state State, reason string) {
	k.t.Helper()
	s := k.status(waits)
	if s.State != state || s.Reason != reason || (s.Silent != 0) != (reason != "") || s.Silent < 0 || s.Silent > time.Minute {
		k.t.Errorf("%s: %+v, want %v, %s", what, s, state, reason)
	}
}

const testWhy = "silent: why"

// TestUnheard tests a process that is not heard from the start. It has a second until it is asked
// about.
func TestUnheard(t *testing.T) {
	k := newFakeKernel(t, 1e6*time.Second)
	k.why = testWhy
	if n := k.looks(102); n != 0 || k.asked != 0 {
		t.Errorf("news at look %d, asked %d times", n, k.asked)
	}
	k.check("in the first second", true, OK, "")
	if n := k.looks(10); n != 2 { // the first of all is the 0th
		t.Errorf("news at look %d", n)
	}
	k.check("then", true, Stopped, testWhy)
}

// TestHeard tests a process that is heard until something stops it.
func TestHeard(t *testing.T) {
	k := newFakeKernel(t, 40*time.Millisecond)
	k.looks(1)
	k.raw.beat++ // heard
	if n := k.looks(1 + missedLate - 1); n != 0 || k.asked != 0 {
		t.Errorf("news at look %d, asked %d times", n, k.asked)
	}
	k.check("late", true, OK, "")
	if n := k.looks(1); n != 0 || k.asked != 1 {
		t.Errorf("news at look %d, asked %d times", n, k.asked)
	}
	if s := k.status(true); s.State != OK || s.Silent < 30*time.Millisecond || s.Silent > time.Minute {
		t.Errorf("busy: %+v", s)
	}
	k.check("nobody waits", false, OK, "")
	k.why = testWhy
	if n := k.looks(1); n != 1 {
		t.Errorf("news at look %d", n)
	}
	k.check("stopped", true, Stopped, testWhy)

	// Nobody waits for some time.
	since := k.status(false).Since
	k.q.anew(runtime_nanotime())
	k.check("again", true, Stopped, testWhy)
	k.why = testWhy + " else"
	if n := k.looks(1); n != 1 {
		t.Errorf("news at look %d", n)
	}
	k.check("another reason", true, Stopped, testWhy+" else")
	if d := k.status(true).Since.Sub(since).Abs(); d > time.Second {
		t.Errorf("since when differs by %v", d)
	}
	k.why = ""
	if n := k.looks(1); n != 1 {
		t.Errorf("news at look %d", n)
	}
	k.check("it runs", true, OK, "")

	// It is heard again: by a beat, or by a change.
	for _, sign := range []func(){func() { k.raw.beat++ }, func() { k.raw.number++ }} {
		k.why = testWhy
		k.looks(200)
		k.check("stopped", true, Stopped, testWhy)
		sign()
		if n := k.looks(1); n != 1 {
			t.Errorf("news at look %d", n)
		}
		k.check("heard", true, OK, "")
		k.asked = 0
		if k.looks(missedLate - 1); k.asked != 0 {
			t.Error("asked at once")
		}
	}
}

// TestChange tests that a change is no beat: a process that has had one, and has not been heard yet, has
// a second.
func TestChange(t *testing.T) {
	k := newFakeKernel(t, time.Hour)
	k.raw.number++
	if n := k.looks(100); n != 1 || k.asked != 0 { // who waits is told of the change
		t.Errorf("news at look %d, asked %d times", n, k.asked)
	}
	k.check("not heard", true, OK, "")
}
