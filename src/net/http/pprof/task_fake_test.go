// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"context"
	"fmt"
	"net/http"
	"runtime/task"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A fakeTask takes the place of a *task.Task and remembers what was done with it.
type fakeTask struct {
	log    *fakeLog
	kind   string
	remote string // of a client's
	header string // traceparent and tracestate that it was received with
	call   string // those of the request that it calls with, before
	wants  bool

	mu     sync.Mutex
	notes  []string
	failed int
	ended  int
	late   []string // what was called after End
	done   chan bool
}

func (t *fakeTask) do(what string, f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended != 0 {
		t.late = append(t.late, what)
	}
	f()
}

func (t *fakeTask) Matched(p string) { t.do("Matched", func() { t.kind = p }) }
func (t *fakeTask) Fail()            { t.do("Fail", func() { t.failed++ }) }
func (t *fakeTask) Note(k, v string) {
	t.do("Note", func() { t.notes = append(t.notes, k+"="+v) })
}
func (t *fakeTask) Wants() bool { return t.wants }
func (t *fakeTask) Inject(h task.Header) {
	t.do("Inject", func() {
		if t.remote == "" {
			h.Set("Tracestate", "go=reply")
			return
		}
		h.Set("Traceparent", "sent")
		h.Set("Tracestate", "go=sent")
	})
}
func (t *fakeTask) Extract(h task.Header) {
	t.do("Extract", func() { t.header = h.Get("Tracestate") })
}
func (t *fakeTask) EndRequest(status, context string, failed bool) {
	if status != "" {
		t.Note("status", status)
	}
	if context != "" {
		t.Note("context", context)
	}
	if failed {
		t.Fail()
	}
	t.End()
}
func (t *fakeTask) End() {
	t.do("End", func() {
		if t.ended++; t.ended == 1 {
			close(t.done)
		}
	})
}

// A fakeLog holds all tasks of a test, in order of their start.
type fakeLog struct {
	mu    sync.Mutex
	tasks []*fakeTask
}

func (l *fakeLog) add(ctx context.Context, t *fakeTask) (context.Context, recordedTask) {
	t.log, t.done = l, make(chan bool)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tasks = append(l.tasks, t)
	return context.WithValue(ctx, fakeKey{}, t), t
}

type fakeKey struct{}

type taskHeader = task.Header

// fakeTasks makes the wrappers use fakeTasks until the end of the test.
func fakeTasks(t testing.TB) *fakeLog {
	l := new(fakeLog)
	recording, receive, newCall := taskRecording, taskReceive, taskNewCall
	t.Cleanup(func() { taskRecording, taskReceive, taskNewCall = recording, receive, newCall })
	taskRecording = func() bool { return true }
	taskReceive = func(ctx context.Context, kind string, h task.Header) (context.Context, recordedTask) {
		in := h.Get("Traceparent") + ";" + h.Get("Tracestate")
		return l.add(ctx, &fakeTask{kind: kind, header: in, wants: strings.Contains(in, "go=")})
	}
	taskNewCall = func(ctx context.Context, kind, remote string, h task.Header) (context.Context, recordedTask) {
		if ctx.Value(fakeKey{}) == nil {
			return ctx, nil
		}
		return l.add(ctx, &fakeTask{kind: kind, remote: remote, call: h.Get("Traceparent") + ";" + h.Get("Tracestate")})
	}
	return l
}

// take returns the tasks so far, when all have ended, as "kind notes", with "failed" if
// they did, and forgets them. A task that was not used as it must be is an error.
func (l *fakeLog) take(t testing.TB) (tasks []string) {
	t.Helper()
	l.mu.Lock()
	all := l.tasks
	l.tasks = nil
	l.mu.Unlock()
	for _, f := range all {
		<-f.done
		f.mu.Lock()
		s := fmt.Sprint(f.kind, " ", strings.Join(f.notes, " "))
		if f.failed > 0 {
			s += " failed"
		}
		if f.failed > 1 || f.ended != 1 || f.late != nil {
			t.Errorf("task %q: failed %d times, ended %d times, after its end %v", s, f.failed, f.ended, f.late)
		}
		f.mu.Unlock()
		tasks = append(tasks, s)
	}
	return tasks
}

func (l *fakeLog) want(t testing.TB, what string, want ...string) {
	t.Helper()
	if got := l.take(t); !slices.Equal(got, want) {
		t.Errorf("%s:\ngot  %q\nwant %q", what, got, want)
	}
}

// TestTaskSeam tests that the tests' tasks can take the place of real ones.
func TestTaskSeam(t *testing.T) {
	if ctx, rt := taskNewCall(context.Background(), "GET x", "x:80", http.Header{}); rt != nil || ctx != context.Background() {
		t.Errorf("a client's task without a parent: %v", rt)
	}
	var _ task.Header = http.Header{}
	var _ recordedTask = realTask{}
}
