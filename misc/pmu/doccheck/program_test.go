// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package doccheck

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var programs = regexp.MustCompile("(?s)\n```go\n(package main\n.*?)```\n(.*)")

// firstProgram returns the first whole program of a document, and the text
// after it.
func firstProgram(t *testing.T, name string) (program, rest string) {
	t.Helper()
	m := programs.FindStringSubmatch(readFile(t, filepath.Join(root, name)))
	if m == nil {
		t.Fatalf("%s has no whole program", name)
	}
	return m[1], m[2]
}

// section returns the part of a document under a heading.
func section(t *testing.T, name, heading string) string {
	t.Helper()
	_, text, ok := strings.Cut(readFile(t, filepath.Join(root, name)), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("%s: no heading %s", name, heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// commands returns the indented lines of a text.
func commands(text string) string {
	var all []string
	for _, line := range strings.Split(text, "\n") {
		if line, ok := strings.CutPrefix(line, "\t"); ok {
			all = append(all, line)
		}
	}
	return strings.Join(all, "\n")
}

// shell runs the commands in dir with the fork's go command, as somebody does
// who has just built it, until one fails.
func shell(t *testing.T, dir, script string) string {
	t.Helper()
	goroot, err := filepath.Abs(root + "/goroot")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "-e", "-c", script)
	cmd.Dir = dir
	for _, kv := range os.Environ() {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "GOROOT", "GOTOOLDIR", "GOFLAGS", "GOOS", "GOARCH", "PWD":
		default:
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "PATH="+goroot+"/bin:"+os.Getenv("PATH"), "GOWORK=off", "GOTOOLCHAIN=local")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s\n%v\n%s", script, err, out)
	}
	return string(out)
}

// TestFirstProgram does what README.pmu.md says, from the list of events to the
// first look at a profile.
func TestFirstProgram(t *testing.T) {
	const readme = "README.pmu.md"
	list := commands(section(t, readme, "What can this machine sample?"))
	if out := shell(t, root, list); !strings.Contains(out, "Verdict: ") {
		t.Errorf("%s\ngave no verdict:\n%s", list, out)
	}

	program, rest := firstProgram(t, readme)
	rest, _, ok := strings.Cut(rest, "\nFrom tests and benchmarks:")
	if !ok {
		t.Fatalf("%s: no end of what is about the first program", readme)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	shell(t, dir, commands(rest))

	look := commands(section(t, readme, "Look at it"))
	for _, want := range []string{"go tool pprof -http", "go tool pprof -top", "go tool pprof -comments"} {
		if !strings.Contains(look, want) {
			t.Errorf("%s: no %s", readme, want)
		}
	}
	look = regexp.MustCompile(`(?m)^go tool pprof -http.*$`).ReplaceAllString(look, "") // has no end
	out := shell(t, dir, look)
	for _, want := range []string{"main.work", "event: task-clock"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\ndoes not show %q:\n%s", look, want, out)
		}
	}
}

// TestCountersProgram runs the program of doc/pmu-counters.md. It prints whole
// numbers, without exponents.
func TestCountersProgram(t *testing.T) {
	program, _ := firstProgram(t, "doc/pmu-counters.md")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	out := shell(t, dir, "go mod init counted && go build && ./counted")
	if !regexp.MustCompile(`(?m)^task-clock: \d{6,} nanoseconds, exact: true\npage-faults: \d+ count, exact: true\n$`).MatchString(out) {
		t.Errorf("got\n%s", out)
	}
}

// TestWorkedExample tests that the commands of the worked example in
// doc/pmu-counters.md find its benchmark.
func TestWorkedExample(t *testing.T) {
	dollar := regexp.MustCompile(`(?m)^\$ ((?:cd|go) .*)$`)
	var script []string
	for _, m := range dollar.FindAllStringSubmatch(commands(section(t, "doc/pmu-counters.md", "A worked example")), -1) {
		command, _, _ := strings.Cut(m[1], " | ")
		script = append(script, strings.Replace(command, "-count=10", "-count=1 -benchtime=1x", 1))
	}
	out := shell(t, root, strings.Join(script, "\n"))
	if !regexp.MustCompile(`(?m)^BenchmarkCodec/scratch=kept.* page-faults/op\s.* task-clock-ns/op`).MatchString(out) ||
		strings.Contains(out, "e+") {
		t.Errorf("%q gave\n%s", script, out)
	}
}

// TestNoFigures tests that README.pmu.md leaves it to the tool to say how large
// the fork is: what is written there is wrong a week later.
func TestNoFigures(t *testing.T) {
	if m := regexp.MustCompile(`\d+\s+(lines|files)\b`).FindString(readFile(t, root+"/README.pmu.md")); m != "" {
		t.Errorf("README.pmu.md says %q", m)
	}
}
