// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent

import (
	"slices"
	"strconv"
	"strings"
)

// An ErrorKind says what is to be done about an error: ask for another event,
// write it differently, or go to another machine.
type ErrorKind uint8

const (
	ErrSyntax      ErrorKind = iota // the text can name no event anywhere
	ErrUnknown                      // no event has this name, or none here
	ErrUnsupported                  // a known thing that cannot be sampled, or not here
)

// An Error is the error that Parse returns, always as a *Error.
type Error struct {
	Kind   ErrorKind
	Event  string   // as given, cut if it is long
	Reason string   // cause and remedy, in one sentence
	Near   []string // for ErrUnknown: the nearest known names, best first, at most maxNear
	Err    error    // what stands behind it (a file that can't be read), or nil
}

func (e *Error) Error() string {
	s := "perf event " + strconv.Quote(e.Event) + ": " + e.Reason
	if len(e.Near) > 0 {
		s += "; nearest: " + strings.Join(e.Near, ", ")
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// A SettingError is a variable of the program's environment that has a value which
// it can't have, whatever event is asked for.
type SettingError struct {
	Name, Value string
	Want        string // what it can be
}

func (e *SettingError) Error() string {
	return "cpu profile: " + e.Name + "=" + quote(e.Value) + ": not " + e.Want
}

const (
	maxNear   = 5
	maxQuoted = 128 // bytes of the user's text that a message repeats
)

func clip(s string) string {
	if len(s) > maxQuoted {
		// Not at a rune boundary, perhaps: messages quote it.
		return s[:maxQuoted] + "..."
	}
	return s
}

// quote quotes user text for a message.
func quote(s string) string { return strconv.Quote(clip(s)) }

// Parsing functions below Parse return errors without the event, made by these
// three; Parse fills it in.

func syntaxError(reason string) *Error { return &Error{Kind: ErrSyntax, Reason: reason} }

func unknownError(reason string, name string, known []string) *Error {
	return &Error{Kind: ErrUnknown, Reason: reason, Near: nearest(name, known)}
}

func unsupportedError(reason string, err error) *Error {
	return &Error{Kind: ErrUnsupported, Reason: reason, Err: err}
}

// A reason says why something that perf knows is refused. Reasons are in slices,
// not maps, which every program with a profiler would have to build at start.
type reason struct{ name, why string }

// reasonFor returns why name is refused, or "".
func reasonFor(reasons []reason, name string) string {
	for _, r := range reasons {
		if r.name == name {
			return r.why
		}
	}
	return ""
}

// nearest returns those of the known names that may have been meant by name,
// best first, at most maxNear.
func nearest(name string, known []string) []string {
	type scored struct {
		name string
		d    int
	}
	const maxLen = 64 // of a name worth comparing: the cost is quadratic
	if len(name) > maxLen {
		return nil
	}
	// Half of the letters may be wrong: more would be noise.
	limit := max(2, len(name)/2)
	fold := foldName(name)
	var near []scored
	for _, k := range known {
		if len(k) > maxLen {
			continue
		}
		d := distance(fold, foldName(k))
		if len(fold) >= 3 && strings.Contains(foldName(k), fold) {
			d = min(d, 2) // "misses": part of a name is a good guess
		}
		if d <= limit {
			near = append(near, scored{k, d})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int { return a.d - b.d })
	var names []string
	for _, s := range near {
		if len(names) < maxNear && !slices.Contains(names, s.name) {
			names = append(names, s.name)
		}
	}
	return names
}

// foldName drops what people misremember: case and the choice of - or _.
func foldName(s string) string {
	return strings.ReplaceAll(strings.ToLower(s), "_", "-")
}

// distance returns the Levenshtein distance between a and b, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
