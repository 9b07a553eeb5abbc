// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskscmd

import (
	"bytes"
	"cmd/pmu/internal/flame"
	"cmd/pmu/internal/latency"
	"internal/taskrecord"
	"net/http"
	"net/url"
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
	kinds, _ := b.Kinds()
	if len(kinds) == 0 {
		http.Error(w, "there is no record of this kind", http.StatusNotFound)
		return
	}
	k := kinds[0]
	links := latency.Links{Back: "/"}
	if callees {
		links.Callers = latencyURL(k.Name, false)
	} else {
		links.Callees = latencyURL(k.Name, true)
	}
	for _, name := range s.kinds() {
		if name != k.Name && name != "" && len(links.Kinds) < maxOthers {
			links.Kinds = append(links.Kinds, name)
			links.URLs = append(links.URLs, latencyURL(name, callees))
		}
	}
	show(w, flame.ContentSecurityPolicy(), func(b *bytes.Buffer) error { return k.WriteHTML(b, links) })
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
