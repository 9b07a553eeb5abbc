// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"pmu/bench/chart"
	"pmu/bench/stats"
)

// A failure is the error that ends a section.
type failure struct{ err error }

// must ends the section if err is not nil.
func must(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// need returns v, and ends the section if err is not nil.
func need[T any](v T, err error) T {
	must(err)
	return v
}

// try calls f and returns the error that ended it, if one did.
func try(f func()) (err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case failure:
			err = e.err
		default:
			panic(e)
		}
	}()
	f()
	return nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// A report is the text and the charts of one section.
type report struct {
	dir, name string
	text      strings.Builder
}

func (r *report) printf(format string, args ...any) { fmt.Fprintf(&r.text, format, args...) }

// chart writes c to the file NAME-what.svg and shows it.
func (r *report) chart(what string, c *chart.Chart) {
	name := r.name + "-" + what + ".svg"
	must(os.WriteFile(filepath.Join(r.dir, name), []byte(c.SVG()), 0o666))
	r.printf("![%s](%s)\n\n", c.Title, name)
}

// A table is a markdown table. Cells after the first are aligned right.
type table struct {
	head []string
	rows [][]string
}

func newTable(head ...string) *table { return &table{head: head} }

// row adds a row. Its cells are strings, or formats and their arguments: a cell
// with verbs takes the values that follow it.
func (t *table) row(cells ...any) {
	var row []string
	for i := 0; i < len(cells); i++ {
		format, ok := cells[i].(string)
		if !ok {
			row = append(row, fmt.Sprint(cells[i]))
			continue
		}
		n := strings.Count(strings.ReplaceAll(format, "%%", ""), "%")
		if n == 0 {
			row = append(row, format)
			continue
		}
		row = append(row, fmt.Sprintf(format, cells[i+1:i+1+n]...))
		i += n
	}
	t.rows = append(t.rows, row)
}

// add appends a cell to the last row.
func (t *table) add(format string, args ...any) {
	last := &t.rows[len(t.rows)-1]
	*last = append(*last, fmt.Sprintf(format, args...))
}

func (r *report) table(t *table) {
	r.printf("| %s |\n|---|%s\n", strings.Join(t.head, " | "), strings.Repeat("--:|", len(t.head)-1))
	for _, row := range t.rows {
		r.printf("| %s |\n", strings.Join(row, " | "))
	}
	r.printf("\n")
}

// ratio returns a median of ratios with its range, as text.
func ratio(r []float64) string {
	low, high := stats.Range(r)
	return fmt.Sprintf("%.3f (%.2f–%.2f)", stats.Median(r), low, high)
}

// point returns the median of y with its range.
func point(x float64, y []float64) chart.Point {
	low, high := stats.Range(y)
	return chart.Point{X: x, Y: stats.Median(y), Low: low, High: high}
}
