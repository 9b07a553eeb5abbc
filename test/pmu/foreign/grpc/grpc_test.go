// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pmu/foreign/records"
)

const document = "../../../../doc/pmu-tasks.md"

// example returns the code for gRPC of the document.
func example(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)\n### gRPC\n.*?\n```go\n(.*?)```\n").FindSubmatch(b)
	if m == nil {
		t.Fatal("the document has no code for gRPC")
	}
	return string(m[1])
}

// build builds the program with the document's code and returns its file. That code is
// nowhere else, so it can't be other than what users read.
func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	here, err := filepath.Abs("example.go")
	if err != nil {
		t.Fatal(err)
	}
	there := filepath.Join(dir, "example.go")
	if err := os.WriteFile(there, []byte("package main\n\n"+example(t)), 0o666); err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{here: there}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o666); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "exe")
	for _, args := range [][]string{
		{"vet", "-tags=example", "-overlay=" + file, "."},
		{"build", "-buildvcs=false", "-tags=example", "-overlay=" + file, "-o", exe, "."},
	} {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", args[0], err, out)
		}
	}
	if out, err := exec.Command("gofmt", "-l", there).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("the document's code is not formatted: %v %s", err, out)
	}
	return exe
}

// run runs a server and a client in processes of their own, and returns their records, in
// the order of their clocks.
func run(t *testing.T, exe string) (client, server []records.Task) {
	t.Helper()
	var errs bytes.Buffer
	srv := exec.Command(exe)
	srv.Stderr = &errs
	in, err := srv.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := srv.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	defer srv.Wait()
	defer srv.Process.Kill()
	out := bufio.NewReader(stdout)
	address, err := out.ReadString('\n')
	if err != nil {
		t.Fatalf("server: %v\n%s", err, &errs)
	}
	b, err := exec.Command(exe, strings.TrimSpace(address)).CombinedOutput()
	if err := json.Unmarshal(b, &client); err != nil {
		t.Fatalf("client: %v\n%s", err, b)
	}
	// All calls were made twice, and each is two tasks on the server.
	fmt.Fprintln(in, 2*2*served(client))
	if err := json.NewDecoder(out).Decode(&server); err != nil {
		t.Fatalf("server: %v\n%s", err, &errs)
	}
	byBegin := func(id uint16) func(a, b records.Task) int {
		return func(a, b records.Task) int { return int(a.Before[id]) - int(b.Before[id]) }
	}
	slices.SortFunc(client, byBegin(clientID))
	slices.SortFunc(server, byBegin(serverID))
	return client, server
}

// served returns how many of the client's tasks are calls that came to the server.
func served(client []records.Task) (n int) {
	for _, c := range client {
		if c.Client && c.Notes["code"] != refused {
			n++
		}
	}
	return n
}

const (
	canceled = "Canceled"
	refused  = "Aborted"
)

// TestGRPC tests the document's example in its four directions: a server's task is a child
// of the client's call, knows what had happened before that, and has happened before what comes
// after its answer.
func TestGRPC(t *testing.T) {
	client, server := run(t, build(t))
	bySpan := make(map[string]records.Task)
	var root records.Task
	for _, c := range client {
		if !c.Client {
			root = c
		}
	}
	if root.Kind != "client" {
		t.Fatalf("the client's task is not among %+v", client)
	}
	unnamed := 0
	parents := make(map[string]bool)
	for _, s := range server {
		if s.Kind != "work" {
			parents[s.Span] = true
		}
	}
	for _, s := range server {
		if s.Kind == "work" {
			if !parents[s.Parent] {
				t.Errorf("a method did not find the call's task in its context: %+v", s)
			}
			continue
		}
		if !s.ServerOf {
			t.Errorf("the task %q works on no call", s.Kind)
		}
		if s.Trace != root.Trace {
			unnamed++ // it was called before the client recorded anything
			continue
		}
		bySpan[s.Parent] = s
	}
	if calls := served(client); unnamed != calls || len(bySpan) != calls {
		t.Errorf("%d calls without a task, of %d and %d tasks on the server", calls, unnamed, len(bySpan))
	}

	overlaps := false
	type pair struct{ call, served records.Task }
	var before []pair
	for _, c := range client {
		if !c.Client {
			continue
		}
		code := c.Notes["code"]
		if want := code != "OK"; c.Failed != want {
			t.Errorf("%s: code %q, failed %v", c.Kind, code, c.Failed)
		}
		if code == refused {
			continue
		}
		s, ok := bySpan[c.Span]
		if !ok || c.Kind != "call "+s.Kind || c.Parent != root.Span || c.Trace != root.Trace {
			t.Errorf("the server has %+v for the call %+v", s, c)
			continue
		}
		t.Logf("%-50s %-9s client %v to %v, server %v to %v", s.Kind, code, c.Before, c.After, s.Before, s.After)

		// What the client sends, the server has received.
		if !s.Before.Knows(clientID) || !c.Before.Before(s.Before) {
			t.Errorf("%s: began at %v, which does not know %v", s.Kind, s.Before, c.Before)
		}
		// What the server replies, the client has received, unless it did not wait.
		if s.After.Before(c.After) == (code == canceled) {
			t.Errorf("%s: the call ended at %v, and the server's task at %v; code %s", s.Kind, c.After, s.After, code)
		}
		if code != canceled && (s.Failed != c.Failed || s.Notes["code"] != code) {
			t.Errorf("%s: code %q, failed %v; the client has code %q", s.Kind, s.Notes["code"], s.Failed, code)
		}
		// So calls that follow each other do so by the server's clocks, and those don't of which
		// one began while the other went on.
		for _, b := range before {
			if b.call.Notes["code"] == canceled {
				continue // who knows when that ended
			}
			overlap := b.call.After[clientID] > c.Before[clientID]
			if b.served.After.Before(s.Before) == overlap {
				t.Errorf("%s %v to %v, then %s %v to %v; overlap %v", b.served.Kind, b.served.Before, b.served.After,
					s.Kind, s.Before, s.After, overlap)
			}
			overlaps = overlaps || overlap
		}
		before = append(before, pair{c, s})
	}
	if !overlaps {
		t.Error("no two calls were open at a time")
	}
}
