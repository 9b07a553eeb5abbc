// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"fmt"
	"internal/profile"
	"net/http"
	"net/url"
	"runtime/pprof"
	"strconv"
	"strings"
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

// serveEvents answers requests with the parameter event, and reports whether r
// is one.
func serveEvents(w http.ResponseWriter, r *http.Request) bool {
	if !hasEvent(r) {
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

// hasEvent reports whether the request has the parameter event, even if it is empty, or
// was dropped because the query is malformed: such a request does not ask for a profile
// of the timer.
func hasEvent(r *http.Request) bool {
	if r.FormValue("event") != "" || r.Form.Has("event") {
		return true
	}
	_, err := url.ParseQuery(r.URL.RawQuery)
	return err != nil && strings.Contains(r.URL.RawQuery, "event=")
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
