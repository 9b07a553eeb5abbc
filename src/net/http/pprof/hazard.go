// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"context"
	"errors"
	"fmt"
	"internal/godebug"
	"internal/taskrecord"
	"io/fs"
	"net/http"
	"net/url"
	"runtime/hazard"
	"strconv"
	"time"
)

func init() {
	prefix := ""
	if godebug.New("httpmuxgo121").Value() != "1" {
		prefix = "GET "
	}
	http.HandleFunc(prefix+"/debug/pprof/hazard", Hazard)
}

// maxHazardStreams is how many clients can follow the program's state at once. Each takes a
// thread, which sleeps until it changes.
const maxHazardStreams = 16

// hazardStreams has an element for each of them.
var hazardStreams = make(chan struct{}, maxHazardStreams)

var (
	errNotPublished = &requestError{http.StatusServiceUnavailable,
		"the state of the program is not published: it has to call hazard.Publish, of package runtime/hazard, first"}
	errHazardStreams = &requestError{http.StatusConflict,
		fmt.Sprintf("%d other clients follow the state: ask again when one has gone", maxHazardStreams)}
)

const (
	hazardBeat      = time.Second
	leastHazardBeat = 10 * time.Millisecond
)

// A hazardRequest is what a request to /debug/pprof/hazard asks for.
type hazardRequest struct {
	beat  time.Duration
	after uint64 // the change that the client has seen last, if resumed
	again bool
}

func parseHazardRequest(r *http.Request) (req hazardRequest, err error) {
	req.beat = hazardBeat
	switch r.Method {
	case "", http.MethodGet, http.MethodHead:
	default:
		return req, &requestError{http.StatusMethodNotAllowed, "the program's state is asked for with GET"}
	}
	if len(r.URL.RawQuery) > maxTaskQuery {
		return req, badRequest("the query is longer than %d bytes", maxTaskQuery)
	}
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return req, badRequest("malformed query: %v", err)
	}
	for name, values := range q {
		if name != "beat" {
			return req, badRequest("unknown parameter %.100q: there is only beat", name)
		}
		if req.beat, err = time.ParseDuration(values[0]); err != nil || len(values) > 1 || req.beat < leastHazardBeat {
			return req, badRequest(`invalid value for "beat" - must be a duration of %v at least`, leastHazardBeat)
		}
	}
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		if req.after, err = strconv.ParseUint(id, 10, 64); err != nil {
			return req, badRequest("invalid Last-Event-ID - must be that of an event")
		}
		req.again = true
	}
	return req, nil
}

// Hazard responds with the state that the program has published, and with each change of it, as a
// stream of events (text/event-stream); see [runtime/hazard]. The stream ends when the client goes, or
// when the program publishes no more. There may be 16 of them.
//
// The first event is a status. Each change then is an event, and its ID is the change's number. An
// event missed says how many changes came too fast to be kept. The data of status and change is JSON:
// number, time, state, program and reason. A status also has since, pid and start, and for each state
// how often it has begun (counts) and for how many nanoseconds it has lasted (nanoseconds). A request
// with the header Last-Event-ID gets the changes since that one in place of a status.
//
// A goroutine writes the stream, so a stop of the world is in it when it is over. Until then the client hears
// nothing, which it can notice: a comment is sent each second, or as often as the GET parameter beat
// says, such as beat=10ms.
// The package initialization registers it as /debug/pprof/hazard.
func Hazard(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	req, err := parseHazardRequest(r)
	if err != nil {
		serveEventError(w, err)
		return
	}
	select {
	case hazardStreams <- struct{}{}:
	default:
		serveEventError(w, errHazardStreams)
		return
	}
	defer func() { <-hazardStreams }()
	watcher, err := hazard.Open("")
	if err != nil {
		serveEventError(w, hazardError(err))
		return
	}
	defer watcher.Close()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return
	}
	s := &hazardStream{w: w, c: http.NewResponseController(w), watcher: watcher, beat: req.beat}
	s.run(r.Context(), &req)
	// The server sets no deadline of its own for the end of the answer, and none for the next one on
	// the connection if it has no timeout.
	var until time.Time
	if srv, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok && srv.WriteTimeout > 0 {
		until = time.Now().Add(srv.WriteTimeout)
	}
	s.c.SetWriteDeadline(until)
}

// hazardError returns the answer to an error of hazard.Open.
func hazardError(err error) error {
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return &requestError{http.StatusServiceUnavailable, err.Error()}
	case errors.Is(err, fs.ErrNotExist):
		return errNotPublished
	}
	return err
}

// A hazardStream writes the program's state to a client.
type hazardStream struct {
	w       http.ResponseWriter
	c       *http.ResponseController
	watcher *hazard.Watcher
	beat    time.Duration
	last    uint64 // change that is written
	b       []byte // of what is written next
}

// run writes until the client goes, or the program publishes no more.
func (s *hazardStream) run(ctx context.Context, req *hazardRequest) {
	status, err := s.watcher.Status()
	if err != nil {
		serveEventError(s.w, err)
		return
	}
	if req.again && req.after <= status.Number {
		s.last = req.after
		err = s.changes()
	} else {
		s.last = status.Number
		s.status(&status)
	}
	for err == nil && s.flush() == nil && ctx.Err() == nil {
		beat, cancel := context.WithTimeout(ctx, s.beat)
		var next hazard.Status
		next, err = s.watcher.Wait(beat, status)
		cancel()
		switch {
		case err == nil:
			status = next
			err = s.changes()
			if status.State == hazard.Gone {
				s.flush()
				return
			}
		case errors.Is(err, context.DeadlineExceeded):
			err = nil
			s.b = append(s.b, ":\n\n"...)
		}
	}
}

// changes adds the changes since the last one.
func (s *hazardStream) changes() error {
	list, missed, err := s.watcher.Changes(s.last)
	if err != nil {
		return err
	}
	if missed > 0 {
		s.b = fmt.Appendf(s.b, "event: missed\ndata: %d\n\n", missed)
	}
	for _, c := range list {
		s.event("change", c.Number, c.Time, c.State, c.Program, c.Reason)
		s.b = append(s.b, "}\n\n"...)
		s.last = c.Number
	}
	return nil
}

// event begins an event.
func (s *hazardStream) event(kind string, number uint64, at time.Time, state, program hazard.State, reason string) {
	s.b = fmt.Appendf(s.b, "event: %s\nid: %d\ndata: {\"number\":%d,\"time\":%q,\"state\":%q,\"program\":%q,\"reason\":", kind, number, number,
		at.Format(time.RFC3339Nano), state, program)
	s.b = taskrecord.AppendJSONString(s.b, reason)
}

func (s *hazardStream) status(t *hazard.Status) {
	s.event("status", t.Number, time.Now(), t.State, t.Program, t.Reason)
	s.b = fmt.Appendf(s.b, ",\"since\":%q,\"pid\":%d,\"start\":%q,\"counts\":{", t.Since.Format(time.RFC3339Nano), t.PID, t.Start.Format(time.RFC3339Nano))
	for state := hazard.OK; state <= hazard.Gone; state++ {
		s.b = fmt.Appendf(s.b, "%q:%d,", state, t.Count(state))
	}
	s.b = append(s.b[:len(s.b)-1], `},"nanoseconds":{`...)
	for state := hazard.OK; state <= hazard.Gone; state++ {
		s.b = fmt.Appendf(s.b, "%q:%d,", state, t.Time(state))
	}
	s.b = append(s.b[:len(s.b)-1], "}}\n\n"...)
}

// flush sends what there is. A client that takes nothing is gone after some time.
func (s *hazardStream) flush() error {
	s.c.SetWriteDeadline(time.Now().Add(taskPatience))
	_, err := s.w.Write(s.b)
	s.b = s.b[:0]
	if err != nil {
		return err
	}
	return s.c.Flush()
}
