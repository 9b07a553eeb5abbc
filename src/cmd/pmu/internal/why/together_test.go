// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"internal/taskrecord"
	"maps"
	"math"
	"math/rand/v2"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"
)

// A plan says for how long request i of a table, of 9 ms, waits for a call, for a mutex, and for a
// CPU.
type plan func(i int) (call, mutex, runnable time.Duration)

// add adds n requests of the plan.
func (of plan) add(b *Builder, n int, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range n {
		call, mutex, runnable := of(i)
		x := &taskrecord.Record{Kind: "k", Flags: taskrecord.Sampled}
		x.Parts[pprof.TimeRunning] = 8940*time.Microsecond + time.Duration(r.IntN(200_000))
		x.Parts[pprof.TimeRunnable] = runnable + 1072
		if call > 0 {
			call += time.Duration(r.IntN(8000))
			x.Parts[pprof.TimeChan] = call
			x.Calls = []taskrecord.Call{{Kind: "GET /stock", Wall: call}}
		}
		if mutex > 0 {
			x.Parts[pprof.TimeMutex] = mutex + time.Duration(r.IntN(8000))
		}
		if call+mutex > 0 {
			x.Parts[pprof.TimeRunnable] += 640 // until it runs again
		}
		for _, d := range x.Parts {
			x.Wall += d
		}
		b.AddTask(x)
	}
}

func (of plan) analyze(t *testing.T, seed uint64) (*Report, string) {
	t.Helper()
	var b Builder
	of.add(&b, 1000, seed)
	rep, err := Analyze(b.Table("ms"), Params{P: 0.98})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	rep.WriteText(&text)
	return rep, text.String()
}

const ms = time.Millisecond

// every returns d for one of n requests from from to to.
func every(i, n, from, to int, d time.Duration) time.Duration {
	if from <= i && i < to && (i-from)%n == 0 {
		return d
	}
	return 0
}

// calls is a call of 20 ms in one of 33 requests.
func calls(i int) (call, mutex, runnable time.Duration) {
	return every(i, 33, 7, 1000, 20*ms), 0, 0
}

// collected is calls while the collector is at work for 300 of the requests. In one of 7 of these it
// takes the CPU for as long as a call takes, and answers of calls wait for it, too.
func collected(i int) (call, mutex, runnable time.Duration) {
	call, _, _ = calls(i)
	switch {
	case i < 200 || i >= 500:
	case call == 0:
		runnable = every(i, 7, 200, 500, 20*ms)
	case i < 240:
		call += 35 * ms
	default:
		call += 15 * ms
	}
	return call, 0, runnable
}

// TestTogether tests that events are named that make the tail together, where without each of them
// there is as long a tail.
func TestTogether(t *testing.T) {
	for _, tt := range []struct {
		name string
		plan plan
		want map[string]int // events, and in how many requests they are high
	}{
		{"collected", collected, map[string]int{"call GET /stock": 31, "runnable": 42}},
		{"three", func(i int) (call, mutex, runnable time.Duration) {
			return every(i, 33, 7, 1000, 20*ms), every(i, 33, 8, 1000, 20*ms), every(i, 33, 9, 1000, 20*ms)
		}, map[string]int{"call GET /stock": 31, "mutex": 31, "runnable": 31}},
		// The mutex is rarer than the tail, which is there only with others.
		{"two and less", func(i int) (call, mutex, runnable time.Duration) {
			return every(i, 33, 7, 1000, 20*ms), every(i, 100, 8, 1000, 20*ms), every(i, 33, 9, 1000, 20*ms)
		}, map[string]int{"call GET /stock": 31, "runnable": 31}},
		{"one", calls, nil},
		{"one and less", func(i int) (call, mutex, runnable time.Duration) {
			return every(i, 33, 7, 1000, 20*ms), every(i, 100, 8, 1000, 20*ms), 0
		}, nil},
		{"one and later", func(i int) (call, mutex, runnable time.Duration) {
			return every(i, 33, 7, 1000, 20*ms), every(i, 33, 8, 1000, 10*ms), 0
		}, nil},
		{"no tail", func(i int) (call, mutex, runnable time.Duration) {
			return every(i, 33, 7, 1000, 2*ms), every(i, 33, 8, 1000, 2*ms), 0
		}, nil},
		{"none", func(int) (call, mutex, runnable time.Duration) { return 0, 0, 0 }, nil},
	} {
		for seed := range uint64(10) {
			rep, text := tt.plan.analyze(t, seed)
			got := make(map[string]int)
			if j := rep.Together; j != nil {
				all := 0
				for _, e := range j.Events {
					got[e.Event] = e.High
					all += e.High
					if e.Adjusted > 0.05 {
						t.Errorf("%s, seed %d: %s makes the tail alone: %v", tt.name, seed, e.Event, e.Adjusted)
					}
				}
				if without := rep.Tail * (1 - j.Raw); !(math.Abs(j.Without.at(0.98)-without) < 1e-9) {
					t.Errorf("%s, seed %d: p98 is %v without, want %v", tt.name, seed, j.Without.at(0.98), without)
				}
				if j.High != all || j.Adjusted < 0.67 || j.Adjusted > 0.7 || j.Low < 0.67 || j.Above > 0.7 {
					t.Errorf("%s, seed %d: high in %d requests, impact %v, %v to %v", tt.name, seed, j.High, j.Adjusted, j.Low, j.Above)
				}
			}
			if !maps.Equal(got, tt.want) {
				t.Errorf("%s, seed %d: %v, want %v:\n%s", tt.name, seed, got, tt.want, text)
			}
			if strings.HasPrefix(tt.name, "one") && rep.Top() != "call GET /stock" {
				t.Errorf("%s, seed %d: %s first", tt.name, seed, rep.Top())
			}
		}
	}
}

// TestTogetherText tests what reports say of events that make the tail together.
func TestTogetherText(t *testing.T) {
	rep, text := plan(collected).analyze(t, 1)
	const first = "runnable and call GET /stock make the tail together: p98 is 29.1 ms, and 9.14 ms without the 73 requests in which one of them is high: 69 % less"
	if !strings.HasPrefix(text, first+"\n") {
		t.Errorf("want %s:\n%s", first, text)
	}
	for _, want := range []string{
		"\nevent            lower by ",
		"\nwithout all 73 of these requests it is 20 ms lower: 69 %, 95 of 100: ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("want %s:\n%s", want, text)
		}
	}
	// What makes the tail together is not ruled out.
	for _, g := range rep.ruledOut() {
		if slices.Contains(g.events, "runnable") || slices.Contains(g.events, "call GET /stock") {
			t.Errorf("%v ruled out: %s", g.events, g.why)
		}
	}
	var page strings.Builder
	rep.WriteHTML(&page)
	for _, want := range []string{"<h1>" + first + "</h1>", "<td>call GET /stock</td>", "without all 73 of these requests"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("want %s:\n%s", want, page.String())
		}
	}
	var b Builder
	plan(collected).add(&b, 1000, 1)
	plan(calls).add(&b, 1000, 1)
	list, err := Segments(b.Table("ms"), 2, Params{P: 0.98})
	if err != nil {
		t.Fatal(err)
	}
	var segments strings.Builder
	WriteSegments(&segments, list, false)
	if s := segments.String(); !strings.Contains(s, "  runnable and call GET /stock  69 %") || !strings.Contains(s, "  call GET /stock               69 %") {
		t.Error(s)
	}
}

// TestTogetherOwn tests that the impact of all is no greater than what they take. Here something
// else takes 8 ms of each slow request.
func TestTogetherOwn(t *testing.T) {
	var b Builder
	plan(collected).add(&b, 1000, 1)
	tab := b.Table("ms")
	for i, l := range tab.Latency {
		if l > 20 {
			tab.Latency[i] = l + 8
		}
	}
	rep, err := Analyze(tab, Params{P: 0.98})
	if err != nil {
		t.Fatal(err)
	}
	if j := rep.Together; j == nil || j.High != 73 || j.Raw < 0.75 || j.Adjusted < 20/37.2 || j.Adjusted > 20.1/37 {
		t.Errorf("%+v", j)
	}
}

// TestDelayed tests that what takes as long in all requests delays none, and what is not part of
// the time may delay any.
func TestDelayed(t *testing.T) {
	var b Builder
	for i := range 1000 {
		running, call := 9.0, 0.0
		if i%20 == 0 {
			call = 7
		}
		b.Add(running + call)
		(&taskRow{Builder: &b, known: new(Callees)}).part("running", running)
		(&taskRow{Builder: &b, known: new(Callees)}).part("call x", call)
		b.Column("note x", "", nan).Number(1)
	}
	r := rank(b.Table("ms"), false)
	const slow = 50
	for i, want := range []int{0, slow, slow} {
		e := &event{Column: &r.Columns[i]}
		if got := e.delayed(r, slow).count(); got != want {
			t.Errorf("%s delays %d of %d slow requests, want %d", e.Name, got, slow, want)
		}
	}
}

// TestTogetherNumbers tests numbers that have no time, of which each is high in slow requests: that
// they are named, but not if they are so often high in others that it may be chance, and not if one
// was recorded in some requests only.
func TestTogetherNumbers(t *testing.T) {
	for _, tt := range []struct {
		n               int
		often, recorded float64
		named           bool
	}{
		{500, 0, 1, true},
		{500, 0.01, 1, true},
		{500, 0.3, 1, false},
		{2000, 0, 1, true},
		{2000, 0, 0.5, false},
	} {
		for seed := range uint64(5) {
			r := rand.New(rand.NewPCG(seed, 2))
			var b Builder
			for i := range tt.n {
				b.Add(9 + 0.2*r.Float64() + float64(every(i, 33, 7, tt.n, 20)+every(i, 33, 8, tt.n, 20)))
				for k, name := range []string{"x", "y"} {
					v := float64(every(i, 33, 7+k, tt.n, 1))
					if r.Float64() < tt.often {
						v = 1
					}
					if k == 1 && r.Float64() >= tt.recorded {
						v = nan
					}
					b.Column(name, "", nan).Number(v)
				}
			}
			rep, err := Analyze(b.Table("ms"), Params{P: 0.98})
			if err != nil {
				t.Fatal(err)
			}
			if j := rep.Together; (j != nil) != tt.named || j != nil && len(j.Events) != 2 {
				t.Errorf("%+v, seed %d: %s", tt, seed, rep.Cause())
			}
		}
	}
}

// TestTogetherShort tests that an event is none that makes the tail, if its own time is too short:
// all that waits is runnable for a moment afterwards.
func TestTogetherShort(t *testing.T) {
	of := plan(func(i int) (call, mutex, runnable time.Duration) {
		return every(i, 33, 7, 1000, 20*ms), every(i, 33, 8, 1000, 20*ms), 0
	})
	rep, text := of.analyze(t, 1)
	if rep.Together == nil || rep.Together.Event != "mutex and call GET /stock" && rep.Together.Event != "call GET /stock and mutex" || !strings.Contains(text, "its own time is too short: runnable") {
		t.Error(text)
	}
}
