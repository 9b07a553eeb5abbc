// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"pmu/internal/tool"
)

// run runs tc's go command in dir and returns its standard output and error.
func run(tc tool.Toolchain, dir string, args ...string) (string, error) {
	out, err := tc.Command(dir, nil, args...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// must is run for a command that has to succeed.
func must(t *testing.T, tc tool.Toolchain, dir string, args ...string) string {
	t.Helper()
	out, err := run(tc, dir, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", tc.Go(), strings.Join(args, " "), err, out)
	}
	return out
}

// stock returns a toolchain that is not the fork: the one that runs the test,
// or else one in PATH.
func stock(t *testing.T) tool.Toolchain {
	t.Helper()
	dirs := append([]string{filepath.Join(runtime.GOROOT(), "bin")}, filepath.SplitList(os.Getenv("PATH"))...)
	for _, dir := range dirs {
		cmd := exec.Command(filepath.Join(dir, "go"), "env", "GOROOT", "GOVERSION")
		cmd.Env = append(os.Environ(), "GOROOT=", "GOTOOLCHAIN=local")
		out, err := tool.Output(cmd)
		if goroot, version, ok := strings.Cut(out, "\n"); err == nil && ok && !strings.HasSuffix(version, "-pmu") {
			return tool.Toolchain{Name: "stock", Goroot: goroot}
		}
	}
	t.Fatal("no stock Go: neither the go command that runs this test nor any in PATH")
	return tool.Toolchain{}
}

// profileType runs the program as built by tc and returns what it says, and
// what the profile is of, according to go tool pprof.
func profileType(t *testing.T, tc tool.Toolchain, event string) (says, typ string) {
	t.Helper()
	dir := t.TempDir()
	exe, prof := filepath.Join(dir, "exe"), filepath.Join(dir, "cpu.pprof")
	must(t, tc, ".", "build", "-o", exe, ".")
	out, err := exec.Command(exe, "-event", event, "-o", prof).CombinedOutput()
	if err != nil {
		t.Fatalf("-event %s: %v\n%s", event, err, out)
	}
	top := must(t, tc, ".", "tool", "pprof", "-top", exe, prof)
	for _, line := range strings.Split(top, "\n") {
		if v, ok := strings.CutPrefix(line, "Type: "); ok {
			typ = v
		}
	}
	if !strings.Contains(top, "main.work") {
		t.Errorf("-event %s: no samples of main.work:\n%s", event, top)
	}
	return strings.TrimSpace(string(out)), typ
}

func TestStock(t *testing.T) {
	tc := stock(t)
	must(t, tc, ".", "vet", ".")
	for _, event := range []string{"timer", "cycles", "task-clock"} {
		says, typ := profileType(t, tc, event)
		t.Logf("%s: %q, type %s", event, says, typ)
		if typ != "cpu" {
			t.Errorf("-event %s: the profile is of %q, want cpu", event, typ)
		}
		want := "sampling timer"
		if event != "timer" {
			want += " instead of " + event + ": built by go1."
		}
		if !strings.HasPrefix(says, want) {
			t.Errorf("-event %s: says %q, want %q", event, says, want)
		}
	}
}

func TestFork(t *testing.T) {
	tc := tool.MustFork(t)
	must(t, tc, ".", "vet", ".")
	for _, tt := range []struct{ event, typ string }{
		{"timer", "cpu"},
		{"task-clock:u", "task_clock_u"},
	} {
		says, typ := profileType(t, tc, tt.event)
		t.Logf("%s: %q, type %s", tt.event, says, typ)
		if typ != tt.typ || says != "sampling "+tt.event {
			t.Errorf("-event %s: says %q, the profile is of %q, want %q", tt.event, says, typ, tt.typ)
		}
	}

	// Not every machine has cycles: either they are sampled, or the program says
	// that they are not.
	says, typ := profileType(t, tc, "cycles")
	t.Logf("cycles: %q, type %s", says, typ)
	switch {
	case says == "sampling cycles" && typ == "cycles":
	case strings.HasPrefix(says, "sampling timer instead of cycles: cpu profile: event cycles: ") && typ == "cpu":
	default:
		t.Errorf("-event cycles: says %q, the profile is of %q", says, typ)
	}

	out, err := run(tc, ".", "run", ".", "-event", "cicles", "-o", os.DevNull)
	if err == nil || !strings.Contains(out, "nearest: cycles") {
		t.Errorf("-event cicles: %v\n%s", err, out)
	}
}

// older reports whether the Go release v, such as go1.26.8, is before w.
func older(v, w string) bool {
	num := func(s string) (n [3]int) {
		s, _, _ = strings.Cut(strings.TrimPrefix(s, "go"), "-")
		for i, part := range strings.SplitN(s, ".", len(n)) {
			n[i], _ = strconv.Atoi(part) // 0 for the 27rc1 of go1.27rc1: good enough here
		}
		return n
	}
	a, b := num(v), num(w)
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// inPath returns stock Go with a link or script to the fork, made by make, of the
// name file in PATH, and with the given GOTOOLCHAIN.
func inPath(t *testing.T, file, setting string, make func(path string) error) tool.Toolchain {
	dir := t.TempDir()
	if err := make(filepath.Join(dir, file)); err != nil {
		t.Fatal(err)
	}
	tc := stock(t)
	tc.Env = []string{
		"PATH=" + dir + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"GOTOOLCHAIN=" + setting,
	}
	return tc
}

// forkLink returns the fork, its name, and what makes a link to its go command.
func forkLink(t *testing.T) (fork tool.Toolchain, name string, link func(path string) error) {
	fork = tool.MustFork(t)
	return fork, must(t, fork, ".", "env", "GOVERSION"), func(path string) error { return os.Symlink(fork.Go(), path) }
}

// TestGOTOOLCHAIN tests that the stock go command finds the fork by its name in
// PATH, as a symbolic link and as a script.
func TestGOTOOLCHAIN(t *testing.T) {
	fork, name, link := forkLink(t)
	script := func(path string) error {
		return os.WriteFile(path, []byte("#!/bin/sh\nexec '"+fork.Go()+"' \"$@\"\n"), 0o755)
	}
	for _, tt := range []struct {
		name string
		make func(string) error
	}{{"link", link}, {"script", script}} {
		t.Run(tt.name, func(t *testing.T) {
			tc := inPath(t, name, name, tt.make)
			if out := must(t, tc, ".", "version"); !strings.Contains(out, " "+name+" ") {
				t.Errorf("go version: %s", out)
			}
			if out := must(t, tc, ".", "env", "GOROOT"); out != fork.Goroot {
				t.Errorf("GOROOT is %s, want %s", out, fork.Goroot)
			}
			out := must(t, tc, ".", "run", ".", "-event", "task-clock", "-o", os.DevNull)
			if out != "sampling task-clock" {
				t.Errorf("go run: %s", out)
			}
		})
	}
}

// TestToolchainLine tests that a go.mod may ask for the fork, where GOTOOLCHAIN allows
// that: path, like auto, looks in PATH, and does not download. It is a lower bound:
// stock Go of the same release or a later one runs itself.
func TestToolchainLine(t *testing.T) {
	_, name, link := forkLink(t)
	want := name
	if v := must(t, stock(t), ".", "env", "GOVERSION"); !older(v, name) {
		want = v
	}
	dir := t.TempDir()
	mod := "module m\n\ngo 1.21\n\ntoolchain " + name + "\n"
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o666); err != nil {
		t.Fatal(err)
	}
	if out := must(t, inPath(t, name, "path", link), dir, "version"); !strings.Contains(out, " "+want+" ") {
		t.Errorf("go version: %s, want %s", out, want)
	}
}

// TestToolchainRefused tests that the fork runs only by its own name, so that a link
// to another build of it is found out.
func TestToolchainRefused(t *testing.T) {
	_, name, link := forkLink(t)
	other := name + "x"
	for _, tt := range []struct{ file, setting, want string }{
		{other, other, "toolchain " + name + " invoked to provide " + other},
		{"unused", name + "+path", `cannot find "` + name + `" in PATH`},
	} {
		out, err := run(inPath(t, tt.file, tt.setting, link), ".", "version")
		if err == nil || !strings.Contains(out, tt.want) {
			t.Errorf("GOTOOLCHAIN=%s: %v, %q, want %q", tt.setting, err, out, tt.want)
		}
	}
}
