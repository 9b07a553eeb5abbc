// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"context"
	"fmt"
	"internal/perfevent"
	"internal/profile"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A countingFS counts the files that are opened in it.
type countingFS struct {
	fs.FS
	opened atomic.Int64
	onOpen func()
}

func (c *countingFS) Open(name string) (fs.File, error) {
	c.opened.Add(1)
	if c.onOpen != nil {
		c.onOpen()
	}
	return c.FS.Open(name)
}

// countSys counts the files of sysfs that requests open from now on.
func countSys(t *testing.T) *countingFS {
	c := &countingFS{FS: os.DirFS("/sys")}
	perfevent.TestSys = c
	t.Cleanup(func() { perfevent.TestSys = nil })
	return c
}

// mallocs returns how many objects f allocates, and some of others' perhaps.
func mallocs(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}

// TestEventProfileMany checks that a request which names very many events is
// refused before any name is looked at: neither is a file of sysfs opened, nor
// is more allocated than for a short one.
func TestEventProfileMany(t *testing.T) {
	names := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, ",r%x", i+1)
		}
		return b.String()[1:]
	}
	const n = 140_000
	sys := countSys(t)
	request := func(query, want string) (allocs uint64) {
		t.Helper()
		r := httptest.NewRequest("GET", "/debug/pprof/profile", nil)
		r.URL.RawQuery = query
		w := httptest.NewRecorder()
		allocs = mallocs(func() { Profile(w, r) })
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%.50s: %d: %.500s\nwant 400 and %q", query, w.Code, w.Body, want)
		}
		if n := sys.opened.Swap(0); n > 0 {
			t.Errorf("%.50s: opened %d files", query, n)
		}
		return allocs
	}
	const long = "the query is longer than 32768 bytes"
	small := request("event="+names(9), "9 events at once; at most 8 can be sampled")
	for _, test := range []struct{ query, want string }{
		{"event=" + names(4000), "4000 events at once; at most 8 can be sampled"},
		{"event=" + strings.Repeat(",", 30_000), "30001 events at once; at most 8 can be sampled"},
		{"event=" + names(n), long},
		{"event=" + strings.Repeat("cycles,", n), long},
		{"event=" + strings.Repeat("%2C", n), long},
		{"%65vent=" + names(n), long},
		{"seconds=1&x=" + strings.Repeat("x", n) + "&event=task-clock", long},
		{"event=" + strings.Repeat("x(", 10_000), "longer than 256 bytes"},
	} {
		if allocs := request(test.query, test.want); allocs > small+1000 {
			t.Errorf("%.50s: %d allocations, %d for 9 events", test.query, allocs, small)
		}
	}
	// Values of their own are more for the server to parse.
	request("event=r1"+strings.Repeat("&event=r2", 2000), "2001 events at once")
	request("event=r1"+strings.Repeat("&event=r2", n), long)
	request("event=r1"+strings.Repeat("&a", 15_000), "malformed query: number of URL query parameters exceeded limit")

	// The same name twice is not worth a look either.
	request("event=cycles,task-clock,cycles", "event cycles is there twice")
	request("event=timer,timer", "event timer is there twice")
}

// TestEventProfileInBody checks that there is no way around the limits.
func TestEventProfileInBody(t *testing.T) {
	sys := countSys(t)
	body := "--b\r\nContent-Disposition: form-data; name=\"event\"\r\n\r\nr1" + strings.Repeat(",r1", 140_000) + "\r\n--b--\r\n"
	r := httptest.NewRequest("GET", "/debug/pprof/profile", strings.NewReader(body))
	r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
	w := httptest.NewRecorder()
	Profile(w, r)
	if want := "belong in the query of the URL"; w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
		t.Errorf("%d: %.500s\nwant 400 and %q", w.Code, w.Body, want)
	}
	if n := sys.opened.Load(); n > 0 {
		t.Errorf("opened %d files", n)
	}
}

// TestEventProfileGoneEarly checks that nothing is done for a client that has
// gone: while names are looked at, no other one is, and no profile starts.
func TestEventProfileGoneEarly(t *testing.T) {
	sys := countSys(t)
	// Eight events, each of which has files in sysfs to be opened.
	var names []string
	for i := range 8 {
		names = append(names, fmt.Sprintf("cpu/event=%#x/", i+1))
	}
	serve := func(ctx context.Context) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", "/debug/pprof/profile?seconds=1&event="+strings.Join(names, ","), nil)
		w := httptest.NewRecorder()
		w.Code = 0
		Profile(w, r.WithContext(ctx))
		return w
	}
	// How many files one name takes; whether the machine has it or not.
	names = names[:1]
	serve(context.Background())
	one := sys.opened.Swap(0)
	if one == 0 && runtime.GOOS == "linux" {
		t.Fatal("nothing is counted")
	}
	names = names[:8]

	ctx, cancel := context.WithCancel(context.Background())
	sys.onOpen = cancel
	w := serve(ctx)
	if n := sys.opened.Swap(0); n > one {
		t.Errorf("opened %d files after the client had gone; one name takes %d", n, one)
	}
	if w.Code != 0 || w.Body.Len() > 0 {
		t.Errorf("answered %d: %s", w.Code, w.Body)
	}

	// Gone before it began: not even the first.
	w = serve(ctx)
	if n := sys.opened.Swap(0); n > 0 {
		t.Errorf("opened %d files for a client that was not there", n)
	}
	// Nor does a profile start that needs no name to be looked at.
	names = []string{"timer"}
	if w = serve(ctx); w.Code != 0 || w.Body.Len() > 0 {
		t.Errorf("answered %d: %s", w.Code, w.Body)
	}
}

// TestEventProfileIdle checks that a program that does nothing is no failure of
// the machine: a scraper would take the service for broken.
func TestEventProfileIdle(t *testing.T) {
	addr := server(t)
	for _, test := range []struct{ query, event string }{
		{"event=page-faults&period=1000000000000000", "page-faults"}, // never reached, whatever the tests do
		{"event=task-clock&period=1000000000000000", "task-clock"},
		{"event=task-clock", "task-clock"},
		{"event=page-faults", "page-faults"},
		{"event=major-faults", "major-faults"},
		{"event=timer", "timer"},
	} {
		r := get(t, addr+"profile?seconds=1&"+test.query)
		if test.event != "timer" && available(t, test.event) != nil {
			if r.StatusCode != http.StatusServiceUnavailable {
				t.Errorf("%s: %s: %s", test.query, r.Status, r.body)
			}
			continue
		}
		if r.StatusCode != http.StatusOK {
			t.Errorf("%s: %s: %s", test.query, r.Status, r.body)
			continue
		}
		p, err := profile.Parse(bytes.NewReader(r.body))
		if err != nil {
			t.Errorf("%s: %v", test.query, err)
			continue
		}
		said := strings.Contains(strings.Join(p.Comments, "\n"), "no samples: the program was idle")
		if want := len(p.Sample) == 0 && test.event != "timer"; said != want {
			t.Errorf("%s: %d samples, and the comments are\n%s", test.query, len(p.Sample), strings.Join(p.Comments, "\n"))
		}
		if strings.Contains(test.query, "period") && len(p.Sample) > 1 {
			t.Errorf("%s: %d samples", test.query, len(p.Sample))
		}
	}
}

// TestCheckProfile checks that a machine which accepts an event and does not
// count it is told from a program that was idle.
func TestCheckProfile(t *testing.T) {
	for _, test := range []struct {
		comments []string
		status   int
	}{
		{[]string{"event: cycles", "no samples: the program was idle"}, http.StatusOK},
		{[]string{"event: cycles", "warning: no samples: the machine accepts it but does not count it"}, http.StatusServiceUnavailable},
	} {
		err := checkSamples(&profile.Profile{Comments: test.comments})
		status := http.StatusOK
		if e, ok := err.(*requestError); ok {
			status = e.status
		}
		if status != test.status {
			t.Errorf("%q: %d, want %d: %v", test.comments, status, test.status, err)
		}
	}
	if err := checkSamples(&profile.Profile{Sample: []*profile.Sample{{}}, Comments: []string{"warning: no samples: x"}}); err != nil {
		t.Errorf("with samples of another event: %v", err)
	}
}

// TestEventProfileTimer checks what a request for the timer beside events is
// told to do, by doing it.
func TestEventProfileTimer(t *testing.T) {
	addr := server(t)
	for _, test := range []struct{ query, first, second string }{
		{"event=timer,task-clock&seconds=1", "?event=timer&seconds=1", "?event=task-clock&seconds=1"},
		{"event=task-clock,timer,page-faults&period=1000003&seconds=1", "?event=timer&seconds=1", "?event=task-clock,page-faults&period=1000003&seconds=1"},
		{"event=timer&event=task-clock:u", "?event=timer", "?event=task-clock%3Au"},
	} {
		r := get(t, addr+"profile?"+test.query)
		want := "the timer has a profile of its own, and an answer is one profile: ask for " + test.first +
			" and, at the same time or later, for " + test.second + "\n"
		if r.StatusCode != http.StatusBadRequest || string(r.body) != want {
			t.Errorf("%s: %s: %s\nwant %s", test.query, r.Status, r.body, want)
		}
		if !strings.Contains(test.query, "seconds") {
			continue
		}
		var wg sync.WaitGroup
		for _, query := range []string{test.first, test.second} {
			wg.Go(func() {
				if r := get(t, addr+"profile"+query); r.StatusCode != http.StatusOK && available(t, "task-clock") == nil {
					t.Errorf("%s: %s: %s", query, r.Status, r.body)
				}
			})
		}
		wg.Wait()
	}
	// A long list is not repeated.
	r := get(t, addr+"profile?event=timer,"+strings.Repeat("x", 5000))
	if want := "for the other events"; r.StatusCode != http.StatusBadRequest || !strings.Contains(string(r.body), want) || len(r.body) > 1000 {
		t.Errorf("%s: %d bytes: %.1000s", r.Status, len(r.body), r.body)
	}
}

// TestEventsSwitchedOff checks the switch.
func TestEventsSwitchedOff(t *testing.T) {
	addr := server(t)
	old := probeEvents
	probeEvents = func() []pprof.EventInfo { t.Error("probed"); return nil }
	t.Cleanup(func() { probeEvents = old })
	for _, value := range []string{"true", "1", "yes"} {
		t.Setenv(noEventsEnv, value)
		for _, path := range []string{"?events=1", "profile?event=task-clock&seconds=1", "profile?event=cycles,nosuch", "profile?event=mem:0x10:w"} {
			r := get(t, addr+path)
			if want := "GO_PPROF_DISABLE_HTTP_EVENTS=" + value; r.StatusCode != http.StatusForbidden || !strings.Contains(string(r.body), want) {
				t.Errorf("%s: %s: %s", path, r.Status, r.body)
			}
		}
		r := get(t, addr)
		if r.StatusCode != http.StatusOK || strings.Contains(string(r.body), "?events=1") || !strings.Contains(string(r.body), "GO_PPROF_DISABLE_HTTP_EVENTS") {
			t.Errorf("index: %s: %s", r.Status, r.body)
		}
	}
	for _, path := range []string{"profile?event=timer&seconds=1", "profile?seconds=1"} {
		if r := get(t, addr+path); r.StatusCode != http.StatusOK {
			t.Errorf("%s: %s: %s", path, r.Status, r.body)
		}
	}
	for _, value := range []string{"", "false", "0"} {
		t.Setenv(noEventsEnv, value)
		if r := get(t, addr+"profile?event=nosuch"); r.StatusCode != http.StatusBadRequest {
			t.Errorf("with %q: %s: %s", value, r.Status, r.body)
		}
	}
}
