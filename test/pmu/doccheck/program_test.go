// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package doccheck

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var programs = regexp.MustCompile("(?s)\n```go\n(package main\n.*?)```\n(.*)")

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

const readme = "README.pmu.md"

// programOf returns the whole program of a section of README.pmu.md and the
// commands after it.
func programOf(t *testing.T, heading string) (program, script string) {
	t.Helper()
	m := programs.FindStringSubmatch(section(t, readme, heading))
	if m == nil {
		t.Fatalf("%s: no program under %s", readme, heading)
	}
	return m[1], commands(m[2])
}

// TestFirstMinutes does what README.pmu.md tells a new user to do, from the list
// of events to the first look at a profile.
func TestFirstMinutes(t *testing.T) {
	list := commands(section(t, readme, "What can this machine sample?"))
	if out := shell(t, root, list); !strings.Contains(out, "Verdict: ") {
		t.Errorf("%s\ngave no verdict:\n%s", list, out)
	}

	program, script := programOf(t, "Profile a program")
	dir := t.TempDir()
	writeFile(t, dir, "main.go", program)
	shell(t, dir, script)
	read := commands(section(t, readme, "Read a profile"))
	read = regexp.MustCompile(`(?m)^go tool pprof -http.*$`).ReplaceAllString(read, "") // does not end
	out := shell(t, dir, read)
	for _, want := range []string{"main.work", "event: task-clock"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\ndoes not show %q:\n%s", read, want, out)
		}
	}

	script = strings.Replace(commands(section(t, readme, "Profile a test or benchmark")), "-bench", "-benchtime 10x -bench", 1)
	out = shell(t, dir, script+"\ngo tool pprof -comments test.pprof")
	if !strings.Contains(out, "BenchmarkCodeEncoder") || !strings.Contains(out, "event: task-clock") {
		t.Errorf("%s\ngave\n%s", script, out)
	}
}

// TestServerProgram takes a profile of the server in README.pmu.md, at another
// port and for a second.
func TestServerProgram(t *testing.T) {
	const address = "localhost:6060"
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	free := l.Addr().String()
	l.Close()

	program, script := programOf(t, "Profile a server")
	dir := t.TempDir()
	writeFile(t, dir, "main.go", strings.Replace(program, address, free, 1))
	shell(t, dir, "go mod init server && go build")
	server := exec.Command(filepath.Join(dir, "server"))
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer server.Wait()
	defer server.Process.Kill()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		c, err := net.Dial("tcp", free)
		if err == nil {
			c.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	script = strings.NewReplacer(address, free, "seconds=5", "seconds=1").Replace(script)
	if out := shell(t, dir, script); !strings.Contains(out, "main.compute") {
		t.Errorf("%s\ndoes not show main.compute:\n%s", script, out)
	}
}

func writeFile(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestCountersProgram runs the program of doc/pmu-counters.md. It prints whole
// numbers, without exponents.
func TestCountersProgram(t *testing.T) {
	m := programs.FindStringSubmatch(readFile(t, root+"/doc/pmu-counters.md"))
	if m == nil {
		t.Fatal("doc/pmu-counters.md has no whole program")
	}
	dir := t.TempDir()
	writeFile(t, dir, "main.go", m[1])
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
