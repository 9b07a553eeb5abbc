// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"errors"
	"fmt"
	"internal/godebug"
	"internal/hazardfeed"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
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
// goroutine. One thread sleeps for all until the state changes.
const maxHazardStreams = 16

// hazardStreams has an element for each of them.
var hazardStreams = make(chan struct{}, maxHazardStreams)

var (
	errNotPublished = &requestError{http.StatusServiceUnavailable,
		"the state of the program is not published: it has to call hazard.Publish, of package runtime/hazard, first"}
	errHazardStreams = &requestError{http.StatusConflict, "16 other clients follow the state: ask again when one has gone"}
	errNoStream      = errors.New("the state is a stream of events: what wraps the http.ResponseWriter hides its Flush or its SetWriteDeadline; give it an Unwrap, or leave this handler out of it")
)

const (
	hazardBeat      = time.Second
	leastHazardBeat = 10 * time.Millisecond
	hazardComment   = ":\n\n"
)

// hazardPatience is how long a client may take nothing while no buffer has room. It can come back. Tests
// replace it.
var hazardPatience = 5 * time.Second

// A hazardRequest is what a request to /debug/pprof/hazard asks for.
type hazardRequest struct {
	beat  time.Duration
	begin int64  // when what the client has seen last was published, if resumed
	after uint64 // the change that it has seen last
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
		begin, number, _ := strings.Cut(id, "-")
		var bad error
		req.begin, err = strconv.ParseInt(begin, 16, 64)
		req.after, bad = strconv.ParseUint(number, 10, 64)
		if err != nil || bad != nil {
			return req, badRequest("invalid Last-Event-ID - must be that of an event")
		}
	}
	return req, nil
}

// Hazard responds with the state that the program has published, and with each change of it, as a
// stream of events (text/event-stream); see [runtime/hazard]. The stream ends when the client goes,
// when the server shuts down, or when the program publishes no more. There may be 16 of them.
//
// The first event is a status. Each change then is an event. An
// event missed says how many changes came too fast to be kept. The data of status and change is JSON:
// number, time, state, program and reason. A status also has since and pid, and for each state
// how often it has begun (counts) and for how many nanoseconds it has lasted (nanoseconds). A request
// with the header Last-Event-ID gets the changes since that one in place of a status, if it is still the
// same process that publishes.
//
// A goroutine writes the stream, so a stop of the world is in it when it is over. Until then the client hears
// nothing, which it can notice: a comment is sent each second, or as often as the GET parameter beat
// says, such as beat=10ms. A client that takes nothing for 5 seconds, while no buffer has room, is gone.
//
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
	feed, err := hazardfeed.Open()
	if errors.Is(err, fs.ErrNotExist) {
		err = errNotPublished
	}
	if err != nil {
		serveEventError(w, err)
		return
	}
	defer feed.Leave()
	head := r.Method == http.MethodHead
	s := &hazardStream{w: w, c: http.NewResponseController(w), feed: feed}
	// Without deadlines, a client that takes nothing would stay for ever.
	if !head && (!flushes(w) || s.c.SetWriteDeadline(time.Time{}) != nil) {
		serveEventError(w, errNoStream)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	if head {
		return
	}
	srv, _ := r.Context().Value(http.ServerContextKey).(*http.Server)
	defer s.begin(srv)() // also if w panics
	s.run(r.Context().Done(), &req)
	s.finish(srv)
}

// flushes reports whether a ResponseController can flush w. To try it would begin the answer.
func flushes(w http.ResponseWriter) bool {
	for {
		switch t := w.(type) {
		case interface{ FlushError() error }, http.Flusher:
			return true
		case interface{ Unwrap() http.ResponseWriter }:
			w = t.Unwrap()
		default:
			return false
		}
	}
}

// A hazardStream writes the program's state to a client.
type hazardStream struct {
	w    http.ResponseWriter
	c    *http.ResponseController
	feed hazardfeed.Feed
	last uint64 // change that is written
	over bool   // nothing follows
	b    []byte // of what is written next

	down    chan struct{} // closed when the server shuts down
	mu      sync.Mutex    // locked while a deadline is set
	writing bool          // there is one; with mu
}

// run writes until the client goes, the server shuts down, or the program publishes no more.
func (s *hazardStream) run(gone <-chan struct{}, req *hazardRequest) {
	err := s.first(req)
	if err != nil {
		serveEventError(s.w, err)
		return
	}
	beat := time.NewTicker(req.beat)
	defer beat.Stop()
	for {
		changed, err := s.feed.Changed() // before the changes are read
		if err != nil || s.changes() != nil || s.flush() != nil || s.over {
			return
		}
		select {
		case <-gone:
			return
		case <-s.down:
			return
		case <-changed:
		case <-beat.C:
			s.b = append(s.b, hazardComment...)
		}
	}
}

// first begins with a status, or after what the client has seen of the same page.
func (s *hazardStream) first(req *hazardRequest) error {
	status, err := s.feed.Status()
	if err != nil {
		return err
	}
	if req.begin == s.feed.Begin() && req.after <= status.Number {
		s.last = req.after
		s.b = append(s.b, hazardComment...) // there may be nothing else to begin the answer with
		return nil
	}
	s.event("status", &status)
	return nil
}

// changes adds the changes since the last one.
func (s *hazardStream) changes() error {
	list, missed, err := s.feed.Changes(s.last)
	if err != nil {
		return err
	}
	if missed > 0 {
		s.b = fmt.Appendf(s.b, "event: missed\ndata: %d\n\n", missed)
	}
	for i := range list {
		s.event("change", &list[i])
	}
	return nil
}

// event adds an event. Its ID names the page, too: a client that comes back to another process at this
// address has an ID of the one before.
func (s *hazardStream) event(kind string, e *hazardfeed.Event) {
	s.b = fmt.Appendf(s.b, "event: %s\nid: %x-%d\ndata: %s\n\n", kind, s.feed.Begin(), e.Number, e.JSON)
	s.last, s.over = e.Number, e.Last
}

// flush sends what there is. A client that takes nothing is gone after some time.
func (s *hazardStream) flush() error {
	if len(s.b) == 0 {
		return nil
	}
	if err := s.start(); err != nil {
		return err
	}
	_, err := s.w.Write(s.b)
	s.b = s.b[:0]
	if err == nil {
		err = s.c.Flush()
	}
	if err != nil {
		return err
	}
	return s.stop()
}
