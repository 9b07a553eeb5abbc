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
	closed  bool
	why     string
	unknown bool
	asked   int
	raw     rawStatus
}

func (k *fakeKernel) publishes() bool { return !k.closed }

func (k *fakeKernel) ask(*silence) (string, bool) {
	k.asked++
	return k.why, !k.unknown
}

// looks looks n times. It returns after how many there was news first, or 0.
func (k *fakeKernel) looks(n int) (news int) {
	for i := range n {
		k.q.looked = time.Time{}
		s := k.status(true)
		if k.q.look(k, &s, &k.raw) && news == 0 {
			news = i + 1
		}
	}
	return news
}

func (k *fakeKernel) status(waits bool) Status {
	c := now()
	s := k.raw.status(&identity{}, c)
	k.q.add(&s, &k.raw, c, waits)
	return s
}

func (k *fakeKernel) check(what string, waits bool, state State, reason string) {
	k.t.Helper()
	s := k.status(waits)
	if s.State != state || s.Reason != reason || (s.Silent != 0) != (reason != "") || s.Silent < 0 || s.Silent > time.Minute {
		k.t.Errorf("%s: %+v, want %v, %s", what, s, state, reason)
	}
}

// beat has the process be heard, as it was 40 ms ago.
func (k *fakeKernel) beat() { k.raw.beat = uint32(runtime_nanotime()/1e6) - 40 }

const testWhy = "silent: why"

// TestUnheard tests a process that is not heard from the start. It has a second until it is asked
// about.
func TestUnheard(t *testing.T) {
	k := &fakeKernel{t: t, why: testWhy}
	k.raw.beat = uint32(runtime_nanotime()/1e6) - 1e9 // of long ago
	k.q.anew()
	if n := k.looks(102); n != 0 || k.asked != 0 {
		t.Errorf("news at look %d, asked %d times", n, k.asked)
	}
	k.check("in the first second", true, OK, "")
	if n := k.looks(10); n != 2 { // the first of all has seen the beat
		t.Errorf("news at look %d", n)
	}
	k.check("then", true, Stopped, testWhy)
	if k.status(true).Silent > time.Minute {
		t.Errorf("%+v", k.status(true))
	}
}

// TestHeard tests a process that is heard until something stops it.
func TestHeard(t *testing.T) {
	k := &fakeKernel{t: t}
	k.beat()
	k.q.anew()
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
	k.q.anew()
	k.check("again", true, Stopped, testWhy)
	k.unknown, k.why = true, ""
	if n := k.looks(1); n != 0 {
		t.Errorf("news at look %d", n)
	}
	k.check("not known yet", true, Stopped, testWhy)
	k.unknown, k.why = false, testWhy+" else"
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
	k.check("it runs", false, OK, "")

	// It is heard again.
	k.why = testWhy
	k.looks(200)
	k.check("stopped", true, Stopped, testWhy)
	k.raw.beat++
	k.check("heard", true, OK, "")
	if n := k.looks(1); n != 1 {
		t.Errorf("news at look %d", n)
	}
}

// TestExecLook tests that a process that calls execve is gone at once if that succeeds.
func TestExecLook(t *testing.T) {
	k := &fakeKernel{t: t}
	k.beat()
	k.raw.state, k.raw.reason = Stopped, "execve"
	k.q.anew()
	if n := k.looks(5); n != 0 || k.q.gone {
		t.Errorf("news at look %d, gone %v", n, k.q.gone)
	}
	k.closed = true
	if n := k.looks(1); n != 1 || !k.q.gone {
		t.Errorf("news at look %d, gone %v", n, k.q.gone)
	}
	k.q.anew()
	if !k.q.gone {
		t.Error("it is back")
	}
}
