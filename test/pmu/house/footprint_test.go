// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import "testing"

func TestParseFootprint(t *testing.T) {
	s, err := parseFootprint("      1       1  go.env\n    147      22  src/a.go\n    148      23  total, 2 files\n\n9 lines in 3 own files, and 1 in 1 of tests\n")
	if err != nil {
		t.Fatal(err)
	}
	checkRows(t, s, "upstream's lines 148 23 2")
	if s, err := parseFootprint("      1       1  go.env\n"); err == nil {
		t.Errorf("without a total: %v", s)
	}
}
