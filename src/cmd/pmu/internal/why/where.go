// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// This file reads conditions as reports print them, which makes a pattern a filter.

// ParseConds returns the conditions of an expression like those of [Cond.String], with " and " between them,
// on columns of t.
func ParseConds(s string, t *Table) (list []Cond, err error) {
	for rest := s; ; {
		var c Cond
		if c, rest, err = parseCond(rest, t); err != nil {
			return nil, err
		}
		list = append(list, c)
		if rest == "" {
			return list, nil
		}
		var ok bool
		if rest, ok = strings.CutPrefix(rest, " and "); !ok {
			return nil, fmt.Errorf("after %s there is %.100q, which is no \" and \" and another condition", c, rest)
		}
	}
}

// Operators of conditions.
var operators = []string{" = ", " >= ", " < ", " in ["}

// parseCond parses one condition. Names of columns may have anything in them: it takes the longest one
// that fits.
func parseCond(s string, t *Table) (c Cond, rest string, err error) {
	var col *Column
	op := ""
	for i := range t.Columns {
		x := &t.Columns[i]
		after, ok := strings.CutPrefix(s, x.Name)
		if !ok || col != nil && len(x.Name) < len(col.Name) {
			continue
		}
		for _, o := range operators {
			if strings.HasPrefix(after, o) {
				col, op, rest = x, o, after[len(o):]
			}
		}
	}
	if col == nil {
		return c, "", fmt.Errorf("there is no column and condition at %.100q: conditions are like those of go tool pmu why, NAME >= 1, NAME < 1, NAME in [1,2) or NAME = \"word\"", s)
	}
	c = Cond{Column: col.Name, Unit: col.Unit, Lo: math.Inf(-1), Hi: math.Inf(1), IsWord: op == " = "}
	switch {
	case c.IsWord && col.Words == nil:
		err = fmt.Errorf("%q has numbers, and no words: use >= and <", col.Name)
	case !c.IsWord && col.Words != nil:
		err = fmt.Errorf("%q has words: use %s = \"word\"", col.Name, col.Name)
	case c.IsWord:
		q, e := strconv.QuotedPrefix(rest)
		if e == nil {
			rest = rest[len(q):]
			c.Word, err = strconv.Unquote(q)
		} else {
			err = fmt.Errorf("what follows %q is no word in quotes: %.100q", col.Name+op, rest)
		}
	case op == " >= ":
		c.Lo, rest, err = parseEnd(rest, " ")
	case op == " < ":
		c.Hi, rest, err = parseEnd(rest, " ")
	default:
		if c.Lo, rest, err = parseEnd(rest, ","); err == nil {
			if c.Hi, rest, err = parseEnd(strings.TrimPrefix(rest, ","), ")"); err == nil {
				var ok bool
				if rest, ok = strings.CutPrefix(rest, ")"); !ok {
					err = fmt.Errorf("an interval of %q has no end", col.Name)
				}
			}
		}
	}
	if u := unit(col.Unit); err == nil && u != "" && (rest == u || strings.HasPrefix(rest, u+" ")) {
		rest = rest[len(u):]
	}
	return c, rest, err
}

// parseEnd parses a number up to what ends it.
func parseEnd(s, end string) (v float64, rest string, err error) {
	n := strings.Index(s, end)
	if n < 0 {
		n = len(s)
	}
	if v, err = strconv.ParseFloat(s[:n], 64); err != nil || v != v {
		return 0, "", fmt.Errorf("%.100q is no number", s[:n])
	}
	return v, s[n:], nil
}

// Filter returns the expression of conditions, which selects the same rows of t as they do: numbers have as
// many digits as that takes.
func Filter(conds []Cond, t *Table) string {
	var list []string
	for _, c := range conds {
		for i := range t.Columns {
			if x := &t.Columns[i]; x.Name == c.Column && !c.IsWord {
				c.Lo, c.Hi = x.shorter(c.Lo), x.shorter(c.Hi)
			}
		}
		list = append(list, c.exact())
	}
	return strings.Join(list, " and ")
}

// shorter returns a number with few digits below which the same values are as below end.
func (c *Column) shorter(end float64) float64 {
	if math.IsInf(end, 0) {
		return end
	}
	low, high := math.Inf(-1), math.Inf(1) // the values next to end, below it, and not
	for _, v := range c.Values {
		if v < end {
			low = max(low, v)
		} else if v >= end { // else it isn't known
			high = min(high, v)
		}
	}
	for digits := 3; digits < 17; digits++ {
		if v, err := strconv.ParseFloat(strconv.FormatFloat(end, 'g', digits, 64), 64); err == nil && low < v && v <= high {
			return v
		}
	}
	return end
}

// exact is String, with all digits of numbers.
func (c Cond) exact() string {
	n := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	switch {
	case c.IsWord:
		return c.String()
	case math.IsInf(c.Lo, -1):
		return c.Column + " < " + n(c.Hi) + unit(c.Unit)
	case math.IsInf(c.Hi, 1):
		return c.Column + " >= " + n(c.Lo) + unit(c.Unit)
	}
	return fmt.Sprintf("%s in [%s,%s)%s", c.Column, n(c.Lo), n(c.Hi), unit(c.Unit))
}
