// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard

import (
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
)

// KeepChanging has a program and its runtime change the page time and again, until stop is closed.
// The reasons are such that a mixture of two is seen.
func KeepChanging(p *Publisher, stop chan struct{}) {
	settable := []State{OK, Starting, Overloaded, Draining}
	r := rand.New(rand.NewPCG(uint64(os.Getpid()), 1))
	var m runtime.MemStats
	for {
		select {
		case <-stop:
			return
		default:
		}
		for range 1 + r.IntN(100) {
			s := settable[r.IntN(len(settable))]
			p.Set(s, strings.Repeat(string(rune('a'+int(s))), 1+r.IntN(maxReason)))
		}
		if r.IntN(10) == 0 {
			runtime.ReadMemStats(&m)
		}
		if r.IntN(100) == 0 {
			runtime.GC()
		}
	}
}

// A WordChecker reads the page of a process that runs [KeepChanging].
type WordChecker struct {
	*Watcher
	last  rawStatus
	begin int64 // by the times of states
	Reads int
	Seen  [states]int
}

// Read reads the page once. It returns why that is not of one moment, or "".
func (c *WordChecker) Read() (torn string, err error) {
	changes, err := c.file.read()
	if err != nil {
		return "", err
	}
	s, err := parseStatus(c.file.page[:], changes)
	if err != nil {
		return "", err
	}
	defer func() { c.last = s }()
	c.Reads++
	c.Seen[s.state]++
	begin, counts := s.since, uint64(0)
	for i := range s.nanos {
		begin -= s.nanos[i]
		counts += s.count[i]
		if s.count[i] < c.last.count[i] || s.nanos[i] < c.last.nanos[i] {
			return "totals go back", nil
		}
	}
	if c.begin == 0 {
		c.begin = begin
	}
	letter := s.reason != "" && strings.Count(s.reason, s.reason[:1]) == len(s.reason)
	switch {
	case begin != c.begin:
		return "times of states don't add up", nil
	case counts > s.number || s.count[s.state] == 0:
		return "counts", nil
	case s.number < c.last.number || s.time < c.last.time || s.time < s.since:
		return "goes back", nil
	case s.number == c.last.number && (s.reason != c.last.reason || s.since != c.last.since):
		return "one change is two", nil
	case s.state.settable() && s.reason != "" && (!letter || s.reason[0] != 'a'+byte(s.state) || s.program != s.state):
		return "state and reason", nil
	case !s.state.settable() && (letter || s.reason == ""):
		return "the runtime's state and reason", nil
	}
	return "", nil
}

// Locked calls f with what a Watcher locks to read.
func (c *WordChecker) Locked(f func()) {
	c.reading.Lock()
	defer c.reading.Unlock()
	f()
}
