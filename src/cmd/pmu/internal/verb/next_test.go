// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package verb

import "testing"

// TestSlow tests that the command names the server, and where its page of tasks is, and that nothing in it does
// something else.
func TestSlow(t *testing.T) {
	for _, tt := range []struct{ name, event, kind, want string }{
		{"http://localhost:6060", "", "", "http://localhost:6060"},
		{"http://localhost:6060/", "", "k", "-kind k http://localhost:6060"},
		{"https://[::1]:6060/debug/pprof/tasks?slow=1", "cycles", "GET /", "-event cycles -kind 'GET /' 'https://[::1]:6060'"},
		{"http://a/admin/debug/pprof/tasks", "", "", "http://a/admin/debug/pprof/tasks"},
		{"http://a/x%20y/tasks", "", "", "http://a/x%20y/tasks"},
		{"http://a/records", "", "", "http://a"},
		{"http://name:secret@a/", "", "", "http://a"},
		{"http://a';x", "", "", "'http://a'\\'';x'"},
		{"http://a b", "", "", "URL"},
		{"a.tasks", "r01:u", "it's", `-event r01:u -kind 'it'\''s' URL`},
		{"", "", "a\x1b]0;x\a", "URL"},
		{"", "$(x)", "a\xff", "-event '$(x)' URL"},
	} {
		if got := Slow(tt.name, tt.event, tt.kind); got != "go tool pmu slow -seconds=30 "+tt.want {
			t.Errorf("%q, %q, %q: %s", tt.name, tt.event, tt.kind, got)
		}
	}
}
