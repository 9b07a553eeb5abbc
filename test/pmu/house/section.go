// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A section is a part of the table: rows of numbers under a title.
type section struct {
	title   string
	columns []column
	rows    []row
}

type column struct {
	name string

	// slack returns how far a number may be from n in the recorded table. If it is nil
	// the number must be n.
	slack func(n int) int
}

type row struct {
	name    string
	numbers []int

	// details say what was counted, one a line.
	details []string
}

// someLines is the slack of numbers that nearly every change changes: 2 % of them, and
// 20 where they are small.
func someLines(n int) int { return max(20, n/50) }

// someBytes is the slack of the size of a program. The same sources give the same size,
// so this, too, is for changes: a thousandth.
func someBytes(n int) int { return n / 1000 }

// addSum adds a row with the sums of the columns.
func (s *section) addSum() {
	sum := make([]int, len(s.columns))
	for _, r := range s.rows {
		for i, n := range r.numbers {
			sum[i] += n
		}
	}
	s.rows = append(s.rows, row{name: "all", numbers: sum})
}

// format returns the sections as text, with the details if asked to.
func format(sections []section, details bool) string {
	width := 0
	for _, s := range sections {
		width = max(width, len(s.title))
		for _, r := range s.rows {
			width = max(width, len(r.name))
		}
	}
	var b strings.Builder
	for i, s := range sections {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%-*s", width, s.title)
		for _, c := range s.columns {
			fmt.Fprintf(&b, "  %9s", c.name)
		}
		b.WriteString("\n")
		for _, r := range s.rows {
			fmt.Fprintf(&b, "%-*s", width, r.name)
			for i, n := range r.numbers {
				fmt.Fprintf(&b, "  %*d", max(9, len(s.columns[i].name)), n)
			}
			b.WriteString("\n")
			for _, d := range r.details {
				if details {
					fmt.Fprintf(&b, "\t%s\n", d)
				}
			}
		}
	}
	return b.String()
}

var (
	gap     = regexp.MustCompile(`\s{2,}`)
	numbers = regexp.MustCompile(`^(.*?\S)((?:\s+\d+)+)$`)
)

// parse reads what format has written without details. Lines that begin with # are
// comments.
func parse(text string) ([]section, error) {
	var sections []section
	begins := true
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		if strings.TrimSpace(line) == "" {
			begins = true
			continue
		}
		if begins {
			begins = false
			names := gap.Split(line, -1)
			s := section{title: names[0]}
			for _, name := range names[1:] {
				s.columns = append(s.columns, column{name: name})
			}
			sections = append(sections, s)
			continue
		}
		s := &sections[len(sections)-1]
		m := numbers.FindStringSubmatch(line)
		if m == nil || len(strings.Fields(m[2])) != len(s.columns) {
			return nil, fmt.Errorf("line %d: not a name and %d numbers: %q", i+1, len(s.columns), line)
		}
		r := row{name: m[1]}
		for _, field := range strings.Fields(m[2]) {
			n, err := strconv.Atoi(field)
			if err != nil {
				return nil, fmt.Errorf("line %d: %v", i+1, err)
			}
			r.numbers = append(r.numbers, n)
		}
		s.rows = append(s.rows, r)
	}
	return sections, nil
}
