// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Stops that others make: the process does not know of them, so the page can't say.

package hazard

import "time"

// A silence is what is known of a process that is not heard. It is used with the watcher's lock
// reading.
type silence struct {
	// The signs of life that were seen last. A change is one as a beat is.
	beat   uint32
	number uint64

	from  int64 // when the last one was; if there has been none, when somebody began to wait
	heard bool  // there has been a beat since: the publisher knows that somebody waits
	looks int   // since then; the one that has seen it is the 0th

	why  string // the reason for Stopped, or ""; it stays until something else is known
	gone bool   // nobody publishes any more
	at   clock  // if gone, since when

	// Of the kernel's answers in this silence.
	cpu      int64
	cpuKnown bool
	still    int64 // since when the CPU time is not known to have gone on
	quota    uint64
	limited  bool // quota is how many periods were cut short when it was first asked
	idle     int  // looks from one answer to the next, if it is the same
	next     int  // the look that asks again
}

// lateUnheard is how many looks without a beat are too many if there has been none yet: it takes
// the publisher lookEvery to know that somebody waits.
const lateUnheard = int(lookEvery/beatEvery) + missedLate

// anew begins again, as nobody has waited for some time, and so there was no beat. What is known of
// a stop stays.
func (q *silence) anew(mono int64) {
	q.heard = false
	if q.why == "" {
		q.begin(mono)
	}
}

// begin begins a silence.
func (q *silence) begin(from int64) {
	*q = silence{beat: q.beat, number: q.number, from: from, still: from, heard: q.heard, looks: -1, gone: q.gone, at: q.at}
}

// hear compares a page with the one before. It reports whether those who wait have to be told.
func (q *silence) hear(raw *rawStatus, mono int64) (news bool) {
	if raw.beat == q.beat && raw.number == q.number {
		return false
	}
	news = q.why != "" || raw.number != q.number
	q.heard = q.heard || raw.beat != q.beat
	q.beat, q.number = raw.beat, raw.number
	// The beat's clock in ms wraps around after 49 days.
	beat := mono - int64(uint32(mono/1e6)-raw.beat)*1e6
	q.begin(min(mono, max(beat, raw.time)))
	return news
}

// add adds to a status what is known beside it. Without anybody who waits there are no beats.
func (q *silence) add(s *Status, c clock, waits bool) {
	if s.State == Gone || q.why == "" && (!waits || !q.heard || q.looks < missedLate) {
		return
	}
	s.Silent = time.Duration(c.mono - q.from)
	if q.why != "" && s.State != Stopped {
		s.State, s.Reason, s.Since = Stopped, q.why, c.time(q.still)
	}
}

// look is called each 10 ms while somebody waits, after hear. It reports whether something is known
// that was not. If the last look is long ago, the caller has been stopped himself. So looks count,
// not time.
func (q *silence) look(w kernel) (news bool) {
	q.looks++
	late := missedLate
	if !q.heard {
		late = lateUnheard
	}
	return (q.looks >= late || q.why != "") && q.check(w)
}

// check asks the kernel. It reports whether it answers something else than before.
func (q *silence) check(w kernel) (news bool) {
	why, known := w.ask(q)
	if !known || why == q.why {
		return false
	}
	if why == "" {
		q.begin(runtime_nanotime())
	}
	q.why = why
	return true
}

// A kernel answers what a silence asks. A watcher does.
type kernel interface {
	ask(q *silence) (why string, known bool)
}

func (w *watcher) ask(q *silence) (why string, known bool) { return q.ask(w.id.pid) }

// ask asks the kernel for the reason of a silence. known is false if it takes one more look. If
// the process has had no CPU time since the last answer, that is taken to hold for a second at most,
// as to look at all threads takes long.
func (q *silence) ask(pid int) (why string, known bool) {
	cpu, ok := cpuTimeOf(pid)
	if ok && q.cpuKnown && cpu != q.cpu {
		q.cpu = cpu
		if !q.halted(pid) {
			q.still, q.idle, q.next = runtime_nanotime(), 0, 0
			return "", true
		}
	}
	if q.looks < q.next {
		return q.why, true
	}
	first := !q.cpuKnown
	q.cpu, q.cpuKnown = cpu, ok
	why, known = q.askThreads(pid, first)
	if known && why == q.why {
		q.idle = min(max(1, 2*q.idle), int(lookEvery/beatEvery))
	} else {
		q.idle = 0
	}
	q.next = q.looks + q.idle
	return why, known
}

// halted reports whether what has stopped the process still does. Threads may have run for some
// microseconds after the first one has stopped.
func (q *silence) halted(pid int) bool {
	if q.why != bySignal && q.why != byTracer {
		return false
	}
	s, err := readStat(procDir(pid))
	return err == nil && (s.state == 'T' || s.state == 't')
}

// askThreads is the part of ask for a process whose CPU time stands still, or was not known before.
func (q *silence) askThreads(pid int, first bool) (why string, known bool) {
	s, err := readStat(procDir(pid))
	if err != nil {
		return "", true
	}
	switch s.state {
	case 'T':
		return bySignal, true
	case 't':
		return byTracer, true
	}
	n, limited := throttled(pid)
	if !q.limited {
		q.quota, q.limited = n, limited
	}
	switch {
	case q.why == bySignal || q.why == byTracer: // no more
		return "", true
	case first && q.cpuKnown:
		if !q.heard {
			q.still = runtime_nanotime() // it may have run until now
		}
		return "", false
	case !q.cpuKnown || !readyThread(pid):
		return "", true
	case limited && n > q.quota:
		return "silent: no CPU: quota", true
	}
	return "silent: no CPU", true
}

// Reasons that the kernel gives at once.
const (
	bySignal = "silent: stopped by a signal"
	byTracer = "silent: stopped by a tracer"
)
