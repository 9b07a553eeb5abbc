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

// maxOrigins is of how many kinds, and processes, it is known where they were read from.
const maxOrigins = 1000

// origins say where slow tasks were read from.
type origins struct {
	urls  map[process]string
	kinds map[string]map[string]int // how many of a kind are from a URL
}

// A process is one that has recorded tasks. They go by it, and not by what they were read from, as tasks may be
// selected long after they were read.
type process struct {
	name, boot string
	pid        int
	start      int64
}

func processOf(t *taskrecord.Record) (p process) {
	if s := t.Server; s != nil {
		p = process{s.Name, s.Boot, s.PID, s.Start}
	}
	return p
}

func newOrigins() *origins {
	return &origins{urls: make(map[process]string), kinds: make(map[string]map[string]int)}
}

// read notes that a task was read from a file or URL.
func (o *origins) read(t *taskrecord.Record, name string) {
	if o == nil || verb.Server(name) == "" {
		return
	}
	p := processOf(t)
	if _, ok := o.urls[p]; !ok && len(o.urls) < maxOrigins {
		o.urls[p] = name
	}
}

// selected counts a task that was read. A call is not counted: nobody executes it here.
func (o *origins) selected(t *taskrecord.Record) {
	if o == nil || t.Flags&taskrecord.Slow == 0 || t.Flags&taskrecord.Client != 0 {
		return
	}
	url := o.urls[processOf(t)]
	if url == "" {
		return
	}
	of := o.kinds[t.Kind]
	if of == nil {
		if len(o.kinds) >= maxOrigins {
			return
		}
		of = make(map[string]int)
		o.kinds[t.Kind] = of
	}
	of[url]++
}

// of returns the URL that most slow tasks of a kind are from, or "".
func (o *origins) of(kind string) (most string) {
	if o == nil {
		return ""
	}
	n := 0
	for name, k := range o.kinds[kind] {
		if k > n || k == n && cmp.Less(name, most) {
			most, n = name, k
		}
	}
	return most
}

// next returns the commands that say what slow tasks execute which had work to do, for the kinds with the
// first such reasons, up to most.
func (o *origins) next(reasons []*taskrecord.Reason, most int) (commands []string) {
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
