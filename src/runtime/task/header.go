// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"context"
	"internal/taskrecord"
	"sync/atomic"
	_ "unsafe" // for go:linkname
)

// clockCounts number the events of requests on this server; see [taskrecord.Local.Init].
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

// Extract reads what came with a message from another server in its header.
//
// In a request that comes in, that is who has sent it. The task that [New] begins with the
// context that Extract returns is a child of the caller's, and has its trace ID and causal clock. If
// there is no traceparent in the header, the task begins a trace; so it does if there is a bad
// one, which is counted. Whether the caller records is no concern of this server's. But its
// word for that, W3C's sampled flag, is passed on as it is. In a trace that begins here
// the flag says whether Rate chose it.
//
// In an answer, to a call whose task [NewClient] has begun with ctx, that is the causal clock.
// Extract takes it out of the header, which may be passed on to others, and returns ctx.
func Extract(ctx context.Context, h Header) context.Context {
	if !isRecording() {
		return ctx
	}
	if t := FromContext(ctx); t != nil && t.client {
		extractAnswer(t, h)
		return ctx
	}
	c := new(callerContext)
	c.Context = ctx
	c.read(h)
	return c
}

// Inject sets the header of a message to another server.
//
// If the task in ctx works on a request from elsewhere, see [Extract], that is the answer. It gets
// the causal clock if the request had one, and no other header. Inject must be called just
// before the header is sent: to clocks the task ends there. Only the first call counts.
//
// Otherwise that is a request: the header says that it is made by the task. The task
// is best that of the call alone; see [NewClient].
func Inject(ctx context.Context, h Header) {
	if t := FromContext(ctx); t != nil {
		inject(t, h)
	}
}

// inject is Inject for a task in a context.
//
//go:linkname inject net/http/pprof.inject
func inject(t *Task, h Header) {
	if t.serves {
		t.reply(h)
	} else {
		t.send(h)
	}
}

// A caller is the task of another server that a request came from.
type caller struct {
	parent taskrecord.Traceparent
	known  bool // there is one
	clock  *taskrecord.Clock
	rest   string // of the header tracestate: others' members
}

// read reads a request's header.
func (c *caller) read(h Header) {
	r := lastRecording.Load()
	value := h.Get(traceparent)
	if value == "" {
		return
	}
	p, err := taskrecord.ParseTraceparent(value)
	if err != nil {
		r.badParent.Add(1)
		return
	}
	c.parent, c.known = p, true
	value = h.Get(tracestate)
	if value == "" {
		return
	}
	clock, ok, rest, err := taskrecord.ParseTracestate(value)
	if err != nil {
		r.badState.Add(1)
	}
	c.rest = rest
	if ok {
		c.clock = &clock
	}
}

// A callerContext is a context in which a task begins that works for a caller. Until then there
// is no task in it.
type callerContext struct {
	context.Context
	caller
}

func (c *callerContext) Value(key any) any {
	if key == (taskKey{}) {
		return &c.caller
	}
	return c.Context.Value(key)
}

// receive is New with the context that Extract returns.
//
//go:linkname receive net/http/pprof.receive
func receive(ctx context.Context, kind string, h Header) (context.Context, *Task) {
	if !isRecording() {
		return ctx, nil
	}
	var c caller
	c.read(h)
	return begin(ctx, kind, "", &c, nil, false)
}

// follow makes t, which is new, a child of a caller.
func (t *Task) follow(c *caller) {
	t.flags |= taskrecord.ServerOf
	t.serves = true
	if !c.known {
		return
	}
	p := &c.parent
	t.trace, t.parent, t.random, t.sampled = p.Trace, p.Span, p.Random, sampledAs(p.Sampled)
	t.rest, t.wants = c.rest, c.clock != nil
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

// newCall is NewClient for a request whose header is h. Inject must get the same.
//
//go:linkname newCall net/http/pprof.newCall
func newCall(ctx context.Context, kind, remote string, h Header) (context.Context, *Task) {
	if FromContext(ctx) == nil {
		return ctx, nil
	}
	return begin(ctx, kind, remote, nil, h, true)
}

// adopt has a call be one of the trace that its request names already: a tracer of the
// program's own has said whose call it is, and knows the span. Others follow that, so it
// stays. But a proxy that hands on what came with its request has said nothing.
func (t *Task) adopt(h Header) {
	p, err := taskrecord.ParseTraceparent(h.Get(traceparent))
	if err != nil {
		return // nobody would take it
	}
	root := t.up
	for root.up != nil {
		root = root.up
	}
	if id := root.identity(); p.Trace == id.trace && p.Span == id.parent {
		return
	}
	t.adopted = true
	t.trace, t.parent, t.random, t.sampled = p.Trace, p.Span, p.Random, sampledAs(p.Sampled)
	_, _, t.rest, _ = taskrecord.ParseTracestate(h.Get(tracestate))
}

// send is Inject into a request.
func (t *Task) send(h Header) {
	if t.adopted && t.local == nil {
		return // there is nothing to add
	}
	if !t.adopted {
		id := t.identity()
		p := taskrecord.Traceparent{Trace: id.trace, Span: t.span, Sampled: id.sampled == sampledYes, Random: id.random}
		if id.sampled == sampledHere {
			p.Sampled = lastRecording.Load().samples(id.trace)
		}
		h.Set(traceparent, p.String())
	}
	var clock *taskrecord.Clock
	if t.local != nil {
		c := t.local.Clock()
		clock = &c
	}
	if state := taskrecord.AppendTracestate(nil, clock, t.rest); len(state) > 0 {
		h.Set(tracestate, string(state))
	} else {
		h.Del(tracestate)
	}
}

// extractAnswer is Extract from the answer to a call.
//
//go:linkname extractAnswer net/http/pprof.extractAnswer
func extractAnswer(t *Task, h Header) {
	value := h.Get(tracestate)
	if value == "" {
		return
	}
	clock, ok, rest, err := taskrecord.ParseTracestate(value)
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

// wantsClock reports whether the request that t works on came with a clock, and its
// answer has not been sent yet, so that Inject would do something.
//
//go:linkname wantsClock net/http/pprof.wantsClock
func wantsClock(t *Task) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.wants && t.last == nil
}

// reply is Inject into the answer to a request.
func (t *Task) reply(h Header) {
	last := t.endClock()
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
	h.Set(tracestate, string(taskrecord.AppendTracestate(nil, last, "")))
	set = true
}

// endClock returns the clock that the answer is to have, or nil for none.
func (t *Task) endClock() *taskrecord.Clock {
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
