// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"cmd/pmu/internal/verb"
	"fmt"
	"internal/taskrecord"
	"math/rand/v2"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

// TestSegments tests that the parts of a run are those of its time, whatever the order of rows is and
// however the time is written.
func TestSegments(t *testing.T) {
	const n = 4000
	began := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	r := rand.New(rand.NewPCG(1, 2))
	order := r.Perm(n)
	// One in 40 requests waits for a mutex, and the next one is slow in a system call, which are rarer
	// in the other half of the time.
	latency := func(i int) (latency, mutex, syscall float64) {
		latency = 5 + r.Float64()
		switch {
		case i%40 == 7 && i < n/2:
			mutex = 30
		case i%40 == 8 && i >= n/2:
			syscall = 60
		}
		return latency + mutex + syscall, mutex, syscall
	}
	forms := map[string]func(b *strings.Builder, at func(i int) string){
		"CSV": func(b *strings.Builder, at func(i int) string) {
			b.WriteString("mutex,syscall,when,latency\n")
			for _, i := range order {
				l, m, s := latency(i)
				fmt.Fprintf(b, "%v,%v,%s,%v\n", m, s, at(i), l)
			}
		},
		"JSON": func(b *strings.Builder, at func(i int) string) {
			for _, i := range order {
				l, m, s := latency(i)
				fmt.Fprintf(b, "{\"when\":%q,\"latency\":%v,\"mutex\":%v,\"syscall\":%v}\n", at(i), l, m, s)
			}
		},
		"tasks": func(b *strings.Builder, at func(i int) string) {
			w := taskrecord.NewFileWriter(b, &taskrecord.Server{Name: "s"})
			for _, i := range order {
				l, m, s := latency(i)
				ms := func(v float64) time.Duration { return time.Duration(v * 1e6) }
				x := &taskrecord.Record{Kind: "GET /", Trace: taskrecord.TraceID{byte(i), byte(i >> 8), 1}, Span: taskrecord.SpanID{1}, Wall: ms(l), Start: began.Add(time.Duration(i) * time.Second).UnixNano()}
				x.Parts[pprof.TimeMutex], x.Parts[pprof.TimeSyscall] = ms(m), ms(s)
				if err := w.Write(x); err != nil {
					t.Fatal(err)
				}
			}
		},
	}
	number := func(i int) string { return fmt.Sprint(1000 + i) }
	date := func(i int) string { return began.Add(time.Duration(i) * time.Second).Format(time.RFC3339Nano) }
	for _, c := range []struct {
		form  string
		at    func(i int) string
		args  []string
		spans []string
	}{
		{"CSV", number, []string{"-time", "when"}, []string{"1000..2999", "3000..4999"}},
		{"CSV", func(i int) string { return fmt.Sprint(1777000000 + i) }, []string{"-time", "when"}, []string{"1777000000..1777001999", "1777002000..1777003999"}},
		{"CSV", date, []string{"-time", "when", "-columns", "mutex,syscall"}, []string{"2026-05-04 10:00:00..10:33:19", "2026-05-04 10:33:20..11:06:39"}},
		{"JSON", date, []string{"-time", "when"}, []string{"2026-05-04 10:00:00..10:33:19", "2026-05-04 10:33:20..11:06:39"}},
		{"tasks", nil, nil, []string{"2026-05-04 10:00:00..10:33:19", "2026-05-04 10:33:20..11:06:39"}},
	} {
		var in, out, errs strings.Builder
		forms[c.form](&in, c.at)
		args := append(c.args, "-segments", "2", "-")
		if code := run(Verb, args, verb.IO{Stdin: strings.NewReader(in.String()), Stdout: &out, Stderr: &errs}); code != 0 {
			t.Errorf("%s: status %d: %s", c.form, code, errs.String())
			continue
		}
		lines := strings.Split(out.String(), "\n")
		if len(lines) < 6 {
			t.Errorf("%s: %s", c.form, out.String())
			continue
		}
		for k, cause := range []string{"mutex", "syscall"} {
			f := strings.Fields(strings.TrimPrefix(lines[3+k], c.spans[k]))
			if !strings.HasPrefix(lines[3+k], c.spans[k]+" ") || len(f) < 3 || f[0] != "2000" || !strings.Contains(lines[3+k], " "+cause+" ") {
				t.Errorf("%s: %q, want %s and %s", c.form, lines[3+k], c.spans[k], cause)
			}
		}
		if c.form == "tasks" {
			t.Log("\n" + out.String())
		}
	}
	for _, args := range [][]string{{"-time", "nothing"}, {"-time", "mutex", "-segments", "-1"}, {"-segments", "100"}, {"-segments", "2", "-sql"}, {"-segments", "2", "-html", "x.html"}, {"-time", "word", "-segments", "2"}} {
		var out, errs strings.Builder
		in := "latency,mutex,word\n" + strings.Repeat("1,2,a\n3,4,b\n", 2000)
		if code := run(Verb, append(args, "-"), verb.IO{Stdin: strings.NewReader(in), Stdout: &out, Stderr: &errs}); code != 2 || out.Len() > 0 {
			t.Errorf("%v: status %d: %s%s", args, code, out.String(), errs.String())
		}
		t.Log(strings.TrimSpace(errs.String()))
	}
	// More dates than a column can have words.
	var in, out, errs strings.Builder
	in.WriteString("latency,when\n")
	for i := range 70_000 {
		fmt.Fprintf(&in, "%d,%s\n", i, date(i))
	}
	if code := run(Verb, []string{"-time", "when", "-segments", "2", "-"}, verb.IO{Stdin: strings.NewReader(in.String()), Stdout: &out, Stderr: &errs}); code != 2 || !strings.Contains(errs.String(), "seconds since 1970") {
		t.Errorf("status %d: %s", code, errs.String())
	}
}
