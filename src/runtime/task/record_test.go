// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"context"
	"encoding/json"
	"reflect"
	"runtime/pprof"
	. "runtime/task"
	"strings"
	"testing"
	"time"
)

// TestRecord tests that a record has what was done, and that no field of it is forgotten.
func TestRecord(t *testing.T) {
	config := Config{Slow: map[string]time.Duration{"TestRecord": time.Nanosecond}, Events: []string{"task-clock"}}
	if err := Start(config); err != nil {
		config.Events = nil // there are none here
	}
	start(t, config)
	r := NewReader()
	for r.Next() != nil {
	}
	before := time.Now()
	ctx, parent := New(context.Background(), "parent")
	ctx, task := New(ctx, "TestRecord")
	task.Note("key", "value")
	task.Note("long", strings.Repeat("x", 300)) // is cut, and counted
	task.Fail()
	wake, stop, told := make(chan bool), make(chan bool), make(chan bool)
	go func() { // outlives the task
		for d := 100 * time.Microsecond; ; d *= 2 { // few stretches, however late the wait begins
			if u, ok := task.Usage(); !ok || u.Part(pprof.TimeChan) >= 2*time.Millisecond {
				break
			}
			time.Sleep(d)
		}
		close(wake)
		close(told)
		<-stop
	}()
	region := task.Region("region")
	<-wake
	region.End()
	<-told
	u, ok := task.Usage()
	task.End()
	close(stop)
	parent.End()

	var rec *Record
	for next := r.Next(); next != nil; next = r.Next() {
		if next.Kind == "TestRecord" {
			rec = next
		}
	}
	if rec == nil || r.Lost() != 0 {
		t.Fatalf("record %v; %d are lost", rec, r.Lost())
	}
	if rec.Trace != task.Trace() || rec.Span != task.Span() || rec.Parent != parent.Span() || rec.Trace != parent.Trace() || FromContext(ctx) != task {
		t.Errorf("task %s of %s, parent %s; recorded %s of %s, parent %s", task.Span(), task.Trace(), parent.Span(), rec.Span, rec.Trace, rec.Parent)
	}
	if rec.Start.Before(before.Add(-time.Second)) || rec.Start.After(time.Now()) || !rec.Failed || !rec.Slow || rec.Threshold != 1 || rec.Lost != 1 {
		t.Errorf("%+v", rec)
	}
	if !ok || rec.Wall < u.Wall || rec.Wall < 2*time.Millisecond || rec.Goroutines != 2 || rec.Working != 1 || rec.Switches < u.Switches {
		t.Errorf("%+v, after %+v", rec.Usage, u)
	}
	sum := time.Duration(0)
	for p := range pprof.TimeParts() {
		if rec.Part(p) < u.Part(p)-10*time.Microsecond {
			t.Errorf("%v in %v, after %v", rec.Part(p), p, u.Part(p))
		}
		sum += rec.Part(p)
	}
	if rec.Part(pprof.TimeChan) < time.Millisecond || rec.Part(pprof.TimePart(99)) != 0 || sum < rec.Wall {
		t.Errorf("%v in channels of %v", rec.Part(pprof.TimeChan), sum)
	}
	if len(rec.Counts) != len(config.Events) || len(u.Counts) != len(config.Events) {
		t.Errorf("counts %v of %v", rec.Counts, rec.Events)
	}
	if len(rec.Notes) != 2 || rec.Notes[0] != (Note{"key", "value"}) {
		t.Errorf("notes %q", rec.Notes)
	}
	var wait, in *Stretch
	for i := range rec.Timeline {
		switch s := &rec.Timeline[i]; {
		case s.Region != "":
			in = s
		case s.Part == pprof.TimeChan && s.Wake-s.Start >= time.Millisecond: // there may be others, of microseconds
			wait = s
		}
	}
	if wait == nil || in == nil || in.Region != "region" || in.Goroutine != wait.Goroutine || in.Start > wait.Start || wait.Start >= wait.Wake ||
		wait.Wake > wait.End || wait.Reason != "chan receive" || wait.Waker != "TestRecord" {
		t.Fatalf("timeline %+v", rec.Timeline)
	}
	if n := len(wait.Stack); n > 0 && !strings.HasSuffix(wait.Stack[0].Function, ".TestRecord") {
		t.Errorf("waited at %v", wait.Stack)
	}
	var line struct {
		Span string `json:"span_id"`
		Wall int64  `json:"wall_ns"`
	}
	if err := json.Unmarshal(rec.AppendJSON(nil), &line); err != nil || line.Span != rec.Span || line.Wall != int64(rec.Wall) {
		t.Errorf("JSON %+v, %v", line, err)
	}
	for _, v := range []any{*rec, *wait} {
		for f, value := range reflect.ValueOf(v).Fields() {
			if value.IsZero() && f.Name != "Region" && f.Name != "Stack" {
				t.Errorf("%s of %T is not set", f.Name, v)
			}
		}
	}
}

// TestConfigErrors tests that Start refuses what it can't do, with nothing recorded.
func TestConfigErrors(t *testing.T) {
	for _, test := range []struct {
		config Config
		want   string
	}{
		{Config{Rate: 2}, "rate"},
		{Config{Server: 65535}, "65535"},
		{Config{Memory: -1}, "memory"},
		{Config{Slow: map[string]time.Duration{"x": -1}}, "slow"},
	} {
		if err := Start(test.config); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v, want %q", test.config, err, test.want)
		}
		if Recording() {
			t.Fatalf("%+v is recorded", test.config)
		}
	}
}
