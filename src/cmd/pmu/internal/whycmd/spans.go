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
	"maps"
	"slices"
)

// This file makes rows of spans.

// spans are those of all files: the spans of a request may be in several.
type spans struct{ list []tracing.Span }

// readSpans reads spans of a format.
func (f *file) readSpans(format tracing.Format) error {
	if err := f.use("ms"); err != nil {
		return err
	}
	r := tracing.NewReader(f.r, format, f.latency, func(s *tracing.Span) { f.spans.add(s) })
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

func (s *spans) add(x *tracing.Span) { s.list = append(s.list, *x) }

// rows adds a row for each request: for a span that has no parent among the others, or each
// span of a kind. Columns are the times that spans of a name below it took, without those in
// which they waited for spans of their own (those within their time: a span that goes on
// longer was not waited for); several of one name are averaged, as in the authors' code of
// patterns.
func (s *spans) rows(b *why.Builder, kind string) {
	slices.SortStableFunc(s.list, func(x, y tracing.Span) int {
		return cmp.Or(bytes.Compare(x.Trace[:], y.Trace[:]), bytes.Compare(x.ID[:], y.ID[:]), boolOrder(x.Shared, y.Shared))
	})
	s.list = slices.CompactFunc(s.list, func(x, y tracing.Span) bool { return x.Trace == y.Trace && x.ID == y.ID && x.Shared == y.Shared })
	for i := 0; i < len(s.list); {
		j := i + 1
		for j < len(s.list) && s.list[j].Trace == s.list[i].Trace {
			j++
		}
		addTrace(b, s.list[i:j], kind)
		i = j
	}
}

func addTrace(b *why.Builder, list []tracing.Span, kind string) {
	byID := make(map[[8]byte]int)
	for i := range list {
		byID[list[i].ID] = i
	}
	children := make([][]int, len(list))
	var roots []int
	for i := range list {
		p, ok := byID[list[i].Parent]
		if ok && p != i && list[i].Parent != [8]byte{} {
			children[p] = append(children[p], i)
		}
		if kind == "" && !ok || kind != "" && list[i].Name == kind {
			roots = append(roots, i)
		}
	}
	const ms = 1e6
	for _, root := range roots {
		r := &list[root]
		b.Add(float64(r.End-r.Start) / ms)
		b.Time(float64(r.Start) / 1e9)
		b.Column("kind", "", nan).Word(r.Name)
		if r.Service != "" {
			b.Column("service", "", nan).Word(r.Service)
		}
		for _, a := range r.Attributes {
			c := b.Column(a.Key, "", nan)
			if a.IsText {
				c.Text(a.Text)
			} else {
				c.Number(a.Number)
			}
		}
		// Below it; a span is visited once, whatever parents say.
		sum, n := make(map[string]float64), make(map[string]float64)
		visited := map[int]bool{root: true}
		queue := []int{root}
		for len(queue) > 0 {
			i := queue[0]
			queue = queue[1:]
			for _, c := range children[i] {
				if !visited[c] {
					visited[c] = true
					queue = append(queue, c)
				}
			}
			name := "self"
			if i != root {
				name = list[i].Name
			}
			sum[name] += float64(pure(list, i, children[i])) / ms
			n[name]++
		}
		for _, name := range slices.Sorted(maps.Keys(sum)) {
			c := b.Column("span "+name, "ms", 0)
			c.Within("span " + name)
			c.Number(sum[name] / n[name])
		}
	}
}

// pure returns the time of a span without that of the children within it.
func pure(list []tracing.Span, i int, children []int) int64 {
	s := &list[i]
	within := make([][2]int64, 0, len(children))
	for _, c := range children {
		if list[c].Start >= s.Start && list[c].End <= s.End {
			within = append(within, [2]int64{list[c].Start, list[c].End})
		}
	}
	slices.SortFunc(within, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	d, at := s.End-s.Start, s.Start
	for _, w := range within {
		if w[1] > at {
			d -= w[1] - max(w[0], at)
			at = w[1]
		}
	}
	return d
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
