// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"context"
	"fmt"
	"internal/taskrecord"
	"io"
	"reflect"
	"runtime"
	. "runtime/task"
	"runtime/trace"
	"slices"
	"strings"
	"testing"
)

// What the program has given us to call may panic, end its goroutine, or call us. This file has
// each such function: those of contexts and headers, and Config.Filter.

// A fuse does something in the call of a callback with a number, from 1 on.
type fuse struct {
	at, n int
	burn  func(name string)
}

func (f *fuse) called(name string) {
	if f.n++; f.n == f.at {
		f.burn(name)
	}
}

type fuseContext struct {
	context.Context
	f *fuse
}

func (c fuseContext) Value(key any) any {
	c.f.called("Value")
	return c.Context.Value(key)
}

type fuseHeader struct {
	header
	f *fuse
}

func (h fuseHeader) Get(k string) string { h.f.called("Get"); return h.header.Get(k) }
func (h fuseHeader) Set(k, v string)     { h.f.called("Set"); h.header.Set(k, v) }
func (h fuseHeader) Del(k string)        { h.f.called("Del"); h.header.Del(k) }

// theFuse is that of the Filter.
var theFuse *fuse

func fuseFilter(key, value string) (string, bool) {
	if theFuse != nil {
		theFuse.called("Filter")
	}
	return value, true
}

// TestCallbackKinds tests that this file knows all callbacks.
func TestCallbackKinds(t *testing.T) {
	methods := func(i reflect.Type) (names []string) {
		for m := range i.Methods() {
			names = append(names, m.Name)
		}
		slices.Sort(names)
		return names
	}
	if got := methods(reflect.TypeFor[Header]()); !slices.Equal(got, []string{"Del", "Get", "Set"}) {
		t.Errorf("a Header has the methods %v", got)
	}
	// Deadline, Done and Err are called by who calls those of ours.
	if got := methods(reflect.TypeFor[context.Context]()); !slices.Equal(got, []string{"Deadline", "Done", "Err", "Value"}) {
		t.Errorf("a Context has the methods %v", got)
	}
	for f := range reflect.TypeFor[Config]().Fields() {
		if k := f.Type.Kind(); (k == reflect.Func || k == reflect.Interface) && f.Name != "Filter" {
			t.Errorf("Config.%s is a callback", f.Name)
		}
	}
}

// A callback is a way to have callbacks called.
type callback struct {
	name string
	open bool // a task, which is there in any case
	do   func(c *callbackCase)
}

type callbackCase struct {
	f      *fuse
	parent context.Context // with a fuse
	plain  context.Context // without
	task   *Task           // that has come from a client with a clock, or nil
	inner  context.Context // the task's, which is made from one with a fuse
}

var incoming = header{"Traceparent": "00-0123456789abcdef0123456789abcdef-0123456789abcdef-03", "Tracestate": "go=" + aClock + ",x=y"}

// aClock is what a client's clock looks like in a header.
var aClock = func() string {
	var l taskrecord.Local
	l.Init(7, nil)
	c := l.Event()
	for _, m := range strings.Split(string(taskrecord.AppendTracestate(nil, &c, "")), ",") {
		if v, ok := strings.CutPrefix(m, "go="); ok {
			return v
		}
	}
	return ""
}()

var callbacks = []callback{
	{"New", false, func(c *callbackCase) {
		_, t := New(c.parent, "callback")
		t.End()
	}},
	{"NewClient", true, func(c *callbackCase) {
		_, t := NewClient(fuseContext{c.inner, c.f}, "callback", "server:80")
		t.End()
	}},
	{"New of a child", true, func(c *callbackCase) {
		_, t := New(fuseContext{c.inner, c.f}, "callback")
		t.End()
	}},
	{"Receive", false, func(c *callbackCase) {
		_, t := Receive(c.parent, "callback", fuseHeader{incoming, c.f})
		t.End()
	}},
	{"Extract", false, func(c *callbackCase) {
		_, t := New(Extract(c.parent, fuseHeader{incoming, c.f}), "callback")
		t.End()
	}},
	{"FromContext", false, func(c *callbackCase) { FromContext(c.parent) }},
	{"Enter", true, func(c *callbackCase) { Enter(fuseContext{c.inner, c.f}).Exit() }},
	{"Region", true, func(c *callbackCase) {
		r := c.task.Region("callback")
		r.Checkpoint("more")
		r.End()
	}},
	{"Send", true, func(c *callbackCase) { InjectTask(c.task, fuseHeader{header{}, c.f}) }},
	{"Received", true, func(c *callbackCase) {
		ExtractAnswer(c.task, fuseHeader{header{"Tracestate": incoming["Tracestate"]}, c.f})
	}},
	{"Received, nothing else", true, func(c *callbackCase) {
		ExtractAnswer(c.task, fuseHeader{header{"Tracestate": "go=" + aClock}, c.f})
	}},
	{"Reply", true, func(c *callbackCase) { InjectTask(c.task, fuseHeader{header{}, c.f}) }},
	{"Note", true, func(c *callbackCase) { c.task.Note("k", "v") }},
	{"end", true, func(c *callbackCase) { EndTask(c.task, "200", "canceled", false) }},
}

// begin makes the case ready.
func (c *callbackCase) begin(open bool) {
	c.plain = context.Background()
	c.parent = fuseContext{c.plain, c.f}
	if open {
		at := c.f.at
		c.f.at = 0
		c.inner, c.task = Receive(c.parent, "callback", incoming)
		c.f.n, c.f.at = 0, at
	}
}

// leaves are the ways to end that are not a return.
var leaves = []struct {
	name string
	burn func(name string)
}{
	{"panic", func(name string) { panic("callback " + name) }},
	{"Goexit", func(string) { runtime.Goexit() }},
}

// run calls f on a goroutine of its own, and returns how it ended.
func run(f func()) (how string) {
	done := make(chan string)
	go func() {
		how := "Goexit"
		defer func() {
			if v := recover(); v != nil {
				how = fmt.Sprint("panic ", v)
			}
			done <- how
		}()
		f()
		how = ""
	}()
	return <-done
}

// TestCallbackPanics tests that a callback's panic comes out as it went in, and costs nothing but
// what the callback was called for, whichever call of it panics.
func TestCallbackPanics(t *testing.T) {
	for _, tracing := range []bool{false, true} {
		if tracing {
			if err := trace.Start(io.Discard); err != nil {
				t.Skip(err)
			}
			defer trace.Stop()
		}
		for _, cb := range callbacks {
			for _, leave := range leaves {
				r := start(t, Config{Server: 1, Filter: fuseFilter})
				before, seen := AllStats(), map[string]int{}
				var ended int64
				for at, last := 1, false; !last; at++ {
					what := fmt.Sprintf("%s, %s in call %d, tracing %v", cb.name, leave.name, at, tracing)
					name := ""
					c := &callbackCase{f: &fuse{at: at, burn: func(n string) { name = n; leave.burn(n) }}}
					theFuse = c.f
					got := run(func() {
						c.begin(cb.open)
						cb.do(c)
					})
					theFuse = nil
					last = name == ""
					seen[name]++
					want := leave.name
					if last {
						want = ""
					} else if want == "panic" {
						want = "panic callback " + name
					}
					if got != want {
						t.Errorf("%s: ended by %q, want %q", what, got, want)
					}
					if c.task != nil {
						// It is as before, or done.
						c.task.Note("after", "x")
						if cb.name == "Reply" && WantsClock(c.task) == last {
							t.Errorf("%s: wants an answer: %v", what, !last)
						}
						h := header{}
						if InjectTask(c.task, h); cb.name == "Reply" && (h["Tracestate"] == "") != last {
							t.Errorf("%s: then answered %v", what, h)
						}
						c.task.End()
						ended++
					}
					if cb.name == "end" {
						checkEndNotes(t, what, r, at)
					}
				}
				if cb.name == "Region" && !tracing {
					continue // it calls nothing
				}
				if cb.name != "Region" && len(seen) < 2 {
					t.Errorf("%s: no callback was called", cb.name)
				}
				after := AllStats()
				if after.Open != before.Open {
					t.Errorf("%s, %s, tracing %v: %d tasks are open, and %d before", cb.name, leave.name, tracing, after.Open, before.Open)
				}
				a, b := statsOf(after, "callback"), statsOf(before, "callback")
				if a.Open != b.Open || a.Count-b.Count < ended {
					t.Errorf("%s, %s, tracing %v: %d of the kind are open, and %d before; %d have ended, want %d at least", cb.name, leave.name, tracing, a.Open, b.Open, a.Count-b.Count, ended)
				}
			}
		}
	}
}

// checkEndNotes checks the only record of a task in whose end the Filter was left in a call with a
// number.
func checkEndNotes(t *testing.T, what string, r taskrecord.RingReader, at int) {
	t.Helper()
	all := []taskrecord.Note{{Key: "status", Value: "200"}, {Key: "context", Value: "canceled"}}
	lost := 1
	if at > len(all) {
		lost = 0
	}
	if rec := one(t, r); !slices.Equal(rec.Notes, all[:at-1]) || rec.Lost.Notes != int64(lost) {
		t.Errorf("%s: notes %q, %d lost; want %d lost", what, rec.Notes, rec.Lost.Notes, lost)
	}
}

func statsOf(s taskrecord.RecorderStats, kind string) taskrecord.KindStats {
	if i := slices.IndexFunc(s.Kinds, func(k taskrecord.KindStats) bool { return k.Kind == kind }); i >= 0 {
		return s.Kinds[i]
	}
	return taskrecord.KindStats{}
}

// TestCallbackCalls tests that a callback may call what it likes of the task that it is called for.
func TestCallbackCalls(t *testing.T) {
	for _, cb := range callbacks {
		start(t, Config{Server: 1, Filter: fuseFilter})
		before, last := ReadStats().Open, false
		for at := 1; !last; at++ {
			last = true
			c := new(callbackCase)
			c.f = &fuse{at: at, burn: func(string) {
				last = false
				c.useAll()
			}}
			theFuse = c.f
			if how := run(func() {
				c.begin(cb.open)
				cb.do(c)
			}); how != "" {
				t.Errorf("%s: %s in a callback that calls us in call %d", cb.name, how, at)
			}
			theFuse = nil
			c.task.End()
		}
		if n := ReadStats().Open; n != before {
			t.Errorf("%s: %d tasks are open, and %d before", cb.name, n, before)
		}
	}
}

// useAll calls all that there is to call of a task, without a fuse.
func (c *callbackCase) useAll() {
	t := c.task
	_, other := New(c.plain, "callback other")
	other.End()
	ReadStats()
	if t == nil {
		return
	}
	t.Fail()
	t.SetKind("callback")
	t.Usage()
	WantsClock(t)
	InjectTask(t, header{})
	InjectTask(t, header{})
	t.Note("inner", "x")
	ExtractAnswer(t, header{"Tracestate": incoming["Tracestate"]})
	r := t.Region("inner")
	r.End()
	_ = fmt.Sprint(c.inner)
	t.End()
}
