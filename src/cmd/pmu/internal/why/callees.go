// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"fmt"
	"internal/taskrecord"
	"slices"
	"time"
)

// Callees is what the records of all requests say on calls of other servers: who works on them. So it
// is known what is missing where the record of a server is.
type Callees struct {
	calls   map[callKey]*callInfo
	columns map[string][]*ColumnBuilder // by what the names of some end in, or by a name
	unknown map[string][]int            // rows of which these columns are not known
	missing map[string]map[int]bool     // rows by call, where there is no record of what worked on it
	derived bool

	tasks map[string][2]string // server and kind, by what names of columns end in

	of      []string // events whose ratios are known
	byEvent []Ratio
}

// A callKey is what calls have in common.
type callKey struct{ server, kind, remote string }

type callInfo struct {
	server  string          // that works on them
	several bool            // others do, too
	of      map[string]bool // of tasks that worked for such a call

	// Of tasks with timelines: how many calls, how long they took, and for how long these waited, as far
	// as that is known.
	n            int
	took, waited time.Duration
}

const (
	// fewestCalls are those that say that tasks don't wait for such calls.
	fewestCalls = 10

	// leastWaited is for which part of a call a task waits, if it waits for it. Of calls side by side it
	// is the longest one that it waits for.
	leastWaited = 0.02
)

func keyOf(t *taskrecord.Record, call *taskrecord.Call) callKey {
	k := callKey{kind: call.Kind, remote: call.Remote}
	if t.Server != nil {
		k.server = t.Server.Name
	}
	return k
}

func (s *Callees) info(t *taskrecord.Record, call *taskrecord.Call) *callInfo {
	if s.calls == nil {
		s.calls = make(map[callKey]*callInfo)
	}
	k := keyOf(t, call)
	if s.calls[k] == nil {
		s.calls[k] = &callInfo{of: make(map[string]bool)}
	}
	return s.calls[k]
}

// Learn adds what a request says. All have to be added before a row is.
func (s *Callees) Learn(r *taskrecord.Request) {
	for _, n := range r.Nodes {
		t := n.Task
		if t.Flags&taskrecord.Client != 0 {
			continue
		}
		of := taskOf(t)
		for a, depth := n, 0; depth < maxDepth; depth++ {
			caller, i := a.Caller()
			if caller == nil {
				break
			}
			if i >= 0 && caller.Task.Calls[i].Flags&taskrecord.Client != 0 {
				x := s.info(caller.Task, &caller.Task.Calls[i])
				x.of[of] = true
				if name := ServerName(a.Task.Server); x.server == "" {
					x.server = name
				} else if x.server != name {
					x.several = true
				}
			}
			a = caller
		}
		if len(t.Timeline) == 0 || len(t.Calls) == 0 {
			continue
		}
		own := (&taskrecord.Node{Task: t, Call: -1}).Latency(nil)[0]
		for i := range t.Calls {
			if call := &t.Calls[i]; call.Flags&taskrecord.Client != 0 && own.Calls[i].Known {
				x := s.info(t, call)
				x.n++
				x.took += max(0, min(call.Wall, t.Wall))
				x.waited += own.Calls[i].Time
			}
		}
	}
}

// maxDepth bounds how many servers call each other for one request.
const maxDepth = 64

// Missing returns by call in how many rows there is no record of what worked on it, where others have one.
func (s *Callees) Missing() map[string]int {
	m := make(map[string]int)
	for call, rows := range s.missing {
		m[call] = len(rows)
	}
	return m
}

// lacks notes that in the present row there is no record of what worked on a call.
func (s *Callees) lacks(b *Builder, t *taskrecord.Record, call *taskrecord.Call, name string) {
	for of := range s.calls[keyOf(t, call)].of {
		s.forget(b, of)
	}
	if s.missing == nil {
		s.missing = make(map[string]map[int]bool)
	}
	if s.missing[name] == nil {
		s.missing[name] = make(map[int]bool)
	}
	s.missing[name][b.Rows()-1] = true
}

// addTask notes that a row has the columns of a task that worked for another one.
func (s *Callees) addTask(of string, t *taskrecord.Record) {
	s.derived = true
	if s.tasks == nil {
		s.tasks = make(map[string][2]string)
	}
	s.tasks[of] = [2]string{ServerName(t.Server), t.Kind}
}

// Task returns the server and the kind of tasks, the names of whose columns end in of.
func (s *Callees) Task(of string) (server, kind string) {
	return s.tasks[of][0], s.tasks[of][1]
}

// ratios is [Ratios], of events that are mostly the same.
func (s *Callees) ratios(events []string) []Ratio {
	if !slices.Equal(events, s.of) {
		s.of, s.byEvent = events, Ratios(events)
	}
	return s.byEvent
}

// Derived reports whether cells were found by more than one record, or by its timeline.
func (s *Callees) Derived() bool { return s.derived }

// asynchronous reports whether tasks don't wait for a call, as those with timelines show.
func (s *Callees) asynchronous(n *taskrecord.Node, call int) bool {
	x := s.calls[keyOf(n.Task, &n.Task.Calls[call])]
	return x != nil && x.n >= fewestCalls && float64(x.waited) < leastWaited*float64(x.took)
}

// callName says what a call is of, and whether there are records of who works on it.
func (s *Callees) callName(t *taskrecord.Record, call *taskrecord.Call) (name string, joined bool) {
	of := call.Remote
	if x := s.calls[keyOf(t, call)]; x != nil && x.server != "" {
		if joined = true; !x.several {
			of = x.server
		}
	}
	if of == "" {
		return call.Kind, joined
	}
	return call.Kind + " of " + of, joined
}

// note notes that a new column's name ends in something.
func (s *Callees) note(of string, c *ColumnBuilder) {
	if s.columns == nil {
		s.columns = make(map[string][]*ColumnBuilder)
	}
	s.columns[of] = append(s.columns[of], c)
}

// forget notes that of columns nothing is known in the present row.
func (s *Callees) forget(b *Builder, of string) {
	if s.unknown == nil {
		s.unknown = make(map[string][]int)
	}
	s.unknown[of] = append(s.unknown[of], b.Rows()-1)
}

// Done makes cells empty of which nothing is known. It follows all rows.
func (s *Callees) Done() {
	for of, rows := range s.unknown {
		for _, c := range s.columns[of] {
			for _, row := range rows {
				c.unset(row)
			}
		}
	}
}

// ServerName returns what columns name a server by.
func ServerName(s *taskrecord.Server) string {
	switch {
	case s == nil:
		return ""
	case s.ID != 0:
		return fmt.Sprintf("%s/%d", s.Name, s.ID)
	}
	return s.Name
}

// taskOf returns what names of columns of a task end in that works for another one.
func taskOf(t *taskrecord.Record) string {
	return " on " + ServerName(t.Server) + " (" + t.Kind + ")"
}
