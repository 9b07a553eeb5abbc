// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package ratio

import (
	"fmt"
	"internal/profile"
	"math"
	"strconv"
	"strings"
)

// An event is one of a profile, and what its samples stand for.
//
// A profile has the number of samples of each stack for its first event only, as
// [runtime/pprof.PerfEvents] explains. Of the others it has the sum, in the comments. So of
// those, a stack's number of samples is estimated: what was counted there, divided by what a
// sample stands for on the whole.
type event struct {
	name   string // as in the comments
	unit   string
	column int  // of a sample's values
	first  bool // column 0 has its number of samples

	kernel  string  // "included", "excluded", or "" if it isn't known
	period  int64   // of most samples
	longest int64   // what the overhead bound made of it, 0 for nothing
	scale   float64 // what multiplexing made of counts
	samples int64   // of all stacks
	handler int64   // of these, those in the profiler's own handler
	merged  bool    // the comments are of several profiles

	mean float64 // what a sample stands for; see weigh
}

// countsSamples reports whether a comment with the key has a number of samples; see package
// runtime/pprof, perf_ledger.go.
func countsSamples(key string) bool {
	switch key {
	case "samples", "delayed", "in handler", "lost in ring", "lost late", "lost at start", "lost in buffer":
		return true
	}
	return false
}

// once are keys of comments that each profile has once, or once for each PMU. Not all of their
// numbers are the same in two profiles, and pprof keeps the comments that differ.
var once = [...]string{"counted", "time running", "samples"}

// eventsOf returns the events of a profile with what the comments say about them.
func eventsOf(raw *profile.Profile) []event {
	var list []event
	for i, t := range raw.SampleType {
		if t.Unit == "cycles" {
			continue // latency of an event of a profile with data addresses
		}
		if i > 0 || t.Type != "samples" {
			list = append(list, event{name: clean(t.Type), unit: t.Unit, column: i, scale: 1})
		}
	}
	if len(list) > 0 && list[0].column == 1 {
		list[0].first = true
	}
	// The comments have a part for each event, in the order of the types.
	var parts [][]string
	for _, c := range raw.Comments {
		if strings.HasPrefix(c, "event: ") {
			parts = append(parts, nil)
		}
		if n := len(parts); n > 0 {
			parts[n-1] = append(parts[n-1], c)
		}
	}
	if len(parts) != len(list) {
		return list
	}
	merged := false
	for i := range list {
		merged = list[i].read(parts[i]) || merged
	}
	for i := range list {
		// What the others add is in the last part.
		list[i].merged = merged
	}
	return list
}

// read sets what the event's comments say, and reports whether there are those of several
// profiles.
func (e *event) read(comments []string) (merged bool) {
	pmus := 0
	var times [len(once)]int
	for _, c := range comments {
		key, value, _ := strings.Cut(c, ": ")
		word, _, _ := strings.Cut(value, " ")
		number, _ := strconv.ParseInt(word, 10, 64)
		switch key {
		case "event":
			e.name = clean(value)
		case "kernel":
			e.kernel = word
		case "period":
			e.period = max(e.period, number)
		case "longest period":
			e.longest = max(e.longest, number)
		case "multiplexed":
			if f, err := strconv.ParseFloat(word, 64); err == nil && f > 1 {
				e.scale = f
			}
		case "in handler":
			e.handler += max(number, 0)
		case "PMU":
			pmus++
		}
		if countsSamples(key) && number > 0 && e.samples <= math.MaxInt64-number {
			e.samples += number
		}
		for i, k := range once {
			if k == key {
				times[i]++
			}
		}
	}
	for _, n := range times {
		merged = merged || n > max(pmus, 1)
	}
	return merged
}

// weigh sets what a sample of the event stands for, given the sum of all.
func (e *event) weigh(v *values, i int) error {
	if e.first {
		e.samples = v.samples
	}
	switch {
	case v.events[i] == 0:
		return nil
	case e.merged && (e.longest != 0 || e.scale != 1):
		return fmt.Errorf("ratio: the profile was made of several, so its comments do not say how many samples of %s there are: show one at a time", e.name)
	case e.merged && !e.first && e.period > 0:
		e.mean = float64(e.period)
	case e.samples > 0:
		e.mean = float64(v.events[i]) / float64(e.samples)
	default:
		return fmt.Errorf("ratio: the profile does not say how many samples of %s there are, as one by runtime/pprof.PerfEvents does in its comments", e.name)
	}
	return nil
}

// inHandler returns the part of the samples that are in the profiler's own handler.
func (e *event) inHandler() float64 {
	return float64(e.handler) / float64(max(e.samples, e.handler, 1))
}

// count returns the number of samples behind some events, and the number of samples of
// equal weight that would have the same standard error.
//
// That is E²/Σw², where the weights w of the samples have the sum E. A weight is between the
// period and the longest one. With n samples, Σw² is the most if some have the one and the
// others the other: E(period+longest) - n·period·longest.
func (e *event) count(events, samples int64) (n, equal float64) {
	if events <= 0 {
		return 0, 0
	}
	E := float64(events)
	n = E / e.mean
	if e.first {
		n = float64(samples)
	}
	if e.longest <= e.period {
		return n, n
	}
	least, most := float64(e.period)*e.scale, float64(e.longest)*e.scale
	squares := E*(least+most) - n*least*most
	return n, min(n, max(E*E/squares, E/most))
}

// find returns the event with a name, or with that type of its samples.
func find(list []event, raw *profile.Profile, name string) *event {
	for i := range list {
		if e := &list[i]; name == e.name || name == raw.SampleType[e.column].Type {
			return e
		}
	}
	return nil
}

// names returns the names of the events, at most 20.
func names(list []event) string {
	const most = 20
	var b strings.Builder
	for i := range list {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(list)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(list[i].name)
	}
	return b.String()
}
