// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"context"
	"runtime/task/record"
	"sync/atomic"
	_ "unsafe" // for go:linkname
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
// there is a bad one, which is counted. Whether the caller records is no concern of this
// server's, but its word for that, W3C's sampled flag, is passed on as it is. In a trace that
// begins here it says whether Rate chose it.
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
	t.trace, t.parent, t.random, t.sampled = p.Trace, p.Span, p.Random, sampledAs(p.Sampled)
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

// sampled is W3C's flag of a trace: who began it has decided, for all that come after.
type sampled uint8

const (
	sampledHere sampled = iota // the trace begins here, and Rate decides
	sampledNo                  // it came without the flag
	sampledYes                 // with it
)

func sampledAs(came bool) sampled {
	if came {
		return sampledYes
	}
	return sampledNo
}

// newCall is NewClient for a request whose header is h. Send must get the same.
//
//go:linkname newCall net/http/pprof.newCall
func newCall(ctx context.Context, kind, remote string, h Header) (context.Context, *Task) {
	if FromContext(ctx) == nil {
		return ctx, nil
	}
	return begin(ctx, kind, remote, h, true)
}

// adopt has a call be one of the trace that its request names already: a tracer of the
// program's own has said whose call it is, and knows the span. Others follow that, so it
// stays. But a proxy that hands on what came with its request has said nothing.
func (t *Task) adopt(h Header) {
	p, err := record.ParseTraceparent(h.Get(traceparent))
	if err != nil {
		return // nobody would take it
	}
	root := t.up
	for root.up != nil {
		root = root.up
	}
	if p.Trace == root.trace && p.Span == root.parent {
		return
	}
	t.adopted = true
	t.trace, t.parent, t.random, t.sampled = p.Trace, p.Span, p.Random, sampledAs(p.Sampled)
	_, _, t.rest, _ = record.ParseTracestate(h.Get(tracestate))
}

// Send sets the header of a request that the task makes to another server.
func (t *Task) Send(h Header) {
	if t == nil {
		return
	}
	if t.adopted && t.local == nil {
		return // there is nothing to add
	}
	if !t.adopted {
		p := record.Traceparent{Trace: t.trace, Span: t.span, Sampled: t.sampled == sampledYes, Random: t.random}
		if t.sampled == sampledHere {
			p.Sampled = lastRecording.Load().samples(t.trace)
		}
		h.Set(traceparent, p.String())
	}
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
