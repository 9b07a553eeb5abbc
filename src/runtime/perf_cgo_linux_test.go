// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"fmt"
	"internal/asan"
	"internal/msan"
	"internal/profile"
	"internal/testenv"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestCgoPerfPlace tests that calls that come through C, or from a thread that C
// created, are one sample each, with the stack that the callee sees.
func TestCgoPerfPlace(t *testing.T) {
	if asan.Enabled || msan.Enabled {
		t.Skip("sanitizers call the signal handler late")
	}
	testenv.MustHaveCGO(t)
	testenv.MustHaveGoBuild(t)
	exe, err := buildTestProg(t, "testprogcgo")
	if err != nil {
		t.Fatal(err)
	}
	out, err := testenv.CleanCmdEnv(exec.Command(exe, "CgoPerfPlace")).Output()
	if err != nil {
		if e, ok := err.(*exec.ExitError); ok && strings.Contains(string(e.Stderr), "cpu profile: event mem:") {
			t.Skipf("%s", e.Stderr)
		}
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	f, err := os.Open(lines[0])
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(lines[0])
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	sampled := make(map[string]int64)
	for _, s := range p.Sample {
		var stk []string
		for _, loc := range s.Location {
			for _, line := range loc.Line {
				stk = append(stk, line.Function.Name)
			}
		}
		sampled[strings.Join(stk, " < ")] += s.Value[0]
	}
	// Called directly, from Go through C in three ways, and from a thread.
	if len(lines) != 1+5 {
		t.Errorf("%d different stacks called:\n%s", len(lines)-1, out)
	}
	for _, line := range lines[1:] {
		n, stk, _ := strings.Cut(line, " ")
		if got := fmt.Sprint(sampled[stk]); got != n {
			t.Errorf("%s calls from here have %s samples:\n\t%s", n, got, stk)
		}
		delete(sampled, stk)
	}
	for stk, n := range sampled {
		t.Errorf("no call from here, but %d samples:\n\t%s", n, stk)
	}
}
