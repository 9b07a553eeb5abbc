// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package http

import (
	"net/http/internal"
	"slices"
	"testing"
)

// A taskLog is a watcher that notes what it hears.
type taskLog struct {
	status []int
	wants  bool
}

func (o *taskLog) Answer(status int) bool      { o.status = append(o.status, status); return o.wants }
func (o *taskLog) Reply(h map[string][]string) { h["Reply"] = []string{"yes"} }

// A taskAround is a writer around another one.
type taskAround struct{ ResponseWriter }

func (w taskAround) Unwrap() ResponseWriter { return w.ResponseWriter }

// A taskCircle is around itself.
type taskCircle struct{ ResponseWriter }

func (w *taskCircle) Unwrap() ResponseWriter { return w }

// TestTaskServerWriter tests which writer is taken for the server's.
func TestTaskServerWriter(t *testing.T) {
	w, tw := new(response), new(timeoutWriter)
	for _, tt := range []struct{ w, want ResponseWriter }{
		{nil, nil},
		{w, w},
		{tw, tw},
		{taskAround{w}, w},
		{taskAround{taskAround{tw}}, tw},
		{taskAround{}, nil},
		{struct{ ResponseWriter }{w}, nil},
		{taskAround{struct{ ResponseWriter }{w}}, nil},
		{new(taskCircle), nil},
	} {
		if got := taskServerWriter(tt.w); got != tt.want {
			t.Errorf("%T: %T, want %T", tt.w, got, tt.want)
		}
	}
}

// TestTaskWatch tests that there is one watcher at most, and how long it is told.
func TestTaskWatch(t *testing.T) {
	w := &response{conn: &conn{}, handlerHeader: make(Header), contentLength: -1}
	log, log2 := &taskLog{wants: true}, &taskLog{}
	var o, o2 internal.TaskWatcher = log, log2
	if taskWatched(w) || watchTask(taskAround{w}, &o) != ResponseWriter(w) || !taskWatched(taskAround{w}) {
		t.Fatal("not watched")
	}
	if watchTask(w, &o2) != nil {
		t.Error("watched twice")
	}
	w.WriteHeader(404)
	if !slices.Equal(log.status, []int{404}) || w.handlerHeader.Get("Reply") == "" || w.cw.header.Get("Reply") == "" {
		t.Errorf("told %v, header %v, copied %v", log.status, w.handlerHeader, w.cw.header)
	}
	unwatchTask(w, &o2)
	if !taskWatched(w) {
		t.Error("another one has ended the watch")
	}
	if unwatchTask(w, &o) != 0 || taskWatched(w) {
		t.Error("still watched")
	}
	w.answerTask(500)
	if len(log.status)+len(log2.status) != 1 {
		t.Errorf("told %v and %v", log.status, log2.status)
	}

	hijacked := &response{conn: &conn{hijackedv: true}}
	if unwatchTask(hijacked, &o) != taskHijacked {
		t.Error("not hijacked")
	}
	hijacked.handlerDone.Store(true)
	if unwatchTask(hijacked, &o) != 0 {
		t.Error("a later request has hijacked the connection")
	}
	tw := &timeoutWriter{h: make(Header)}
	if watchTask(tw, &o) != ResponseWriter(tw) || unwatchTask(tw, &o) != 0 {
		t.Error("a writer of TimeoutHandler has sent something")
	}
	tw.WriteHeader(201)
	if unwatchTask(tw, &o) != 201 {
		t.Error("TimeoutHandler is going to send another status")
	}
}
