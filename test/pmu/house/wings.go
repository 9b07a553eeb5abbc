// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import "strings"

// A wing is the files below some folders that are in no other wing's folder below those.
type wing struct {
	name    string
	folders []string
}

var wings = []wing{
	{"src/runtime", []string{"src/runtime"}},
	{"src/runtime/pprof", []string{"src/runtime/pprof"}},
	{"src/runtime/task", []string{"src/runtime/task"}},
	{"src/internal/taskrecord", []string{"src/internal/taskrecord"}},
	{"src/internal/perfevent, runtime/perf", []string{"src/internal/perfevent", "src/internal/runtime/perf"}},
	{"src/net/http", []string{"src/net/http"}},
	{"src/testing, cmd/go", []string{"src/testing", "src/cmd/go"}},
	{"src/cmd/pmu", []string{"src/cmd/pmu"}},
	{"src, the rest", []string{"src"}},
	{"misc/pmu", []string{"misc"}},
	{"test/pmu", []string{"test"}},
	{"doc", []string{"doc"}},
	{"the rest", []string{"."}},
}

// wingOf returns the index of the wing that a file is in.
func wingOf(path string) int {
	in, depth := len(wings)-1, 0
	for i, w := range wings {
		for _, folder := range w.folders {
			if strings.HasPrefix(path, folder+"/") && len(folder) > depth {
				in, depth = i, len(folder)
			}
		}
	}
	return in
}

// byWing returns a row of zeros for each wing.
func byWing(columns int) []row {
	var rows []row
	for _, w := range wings {
		rows = append(rows, row{name: w.name, numbers: make([]int, columns)})
	}
	return rows
}
