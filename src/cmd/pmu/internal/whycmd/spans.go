// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"bytes"
	tracing "cmd/pmu/internal/spans"
	"cmd/pmu/internal/why"
	"cmp"
	"fmt"
	"internal/taskrecord"
	"io"
	"maps"
	"slices"
	"strings"
)

// This file makes rows of spans.

// spans are those of all files: the spans of a request may be in several.
type spans struct {
	list      []tracing.Span
	size      int                             // about how many bytes they take
	resources map[*tracing.Attribute]struct{} // the first attributes of those that size has

	repeated, failed map[string]bool // names of those that are in a trace more than once, and that failed
	async            map[string]bool // names of those that nobody waited for, so that they are no column
	twice            int             // spans that were there already
	unknown          int             // requests with time in which it isn't known what they waited for
	badParts         int             // spans with parts that are more than they took
}

// readSpans reads spans of a format.
func (f *file) readSpans(format tracing.Format) error {
	if err := f.use("ms"); err != nil {
		return err
	}
	r := tracing.NewDecoder(f.r, format, f.latency, func(s *tracing.Span) { f.spans.add(s) })
	err := r.Read(f.full)
	f.skipped += r.Skipped()
	bad, n := r.Lack()
	if r.Others > 0 {
		fmt.Fprintf(f.stderr, "pmu why: %s: %d objects skipped that are of other signals than spans\n", f.name, r.Others)
	}
	if n > 0 {
		fmt.Fprintf(f.stderr, "pmu why: %s: %d spans left out, in %v: %s\n", f.name, n, format, bad)
	}
	if err == nil && r.N == 0 {
		err = fmt.Errorf("it is %v, and there are no spans in it", format)
		if n > 0 {
			err = fmt.Errorf("it is %v, and of none of its %d spans there is all that it takes: %s", format, n, bad)
		}
	}
	return err
}

func (s *spans) add(x *tracing.Span) {
	s.list = append(s.list, *x)
	s.size += spanSize + len(x.Name) + len(x.Service) + len(x.Peer) + attrsSize(x.Attributes)
	if len(x.Resource) == 0 {
		return
	}
	// Spans that were read together share it.
	if _, ok := s.resources[&x.Resource[0]]; !ok {
		if s.resources == nil {
			s.resources = make(map[*tracing.Attribute]struct{})
		}
		s.resources[&x.Resource[0]] = struct{}{}
		s.size += attrsSize(x.Resource)
	}
}

func attrsSize(list []tracing.Attribute) int {
	n := attrSize * len(list)
	for i := range list {
		n += len(list[i].Key) + len(list[i].Text)
	}
	return n
}

// Bytes of a span and of an attribute, about.
const spanSize, attrSize = 300, 80

// rows adds a row for each request: for a span that has no parent among the others, or each span of a
// kind. Columns of spans below it are the time that all of a name took, without that in which they
// waited for spans of their own. Where there are several in a request, their number and their mean
// are columns, too. Before each row it asks full whether there is room for it.
func (s *spans) rows(b *why.Builder, kind string, full func() error) error {
	slices.SortStableFunc(s.list, func(x, y tracing.Span) int {
		return cmp.Or(bytes.Compare(x.Trace[:], y.Trace[:]), bytes.Compare(x.ID[:], y.ID[:]), boolOrder(x.Shared, y.Shared))
	})
	n := len(s.list)
	s.list = slices.CompactFunc(s.list, func(x, y tracing.Span) bool { return x.Trace == y.Trace && x.ID == y.ID && x.Shared == y.Shared })
	s.twice = n - len(s.list)
	s.repeated, s.failed, s.async = make(map[string]bool), make(map[string]bool), make(map[string]bool)
	var traces []*trace
	for i := 0; i < len(s.list); {
		j := i + 1
		for j < len(s.list) && s.list[j].Trace == s.list[i].Trace {
			j++
		}
		t := newTrace(s.list[i:j])
		seen := make(map[string]bool)
		for k := range t.list {
			name := spanName(&t.list[k])
			if s.repeated[name] = s.repeated[name] || seen[name]; t.list[k].Failed {
				s.failed[name] = true
			}
			seen[name] = true
		}
		traces = append(traces, t)
		i = j
	}
	for _, t := range traces {
		if err := s.addTrace(b, t, kind, full); err != nil {
			return err
		}
	}
	return nil
}

// spanName says what a span is of: the service, its name, and whom a client calls.
func spanName(s *tracing.Span) string {
	name := s.Name
	if s.Service != "" {
		name = s.Service + " " + name
	}
	if s.Peer != "" && (s.Role == tracing.Client || s.Role == tracing.Producer) {
		name += " to " + s.Peer
	}
	return name
}

// addTrace adds the rows of a trace.
func (s *spans) addTrace(b *why.Builder, t *trace, kind string, full func() error) error {
	const ms = 1e6
	for root := range t.list {
		r := &t.list[root]
		if kind == "" && t.parent[root] >= 0 || kind != "" && r.Name != kind {
			continue
		}
		if err := full(); err != nil {
			return err
		}
		b.Add(float64(r.End-r.Start) / ms)
		b.Time(float64(r.Start) / 1e9)
		b.Column("kind", "", nan).Word(r.Name)
		if r.Service != "" {
			b.Column("service", "", nan).Word(r.Service)
		}
		setFailed(b, "failed", r.Failed)
		all := make(map[string]*sameSpans)
		var order []string
		var unknown int64
		t.walk(root, func(i int) {
			name := "self"
			if i != root {
				name = spanName(&t.list[i])
			}
			same := all[name]
			if same == nil {
				same = &sameSpans{first: &t.list[i]}
				all[name] = same
				order = append(order, name)
			}
			own, not := t.own(i)
			parts, ok := same.take(&t.list[i])
			same.sum += max(0, own-parts) // parts have the time of regions, which are spans below it
			if !ok {
				s.badParts++
			}
			same.n++
			same.failed = same.failed || t.list[i].Failed
			unknown += not
		}, func(i int) { s.async[spanName(&t.list[i])] = true })
		if unknown > 0 {
			s.unknown++
			c := b.Column("span not known", "ms", 0)
			c.Within("span not known")
			c.Number(float64(unknown) / ms)
		}
		attributes(b, "", r.Attributes, len(all["self"].parts) > 0)
		attributes(b, "", r.Resource, false)
		for _, name := range order {
			s.addSame(b, name, all[name], r)
		}
	}
	return nil
}

// sameSpans are those of one name below a root.
type sameSpans struct {
	sum, n int64 // of their own time in ns
	failed bool
	first  *tracing.Span

	// parts are those of the time, where a span of a task of this toolchain says what its end had to wait
	// for; sum has the rest. A span of a region is in the task's parts, too.
	parts map[string]float64
}

// Attributes of spans that go tool pmu has written are times of tasks in ns.
const (
	latencyAttr = "go.latency." // what the end had to wait for
	timeAttr    = "go.time."    // what all goroutines have used
)

// partNames are the names of parts, by those of attributes.
var partNames = func() map[string]string {
	m := make(map[string]string)
	for p := range taskrecord.Part(taskrecord.Elsewhere + 1) {
		name := taskrecord.PartName(p)
		m[latencyAttr+strings.ReplaceAll(strings.ToLower(name), "-", "_")] = name
	}
	return m
}()

// take adds a span's parts, and returns their sum. It takes none, and reports false, if they are more
// than the span took.
func (same *sameSpans) take(s *tracing.Span) (sum int64, ok bool) {
	parts := make(map[string]float64)
	all := 0.0
	for i := range s.Attributes {
		a := &s.Attributes[i]
		if name, ok := partNames[a.Key]; ok && !a.IsText && a.Number >= 0 {
			parts[name] += a.Number
			all += a.Number
		}
	}
	if all == 0 {
		return 0, true
	}
	if !(all <= float64(s.End-s.Start)) {
		return 0, false
	}
	if same.parts == nil {
		same.parts = make(map[string]float64)
	}
	for name, v := range parts {
		same.parts[name] += v
	}
	return int64(all), true
}

// ofTask reports whether an attribute is of the account of a task whose parts are columns. Times of all
// goroutines are cost, and switches are what any waiting comes with.
func ofTask(key string) bool {
	switch key {
	case "go.measured", "go.switches", "go.preemptions", "go.migrations":
		return true
	}
	return partNames[key] != "" || strings.HasPrefix(key, timeAttr)
}

// addSame adds the columns of spans of one name below a root.
func (s *spans) addSame(b *why.Builder, name string, same *sameSpans, root *tracing.Span) {
	const ms = 1e6
	c := b.Column("span "+name, "ms", 0)
	c.Within("span " + name)
	c.Number(float64(max(0, same.sum)) / ms)
	of := ""
	if same.first != root {
		of = " on " + spanName(same.first)
	}
	for _, part := range slices.Sorted(maps.Keys(same.parts)) {
		c := b.Column(part+of, "ms", 0)
		c.Within(part + of)
		c.Number(same.parts[part] / ms)
	}
	if s.repeated[name] {
		c := b.Column("number of span "+name, "", 0)
		c.Group(why.Input)
		c.Number(float64(same.n))
		b.Column("mean of span "+name, "ms", nan).Number(float64(same.sum) / float64(same.n) / ms)
	}
	if same.first == root {
		return
	}
	if s.failed[name] {
		setFailed(b, name+" failed", same.failed)
	}
	if x := same.first; same.n == 1 { // of several it isn't known which one matters
		attributes(b, name+": ", x.Attributes, len(same.parts) > 0)
		if x.Service != root.Service {
			attributes(b, x.Service+": ", x.Resource, false)
		}
	}
}

func setFailed(b *why.Builder, name string, failed bool) {
	word := "no"
	if failed {
		word = "yes"
	}
	if c := b.Column(name, "", nan); !c.Set() {
		c.Word(word)
	}
}

// attributes adds attributes as columns whose names have a prefix. If there are two of a name, the
// first one counts. Those of a task's account are left out if its parts are columns.
func attributes(b *why.Builder, prefix string, list []tracing.Attribute, task bool) {
	for i := range list {
		a := &list[i]
		if strings.HasPrefix(a.Key, "telemetry.sdk.") || task && ofTask(a.Key) {
			continue // always the same, or said already
		}
		c := b.Column(prefix+a.Key, "", nan)
		switch {
		case c.Set():
		case a.IsText:
			c.Text(a.Text)
		default:
			c.Group(why.Input)
			c.Number(a.Number)
		}
	}
}

// say says what was left out of the rows.
func (s *spans) say(w io.Writer) {
	if s.twice > 0 {
		fmt.Fprintf(w, "pmu why: %d spans skipped that are there already\n", s.twice)
	}
	if len(s.async) > 0 {
		fmt.Fprintf(w, "pmu why: spans left out, as nobody waited for them: %s\n", list(slices.Sorted(maps.Keys(s.async))))
	}
	if s.badParts > 0 {
		fmt.Fprintf(w, "pmu why: in %d spans the attributes %s* are more than the span took: they are no parts of it\n", s.badParts, latencyAttr)
	}
	if s.unknown > 0 {
		fmt.Fprintf(w, "pmu why: in %d requests a span did something else while one below it ran: that time is the column %q\n", s.unknown, "span not known")
	}
}

func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
