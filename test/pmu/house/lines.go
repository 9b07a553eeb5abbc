// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import "strings"

// linesByWing counts the lines of all files.
func linesByWing(all []file) section {
	s := section{title: "lines", columns: []column{{"product", someLines}, {"tests", someLines}}, rows: byWing(2)}
	for _, f := range all {
		column := 0
		if f.test() {
			column = 1
		}
		s.rows[wingOf(f.path)].numbers[column] += f.lines()
	}
	s.addSum()
	return s
}

// mostLines is the number of lines that a file may have without being listed.
const mostLines = 500

// longFiles lists the product's long files.
func longFiles(all []file) section {
	s := section{title: "files above 500 lines", columns: []column{{"lines", someLines}}}
	for _, f := range all {
		product := strings.HasPrefix(f.path, "src/") || strings.HasPrefix(f.path, "misc/")
		if n := f.lines(); product && !f.test() && n > mostLines {
			s.rows = append(s.rows, row{name: f.path, numbers: []int{n}})
		}
	}
	return s
}
