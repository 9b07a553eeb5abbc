// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestOpenTelemetry runs the document's code, which is nowhere else: a task has the trace of the
// span in its request's context, and one of its own where there is none.
func TestOpenTelemetry(t *testing.T) {
	b, err := os.ReadFile("../../../../doc/pmu-tasks.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)\n### OpenTelemetry\n.*?\n```go\n(.*?)```\n").FindSubmatch(b)
	if m == nil {
		t.Fatal("the document has no code for OpenTelemetry")
	}
	dir := t.TempDir()
	here, err := filepath.Abs("example.go")
	if err != nil {
		t.Fatal(err)
	}
	there, file := filepath.Join(dir, "example.go"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(there, []byte("package main\n\n"+string(m[1])), 0o666); err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{here: there}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, overlay, 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gofmt", "-l", there).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("the document's code is not formatted: %v %s", err, out)
	}
	if out, err := exec.Command("go", "vet", "-tags=example", "-overlay="+file, ".").CombinedOutput(); err != nil {
		t.Fatalf("go vet: %v\n%s", err, out)
	}
	out, err := exec.Command("go", "run", "-tags=example", "-overlay="+file, ".").Output()
	if err != nil {
		t.Fatalf("go run: %v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 2 {
		t.Fatalf("records %q", lines)
	}
	if want := `{"kind":"GET /{name}","parent":"0400000000000005","trace":"01020000000000000000000000000003"}`; lines[0] != want {
		t.Errorf("record %s, want %s", lines[0], want)
	}
	if !strings.Contains(lines[1], `"parent":""`) || strings.Contains(lines[1], "01020000000000000000000000000003") {
		t.Errorf("a request without a span: %s", lines[1])
	}
}
