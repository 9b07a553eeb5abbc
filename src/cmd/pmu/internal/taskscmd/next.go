// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskscmd

import (
	"cmd/pmu/internal/verb"
	"cmp"
	"internal/taskrecord"
	"slices"
)

// maxOrigins is of how many kinds it is known where they were read from.
const maxOrigins = 1000

// origins say where slow tasks were read from: how many of a kind from a URL.
type origins map[string]map[string]int

// note notes that a task was read from a file or URL. A call is not noted: nobody executes it here.
func (o origins) note(t *taskrecord.Record, name string) {
	if o == nil || t.Flags&taskrecord.Slow == 0 || t.Flags&taskrecord.Client != 0 || verb.Server(name) == "" {
		return
	}
	of := o[t.Kind]
	if of == nil {
		if len(o) >= maxOrigins {
			return
		}
		of = make(map[string]int)
		o[t.Kind] = of
	}
	of[name]++
}

// of returns the URL that most slow tasks of a kind are from, or "".
func (o origins) of(kind string) (most string) {
	n := 0
	for name, k := range o[kind] {
		if k > n || k == n && cmp.Less(name, most) {
			most, n = name, k
		}
	}
	return most
}

// next returns the commands that say what slow tasks execute which had work to do, for the kinds with the
// first such reasons, up to most.
func (o origins) next(reasons []*taskrecord.Reason, most int) (commands []string) {
	for _, r := range reasons {
		if !r.Executing() || r.Client || len(commands) == most {
			continue
		}
		if c := verb.Slow(o.of(r.Kind), "", r.Kind); !slices.Contains(commands, c) {
			commands = append(commands, c)
		}
	}
	return commands
}
