// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskscmd

import (
	"internal/profile"
	"internal/taskrecord"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// stacks returns the sums of a profile of paths, by stack.
func stacks(t *testing.T, data string) map[string]time.Duration {
	t.Helper()
	p, err := profile.Parse(strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	m := make(map[string]time.Duration)
	for _, s := range p.Sample {
		var names []string
		for _, l := range slices.Backward(s.Location) {
			names = append(names, l.Line[0].Function.Name)
		}
		if s.Value[1] > 0 {
			m[strings.Join(names, ";")] += time.Duration(s.Value[1])
		}
	}
	return m
}

// TestCritical tests which requests flags select, and that all that worked for these is in the profile: the other server's
// tasks, which are of other kinds and may not be slow.
func TestCritical(t *testing.T) {
	front, back := tasksOf(20)
	alone := *front[0]
	alone.Trace, alone.Calls = taskrecord.TraceID{}, nil
	lone := *back[0]
	lone.Span, lone.Kind = taskrecord.SpanID{}, "lone"
	a, b := write(t, encode(t, append(front, &alone))), write(t, encode(t, append(back, &lone)))
	const f, call2 = "GET / on front;", "GET / on front;GET /stock (call);"
	const s = call2 + "GET /stock on back;"
	trace := front[19].Trace.String()
	slow := map[string]time.Duration{
		f + "running": 2 * ms, call2 + "way there and back": 1 * ms,
		s + "running": 2 * ms, s + "sleep;sleep;main.stock;time.Sleep": 28 * ms,
	}
	all := map[string]time.Duration{
		// Of 20 requests, and of the one without a trace, whose call no one knows.
		f + "running": (20 + 1) * 2 * ms, f + "network": 3 * ms, call2 + "way there and back": 20 * ms,
		s + "running": 20 * 2 * ms, s + "sleep;sleep;main.stock;time.Sleep": 28 * ms,
		"lone on back;running": 2 * ms,
	}
	ofFront := maps.Clone(all)
	delete(ofFront, "lone on back;running")
	for _, tt := range []struct {
		args []string
		want map[string]time.Duration
	}{
		{nil, all},
		{[]string{"-slow"}, slow},
		{[]string{"-trace", trace}, slow},
		{[]string{"-slow", "-kind", "GET /"}, slow},
		{[]string{"-where", `kind = "GET /"`}, ofFront},
		{[]string{"-kind", "GET /stock"}, map[string]time.Duration{"GET /stock;running": 20 * 2 * ms, "GET /stock;sleep;sleep;main.stock;time.Sleep": 28 * ms}},
		{[]string{"-kind", "lone"}, map[string]time.Duration{"lone;running": 2 * ms}},
	} {
		args := append([]string{"-format", "pprof", "-critical"}, tt.args...)
		status, out, errs := call(append(args, a, b)...)
		if status != 0 {
			t.Fatalf("%q: status %d, %s", tt.args, status, errs)
		}
		if got := stacks(t, out); !maps.Equal(got, tt.want) {
			t.Errorf("%q: got\n%v\nwant\n%v", tt.args, got, tt.want)
		}
	}
	for _, tt := range []struct{ args, want string }{
		{"-critical x", "-critical goes with -format pprof"},
		{"-critical -format json x", "-critical goes with -format pprof"},
		{"-critical -format pprof -http=: x", "-critical goes with -format pprof"},
	} {
		if status, _, errs := call(strings.Fields(tt.args)...); status != 2 || !strings.Contains(errs, tt.want) {
			t.Errorf("%q: status %d, %s", tt.args, status, errs)
		}
	}
	// Without such a request, a file that is there stays as it is.
	kept := write(t, []byte("kept"))
	if status, out, errs := call("-critical", "-format", "pprof", "-kind", "none", "-o", kept, a); status != 1 || out != "" || !strings.Contains(errs, "no tasks") {
		t.Errorf("status %d, %q, %s", status, out, errs)
	}
	if b, err := os.ReadFile(kept); string(b) != "kept" {
		t.Errorf("error %v, the file has %q", err, b)
	}
}

// TestCallersBounds tests that tasks without a trace are bounded like those with one, and that those beyond are counted.
func TestCallersBounds(t *testing.T) {
	const most = 100
	c := callers{joiner: taskrecord.Joiner{MaxTasks: most}}
	for i := range 2 * most {
		c.add(&taskrecord.Record{Trace: taskrecord.TraceID{1}, Span: taskrecord.SpanID{byte(i), 1}})
		c.add(&taskrecord.Record{})
		c.add(&taskrecord.Record{Flags: taskrecord.Client})
	}
	if n := len(c.list("", false)); n != 2*most || c.dropped() != 2*most {
		t.Errorf("%d tasks, and %d dropped", n, c.dropped())
	}
}
