// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"fmt"
	"html"
	"regexp"
	"runtime/pprof"
	"runtime/task"
	"runtime/task/record"
	"strings"
	"testing"
	"time"
)

// A queued is a task that waits for a mutex: from when until it was woken, in ms, and by
// whom, by number. Task 0 is the one that holds the mutex at first.
type queued struct{ from, to, by int }

// queue returns the records of the tasks from number 1 on.
func queue(now time.Time, waits ...queued) (list []*record.Task) {
	const ms = time.Millisecond
	for i, q := range waits {
		id := byte(i + 1)
		w := record.Waker{Goroutine: uint64(10 + q.by), Span: record.SpanID{7: byte(q.by)}, Kind: "GET /"}
		if q.by == 0 {
			w = record.Waker{Goroutine: 10, Span: record.SpanID{5}, Kind: "flush", Stack: []record.Frame{{Func: "main.flush", File: "flush.go", Line: 112}}}
		}
		t := &record.Task{
			Trace: record.TraceID{id}, Span: record.SpanID{7: id}, Kind: "GET /", Flags: record.Slow,
			Goroutine: uint64(10 + i + 1), Goroutines: 1, Start: now.UnixNano() + int64(q.from)*int64(ms), Wall: time.Duration(q.to-q.from+1) * ms,
			Timeline: []record.Stretch{{Goroutine: uint64(10 + i + 1), Wake: time.Duration(q.to-q.from) * ms, End: time.Duration(q.to-q.from) * ms, Part: pprof.TimeMutex, Waker: w}},
		}
		t.Parts[pprof.TimeMutex], t.Parts[pprof.TimeRunning] = t.Wall-ms, ms
		list = append(list, t)
	}
	return list
}

func TestLockHolder(t *testing.T) {
	now := time.Now()
	const flush = "task \"flush\" in main.flush at flush.go:112"
	for _, test := range []struct {
		name  string
		waits []queued
		want  []string // for each
	}{
		{"alone", []queued{{0, 100, 0}}, []string{""}},
		{"in a queue", []queued{{0, 100, 0}, {5, 101, 1}, {10, 102, 2}},
			[]string{"", "; 1 task before, it was held by " + flush, "; 2 tasks before, it was held by " + flush}},
		{"out of order", []queued{{10, 102, 2}, {5, 101, 3}, {0, 100, 0}},
			[]string{"; 2 tasks before, it was held by " + flush, "; 1 task before, it was held by " + flush, ""}},
		{"of a task that held it itself for long", []queued{{0, 100, 0}, {90, 180, 1}}, []string{"", ""}},
		{"of a task that held it for less than half of the wait", []queued{{0, 100, 0}, {90, 109, 1}},
			[]string{"", "; 1 task before, it was held by " + flush}},
		{"of a task that has no record", []queued{{0, 100, 9}, {5, 101, 1}}, []string{"", "; 1 task before, it was held by task \"GET /\""}},
		{"of a task that waited later", []queued{{0, 100, 0}, {5, 99, 1}}, []string{"", ""}},
		{"of each other", []queued{{0, 100, 2}, {0, 100, 1}}, []string{"", ""}},
	} {
		l := newLockWaits()
		list := queue(now, test.waits...)
		for _, x := range list {
			l.add(x)
		}
		for i, x := range list {
			if got := l.behindWhom(x, x.CriticalPath()); got != test.want[i] {
				t.Errorf("%s: task %d: %q, want %q", test.name, i+1, got, test.want[i])
			}
		}
	}
	// The waker's latest wait counts.
	l := newLockWaits()
	list := queue(now, queued{0, 100, 0}, queued{5, 101, 1})
	last := list[0].Timeline[0]
	first := last
	first.Wake, first.End = 80*time.Millisecond, 80*time.Millisecond
	first.Waker = record.Waker{Goroutine: 99, Kind: "older"}
	last.Start = first.End + 1
	list[0].Timeline = []record.Stretch{first, last}
	for _, x := range list {
		l.add(x)
	}
	if got, want := l.behindWhom(list[1], list[1].CriticalPath()), "; 1 task before, it was held by "+flush; got != want {
		t.Errorf("a task that waited twice: %q, want %q", got, want)
	}

	l = newLockWaits()
	x := queue(now, queued{0, 100, 0})[0]
	x.Timeline = append(x.Timeline, make([]record.Stretch, maxLockWaits)...)
	for i := range x.Timeline {
		x.Timeline[i] = x.Timeline[0]
	}
	for range 3 {
		l.add(x)
	}
	if l.n > 2*maxLockWaits {
		t.Errorf("%d waits are kept", l.n)
	}
}

// TestTasksQueue checks that the page leads from a task in a queue for a mutex to the one that
// held it, in words and by links.
func TestTasksQueue(t *testing.T) {
	f := feedTasks(t, &taskFeed{})
	f.add(queue(time.Now().Add(-time.Second), queued{0, 100, 0}, queued{5, 101, 1}, queued{10, 102, 2})...)
	const behind = `mutex held by task "GET /", 92 ms; 2 tasks before, it was held by task "flush" in main.flush at flush.go:112`
	wantAnswer(t, "", 200, behind)
	wantAnswer(t, "?kind=GET+%2F", 200, behind)
	page := wantAnswer(t, "?span=0000000000000003", 200, behind)
	link := regexp.MustCompile(`ended by <a href='tasks(.*?)'>task &#34;GET /&#34;</a>`)
	for _, span := range []int{2, 1} {
		m := link.FindStringSubmatch(page)
		if m == nil || !strings.Contains(m[1], fmt.Sprintf("span=%016x", span)) {
			t.Fatalf("no link to task %d in\n%s", span, page)
		}
		page = wantAnswer(t, html.UnescapeString(m[1]), 200, "mutex held by task")
	}
	wantAnswer(t, "?span=0000000000000001", 200, `ended by task "flush" in main.flush`) // which has no record
}

// TestTasksRef checks that a page links to the task's parent and children if there are records
// of them, or if that is not known.
func TestTasksRef(t *testing.T) {
	f := feedTasks(t, &taskFeed{})
	parent, child, other := record.SpanID{1}, record.SpanID{2}, record.SpanID{3}
	for _, span := range []record.SpanID{{9}, child} {
		f.add(&record.Task{Trace: record.TraceID{1}, Span: span, Parent: parent, Kind: "GET /", Wall: 1,
			Calls: []record.Call{{Span: child, Kind: "child"}, {Span: other, Kind: "other"}}})
	}
	const query = "?span=0900000000000000"
	link := func(span record.SpanID, text string) string {
		return "span=" + span.String() + "&trace=" + record.TraceID{1}.String() + "'>" + text + "</a>"
	}
	all := []string{link(parent, parent.String()), link(child, "child"), link(other, "other")}
	wantAnswer(t, query, 200, all...)
	query2 := query + "&trace=" + record.TraceID{1}.String()
	page := html.UnescapeString(wantAnswer(t, query2, 200, all[1], parent.String(), "other"))
	for _, not := range []string{all[0], all[2]} {
		if strings.Contains(page, not) {
			t.Errorf("%q is on the page", not)
		}
	}
}

// TestTasksCall checks the page on a call, for which no goroutine works.
func TestTasksCall(t *testing.T) {
	f := feedTasks(t, &taskFeed{})
	f.add(&record.Task{Trace: record.TraceID{1}, Span: record.SpanID{1}, Kind: "GET db:80", Flags: record.Client | record.Slow, Wall: 50 * time.Millisecond, Goroutine: 7})
	f.stats.Kinds = []task.KindStats{{Kind: "GET db:80", Count: 1, Slow: 1}}
	if all := wantAnswer(t, "", 200, "GET db:80", "answer of the server 50 ms"); strings.Contains(all, "<svg") {
		t.Errorf("there is a bar without time on the page:\n%s", all)
	}
	page := wantAnswer(t, "?span=0100000000000000", 200, "is a call of another server", "answer of the server 50 ms", "goroutine 7",
		"at /debug/pprof/tasks?trace="+record.TraceID{1}.String()+" there")
	for _, not := range []string{"<svg", "no timeline", "0 ns", "Goroutines"} {
		if strings.Contains(page, not) {
			t.Errorf("%q is on the page:\n%s", not, page)
		}
	}
}
