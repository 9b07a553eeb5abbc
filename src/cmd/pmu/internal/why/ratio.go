// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"internal/taskrecord"
	"runtime/pprof"
	"strings"
)

// This file adds ratios of what was counted. Both are high where a processor is slow: an event
// makes a request slow if it is high.

const (
	perCycle       = "ns per cycle"           // the inverse of the processor's frequency in GHz
	perInstruction = "cycles per instruction" // the inverse of instructions per cycle
)

// A Ratio is a column of records of tasks that is the quotient of others.
type Ratio struct {
	Name         string
	Cycles       string
	Instructions string            // by which the cycles are divided; "" if they divide a time
	Parts        []taskrecord.Part // whose sum that is
}

// Ratios returns the ratios that there are of some events: of cycles to the time in which they were
// counted, and to instructions that were counted in the same modes.
func Ratios(events []string) (list []Ratio) {
	for _, c := range events {
		if eventOf(c) != "cycles" {
			continue
		}
		of := ""
		if c != "cycles" {
			of = " (" + c + ")"
		}
		r := Ratio{Name: perCycle + of, Cycles: c}
		switch modes(c) {
		case "":
			r.Parts = []taskrecord.Part{pprof.TimeRunning, pprof.TimeSyscall, pprof.TimeC}
		case "u":
			r.Parts = []taskrecord.Part{pprof.TimeRunning, pprof.TimeC}
		default: // in the kernel, of which the time is in several parts
		}
		if r.Parts != nil {
			list = append(list, r)
		}
		for _, i := range events {
			if eventOf(i) == "instructions" && modes(i) == modes(c) {
				list = append(list, Ratio{Name: perInstruction + of, Cycles: c, Instructions: i})
				break
			}
		}
	}
	return list
}

// RatioEvent returns the event to sample where a ratio of a name is high, or "" if it is none.
func RatioEvent(name string) string {
	for _, prefix := range []string{perCycle, perInstruction} {
		if of, ok := strings.CutPrefix(name, prefix); ok {
			if of == "" {
				return "cycles"
			}
			return strings.TrimSuffix(strings.TrimPrefix(of, " ("), ")")
		}
	}
	return ""
}

// eventOf returns the name of an event in the table.
func eventOf(name string) string {
	name, _ = eventName(name)
	name, _, _ = builtin().find(name)
	return name
}

// modes returns in which modes an event is counted: u, k, or "" for both.
func modes(event string) string {
	mods := ""
	if m := pmuEvent.FindStringSubmatch(event); m != nil {
		mods = m[2]
	} else if m := modifiers.FindStringSubmatch(event); m != nil {
		mods = m[1]
	}
	u, k := strings.Contains(mods, "u"), strings.Contains(mods, "k")
	switch {
	case u && !k:
		return "u"
	case k && !u:
		return "k"
	}
	return ""
}
