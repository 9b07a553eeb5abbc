// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"errors"
	"fmt"
	"internal/perfevent"
	"internal/profile"
	"internal/runtime/perf"
	"math"
	"net/http"
	"net/url"
	"os"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Requests for profiles of events (proposal 36821, section 4.6):
//
//	/debug/pprof/profile?event=cycles&period=1000003&seconds=5
//
// A request without event is served by upstream's code.
//
// Unlike a profile of the timer, a profile of events may have to be refused: the
// machine may not have the event, and a client that could ask for any event at any
// period could stop the service. So the parameters are checked strictly, and nothing
// of the answer is written before there is a profile.

// probesEnv lets requests sample breakpoints and tracepoints.
//
// These make a program stop wherever the client says, each time it gets there. A
// breakpoint on a hot function slows the service down a hundredfold, and one on a
// variable that depends on a secret reveals the secret. Whether clients may do that
// depends on who can reach the server, which its operator knows and its author does
// not. So it is a variable of the environment, and not one of this package.
const probesEnv = "GO_PPROF_ENABLE_HTTP_PROBES"

// noEventsEnv switches off all that makes the system call perf_event_open over
// HTTP. Where a seccomp filter kills for it, as that of systemd does by default,
// a request that asks for an event ends the service.
const noEventsEnv = "GO_PPROF_DISABLE_HTTP_EVENTS"

// eventsOff returns an error if events are switched off. Any value but 0 and false
// switches them off, to be on the safe side.
func eventsOff() error {
	switch v := os.Getenv(noEventsEnv); v {
	case "", "0", "false":
		return nil
	default:
		return &requestError{http.StatusForbidden, fmt.Sprintf(
			"events cannot be sampled over HTTP: the program runs with %s=%s in its environment", noEventsEnv, v)}
	}
}

// maxQuery bounds the query of a request for events, in bytes. Eight breakpoints with
// the longest names that are parsed, completely escaped, take 24 KiB.
const maxQuery = 32 << 10

// minPeriods are the least periods that a request may ask for. A sample stops its
// thread for microseconds to tens of microseconds. So at 10,000 cycles or a tenth of a
// millisecond even a thread that does nothing but cause the event makes progress. The
// first row that matches decides.
var minPeriods = []struct {
	kind   perfevent.Kind
	suffix string // of the event's type
	min    uint64
	unit   string
}{
	{perfevent.Clock, "", 100_000, "nanoseconds"},
	{perfevent.Hardware, "-misses", 1000, "events"},
	{perfevent.Hardware, "", 10_000, "events"},
	{perfevent.Cache, "-misses", 1000, "events"},
	{perfevent.Cache, "", 10_000, "events"},
	{perfevent.Raw, "", 10_000, "events"},
	{perfevent.PMU, "", 10_000, "events"},
	{perfevent.Software, "", 10, "events"},
	{perfevent.Breakpoint, "", 1, "events"},
	{perfevent.Tracepoint, "", 1, "events"},
}

// An eventRequest is what a request for a profile of events asks for.
type eventRequest struct {
	events  []string // as given; of one profile
	period  uint64   // 0 for the events' presets
	seconds int64

	opt pprof.ProfilingOption // see option
	buf bytes.Buffer          // the profile
}

// A requestError is an error with the status of the answer.
type requestError struct {
	status int
	text   string
}

func (e *requestError) Error() string { return e.text }

func badRequest(format string, args ...any) error {
	return &requestError{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// serveEvents answers requests with the parameter event, and reports whether r
// is one.
func serveEvents(w http.ResponseWriter, r *http.Request) bool {
	if r.FormValue("event"); !hasEvent(r) {
		return false
	}
	req, err := parseEventRequest(r)
	if r.Context().Err() != nil {
		return true // nobody is there to read an answer
	}
	if err != nil {
		serveEventError(w, err)
		return true
	}
	configureWriteDeadline(w, r, float64(req.seconds))

	s, err := pprof.StartSession(req.option())
	if err != nil {
		serveEventError(w, startError(err))
		return true
	}
	complete := waitSeconds(r, req.seconds)
	s.Stop()
	if !complete {
		return true
	}
	if err := checkProfile(req.buf.Bytes()); err != nil {
		serveEventError(w, err)
		return true
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="profile-%s"`, req.fileName()))
	w.Header().Set("Content-Length", strconv.Itoa(req.buf.Len()))
	w.Write(req.buf.Bytes())
	return true
}

// hasEvent reports whether the parsed request has the parameter event, even if it was
// dropped because the query is malformed: such a request does not ask for a profile of
// the timer.
func hasEvent(r *http.Request) bool {
	if r.Form.Has("event") {
		return true
	}
	_, err := url.ParseQuery(r.URL.RawQuery)
	return err != nil && strings.Contains(r.URL.RawQuery, "event=")
}

func serveEventError(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if e, ok := errors.AsType[*requestError](err); ok {
		status = e.status
	}
	if status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", "GET")
	}
	serveError(w, status, err.Error())
}

// waitSeconds waits, and reports whether the client is still there.
func waitSeconds(r *http.Request, seconds int64) bool {
	t := time.NewTimer(time.Duration(seconds) * time.Second)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
		return false
	}
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
	// A parameter that is there more than once would be ignored in part.
	for _, name := range []string{"period", "seconds"} {
		if len(q[name]) > 1 {
			return nil, badRequest("%q is there %d times", name, len(q[name]))
		}
	}
	req := &eventRequest{
		events:  perfevent.Split(strings.Join(q["event"], ",")),
		seconds: 30,
	}
	if len(req.events) > perf.MaxEvents {
		return nil, badRequest("%d events at once; at most %d can be sampled", len(req.events), perf.MaxEvents)
	}
	for i, name := range req.events {
		if name != "" && slices.Contains(req.events[:i], name) {
			return nil, badRequest("event %.100s is there twice", name)
		}
	}
	if s := q.Get("seconds"); s != "" {
		const maxSeconds = math.MaxInt64 / int64(time.Second)
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n <= 0 || n > maxSeconds {
			return nil, badRequest(`invalid value for "seconds" - must be a positive integer`)
		}
		req.seconds = n
	}
	if s := q.Get("period"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 0 {
			return nil, badRequest(`invalid value for "period" - must be a number of events between two samples (of nanoseconds for clocks), or 0 for the event's preset`)
		}
		req.period = uint64(n)
	}
	if req.isTimer() {
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

// checkEvents parses the names, and reports what a request may not ask for. Whether
// the machine can do it is for StartSession to find out, which samples these very
// events.
func (req *eventRequest) checkEvents() error {
	for _, name := range req.events {
		// Before the name is looked up in the program's symbols.
		if strings.HasPrefix(name, "mem:") {
			if err := req.checkProbe(name, perfevent.Breakpoint); err != nil {
				return err
			}
		}
	}
	events, err := req.option().(interface {
		Parse() ([]*perfevent.Event, error)
	}).Parse()
	if err != nil {
		return startError(err)
	}
	for i, e := range events {
		if err := req.checkEvent(req.events[i], e); err != nil {
			return err
		}
	}
	return nil
}

func (req *eventRequest) checkEvent(name string, e *perfevent.Event) error {
	if e.Kind == perfevent.Tracepoint || e.Kind == perfevent.Breakpoint {
		return req.checkProbe(name, e.Kind)
	}
	for _, m := range minPeriods {
		if m.kind == e.Kind && strings.HasSuffix(e.Type, m.suffix) {
			if req.period != 0 && req.period < m.min {
				return badRequest("period %d is too short for %s: the least that can be asked for over HTTP is %d %s, so that a request cannot stop the service; the preset is %d",
					req.period, e.Name, m.min, m.unit, e.Period)
			}
			return nil
		}
	}
	return badRequest("event %s cannot be sampled over HTTP", e.Name)
}

// checkProbe reports whether probes may be asked for; see probesEnv.
func (req *eventRequest) checkProbe(name string, kind perfevent.Kind) error {
	if os.Getenv(probesEnv) == "true" {
		return nil
	}
	return &requestError{http.StatusForbidden, fmt.Sprintf(
		"event %q: %ss stop the program wherever the client says, so they can be asked for over HTTP only if the program runs with %s=true in its environment",
		name, kind, probesEnv)}
}

// option returns what is to be sampled, into req.buf.
func (req *eventRequest) option() pprof.ProfilingOption {
	if req.opt == nil {
		if req.isTimer() {
			req.opt = pprof.OSTimer(&req.buf)
		} else {
			req.opt = pprof.PerfEvents(&req.buf, req.period, req.events...)
		}
	}
	return req.opt
}

// startError returns the answer to an error of StartSession: 400
// if another request would do, 409 if a later one would, 500 if the program's
// environment is wrong, 503 if it takes another machine or other permissions. The
// error says it all in words.
func startError(err error) error {
	text := strings.TrimPrefix(err.Error(), "cpu profile: ")
	status := http.StatusBadRequest
	e, isName := errors.AsType[*perfevent.Error](err)
	_, isSetting := errors.AsType[*perfevent.SettingError](err)
	switch {
	case isSetting:
		status = http.StatusInternalServerError
	case errors.Is(err, syscall.EBUSY):
		status = http.StatusConflict // the timer, other sessions, or somebody else with the PMU
	case isName && e.Kind == perfevent.ErrUnsupported:
		status = http.StatusServiceUnavailable
	case isName:
		text += "; events are " + perfevent.FlagNames() + ", rHEX, and all that /debug/pprof/ and perf list show"
	case errors.Is(err, syscall.EINVAL):
		// The kernel rejects the combination, not the event.
	case errors.Unwrap(err) != nil:
		status = http.StatusServiceUnavailable // an errno, or errors.ErrUnsupported
	}
	return &requestError{status, "Could not enable CPU profiling: " + text}
}

// checkProfile returns an error if data is no profile to answer with.
func checkProfile(data []byte) error {
	p, err := profile.Parse(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return checkSamples(p)
}

// checkSamples returns an error if p has no samples and its comments say that this is
// the machine's fault. The profile of an idle program is not an error.
func checkSamples(p *profile.Profile) error {
	if len(p.Sample) > 0 {
		return nil
	}
	for _, c := range p.Comments {
		if why, ok := strings.CutPrefix(c, "warning: "); ok && strings.HasPrefix(why, "no samples: ") {
			return &requestError{http.StatusServiceUnavailable, "Could not sample the event: " + why}
		}
	}
	return nil
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
