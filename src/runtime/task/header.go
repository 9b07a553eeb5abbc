// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"context"
	"runtime/task/record"
	"sync/atomic"
)

// clockCounts number the events of requests on this server; see [record.Local.Init].
// Requests that share one skip numbers.
var clockCounts [256]atomic.Uint64

// A Header has the headers traceparent and tracestate of a request, or of its answer
// (W3C Trace Context). An http.Header is one.
type Header interface {
	Get(key string) string
	Set(key, value string)
	Del(key string)
}

const (
	traceparent = "Traceparent"
	tracestate  = "Tracestate"
)

// Receive begins a task that works on a request from elsewhere, which came with a header:
// it is New, but the task is a child of the caller's, and has its trace ID and causal
// clock. If there is no traceparent in the header, the task begins a trace. So it is if
// there is a bad one, which is counted. (Whether the caller records is no concern of this
// server's.)
func Receive(ctx context.Context, kind string, h Header) (context.Context, *Task) {
	return begin(ctx, kind, "", h, false)
}

// receive takes over what is in h, and returns the clock, if there is one.
func (t *Task) receive(r *recorder, h Header) *record.Clock {
	t.flags |= record.ServerOf
	value := h.Get(traceparent)
	if value == "" {
		return nil
	}
	p, err := record.ParseTraceparent(value)
	if err != nil {
		r.badParent.Add(1)
		return nil
	}
	t.trace, t.parent, t.random = p.Trace, p.Span, p.Random
	value = h.Get(tracestate)
	if value == "" {
		return nil
	}
	clock, ok, rest, err := record.ParseTracestate(value)
	if err != nil {
		r.badState.Add(1)
	}
	t.rest = rest
	if !ok {
		return nil
	}
	t.wants = true
	return &clock
}

// Send sets the header of a request that the task makes to another server.
func (t *Task) Send(h Header) {
	if t == nil {
		return
	}
	p := record.Traceparent{Trace: t.trace, Span: t.span, Sampled: lastRecording.Load().samples(t.trace), Random: t.random}
	h.Set(traceparent, p.String())
	var clock *record.Clock
	if t.local != nil {
		c := t.local.Clock()
		clock = &c
	}
	if state := record.AppendTracestate(nil, clock, t.rest); len(state) > 0 {
		h.Set(tracestate, string(state))
	} else {
		h.Del(tracestate)
	}
}

// Received takes over the clock in the header of an answer, and takes it out of that: the
// answer may be passed on to others.
func (t *Task) Received(h Header) {
	if t == nil {
		return
	}
	value := h.Get(tracestate)
	if value == "" {
		return
	}
	clock, ok, rest, err := record.ParseTracestate(value)
	if err != nil {
		lastRecording.Load().badState.Add(1)
	}
	if !ok {
		return
	}
	if t.local != nil {
		t.local.Merge(&clock)
	}
	if rest != "" {
		h.Set(tracestate, rest)
	} else {
		h.Del(tracestate)
	}
}

// Wants reports whether the request that the task works on came with a clock, and its
// answer has not been sent yet, so that [Task.Reply] would do something.
func (t *Task) Wants() bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.wants && t.last == nil
}

// Reply sets the header of the answer to the request that the task works on, if that
// came with a clock. It must be called just before the header is sent: to clocks the task
// ends there.
func (t *Task) Reply(h Header) {
	if t == nil {
		return
	}
	last := t.reply()
	if last == nil {
		return
	}
	set := false
	defer func() {
		if !set && t.lockOpen() { // h has panicked: nothing was sent
			t.last = nil
			t.unlockOpen()
		}
	}()
	// Without the lock: h is the program's, and may ask for the task.
	h.Set(tracestate, string(record.AppendTracestate(nil, last, "")))
	set = true
}

// reply returns the clock that the answer is to have, or nil for none.
func (t *Task) reply() *record.Clock {
	if !t.lockOpen() {
		return nil
	}
	defer t.unlockOpen()
	if !t.wants || t.last != nil {
		return nil
	}
	last := t.local.Event()
	t.last = &last
	return t.last
}
