// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"context"
	"internal/taskrecord"
	. "runtime/task"
	"strings"
	"testing"
)

// TestSendSampled tests that W3C's sampled flag goes on as it came, whatever this server
// records, and that it is this server's word only where the trace begins.
func TestSendSampled(t *testing.T) {
	const ids = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-"
	for _, rate := range []float64{1e-12, 1} {
		start(t, Config{Rate: rate})
		for _, test := range []struct {
			in      string
			sampled bool
		}{
			{"", rate == 1},
			{"00-bad", rate == 1},
			{ids + "00", false},
			{ids + "01", true},
			{ids + "02", false},
			{ids + "03", true},
			{"01" + ids[2:] + "01-more", true},
		} {
			h := header{}
			if test.in != "" {
				h["Traceparent"] = test.in
			}
			ctx, server := Receive(context.Background(), "server", h)
			ctx, child := New(ctx, "child")
			_, call := NewClient(ctx, "call", "server:80")
			for _, task := range []*Task{child, call} {
				h := header{}
				InjectTask(task, h)
				if p, err := taskrecord.ParseTraceparent(h["Traceparent"]); err != nil || p.Sampled != test.sampled {
					t.Errorf("rate %v, %q came: sent %q, %v; want sampled %v", rate, test.in, h["Traceparent"], err, test.sampled)
				}
			}
			call.End()
			child.End()
			server.End()
		}
	}
}

// TestAdopt tests that a call of a request that names its trace is one of that trace, that
// what others have put there stays, and that tasks that make such calls stay in theirs.
func TestAdopt(t *testing.T) {
	const (
		came  = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"
		other = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-"
	)
	for _, server := range []uint16{0, 7} {
		r := start(t, Config{Rate: 1, Server: server})
		for _, test := range []struct {
			name   string
			header header
			stays  bool
			state  string // others' part that is sent
		}{
			{"nothing", header{}, false, "in=1"},
			{"another trace", header{"Traceparent": other + "00", "Tracestate": "x=1"}, true, "x=1"},
			{"another trace, sampled", header{"Traceparent": other + "01"}, true, ""},
			{"the same trace, another span", header{"Traceparent": came[:36] + "1" + came[37:], "Tracestate": "in=1,x=1"}, true, "in=1,x=1"},
			{"a clock that was copied", header{"Traceparent": other + "01", "Tracestate": "go=AAAA,x=1"}, true, "x=1"},
			{"what came, as of a proxy", header{"Traceparent": came, "Tracestate": "in=1"}, false, "in=1"},
			{"bad", header{"Traceparent": "00-bad", "Tracestate": "x=1"}, false, "in=1"},
		} {
			ctx, task := Receive(context.Background(), "server", header{"Traceparent": came, "Tracestate": "in=1"})
			in := header{}
			for k, v := range test.header {
				in[k] = v
			}
			callCtx, call := NewCall(ctx, "call", "server:80", in)
			_, within := NewClient(callCtx, "within", "server:80")
			was := in["Traceparent"]
			InjectTask(call, in)
			if got := in["Traceparent"]; (got == was) != test.stays || !test.stays && !strings.HasPrefix(got, came[:36]) {
				t.Errorf("%s: %q was sent as %q", test.name, was, got)
			}
			p, err := taskrecord.ParseTraceparent(in["Traceparent"])
			if err != nil || p.Trace.String() != call.Trace() || within.Trace() != call.Trace() {
				t.Errorf("%s: sent %q, the call is of trace %v, a call of it of %v", test.name, in["Traceparent"], call.Trace(), within.Trace())
			}
			_, clock, rest, _ := taskrecord.ParseTracestate(in["Tracestate"])
			if clock != (server != 0) && test.name != "a clock that was copied" || rest != test.state {
				t.Errorf("%s, server %d: sent tracestate %q", test.name, server, in["Tracestate"])
			}
			if server == 0 && test.stays && in["Tracestate"] != test.header["Tracestate"] {
				t.Errorf("%s: tracestate was %q, and %q was sent", test.name, test.header["Tracestate"], in["Tracestate"])
			}
			within.End()
			call.End()
			task.End()
			recs := map[string]*taskrecord.Record{}
			for rec := r.Next(); rec != nil; rec = r.Next() {
				recs[rec.Kind] = rec
			}
			rec := recs["call"]
			if rec == nil || recs["server"] == nil {
				t.Fatalf("%s: recorded %v", test.name, recs)
			}
			parent := task.Span()
			if test.stays {
				parent = p.Span.String()
			}
			if rec.Trace != p.Trace || rec.Parent.String() != parent || rec.Span.String() != call.Span() || !test.stays && rec.Span != p.Span {
				t.Errorf("%s: recorded span %v of %v in trace %v, and sent %q", test.name, rec.Span, rec.Parent, rec.Trace, in["Traceparent"])
			}
			rec = recs["server"]
			if rec.Trace.String() != came[3:35] || len(rec.Calls) != 1 || rec.Calls[0].Span.String() != call.Span() {
				t.Errorf("%s: the task is of trace %v, with calls %v", test.name, rec.Trace, rec.Calls)
			}
		}
	}
	if _, call := NewCall(context.Background(), "call", "server:80", header{"Traceparent": other + "01"}); call != nil {
		t.Error("a call without a task")
	}
}

// TestMatched tests that what the program has set stays, and nothing else does.
func TestMatched(t *testing.T) {
	r := start(t, Config{Rate: 1})
	for _, test := range []struct {
		set  func(task *Task)
		want string
	}{
		{func(task *Task) {}, "first"},
		{func(task *Task) { NameTask(task, "a"); NameTask(task, "b") }, "b"},
		{func(task *Task) { task.SetKind("set"); NameTask(task, "a") }, "set"},
		{func(task *Task) { NameTask(task, "a"); task.SetKind("set"); NameTask(task, "b") }, "set"},
		{func(task *Task) { task.SetKind("first"); NameTask(task, "a") }, "first"},
		{func(task *Task) { task.End(); NameTask(task, "a") }, "first"},
	} {
		_, task := New(context.Background(), "first")
		test.set(task)
		task.End()
		if rec := one(t, r); rec.Kind != test.want {
			t.Errorf("kind %q, want %q", rec.Kind, test.want)
		}
	}
}
