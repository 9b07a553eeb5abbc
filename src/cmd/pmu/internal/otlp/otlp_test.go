// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package otlp

import (
	"bytes"
	"encoding/json"
	"flag"
	"internal/taskrecord"
	"io"
	"math/rand"
	"os"
	"reflect"
	"regexp"
	"runtime/pprof"
	"slices"
	"strconv"
	"testing"
	"testing/quick"
	"time"
)

var update = flag.Bool("update", false, "write testdata/otlp.json")

// twoServers are a client and a server, of one request, on two servers.
func twoServers() []*taskrecord.Record {
	front := &taskrecord.Server{ID: 1, Name: "front", PID: 100, Start: 1_700_000_000_000_000_000}
	back := &taskrecord.Server{ID: 2, Name: "back", PID: 200, Start: 1_700_000_000_000_000_001}
	trace := taskrecord.TraceID{0: 0x5b, 15: 0x0c}
	root, client, server := taskrecord.SpanID{0: 0xee, 7: 1}, taskrecord.SpanID{0: 0xee, 7: 2}, taskrecord.SpanID{0: 0xee, 7: 3}
	start := front.Start + 1e9
	return []*taskrecord.Record{
		{
			Server: front, Trace: trace, Span: root, Kind: "GET /",
			Flags: taskrecord.Sampled | taskrecord.Slow | taskrecord.ServerOf | taskrecord.Failed, Start: start, Wall: 5000,
			Goroutine: 7, Goroutines: 2, Threshold: 4000,
			Events: []string{"cycles", "faults"},
			Usage: taskrecord.Usage{
				Parts:    [taskrecord.NumParts]time.Duration{pprof.TimeRunning: 1000, pprof.TimeMutex: 3000, pprof.TimeStopTheWorld: 10},
				Switches: 3, Count: []pprof.CounterValue{{Value: 1 << 63, Enabled: 9, Running: 8}, {Value: 0, Enabled: 9, Running: 9}},
			},
			Notes: []taskrecord.Note{{Key: "status", Value: "503"}, {Key: "user", Value: "<a>"}, {Key: "user", Value: "b"}, {Key: "go.slow", Value: "note"}},
			Calls: []taskrecord.Call{{Span: client, Kind: "back", Flags: taskrecord.Client, Start: 100, Wall: 2000, Remote: "[::1]:8080"}},
			Timeline: []taskrecord.Stretch{
				{Goroutine: 7, Region: "db", Start: 50, Wake: 3500, End: 3500},
				{
					Goroutine: 7, Part: pprof.TimeMutex, Reason: "sync.Mutex.Lock", Start: 200, Wake: 3200, End: 3300,
					Stack:      []taskrecord.Frame{{Func: "sync.(*Mutex).Lock", File: "mutex.go", Line: 45}, {Func: "main.get", File: "main.go", Line: 7}},
					Waker:      taskrecord.Waker{Goroutine: 8, Span: taskrecord.SpanID{7: 9}, Kind: "flush", Stack: []taskrecord.Frame{{Func: "main.put", File: "main.go", Line: 20}}},
					BehindKind: "report", Behind: 60, Stopped: 10, StopReason: "GC",
				},
			},
			Lost: taskrecord.Lost{Stretches: 4, Memory: 1, Notes: 2, Before: 3},
		},
		{
			Server: back, Trace: trace, Span: server, Parent: client, Kind: "GET /item",
			Flags: taskrecord.Sampled | taskrecord.ServerOf, Start: start + 300, Wall: 1500,
			Notes: []taskrecord.Note{{Key: "status", Value: "none"}},
		},
		{
			Server: front, Trace: trace, Span: client, Parent: root, Kind: "back",
			Flags: taskrecord.Sampled | taskrecord.Client, Start: start + 100, Wall: 2000,
		},
	}
}

// TestGolden compares with a file that was checked by hand against trace.proto.
func TestGolden(t *testing.T) {
	var buf bytes.Buffer
	if err := Write(&buf, slices.Values(twoServers())); err != nil {
		t.Fatal(err)
	}
	const name = "testdata/otlp.json"
	if *update {
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

func seenOf(t *testing.T, tasks ...*taskrecord.Record) *seenRequest {
	t.Helper()
	var buf bytes.Buffer
	if err := Write(&buf, slices.Values(tasks)); err != nil {
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

// anyTask returns a task with anything in it.
func anyTask(r *rand.Rand) *taskrecord.Record {
	v, _ := quick.Value(reflect.TypeFor[taskrecord.Record](), r)
	t := v.Interface().(taskrecord.Record)
	return &t
}

// someTask returns a task of a server whose times are as they can be.
func someTask(r *rand.Rand) *taskrecord.Record {
	t := anyTask(r)
	t.Server = &taskrecord.Server{ID: uint16(r.Intn(10)), PID: 1 + r.Intn(1<<22), Start: 1_700_000_000_000_000_000}
	t.Kind = []string{"", "GET /", "<a>&\"\x00\x1b", "\xff\xfe", "\u2028"}[r.Intn(5)]
	t.Start = t.Server.Start + r.Int63n(1e15)
	t.Wall = time.Duration(1 + r.Int63n(1e9))
	for i := range t.Timeline {
		s := &t.Timeline[i]
		s.Start = time.Duration(r.Int63n(int64(t.Wall)))
		s.Wake = s.Start + time.Duration(r.Int63n(int64(t.Wall-s.Start)))
		s.End = s.Wake + time.Duration(r.Int63n(int64(t.Wall-s.Wake)))
		s.Region = []string{"", "", "db"}[r.Intn(3)]
	}
	return t
}

func TestRandom(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	id := regexp.MustCompile(`^[0-9a-f]+$`)
	for range 30 {
		var tasks []*taskrecord.Record
		for i := range 10 {
			tasks = append(tasks, someTask(r))
			if i > 0 && r.Intn(3) != 0 {
				tasks[i].Server = tasks[i-1].Server
			}
		}
		tasks[3].Trace, tasks[4].Span, tasks[5].Parent = taskrecord.TraceID{}, taskrecord.SpanID{}, taskrecord.SpanID{}
		seen := seenOf(t, tasks...)

		servers := make(map[*taskrecord.Server]bool)
		regions, events := 0, 0
		for _, task := range tasks {
			servers[task.Server] = true
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
		seenOf(t, anyTask(r), &taskrecord.Record{})
	}
}

// TestSpans checks what is what for a request over two servers.
func TestSpans(t *testing.T) {
	spans := make(map[string]*seenSpan)
	service := make(map[string]any)
	for _, rs := range seenOf(t, twoServers()...).ResourceSpans {
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

// TestWriteError has the writer fail.
func TestWriteError(t *testing.T) {
	r, w := io.Pipe()
	r.Close()
	if err := Write(w, slices.Values(twoServers())); err == nil {
		t.Error("no error")
	}
	if len(seenOf(t).ResourceSpans) != 0 {
		t.Error("resources of no tasks")
	}
}

// TestLost fails if something that a record has lost is lost without a word.
func TestLost(t *testing.T) {
	write := func(l taskrecord.Lost) string {
		var buf bytes.Buffer
		if err := Write(&buf, slices.Values([]*taskrecord.Record{{Lost: l}})); err != nil {
			t.Fatal(err)
		}
		return buf.String()
	}
	nothing := write(taskrecord.Lost{})
	for _, f := range taskrecord.AllLost {
		var l taskrecord.Lost
		*f.Of(&l) = 1
		if write(l) == nothing {
			t.Errorf("%s is not exported", f.Column)
		}
	}
}
