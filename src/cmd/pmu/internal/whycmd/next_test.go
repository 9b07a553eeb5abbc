// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"cmd/pmu/internal/why"
	record "internal/task"
	"regexp"
	"strings"
	"testing"
)

const serverURL = "http://localhost:6060/debug/pprof/tasks"

func nextOf(event, kind string, names ...string) string {
	return nextStep(&why.Report{First: []string{event}}, kind, true, names)
}

// TestNextParts tests that no part of time is sampled as if it were an event.
func TestNextParts(t *testing.T) {
	for p := range record.Part(record.Elsewhere + 1) {
		name := record.PartName(p)
		got := nextOf(name, "GET /", serverURL)
		if strings.Contains(got, "event=") || steps[name] == "" && got != "go tool pmu tasks -slow -kind 'GET /' "+serverURL {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := nextOf("cache-misses", "", serverURL); !strings.HasSuffix(got, "event=cache-misses'") {
		t.Errorf("an event: %s", got)
	}
}

// TestNextKind tests that a kind from a record has a command do nothing else.
func TestNextKind(t *testing.T) {
	for _, tt := range []struct{ kind, pmu, focus string }{
		{"GET /a b", " -kind 'GET /a b'", "GET /a b"},
		{"it's", ` -kind 'it'\''s'`, "it.s"},
		{"é", " -kind 'é'", "é"},
		{"a\x1b]0;x\a", "", `a\x{1b}\]0;x\x{7}`},
		{"a\nb\u202ec", "", `a\x{a}b\x{202e}c`},
		{"a\xff\x9b", "", "a.."},
	} {
		if got, want := nextOf("chan", tt.kind, "file"), "go tool pmu tasks -slow"+tt.pmu+" file"; got != want {
			t.Errorf("%q: %q, want %q", tt.kind, got, want)
		}
		focus := regexp.MustCompile(`-tagfocus='task=(.*)' `).FindStringSubmatch(nextOf("cache-misses", tt.kind, serverURL))
		if focus == nil || focus[1] != "^"+tt.focus+"$" || !regexp.MustCompile(focus[1]).MatchString(tt.kind) {
			t.Errorf("%q: %q, want %q, which matches it", tt.kind, focus, tt.focus)
		}
	}
}
