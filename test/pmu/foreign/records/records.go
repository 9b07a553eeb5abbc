// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package records starts the recorder of tasks and reads its records. It is all that the
// tests of this module need of package runtime/task, so if that changes this changes, and
// they don't.
package records

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime/task"
	"time"
)

// Start has all tasks recorded, on a server of that ID.
func Start(server uint16) error { return task.Start(task.Config{Rate: 1, Server: server}) }

// Stop ends that.
func Stop() { task.Stop() }

// Begin begins a task of a kind, which end ends.
func Begin(ctx context.Context, kind string) (_ context.Context, end func()) {
	ctx, t := task.New(ctx, kind)
	return ctx, t.End
}

// Call returns the header of a request that a task of this server makes: its trace and its clock.
func Call() http.Header {
	ctx, t := task.New(context.Background(), "call")
	defer t.End()
	ctx, call := task.NewClient(ctx, "call", "elsewhere:80")
	defer call.End()
	h := make(http.Header)
	task.Inject(ctx, h)
	return h
}

// A Task is what the tests look at in the record of a task.
type Task struct {
	Kind                     string
	Trace, Span, Parent      string
	Client, ServerOf, Failed bool
	Before, After            Clock
	Notes                    map[string]string
}

// A Clock says for each server how many events of the request are known to have happened
// there.
type Clock map[uint16]uint32

// Before reports whether d knows all that c does.
func (c Clock) Before(d Clock) bool {
	for server, n := range c {
		if d[server] < n {
			return false
		}
	}
	return true
}

// Knows reports whether c knows of an event on the server.
func (c Clock) Knows(server uint16) bool { return c[server] > 0 }

// A Reader reads records of tasks that end from now on.
type Reader struct{ r *task.Reader }

func NewReader() *Reader {
	r := task.NewReader()
	for r.Next() != nil {
	}
	return &Reader{r}
}

// Take returns the next n records. It waits for them, as a task ends when its handler has
// returned, which may be after the client has got the answer. It is an error if there are
// more, or if some were lost.
func (r *Reader) Take(n int) ([]Task, error) {
	var all []Task
	for deadline := time.Now().Add(10 * time.Second); len(all) < n && time.Now().Before(deadline); {
		if t := r.r.Next(); t != nil {
			all = append(all, taskOf(t))
		} else {
			time.Sleep(time.Millisecond)
		}
	}
	for t := r.r.Next(); t != nil; t = r.r.Next() {
		all = append(all, taskOf(t))
	}
	if n := r.r.Lost(); n > 0 {
		return all, fmt.Errorf("%d records were lost", n)
	}
	if len(all) != n {
		return all, fmt.Errorf("%d tasks were recorded, want %d", len(all), n)
	}
	return all, nil
}

// taskOf reads the record's line of JSON: it has all that is recorded.
func taskOf(r *task.Record) Task {
	var columns struct {
		Client bool    `json:"client"`
		Server bool    `json:"server"`
		Before []event `json:"clock_before"`
		After  []event `json:"clock_after"`
	}
	if err := json.Unmarshal(r.AppendJSON(nil), &columns); err != nil {
		panic(err)
	}
	notes := make(map[string]string)
	for _, n := range r.Notes {
		notes[n.Key] = n.Value
	}
	return Task{
		Kind:     r.Kind,
		Trace:    r.Trace,
		Span:     r.Span,
		Parent:   r.Parent,
		Client:   columns.Client,
		ServerOf: columns.Server,
		Failed:   r.Failed,
		Before:   clockOf(columns.Before),
		After:    clockOf(columns.After),
		Notes:    notes,
	}
}

// An event is the last one of a server that a clock knows.
type event struct {
	Server uint16 `json:"server"`
	Count  uint32 `json:"count"`
}

func clockOf(events []event) Clock {
	c := make(Clock)
	for _, e := range events {
		c[e.Server] = e.Count
	}
	return c
}
