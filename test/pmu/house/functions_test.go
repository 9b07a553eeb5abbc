// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"reflect"
	"strings"
	"testing"
)

func TestLongFunctions(t *testing.T) {
	// function returns a function of so many lines.
	function := func(comment, head string, lines int) string {
		return comment + head + " {\n" + strings.Repeat("\t// It is long because of me.\n", lines-2) + "}\n\n"
	}
	code := "package p\n\n" +
		function("", "func short()", 60) +
		function("// Long is long\n// because it is.\n", "func long()", 61) + // not where grep finds it
		function("// Known is known.\n// It is long because it has many lines.\n", "func known()", 61) +
		function("// It is long because of another function.\n\n", "func (t *T) method()", 61) +
		function("", "func generic[T any](x T)", 61) +
		"func outer() {\n" + function("", "_ = func()", 70) + "}\n" +
		function("", "var _ = func()", 70) +
		"func outside()\n"
	s, err := longFunctions([]file{
		{"src/runtime/a.go", []byte(code)},
		{"src/runtime/a_test.go", []byte(code)},
		{"src/runtime/testdata/a.go", []byte(code)},
		{"src/runtime/pprof/short.go", []byte("package p\n\n" + function("", "func short()", 60))},
		{"misc/pmu/b.go", []byte("package p\n\n" + function("// It is long because it is.\n", "func f()", 100))},
		{"test/pmu/c.go", []byte(code)},
	})
	if err != nil {
		t.Fatal(err)
	}
	checkRows(t, s, "src/runtime 4 1", "misc/pmu 0 1", "all 4 2")
	want := []string{
		"src/runtime/a.go:66: long has 61 lines",
		"src/runtime/a.go:194: method has 61 lines",
		"src/runtime/a.go:256: generic has 61 lines",
		"src/runtime/a.go:318: outer has 73 lines",
	}
	if got := s.rows[0].details; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
