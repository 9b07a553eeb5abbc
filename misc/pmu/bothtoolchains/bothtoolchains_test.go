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
)

// A toolchain is a go command, and the environment in which it runs.
type toolchain struct {
	cmd string
	env []string
}

// run runs the go command in dir and returns its standard output and error.
func (tc toolchain) run(dir string, args ...string) (string, error) {
	cmd := exec.Command(tc.cmd, args...)
	cmd.Dir = dir
	// The go command of a test sets GOROOT and, if it was chosen by
	// GOTOOLCHAIN, changes PATH: neither is for another one.
	for _, kv := range os.Environ() {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "GOROOT", "GOFLAGS", "GOEXPERIMENT", "GOTOOLDIR":
		default:
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "GOWORK=off", "GOTOOLCHAIN=local", "GO111MODULE=on")
	cmd.Env = append(cmd.Env, tc.env...)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// must is run for a command that has to succeed.
func (tc toolchain) must(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := tc.run(dir, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", tc.cmd, strings.Join(args, " "), err, out)
	}
	return out
}

const forkSuffix = "-pmu"

// fork returns the toolchain that make.bash builds.
func fork(t *testing.T) toolchain {
	t.Helper()
	cmd, err := filepath.Abs("../../../goroot/bin/go")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(cmd); err != nil {
		t.Fatalf("%v: run ./make.bash first", err)
	}
	return toolchain{cmd: cmd}
}

// stock returns a toolchain that is not the fork: the one that runs the test,
// or else one in PATH.
func stock(t *testing.T) toolchain {
	t.Helper()
	candidates := []string{filepath.Join(runtime.GOROOT(), "bin", "go")}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		candidates = append(candidates, filepath.Join(dir, "go"))
	}
	for _, cmd := range candidates {
		tc := toolchain{cmd: cmd}
		if v, err := tc.run(".", "env", "GOVERSION"); err == nil && !strings.HasSuffix(v, forkSuffix) {
			return tc
		}
	}
	t.Fatal("no stock Go: neither the go command that runs this test nor any in PATH")
	return toolchain{}
}

// forkName returns the fork's name, such as go1.27.4-pmu.
func forkName(t *testing.T) string {
	t.Helper()
	name := fork(t).must(t, ".", "env", "GOVERSION")
	if !strings.HasSuffix(name, forkSuffix) {
		t.Fatalf("goroot/bin/go is %s, not the fork", name)
	}
	return name
}

// profileType runs the program as built by tc and returns what it says, and
// what the profile is of, according to go tool pprof.
func profileType(t *testing.T, tc toolchain, event string) (says, typ string) {
	t.Helper()
	dir := t.TempDir()
	exe, prof := filepath.Join(dir, "exe"), filepath.Join(dir, "cpu.pprof")
	tc.must(t, ".", "build", "-o", exe, ".")
	out, err := exec.Command(exe, "-event", event, "-o", prof).CombinedOutput()
	if err != nil {
		t.Fatalf("-event %s: %v\n%s", event, err, out)
	}
	top := tc.must(t, ".", "tool", "pprof", "-top", exe, prof)
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
	tc.must(t, ".", "vet", ".")
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
	tc := fork(t)
	tc.must(t, ".", "vet", ".")
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

	// Not every machine has cycles: either they are sampled, or it is said
	// that they are not.
	says, typ := profileType(t, tc, "cycles")
	t.Logf("cycles: %q, type %s", says, typ)
	switch {
	case says == "sampling cycles" && typ == "cycles":
	case strings.HasPrefix(says, "sampling timer instead of cycles: cpu profile: event cycles: ") && typ == "cpu":
	default:
		t.Errorf("-event cycles: says %q, the profile is of %q", says, typ)
	}

	out, err := tc.run(".", "run", ".", "-event", "cicles", "-o", os.DevNull)
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

// TestGOTOOLCHAIN tests that the stock go command finds the fork by its name in
// PATH, as a symbolic link and as a script.
func TestGOTOOLCHAIN(t *testing.T) {
	name := forkName(t)
	goroot := filepath.Dir(filepath.Dir(fork(t).cmd))

	// inPath returns stock Go with file in PATH, as what make makes it.
	inPath := func(t *testing.T, file, setting string, make func(path string) error) toolchain {
		dir := t.TempDir()
		if err := make(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
		tc := stock(t)
		tc.env = []string{
			"PATH=" + dir + string(filepath.ListSeparator) + os.Getenv("PATH"),
			"GOTOOLCHAIN=" + setting,
		}
		return tc
	}
	link := func(path string) error { return os.Symlink(fork(t).cmd, path) }
	script := func(path string) error {
		return os.WriteFile(path, []byte("#!/bin/sh\nexec '"+fork(t).cmd+"' \"$@\"\n"), 0o755)
	}

	for _, tt := range []struct {
		name string
		make func(string) error
	}{{"link", link}, {"script", script}} {
		t.Run(tt.name, func(t *testing.T) {
			tc := inPath(t, name, name, tt.make)
			if out := tc.must(t, ".", "version"); !strings.Contains(out, " "+name+" ") {
				t.Errorf("go version: %s", out)
			}
			if out := tc.must(t, ".", "env", "GOROOT"); out != goroot {
				t.Errorf("GOROOT is %s, want %s", out, goroot)
			}
			out := tc.must(t, ".", "run", ".", "-event", "task-clock", "-o", os.DevNull)
			if out != "sampling task-clock" {
				t.Errorf("go run: %s", out)
			}
		})
	}

	// A go.mod may ask for it, where GOTOOLCHAIN allows that: path, as auto,
	// looks in PATH, and does not download. It is a lower bound: stock Go of
	// the same release or a later one goes on by itself.
	t.Run("go.mod", func(t *testing.T) {
		tc := inPath(t, name, "path", link)
		want := name
		if v := stock(t).must(t, ".", "env", "GOVERSION"); !older(v, name) {
			want = v
		}
		dir := t.TempDir()
		mod := "module m\n\ngo 1.21\n\ntoolchain " + name + "\n"
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o666); err != nil {
			t.Fatal(err)
		}
		if out := tc.must(t, dir, "version"); !strings.Contains(out, " "+want+" ") {
			t.Errorf("go version: %s, want %s", out, want)
		}
	})

	// Only by its own name, so that a link to the next build of the fork, or
	// to the wrong one, is found out.
	t.Run("other name", func(t *testing.T) {
		other := name + "x"
		out, err := inPath(t, other, other, link).run(".", "version")
		if want := "toolchain " + name + " invoked to provide " + other; err == nil || !strings.Contains(out, want) {
			t.Errorf("go version: %v, %q, want %q", err, out, want)
		}
	})
	t.Run("not in PATH", func(t *testing.T) {
		tc := inPath(t, "unused", name+"+path", link)
		out, err := tc.run(".", "version")
		if want := `cannot find "` + name + `" in PATH`; err == nil || !strings.Contains(out, want) {
			t.Errorf("go version: %v, %q, want %q", err, out, want)
		}
	})
}
