// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package verb

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// TestMisplaced tests that a flag after the first file is an error that says which, and where it belongs.
func TestMisplaced(t *testing.T) {
	for _, tt := range []struct {
		args []string
		rest []string
		err  string
	}{
		{[]string{"-p", "1", "a", "b"}, []string{"a", "b"}, ""},
		{[]string{"a", "-p", "1"}, nil, `pmu verb: -p is after "a": flags belong before the first argument that is none`},
		{[]string{"-p", "1", "a", "b", "--p=2"}, nil, `pmu verb: -p is after "a": flags`},
		{[]string{"a", "-x"}, nil, "pmu verb: there is no flag -x, and a file of this name is ./-x"},
		{[]string{"a", "-"}, []string{"a", "-"}, ""},
		{[]string{"-", "-p"}, nil, `-p is after "-"`},
		{[]string{"--", "a", "-p"}, []string{"a", "-p"}, ""},
		{[]string{"--", "-p"}, []string{"-p"}, ""},
		{nil, nil, ""},
	} {
		var errs bytes.Buffer
		std := IO{Stderr: &errs}
		v := &Verb{Name: "verb", Args: "FILE..."}
		fs := v.Flags(std)
		fs.Int("p", 0, "")
		status, ok := v.Parse(fs, tt.args, std)
		if ok != (tt.err == "") || status != map[bool]int{true: OK, false: Error}[ok] || ok && !slices.Equal(fs.Args(), tt.rest) {
			t.Errorf("%q: status %d, %v, %q", tt.args, status, ok, fs.Args())
		}
		if got := errs.String(); !strings.Contains(got, tt.err) || ok && got != "" || !ok && !strings.Contains(got, "usage: go tool pmu verb") {
			t.Errorf("%q: %q, want %q", tt.args, got, tt.err)
		}
	}
}
