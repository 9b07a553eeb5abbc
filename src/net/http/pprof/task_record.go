// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"context"
	"net/http"
	"runtime/task"
	"strings"
	_ "unsafe" // for go:linkname
)

// This file is what TaskHandler and TaskTransport need of runtime/task and net/http.

// A recordedTask is a *task.Task that is not nil.
type recordedTask interface {
	SetKind(kind string)
	Note(key, value string)
	Fail()
	End()
	Wants() bool
	Reply(h task.Header)
	Send(h task.Header)
	Received(h task.Header)
}

// Tests replace these.
var (
	taskRecording = task.Recording

	taskReceive = func(ctx context.Context, kind string, h task.Header) (context.Context, recordedTask) {
		ctx, t := task.Receive(ctx, kind, h)
		if t == nil {
			return ctx, nil
		}
		return ctx, t
	}

	taskNewClient = func(ctx context.Context, kind, remote string) (context.Context, recordedTask) {
		if task.FromContext(ctx) == nil {
			return ctx, nil
		}
		ctx, t := task.NewClient(ctx, kind, remote)
		if t == nil {
			return ctx, nil
		}
		return ctx, t
	}
)

// In net/http, task_writer.go.
//
//go:linkname watchTask
func watchTask(w http.ResponseWriter, o interface {
	Answer(w http.ResponseWriter, status int)
	Hijacked()
}) http.ResponseWriter

//go:linkname keepTaskRequest
func keepTaskRequest(r, r2 *http.Request)

const (
	traceparent = "Traceparent" // W3C Trace Context, section 3.2
	tracestate  = "Tracestate"  // section 3.3
)

// traceHeader returns h, or a header with what the trace headers in it mean together: Get
// knows only the first of several lines. Those of tracestate are one list (section 3.3.1.1,
// RFC 9110 section 5.3), but there can be only one traceparent, and no more than one
// is none.
func traceHeader(h http.Header) task.Header {
	if len(h[traceparent]) <= 1 && len(h[tracestate]) <= 1 {
		return h
	}
	one := make(http.Header, 2)
	if p := h[traceparent]; len(p) == 1 {
		one[traceparent] = p
		one[tracestate] = []string{strings.Join(h[tracestate], ",")}
	}
	return one
}
