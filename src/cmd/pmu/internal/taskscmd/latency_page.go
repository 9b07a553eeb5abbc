// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskscmd

import (
	"bytes"
	"cmd/pmu/internal/flame"
	"cmd/pmu/internal/latency"
	"fmt"
	"internal/taskrecord"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// maxOthers bounds the links to other kinds.
const maxOthers = 50

// latencyURL returns the address of the page of a kind's latency, or of that which is worth most if kind is empty.
func latencyURL(kind string, callees bool) string {
	q := make(url.Values)
	if kind != "" {
		q.Set("kind", kind)
	}
	if callees {
		q.Set("callees", "1")
	}
	return "/latency" + strings.TrimSuffix("?"+q.Encode(), "?")
}

// latencyLink returns the address of the page of the latency of what o shows; "" if there is none, as these are calls.
func (s *site) latencyLink(o *overview) string {
	if kinds := s.kinds(); len(kinds) == 0 || o.Only != "" && !slices.Contains(kinds, o.Only) {
		return ""
	}
	return latencyURL(o.Only, false)
}

// latency serves the page of a kind's latency: over servers, from callers to callees or the other way round.
func (s *site) latency(w http.ResponseWriter, r *http.Request) {
	kind, callees := r.FormValue("kind"), r.FormValue("callees") != ""
	list := s.callers.list(kind, false)
	b := latency.Builder{Servers: taskrecord.Servers(list) > 1, Callees: callees}
	for _, n := range list {
		if err := b.Add(n); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	kinds, left := b.Kinds()
	if len(kinds) == 0 {
		http.Error(w, "there is no record of this kind", http.StatusNotFound)
		return
	}
	k := kinds[0]
	links := s.links(k.Name, callees)
	links.Missing = s.missing(left)
	show(w, flame.ContentSecurityPolicy(), func(b *bytes.Buffer) error { return k.WriteHTML(b, links) })
}

// links returns the links of the page of a kind.
func (s *site) links(kind string, callees bool) latency.Links {
	links := latency.Links{Back: "/"}
	if callees {
		links.Callers = latencyURL(kind, false)
	} else {
		links.Callees = latencyURL(kind, true)
	}
	for _, name := range s.kinds() {
		switch {
		case name == kind || name == "":
		case len(links.Kinds) == maxOthers:
			links.More++
		default:
			links.Kinds = append(links.Kinds, name)
			links.URLs = append(links.URLs, latencyURL(name, callees))
		}
	}
	return links
}

// missing says what is left out of the latency of a kind, if of so many requests there are too many kinds.
func (s *site) missing(requests int64) (list []string) {
	if n := int64(s.left) + s.callers.dropped(); n > 0 {
		list = append(list, fmt.Sprintf("Left out, as there are too many tasks: %d.", n))
	}
	if requests > 0 {
		list = append(list, fmt.Sprintf("Not looked at, as there are too many kinds: %s.", taskrecord.Count(requests, "request")))
	}
	return list
}

// kinds returns the kinds of tasks, which are no clients', in the order of their first one.
func (s *site) kinds() (list []string) {
	seen := make(map[string]bool)
	for _, t := range s.tasks {
		if t.Flags&taskrecord.Client == 0 && !seen[t.Kind] {
			seen[t.Kind] = true
			list = append(list, t.Kind)
		}
	}
	return list
}
