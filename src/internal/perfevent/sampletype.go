// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent

import (
	"strconv"
	"strings"
)

// maxSampleType is the length from which on sample types are shortened. Servers
// make the name of a profile out of two of them, and label values, which such
// names are, end at 1024 or 2048 bytes.
const maxSampleType = 200

// SampleTypes returns the names of the sample types in a profile of the events.
//
// A sample type is the event's name as continuous profilers take it: Parca
// makes the name of a metric out of it, [a-zA-Z_][a-zA-Z0-9_]*, and Pyroscope
// refuses those with a hyphen. So "L1-dcache-load-misses" is
// L1_dcache_load_misses, and "cpu/event=0x3c/" is cpu_event_0x3c.
//
// Such programs, and pprof, merge and compare values of the same type. So if an event
// does not count in its default modes, the type names the modes: cycles_uk,
// task_clock_u. Levels of precision are left out, as they count the same events.
//
// No two events of a profile have the same type: where they would, their level of
// precision is added, or else a hash of their names.
func SampleTypes(events []*Event) []string {
	types := make([]string, len(events))
	for i, e := range events {
		types[i] = identifier(e.Type)
		if m := e.modes(); m != "" {
			types[i] += "_" + m
		}
		if len(types[i]) > maxSampleType {
			types[i] = types[i][:maxSampleType] + "_" + hash(e.Name)
		}
	}
	for _, more := range []func(*Event) string{(*Event).precision, func(e *Event) string { return hash(e.Name) }} {
		same := make(map[string]int)
		same["samples"]++ // the profile's own
		for _, t := range types {
			same[t]++
		}
		for i, e := range events {
			if s := more(e); s != "" && same[types[i]] > 1 {
				types[i] += "_" + s
			}
		}
	}
	return types
}

// identifier returns name with every run of other characters than letters,
// digits and underscores replaced by an underscore, but for those at the end.
func identifier(name string) string {
	var b strings.Builder
	gap := false
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || '0' <= c && c <= '9':
			if gap || i == 0 && '0' <= c && c <= '9' {
				b.WriteByte('_')
			}
			b.WriteByte(c)
			gap = false
		default:
			gap = true
		}
	}
	if b.Len() == 0 {
		return "_"
	}
	return b.String()
}

// modes returns the letters of the modifiers that have e count in other modes
// than by default, those of the modes that it counts in.
func (e *Event) modes() string {
	a := &e.Attrs[0]
	s := ""
	if a.ExcludeUser || a.ExcludeKernel == e.kernelByDefault() || !a.ExcludeHV {
		for _, mode := range []struct {
			excluded bool
			letter   string
		}{{a.ExcludeUser, "u"}, {a.ExcludeKernel, "k"}, {a.ExcludeHV, "h"}} {
			if !mode.excluded {
				s += mode.letter
			}
		}
	}
	if a.ExcludeHost {
		s += "G"
	}
	if a.ExcludeGuest {
		s += "H"
	}
	if a.ExcludeIdle {
		s += "I"
	}
	return s
}

// precision returns the letters of the level of precision that e asks for.
func (e *Event) precision() string {
	return strings.Trim(strings.TrimPrefix(e.Name, e.Type), ":ukhGHI")
}

// hash returns the FNV-1a hash of s, in hexadecimal digits.
func hash(s string) string {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return strconv.FormatUint(h, 16)
}
