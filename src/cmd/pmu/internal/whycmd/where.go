// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"cmd/pmu/internal/why"
	"fmt"
	"internal/taskrecord"
	"io"
	"slices"
)

// Where selects the tasks of those requests that meet conditions. Requests, and the columns that the
// conditions are on, are those of why.
type Where struct {
	in      input
	f       file
	kind    string
	n       int   // tasks so far
	rows    []int // the first of the tasks of each row, in tasks
	tasks   []int // of all rows, in the order of their addition
	matched map[int]bool
}

// NewWhere returns a Where of the requests that are tasks of a kind, or that no other task has called.
// Most is how many bytes a table may take.
func NewWhere(kind string, most int64, stderr io.Writer) *Where {
	w := &Where{kind: kind, in: input{stderr: stderr, progress: newProgress(stderr), most: most}}
	w.in.b.MaxColumns = maxColumns
	w.f.input = &w.in
	return w
}

// Add adds a task, which may be changed.
func (w *Where) Add(t *taskrecord.Record) error {
	w.in.joined.number = w.n
	w.in.joined.row = w.row
	w.n++
	w.f.addTask(t)
	return w.in.full()
}

// row notes the tasks of a row.
func (w *Where) row(n *taskrecord.Node, number func(t *taskrecord.Record) int) {
	w.rows = append(w.rows, len(w.tasks))
	var add func(n *taskrecord.Node)
	add = func(n *taskrecord.Node) {
		w.tasks = append(w.tasks, number(n.Task))
		for _, c := range n.Children {
			add(c)
		}
	}
	add(n)
}

// Select selects requests by an expression, and says how many they are. It follows all tasks.
func (w *Where) Select(expression string) (matched, of int, err error) {
	if err := w.in.joined.rows(&w.in.b, w.kind, w.in.fullOfRows); err != nil {
		return 0, 0, err
	}
	w.in.joined.say(w.in.stderr)
	w.in.sayLeft()
	if w.in.b.Rows() == 0 {
		return 0, 0, nil
	}
	t := w.in.b.Table("ms")
	list, err := why.ParseConds(expression, t)
	if err != nil {
		return 0, 0, err
	}
	conds := make(map[string]why.Cond)
	for _, c := range list {
		if old, ok := conds[c.Column]; ok && !c.IsWord {
			c.Lo, c.Hi = max(c.Lo, old.Lo), min(c.Hi, old.Hi)
		} else if ok && c != old {
			return 0, 0, fmt.Errorf("nothing meets both %v and %v", old, c)
		}
		conds[c.Column] = c
	}
	ofKind := -1.0 // the word
	kinds := t.Columns[slices.IndexFunc(t.Columns, func(c why.Column) bool { return c.Name == "kind" })]
	for i, word := range kinds.Words {
		if word == w.kind {
			ofKind = float64(i)
		}
	}
	w.matched = make(map[int]bool)
	for row := range t.Latency {
		if w.kind != "" && kinds.Values[row] != ofKind {
			continue
		}
		if of++; !t.Meets(row, conds) {
			continue
		}
		matched++
		end := len(w.tasks)
		if row+1 < len(w.rows) {
			end = w.rows[row+1]
		}
		for _, n := range w.tasks[w.rows[row]:end] {
			w.matched[n] = true
		}
	}
	return matched, of, nil
}

// Has reports whether the nth task that was added is of one of the requests.
func (w *Where) Has(n int) bool { return w.matched[n] }
