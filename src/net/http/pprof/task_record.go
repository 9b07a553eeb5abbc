// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"context"
	"internal/taskrecord"
	"net/http"
	"net/http/internal"
	"runtime/task"
	"strings"
	_ "unsafe" // for go:linkname
)

// This file is what TaskHandler, TaskTransport and the page of tasks need of runtime/task and
// net/http.

// A recordedTask is what the wrappers do with a task: a realTask, or one of a test.
type recordedTask interface {
	Matched(pattern string) // SetKind, unless the program has called it
	Note(key, value string)
	Fail()
	End()
	Wants() bool           // the answer is to have a clock
	Inject(h task.Header)  // see [task.Inject]
	Extract(h task.Header) // from the answer to a call

	// EndRequest is End, with the notes status and context, unless that is empty, and Fail if
	// it failed.
	EndRequest(status, context string, failed bool)
}

// A realTask is one of package runtime/task that is not nil.
type realTask struct{ *task.Task }

func (t realTask) Matched(pattern string) { nameTask(t.Task, pattern) }

func (t realTask) Wants() bool { return wantsClock(t.Task) }

func (t realTask) Inject(h task.Header) { inject(t.Task, h) }

func (t realTask) Extract(h task.Header) { extractAnswer(t.Task, h) }

func (t realTask) EndRequest(status, context string, failed bool) {
	endTask(t.Task, status, context, failed)
}

// In runtime/task.
//
//go:linkname endTask
func endTask(t *task.Task, status, context string, failed bool)

//go:linkname newCall
func newCall(ctx context.Context, kind, remote string, h task.Header) (context.Context, *task.Task)

//go:linkname nameTask
func nameTask(t *task.Task, pattern string)

//go:linkname receive
func receive(ctx context.Context, kind string, h task.Header) (context.Context, *task.Task)

//go:linkname wantsClock
func wantsClock(t *task.Task) bool

//go:linkname inject
func inject(t *task.Task, h task.Header)

//go:linkname extractAnswer
func extractAnswer(t *task.Task, h task.Header)

//go:linkname isRecording
func isRecording() bool

//go:linkname readTaskStats
func readTaskStats() taskrecord.RecorderStats

//go:linkname newestTasks
func newestTasks(onlySlow bool, most int, want func(head *taskrecord.Record) bool, yield func(*taskrecord.Record) bool) (chosen, gone uint64)

// Tests replace these.
var (
	taskRecording = isRecording

	taskReceive = func(ctx context.Context, kind string, h task.Header) (context.Context, recordedTask) {
		ctx, t := receive(ctx, kind, h)
		if t == nil {
			return ctx, nil
		}
		return ctx, realTask{t}
	}

	taskNewCall = func(ctx context.Context, kind, remote string, h task.Header) (context.Context, recordedTask) {
		ctx, t := newCall(ctx, kind, remote, h)
		if t == nil {
			return ctx, nil
		}
		return ctx, realTask{t}
	}
)

// In net/http, task_writer.go and task_request.go.
//
//go:linkname taskWatched
func taskWatched(w http.ResponseWriter) bool

//go:linkname watchTask
func watchTask(w http.ResponseWriter, o *internal.TaskWatcher) (server http.ResponseWriter)

//go:linkname unwatchTask
func unwatchTask(server http.ResponseWriter, o *internal.TaskWatcher) (status int)

//go:linkname ownTaskRequest
func ownTaskRequest(w http.ResponseWriter, r *http.Request, h http.Handler) *context.Context

//go:linkname matchTask
func matchTask(mux *http.ServeMux, r *http.Request) (h http.Handler, pattern string)

//go:linkname watchMatches
func watchMatches(f *func(ctx context.Context, r *http.Request, pattern string) *http.Request)

//go:linkname keepTaskForm
func keepTaskForm(server http.ResponseWriter, r, r2 *http.Request)

//go:linkname copyTaskTrailer
func copyTaskTrailer(server http.ResponseWriter, r, r2 *http.Request)

const (
	traceparent = "Traceparent" // W3C Trace Context, section 3.2
	tracestate  = "Tracestate"  // section 3.3
)

// traceHeader returns h, or a header with what the trace headers in it mean together: Get
// knows only the first of several lines. Those of tracestate are one list (section 3.3.1.1,
// RFC 9110 section 5.3), but there can be only one traceparent, and no more than one
// is none. Without one, tracestate means nothing.
func traceHeader(h http.Header) task.Header {
	parents := h[traceparent]
	if len(parents) == 0 {
		return http.Header(nil)
	}
	if len(parents) == 1 && len(h[tracestate]) <= 1 {
		return h
	}
	one := make(http.Header, 2)
	if len(parents) == 1 {
		one[traceparent] = parents
		one[tracestate] = []string{strings.Join(h[tracestate], ",")}
	}
	return one
}
