// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"fmt"
	"html"
	"internal/taskrecord"
	"io"
	"net/http"
	"net/url"
	"runtime/pprof"
	"strings"
	"sync"
	"time"
)

// The index page itself does not look for events. That takes the system call
// perf_event_open, for which some seccomp filters kill the program, and the page must
// not become riskier than upstream's. It links to a page that does: the index with a
// parameter, which exists wherever Index is registered.

// darkToo has a page be dark where the reader's others are. Upstream's index has no place for it but
// the end.
const darkToo = "<style>:root{ color-scheme:light dark; }</style>\n"

// eventsLink returns what the index page says about events, and about tasks.
func eventsLink() string {
	if err := eventsOff(); err != nil {
		return darkToo + tasksLink() + "<p>\n" + html.EscapeString(err.Error()) + "\n</p>\n"
	}
	return darkToo + tasksLink() + `<p>
<a href='?events=1' rel=nofollow>What can this machine sample?</a>
The list of events that a CPU profile can sample, instead of the timer.
To make it, the program tries each with the system call perf_event_open.
It ends if a seccomp filter kills for that, as systemd's SystemCallFilter does unless SystemCallErrorNumber is set;
` + noEventsEnv + `=true in its environment switches events off.
</p>
`
}

// serveEventList answers requests to the index page with the parameter events,
// and reports whether r is one. With format=json the list is for programs.
func serveEventList(w http.ResponseWriter, r *http.Request) bool {
	q := r.URL.Query()
	if !q.Has("events") {
		return false
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if err := eventsOff(); err != nil {
		serveEventError(w, err)
		return true
	}
	kind := "text/html; charset=utf-8"
	format := q.Get("format")
	if format == "json" {
		kind = "application/json"
	} else if format != "" {
		serveEventError(w, badRequest(`invalid value for "format" - must be json, or be left out for a page`))
		return true
	}
	switch r.Method {
	case "", http.MethodGet:
	case http.MethodHead:
		w.Header().Set("Content-Type", kind)
		return true
	default:
		w.Header().Set("Allow", "GET, HEAD")
		serveError(w, http.StatusMethodNotAllowed, "the list of events is asked for with GET")
		return true
	}
	list := listEvents()
	w.Header().Set("Content-Type", kind)
	if format == "json" {
		w.Write(eventsJSON(list))
		return true
	}
	io.WriteString(w, `<!DOCTYPE html>
<html lang=en>
<head>
<meta charset=utf-8>
<meta name=viewport content='width=device-width, initial-scale=1'>
<meta name=color-scheme content='light dark'>
<title>/debug/pprof/?events=1</title>
</head>
<body>
<a href='?'>/debug/pprof/</a>
<br>
`+eventsHTML(list)+`</body>
</html>`)
	return true
}

// eventsAge is how long the list of events is kept. Making it takes some hundredths of
// a second of CPU time, which clients must not be able to ask for again and again. But
// permissions may be granted while the program runs.
const eventsAge = time.Minute

var events struct {
	sync.Mutex
	list []pprof.EventInfo
	time time.Time // of list
}

// probeEvents is pprof.Events; tests replace it.
var probeEvents = pprof.Events

// listEvents returns what pprof.Events returned at most eventsAge ago.
func listEvents() []pprof.EventInfo {
	events.Lock()
	defer events.Unlock()
	if events.list == nil || time.Since(events.time) > eventsAge {
		events.list = probeEvents()
		events.time = time.Now()
	}
	return events.list
}

// eventsJSON returns the list of events as JSON, with the names of the fields of
// pprof.EventInfo. Err is its text.
func eventsJSON(list []pprof.EventInfo) []byte {
	b := []byte{'['}
	text := func(key, s string) { b = taskrecord.AppendJSONString(append(b, key...), s) }
	for i, e := range list {
		if i > 0 {
			b = append(b, ',')
		}
		text(`{"Name":`, e.Name)
		b = append(b, `,"Aliases":[`...)
		for j, s := range e.Aliases {
			text(","[:min(j, 1)], s)
		}
		text(`],"Kind":`, e.Kind)
		text(`,"Desc":`, e.Desc)
		text(`,"Unit":`, e.Unit)
		why := ""
		if e.Err != nil {
			why = e.Err.Error()
		}
		b = fmt.Appendf(b, `,"Period":%d,"Sampled":%t`, e.Period, e.Sampled)
		text(`,"Err":`, why)
		b = append(b, '}')
	}
	return append(b, ']')
}

// eventsHTML returns the list of events: those that can be sampled, with links, and the
// others by reason, as most of them often have the same one.
func eventsHTML(list []pprof.EventInfo) string {
	var b strings.Builder
	b.WriteString(`<style>
.event-table td{
	padding:0 1rem 0 0;
	vertical-align:top;
}
.event-reason{
	max-width:60rem;
}
</style>
<p>
Events that a CPU profile can sample here:
<table class=event-table>
`)
	var unproved []pprof.EventInfo
	var reasons []string
	refused := make(map[string][]string) // names by reason
	n := 0
	for _, e := range list {
		switch {
		case e.Sampled:
			n++
			writeEventRow(&b, e)
		case e.Err == nil:
			unproved = append(unproved, e)
		default:
			why := e.Err.Error()
			if refused[why] == nil {
				reasons = append(reasons, why)
			}
			refused[why] = append(refused[why], e.Name)
		}
	}
	b.WriteString("</table>\n")
	if n == 0 {
		b.WriteString("none\n")
	} else {
		b.WriteString("<p class=event-reason>The links take a profile of 5 seconds. period=N asks for a sample every N events instead of the preset, seconds=N for another duration.</p>\n")
	}
	if len(unproved) > 0 {
		b.WriteString("<p>\nEvents that the kernel accepts and that did not occur when they were tried:\n<table class=event-table>\n")
		for _, e := range unproved {
			writeEventRow(&b, e)
		}
		b.WriteString("</table>\n")
	}
	if len(reasons) > 0 {
		b.WriteString("<p>\nEvents that cannot be sampled here:\n<ul>\n")
		for _, why := range reasons {
			fmt.Fprintf(&b, "<li class=event-reason>%s:<br>%s</li>\n", html.EscapeString(why), html.EscapeString(strings.Join(refused[why], ", ")))
		}
		b.WriteString("</ul>\n")
	}
	return b.String()
}

func writeEventRow(b *strings.Builder, e pprof.EventInfo) {
	link := &url.URL{Path: "profile", RawQuery: url.Values{"event": {e.Name}, "seconds": {"5"}}.Encode()}
	unit := ""
	if e.Unit != "count" {
		unit = " " + e.Unit
	}
	fmt.Fprintf(b, "<tr><td><a href='%s'>%s</a></td><td>%s</td><td>every %d%s</td></tr>\n",
		html.EscapeString(link.String()), html.EscapeString(e.Name), html.EscapeString(e.Desc), e.Period, unit)
}
