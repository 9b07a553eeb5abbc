// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package tool

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// MustFork is Fork for a test.
func MustFork(t testing.TB) Toolchain {
	t.Helper()
	tc, err := Fork()
	if err != nil {
		t.Fatal(err)
	}
	return tc
}

// NeedBreakpoints skips the test if the error is that the machine does not stop at
// breakpoints, as it is on some virtual machines.
func NeedBreakpoints(t testing.TB, err error) {
	t.Helper()
	if err != nil && strings.Contains(err.Error(), "accepts breakpoints but does not stop at them") {
		t.Skip(err)
	}
}

// Must returns what cmd writes, and fails the test unless it succeeds.
func Must(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	out, err := Output(cmd)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Build builds the program of a package and returns its file.
func (tc Toolchain) Build(t testing.TB, env []string, pkg string, args ...string) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "program")
	Must(t, tc.Command(".", env, append(append([]string{"build", "-o", exe}, args...), pkg)...))
	return exe
}
