// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"reflect"
	"strings"
	"testing"
)

var recorded = []section{
	{title: "exported names", columns: []column{{"names", nil}}, rows: []row{
		{name: "a/b", numbers: []int{3}},
		{name: "all", numbers: []int{3}},
	}},
	{title: "lines", columns: []column{{"product", someLines}, {"tests", someLines}}, rows: []row{
		{name: "src, the rest", numbers: []int{10000, 100}},
	}},
}

func TestFormat(t *testing.T) {
	text := format(recorded, false)
	const want = `exported names      names
a/b                     3
all                     3

lines             product      tests
src, the rest       10000        100
`
	if text != want {
		t.Errorf("got\n%s", text)
	}
	parsed, err := parse("# A comment.\n\n" + text)
	if err != nil {
		t.Fatal(err)
	}
	if again := format(parsed, false); again != want {
		t.Errorf("parsed and written again:\n%s", again)
	}
	detailed := []section{{title: "a", columns: []column{{"b", nil}}, rows: []row{{"c", []int{1}, []string{"detail"}}}}}
	if text := format(detailed, false); strings.Contains(text, "detail") {
		t.Errorf("details in\n%s", text)
	}
	if text := format(detailed, true); !strings.HasSuffix(text, "1\n\tdetail\n") {
		t.Errorf("no details in\n%s", text)
	}
	for _, bad := range []string{"lines  product\na\n", "lines  product\na  1  2\n", "lines  product\na  99999999999999999999\n"} {
		if _, err := parse(bad); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestCompare(t *testing.T) {
	// names, and lines of product and tests
	table := func(names, product, tests int) []section {
		return []section{
			{title: "exported names", columns: recorded[0].columns, rows: []row{
				{name: "a/b", numbers: []int{names}, details: []string{"F", "G"}},
				{name: "all", numbers: []int{3}},
			}},
			{title: "lines", columns: recorded[1].columns, rows: []row{
				{name: "src, the rest", numbers: []int{product, tests}},
			}},
		}
	}
	tests := []struct {
		measured []section
		want     []string
	}{
		{table(3, 10000, 100), nil},
		{table(3, 10200, 120), nil},
		{table(3, 9800, 80), nil},
		{table(4, 10000, 100), []string{"exported names: a/b: names has grown from 3 to 4:\n\tF\n\tG"}},
		{table(2, 10000, 100), []string{"exported names: a/b: names has shrunk from 3 to 2:\n\tF\n\tG"}},
		{table(3, 10201, 121), []string{
			"lines: src, the rest: product has grown from 10000 to 10201",
			"lines: src, the rest: tests has grown from 100 to 121",
		}},
		{table(3, 9799, 79), []string{
			"lines: src, the rest: product has shrunk from 10000 to 9799",
			"lines: src, the rest: tests has shrunk from 100 to 79",
		}},
		{recorded[:1], []string{"lines: recorded, but not measured"}},
		{
			append([]section{{title: "new", columns: []column{{"n", nil}}}}, recorded...),
			[]string{"new: not recorded with the columns n"},
		},
		{
			[]section{recorded[0], {title: "lines", columns: []column{{"tests", nil}, {"product", nil}}}},
			[]string{"lines: not recorded with the columns tests, product"},
		},
		{
			[]section{{title: "exported names", columns: recorded[0].columns, rows: []row{
				{name: "a/c", numbers: []int{3}},
				{name: "all", numbers: []int{3}},
			}}, recorded[1]},
			[]string{"exported names: a/c is new: [3]", "exported names: a/b is gone"},
		},
	}
	for i, test := range tests {
		if got := compare(test.measured, recorded); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%d: got %q, want %q", i, got, test.want)
		}
	}
}
