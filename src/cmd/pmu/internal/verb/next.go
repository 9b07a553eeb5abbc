// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package verb

import (
	"cmd/pmu/internal/source"
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Commands that verbs say to run next. A shell takes each argument as one word, and a terminal obeys none:
// kinds come from records, which anyone may have written.

// Shell returns s as a shell has to be given it, to be one word.
func Shell(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+,") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Obeyed reports whether a terminal might obey a part of s, or s has a byte that is no letter.
func Obeyed(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r == utf8.RuneError || !strconv.IsPrint(r) })
}

// OfKind returns the flag -kind for a kind, after a space. It is empty if no shell can be given that.
func OfKind(kind string) string {
	if kind == "" || Obeyed(kind) {
		return ""
	}
	return " -kind " + Shell(kind)
}

// Server returns the URL of the server that name is a URL of, without a path, or "" if it is none.
func Server(name string) string {
	u, err := url.Parse(name)
	if !source.IsURL(name) || err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// Slow returns the command that says what slow requests of a kind execute more of, by an event or, if that is
// empty, by CPU time. Name is the URL that records came from. If it is none, the command has URL in its place.
func Slow(name, event, kind string) string {
	at := "URL"
	if server := Server(name); server != "" {
		at = server
		// The page may be elsewhere; slow finds profiles beside it.
		if u, _ := url.Parse(name); path.Base(u.Path) == "tasks" && u.Path != "/debug/pprof/tasks" {
			at += u.EscapedPath()
		}
		at = Shell(at)
	}
	if event != "" {
		event = " -event " + Shell(event)
	}
	return "go tool pmu slow -seconds=30" + event + OfKind(kind) + " " + at
}
