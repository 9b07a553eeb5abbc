// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"cmd/pmu/internal/why"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"internal/taskrecord"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"unicode/utf8"
)

// This file prints the analysis as SQL, for data that is in a database: the files are a sample
// then, of which thresholds are.

//go:embed why.sql
var sqlText string

var sqlTemplate = template.Must(template.New("why.sql").Funcs(template.FuncMap{
	"num":     sqlNumber,
	"lines":   func(s string) []string { return strings.Split(s, "\n") },
	"comment": func(s string) string { return fmt.Sprintf("%.100q", s) },
}).Funcs((*dialect)(nil).funcs()).Parse(sqlText))

// A script is what the template is filled in with.
type script struct {
	D        *dialect
	Files    string
	Requests int
	P        float64

	Tasks        bool   // lines are records of tasks
	Rows         bool   // lines are those of -rows
	Kind, NoKind string // NoKind is the kind of requests that have none
	Random       bool   // only those that were chosen at random
	Latency      string

	Events  []sqlEvent
	Own     []sqlOwn
	Parents []sqlParent

	// Constants of package why.
	Fewest                              int
	Proportional, Together, LeastImpact float64
}

// A sqlEvent is a column of numbers.
type sqlEvent struct {
	I         int
	Name      string
	Source    string // of tasks: where in a record it is, and by which key
	Key       string
	Value     string // of a table, and of a ratio: the number
	Group     why.Group
	Of        int // the task that it is of, among those of a request
	Known     int // 1 if its time is known
	Threshold float64
	Remark    string
}

// A sqlOwn is an event whose time is known, in columns.
type sqlOwn struct {
	I     int
	Times []int
}

// A sqlParent is the K-th parent of event I.
type sqlParent struct {
	I, K, Parent int
	Name         string
}

// writeSQL prints the analysis of a table and its report as SQL. kept is whether the table has
// all rows, of whatever kind.
func (in *input) writeSQL(w io.Writer, t *why.Table, r *why.Report, kind string, kept bool, files []string, groups *why.Groups) error {
	switch {
	case len(in.spans.list) > 0:
		return errors.New("-sql is for lines of JSON, and these are spans")
	case in.tasks && len(in.paths) > 0:
		return errors.New("-sql is for one kind of lines: these are records of tasks, and others")
	case len(r.Impacts) == 0:
		return errors.New("there is nothing to print as SQL: no column has numbers, or all requests took the same time")
	}
	s := script{D: dialects[cmp.Or(in.engine, "postgresql")], Files: strings.Join(files, " "), Requests: r.Requests, P: r.P, Kind: kind, Latency: in.latency,
		Fewest: 10, Proportional: 0.99, Together: 0.5, LeastImpact: 0.02}
	s.Rows = in.tasks && in.joined.callees.Derived()
	s.Tasks = in.tasks && !s.Rows
	if s.Rows {
		s.Latency = "latency"
		fmt.Fprintln(in.stderr, "pmu why: -sql: these columns are of several records, or of their timelines: the script is for the rows that -rows writes, and not for the records as they are")
	}
	// Of all tasks that there are, enough will be chosen at random, if these don't have to do.
	s.Random = r.LeftBiased > 0 || !slices.Contains(t.Biased, true)
	if s.Tasks && !s.Random {
		fmt.Fprintln(in.stderr, "pmu why: -sql: too few of these tasks were chosen at random: the script is about all that are recorded, of which too many are slow")
	}
	if kept {
		s.NoKind = kind
	}
	sorted := *t
	sorted.Columns = slices.Clone(t.Columns)
	sorted.Sort()
	sorted.Describe(groups)
	t = &sorted
	if err := s.addEvents(in, t, r); err != nil {
		return err
	}
	names := []string{in.latency, kind}
	for _, e := range s.Events {
		names = append(names, e.Name)
	}
	for _, name := range names {
		if !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
			return fmt.Errorf("%.100q can't be written in SQL", name)
		}
	}
	s.addRules(t)
	return template.Must(sqlTemplate.Clone()).Funcs(s.D.funcs()).Execute(w, s)
}

// addEvents adds the columns of numbers.
func (s *script) addEvents(in *input, t *why.Table, r *why.Report) error {
	tasks := []string{""}
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Words != nil {
			continue
		}
		k := slices.IndexFunc(r.Impacts, func(e why.Impact) bool { return e.Event == c.Name })
		m := &r.Impacts[k]
		e := sqlEvent{I: len(s.Events) + 1, Name: c.Name, Group: c.Group, Threshold: m.Threshold, Remark: m.Remark}
		if m.Parent != "" {
			e.Remark = "" // it is for the script to say
		}
		if m.Remark != "" && m.Parent == "" {
			e.Threshold = nan
		}
		if len(c.Within) > 0 {
			e.Known = 1
		}
		if e.Of = slices.Index(tasks, c.Of); e.Of < 0 {
			e.Of = len(tasks)
			tasks = append(tasks, c.Of)
		}
		if err := s.cell(&e, in, t); err != nil {
			return err
		}
		s.Events = append(s.Events, e)
	}
	return nil
}

// cell sets where an event is in a line.
func (s *script) cell(e *sqlEvent, in *input, t *why.Table) error {
	if s.Tasks {
		e.Source, e.Key = taskSource(e.Name)
		var names []string
		for i := range t.Columns {
			names = append(names, t.Columns[i].Name)
		}
		for _, ratio := range why.Ratios(names) {
			if ratio.Name == e.Name {
				e.Source, e.Value = "ratio", s.D.ratio(ratio)
			}
		}
		return nil
	}
	path := in.paths[e.Name]
	if s.Rows {
		path = []string{e.Name}
	}
	if path == nil {
		return fmt.Errorf("column %.100q is a member of an object, and one of an object within: -sql needs one", e.Name)
	}
	e.Value = s.D.at(s.D.Number, "line", path...)
	return nil
}

// addRules adds what is known of the events.
func (s *script) addRules(t *why.Table) {
	index := make(map[string]int)
	for _, e := range s.Events {
		index[e.Name] = e.I
	}
	for _, c := range t.Columns {
		i := index[c.Name]
		if i == 0 {
			continue
		}
		for k, name := range c.Parents {
			if p := index[name]; p != 0 && p != i {
				s.Parents = append(s.Parents, sqlParent{i, k, p, name})
			}
		}
		own := sqlOwn{I: i}
		for _, d := range t.Columns { // in their order
			if index[d.Name] != 0 && slices.Contains(c.Within, d.Name) {
				own.Times = append(own.Times, index[d.Name])
			}
		}
		if len(own.Times) < len(c.Within) {
			own.Times = nil // there is no bound
		}
		if len(c.Within) > 0 {
			s.Own = append(s.Own, own)
		}
	}
}

// taskSource says where in the line of a task a column is; see [why.Builder.AddTask].
func taskSource(column string) (source, key string) {
	for p := range taskrecord.Part(taskrecord.Elsewhere + 1) {
		if column == taskrecord.PartName(p) {
			return "part", partKey(p)
		}
	}
	if column == "goroutines" {
		return "number", column
	}
	if part, ok := strings.CutPrefix(column, "cost "); ok {
		_, key = taskSource(part)
		return "cost", key
	}
	for _, source := range []string{"region", "call", "note"} {
		if key, ok := strings.CutPrefix(column, source+" "); ok {
			return source, key
		}
	}
	return "count", column
}

// sqlNumber writes a number that stays exactly that. Of what is no string some databases make
// a decimal first, and round twice. NaN is null.
func sqlNumber(v any) string {
	s := fmt.Sprintf("'%v'", v)
	if f, ok := v.(float64); ok {
		if s = "'" + strconv.FormatFloat(f, 'g', -1, 64) + "'"; math.IsNaN(f) {
			s = "NULL"
		}
	}
	return "CAST(" + s + " AS double precision)"
}
