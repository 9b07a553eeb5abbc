// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"cmd/pmu/internal/source"
	"cmd/pmu/internal/why"
	"fmt"
	record "internal/task"
	"net/url"
	"runtime/pprof"
	"strconv"
	"strings"
	"unicode/utf8"
)

// steps are what shows the stacks of a part of time, where that isn't the records
// themselves. %[1]s is the server's address, %[2]s selects the samples of the kind.
var steps = map[string]string{
	pprof.TimeRunning.String(): "go tool pprof%[2]s '%[1]s/debug/pprof/profile?seconds=30'",
	pprof.TimeGC.String():      "go tool pprof -sample_index=alloc_space '%[1]s/debug/pprof/allocs?seconds=30'",
	pprof.TimeMutex.String():   "go tool pprof '%[1]s/debug/pprof/mutex?seconds=30'",
}

// recorded reports whether the records of slow tasks say more on a column: it is of tasks, and
// no event that could be sampled.
func recorded(column string) bool {
	for p := range record.Part(record.Elsewhere + 1) {
		if column == record.PartName(p) {
			return true
		}
	}
	switch column {
	case "switches", "preemptions", "migrations", "goroutines":
		return true
	}
	return strings.Contains(column, " ") // a region, a call or a note
}

// nextStep returns the next command to run, or "".
func nextStep(r *why.Report, kind string, tasks bool, names []string) string {
	if !tasks || len(r.First) == 0 {
		return ""
	}
	event := r.Top()
	for _, name := range names {
		if event == "" {
			break // one of several
		}
		u, err := url.Parse(name)
		if !source.IsURL(name) || err != nil {
			continue
		}
		server := u.Scheme + "://" + u.Host
		focus := ""
		if kind != "" {
			focus = fmt.Sprintf(" -tagfocus='task=^%s$'", quoteMeta(kind))
		}
		if step := steps[event]; step != "" {
			return fmt.Sprintf(step+"%.0[1]s%.0[2]s", server, focus)
		}
		if !recorded(event) {
			return fmt.Sprintf("go tool pprof%s '%s/debug/pprof/profile?seconds=30&event=%s'", focus, server, url.QueryEscape(event))
		}
		break
	}
	only := ""
	if !strings.ContainsFunc(kind, obeyed) {
		only = fmt.Sprintf(" -kind '%s'", strings.ReplaceAll(kind, "'", `'\''`))
	}
	return fmt.Sprintf("go tool pmu tasks -slow%s %s", only, strings.Join(names, " "))
}

// obeyed reports whether a terminal might obey r, or a byte that is no letter. Kinds are of records,
// and may come from anyone.
func obeyed(r rune) bool { return r == utf8.RuneError || !strconv.IsPrint(r) }

// quoteMeta escapes what has a meaning in a regular expression, or to a shell. What a
// terminal might obey is written as its number.
func quoteMeta(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\'', r == utf8.RuneError:
			b.WriteByte('.')
		case obeyed(r):
			fmt.Fprintf(&b, `\x{%x}`, r)
		case strings.ContainsRune(`\.+*?()|[]{}^$`, r):
			b.WriteByte('\\')
			fallthrough
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
