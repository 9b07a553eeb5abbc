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
	"math"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Requests for profiles of events (proposal 36821, section 4.6):
//
//	/debug/pprof/profile?event=cycles&period=1000003&seconds=5
//
// A request without event is not looked at here and is served as ever.
//
// Unlike the profiles of the timer, these are for a server to refuse: the
// machine may not have the event, and a client that may ask for any event at
// any period could stop the service. So the parameters are checked strictly,
// and nothing of the answer is written before there is a profile.

// probesEnv lets requests sample breakpoints and tracepoints.
//
// These make a program stop where the client says, as often as it gets there.
// A breakpoint on a hot function slows the service down a hundredfold, one on a
// variable that a secret decides about tells the secret. Whether clients may do
// that depends on who can reach the server, which whoever runs it knows and who
// wrote it does not. So it is a variable of the environment, as for several
// events at once, and not one of this package.
const probesEnv = "GO_PPROF_ENABLE_HTTP_PROBES"

// minPeriods are the least periods that a request may ask for. Each sample
// stops its thread for some microseconds to tens of them, in which the CPU does
// what 10,000 cycles or a tenth of a millisecond are, so that at these periods
// a thread that does nothing but cause the event still gets on. The first row
// that matches decides.
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
	if err != nil {
		serveEventError(w, err)
		return true
	}
	configureWriteDeadline(w, r, float64(req.seconds))

	var buf bytes.Buffer
	if err := pprof.StartCPUProfileWithConfig(req.option(&buf)); err != nil {
		serveEventError(w, startError(err))
		return true
	}
	complete := waitSeconds(r, req.seconds)
	pprof.StopCPUProfile()
	if !complete {
		return true // nobody is there to read an answer
	}
	if err := req.checkProfile(buf.Bytes()); err != nil {
		serveEventError(w, err)
		return true
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="profile-%s"`, req.fileName()))
	w.Header().Set("Content-Length", strconv.Itoa(buf.Len()))
	w.Write(buf.Bytes())
	return true
}

// hasEvent reports whether the parsed request has the parameter event, be it
// one that is lost because the query is malformed: what is asked for there is
// not a profile by the timer.
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

func parseEventRequest(r *http.Request) (*eventRequest, error) {
	if r.Method != "" && r.Method != http.MethodGet {
		return nil, &requestError{http.StatusMethodNotAllowed, "a profile of events is asked for with GET"}
	}
	if _, err := url.ParseQuery(r.URL.RawQuery); err != nil {
		return nil, badRequest("malformed query: %v", err)
	}
	// A parameter that is there more than once would be ignored in part.
	for _, name := range []string{"period", "seconds"} {
		if len(r.Form[name]) > 1 {
			return nil, badRequest("%q is there %d times", name, len(r.Form[name]))
		}
	}
	req := &eventRequest{
		events:  perfevent.Split(strings.Join(r.Form["event"], ",")),
		seconds: 30,
	}
	if s := r.Form.Get("seconds"); s != "" {
		const maxSeconds = math.MaxInt64 / int64(time.Second)
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n <= 0 || n > maxSeconds {
			return nil, badRequest(`invalid value for "seconds" - must be a positive integer`)
		}
		req.seconds = n
	}
	if s := r.Form.Get("period"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 0 {
			return nil, badRequest(`invalid value for "period" - must be a number of events between two samples (of nanoseconds for clocks), or 0 for the event's preset`)
		}
		req.period = uint64(n)
	}
	if req.isTimer() {
		return req, nil
	}
	for _, name := range req.events {
		if err := req.checkEvent(name); err != nil {
			return nil, err
		}
	}
	return req, nil
}

// timer is the name of the OS timer among those of events.
const timer = "timer"

// isTimer reports whether the timer is asked for by name. Its period is fixed.
func (req *eventRequest) isTimer() bool {
	return len(req.events) == 1 && req.events[0] == timer
}

// checkEvent reports what a request may not ask for. Whether the machine can
// do it is for StartCPUProfileWithConfig to find out.
func (req *eventRequest) checkEvent(name string) error {
	if name == timer {
		return badRequest("the timer has a profile of its own: ask for event=timer alone")
	}
	if strings.HasPrefix(name, "mem:") {
		return req.checkProbe(name, perfevent.Breakpoint)
	}
	resolver := perfevent.Resolver{
		Sys:     os.DirFS("/sys"),
		Tracefs: os.DirFS("/sys/kernel/tracing"),
		GOARCH:  runtime.GOARCH,
	}
	e, err := resolver.Parse(name)
	if err != nil {
		return startError(err)
	}
	if e.Kind == perfevent.Tracepoint {
		return req.checkProbe(name, perfevent.Tracepoint)
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

func (req *eventRequest) option(buf *bytes.Buffer) pprof.ProfilingOption {
	if req.isTimer() {
		return pprof.OSTimer(buf)
	}
	return pprof.PerfEvents(buf, req.period, req.events...)
}

// startError returns the answer to an error of StartCPUProfileWithConfig: 400
// if another request would do, 409 if a later one would, 503 if it takes
// another machine or other permissions. The error says it all in words.
func startError(err error) error {
	text := strings.TrimPrefix(err.Error(), "cpu profile: ")
	status := http.StatusBadRequest
	e, isName := errors.AsType[*perfevent.Error](err)
	switch {
	case strings.HasSuffix(text, "cpu profiling already in use"):
		// There is no variable for it: StartCPUProfile has always said so.
		status = http.StatusConflict
	case isName && e.Kind == perfevent.ErrUnsupported:
		status = http.StatusServiceUnavailable
	case isName:
		text += "; events are " + eventNames()
	case errors.Is(err, syscall.EINVAL):
		// The kernel rejects the combination, not the event.
	case errors.Unwrap(err) != nil:
		status = http.StatusServiceUnavailable // an errno, or errors.ErrUnsupported
	}
	return &requestError{status, "Could not enable CPU profiling: " + text}
}

// eventNames lists the short names of the proposal.
func eventNames() string {
	names := []string{timer}
	for _, p := range perfevent.Table() {
		if p.Flag != "" {
			names = append(names, p.Flag)
		}
	}
	return strings.Join(names, ", ") + ", rHEX, and all that /debug/pprof/ and perf list show"
}

// checkProfile returns an error if the profile has no samples: who asked would
// take it for one of a program that did nothing.
func (req *eventRequest) checkProfile(data []byte) error {
	p, err := profile.Parse(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if len(p.Sample) > 0 {
		return nil
	}
	return &requestError{http.StatusServiceUnavailable, fmt.Sprintf(
		"No samples of %s in %d s: the program was idle, or the event is rarer than its period; try more seconds, a lower period or another event",
		strings.Join(req.events, ","), req.seconds)}
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
