// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"bytes"
	"flag"
	"math/rand"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var updateText = flag.Bool("updatetext", false, "write the golden files of texts")

// textTasks returns a slow request of two servers.
func textTasks() []*Record {
	a := &Server{ID: 1, Name: "front", PID: 10, Start: planStart}
	b := &Server{ID: 2, Name: "stock", PID: 20, Start: planStart}
	usual := &Usual{Tasks: 861, Wall: 2100 * time.Microsecond}
	usual.Parts[pprof.TimeRunning], usual.Parts[pprof.TimeNetwork] = 600*time.Microsecond, 1500*time.Microsecond
	usual.Count = []pprof.CounterValue{{Value: 2}}
	slow := &Record{
		Server: a, Trace: TraceID{15: 77}, Span: SpanID{7: 1}, Kind: "GET /cart/{id}", Flags: Slow | ServerOf,
		Start: planStart, Wall: 48 * testMs, Goroutine: 18, Goroutines: 2, Threshold: 20 * testMs, Usual: usual,
		Events:  []string{"page-faults"},
		Regions: []RegionSum{{Name: "decode", N: 2, Wall: 900 * time.Microsecond, Max: 700 * time.Microsecond}},
		Notes:   []Note{{"user", "line\nfeed"}, {"status", "200"}},
		Calls:   []Call{{Span: SpanID{7: 2}, Kind: "GET /stock", Flags: Client, Start: 24 * testMs, Wall: 21 * testMs, Remote: "10.0.0.7:80"}},
		Timeline: []Stretch{
			{Goroutine: 18, Region: "decode", Start: 0, Wake: 700 * time.Microsecond, End: 700 * time.Microsecond},
			{Goroutine: 18, Part: pprof.TimeMutex, Reason: "sync.Mutex.Lock", Start: 2 * testMs, Wake: 20 * testMs, End: 23 * testMs,
				Stack: stackIn("sync.(*Mutex).Lock", 15), BehindKind: "report", Behind: 2 * testMs,
				Waker: Waker{44, SpanID{9}, "flush", stackIn("sync.(*Mutex).Unlock", 31)}},
			{Goroutine: 18, Part: pprof.TimeSelect, Reason: "select", Start: 24 * testMs, Wake: 45 * testMs, End: 45 * testMs,
				Stack: stackIn("net/http.(*persistConn).roundTrip", 17), Waker: Waker{Goroutine: 50}},
		},
		Outlived: []Goroutine{{60, "main.log", Frame{"main.handle", "/src/x.go", 20}, pprof.TimeChan}}, Outliving: 1,
		Lost: Lost{Stretches: 12, StretchesTime: 90 * time.Microsecond, Before: 3},
	}
	slow.Switches, slow.Preemptions, slow.Migrations = 14, 1, 0
	slow.Parts[pprof.TimeRunning], slow.Parts[pprof.TimeMutex] = 6*testMs, 18*testMs
	slow.Parts[pprof.TimeSelect], slow.Parts[pprof.TimeRunnable] = 21*testMs, 3*testMs
	slow.Count = []pprof.CounterValue{{Value: 5}}
	stock := &Record{
		Server: b, Trace: slow.Trace, Span: SpanID{7: 3}, Parent: SpanID{7: 2}, Kind: "GET /stock", Flags: Slow | ServerOf,
		Start: planStart - 3e9, Wall: 20 * testMs, Goroutine: 9, Goroutines: 1, Threshold: 5 * testMs,
		Timeline: []Stretch{{Goroutine: 9, Part: pprof.TimeSleep, Reason: "sleep", Start: testMs, Wake: 19 * testMs, End: 19 * testMs, Stack: stackIn("time.Sleep", 52)}},
	}
	stock.Parts[pprof.TimeRunning], stock.Parts[pprof.TimeSleep] = 2*testMs, 18*testMs
	return []*Record{slow, stock}
}

// TestText compares texts with files in testdata, which -updatetext writes.
func TestText(t *testing.T) {
	tasks := textTasks()
	for _, test := range []struct {
		name  string
		write func(*bytes.Buffer) error
	}{
		{"task", func(b *bytes.Buffer) error { return tasks[0].WriteText(b) }},
		{"request", func(b *bytes.Buffer) error { return Join(slices.Values(tasks))[0].WriteText(b) }},
	} {
		var b bytes.Buffer
		if err := test.write(&b); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", "text", test.name+".txt")
		if *updateText {
			os.MkdirAll(filepath.Dir(file), 0o777)
			if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, b.Bytes(), want)
		}
	}
}

// TestTextOdd writes texts of what there may be in a file.
func TestTextOdd(t *testing.T) {
	for seed := range int64(100) {
		r := rand.New(rand.NewSource(seed))
		var tasks []*Record
		for range 5 {
			x := anyTask(r)
			if r.Intn(2) == 0 {
				x = randomTask(r)
			}
			x.Trace = TraceID{1}
			tasks = append(tasks, x)
		}
		var b bytes.Buffer
		for _, x := range tasks {
			x.WriteText(&b)
		}
		for _, r := range Join(slices.Values(tasks)) {
			r.WriteText(&b)
		}
		text := b.String()
		if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && (r < ' ' || r == 0x7f) }) {
			t.Fatalf("seed %d: control characters, or no UTF-8: %q", seed, text)
		}
		if n := strings.Count(text, "\n"); n > 1000 {
			t.Errorf("seed %d: %d lines", seed, n)
		}
	}
}

func TestLongestOf(t *testing.T) {
	var list []time.Duration
	for i := range textRows + 3 {
		list = append(list, time.Duration((i*7)%(textRows+3)+1))
	}
	keep, rest := longestOf(list, func(d *time.Duration) time.Duration { return *d })
	if len(keep) != textRows || rest != (omitted{3, 1 + 2 + 3}) {
		t.Errorf("%d kept, left out %v", len(keep), rest)
	}
	at := -1
	for _, d := range keep {
		i := slices.Index(list, *d)
		if *d <= 3 || i <= at {
			t.Errorf("%d kept, or not in order", *d)
		}
		at = i
	}
}
