// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package foreign

import (
	"net/http/pprof"
	"regexp"
	"slices"
	"testing"

	"pmu/foreign/records"
)

var clock = regexp.MustCompile(`\n(Tracestate: [^\r]*\r|\ttracestate: .*)`)

// TestClock tests that nothing else is different if requests come with a clock, but that
// answers have one, too.
func TestClock(t *testing.T) {
	const there, here = 1, 2
	if err := records.Start(there); err != nil {
		t.Fatal(err)
	}
	header := records.Call()
	if err := records.Start(here); err != nil {
		t.Fatal(err)
	}
	defer records.Stop()
	if header.Get("Traceparent") == "" || header.Get("Tracestate") == "" {
		t.Fatalf("a request has header %v", header)
	}
	cases := slices.Clone(cases)
	for i := range cases {
		c := &cases[i]
		c.header = append(slices.Clip(c.header),
			field("Traceparent", header.Get("Traceparent")), field("Tracestate", header.Get("Tracestate")))
	}
	compared, clocks := 0, 0
	for i := range stacks {
		s := &stacks[i]
		for _, p := range []protocol{http1, http2} {
			want := visitSite(t, s, p, place{}, nil, cases)
			for _, at := range places {
				if at.within && !s.router {
					continue
				}
				got := visitSite(t, s, p, at, pprof.TaskHandler, cases)
				for name, wire := range got.wire {
					n := len(clock.FindAllString(wire, -1))
					if d := difference(want.wire[name], clock.ReplaceAllString(wire, "")); d != "" {
						t.Errorf("%s, %v, TaskHandler %s, %s: %s", s.name, p, at.name, name, d)
					}
					compared++
					clocks += n
				}
			}
		}
	}
	t.Logf("%d comparisons, %d clocks", compared, clocks)
	if clocks < 1000 {
		t.Errorf("%d clocks, want 1,000 and more", clocks)
	}
}
