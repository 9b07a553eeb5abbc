// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"bytes"
	"fmt"
	"internal/profile"
	"maps"
	"math/rand"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"
)

func profileOf(t *testing.T, tasks ...*Record) *profile.Profile {
	t.Helper()
	var buf bytes.Buffer
	if err := WriteProfile(&buf, slices.Values(tasks)); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&buf)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// stacksOf returns a line for each sample that is not zero: its stack, the root first,
// and its value.
func stacksOf(p *profile.Profile, typ string) map[string]int64 {
	v := slices.IndexFunc(p.SampleType, func(s *profile.ValueType) bool { return s.Type == typ })
	m := make(map[string]int64)
	for _, s := range p.Sample {
		var names []string
		for _, l := range s.Location {
			f := l.Line[0].Function
			name := f.Name
			if f.Filename != "" {
				name += fmt.Sprintf("@%s:%d", f.Filename, l.Line[0].Line)
			}
			names = append(names, name)
		}
		slices.Reverse(names)
		if s.Label["slow"] != nil {
			names = append(names, "slow="+s.Label["slow"][0])
		}
		if s.Value[v] != 0 {
			m[strings.Join(names, ";")] += s.Value[v]
		}
	}
	return m
}

// profileTask is a task with a bit of everything.
func profileTask() *Record {
	stack := []Frame{{"sync.(*Mutex).Lock", "mutex.go", 45}, {"main.get", "main.go", 7}}
	return &Record{
		Server: &Server{Name: "s"},
		Kind:   "GET /",
		Flags:  Slow,
		Start:  1000, Wall: 500,
		Events: []string{"faults", "task-clock"},
		Usage: Usage{
			Parts: [NumParts]time.Duration{pprof.TimeRunning: 100, pprof.TimeMutex: 70, pprof.TimeRunnable: 40, pprof.TimeChan: 9},
			Count: []pprof.CounterValue{{Value: 11}, {Value: 99}},
		},
		Regions: []RegionSum{
			{Name: "outer", Usage: Usage{Parts: [NumParts]time.Duration{pprof.TimeRunning: 80, pprof.TimeMutex: 60, pprof.TimeRunnable: 25}, Count: []pprof.CounterValue{{Value: 10}}}},
			{Name: "inner", Usage: Usage{Parts: [NumParts]time.Duration{pprof.TimeRunning: 30, pprof.TimeMutex: 50}, Count: []pprof.CounterValue{{Value: 4}, {Value: 20}}}},
		},
		Timeline: []Stretch{
			{Goroutine: 1, Region: "outer", Start: 10, Wake: 300, End: 300},
			{Goroutine: 1, Region: "inner", Start: 20, Wake: 100, End: 100},
			{Goroutine: 1, Part: pprof.TimeMutex, Reason: "sync.Mutex.Lock", Stack: stack, Start: 30, Wake: 60, End: 100, BehindKind: "report", Behind: 15},
			{Goroutine: 2, Part: pprof.TimeChan, Reason: "chan receive", Start: 40, Wake: 100, End: 100},
			{Goroutine: 1, Part: pprof.TimeMutex, Start: 110, Wake: 115, End: 120, BehindKind: "hog", Behind: 9},
			{Goroutine: 1, Part: pprof.TimeMutex, Reason: "sync.Mutex.Lock", Start: 310, Wake: 312, End: 312},
			{Goroutine: 3, Part: 200, Start: 310, Wake: 312, End: 312},
		},
	}
}

func TestProfile(t *testing.T) {
	fast := &Record{Kind: "GET /", Start: 900, Wall: 10, Usage: Usage{Parts: [NumParts]time.Duration{pprof.TimeRunning: 3}}}
	p := profileOf(t, profileTask(), profileTask(), fast)
	var types []string
	for _, s := range p.SampleType {
		types = append(types, s.Type+"/"+s.Unit)
	}
	// pprof shows the last one by default.
	if got, want := strings.Join(types, " "), "tasks/count faults/count task-clock/nanoseconds cpu/nanoseconds wall/nanoseconds"; got != want {
		t.Errorf("sample types %s, want %s", got, want)
	}
	if p.TimeNanos != 900 || p.DurationNanos != 600 {
		t.Errorf("time %d, duration %d", p.TimeNanos, p.DurationNanos)
	}
	for typ, want := range map[string]map[string]int64{
		"tasks": {"GET /;slow=yes": 2, "GET /": 1},
		"cpu": {
			"GET /;inner;running;slow=yes": 60,  // all of the inner region's
			"GET /;outer;running;slow=yes": 140, // what is left of 100, although it has had 80
			"GET /;running":                3,
		},
		"wall": {
			"GET /;inner;running;slow=yes": 60,
			"GET /;outer;running;slow=yes": 140,
			"GET /;running":                3,
			"GET /;inner;mutex;sync.Mutex.Lock;main.get@main.go:7;sync.(*Mutex).Lock@mutex.go:45;slow=yes": 60,
			"GET /;inner;mutex;slow=yes":               40,
			"GET /;outer;mutex;slow=yes":               40, // 70 less 50
			"GET /;outer;runnable;slow=yes":            40,
			"GET /;outer;runnable;behind hog;slow=yes": 10, // not more than it was runnable
			"GET /;runnable;behind report;slow=yes":    30, // the inner region has not been runnable
			"GET /;chan;chan receive;slow=yes":         18, // of 60, the account has 9
		},
		"faults":     {"GET /;inner;running;slow=yes": 8, "GET /;outer;running;slow=yes": 14},
		"task-clock": {"GET /;inner;running;slow=yes": 40, "GET /;running;slow=yes": 158},
	} {
		got := stacksOf(p, typ)
		if !maps.Equal(got, want) {
			t.Errorf("%s:", typ)
			for _, s := range slices.Sorted(maps.Keys(got)) {
				t.Errorf("	%s %d, want %d", s, got[s], want[s])
			}
			for s := range want {
				if _, ok := got[s]; !ok {
					t.Errorf("	no %s", s)
				}
			}
		}
	}
	for _, s := range p.Sample {
		if s.Label["kind"] == nil || s.Label["kind"][0] != "GET /" {
			t.Errorf("labels %v", s.Label)
		}
	}
}

// TestProfileSums compares the sums of each kind with those of the tasks.
func TestProfileSums(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 20 {
		var tasks []*Record
		want := make(map[string]int64)
		for range 20 {
			task := randomTask(r)
			task.Events = task.Events[:min(len(task.Events), 3)]
			tasks = append(tasks, task)
			kind := named(task.Kind)
			want["tasks "+kind]++
			want["cpu "+kind] += int64(task.Parts[pprof.TimeRunning])
			for _, d := range task.Parts {
				want["wall "+kind] += int64(d)
			}
			for e, name := range task.Events {
				want[strings.ToValidUTF8("event "+name+" "+kind, "\ufffd")] += int64(task.Count[e].Value)
			}
		}
		got := make(map[string]int64)
		p := profileOf(t, tasks...)
		for _, s := range p.Sample {
			if root := s.Location[len(s.Location)-1].Line[0].Function.Name; root != s.Label["kind"][0] {
				t.Fatalf("label %q of stack of %q", s.Label["kind"], root)
			}
			for i, v := range s.Value {
				if v < 0 {
					t.Fatalf("a value of %d", v)
				}
				typ := p.SampleType[i].Type
				if i > 0 && i < len(s.Value)-2 {
					typ = "event " + typ
				}
				got[strings.ToValidUTF8(typ+" "+s.Label["kind"][0], "\ufffd")] += v
			}
		}
		for k, v := range want {
			if got[k] != v {
				t.Errorf("%.100q: %d, want %d", k, got[k], v)
			}
			delete(got, k)
		}
		for k, v := range got {
			if v != 0 {
				t.Errorf("%.100q: %d, want none", k, v)
			}
		}
	}
	// Anything at all.
	for range 30 {
		profileOf(t, anyTask(r))
	}
}

func TestProfileEvents(t *testing.T) {
	var tasks []*Record
	for i := range maxProfileEvents {
		tasks = append(tasks, &Record{Events: []string{fmt.Sprint("e", i)}, Usage: Usage{Count: []pprof.CounterValue{{Value: 1}}}})
	}
	profileOf(t, tasks...)
	tasks = append(tasks, &Record{Events: []string{"more"}, Usage: Usage{Count: []pprof.CounterValue{{Value: 1}}}})
	err := WriteProfile(new(bytes.Buffer), slices.Values(tasks))
	if err == nil || !strings.Contains(err.Error(), "more than 256 different events") {
		t.Errorf("error %v", err)
	}
	if p := profileOf(t); len(p.Sample) != 0 {
		t.Error("samples of no tasks")
	}
}

func TestProfileFile(t *testing.T) {
	name := os.Getenv("RECORD_TEST_PROFILE")
	if name == "" {
		t.Skip("RECORD_TEST_PROFILE is the file to write a profile to, for a look at it")
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	other := profileTask()
	other.Kind, other.Flags = "POST /v1/order.json", 0
	if err := WriteProfile(f, slices.Values([]*Record{profileTask(), other})); err != nil {
		t.Fatal(err)
	}
}
