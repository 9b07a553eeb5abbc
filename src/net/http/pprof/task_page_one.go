// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"cmp"
	"internal/taskrecord"
	"slices"
	"time"
)

// one writes the page on one task: that of the span, or the longest of the trace.
func (p *taskPage) one() error {
	this, list, n := p.find()
	if err := p.ctx.Err(); err != nil {
		return err
	}
	if this == nil {
		return errNoTask
	}
	p.head(cmp.Or(this.Kind, "(no name)")+", "+taskrecord.Duration(this.Wall), true)
	p.held(this)
	p.text(func(b *bytes.Buffer) { this.WriteText(b) })
	if this.Flags&taskrecord.Client != 0 && !this.Trace.IsZero() {
		p.put("<p>What that server did is on its own page, if it has recorded it: at /debug/pprof/%s there.</p>\n",
			p.link("trace", this.Trace.String()))
	}
	if !this.Trace.IsZero() {
		p.put("<p>With pictures, and with the tasks of other servers, whose addresses may follow:</p>\n<pre>go tool pmu tasks -http=: -trace %s '%s'</pre>\n",
			this.Trace.String(), p.linkTo(p.req.address))
	}
	if len(list) > 1 {
		p.trace(list, n)
	}
	p.foot()
	return nil
}

var errNoTask = &requestError{404, "there is no record of this task: it has not ended, was not recorded, or newer ones have taken its place in the rings"}

// find returns the task that is asked for, and those of its trace that ended last, of n.
func (p *taskPage) find() (this *taskrecord.Record, list []*taskrecord.Record, n uint64) {
	trace, span := p.req.trace, p.req.span
	take := func(t *taskrecord.Record) bool {
		if p.req.isPublic {
			t = t.Public()
		}
		list = append(list, t)
		return p.ctx.Err() == nil
	}
	if !span.IsZero() {
		tasks.newest(false, 1, func(head *taskrecord.Record) bool {
			return head.Span == span && (trace.IsZero() || head.Trace == trace)
		}, take)
		if len(list) == 0 {
			return nil, nil, 0
		}
		this = list[0]
		if trace = this.Trace; trace.IsZero() {
			return this, list, 1
		}
	}
	n, _ = tasks.newest(false, maxTraceTasks, func(head *taskrecord.Record) bool {
		return head.Trace == trace && (span.IsZero() || head.Span != span)
	}, take)
	if this != nil {
		return this, list, n + 1
	}
	for _, t := range list {
		if this == nil || t.Wall > this.Wall {
			this = t
		}
	}
	return this, list, n
}

// held says who held the mutexes that were handed on to t. Its record says only who did last.
func (p *taskPage) held(t *taskrecord.Record) {
	causes := t.Causes()
	if !slices.ContainsFunc(causes, func(c taskrecord.Cause) bool { return c.Name == "mutex" }) {
		return
	}
	// Whoever handed it on began before t ended.
	end := t.Start + int64(t.Wall)
	var sums taskrecord.Reasons
	p.lookAt(&sums, 1, func(head *taskrecord.Record) bool { return head.Start < end })
	for i := range causes {
		if text := sums.Words(&causes[i]); text != causes[i].String() {
			p.put("<p>%s</p>\n", text)
		}
	}
}

// trace writes the tasks of a trace in this process, of n that there are.
func (p *taskPage) trace(list []*taskrecord.Record, n uint64) {
	p.put("<h2 id=trace>All tasks of this trace on this server</h2>\n")
	if left := n - uint64(len(list)); left > 0 {
		p.put("<p>And %s that the following leaves out.</p>\n", count(int64(left), "older task"))
	}
	var j taskrecord.Joiner
	for _, t := range list {
		j.Add(t)
	}
	for _, r := range j.Requests() { // one
		p.text(func(b *bytes.Buffer) { r.WriteText(b) })
	}
	slices.SortStableFunc(list, func(a, b *taskrecord.Record) int { return cmp.Compare(a.Start, b.Start) })
	var rows [][]string
	for _, t := range list {
		rows = append(rows, []string{cmp.Or(t.Kind, "(no name)"), time.Unix(0, t.Start).Format("15:04:05.000000"), taskrecord.Duration(t.Wall)})
	}
	p.table([]string{"Kind", "Began", "Took"}, rows, func(i int) string { return p.taskLink(list[i].Trace, list[i].Span) })
}
