// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskscmd

import (
	"cmp"
	"internal/taskrecord"
	"slices"
	"time"
)

// Bounds of what the pages show.
const (
	maxTasks   = taskrecord.DefaultMaxTasks // kept for the pages
	maxKinds   = 200
	maxReasons = 100
	maxSlowest = 100
	maxTrace   = 200 // tasks of a request
	maxBars    = 20
)

// A site has the tasks that pages are about.
type site struct {
	tasks   []*taskrecord.Record
	left    int // that were too many
	callers callers
	held    *taskrecord.Reasons // who held mutexes first
	reasons []*taskrecord.Reason
	servers map[serverKey]bool
	lost    int64
	from    *origins
}

type serverKey struct {
	name string
	pid  int
}

// newSite returns a site of tasks.
func newSite(tasks func(func(*taskrecord.Record) bool)) *site {
	s := &site{held: new(taskrecord.Reasons), servers: make(map[serverKey]bool)}
	s.callers.joiner.MaxTasks = maxTasks
	for t := range tasks {
		if len(s.tasks) == maxTasks {
			s.left++
			continue
		}
		s.tasks = append(s.tasks, t)
		s.callers.add(t)
		s.held.Add(t)
		s.lost += max(0, t.Lost.Before)
		if t.Server != nil && len(s.servers) < maxKinds {
			s.servers[serverKey{t.Server.Text(), t.Server.PID}] = true
		}
	}
	s.reasons = s.held.List()
	return s
}

// A kindRow is a row of the table of kinds.
type kindRow struct {
	Name, Text          string
	Tasks, Slow, Failed int
	P50, P90, P99, Max  time.Duration

	walls []time.Duration
	parts [taskrecord.NumParts]time.Duration
}

// An overview is what the page on all tasks shows.
type overview struct {
	Only                string
	Names               []string
	Tasks, Slow, Failed int
	Servers, Left       int
	Lost                int64
	Kinds               []*kindRow
	Reasons             []*taskrecord.Reason
	MoreReasons         int
	Next                []string // commands; see origins.next
	Slowest             []*slowTask
}

// A slowTask is a row of the table of the slowest tasks.
type slowTask struct {
	*taskrecord.Record
	Why string
}

// overview sums up the tasks, or those of a kind.
func (s *site) overview(kind string, only bool) *overview {
	o := &overview{Servers: len(s.servers), Left: s.left, Lost: s.lost}
	if only {
		o.Only = kind
	}
	for srv := range s.servers {
		o.Names = append(o.Names, srv.name)
	}
	slices.Sort(o.Names)
	o.Names = slices.Compact(o.Names)

	kinds := make(map[string]*kindRow)
	for _, t := range s.tasks {
		if only && t.Kind != kind {
			continue
		}
		text := taskrecord.KindText(t.Kind, t.Flags&taskrecord.Client != 0)
		k := kinds[text]
		if k == nil {
			k = &kindRow{Name: t.Kind, Text: kindName(t.Kind, t.Flags&taskrecord.Client != 0)}
			kinds[text] = k
			o.Kinds = append(o.Kinds, k)
		}
		o.add(t, k)
	}
	for _, k := range o.Kinds {
		k.percentiles()
	}
	for _, x := range o.Slowest {
		if list := x.Causes(); len(list) > 0 {
			x.Why = s.held.Words(&list[0])
		}
	}
	for _, r := range s.reasons {
		if !only || r.Kind == kind {
			o.Reasons = append(o.Reasons, r)
		}
	}
	// What takes most time comes first.
	slices.SortFunc(o.Kinds, func(a, b *kindRow) int {
		return cmp.Or(cmp.Compare(sum(b.walls), sum(a.walls)), cmp.Compare(a.Text, b.Text))
	})
	if n := len(o.Reasons) - maxReasons; n > 0 {
		o.Reasons, o.MoreReasons = o.Reasons[:maxReasons], n
	}
	o.Next = s.from.next(o.Reasons, maxReasons)
	o.Kinds = o.Kinds[:min(len(o.Kinds), maxKinds)]
	return o
}

// add adds a task of kind k.
func (o *overview) add(t *taskrecord.Record, k *kindRow) {
	o.Tasks++
	k.Tasks++
	k.walls = append(k.walls, t.Wall)
	for p, d := range t.Parts {
		k.parts[p] += d
	}
	if t.Flags&taskrecord.Failed != 0 {
		o.Failed++
		k.Failed++
	}
	i, _ := slices.BinarySearchFunc(o.Slowest, t, func(a *slowTask, b *taskrecord.Record) int {
		return cmp.Or(cmp.Compare(b.Wall, a.Wall), cmp.Compare(a.Start, b.Start))
	})
	if i < maxSlowest {
		o.Slowest = slices.Insert(o.Slowest, i, &slowTask{Record: t})
		o.Slowest = o.Slowest[:min(len(o.Slowest), maxSlowest)]
	}
	if t.Flags&taskrecord.Slow != 0 {
		o.Slow++
		k.Slow++
	}
}

func (k *kindRow) percentiles() {
	var l lengths // which is too large to have one for each of many kinds
	for _, d := range k.walls {
		l.add(d)
	}
	k.P50, k.P90, k.P99, k.Max = l.percentile(50), l.percentile(90), l.percentile(99), l.longest
}

func sum(list []time.Duration) (d time.Duration) {
	for _, x := range list {
		d += x
	}
	return d
}

// find returns the task of a span, or the longest one of a trace if that is zero, and the
// request that it is of, if it is known.
func (s *site) find(trace taskrecord.TraceID, span taskrecord.SpanID) (t *taskrecord.Record, r *taskrecord.Request) {
	for _, x := range s.tasks {
		if x.Trace != trace || !span.IsZero() && x.Span != span {
			continue
		}
		if t == nil || x.Wall > t.Wall {
			t = x
		}
	}
	if t == nil || trace.IsZero() {
		return t, nil
	}
	for _, r := range s.callers.joiner.Requests() {
		if r.Trace == trace {
			return t, r
		}
	}
	return t, nil
}
