// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"cmd/pmu/internal/verb"
	"os"
	"strings"
	"testing"
)

func call(args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = run(args, verb.IO{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs})
	return status, out.String(), errs.String()
}

// TestHelp tests that each verb says what it does, with an example and all of its flags, and
// that the comment of the program has the verbs.
func TestHelp(t *testing.T) {
	src, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-h"}, {"help"}} {
		status, out, errs := call(args...)
		if status != 0 || errs != "" {
			t.Errorf("%q: status %d, %q", args, status, errs)
		}
		for _, v := range verbs {
			line := v.Name + strings.Repeat(" ", 9-len(v.Name)) + v.Short + "\n"
			if !strings.Contains(out, line) || !strings.Contains(string(src), line) {
				t.Errorf("%q: no %q in\n%s\nor in the comment", args, line, out)
			}
		}
	}
	for _, v := range verbs {
		status, out, errs := call(v.Name, "-h")
		if status != 0 || errs != "" {
			t.Errorf("%s: status %d, %q", v.Name, status, errs)
		}
		if status, same, errs := call("help", v.Name); status != 0 || same != out || errs != "" {
			t.Errorf("help %s: status %d, %q; in\n%s", v.Name, status, errs, same)
		}
		for _, want := range []string{"usage: go tool pmu " + v.Name, "\n\tgo tool pmu " + v.Name, "The exit status is 0", "\nFlags:\n\n  -"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", v.Name, want, out)
			}
		}
		for line := range strings.Lines(v.Long) {
			if n := len(strings.TrimSuffix(line, "\n")); n > 86 && !strings.HasPrefix(line, "\t") {
				t.Errorf("%s: a line of %d bytes: %s", v.Name, n, line)
			}
		}
		if status, out, errs := call(v.Name, "-x"); status != 2 || out != "" || !strings.Contains(errs, "flag provided but not defined: -x\nusage: go tool pmu "+v.Name) {
			t.Errorf("%s -x: status %d, %q, %q", v.Name, status, out, errs)
		}
		if strings.HasPrefix(v.Args, "[") {
			continue // it needs none
		}
		if status, out, errs := call(v.Name); status != 2 || out != "" || !strings.HasPrefix(errs, "usage: go tool pmu "+v.Name+" [flags] "+v.Args+"\n") {
			t.Errorf("%s: status %d, %q, %q", v.Name, status, out, errs)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"none"}, {""}, {"help", "none"}} {
		if status, out, errs := call(args...); status != 2 || out != "" || !strings.Contains(errs, "usage: go tool pmu verb") {
			t.Errorf("%q: status %d, %q, %q", args, status, out, errs)
		}
	}
}
