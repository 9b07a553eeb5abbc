// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"context"
	"errors"
	"internal/profile"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// server returns the address of a server like that of a program which imports
// this package.
func server(t *testing.T) string {
	s := httptest.NewServer(http.DefaultServeMux)
	t.Cleanup(s.Close)
	return s.URL + "/debug/pprof/"
}

type response struct {
	*http.Response
	body []byte
}

func get(t *testing.T, url string) response {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response{resp, body}
}

// available returns why the event can't be sampled here, or nil.
func available(t *testing.T, name string) error {
	list := pprof.Events()
	i := slices.IndexFunc(list, func(e pprof.EventInfo) bool { return e.Name == name })
	if i < 0 {
		t.Fatalf("no event %s", name)
	}
	return list[i].Err
}

// work burns CPU time and touches fresh pages until the test ends.
func work(t *testing.T) {
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				burn()
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-done })
}

// burn's own instructions must take most of the time: the race detector's, which
// norace keeps away, are on another stack. Tests call it beside work's goroutine.
//
//go:noinline
//go:norace
func burn() {
	b, free := freshMemory(1 << 20)
	for range 100 {
		for i := 0; i < len(b); i += 64 {
			b[i]++
		}
	}
	free()
}

// checkAnswer checks the answer to a request for a profile of the events, the
// first of which decides whether there is one.
func checkAnswer(t *testing.T, r response, event string, sampleTypes ...string) {
	t.Helper()
	if why := available(t, event); why != nil {
		if r.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(r.body), why.Error()) {
			t.Errorf("%s can't be sampled (%v), but the answer is %s:\n%s", event, why, r.Status, r.body)
		}
		if d := r.Header.Get("Content-Disposition"); d != "" {
			t.Errorf("Content-Disposition of an error: %s", d)
		}
		return
	}
	if r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", r.Status, r.body)
	}
	p, err := profile.Parse(bytes.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, st := range p.SampleType {
		// Who may not sample the kernel has clocks of user mode.
		types = append(types, strings.TrimSuffix(st.Type, "_u"))
	}
	if !slices.Equal(types, sampleTypes) {
		t.Errorf("sample types %v, want %v", types, sampleTypes)
	}
	if got := valueIn(p, "pprof.burn"); got == 0 {
		t.Errorf("no samples in burn in the profile of %s:\n%v", event, p)
	}
}

// valueIn returns the sum of the last values of the samples with the function.
func valueIn(p *profile.Profile, function string) (sum int64) {
	for _, s := range p.Sample {
		for _, l := range s.Location {
			for _, line := range l.Line {
				if strings.HasSuffix(line.Function.Name, function) {
					sum += s.Value[len(s.Value)-1]
				}
			}
		}
	}
	return sum
}

func TestEventProfile(t *testing.T) {
	addr := server(t)
	work(t)
	for _, test := range []struct {
		query, event string
		disposition  string
		sampleTypes  []string
	}{
		{"event=task-clock&period=1000000&seconds=1", "task-clock", "profile-task-clock", []string{"samples", "task_clock"}},
		{"event=faults&seconds=1", "page-faults", "profile-faults", []string{"samples", "page_faults"}},
		{"event=cycles&period=1000003&seconds=1", "cycles", "profile-cycles", []string{"samples", "cycles"}},
		{"event=cacheMisses&seconds=1", "cache-misses", "profile-cacheMisses", []string{"samples", "cache_misses"}},
		{"event=timer&period=1&seconds=1", "", "profile-timer", []string{"samples", "cpu"}},
	} {
		t.Run(test.query, func(t *testing.T) {
			r := get(t, addr+"profile?"+test.query)
			if test.event == "" {
				test.event = "cpu-clock" // a machine without has other troubles
			}
			checkAnswer(t, r, test.event, test.sampleTypes...)
			if r.StatusCode != http.StatusOK {
				return
			}
			for header, want := range map[string]string{
				"Content-Type":           "application/octet-stream",
				"Content-Disposition":    `attachment; filename="` + test.disposition + `"`,
				"X-Content-Type-Options": "nosniff",
			} {
				if got := r.Header.Get(header); got != want {
					t.Errorf("%s: got %q, want %q", header, got, want)
				}
			}
		})
	}
}

func TestEventProfileSeveral(t *testing.T) {
	addr := server(t)
	work(t)
	for _, query := range []string{
		"event=task-clock,page-faults&seconds=1",
		"event=task-clock&event=page-faults&seconds=1",
	} {
		t.Setenv("GO_PPROF_ENABLE_MULTIPLE_CPU_PROFILES", "") // one profile needs no switch
		r := get(t, addr+"profile?"+query)
		checkAnswer(t, r, "task-clock", "samples", "task_clock", "page_faults")
		if want := `attachment; filename="profile-task-clock-page-faults"`; r.StatusCode == http.StatusOK && r.Header.Get("Content-Disposition") != want {
			t.Errorf("Content-Disposition: %s", r.Header.Get("Content-Disposition"))
		}
	}
}

// TestEventProfileData tests that each sample of a page fault says what was accessed, if that
// is asked for.
func TestEventProfileData(t *testing.T) {
	addr := server(t)
	work(t)
	for query, want := range map[string]bool{"": false, "&data=0": false, "&data=1": true} {
		r := get(t, addr+"profile?event=page-faults&period=10&seconds=1"+query)
		if r.StatusCode != http.StatusOK {
			if available(t, "page-faults") == nil {
				t.Errorf("%s: %s", r.Status, r.body)
			}
			continue
		}
		p, err := profile.Parse(bytes.NewReader(r.body))
		if err != nil {
			t.Fatal(err)
		}
		with := 0
		for _, s := range p.Sample {
			if len(s.Label["object"]) == 1 {
				with++
			}
		}
		if with > 0 != want {
			t.Errorf("%q: %d of %d samples say what was accessed", query, with, len(p.Sample))
		}
	}
}

func TestEventProfileRefused(t *testing.T) {
	const names = "events are timer, cycles, instructions, cacheReferences, cacheMisses, branches, branchMisses, rHEX"
	addr := server(t)
	for _, test := range []struct {
		query  string
		status int
		text   string
	}{
		{"event=cacheMises", 400, `"cacheMises": no event has this name here; nearest: cacheMisses`},
		{"event=cacheMises", 400, names},
		{"event=", 400, names},
		{"event=,", 400, "the name is empty"},
		{"event=rxyz", 400, names},
		{"event=%00", 400, "control characters"},
		{"event=" + strings.Repeat("x", 5000), 400, "longer than 256 bytes"},
		{"event=cycles:z", 400, "unknown modifier"},
		{"event=%zz", 400, "malformed query"},
		{"event=task-clock;period=5", 400, "malformed query"},

		{"event=task-clock&seconds=0", 400, `invalid value for "seconds" - must be a positive integer`},
		{"event=task-clock&seconds=-1", 400, `invalid value for "seconds"`},
		{"event=task-clock&seconds=1.5", 400, `invalid value for "seconds"`},
		{"event=task-clock&seconds=9223372037", 400, `invalid value for "seconds"`},
		{"event=timer&seconds=x", 400, `invalid value for "seconds"`},
		{"event=task-clock&seconds=1&seconds=600", 400, `"seconds" is there 2 times`},

		{"event=task-clock&period=x", 400, `invalid value for "period"`},
		{"event=task-clock&period=-1", 400, `invalid value for "period"`},
		{"event=task-clock&period=9223372036854775808", 400, `invalid value for "period"`},
		{"event=timer&period=x", 400, `invalid value for "period"`},
		{"event=task-clock&period=1&period=2", 400, `"period" is there 2 times`},

		{"event=page-faults&data=2", 400, `invalid value for "data" - must be 1`},
		{"event=page-faults&data=1&data=0", 400, `"data" is there 2 times`},
		{"event=timer&data=1", 400, "the timer's have none"},
		{"event=task-clock&data=1", 400, "event task-clock has no addresses"},
		{"event=page-faults,task-clock&data=1", 400, "event task-clock has no addresses"},

		// The floors: refused before the machine is asked.
		{"event=task-clock&period=99999", 400, "the least that can be asked for over HTTP is 100000 nanoseconds"},
		{"event=cpu-clock:uk&period=1", 400, "the preset is 1000003"},
		{"event=page-faults&period=9", 400, "is 10 events"},
		{"event=cycles&period=9999", 400, "is 10000 events"},
		{"event=cacheMisses&period=999", 400, "is 1000 events"},
		{"event=LLC-load-misses&period=999", 400, "is 1000 events"},
		{"event=LLC-loads&period=9999", 400, "is 10000 events"},
		{"event=r3c&period=9999", 400, "is 10000 events"},

		{"event=mem:net/http/pprof.burn:x", 403, "breakpoints stop the program"},
		{"event=mem:0x1234/8:rw", 403, "GO_PPROF_ENABLE_HTTP_PROBES=true"},
		{"event=task-clock,mem:0x1234/8:rw", 403, "GO_PPROF_ENABLE_HTTP_PROBES=true"},
		{"event=dummy", 503, "it counts nothing"},
	} {
		r := get(t, addr+"profile?"+test.query)
		if r.StatusCode != test.status || !strings.Contains(string(r.body), test.text) {
			t.Errorf("%.100s: %s: %s\nwant %d and %q", test.query, r.Status, r.body, test.status, test.text)
		}
		if ct, x := r.Header.Get("Content-Type"), r.Header.Get("X-Go-Pprof"); ct != "text/plain; charset=utf-8" || x != "1" {
			t.Errorf("%.100s: Content-Type %q, X-Go-Pprof %q", test.query, ct, x)
		}
	}
}

// TestEventProfileMethod checks methods, which the package's own patterns
// refuse too, unless a program has registered Profile without one.
func TestEventProfileMethod(t *testing.T) {
	for _, req := range []*http.Request{
		httptest.NewRequest("POST", "/debug/pprof/profile?event=task-clock&seconds=1", nil),
		httptest.NewRequest("POST", "/debug/pprof/profile", strings.NewReader("event=task-clock&seconds=1")),
		httptest.NewRequest("HEAD", "/debug/pprof/profile?event=task-clock&seconds=1", nil),
	} {
		if req.ContentLength > 0 {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		w := httptest.NewRecorder()
		Profile(w, req)
		if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET" {
			t.Errorf("%s: %d, Allow %q: %s", req.Method, w.Code, w.Header().Get("Allow"), w.Body)
		}
	}
}

// TestEventProfileBusy checks requests that come while profiles are taken: the timer
// is taken, and so are breakpoints in the end, but other events are not.
func TestEventProfileBusy(t *testing.T) {
	addr := server(t)
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Fatal(err)
	}
	const busy = "Could not enable CPU profiling: cpu profiling already in use\n"
	if r := get(t, addr+"profile?seconds=1&event=timer"); r.StatusCode != http.StatusConflict || string(r.body) != busy {
		t.Errorf("timer: %s: %s", r.Status, r.body)
	}
	has := available(t, "task-clock") == nil
	if r := get(t, addr+"profile?seconds=1&event=task-clock"); has && r.StatusCode != http.StatusOK {
		t.Errorf("beside the timer: %s: %s", r.Status, r.body)
	}
	// Without an event, all is as it was.
	r := get(t, addr+"profile?seconds=1&period=x")
	if r.StatusCode != http.StatusInternalServerError || string(r.body) != busy {
		t.Errorf("without event: %s: %s", r.Status, r.body)
	}
	pprof.StopCPUProfile()

	if !has {
		return
	}
	if err := pprof.StartCPUProfileWithConfig(pprof.PerfEvent(io.Discard, "task-clock", 0)); err != nil {
		t.Fatal(err)
	}
	defer pprof.StopCPUProfile()
	if r := get(t, addr+"profile?seconds=1&event=page-faults"); r.StatusCode != http.StatusOK {
		t.Errorf("beside an event: %s: %s", r.Status, r.body)
	}
	// Eight events in all.
	s, err := pprof.StartSession(pprof.PerfEvents(io.Discard, 0, "cpu-clock", "page-faults", "minor-faults", "major-faults", "alignment-faults", "emulation-faults"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	if r := get(t, addr+"profile?seconds=1&event=page-faults,minor-faults"); r.StatusCode != http.StatusConflict || !strings.Contains(string(r.body), "other sessions") {
		t.Errorf("beside seven events: %s: %s", r.Status, r.body)
	}
	if r := get(t, addr+"profile?seconds=1"); r.StatusCode != http.StatusInternalServerError {
		t.Errorf("without event, beside an event: %s: %s", r.Status, r.body)
	}
}

// TestEventProfileSetting tests that a client is not told that its request is wrong
// where the program's environment is.
func TestEventProfileSetting(t *testing.T) {
	if available(t, "task-clock") != nil {
		t.Skip("no events")
	}
	addr := server(t)
	for _, name := range []string{"GO_PPROF_MAX_OVERHEAD", "GO_PPROF_PRECISION"} {
		t.Setenv(name, "much")
		if r := get(t, addr+"profile?event=task-clock&seconds=1"); r.StatusCode != http.StatusInternalServerError || !strings.Contains(string(r.body), name) {
			t.Errorf("%s: %s: %s", name, r.Status, r.body)
		}
		t.Setenv(name, "")
	}
}

// TestEventProfileOverhead tests that what a client sends does not become the owner's
// setting of the overhead bound: it is not even looked at, or the value would be an error.
func TestEventProfileOverhead(t *testing.T) {
	if err := available(t, "task-clock"); err != nil {
		t.Skip(err)
	}
	const name = "GO_PPROF_MAX_OVERHEAD"
	for _, setting := range []string{name + "=x", "overhead=x", "max_overhead=x", name + "=off"} {
		t.Setenv(name, "7")
		r := get(t, server(t)+"profile?event=task-clock&seconds=1&"+setting)
		if r.StatusCode != http.StatusOK {
			t.Errorf("%s: %s: %s", setting, r.Status, r.body)
		}
		if v := os.Getenv(name); v != "7" {
			t.Errorf("%s: the program's setting has become %q", setting, v)
		}
	}
}

// eventsFree reports whether nobody samples any of the eight events that can be sampled.
func eventsFree(t *testing.T) bool {
	for _, names := range [][]string{
		{"cpu-clock", "task-clock", "page-faults", "minor-faults", "major-faults", "alignment-faults", "emulation-faults"},
		{"page-faults"},
	} {
		s, err := pprof.StartSession(pprof.PerfEvents(io.Discard, 0, names...))
		if err == nil {
			defer s.Stop()
			continue
		}
		if !errors.Is(err, syscall.EBUSY) {
			t.Error(err)
		}
		return false
	}
	return true
}

// timerFree reports whether nobody takes a profile of the timer.
func timerFree() bool {
	err := pprof.StartCPUProfile(io.Discard)
	if err == nil {
		pprof.StopCPUProfile()
	}
	return err == nil
}

// TestEventProfileClientGone checks that a profile ends with the request.
func TestEventProfileClientGone(t *testing.T) {
	event, free := "task-clock", func() bool { return eventsFree(t) }
	if available(t, event) != nil {
		event, free = "timer", timerFree
	}
	addr := server(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", addr+"profile?seconds=3600&event="+event, nil)
	if err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() {
		_, err := http.DefaultClient.Do(req)
		result <- err
	}()

	waitFor := func(what string, ok func() bool) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(time.Millisecond) {
			if len(result) > 0 {
				t.Fatalf("request ended: %v", <-result)
			}
			if time.Now().After(deadline) {
				t.Fatalf("waited too long for %s", what)
			}
		}
	}
	// Starting a profile to see whether one runs would make the request fail.
	waitFor("the profile to start", func() bool {
		var stacks bytes.Buffer
		pprof.Lookup("goroutine").WriteTo(&stacks, 2)
		return bytes.Contains(stacks.Bytes(), []byte("net/http/pprof.waitSeconds"))
	})
	if free() {
		t.Fatal("the request has not started a profile")
	}
	start := time.Now()
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("request ended with %v", err)
	}
	waitFor("the profile to end", free)
	t.Logf("ended after %v", time.Since(start))
}

var called atomic.Int64

//go:noinline
func probed() { called.Add(1) }

// TestEventProfileProbes checks the switch for breakpoints and tracepoints.
func TestEventProfileProbes(t *testing.T) {
	t.Setenv(probesEnv, "true")
	const event = "mem:net/http/pprof.probed:x"
	startErr := pprof.StartCPUProfileWithConfig(pprof.PerfEvent(io.Discard, event, 0))
	if startErr == nil {
		pprof.StopCPUProfile()
	}
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				probed()
			}
		}
	}()
	addr := server(t)
	r := get(t, addr+"profile?seconds=1&event="+url.QueryEscape(event))
	close(stop)
	<-done
	if startErr != nil {
		if r.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(r.body), strings.TrimPrefix(startErr.Error(), "cpu profile: ")) {
			t.Errorf("%v, but the answer is %s: %s", startErr, r.Status, r.body)
		}
	} else if r.StatusCode != http.StatusOK {
		t.Errorf("%s: %s", r.Status, r.body)
	} else if p, err := profile.Parse(bytes.NewReader(r.body)); err != nil {
		t.Error(err)
	} else if n := valueIn(p, "pprof.probed"); n == 0 || n > called.Load() {
		t.Errorf("%d calls in the profile, %d made", n, called.Load())
	}
	r = get(t, addr+"profile?seconds=1&event=mem:main.nosuch:x")
	if r.StatusCode != http.StatusBadRequest && startErr == nil {
		t.Errorf("unknown function: %s: %s", r.Status, r.body)
	}
}

// TestTracepointNeedsSwitch checks that names of the form of a tracepoint are
// refused, whether tracefs can be read here or not.
func TestTracepointNeedsSwitch(t *testing.T) {
	r := get(t, server(t)+"profile?seconds=1&event=sched:sched_switch")
	switch r.StatusCode {
	case http.StatusForbidden:
		if !strings.Contains(string(r.body), "tracepoints stop the program") {
			t.Errorf("%s", r.body)
		}
	case http.StatusBadRequest, http.StatusServiceUnavailable: // no tracefs
	default:
		t.Errorf("%s: %s", r.Status, r.body)
	}
}
