// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package slowcmd

import (
	"bytes"
	"cmd/pmu/internal/verb"
	"context"
	"net/http"
	"net/http/httptest"
	httppprof "net/http/pprof"
	"os"
	"path/filepath"
	"runtime/pprof"
	"runtime/task"
	"strings"
	"testing"
	"time"
)

// call runs slow and returns what it writes, and its exit status.
func call(args ...string) (stdout, stderr string, status int) {
	var out, errs bytes.Buffer
	status = run(Verb, args, verb.IO{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs})
	return out.String(), errs.String(), status
}

var burnt int

// burn computes n times a while. It adds in a register.
//
//go:noinline
func burn(n int) {
	sum := 0
	for i := range n * 100_000 {
		sum += i
	}
	burnt += sum
}

//go:noinline
func parse() { burn(2) }

//go:noinline
func refill() { burn(40) }

//go:noinline
func idle(d time.Duration) { time.Sleep(d) }

// worker computes what is sent to it.
func worker(work chan func()) {
	for f := range work {
		f()
	}
}

// limitOf returns how long a usual request takes at most.
func limitOf() time.Duration {
	usual := time.Hour
	for range 5 {
		begin := time.Now()
		parse()
		parse()
		usual = min(usual, time.Since(begin))
	}
	return 4 * usual // with refill it is 11 times as long
}

// request is the ith request.
func request(i int, refills bool, limit time.Duration) {
	_, x := task.New(context.Background(), "GET /")
	work := make(chan func())
	go worker(work)
	do := func(f func()) {
		done := make(chan bool)
		work <- func() { f(); close(done) }
		<-done
	}
	parse()
	switch {
	case i%10 == 0 && refills:
		do(refill)
	case i%10 == 0:
		idle(2 * limit)
	}
	do(parse)
	x.End()
	close(work)
}

// sample profiles requests by an event, and returns their records, too. One of ten is slow: it has another goroutine
// refill, or waits.
func sample(t *testing.T, event string, period uint64, refills bool) (data, records []byte) {
	t.Helper()
	limit := limitOf()
	if err := task.Start(task.Config{Rate: 1, Slow: map[string]time.Duration{"GET /": limit}}); err != nil {
		t.Fatal(err)
	}
	defer task.Stop()
	var b bytes.Buffer
	s, err := pprof.StartSession(pprof.PerfEvent(&b, event, period))
	if err != nil {
		if strings.Contains(os.Getenv("PMU_TEST_REQUIRE"), event) || event == "task-clock" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	for i := range 200 {
		request(i, refills, limit)
	}
	s.Stop()
	return b.Bytes(), recorded(t)
}

// recorded returns the records that there are.
func recorded(t *testing.T) []byte {
	t.Helper()
	w := httptest.NewRecorder()
	httppprof.Tasks(w, httptest.NewRequest("GET", "/debug/pprof/tasks?format=tasks", nil))
	if w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	return w.Body.Bytes()
}

// TestPlanted tests that what makes slow requests slow, on another goroutine, is the first row, and that nothing is
// if they wait.
func TestPlanted(t *testing.T) {
	for _, event := range []struct {
		name   string
		period uint64
	}{{"task-clock", 100_000}, {"cycles", 100_000}, {"instructions", 100_000}} {
		t.Run(event.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "p")
			for _, refills := range []bool{true, false} {
				// An interval of 95 % may be wrong once.
				for try := 1; ; try++ {
					data, _ := sample(t, event.name, event.period, refills)
					if err := os.WriteFile(file, data, 0o666); err != nil {
						t.Fatal(err)
					}
					out, stderr, status := call("-event", event.name, file)
					if stderr != "" {
						t.Fatalf("status %d, %s", status, stderr)
					}
					_, rows, _ := strings.Cut(out, " in\n")
					first, _, _ := strings.Cut(rows, "\n")
					if !strings.Contains(out, "slow   ") || strings.Contains(out, "nobody can say") {
						t.Fatalf("not several slow requests:\n%s", out)
					}
					if strings.Contains(first, "slowcmd.refill") == refills && (status == verb.OK) == refills {
						break
					}
					if try == 4 {
						t.Fatalf("refills %v: status %d,\n%s", refills, status, out)
					}
				}
			}
		})
	}
}

// TestSources tests what a server is asked for, and the pages.
func TestSources(t *testing.T) {
	data, _ := sample(t, "task-clock", 100_000, true)
	asked := ""
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
		w.Write(data)
	}))
	defer srv.Close()
	for _, tt := range []struct{ args, path, want string }{
		{"", "", "/debug/pprof/profile?event=task-clock&seconds=10"},
		{"-seconds=3 -event=cycles", "/", "/debug/pprof/profile?event=cycles&seconds=3"},
		{"", "/p?seconds=1", "/p?seconds=1"},
		{"", "/debug/pprof/tasks?public=1", "/debug/pprof/profile?event=task-clock&seconds=10"},
		{"", "/a/debug/pprof", "/a/debug/pprof/profile?event=task-clock&seconds=10"},
		{"", "/debug/pprof/profile?event=cpu-clock", "/debug/pprof/profile?event=cpu-clock"},
	} {
		out, stderr, status := call(append(strings.Fields(tt.args), srv.URL+tt.path)...)
		if asked != tt.want {
			t.Errorf("%q %s: asked for %s, want %s", tt.args, tt.path, asked, tt.want)
		}
		if status != verb.OK || !strings.Contains(out, "refill") {
			t.Errorf("%q: status %d, %s%s", tt.args, status, out, stderr)
		}
	}
	page := filepath.Join(t.TempDir(), "page.html")
	if out, stderr, status := call("-html", page, srv.URL); status != verb.OK || out != "" {
		t.Errorf("status %d, %s%s", status, out, stderr)
	}
	if b, err := os.ReadFile(page); err != nil || !bytes.Contains(b, []byte("of a slow request per that of a usual one")) || !bytes.Contains(b, []byte("refill")) {
		t.Errorf("error %v, %d bytes", err, len(b))
	}
	for _, tt := range []struct{ args, want string }{
		{"", "usage: go tool pmu slow"},
		{"a b", "usage: go tool pmu slow"}, // without -latency
		{"-seconds=0 x", "it must be more than 0"},
		{"missing", "missing: no such file"},
		{"-event=cycles " + page, "it is not a profile"},
		{"-kind=other " + srv.URL, `no sample is of kind "other"`},
	} {
		if _, stderr, status := call(strings.Fields(tt.args)...); status != verb.Error || !strings.Contains(stderr, tt.want) {
			t.Errorf("%q: status %d, %s", tt.args, status, stderr)
		}
	}
}
