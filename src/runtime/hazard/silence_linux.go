// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Stops that others make: the process does not know of them, so the page can't say.

package hazard

import "time"

// A silence is what is known of a process that is not heard. It is used with the watcher's lock
// reading.
type silence struct {
	seen   bool   // the beat has been looked at since somebody waits
	beat   uint32 // that was seen last
	heard  bool   // it has changed since: the publisher knows that somebody waits
	looks  int    // that have not heard another
	looked time.Time
	from   int64 // when somebody began to wait

	why   string // the reason for Stopped, or ""; it stays until something else is known
	since int64  // if there is one: since when nothing has been heard
	gone  bool   // nobody publishes any more
	at    clock  // if gone, since when

	// Of the look before, if there was one in this silence.
	cpu      int64
	cpuKnown bool
	short    bool // the quota has cut a period short in this silence

	quota      uint64 // periods cut short so far
	quotaKnown bool
}

// lateUnheard is how many looks without a beat are too many if there has been none yet: it takes
// the publisher lookEvery to know that somebody waits.
const lateUnheard = int(lookEvery/beatEvery) + missedLate

// anew begins again, as nobody has waited for some time, and so there was no beat.
func (q *silence) anew() {
	*q = silence{beat: q.beat, from: runtime_nanotime(), why: q.why, since: q.since, gone: q.gone, at: q.at}
}

// add adds to a status what is known beside it. Without anybody who waits there are no beats.
func (q *silence) add(s *Status, raw *rawStatus, c clock, waits bool) {
	if s.State == Gone || raw.beat != q.beat {
		return
	}
	if q.why != "" {
		s.Silent = time.Duration(c.mono - q.since)
		if s.State != Stopped {
			s.State, s.Reason, s.Since = Stopped, q.why, c.time(q.since)
		}
	} else if waits && q.heard && q.looks >= missedLate {
		s.Silent = q.sinceBeat(c.mono)
	}
}

// sinceBeat returns for how long there has been no beat. The clock in ms wraps around after 49 days.
func (q *silence) sinceBeat(mono int64) time.Duration {
	return time.Duration(uint32(mono/1e6)-q.beat) * time.Millisecond
}

// look is called each 10 ms while somebody waits. It reports whether something is known that was
// not. If the last look is long ago, the caller has been stopped himself. So looks count, not
// time.
func (q *silence) look(w kernel, s *Status, raw *rawStatus) (news bool) {
	t := time.Now()
	if t.Sub(q.looked) < beatEvery/2 {
		return false // several wait
	}
	q.looked = t
	if raw.beat != q.beat {
		news = q.why != ""
		*q = silence{seen: true, beat: raw.beat, heard: q.seen, looked: t, from: q.from, gone: q.gone, at: q.at, quota: q.quota, quotaKnown: q.quotaKnown}
		return news
	}
	q.seen = true
	q.looks++
	late := missedLate
	if !q.heard {
		late = lateUnheard
	}
	if s.State == Gone || q.looks < late && q.why == "" && !raw.execs() {
		return false
	}
	if !w.publishes() {
		// It lives, but the file is closed, as execve does.
		q.gone, q.at = true, now()
		return true
	}
	if q.looks < late && q.why == "" {
		return false
	}
	why, known := w.ask(q)
	if !known || why == q.why {
		return false
	}
	if q.why == "" {
		q.since = q.from
		if q.heard {
			q.since = runtime_nanotime() - int64(q.sinceBeat(runtime_nanotime()))
		}
	}
	q.why = why
	return true
}

// A kernel answers what a silence asks. A watcher does.
type kernel interface {
	publishes() bool
	ask(q *silence) (why string, known bool)
}

func (w *watcher) ask(q *silence) (why string, known bool) { return q.ask(w.id.pid) }

// ask asks the kernel for the reason of a silence. known is false if it takes one more look.
func (q *silence) ask(pid int) (why string, known bool) {
	s, err := readStat(procDir(pid))
	if err != nil {
		return "", true
	}
	switch s.state {
	case 'T':
		return "silent: stopped by a signal", true
	case 't':
		return "silent: stopped by a tracer", true
	}
	before, wasKnown := q.cpu, q.cpuKnown
	q.cpu, q.cpuKnown = cpuTimeOf(pid)
	if n, ok := throttled(pid); ok {
		q.short = q.short || q.quotaKnown && n > q.quota
		q.quota, q.quotaKnown = n, true
	}
	switch {
	case !wasKnown && q.cpuKnown:
		return "", false
	case !q.cpuKnown || q.cpu != before || !readyThread(pid):
		return "", true
	case q.short:
		return "silent: no CPU: quota", true
	}
	return "silent: no CPU", true
}
