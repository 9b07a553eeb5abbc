// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package latency

import (
	"fmt"
	"internal/taskrecord"
	"runtime/pprof"
	"slices"
	"testing"
	"time"
)

// TestUnknownCallee tests that a wait for one of several calls is no one's if callees come first.
func TestUnknownCallee(t *testing.T) {
	w := newWorld(1)
	x := w.record("GET /", false, map[taskrecord.Part]time.Duration{pprof.TimeNetwork: 3 * ms, pprof.TimeRunning: 7 * ms})
	x.Calls = slices.Repeat([]taskrecord.Call{{Kind: "GET /b", Flags: taskrecord.Client, Wall: 8 * ms}}, 2)
	b := Builder{Callees: true}
	if err := b.Add(&taskrecord.Node{Task: x, Call: -1}); err != nil {
		t.Fatal(err)
	}
	list, _ := b.Kinds()
	equal(t, "rows", text(list[0]), "0 10 latency: ", "0 10 at most GET /: ", "0 3 not known: ", "0 3 not known: GET /")
	balanced(t, list[0].tree.root)
}

// TestOthers has slow requests that wait for another goroutine of their own, which runs for 20 ms: that is what they wait for.
// Usual ones wait for 4 ms like that, or for something else. Without a timeline no one knows, so they may have
// run for so much longer, or slept. It was no call: these are known.
func TestOthers(t *testing.T) {
	for _, tt := range []struct {
		goroutines int64
		want       []string
	}{
		{3, []string{"25 10 latency: ", "22 6 at most running: ", "0 5 at most sleep: ", "3 3 GET /b (call): ", "0 4 chan: "}},
		{1, []string{"25 10 latency: ", "22 2 running: ", "3 3 GET /b (call): ", "0 1 sleep: ", "0 4 chan: "}},
	} {
		w := newWorld(1)
		call := taskrecord.Call{Kind: "GET /b", Flags: taskrecord.Client, Wall: 3 * ms, Goroutine: 1, Ender: 1}
		x := w.record("GET /", true, map[taskrecord.Part]time.Duration{pprof.TimeNetwork: 3 * ms, pprof.TimeChan: 20 * ms, pprof.TimeRunning: 2 * ms},
			taskrecord.Stretch{Part: pprof.TimeNetwork, Wake: 3 * ms},
			taskrecord.Stretch{Part: pprof.TimeChan, Wake: 20 * ms, Waker: taskrecord.Waker{Goroutine: 2, Span: taskrecord.SpanID{1}}})
		x.Span, x.Goroutines, x.Calls = taskrecord.SpanID{1}, 2, []taskrecord.Call{call}
		x.Ender.Goroutine, x.Ender.Parts = 1, x.Parts
		x.Parts[pprof.TimeRunning] += 20 * ms
		x = w.record("GET /", false, map[taskrecord.Part]time.Duration{pprof.TimeNetwork: 3 * ms, pprof.TimeChan: 4 * ms, pprof.TimeRunning: 2 * ms, pprof.TimeSleep: 1 * ms})
		x.Goroutines, x.Calls = tt.goroutines, []taskrecord.Call{call}
		x.Ender.Goroutine, x.Ender.Parts = 1, x.Parts
		got := text(w.kinds(t, nil)[0])
		slices.Sort(got[1:])
		slices.Sort(tt.want[1:])
		equal(t, fmt.Sprint(tt.goroutines, " goroutines"), got, tt.want...)
	}
}
