// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package keep

import (
	"context"
	"internal/taskrecord"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestInterrupted tests that a program which ends before it has read what a server still has says so, and
// that the next one reads it.
func TestInterrupted(t *testing.T) {
	for _, kill := range []bool{false, true} {
		for _, first := range []bool{false, true} {
			inWorld(t, func(t *testing.T, w *world, m *machine) {
				w.start()
				if !first {
					time.Sleep(time.Second)
					w.ends(0, 0)
					w.start()
					time.Sleep(time.Second)
					m.breakOff()
					m.add(0, 10) // before another stream begins
				} else {
					m.delay = time.Second
					w.stop(true)
					m.add(0, 10)
					w.start()
				}
				m.change(func() { m.delay = time.Second })
				time.Sleep(5 * time.Second)
				w.stop(kill)
				if l := saved(t, w.dir); l.Gaps != 1 || !strings.Contains(Missing(w.dir), "in 1 gap of ") {
					t.Errorf("%+v\n%s", l, Missing(w.dir))
				}
				w.start()
				w.settle()
				w.ends(0, 0)
			})
		}
	}
}

// TestTwoProcesses has two processes answer for one URL in turns, as they do behind a balancer. All of their
// records are read, and each has its own file.
func TestTwoProcesses(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, m *machine) {
		m.other = &machine{name: "b", most: 1 << 20, pad: strings.Repeat("x", 1000)}
		m.most = 1 << 20
		w.start()
		for range 100 {
			time.Sleep(10 * time.Second)
			m.add(1, 3)
			m.other.add(2, 3)
		}
		w.settle()
		w.settle()
		l, missing := w.check()
		if missing += m.other.n; missing != 0 || l.Gaps > 1 || len(l.Files) != 2 || l.Removed > 0 || m.queries()+m.other.queries() > 60 {
			t.Errorf("%d records are missing, %d queries for all, messages\n%s\n%+v", missing, m.queries()+m.other.queries(), w.stderr, l)
		}
	})
}

// TestManyProcesses tests that each process that ends leaves one gap, also if it is forgotten.
func TestManyProcesses(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, m *machine) {
		w.start()
		for range 3 * processes {
			m.add(0, 10)
			time.Sleep(time.Minute)
			m.restart()
		}
		w.settle()
		if l := w.ends(3*processes, 0); len(l.Extents) != 1 || len(l.Files) != 3*processes {
			t.Errorf("%+v", l)
		} else {
			for _, list := range l.Extents {
				if len(list) != processes {
					t.Errorf("%d processes are remembered", len(list))
				}
			}
		}
	})
}

// TestNeverWhole tests that a server whose answers never have all that it still has is not asked for it
// all the time, and that the ledger counts the gap.
func TestNeverWhole(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, m *machine) {
		m.add(0, 40)
		m.limit, m.delay = 20, time.Second
		w.start()
		time.Sleep(time.Hour)
		w.ends(1, 21)
		if n := m.queries(); n < 10 || n > 70 {
			t.Errorf("it was asked for %d times in an hour, messages\n%s", n, w.stderr)
		}
	})
}

// TestOtherQuery tests that what another query has passed over is read.
func TestOtherQuery(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, m *machine) {
		m.pass, w.query = true, url.Values{"kind": {"a"}}
		w.start()
		time.Sleep(time.Second)
		m.add(0, 10)
		m.add(2, 20)
		w.settle()
		w.ends(0, 20)
		w.query = nil
		w.start()
		w.settle()
		w.ends(0, 0)
	})
}

// TestGapTime tests that a gap is as long as nobody read, though records from before its end were read meanwhile.
func TestGapTime(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, m *machine) {
		w.start()
		m.add(0, 10)
		time.Sleep(time.Second)
		m.change(func() { m.refuse = true })
		m.breakOff()
		m.add(0, 40)
		time.Sleep(10 * time.Minute)
		m.change(func() { m.refuse, m.delay = false, time.Second })
		time.Sleep(40 * time.Second)
		m.change(func() { m.refuse, m.delay = true, 0 })
		m.breakOff()
		time.Sleep(time.Minute)
		m.add(0, 90)
		w.settle()
		if l, _ := w.check(); l.Gaps != 1 || l.Gap < int64(10*time.Minute) {
			t.Errorf("%d gaps of %v, want one of more than 10 minutes", l.Gaps, time.Duration(l.Gap))
		}
	})
}

// TestDamagedAnswer tests that records of an answer are not kept from where it is damaged on.
func TestDamagedAnswer(t *testing.T) {
	hs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fw := taskrecord.NewFileWriter(w, &taskrecord.Server{Name: "s"})
		p := taskrecord.Progress{Places: taskrecord.RingPlaces{{Ring: 0, Next: 0}}}
		fw.Mark(&taskrecord.Mark{Process: "p", Progress: p})
		for i := range 3 {
			if p.Places[0].Next++; i == 1 {
				w.Write([]byte{0})
				continue
			}
			fw.At = p
			x := &taskrecord.Record{Kind: "k"}
			x.Trace[7], x.Span[0] = byte(i+1), 1
			fw.Write(x)
		}
		fw.Mark(&taskrecord.Mark{End: true, Process: "p", Progress: p})
	}))
	defer hs.Close()
	dir := t.TempDir()
	k := start(t, dir, least, hs.URL)
	until(t, "a message", func() bool { return strings.Contains(k.stderr.String(), "the answer is damaged") })
	k.stop()
	if l := balance(t, dir); l.records() != 1 || l.Gaps != 1 || l.Lost != 0 {
		t.Errorf("%+v", l)
	}
}

// TestNewerLedger tests that no program writes a ledger of which it does not know everything.
func TestNewerLedger(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, ledgerName)
	const text = `{"version": 2, "read": 7}`
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	err := Archiver{Dir: dir, Bytes: least, URLs: []string{"http://localhost:1/"}, Stderr: os.Stderr}.Run(context.Background())
	if err == nil || !strings.Contains(err.Error(), "has version 2 of the ledger, and this program knows version 1: use the release of Go that has written it") {
		t.Error(err)
	}
	if data, _ := os.ReadFile(name); string(data) != text {
		t.Errorf("the ledger is now %s", data)
	}
}
