// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"internal/perfevent"
	"internal/runtime/perf"
	"math"
	"net/http"
	"net/url"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxQuery bounds the query of a request for events, in bytes. Eight breakpoints with
// the longest names that are parsed, completely escaped, take 24 KiB.
const maxQuery = 32 << 10

// An eventRequest is what a request for a profile of events asks for.
type eventRequest struct {
	events  []string // as given; of one profile
	period  uint64   // 0 for the events' presets
	seconds int64
	data    bool // with data addresses

	opt pprof.ProfilingOption // see option
	buf bytes.Buffer          // the profile
}

// parseEventRequest returns what r asks for. The query is bounded before anything is
// done whose cost grows with its length.
func parseEventRequest(r *http.Request) (*eventRequest, error) {
	if r.Method != "" && r.Method != http.MethodGet {
		return nil, &requestError{http.StatusMethodNotAllowed, "a profile of events is asked for with GET"}
	}
	if len(r.URL.RawQuery) > maxQuery {
		return nil, badRequest("the query is longer than %d bytes", maxQuery)
	}
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, badRequest("malformed query: %v", err)
	}
	if !q.Has("event") {
		return nil, badRequest("the parameters of a profile of events belong in the query of the URL")
	}
	req := new(eventRequest)
	if err := req.parseNumbers(q); err != nil {
		return nil, err
	}
	if err := req.parseEvents(q["event"]); err != nil {
		return nil, err
	}
	if req.isTimer() {
		if req.data {
			return nil, badRequest("data=1 needs an event whose samples have addresses, such as page-faults: the timer's have none")
		}
		return req, nil
	}
	if slices.Contains(req.events, perfevent.Timer) {
		return nil, req.timerError(q)
	}
	if err := eventsOff(); err != nil {
		return nil, err
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return req, req.checkEvents()
}

// parseEvents sets the events: those of all values of the parameter.
func (req *eventRequest) parseEvents(values []string) error {
	req.events = perfevent.Split(strings.Join(values, ","))
	if len(req.events) > perf.MaxEvents {
		return badRequest("%d events at once; at most %d can be sampled", len(req.events), perf.MaxEvents)
	}
	for i, name := range req.events {
		if name != "" && slices.Contains(req.events[:i], name) {
			return badRequest("event %.100s is there twice", name)
		}
	}
	return nil
}

// parseNumbers sets the duration and the period.
func (req *eventRequest) parseNumbers(q url.Values) error {
	// A parameter that is there more than once would be ignored in part.
	for _, name := range []string{"period", "seconds", "data"} {
		if len(q[name]) > 1 {
			return badRequest("%q is there %d times", name, len(q[name]))
		}
	}
	req.seconds = 30
	if s := q.Get("seconds"); s != "" {
		const maxSeconds = math.MaxInt64 / int64(time.Second)
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n <= 0 || n > maxSeconds {
			return badRequest(`invalid value for "seconds" - must be a positive integer`)
		}
		req.seconds = n
	}
	if s := q.Get("period"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 0 {
			return badRequest(`invalid value for "period" - must be a number of events between two samples (of nanoseconds for clocks), or 0 for the event's preset`)
		}
		req.period = uint64(n)
	}
	switch s := q.Get("data"); s {
	case "", "0":
	case "1":
		req.data = true
	default:
		return badRequest(`invalid value for "data" - must be 1, for samples with data addresses, or 0`)
	}
	return nil
}

// option returns what is to be sampled, into req.buf.
func (req *eventRequest) option() pprof.ProfilingOption {
	if req.opt == nil {
		if req.isTimer() {
			req.opt = pprof.OSTimer(&req.buf)
		} else {
			req.opt = pprof.PerfEvents(&req.buf, req.period, req.events...)
		}
		if req.data {
			req.opt = pprof.DataAddresses(req.opt)
		}
	}
	return req.opt
}

// timerError says what to ask for instead of the timer beside other events.
// The values of q have been checked.
func (req *eventRequest) timerError(q url.Values) error {
	query := func(event string, params ...string) string {
		s := "?event=" + event
		for _, p := range params {
			if v := q.Get(p); v != "" {
				s += "&" + p + "=" + v
			}
		}
		return s
	}
	var others []string
	for _, e := range req.events {
		if e != perfevent.Timer {
			others = append(others, url.QueryEscape(e))
		}
	}
	rest := query(strings.Join(others, ","), "period", "seconds")
	if len(rest) > 500 {
		rest = "the other events"
	}
	return badRequest("the timer has a profile of its own, and an answer is one profile: ask for %s and, at the same time or later, for %s",
		query(perfevent.Timer, "seconds"), rest)
}

// isTimer reports whether the timer is asked for by name. Its period is fixed.
func (req *eventRequest) isTimer() bool {
	return len(req.events) == 1 && req.events[0] == perfevent.Timer
}

// fileName returns the events as part of a file's name.
func (req *eventRequest) fileName() string {
	return strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.':
			return c
		}
		return '_'
	}, strings.Join(req.events, "-"))
}
