// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"cmd/pmu/internal/why"
	record "internal/task"
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
