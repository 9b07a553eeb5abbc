// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"cmp"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"
)

// timeMark is in the text of a cause where its time comes, which is known only when the
// waits of the same text are summed up. Nothing printable has it.
const timeMark = "\x00"

// A causeRow is a row of the table of causes.
type causeRow struct {
	name  string
	match func(p *piece) bool // nil if it is found otherwise
	// text is with {words} in it, which words expands: {time} is the time. Pieces of the
	// same row and text are one cause.
	text  string
	plain string        // the text if a word in that one is empty; then it is the name
	bound time.Duration // for less than that it is not reported
}

// causeTable is the table. A piece of the path is of the first cause that matches.
var causeTable = []causeRow{
	{"stop-the-world", func(p *piece) bool { return p.stop },
		"stop-the-world {time} ({stop})", "stop-the-world {time}", 100 * time.Microsecond},
	{"stops the world", in(pprof.TimeStopTheWorld),
		"stop-the-world {time} of its own at {place}", "stop-the-world {time} of its own", 100 * time.Microsecond},
	{"runnable behind", func(p *piece) bool { return p.behind },
		"runnable {time} behind task {behind}", "", 100 * time.Microsecond},
	{"runnable", in(pprof.TimeRunnable),
		"runnable {time}", "", 100 * time.Microsecond},
	{"preempted", in(pprof.TimePreempted), // what is in the timeline is a system call that was long for that
		"preempted by the operating system {time}", "", 100 * time.Microsecond},
	{"mutex", in(pprof.TimeMutex),
		"mutex held by {waker}, {time}", "mutex {time} at {place}", 100 * time.Microsecond},
	{"GC assist", func(p *piece) bool {
		return p.seg.Part == pprof.TimeGC && strings.HasPrefix(p.seg.Reason, "GC assist")
	}, "GC assist {time}", "", 100 * time.Microsecond},
	{"GC", in(pprof.TimeGC),
		"garbage collector {time} ({reason})", "garbage collector {time}", 100 * time.Microsecond},
	{"way of a call", func(p *piece) bool { // what the server is not in, in a request's path
		return p.seg.Call >= 0 && p.seg.Node != nil && len(p.seg.Node.callees(p.seg.Call)) > 0
	}, "way of call {call} {time}", "", 100 * time.Microsecond},
	{"call", func(p *piece) bool { return p.seg.Call >= 0 },
		"waited {time} for call {call}", "", 100 * time.Microsecond},
	{"peer", func(p *piece) bool { return carries(p.seg.Stretch.Waker.Stack) != "" },
		"{brings} {time} at {place}", "{brings} {time}", 100 * time.Microsecond},
	{"network", in(pprof.TimeNetwork),
		"network {time} at {place}", "network {time}", 100 * time.Microsecond},
	{"sleep", in(pprof.TimeSleep),
		"sleep {time} at {place}", "sleep {time}", 100 * time.Microsecond},
	{"syscall", in(pprof.TimeSyscall),
		"system call {time} at {place}", "system call {time}", 100 * time.Microsecond},
	{"C", in(pprof.TimeC),
		"C {time} at {place}", "C {time}", 100 * time.Microsecond},
	{"coroutine", in(pprof.TimeCoroutine),
		"coroutine {time} at {place}", "coroutine {time}", 100 * time.Microsecond},
	{"wait for a task", func(p *piece) bool {
		return p.seg.Stretch.Waker.Kind != ""
	}, "{reason} {time} at {place}, ended by {waker}", "{reason} {time}, ended by {waker}", 100 * time.Microsecond},
	{"wait", func(p *piece) bool { return true },
		"{reason} {time} at {place}", "{reason} {time}", 100 * time.Microsecond},

	// What is found without waits: see short waits, running.
	{"short waits", nil, "{part} {time}, each too short for the timeline", "", 100 * time.Microsecond},
	{"waits", nil, "{part} {time}", "", 100 * time.Microsecond}, // of a task without a timeline
	{"page faults", nil, "{faults}, running {time} more than usual", "{faults}, running {time}", 100 * time.Microsecond},
	{"way or answer", nil, "way or answer of the server {time}", "", 0},
	{"way", nil, "way to the server and back {time}", "", 100 * time.Microsecond},
	{"elsewhere", nil, "no goroutine at work {time}", "", 100 * time.Microsecond},
	{"running", nil, "running {all}, {time} more than usual", "running {time}", 100 * time.Microsecond},
}

func in(part Part) func(*piece) bool { return func(p *piece) bool { return p.seg.Part == part } }

// A piece is a part of a segment that is of one cause.
type piece struct {
	seg          *Segment
	time         time.Duration
	stop, behind bool
}

// part returns the part of the latency that the piece is of.
func (p *piece) part() Part {
	if p.stop {
		return pprof.TimeStopTheWorld
	}
	return p.seg.Part
}

// pieces divides a segment. What the world was stopped for is the stop's, whatever the
// goroutine waited for meanwhile.
func (s *Segment) pieces() [3]piece {
	all := s.End - s.Start
	stopped := max(0, min(s.Stopped, all))
	behind := max(0, min(s.Behind, all-stopped))
	return [3]piece{
		{seg: s, time: stopped, stop: true},
		{seg: s, time: behind, behind: true},
		{seg: s, time: all - stopped - behind},
	}
}

func rowOf(p *piece) *causeRow {
	for i := range causeTable {
		if row := &causeTable[i]; row.match != nil && row.match(p) {
			return row
		}
	}
	panic("task: no cause matches") // the last one that has a match matches always
}

func rowNamed(name string) *causeRow {
	return &causeTable[slices.IndexFunc(causeTable, func(row causeRow) bool { return row.name == name })]
}

// expand returns the row's text.
func (r *causeRow) expand(word func(string) string) string {
	if text := expand(r.text, word); text != "" {
		return text
	}
	if text := expand(r.plain, word); text != "" {
		return text
	}
	return r.name + " " + timeMark
}

// expand replaces the {words} in text. It returns the empty string if one is empty.
func expand(text string, word func(string) string) string {
	b := make([]byte, 0, 128)
	for {
		before, rest, found := strings.Cut(text, "{")
		b = append(b, before...)
		if !found {
			return string(b)
		}
		name, after, _ := strings.Cut(rest, "}")
		w := word(name)
		if w == "" {
			return ""
		}
		if w != timeMark {
			w = Printable(w)
		}
		b = append(b, w...)
		text = after
	}
}

// word is what the word means for a wait.
func (p *piece) word(name string) string {
	s := p.seg.Stretch
	switch name {
	case "time":
		return timeMark
	case "place":
		return p.seg.Frame.at()
	case "reason":
		return cmp.Or(p.seg.Reason, p.seg.Part.String())
	case "stop":
		return s.StopReason
	case "behind":
		return strconv.Quote(s.BehindKind)
	case "waker":
		return s.Waker.text()
	case "brings":
		return carries(s.Waker.Stack)
	case "call":
		c := &p.seg.Task.Calls[p.seg.Call]
		text := strconv.Quote(c.Kind)
		if c.Remote != "" {
			text += " of " + c.Remote
		}
		return text
	}
	return ""
}

// text returns who it was, and where, or the empty string if it was nobody.
func (k *Waker) text() string {
	if k.Kind == "" && k.Goroutine == 0 {
		return ""
	}
	h := holder{waiter{k.Span, k.Goroutine}, k.Kind, Place(k.Stack)}
	return h.text()
}
