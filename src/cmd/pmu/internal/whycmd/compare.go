// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"cmd/pmu/internal/source"
	"cmd/pmu/internal/verb"
	"cmd/pmu/internal/why"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
)

// This file is -by: experiments, which are compared.

// byFile is the value of -by by which each file, or directory, is an experiment.
const byFile = "file"

// compare compares experiments.
func (c *command) compare() int {
	x, err := c.comparison()
	if err == nil && x == nil {
		if c.in.failed {
			return verb.Error // it has been reported
		}
		fmt.Fprintln(c.Stderr, "pmu why: there are no requests")
		return verb.Other
	}
	if err == nil && c.page != "" {
		err = writePage(c.page, x.WriteHTML)
	}
	if err == nil {
		err = x.WriteText(c.Stdout)
	}
	if err == nil && c.http.Given() {
		err = c.http.ServePage(c.IO, why.ContentSecurityPolicy, x.WriteHTML)
	}
	switch {
	case err != nil:
		return c.Fail(c.IO, err)
	case c.in.failed:
		return verb.Error
	}
	return verb.OK
}

// comparison reads experiments and compares them. It is nil if there are no requests.
func (c *command) comparison() (*why.Comparison, error) {
	if c.by == byFile {
		list, err := c.experiments()
		if err != nil || list == nil {
			return nil, err
		}
		return why.Compare(byFile, list, c.segments, nil, c.o)
	}
	t, err := c.read(c.files)
	if err != nil || t == nil {
		return nil, err
	}
	if err := c.names.missing(c.columns, c.in.latency); err != nil {
		return nil, err
	}
	defer manyCellsOf(t)()
	if c.at != "" {
		if _, err := takeTime(t, c.at); err != nil {
			return nil, err
		}
	}
	if c.by != "kind" || c.kind != "" {
		if _, err := selectKind(t, c.kind, c.Stderr); err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc(t.Columns, func(col why.Column) bool { return col.Name == c.by }) {
		var names []string
		for _, col := range t.Columns {
			names = append(names, col.Name)
		}
		return nil, fmt.Errorf("-by: %w", noColumn(c.by, names))
	}
	list, notes, err := why.Split(t, c.by)
	if err != nil {
		return nil, err
	}
	return why.Compare(c.by, list, c.segments, notes, c.o)
}

// experiments reads each file, or all files of each directory, as an experiment. These share nothing:
// records of one are not joined with those of another, and what only one has counted is in no table of
// others. It returns none if there are no requests.
func (c *command) experiments() ([]why.Experiment, error) {
	names := experimentNames(c.files)
	var list []why.Experiment
	kinds := make(map[string]int)
	requests := 0
	empty := c.in // what the flags have set
	failed := false
	for i, name := range c.files {
		c.in = empty
		t, err := c.read([]string{name})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if failed = failed || c.in.failed; t == nil {
			t = new(why.Table)
		} else if empty.most -= int64(c.in.b.Size()); empty.most <= 0 {
			empty.most = 1 // what follows is left out
		}
		if c.at != "" && len(t.Latency) > 0 {
			if _, err := takeTime(t, c.at); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		requests += len(t.Latency)
		countKinds(t, kinds)
		list = append(list, why.Experiment{Name: names[i], Table: t})
	}
	if c.in.failed = failed; requests == 0 {
		return nil, nil
	}
	if err := c.names.missing(c.columns, c.in.latency); err != nil {
		return nil, err
	}
	if err := c.oneKind(list, kinds); err != nil {
		return nil, err
	}
	var first *why.Experiment // that has a unit
	for i := range list {
		x := &list[i]
		switch {
		case len(x.Table.Latency) == 0:
		case first == nil:
			first = x
		case x.Table.Unit != first.Table.Unit:
			return nil, fmt.Errorf("latencies are in %s in %s, and in %s in %s", unitName(first.Table.Unit), first.Name, unitName(x.Table.Unit), x.Name)
		}
	}
	// The order of arguments says nothing.
	slices.SortStableFunc(list, func(a, b why.Experiment) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

// countKinds adds how many requests of each kind there are.
func countKinds(t *why.Table, counts map[string]int) {
	for _, col := range t.Columns {
		if col.Name != "kind" || col.Words == nil {
			continue
		}
		for _, v := range col.Values {
			if v == v {
				counts[col.Words[int(v)]]++
			}
		}
	}
}

// oneKind leaves the requests of one kind in all experiments: that of -kind, or the one that is most
// frequent in all together.
func (c *command) oneKind(experiments []why.Experiment, counts map[string]int) error {
	kind, all := c.kind, 0
	var kinds []string
	for k, n := range counts {
		kinds = append(kinds, k)
		all += n
	}
	slices.Sort(kinds)
	if kind == "" {
		for _, k := range kinds {
			if kind == "" || counts[k] > counts[kind] {
				kind = k
			}
		}
		if len(kinds) > 1 {
			fmt.Fprintf(c.Stderr, "pmu why: %d of %d requests are of kind %q, and the report is of these: -kind selects another one\n", counts[kind], all, kind)
		}
	}
	if kind == "" {
		return nil
	}
	if counts[kind] == 0 {
		return fmt.Errorf("there is nothing of kind %q: kinds are %s", kind, list(kinds))
	}
	for _, x := range experiments {
		i := slices.IndexFunc(x.Table.Columns, func(col why.Column) bool { return col.Name == "kind" && col.Words != nil })
		if i < 0 {
			continue // a table of one kind, which it does not say
		}
		col := &x.Table.Columns[i]
		word := slices.Index(col.Words, kind)
		x.Table.Keep(func(row int) bool { return word >= 0 && col.Values[row] == float64(word) })
	}
	return nil
}

// experimentNames returns what experiments are called: the last part of their files' names, if these
// differ. The same name again has a number.
func experimentNames(files []string) []string {
	names := make([]string, len(files))
	short := make(map[string]string)
	distinct := true
	for i, f := range files {
		names[i] = f
		if source.IsURL(f) {
			continue
		}
		names[i] = filepath.Base(f)
		if other, ok := short[names[i]]; ok && other != filepath.Clean(f) {
			distinct = false
		}
		short[names[i]] = filepath.Clean(f)
	}
	if !distinct {
		copy(names, files)
	}
	seen := make(map[string]int)
	for i, n := range names {
		if seen[n]++; seen[n] > 1 {
			names[i] = fmt.Sprintf("%s (%d)", n, seen[n])
		}
	}
	return names
}
