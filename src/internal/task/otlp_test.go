// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"regexp"
	"runtime/pprof"
	"slices"
	"strconv"
	"testing"
	"time"
)

var updateOTLP = flag.Bool("update-otlp", false, "write testdata/otlp.json")

// otlpTasks are a client and a server, of one request, on two servers.
func otlpTasks() []*Task {
	front := &Server{ID: 1, Name: "front", PID: 100, Start: 1_700_000_000_000_000_000}
	back := &Server{ID: 2, Name: "back", PID: 200, Start: 1_700_000_000_000_000_001}
	trace := TraceID{0: 0x5b, 15: 0x0c}
	root, client, server := SpanID{0: 0xee, 7: 1}, SpanID{0: 0xee, 7: 2}, SpanID{0: 0xee, 7: 3}
	start := front.Start + 1e9
	return []*Task{
		{
			Server: front, Trace: trace, Span: root, Kind: "GET /",
			Flags: Sampled | Slow | ServerOf | Failed, Start: start, Wall: 5000,
			Goroutine: 7, Goroutines: 2, Threshold: 4000,
			Events: []string{"cycles", "faults"},
			Usage: Usage{
				Parts:    [NumParts]time.Duration{pprof.TimeRunning: 1000, pprof.TimeMutex: 3000, pprof.TimeStopTheWorld: 10},
				Switches: 3, Count: []Count{{1 << 63, 9, 8}, {0, 9, 9}},
			},
			Notes: []Note{{"status", "503"}, {"user", "<a>"}, {"user", "b"}, {"go.slow", "note"}},
			Calls: []Call{{Span: client, Kind: "back", Flags: Client, Start: 100, Wall: 2000, Remote: "[::1]:8080"}},
			Timeline: []Stretch{
				{Goroutine: 7, Region: "db", Start: 50, Wake: 3500, End: 3500},
				{
					Goroutine: 7, Part: pprof.TimeMutex, Reason: "sync.Mutex.Lock", Start: 200, Wake: 3200, End: 3300,
					Stack:      []Frame{{"sync.(*Mutex).Lock", "mutex.go", 45}, {"main.get", "main.go", 7}},
					Waker:      Waker{Goroutine: 8, Span: SpanID{7: 9}, Kind: "flush", Stack: []Frame{{"main.put", "main.go", 20}}},
					BehindKind: "report", Behind: 60, Stopped: 10, StopReason: "GC",
				},
			},
			Lost: Lost{Stretches: 4, Memory: 1, Notes: 2, Before: 3},
		},
		{
			Server: back, Trace: trace, Span: server, Parent: client, Kind: "GET /item",
			Flags: Sampled | ServerOf, Start: start + 300, Wall: 1500,
			Notes: []Note{{"status", "none"}},
		},
		{
			Server: front, Trace: trace, Span: client, Parent: root, Kind: "back",
			Flags: Sampled | Client, Start: start + 100, Wall: 2000,
		},
	}
}

// TestOTLPGolden compares with a file that was checked by hand against trace.proto.
func TestOTLPGolden(t *testing.T) {
	var buf bytes.Buffer
	if err := WriteOTLP(&buf, slices.Values(otlpTasks())); err != nil {
		t.Fatal(err)
	}
	const name = "testdata/otlp.json"
	if *updateOTLP {
		var indented bytes.Buffer
		if err := json.Indent(&indented, buf.Bytes(), "", "\t"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, indented.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var got, want bytes.Buffer
	if err := json.Compact(&want, golden); err != nil {
		t.Fatal(err)
	}
	if err := json.Compact(&got, buf.Bytes()); err != nil {
		t.Fatal(err)
	}
	if g, w := bytes.TrimSpace(got.Bytes()), bytes.TrimSpace(want.Bytes()); !bytes.Equal(g, w) {
		i := 0
		for i < min(len(g), len(w)) && g[i] == w[i] {
			i++
		}
		t.Errorf("differs from %s at\n%.200s\nwant\n%.200s", name, g[max(0, i-50):], w[max(0, i-50):])
	}
}

// What receivers see. Fields that are unknown to it fail.
type (
	seenAttr struct {
		Key   string
		Value map[string]any
	}
	seenSpan struct {
		TraceID, SpanID, ParentSpanID      string
		Flags                              uint32
		Name                               string
		Kind                               int
		StartTimeUnixNano, EndTimeUnixNano string
		Attributes                         []seenAttr
		DroppedAttributesCount             uint32
		Events                             []struct {
			TimeUnixNano, Name string
			Attributes         []seenAttr
		}
		DroppedEventsCount uint32
		Status             struct{ Code int }
	}
	seenRequest struct {
		ResourceSpans []struct {
			Resource   struct{ Attributes []seenAttr }
			ScopeSpans []struct {
				Scope struct{ Name string }
				Spans []seenSpan
			}
		}
	}
)

func otlpSeen(t *testing.T, tasks ...*Task) *seenRequest {
	t.Helper()
	var buf bytes.Buffer
	if err := WriteOTLP(&buf, slices.Values(tasks)); err != nil {
		t.Fatal(err)
	}
	var seen seenRequest
	d := json.NewDecoder(&buf)
	d.DisallowUnknownFields()
	if err := d.Decode(&seen); err != nil {
		t.Fatal(err)
	}
	return &seen
}

// checkAttrs checks that keys are unique, and 64-bit numbers strings.
func checkAttrs(t *testing.T, attrs []seenAttr) map[string]any {
	t.Helper()
	m := make(map[string]any)
	for _, a := range attrs {
		if _, ok := m[a.Key]; ok || a.Key == "" {
			t.Errorf("attribute %q is there twice or has no key", a.Key)
		}
		if len(a.Value) != 1 {
			t.Errorf("attribute %q is %v", a.Key, a.Value)
		}
		for typ, v := range a.Value {
			m[a.Key] = v
			if typ == "intValue" {
				s, ok := v.(string)
				if _, err := strconv.ParseInt(s, 10, 64); !ok || err != nil {
					t.Errorf("attribute %q is %v", a.Key, v)
				}
			}
		}
	}
	return m
}

func TestOTLP(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	id := regexp.MustCompile(`^[0-9a-f]+$`)
	for range 30 {
		tasks := manyTasks(r, 10, randomTask)
		tasks[3].Trace, tasks[4].Span, tasks[5].Parent = TraceID{}, SpanID{}, SpanID{}
		seen := otlpSeen(t, tasks...)

		servers := make(map[*Server]bool)
		want, regions, events := make(map[string]*Task), 0, 0
		for _, task := range tasks {
			servers[task.Server] = true
			want[fmt.Sprint(task.Start, task.Kind)] = task
			for _, s := range task.Timeline {
				if s.Region != "" {
					regions++
				} else {
					events++
				}
			}
		}
		if len(seen.ResourceSpans) != len(servers) {
			t.Fatalf("%d resources, want %d", len(seen.ResourceSpans), len(servers))
		}
		spans := make(map[string]*seenSpan)
		for _, rs := range seen.ResourceSpans {
			a := checkAttrs(t, rs.Resource.Attributes)
			if a["service.name"] == nil || a["service.instance.id"] == nil || a["process.pid"] == nil {
				t.Errorf("resource %v", a)
			}
			for _, s := range rs.ScopeSpans[0].Spans {
				if len(s.TraceID) != 32 || len(s.SpanID) != 16 || !id.MatchString(s.TraceID+s.SpanID) || spans[s.SpanID] != nil {
					t.Fatalf("IDs %q, %q", s.TraceID, s.SpanID)
				}
				spans[s.SpanID] = &s
				start, err1 := strconv.ParseUint(s.StartTimeUnixNano, 10, 64)
				end, err2 := strconv.ParseUint(s.EndTimeUnixNano, 10, 64)
				if err1 != nil || err2 != nil || end < start {
					t.Errorf("times %q, %q", s.StartTimeUnixNano, s.EndTimeUnixNano)
				}
				checkAttrs(t, s.Attributes)
				events -= len(s.Events)
				for _, e := range s.Events {
					checkAttrs(t, e.Attributes)
					if at, err := strconv.ParseUint(e.TimeUnixNano, 10, 64); err != nil || at < start || at > end {
						t.Errorf("event at %q, span from %q to %q", e.TimeUnixNano, s.StartTimeUnixNano, s.EndTimeUnixNano)
					}
				}
			}
		}
		if len(spans) != len(tasks)+regions || events != 0 {
			t.Fatalf("%d spans of %d tasks and %d regions; %d events are missing", len(spans), len(tasks), regions, events)
		}
		children := 0
		for _, s := range spans {
			if p := spans[s.ParentSpanID]; p != nil {
				children++
				if p.TraceID != s.TraceID || p.StartTimeUnixNano > s.StartTimeUnixNano || p.EndTimeUnixNano < s.EndTimeUnixNano {
					t.Errorf("region %v is not within %v", s, p)
				}
			}
		}
		if children != regions {
			t.Errorf("%d regions have a parent, of %d", children, regions)
		}
	}
	for range 20 {
		otlpSeen(t, anyTask(r), &Task{})
	}
}

// TestOTLPSpans checks what is what for a request over two servers.
func TestOTLPSpans(t *testing.T) {
	spans := make(map[string]*seenSpan)
	service := make(map[string]any)
	for _, rs := range otlpSeen(t, otlpTasks()...).ResourceSpans {
		for _, s := range rs.ScopeSpans[0].Spans {
			spans[s.Name] = &s
			service[s.Name] = checkAttrs(t, rs.Resource.Attributes)["service.name"]
		}
	}
	for _, test := range []struct {
		name, parent, service string
		kind                  int
		flags                 uint32
		status                int
	}{
		{"GET /", "", "front", 2, 1, 2},
		{"db", "GET /", "front", 1, 0x101, 0},
		{"back", "GET /", "front", 3, 0x101, 0},
		{"GET /item", "back", "back", 2, 0x301, 0},
	} {
		s := spans[test.name]
		parent := ""
		if test.parent != "" {
			parent = spans[test.parent].SpanID
		}
		if s.ParentSpanID != parent || service[s.Name] != test.service || s.Kind != test.kind || s.Flags != test.flags || s.Status.Code != test.status {
			t.Errorf("%s: %+v of %v, want %+v", test.name, s, service[s.Name], test)
		}
	}
	a := checkAttrs(t, spans["GET /"].Attributes)
	for key, want := range map[string]any{
		"go.time.running": "1000", "go.time.mutex": "3000", "go.time.stop_the_world": "10", "go.time.chan": nil,
		"go.count.cycles": "9223372036854775807", "go.count.cycles.running": "8", "go.count.faults": "0",
		"http.response.status_code": "503", "status": nil, "go.slow": true, "note.go.slow": "note",
	} {
		if a[key] != want {
			t.Errorf("%s is %v, want %v", key, a[key], want)
		}
	}
	if s := spans["GET /"]; s.DroppedEventsCount != 5 || s.DroppedAttributesCount != 2 {
		t.Errorf("dropped %d, %d", s.DroppedEventsCount, s.DroppedAttributesCount)
	}
	if a := checkAttrs(t, spans["back"].Attributes); a["server.address"] != "::1" || a["server.port"] != "8080" {
		t.Errorf("the call's server is %v:%v", a["server.address"], a["server.port"])
	}
	if a := checkAttrs(t, spans["GET /item"].Attributes); a["status"] != "none" {
		t.Errorf("status %v", a["status"])
	}
	e := spans["GET /"].Events[0]
	ea := checkAttrs(t, e.Attributes)
	for key, want := range map[string]any{
		"go.wait.duration": "3000", "go.wait.runnable": "100", "code.function.name": "main.get", "code.line.number": "7",
		"go.waker.kind": "flush", "go.waker.code.function.name": "main.put", "go.behind.kind": "report", "go.stopped.duration": "10",
	} {
		if ea[key] != want {
			t.Errorf("event: %s is %v, want %v", key, ea[key], want)
		}
	}
	if e.Name != "waited: mutex" || e.TimeUnixNano != "1700000001000000200" {
		t.Errorf("event %q at %s", e.Name, e.TimeUnixNano)
	}
}

// TestOTLPErrors has the writer fail.
func TestOTLPErrors(t *testing.T) {
	if err := WriteOTLP(&fullDisk{left: 100}, slices.Values(otlpTasks())); err == nil {
		t.Error("no error")
	}
	if len(otlpSeen(t).ResourceSpans) != 0 {
		t.Error("resources of no tasks")
	}
}
