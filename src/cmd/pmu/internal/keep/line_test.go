// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package keep

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// inWorld tests with one machine, whose rings have 60 records each.
func inWorld(t *testing.T, do func(t *testing.T, w *world, m *machine)) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 60, "a")
		do(t, w, w.machines["a"])
	})
}

// ends checks how many gaps there are, and how many records were never written.
func (w *world) ends(gaps int64, missing int) *ledger {
	w.t.Helper()
	l, n := w.check()
	if l.Gaps != gaps || n != missing || l.Lost != 0 {
		w.t.Errorf("%d records are missing and %d are lost, in %d gaps; want %d in %d gaps, messages\n%s", n, l.Lost, l.Gaps, missing, gaps, w.stderr)
	}
	return l
}

// TestPastAgain has the answer with what a server still has break off, and begin again when a part of that
// is gone: what was read of the first one is no proof that nothing is missing.
func TestPastAgain(t *testing.T) {
	for _, gone := range []bool{false, true} {
		inWorld(t, func(t *testing.T, w *world, m *machine) {
			w.start()
			m.add(0, 10)
			time.Sleep(time.Second)
			m.change(func() { m.refuse = true })
			m.breakOff()
			time.Sleep(time.Second)
			m.add(0, 40)
			m.change(func() { m.refuse, m.delay = false, time.Second })
			time.Sleep(40 * time.Second) // it has read 30 or so
			m.change(func() { m.refuse, m.delay = true, 0 })
			m.breakOff()
			synctest.Wait()
			missing := 0
			if gone {
				m.add(0, 90) // and 30 of the 60 that are there were there before
				missing = m.n - 60 - len(w.written)
			}
			w.settle()
			if gone {
				w.ends(1, missing)
			} else {
				w.ends(0, 0)
			}
		})
	}
}

// TestFirstAgain has the first such answer break off: what the server had before it was read is in no
// stream.
func TestFirstAgain(t *testing.T) {
	for _, kill := range []bool{false, true} {
		inWorld(t, func(t *testing.T, w *world, m *machine) {
			m.add(0, 60)
			m.delay = time.Second
			w.start()
			time.Sleep(20 * time.Second)
			if kill {
				w.stop(true)
				m.add(0, 60)
				w.start()
			} else {
				m.breakOne(1)
				m.add(0, 60) // the stream has these
			}
			w.settle()
			if l, missing := w.check(); l.Gaps != 1 || missing < 30 {
				t.Errorf("%d records are missing in %d gaps, want one; messages\n%s", missing, l.Gaps, w.stderr)
			}
		})
	}
}

// TestBesideNext has a stream break off while the next one goes on, before it has sent what was recorded
// before that began.
func TestBesideNext(t *testing.T) {
	for _, gone := range []bool{false, true} {
		inWorld(t, func(t *testing.T, w *world, m *machine) {
			w.start()
			m.add(0, 10)
			time.Sleep(time.Second)
			m.change(func() { m.stall = true })
			m.add(1, 20) // which the first stream does not send
			time.Sleep(55 * time.Second)
			missing := 0
			if gone {
				m.add(1, 60)
				missing = 20
			}
			m.breakOne(0)
			m.change(func() { m.stall = false })
			w.settle()
			if gone {
				w.ends(1, missing)
			} else {
				w.ends(0, 0)
			}
		})
	}
}

// TestKilledAnywhere kills the program before each of its changes of the folder in turn, while records are
// removed. When it is started again, nothing is missing, nor written twice.
func TestKilledAnywhere(t *testing.T) {
	for _, at := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 40, 80} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 1<<20, "a")
			m := w.machines["a"]
			m.pad = strings.Repeat("x", 50_000)
			w.start()
			m.add(0, 200)
			time.Sleep(time.Second)
			w.killIn(at)
			m.add(1, 80)
			time.Sleep(time.Second)
			w.stop(true)
			w.start()
			m.add(0, 20)
			w.settle()
			if l := w.ends(0, 0); l.Removed == 0 || l.Older == 0 || !strings.Contains(l.missing(), fmt.Sprintf("%d from before those came again", l.Older)) {
				t.Errorf("killed before change %d: no record was removed, or came again: %+v", at, l)
			}
		})
	}
}

// TestSlowPast tests that what the server still has is read to its end, however long that takes, while
// streams follow each other.
func TestSlowPast(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, m *machine) {
		m.add(0, 30)
		m.delay = 50 * time.Second
		w.start()
		for range 30 {
			time.Sleep(time.Minute)
			m.add(1, 50)
		}
		w.settle()
		if w.ends(0, 0); m.queries() != 1 || strings.Contains(w.stderr.String(), "broke") {
			t.Errorf("it was asked for %d times, messages\n%s", m.queries(), w.stderr)
		}
	})
}

// TestPassedOver tests that streams follow each other, too, where they pass over all records of a ring.
func TestPassedOver(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, m *machine) {
		m.pass, w.query = true, url.Values{"kind": {"a"}}
		w.start()
		for range 50 {
			m.add(2, 50)
			time.Sleep(10 * time.Second)
		}
		w.settle()
		if w.ends(0, 50*50); m.queries() != 1 {
			t.Errorf("what the server still has was asked for %d times, want once", m.queries())
		}
	})
}

// TestOtherProcess tests that there is a gap when another process answers, and only one, whatever its clock.
func TestOtherProcess(t *testing.T) {
	for _, ahead := range []time.Duration{-time.Hour, 0, time.Hour} {
		inWorld(t, func(t *testing.T, w *world, m *machine) {
			w.start()
			m.add(0, 10)
			time.Sleep(time.Second)
			m.change(func() { m.refuse = true })
			m.breakOff()
			m.add(0, 5)
			m.restart()
			m.change(func() { m.clock = int64(ahead) })
			m.add(0, 80) // its ring has 60 of them
			m.change(func() { m.refuse = false })
			w.settle()
			w.ends(1, 5+20)
		})
	}
}

// TestOlderRelease tests that a server which does not say where its answers begin is read, with a gap before
// each stream but the first, and that a newer one follows.
func TestOlderRelease(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, m *machine) {
		m.change(func() { m.old = true })
		m.add(0, 10)
		w.start()
		for range 12 { // streams begin at 0, 50 and 100 s
			time.Sleep(10 * time.Second)
			m.add(0, 10)
		}
		time.Sleep(time.Second)
		w.ends(2, 0)
		m.add(0, 50)
		m.change(func() { m.old = false })
		w.start()
		w.settle()
		w.ends(3, 0) // it is another process, as far as anyone knows
	})
}
