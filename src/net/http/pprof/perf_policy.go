// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"fmt"
	"internal/perfevent"
	"net/http"
	"os"
	"strings"
)

// What a request for events may ask for.

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
