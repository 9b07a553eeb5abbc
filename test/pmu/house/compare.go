// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"strings"
)

// compare returns how the sections that were measured differ from those recorded, in
// words, with the details of the rows that do.
func compare(measured, recorded []section) []string {
	var differences []string
	differ := func(format string, args ...any) {
		differences = append(differences, fmt.Sprintf(format, args...))
	}
	byTitle := make(map[string]section)
	for _, s := range recorded {
		byTitle[s.title] = s
	}
	for _, s := range measured {
		old, ok := byTitle[s.title]
		delete(byTitle, s.title)
		if !ok || columnNames(old) != columnNames(s) {
			differ("%s: not recorded with the columns %s", s.title, columnNames(s))
			continue
		}
		byName := make(map[string]row)
		for _, r := range old.rows {
			byName[r.name] = r
		}
		for _, r := range s.rows {
			was, ok := byName[r.name]
			delete(byName, r.name)
			if !ok {
				differ("%s: %s is new: %d%s", s.title, r.name, r.numbers, detailsOf(r))
				continue
			}
			for i, n := range r.numbers {
				slack := 0
				if c := s.columns[i]; c.slack != nil {
					slack = c.slack(was.numbers[i])
				}
				switch {
				case n > was.numbers[i]+slack:
					differ("%s: %s: %s has grown from %d to %d%s", s.title, r.name, s.columns[i].name, was.numbers[i], n, detailsOf(r))
				case n < was.numbers[i]-slack:
					differ("%s: %s: %s has shrunk from %d to %d%s", s.title, r.name, s.columns[i].name, was.numbers[i], n, detailsOf(r))
				}
			}
		}
		for _, r := range old.rows {
			if _, ok := byName[r.name]; ok {
				differ("%s: %s is gone", s.title, r.name)
			}
		}
	}
	for _, s := range recorded {
		if _, ok := byTitle[s.title]; ok {
			differ("%s: recorded, but not measured", s.title)
		}
	}
	return differences
}

func columnNames(s section) string {
	var names []string
	for _, c := range s.columns {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

func detailsOf(r row) string {
	if len(r.details) == 0 {
		return ""
	}
	return ":\n\t" + strings.Join(r.details, "\n\t")
}
