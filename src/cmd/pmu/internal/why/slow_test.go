// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"internal/taskrecord"
	"math/rand/v2"
	"reflect"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

// slowTasks adds n requests chosen at random, of which 3 % wait for a mutex, and before and among
// them what else is recorded for being slow.
func slowTasks(n int, slow bool) *Table {
	r, other := rand.New(rand.NewPCG(1, 1)), rand.New(rand.NewPCG(2, 2))
	var b Builder
	add := func(r *rand.Rand, mutex time.Duration, flags taskrecord.Flags) {
		x := &taskrecord.Record{Wall: 10*time.Millisecond + time.Duration(r.IntN(1e6)) + mutex, Kind: "k", Flags: flags}
		x.Parts[pprof.TimeMutex] = mutex
		b.AddTask(x)
	}
	for i := range n {
		var mutex time.Duration
		flags := taskrecord.Sampled
		if i%33 == 7 {
			mutex = 30 * time.Millisecond
			flags |= taskrecord.Slow
		}
		add(r, mutex, flags)
		if slow {
			add(other, 90*time.Millisecond, taskrecord.Slow)
		}
	}
	return b.Table("ms")
}

// TestSlow tests that what was recorded for being slow is not taken for the tail of all, if there
// are enough others, and is said to be in it, if not.
func TestSlow(t *testing.T) {
	want, err := Analyze(slowTasks(2000, false), Params{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Analyze(slowTasks(2000, true), Params{})
	if err != nil {
		t.Fatal(err)
	}
	if want.Top() != "mutex" || want.Tail < 40 || want.Tail > 41.1 || len(want.Notes) > 0 {
		t.Fatalf("%s, tail %v, %q", want.Top(), want.Tail, want.Notes)
	}
	if got.LeftBiased != 2000 || got.Left != 0 || got.Requests != 2000 || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "2000 others are left out: they were recorded for being slow") {
		t.Errorf("%d left out, of %d; %q", got.LeftBiased, got.Requests, got.Notes)
	}
	if got.Tail != want.Tail || got.Max != want.Max || !reflect.DeepEqual(got.Latencies, want.Latencies) || len(got.Impacts) == 0 || got.Impacts[0].Raw != want.Impacts[0].Raw || len(got.Patterns) != len(want.Patterns) {
		t.Errorf("%v: tail %v, slowest %v, want %v and %v", got.Impacts[0].Raw, got.Tail, got.Max, want.Tail, want.Max)
	}
	few, err := Analyze(slowTasks(999, true), Params{})
	if err != nil {
		t.Fatal(err)
	}
	if few.LeftBiased != 0 || few.Requests != 2*999 || few.Tail < 90 || len(few.Notes) != 1 || !strings.Contains(few.Notes[0], "percentiles are those of the records. Those of all take 1000") {
		t.Errorf("%d left out, of %d, tail %v; %q", few.LeftBiased, few.Requests, few.Tail, few.Notes)
	}
	// Segments, and kinds.
	table := slowTasks(4000, true)
	table.Keep(func(row int) bool { return row < 6000 })
	list, err := Segments(table, 2, Params{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if len(s.Of) != 1 || !strings.Contains(s.Of[0], "3000 others are left out") || s.Requests != 1500 || s.Max > 41.1 {
			t.Errorf("%q, of %d, slowest %v", s.Of, s.Requests, s.Max)
		}
	}
	table.Biased = table.Biased[1:]
	if _, err := Analyze(table, Params{}); err == nil {
		t.Error("no error")
	}
}

// TestSegmentsBiased tests that all segments are of requests of one kind, and says which.
func TestSegmentsBiased(t *testing.T) {
	var b Builder
	r := rand.New(rand.NewPCG(1, 1))
	add := func(random, slow, bad int) {
		for i := range random + slow + bad {
			switch {
			case i < random:
				d := 10 + r.Float64()
				if i%33 == 0 {
					d += 5
				}
				b.Add(d)
			case i < random+slow:
				b.Add(90 + 10*r.Float64())
				b.Biased()
			default:
				b.Add(nan)
			}
		}
	}
	add(1100, 400, 50)
	add(990, 510, 50)
	list, err := Segments(b.Table("ms"), 2, Params{})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := WriteSegments(&out, list, false); err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if s.Requests != 1045 || s.Tail > 17 || s.few() {
			t.Errorf("%d requests, tail %v, %q", s.Requests, s.Tail, s.Cause())
		}
	}
	if !strings.Contains(out.String(), "910 others are left out") {
		t.Error(out.String())
	}
	// With too few that were chosen at random all are there.
	if list, err = Segments(b.Table("ms"), 3, Params{}); err != nil || list[0].Requests+list[1].Requests+list[2].Requests != 3000 || len(list[0].Of) != 1 || !strings.Contains(list[0].Of[0], "Those of all take 1000") {
		t.Errorf("%v: %+v", err, list)
	}
}

// TestOnly tests what is said of an event that was recorded in slow requests only.
func TestOnly(t *testing.T) {
	var b Builder
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 20_000 {
		d := 10 + r.Float64()
		if i%10 > 0 {
			b.Add(d)
			continue
		}
		x := 0.0
		d += 10 * r.Float64()
		if i%400 == 0 {
			x, d = 40, d+40
		}
		b.Add(d)
		b.Column("x", "", nan).Number(x)
	}
	rep, err := Analyze(b.Table("ms"), Params{})
	if err != nil {
		t.Fatal(err)
	}
	e := rep.Impacts[0]
	if !e.Only || e.N != 2000 || e.Tail < 50 || rep.Tail > 25 {
		t.Fatalf("%+v, tail %v", e, rep.Tail)
	}
	var text, page strings.Builder
	rep.WriteText(&text)
	rep.WriteHTML(&page)
	if !strings.HasPrefix(text.String(), "x makes the tail of the 2000 requests that recorded it: p99 is "+number(e.Tail)) || !strings.Contains(text.String(), "\nx      "+number(e.Tail*e.Adjusted)+" ms") {
		t.Error(text.String())
	}
	if strings.Contains(page.String(), "without x above") || !strings.Contains(page.String(), number(e.Tail*e.Adjusted)+" ms</b> lower") {
		t.Error(page.String())
	}
}

// TestWithinMissing tests that an event has no bound if a part of what includes its time is missing.
func TestWithinMissing(t *testing.T) {
	for _, parts := range []int{0, 1, 2} {
		var b Builder
		r := rand.New(rand.NewPCG(1, 1))
		for i := range 5000 {
			d, x := 10+r.Float64(), 0.0
			if i%33 == 0 {
				x = 40
			}
			b.Add(d + x)
			c := b.Column("faults", "", nan)
			c.Within("user", "kernel")
			c.Number(x)
			for _, part := range []string{"user", "kernel"}[:parts] {
				c := b.Column(part, "ms", 0)
				c.Within(part)
				c.Number(map[string]float64{"user": d, "kernel": x}[part])
			}
		}
		rep, err := Analyze(b.Table("ms"), Params{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range rep.Impacts {
			if e.Event == "faults" && (e.Adjusted < 0.7 || parts < 2 && e.Own != 1) {
				t.Errorf("%d parts: %+v", parts, e)
			}
		}
	}
}

// TestPlain tests that names can't forge lines.
func TestPlain(t *testing.T) {
	const evil = "x\x1b[31m\nforged: line\u202e"
	var b Builder
	for i := range 5000 {
		x := 0.0
		if i%33 == 0 {
			x = 40
		}
		b.Add(10 + x + float64(i%7)/10)
		b.Column(evil, "", nan).Number(x)
		b.Column("kind "+evil, "", nan).Word(evil)
	}
	rep, err := Analyze(b.Table("ms"), Params{})
	if err != nil {
		t.Fatal(err)
	}
	rep.Notes = append(rep.Notes, evil)
	var text strings.Builder
	rep.WriteText(&text)
	list, err := Segments(b.Table("ms"), 2, Params{})
	if err != nil {
		t.Fatal(err)
	}
	WriteSegments(&text, list, false)
	if strings.ContainsAny(text.String(), "\x1b\u202e") || strings.Contains(text.String(), "\nforged") || strings.Count(text.String(), "forged: line") < 5 {
		t.Errorf("%q", text.String())
	}
}
