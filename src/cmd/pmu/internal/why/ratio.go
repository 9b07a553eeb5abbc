// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	record "internal/task"
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
	Instructions string        // by which the cycles are divided; "" if they divide a time
	Parts        []record.Part // whose sum that is
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
			r.Parts = []record.Part{pprof.TimeRunning, pprof.TimeSyscall, pprof.TimeC}
		case "u":
			r.Parts = []record.Part{pprof.TimeRunning, pprof.TimeC}
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

// ratios adds the ratios of what was counted all the time.
func (r *taskRow) ratios(t *record.Task) {
	for _, x := range r.known.ratios(t.Events) {
		cycles, ok := counted(t, x.Cycles)
		if !ok || cycles == 0 {
			continue
		}
		v, group := 0.0, Kernel
		if x.Instructions != "" {
			n, ok := counted(t, x.Instructions)
			if !ok || n == 0 {
				continue
			}
			v, group = cycles/n, Cache
		} else {
			for _, p := range x.Parts {
				v += float64(t.Parts[p])
			}
			v /= cycles
		}
		c := r.column(x.Name, "", nan)
		c.Group(group)
		c.Within(r.within()...)
		c.Number(v)
	}
}

// counted returns an event's count, if it was counted all the time.
func counted(t *record.Task, event string) (float64, bool) {
	if t.Flags&record.Uncounted != 0 {
		return 0, false
	}
	for i, name := range t.Events {
		if name == event && i < len(t.Count) {
			return float64(t.Count[i].Value), t.Count[i].Running == t.Count[i].Enabled
		}
	}
	return 0, false
}
