// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"errors"
	"internal/profile"
	"internal/testenv"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzEventRequest checks that whatever a query says, it is either refused with
// a reason of bounded size, or asks for a bounded number of events, none of
// which stops the program where the client says. Whether the names are parsed
// well is for internal/perfevent's fuzz test.
func FuzzEventRequest(f *testing.F) {
	for _, query := range []string{
		"event=task-clock&period=1000003&seconds=5",
		"event=cycles,instructions:u&event=page-faults",
		"event=timer",
		"event=mem:main.f:x&period=1",
		"event=sched:sched_switch",
		"event=../../etc/passwd",
		"event=cpu/../../type/",
		"event=cpu/event=0x3c,umask=0/&seconds=99999999999999999999",
		"event=r01c2&period=-1",
		"event=%00&seconds=1;period=1",
		"event=task-clock%3Auk&period=99999",
		"event=,,,,,,,,,,,,&event=",
		"seconds=1&seconds=2&event=faults",
	} {
		f.Add(query)
	}
	f.Setenv(probesEnv, "")
	f.Fuzz(func(t *testing.T, query string) {
		r := httptest.NewRequest("GET", "/debug/pprof/profile", nil)
		r.URL.RawQuery = query
		if r.FormValue("event"); !hasEvent(r) {
			return
		}
		req, err := parseEventRequest(r)
		if err != nil {
			var re *requestError
			if !errors.As(err, &re) {
				t.Fatalf("%q: %v", query, err)
			}
			if re.status != http.StatusBadRequest && re.status != http.StatusForbidden && re.status != http.StatusServiceUnavailable {
				t.Errorf("%q: status %d: %v", query, re.status, err)
			}
			if len(re.text) == 0 || len(re.text) > 4000 {
				t.Errorf("%q: a reason of %d bytes", query, len(re.text))
			}
			return
		}
		if req.seconds <= 0 || int64(req.period) < 0 {
			t.Errorf("%q: %+v", query, req)
		}
		for _, event := range req.events {
			if strings.HasPrefix(event, "mem:") || strings.Contains(event, "..") || event == "" {
				t.Errorf("%q: asks for %q", query, event)
			}
			if req.period != 0 && req.period < 10 && !req.isTimer() {
				t.Errorf("%q: asks for %q with period %d", query, event, req.period)
			}
		}
		if name := req.fileName(); strings.ContainsAny(name, "/\\\"\n\x00") {
			t.Errorf("%q: file name %q", query, name)
		}
	})
}

// TestEventProfileBesideFlag checks requests to a test binary that takes
// a profile for its flags: those for the timer are refused, others have their
// profiles, and that one is whole.
func TestEventProfileBesideFlag(t *testing.T) {
	const env = "PMU_TEST_BESIDE_FLAG"
	if os.Getenv(env) != "" {
		addr := server(t)
		work(t)
		for _, query := range []string{"event=task-clock&seconds=1", "event=page-faults&seconds=1", "event=timer&seconds=1"} {
			want := http.StatusOK
			if query == "event=timer&seconds=1" {
				want = http.StatusConflict
			} else if available(t, "task-clock") != nil {
				want = http.StatusServiceUnavailable
			}
			if r := get(t, addr+"profile?"+query); r.StatusCode != want {
				t.Errorf("%s: %s, want %d: %s", query, r.Status, want, r.body)
			}
		}
		for range 200 {
			burn()
		}
		return
	}
	event := "task-clock"
	if available(t, event) != nil {
		event = "timer"
	}
	file := filepath.Join(t.TempDir(), "cpu")
	cmd := testenv.Command(t, testenv.Executable(t), "-test.run=^TestEventProfileBesideFlag$",
		"-test.cpuprofile="+file, "-test.cpuprofileevent="+event)
	cmd.Env = append(cmd.Environ(), env+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	p, err := profile.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if event != "timer" && strings.TrimSuffix(p.PeriodType.Type, "_u") != "task_clock" {
		t.Errorf("a profile of %s", p.PeriodType.Type)
	}
	if valueIn(p, "pprof.burn") == 0 {
		t.Errorf("no samples in burn:\n%v", p)
	}
}
