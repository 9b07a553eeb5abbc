// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package foreign

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An answer is what came over the wire.
type answer struct {
	wire     string
	requests int // that were sent, or pushed
}

// A place says where TaskHandler is.
type place struct {
	name                    string
	outside, within, inside bool // around the stack, among a router's middlewares, around the handler
}

var places = []place{
	{name: "outside", outside: true},
	{name: "within", within: true},
	{name: "inside", inside: true},
	{name: "both", outside: true, inside: true},
}

// A visit is what came of a site's cases, by the name of the case.
type visit struct {
	wire, seen map[string]string
	tasks      int // that a TaskHandler has to record
}

// visitSite sends the requests of cases to a site with a handler such as TaskHandler.
func visitSite(t *testing.T, s *stack, p protocol, at place, task middleware, cases []testCase) visit {
	t.Helper()
	site := newSite(t)
	use, h := identity, handler(site.seen)
	if at.inside {
		if s.proxy {
			h = task(h) // it is the other server's handler
		} else {
			h = same(site.seen, task)(h)
		}
	}
	if at.within {
		use = same(site.seen, task)
	}
	h = s.build(site, use, h)
	if at.outside {
		h = task(h)
	}
	ts := site.serve(h, p)

	v := visit{wire: make(map[string]string), seen: make(map[string]string)}
	addr := ts.Listener.Addr().String()
	do := (&wire1{addr, s.proxy}).do
	if p == http2 {
		w := &wire2{addr: addr}
		defer w.close()
		do = w.do
	}
	requests := 0
	for i := range cases {
		c := &cases[i]
		if c.only != 0 && c.only != p || c.direct && s.proxy {
			continue
		}
		served := site.seen.served
		a := do(t, c)
		v.wire[c.name] = a.wire
		lines := site.seen.take(t)
		if c.unseen {
			requests += site.seen.served - served
		} else {
			requests += a.requests
		}
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(lines)) {
			fmt.Fprintf(&b, "handler of %s:\n%s\n", name, strings.Join(lines[name], "\n"))
		}
		v.seen[c.name] = b.String()
	}
	site.close()
	v.seen["(log)"] = strings.Join(site.log.sorted(), "\n")
	v.seen["(files)"] = filesLeft(t)

	if at.outside {
		v.tasks += requests
	}
	if at.within || at.inside && !at.outside {
		v.tasks += site.seen.wrapped
	}
	if at.inside && s.proxy {
		v.tasks += site.seen.served
	}
	return v
}

// same has a middleware hand on the very writer that it gets: that is how TaskHandler loses
// nothing.
func same(n *notebook, m middleware) middleware {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n.add(&n.wrapped, 1)
			m(http.HandlerFunc(func(got http.ResponseWriter, r *http.Request) {
				if got != w {
					n.note(r, "another writer than %T came: %T", w, got)
				}
				h.ServeHTTP(got, r)
			})).ServeHTTP(w, r)
		})
	}
}

// filesLeft returns which files of forms are left when the servers have ended, and removes
// them.
func filesLeft(t *testing.T) string {
	names, err := filepath.Glob(filepath.Join(os.TempDir(), "multipart-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		os.Remove(name)
	}
	return fmt.Sprintf("%d files of forms are left", len(names))
}

// differences returns in what two visits differ, by case, and how many cases were compared.
func differences(want, got visit) (all map[string]string, n int) {
	all = make(map[string]string)
	for name := range want.seen {
		n++
		if d := difference(want.wire[name], got.wire[name]); d != "" {
			all[name] = "on the wire: " + d
		} else if d := difference(want.seen[name], got.seen[name]); d != "" {
			all[name] = "seen by handlers: " + d
		}
	}
	return all, n
}

// difference returns the first line in which texts differ.
func difference(want, got string) string {
	if want == got {
		return ""
	}
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	line := func(lines []string) string {
		if i == len(lines) {
			return "nothing more"
		}
		return fmt.Sprintf("%.1000q", lines[i])
	}
	return fmt.Sprintf("line %d is %s\n\twithout TaskHandler %s", i+1, line(b), line(a))
}
