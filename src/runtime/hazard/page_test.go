// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// A testPage is a page with changes.
func testPage(n uint64) []byte {
	b := make([]byte, pageSize)
	line := (&identity{pid: 1, start: 2, pidns: 3, begin: 4}).line()
	copy(b, line[:])
	for i := max(1, int64(n)-ringSize+1); i <= int64(n); i++ {
		c := b[offRing+i%ringSize*changeSize:]
		binary.LittleEndian.PutUint64(c, uint64(i))
		binary.LittleEndian.PutUint64(c[8:], uint64(1000*i))
		c[16], c[17], c[18] = byte(Draining), byte(Draining), 3
		copy(c[24:], "why")
	}
	t := b[offTotals+n%2*totalsSize:]
	binary.LittleEndian.PutUint64(t[8*Draining:], n)
	binary.LittleEndian.PutUint64(t[112:], 1000)
	binary.LittleEndian.PutUint32(b[offChanges:], uint32(n))
	return b
}

func TestPage(t *testing.T) {
	const n = 1<<32 + 7 // the word has only the low half
	b := testPage(n)
	s, err := parseStatus(b, 7)
	if err != nil {
		t.Fatal(err)
	}
	wall := time.Unix(1000, 0)
	st := s.status(&identity{pid: 1}, clock{wall, 5000})
	if st.State != Draining || st.Program != Draining || st.Reason != "why" || st.Number != n || st.PID != 1 || st.Count(Draining) != n ||
		st.Time(Draining) != 4000 || !st.Since.Equal(wall.Add(-4000)) || st.Count(255) != 0 || st.Time(255) != 0 {
		t.Errorf("%+v", st)
	}
	for _, c := range []struct{ after, missed, first uint64 }{
		{0, n - 31, n - 30}, {n - 32, 1, n - 30}, {n - 31, 0, n - 30}, {n - 30, 0, n - 29}, {n - 1, 0, n}, {n, 0, 0}, {n + 1, 0, 0},
	} {
		list, missed, err := parseChanges(b, 7, c.after)
		if err != nil || missed != c.missed || c.first == 0 && len(list) != 0 || c.first != 0 && (list[0].number != c.first || list[len(list)-1].number != n) {
			t.Errorf("after %d: %d missed, %v, %v", c.after, missed, list, err)
		}
	}
	if list, missed, err := parseChanges(testPage(3), 3, 0); len(list) != 3 || missed != 0 || err != nil {
		t.Errorf("%v, %d, %v", list, missed, err)
	}
}

// TestDamaged tests that a page that no publisher writes is an error.
func TestDamaged(t *testing.T) {
	const at = offRing + 7*changeSize
	for name, damage := range map[string]func(b []byte){
		"no change":            func(b []byte) { clear(b[offRing:]) },
		"another change":       func(b []byte) { b[at] = 39 },
		"low half differs":     func(b []byte) { b[at] = 8 },
		"unknown state":        func(b []byte) { b[at+16] = byte(Gone) + 1 },
		"a program is stopped": func(b []byte) { b[at+17] = byte(Stopped) },
		"a long reason":        func(b []byte) { b[at+18] = maxReason + 1 },
		"no UTF-8":             func(b []byte) { b[at+24] = 0xff },
		"a control character":  func(b []byte) { b[at+24] = '\x1b' },
	} {
		b := testPage(7)
		damage(b)
		if s, err := parseStatus(b, 7); err == nil {
			t.Errorf("%s: no error: %+v", name, s)
		}
		if list, _, err := parseChanges(b, 7, 0); err == nil {
			t.Errorf("%s: no error: %+v", name, list)
		}
	}
	for name, damage := range map[string]func(b []byte){
		"magic":   func(b []byte) { b[0]++ },
		"version": func(b []byte) { b[8]++ },
		"size":    func(b []byte) { b[13]++ },
		"no pid":  func(b []byte) { clear(b[16:20]) },
		"pid -1":  func(b []byte) { copy(b[16:20], "\xff\xff\xff\xff") },
	} {
		b := testPage(7)
		damage(b)
		if id, err := parseIdentity(b); err == nil {
			t.Errorf("%s: no error: %+v", name, id)
		}
	}
	if s := State(200).String(); s != "State(200)" {
		t.Error(s)
	}
}

func FuzzPage(f *testing.F) {
	f.Add(testPage(7), uint32(7), uint64(0))
	f.Add(testPage(1<<40), uint32(0), uint64(1<<40-3))
	f.Add(make([]byte, pageSize), uint32(0), uint64(0))
	f.Fuzz(func(t *testing.T, page []byte, changes uint32, after uint64) { checkPage(t, page, changes, after) })
}

// TestRandomPages has some of what FuzzPage finds.
func TestRandomPages(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	good := 0
	for range 20000 {
		n := r.Uint64N(100)
		b := testPage(n)
		for range r.IntN(4) {
			b[r.IntN(3000)] = byte(r.Uint32())
		}
		if checkPage(t, b, uint32(n), r.Uint64N(100)) {
			good++
		}
	}
	if good == 0 || good == 20000 {
		t.Errorf("%d of 20000 pages are good", good)
	}
}

// checkPage reads a page, whatever it is. It reports whether there is a status.
func checkPage(t *testing.T, page []byte, changes uint32, after uint64) (good bool) {
	if len(page) != pageSize {
		return false
	}
	parseIdentity(page)
	c := clock{time.Unix(1000, 0), 1 << 40}
	s, err := parseStatus(page, changes)
	if err == nil {
		st := s.status(&identity{}, c)
		if st.State >= states || !st.Program.settable() || len(st.Reason) > maxReason || uint32(st.Number) != changes || strings.ContainsAny(st.Reason, "\n\x1b") {
			t.Errorf("%+v", st)
		}
		st.end(&s, clock{c.wall, c.mono - 5}, c)
		if st.State != Gone {
			t.Errorf("%+v", st)
		}
	}
	list, missed, bad := parseChanges(page, changes, after)
	if bad == nil && err == nil && after < s.number && uint64(len(list))+missed != s.number-after {
		t.Errorf("%d changes and %d missed after %d, of %d", len(list), missed, after, s.number)
	}
	return err == nil
}
