// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"cmd/pmu/internal/why"
	"cmp"
	"fmt"
	"hash/maphash"
	"internal/taskrecord"
	"io"
	"maps"
	"math"
	"slices"
)

// This file joins the records of tasks: those of one request may be in the files of several servers.

// joined are the tasks of all files of which others may be a part, or the other way round.
type joined struct {
	joiner  taskrecord.Joiner
	alone   []*taskrecord.Record          // those that have no ID
	arrived map[*taskrecord.Record]int    // in which order: rows have it, too
	servers map[server]*taskrecord.Server // one of those that are the same
	size    int                           // about how many bytes they take

	callees      why.Callees
	from         map[string]string // by server: the file, folder or URL that has its records
	inconsistent int

	// For Where: the number of the task that comes next, and what is called for each row.
	number int
	row    func(n *taskrecord.Node, number func(t *taskrecord.Record) int)
}

// A server is what tells one from another.
type server struct {
	id, pid    int
	name, boot string
	start      int64
}

// task adds the record of a task. What calls nothing and was not called is a row at once.
func (f *file) task(t *taskrecord.Record) {
	f.tasks = true
	var h maphash.Hash
	h.SetSeed(seed)
	h.Write(t.Trace[:])
	h.Write(t.Span[:])
	id := h.Sum64()
	if !t.Span.IsZero() {
		if _, ok := f.seen[id]; ok {
			f.twice++
			return
		}
		if f.seen == nil {
			f.seen = make(map[uint64]struct{})
		}
		f.seen[id] = struct{}{}
	}
	r := &f.joined
	if name := why.ServerName(t.Server); r.from[name] == "" {
		if r.from == nil {
			r.from = make(map[string]string)
		}
		r.from[name] = f.arg
	}
	f.addTask(t)
}

// addTask is task, of one that was not there before.
func (f *file) addTask(t *taskrecord.Record) {
	r := &f.joined
	if t.Parent.IsZero() && len(t.Calls) == 0 && !f.sql && t.Flags&taskrecord.Client == 0 {
		n := &taskrecord.Node{Task: t, Call: -1}
		f.b.AddRequest(n, &r.callees)
		if r.row != nil {
			r.row(n, func(*taskrecord.Record) int { return r.number })
		}
		f.progress.rows(f.b.Rows())
		return
	}
	r.keep(t)
}

// keep keeps a task to be joined, without what is no column of a row.
func (r *joined) keep(t *taskrecord.Record) {
	if s := t.Server; s != nil {
		k := server{int(s.ID), s.PID, s.Name, s.Boot, s.Start}
		if r.servers[k] == nil {
			if r.servers == nil {
				r.servers = make(map[server]*taskrecord.Server)
			}
			r.servers[k] = s
		}
		t.Server = r.servers[k]
	}
	t.Outlived, t.Usual = nil, nil
	for i := range t.Timeline {
		t.Timeline[i].Stack = nil
	}
	r.size += taskBytes + regionBytes*len(t.Regions) + callBytes*len(t.Calls) + noteBytes*len(t.Notes) + stretchBytes*len(t.Timeline) + countBytes*len(t.Count)
	for i := range t.Notes {
		r.size += len(t.Notes[i].Key) + len(t.Notes[i].Value)
	}
	if r.arrived == nil {
		r.arrived = make(map[*taskrecord.Record]int)
		r.joiner.MaxTasks = math.MaxInt
	}
	if r.arrived[t] = len(r.arrived); r.row != nil {
		r.arrived[t] = r.number
	}
	if t.Trace == (taskrecord.TraceID{}) || t.Span.IsZero() {
		r.alone = append(r.alone, t)
	} else {
		r.joiner.Add(t)
	}
}

// Bytes of a task that is kept, and of what it has several of, about.
const (
	taskBytes    = 1000
	regionBytes  = 300
	callBytes    = 120
	noteBytes    = 40
	stretchBytes = 350
	countBytes   = 24
)

// rows adds a row for each request: for a task that no other one has called, or each task of a kind. Before
// each row it asks full whether there is room for it.
func (r *joined) rows(b *why.Builder, kind string, full func() error) error {
	list := r.joiner.Requests()
	var roots, ofKind []*taskrecord.Node
	add := func(n *taskrecord.Node) {
		if n.Task.Flags&taskrecord.Client != 0 {
			return
		}
		if n.Task.Kind == kind {
			ofKind = append(ofKind, n)
		}
		p := n.Parent
		for p != nil && p.Task.Flags&taskrecord.Client != 0 {
			p = p.Parent
		}
		if p == nil {
			roots = append(roots, n)
		}
	}
	for _, x := range list {
		r.callees.Learn(x)
		for _, n := range x.Nodes {
			add(n)
		}
		if x.Inconsistent {
			r.inconsistent++
		}
	}
	for _, t := range r.alone {
		add(&taskrecord.Node{Task: t, Call: -1})
	}
	if kind != "" && len(ofKind) > 0 {
		roots = ofKind
	}
	slices.SortFunc(roots, func(m, n *taskrecord.Node) int { return cmp.Compare(r.arrived[m.Task], r.arrived[n.Task]) })
	for _, n := range roots {
		if err := full(); err != nil {
			r.callees.Done()
			return err
		}
		b.AddRequest(n, &r.callees)
		if r.row != nil {
			r.row(n, func(t *taskrecord.Record) int { return r.arrived[t] })
		}
	}
	r.callees.Done()
	return nil
}

// say says what is not known, or was left out.
func (r *joined) say(w io.Writer) {
	if n := r.joiner.Dropped; n > 0 {
		fmt.Fprintf(w, "pmu why: %d tasks left out, as they are too many of one request\n", n)
	}
	if r.inconsistent > 0 {
		fmt.Fprintf(w, "pmu why: in %d requests no offsets of the servers' clocks agree with all calls\n", r.inconsistent)
	}
	missing := r.callees.Missing()
	for _, call := range slices.Sorted(maps.Keys(missing)) {
		fmt.Fprintf(w, "pmu why: in %d requests there is no record of what worked on %.100q: what it did is not known there\n", missing[call], call)
	}
}
