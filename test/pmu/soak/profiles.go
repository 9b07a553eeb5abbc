// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pmu/profile"
)

// profiles is what the profiling client did.
type profiles struct {
	// gate is held by each request for a profile while it is served, and by
	// measure, during which such requests are turned away.
	gate sync.RWMutex

	dead     atomic.Bool  // the machine does not stop at breakpoints
	good     atomic.Int64 // profiles taken and checked
	dropped  atomic.Int64 // requests given up by the client
	mu       sync.Mutex
	byStatus map[string]int   // answers, by kind of request and status
	samples  map[string]int64 // of an event in all its profiles
}

// gated keeps requests for profiles apart from measure. A request that the
// client has given up can still be waiting to be served.
func (s *soak) gated(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/debug/pprof/") {
			if !s.prof.gate.TryRLock() {
				http.Error(w, "quiet", http.StatusTooManyRequests)
				return
			}
			defer s.prof.gate.RUnlock()
		}
		h.ServeHTTP(w, r)
	})
}

// An event can be asked for.
type event struct {
	name     string
	min, max float64 // periods to ask for, beside none
	full     bool    // the load is sure to cause it in the user mode or the kernel as asked for
}

// events are those that every Linux has. The service has to run on through
// the least period that a request may ask for. Breakpoints at period 1 have no
// bound, which is why a program has to allow them.
var events = []event{
	{"", 0, 0, true}, // the timer, by default
	{"timer", 0, 0, true},
	{"task-clock:u", 100e3, 1e9, false},
	{"task-clock", 100e3, 20e6, true},
	{"task-clock:k", 100e3, 1e9, false},
	{"cpu-clock:u", 100e3, 1e9, false},
	{"cpu-clock:uk", 100e3, 20e6, true},
	{"page-faults", 10, 200, true},
	{"minor-faults:uk", 10, 200, true},
	{"context-switches", 10, 200, true},
	{"cpu-migrations", 10, 1000, false},
	{"major-faults", 10, 1000, false},
	{"task-clock:uk,page-faults", 100e3, 10e6, true},
	{"cpu-clock,task-clock:uk,context-switches", 100e3, 10e6, true},
	{"task-clock,cpu-clock,page-faults,minor-faults,context-switches,cpu-migrations,task-clock:k,alignment-faults", 100e3, 20e6, false},
	{probe, 1, 50, true},
}

// probe is a breakpoint on serve. (The package is not main in a test.)
var probe = "mem:" + runtime.FuncForPC(reflect.ValueOf(serve).Pointer()).Name() + ":x"

// bad are requests that must be refused, and how.
var bad = []struct {
	query  string
	status int
}{
	{"event=cycels", 400},
	{"event=", 400},
	{"event=task-clock:z", 400},
	{"event=task-clock&period=1", 400},
	{"event=page-faults&period=1", 400},
	{"event=task-clock&seconds=0", 400},
	{"event=task-clock&seconds=1e9", 400},
	{"event=task-clock&period=18446744073709551616", 400},
	{"event=task-clock,task-clock", 400},
	{"event=../../../../etc/passwd", 400},
	{"event=cpu/../../../../etc/event=1/", 400},
	{"event=%00", 400},
	{"event=%zz", 400},
	{"event=" + strings.Repeat("a:", 3000), 400},
	{"event=dummy", 503},
	{"event=task-clock;period=5", 400},
	{"event=mem:main.nosuch:x", 400},
}

// profileFor asks for profiles, one or two at a time, for about d.
func (s *soak) profileFor(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	var clients sync.WaitGroup
	for i := range 2 {
		r := s.rand(3+i, len(s.meters))
		clients.Go(func() {
			c := &http.Client{Transport: &http.Transport{}, Timeout: 2 * time.Minute}
			defer c.CloseIdleConnections()
			for ctx.Err() == nil {
				switch n := r.IntN(10); {
				case i == 1 && n < 7:
					time.Sleep(time.Duration(r.IntN(1000)) * time.Millisecond)
				case n == 9:
					b := bad[r.IntN(len(bad))]
					s.refused(c, b.query, b.status)
				default:
					s.profile(c, r)
				}
			}
		})
	}
	clients.Wait()
}

func (s *soak) tally(what string, resp *http.Response) {
	s.prof.mu.Lock()
	defer s.prof.mu.Unlock()
	s.prof.byStatus[fmt.Sprintf("%s: %d", what, resp.StatusCode)]++
}

// refused sends a request that must be refused.
func (s *soak) refused(c *http.Client, query string, status int) {
	resp, err := c.Get(s.addr + "/debug/pprof/profile?" + query)
	if err != nil {
		s.errorf("%.80s: %v", query, err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	s.tally("refused", resp)
	if busy := resp.StatusCode == http.StatusTooManyRequests; err != nil || resp.StatusCode != status && !busy || len(body) == 0 {
		s.errorf("%.80s: %s, want %d: %s, %v", query, resp.Status, status, body, err)
	}
}

// profile asks for a profile of a random event, and perhaps gives up before it
// is there.
func (s *soak) profile(c *http.Client, r *rand.Rand) {
	e := events[r.IntN(len(events))]
	seconds := 1 + r.IntN(2)
	query := fmt.Sprintf("seconds=%d", seconds)
	if e.name != "" {
		query += "&event=" + url.QueryEscape(e.name)
	}
	period := uint64(0)
	if e.max > 0 && r.IntN(5) > 0 {
		period = uint64(e.min * math.Pow(e.max/e.min, r.Float64()))
		query += fmt.Sprintf("&period=%d", period)
	}
	timeout := 2 * time.Minute
	if r.IntN(5) == 0 {
		// By a timer, so that it hits every stage of the request.
		timeout = time.Duration(r.IntN(1000*seconds)) * time.Millisecond
	}
	calls, requests := s.handled.Load(), s.requests.Load()
	resp, body, err := get(c, timeout, s.addr+"/debug/pprof/profile?"+query)
	if errors.Is(err, context.DeadlineExceeded) {
		s.prof.dropped.Add(1)
		return
	}
	if err != nil {
		s.errorf("%s: %v", query, err)
		return
	}
	s.tally("profile", resp)
	text := strings.TrimSpace(string(body[:min(len(body), 500)]))
	switch resp.StatusCode {
	case http.StatusOK:
		calls = s.handled.Load() - calls
		// On a machine that is too busy for the load there may be no samples.
		requests = s.requests.Load() - requests
		idle := uint64(requests) < 20+20*period && e.name == probe || requests < 20
		s.check(&e, period, query, body, calls, !e.full || idle)
	case http.StatusConflict, http.StatusInternalServerError:
		// The timer, the eight events, or a breakpoint may be taken.
		if !strings.Contains(text, "already in use") && !strings.Contains(text, "other session") && !strings.Contains(text, "another session") {
			s.errorf("%s: %s: %s", query, resp.Status, text)
		}
		time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
	case http.StatusTooManyRequests: // measure has begun
	default:
		if e.name == probe && strings.Contains(text, "accepts breakpoints but does not stop at them") {
			s.prof.dead.Store(true)
			return
		}
		s.errorf("%s: %s: %s", query, resp.Status, text)
	}
}

// get asks for url and gives up after timeout.
func get(c *http.Client, timeout time.Duration, url string) (resp *http.Response, body []byte, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		panic(err)
	}
	if resp, err = c.Do(req); err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	return resp, body, err
}

// check checks a profile: it is well-formed and not empty unless it may be, has
// the events asked for, and the samples stand for as many events as its ledger
// says. calls is how often the breakpoint was passed at most.
func (s *soak) check(e *event, period uint64, query string, data []byte, calls int64, mayBeEmpty bool) {
	parsed, err := profile.Read(bytes.NewReader(data))
	if err != nil {
		s.errorf("%s: %v", query, err)
		return
	}
	p := parsed.Sum()
	// A goroutine that is just ending has no stack: runtime.goexit is not shown.
	if p.NoStack > 2 && p.NoStack*20 > p.Count {
		s.errorf("%s: %d of %d samples have no stack", query, p.NoStack, p.Count)
	}
	if p.Count == 0 && mayBeEmpty {
		s.prof.mu.Lock()
		s.prof.byStatus["profile: without samples"]++
		s.prof.mu.Unlock()
	} else if p.Count == 0 {
		s.errorf("%s: no samples; %q", query, p.Comments)
	}
	if e.name != "" && e.name != "timer" {
		names, sampled := strings.Split(e.name, ","), p.Numbers(profile.Sampled)
		if len(p.Types) != 1+len(names) {
			s.errorf("%s: sample types %v", query, p.Types)
			return
		}
		for i := range names {
			if i >= len(sampled) {
				s.errorf("%s: no ledger of %s; %q", query, names[i], p.Comments)
			} else if got, want := p.Sums[1+i], sampled[i]; got < want {
				s.errorf("%s: samples stand for %d %s, by the ledger for %d; %q", query, got, p.Types[1+i], want, p.Comments)
			}
		}
		// Each call counts once, in user mode, whatever the load.
		if n := p.Sums[len(p.Sums)-1]; e.name == probe && (period == 1 || period == 0) && n > calls {
			s.errorf("%s: %d calls in the profile, %d made; %q", query, n, calls, p.Comments)
		}
	}
	s.prof.good.Add(1)
	s.prof.mu.Lock()
	s.prof.samples[e.name] += p.Count
	s.prof.mu.Unlock()
}

func (p *profiles) report(s *soak) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.logf("profiles: %d taken, %d given up", p.good.Load(), p.dropped.Load())
	for _, k := range slices.Sorted(maps.Keys(p.byStatus)) {
		s.logf("\t%s: %d", k, p.byStatus[k])
	}
	for _, e := range events {
		s.logf("\tsamples of %q: %d", e.name, p.samples[e.name])
		if e.full && !(e.name == probe && p.dead.Load()) && p.samples[e.name] == 0 && p.good.Load() > int64(20*len(events)) {
			s.errorf("no profile of %q", e.name)
		}
	}
	if p.good.Load() == 0 {
		s.errorf("no profile was taken")
	}
}
