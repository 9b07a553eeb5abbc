// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskscmd

import (
	"bytes"
	"cmd/pmu/internal/verb"
	"cmd/pmu/internal/whycmd"
	"encoding/binary"
	"internal/taskrecord"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

// planted returns the tasks of 1000 requests on two servers. The back end waits for a mutex in 40. In
// 20 others the front end waits for a channel.
func planted() (front, back []*taskrecord.Record) {
	a := &taskrecord.Server{ID: 1, Name: "front's", PID: 10}
	b := &taskrecord.Server{ID: 2, Name: "back", PID: 20}
	for i := range 1000 {
		own := ms + time.Duration(i%13)*10*time.Microsecond
		mutex, wait := time.Duration(0), time.Duration(0)
		if i%25 == 3 {
			mutex = 20*ms + time.Duration(i)*time.Microsecond
		}
		if i%50 == 13 {
			wait = 5 * ms
		}
		x := &taskrecord.Record{Server: a, Kind: "GET /it's", Span: taskrecord.SpanID{1}, Flags: taskrecord.Sampled, Start: int64(i) * 1e9, Goroutine: 1, Goroutines: 1}
		binary.BigEndian.PutUint64(x.Trace[:], uint64(i+1))
		y := &taskrecord.Record{Server: b, Kind: "stock", Trace: x.Trace, Span: taskrecord.SpanID{3}, Parent: taskrecord.SpanID{2}, Flags: taskrecord.Sampled | taskrecord.ServerOf,
			Start: x.Start + int64(own), Wall: own + mutex, Goroutine: 1, Goroutines: 1}
		y.Parts[pprof.TimeRunning], y.Parts[pprof.TimeMutex] = own, mutex
		x.Calls = []taskrecord.Call{{Span: taskrecord.SpanID{2}, Kind: "GET", Flags: taskrecord.Client, Start: own, Wall: y.Wall, Remote: "back:80"}}
		x.Wall = 2*own + wait + y.Wall
		x.Parts[pprof.TimeRunning], x.Parts[pprof.TimeSelect], x.Parts[pprof.TimeChan] = 2*own, y.Wall, wait
		x.Notes = []taskrecord.Note{{Key: "shard", Value: []string{"a", `b" and "c`}[i%2]}}
		front, back = append(front, x), append(back, y)
	}
	return front, back
}

// TestWhereOfWhy runs the command that go tool pmu why prints for all requests that it is about: they are those that
// something is planted in.
func TestWhereOfWhy(t *testing.T) {
	front, back := planted()
	dir := filepath.Join(t.TempDir(), "a folder")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"1": encode(t, front), "2": encode(t, back), ".hidden": []byte("<")} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	if status := whycmd.Verb.Run(whycmd.Verb, []string{"-p", "0.98", dir}, verb.IO{Stdout: &out, Stderr: &errs}); status != 0 || errs.Len() > 0 {
		t.Fatalf("status %d, %s", status, &errs)
	}
	m := regexp.MustCompile(`(?m)^All of these requests: go (tool pmu tasks (.*))$`).FindStringSubmatch(out.String())
	if m == nil || !strings.HasPrefix(out.String(), "mutex on back/2 (stock) makes the tail") {
		t.Fatalf("no command:\n%s", &out)
	}
	words, err := exec.Command("sh", "-c", `printf '%s\0' `+m[2]).Output()
	if err != nil {
		t.Fatal(err)
	}
	args := strings.Split(strings.TrimSuffix(string(words), "\x00"), "\x00")
	status, got, messages := call(args...)
	if status != 0 || !strings.HasPrefix(messages, "pmu tasks: 40 of 1000 requests: mutex on back/2 (stock) >= ") {
		t.Errorf("%q: status %d, %s", args, status, messages)
	}
	contains(t, "report", got, "80 tasks of 2 kinds on 2 servers", "stock")
}

// TestWhere tests which requests conditions select, and in which formats they are as they were.
func TestWhere(t *testing.T) {
	front, back := planted()
	a, b := write(t, encode(t, front)), write(t, encode(t, back))
	for _, tt := range []struct {
		where, kind string
		requests    string
		tasks       int
	}{
		{"mutex on back/2 (stock) >= 1 ms", "", "40 of 1000", 80},
		{"mutex on back/2 (stock) >= 1 ms and mutex on back/2 (stock) < 20.5", "GET /it's", "20 of 1000", 40},
		{"mutex >= 1 ms", "stock", "40 of 1000", 40},
		{"chan in [1,1000) ms", "", "20 of 1000", 40},
		{`note shard = "b\" and \"c"`, "", "500 of 1000", 1000},
		{`kind = "none"`, "", "0 of 1000", 0},
		{`latency >= 1`, "", "there is no column", 0},
		{`note shard = "a" and note shard = "b"`, "", "nothing meets both", 0},
	} {
		name := filepath.Join(t.TempDir(), "out")
		status, _, errs := call("-where", tt.where, "-kind", tt.kind, "-format", "json", "-o", name, b, a, b)
		want := 0
		if tt.tasks == 0 {
			want = 1
			if !strings.Contains(tt.requests, " of ") {
				want = 2
			}
		}
		if status != want || !strings.Contains(errs, tt.requests) {
			t.Errorf("%s: status %d, %s", tt.where, status, errs)
		}
		data, _ := os.ReadFile(name)
		var lines []string
		if len(data) > 0 {
			lines = strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		}
		if len(lines) != tt.tasks {
			t.Errorf("%s: %d tasks, want %d", tt.where, len(lines), tt.tasks)
		}
		whole := make(map[string]bool)
		for _, x := range append(front, back...) {
			whole[string(taskrecord.AppendJSON(nil, x))] = true
		}
		for _, line := range lines {
			if !whole[line] {
				t.Errorf("%s: a task has changed: %s", tt.where, line)
				break
			}
		}
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "pmu-tasks-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("files are left: %s, %v", left, err)
	}
	_, _, errs := call("-where", "x", "-keep", t.TempDir(), "http://localhost:1/debug/pprof/tasks")
	contains(t, "message", errs, "-keep does not go with -where")
}
