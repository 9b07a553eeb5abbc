// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"io"
	"strings"
)

// footprint prints how many lines of each upstream file the overlay adds and
// removes, which is what every new release has to be reconciled with, and how
// much the overlay has of its own.
func footprint(w io.Writer, o *overlay) error {
	added, removed := 0, 0
	fmt.Fprintf(w, "%7s %7s  upstream file (%s)\n", "added", "removed", o.release.name)
	for _, path := range sortedKeys(o.patches) {
		p, err := parsePatch(path, o.patches[path])
		if err != nil {
			return err
		}
		a, r := p.lineCounts()
		added, removed = added+a, removed+r
		fmt.Fprintf(w, "%7d %7d  %s\n", a, r, path)
	}
	fmt.Fprintf(w, "%7d %7d  total, %d files\n\n", added, removed, len(o.patches))

	type count struct{ files, lines int }
	var code, tests count
	for path, data := range o.own {
		c := &code
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/testdata/") {
			c = &tests
		}
		c.files++
		c.lines += len(splitLines(data))
	}
	fmt.Fprintf(w, "%7d lines in %d own files, and %d in %d of tests and their data\n",
		code.lines, code.files, tests.lines, tests.files)
	return nil
}
