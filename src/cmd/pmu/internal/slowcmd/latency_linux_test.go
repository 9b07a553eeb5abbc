// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package slowcmd

import (
	"bytes"
	"cmd/pmu/internal/verb"
	"context"
	"internal/taskrecord"
	"net/http"
	"net/http/httptest"
	httppprof "net/http/pprof"
	"os"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"runtime/task"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// both writes a profile and records to files.
func both(t *testing.T, refills bool) (profile, records string) {
	t.Helper()
	data, tasks := sample(t, "task-clock", 100_000, refills)
	return save(t, data, tasks)
}

func save(t *testing.T, data, tasks []byte) (profile, records string) {
	t.Helper()
	dir := t.TempDir()
	profile, records = filepath.Join(dir, "profile"), filepath.Join(dir, "records")
	for name, b := range map[string][]byte{profile: data, records: tasks} {
		if err := os.WriteFile(name, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return profile, records
}

// classes returns the classes of the frames of a page whose function has a name, which are colours.
func classes(t *testing.T, page, name string) (list []string) {
	t.Helper()
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`<div class="c(\d)" [^>]*title="[^"&]*\.`+name+`&#10;`).FindAllSubmatch(b, -1) {
		list = append(list, string(m[1]))
	}
	return list
}

// TestLatencyPlanted tests that slow requests have more of what makes them slow than usual ones: of computing on
// another goroutine, by samples, or of waiting, by records. How much of their latency that is depends on what other programs
// do. So it is looked for on the page, which has all that is not very little.
func TestLatencyPlanted(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	for _, refills := range []bool{true, false} {
		code, other := "refill", "idle"
		if !refills {
			code, other = other, code
		}
		for try := 1; ; try++ { // others may make so many requests slow that these have little of it on average
			profile, records := both(t, refills)
			if out, stderr, status := call("-latency", "-html", page, profile, records); stderr != "" || out != "" || status != verb.OK {
				t.Fatalf("status %d, %s%s", status, out, stderr)
			}
			if list := classes(t, page, other); len(list) > 0 {
				t.Fatalf("%s: frames of class %q, though it was not called", other, list)
			}
			list := classes(t, page, code)
			if len(list) > 0 && !slices.ContainsFunc(list, func(c string) bool { return c < "4" || c > "6" }) { // 1.4 times as much, at least
				break
			}
			if try == 10 {
				text, _, _ := call("-latency", profile, records)
				t.Fatalf("%s: frames of class %q:\n%s", code, list, text)
			}
		}
	}
}

// TestLatencyIdle tests that requests which only wait have a latency, too, though the profile has no sample of them.
func TestLatencyIdle(t *testing.T) {
	if err := task.Start(task.Config{Rate: 1, Slow: map[string]time.Duration{"GET /": 1}}); err != nil {
		t.Fatal(err)
	}
	defer task.Stop()
	var b bytes.Buffer
	s, err := pprof.StartSession(pprof.PerfEvent(&b, "task-clock", 1e9))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, x := task.New(context.Background(), "GET /")
		idle(time.Millisecond)
		x.End()
	}
	s.Stop()
	profile, records := save(t, b.Bytes(), recorded(t))
	if out, stderr, status := call("-latency", profile, records); status != verb.OK || stderr != "" || !strings.Contains(out, "slow   3 requests, ") {
		t.Errorf("status %d, %s%s", status, out, stderr)
	}
}

// TestLatencyServer tests that one address is enough, what the server is asked for, and the page.
func TestLatencyServer(t *testing.T) {
	profile, records := both(t, true)
	var mu sync.Mutex
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.URL.String())
		name := profile
		if strings.HasSuffix(r.URL.Path, "tasks") {
			name = records
		}
		b, _ := os.ReadFile(name)
		w.Write(b)
	}))
	defer srv.Close()
	want, _, _ := call("-latency", profile, records)
	for _, tt := range []struct{ args, path, profile, tasks string }{
		{"", "", "/debug/pprof/profile?event=task-clock&seconds=10", "/debug/pprof/tasks?format=tasks&seconds=11"},
		{"-seconds=3 -event=cpu-clock:u", "/a/debug/pprof/", "/a/debug/pprof/profile?event=cpu-clock%3Au&seconds=3", "/a/debug/pprof/tasks?format=tasks&seconds=4"},
		{"-kind=GET|/", "/x/tasks", "/x/profile?event=task-clock&seconds=10", "/x/tasks?format=tasks&kind=GET+%2F&seconds=11"},
	} {
		asked = nil
		args := []string{"-latency"}
		for arg := range strings.FieldsSeq(tt.args) {
			args = append(args, strings.ReplaceAll(arg, "|", " "))
		}
		out, stderr, status := call(append(args, srv.URL+tt.path)...)
		slices.Sort(asked)
		if want := []string{tt.profile, tt.tasks}; !slices.Equal(asked, want) {
			t.Errorf("%q: asked for %q, want %q", tt.args, asked, want)
		}
		if status != verb.OK || out != want {
			t.Errorf("%q: status %d, %s%s\nwant %s", tt.args, status, out, stderr, want)
		}
	}
	// A server's address stands for its records, too.
	asked = nil
	if out, stderr, status := call("-latency", profile, srv.URL); status != verb.OK || out != want || !slices.Equal(asked, []string{"/debug/pprof/tasks?format=json"}) {
		t.Errorf("asked for %q: status %d, %s%s\nwant %s", asked, status, out, stderr, want)
	}
	page := filepath.Join(t.TempDir(), "page.html")
	if out, stderr, status := call("-latency", "-html", page, srv.URL); status != verb.OK || out != "" {
		t.Errorf("status %d, %s%s", status, out, stderr)
	}
	if b, err := os.ReadFile(page); err != nil || !bytes.Contains(b, []byte("Where the latency of &#34;GET /&#34; goes")) || len(classes(t, page, "refill")) == 0 {
		t.Errorf("error %v, %d bytes", err, len(b))
	}
}

// TestLatencyLive tests that a real server's profile and its records are of the same time.
func TestLatencyLive(t *testing.T) {
	limit := limitOf()
	if err := task.Start(task.Config{Rate: 1, Slow: map[string]time.Duration{"GET /": limit}}); err != nil {
		t.Fatal(err)
	}
	defer task.Stop()
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/profile", httppprof.Profile)
	mux.HandleFunc("/debug/pprof/tasks", httppprof.Tasks)
	srv := httptest.NewServer(mux)
	defer srv.Close()
	stop := make(chan bool)
	var clients sync.WaitGroup
	clients.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				request(i, true, limit)
			}
		}
	})
	page := filepath.Join(t.TempDir(), "page.html")
	out, stderr, status := call("-latency", "-seconds=1", "-html", page, srv.URL)
	close(stop)
	clients.Wait()
	if status != verb.OK || strings.Contains(stderr, "no record") || len(classes(t, page, "refill")) == 0 {
		t.Errorf("status %d, %s%s", status, out, stderr)
	}
}

// moved writes records to a file as those of another server.
func moved(t *testing.T, records string) string {
	t.Helper()
	f, err := os.Open(records)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b bytes.Buffer
	other := &taskrecord.Server{Name: "other", PID: 1}
	w := taskrecord.NewFileWriter(&b, other)
	for r := taskrecord.NewFileReader(f); ; {
		x, err := r.Next()
		if err != nil {
			break
		}
		x.Server = other
		x.Trace[0] ^= 1
		if err := w.Write(x); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(t.TempDir(), "moved")
	if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestLatencyErrors tests what can't be put together.
func TestLatencyErrors(t *testing.T) {
	profile, records := both(t, true)
	later, _ := both(t, false)
	other := moved(t, records)
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args string
		want string
	}{
		{"", "usage: go tool pmu slow"},
		{profile, "-latency needs records of tasks beside the profile"},
		{"-event cycles http://localhost:1", "-event cycles is no time: -latency needs a clock, such as task-clock"},
		{"-event task-clocks http://localhost:1", "is no time"},
		{profile + " " + profile + "2", "no such file"},
		{profile + " " + records + " " + profile + "2", "not all records could be read"},
		{later + " " + records, "no record is of the time of the profile"},
		{"-kind other " + profile + " " + records, `there is no record of kind "other"`},
		{profile + " " + empty, "there is no record: has the server recorded tasks?"},
		{profile + " " + records + " " + other, "the records are of several servers"},
	} {
		out, stderr, status := call(append([]string{"-latency"}, strings.Fields(tt.args)...)...)
		if status != verb.Error || out != "" || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s: status %d, %s%s, want %s", tt.args, status, out, stderr, tt.want)
		}
	}
	// Of the other alone they may be. Records that were read twice count once.
	out, stderr, status := call("-latency", profile, other)
	if status != verb.OK || stderr != "" {
		t.Errorf("status %d, %s", status, stderr)
	}
	if twice, _, _ := call("-latency", profile, records, records); twice != out {
		t.Errorf("records twice:\n%s\nwant\n%s", twice, out)
	}
}
