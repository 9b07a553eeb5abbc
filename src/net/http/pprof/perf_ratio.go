// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"html"
	"net/http"
	"net/url"
	"runtime/pprof"
	"runtime/pprof/ratio"
	"strconv"
)

// Requests for the ratio of two events, as a page:
//
//	/debug/pprof/profile?event=cycles,instructions&seconds=5&format=html

// parseFormat sets what the answer is. The events have been parsed.
func (req *eventRequest) parseFormat(q url.Values) error {
	switch f := q.Get("format"); {
	case !q.Has("format"), f == "pprof":
		return nil
	case f != "html":
		return badRequest("unknown format %.100q: formats are html, pprof", f)
	case req.isTimer():
		return badRequest("format=html shows the ratio of two events, and the timer has a profile of its own: ask for event=task-clock,page-faults, for example")
	case len(req.events) != 2:
		return badRequest("format=html shows the ratio of two events, as for event=cycles,instructions: there are %d", len(req.events))
	}
	req.asPage = true
	return nil
}

// servePage answers with the page of the profile in req.buf.
func (req *eventRequest) servePage(w http.ResponseWriter) {
	p, err := ratio.Read(&req.buf, ratio.Options{})
	if err != nil {
		serveEventError(w, err)
		return
	}
	var page bytes.Buffer
	p.WriteHTML(&page)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", ratio.ContentSecurityPolicy())
	w.Header().Set("Content-Length", strconv.Itoa(page.Len()))
	w.Write(page.Bytes())
}

// ratios are pairs of events that the list of events links to: the first that can be sampled.
var ratios = []struct{ of, per, what string }{
	{"cycles", "instructions", "cycles per instruction"},
	{"task-clock", "page-faults", "CPU time per page fault"},
}

// ratioLink returns what the list of events says about ratios.
func ratioLink(list []pprof.EventInfo) string {
	sampled := make(map[string]bool)
	for _, e := range list {
		sampled[e.Name] = e.Sampled
	}
	for _, r := range ratios {
		if sampled[r.of] && sampled[r.per] {
			link := &url.URL{Path: "profile", RawQuery: url.Values{"event": {r.of + "," + r.per}, "seconds": {"5"}, "format": {"html"}}.Encode()}
			return "<p class=event-reason>With two events, format=html shows their ratio as a page: <a href='" + html.EscapeString(link.String()) + "'>" + r.what + "</a>.</p>\n"
		}
	}
	return ""
}
