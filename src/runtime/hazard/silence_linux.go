// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Stops that others make: the process does not know of them, so the page can't say.

package hazard

import (
	"syscall"
	"time"
)

// A silence is what is known of a process that is not heard. It is used with the watcher's lock
// reading, and begins anew when somebody waits again.
type silence struct {
	seen   bool   // there is a beat
	beat   uint32 // that was seen last
	heard  bool   // it has changed since: the publisher knows that somebody waits
	looks  int    // that have not heard another
	looked time.Time

	why  string // the reason for Stopped, or ""
	gone bool   // nobody publishes any more
	at   clock  // if gone, since when

	// Of the look before, if there was one in this silence.
	cpu      int64
	cpuKnown bool
	short    bool // the quota has cut a period short in this silence

	quota      uint64 // periods cut short so far
	quotaKnown bool
}

// add adds to a status what is known beside it.
func (q *silence) add(s *Status, raw *rawStatus, c clock) {
	if s.State == Gone || q.looks < missedLate || raw.beat != q.beat {
		return
	}
	// The clock in ms wraps around after 49 days.
	s.Silent = time.Duration(uint32(c.mono/1e6)-raw.beat) * time.Millisecond
	if q.why != "" && s.State != Stopped {
		s.State, s.Reason, s.Since = Stopped, q.why, c.wall.Add(-s.Silent)
	}
}

// look is called each 10 ms while somebody waits. It reports whether something is known that was
// not. If the last look is long ago, the caller has been stopped himself. So looks count, not
// time.
func (q *silence) look(w *watcher, s *Status, raw *rawStatus) (news bool) {
	t := time.Now()
	if t.Sub(q.looked) < beatEvery/2 {
		return false // several wait
	}
	q.looked = t
	if !q.seen || raw.beat != q.beat {
		news = q.why != ""
		*q = silence{seen: true, beat: raw.beat, heard: q.seen, looked: t, quota: q.quota, quotaKnown: q.quotaKnown}
		return news
	}
	if q.looks++; !q.heard || q.looks < missedLate || s.State == Gone {
		return false
	}
	if !locked(w.f, lockPublisher, syscall.F_RDLCK) {
		// It lives, but the file is closed. Only execve of C's does that without a word.
		q.gone, q.at = true, now()
		return true
	}
	why := q.why
	q.why = q.ask(w.id.pid)
	return q.why != why
}

// ask asks the kernel for the reason.
func (q *silence) ask(pid int) string {
	s, err := readStat(procDir(pid))
	if err != nil {
		return ""
	}
	switch s.state {
	case 'T':
		return "silent: stopped by a signal"
	case 't':
		return "silent: stopped by a tracer"
	}
	before, known := q.cpu, q.cpuKnown
	q.cpu, q.cpuKnown = cpuTimeOf(pid)
	if n, ok := throttled(pid); ok {
		q.short = q.short || q.quotaKnown && n > q.quota
		q.quota, q.quotaKnown = n, true
	}
	if !known || !q.cpuKnown || q.cpu != before || !readyThread(pid) {
		return ""
	}
	if q.short {
		return "silent: no CPU: quota"
	}
	return "silent: no CPU"
}
