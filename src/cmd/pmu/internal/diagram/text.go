// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package diagram

import (
	"internal/taskrecord"
	"strconv"
	"strings"
	"unicode/utf8"
)

// oneLine returns s without line breaks and without what is not UTF-8.
func oneLine(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	return strings.Map(func(c rune) rune {
		switch c {
		case '\n', '\r', '\t', 0x85, 0x2028, 0x2029:
			return ' '
		}
		return c
	}, s)
}

// cut returns s, or so much of it that it has n characters with the ellipsis.
func cut(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	i := 0
	for at := range s {
		if i == n-1 {
			return s[:at] + "…"
		}
		i++
	}
	return s
}

// cutWidth is cut by the width of characters.
func cutWidth(s string, n int) string {
	if textWidth(s) <= n {
		return s
	}
	w := 1
	for at, c := range s {
		w += runeWidth(c)
		if w > n {
			return s[:at] + "…"
		}
	}
	return s
}

func textWidth(s string) int {
	n := 0
	for _, c := range s {
		n += runeWidth(c)
		if n > 1e4 {
			break
		}
	}
	return n
}

// runeWidth returns 2 for characters of East Asia and pictures, which are twice as wide.
func runeWidth(c rune) int {
	if c >= 0x1100 && (c < 0x1160 || 0x2e80 <= c && c < 0xfb00 || c >= 0xff00 && c < 0xff61 || c >= 0x1f000) {
		return 2
	}
	return 1
}

// shortFunc returns a function's name without the path of its package.
func shortFunc(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// placeText returns a frame for people: "main.(*cart).load at cart.go:31".
func placeText(f taskrecord.Frame) string {
	s := shortFunc(f.Func)
	if f.File != "" {
		if s != "" {
			s += " at "
		}
		s += f.File[strings.LastIndexAny(f.File, `/\`)+1:]
		if f.Line > 0 {
			s += ":" + strconv.Itoa(f.Line)
		}
	}
	return s
}

// quantity returns a number with a unit for people: 12.3M.
func quantity(n uint64) string {
	if n < 10000 {
		return strconv.FormatUint(n, 10)
	}
	x, i := float64(n)/1000, 0
	for x >= 999.5 && i < len("kMGTPE")-1 {
		x /= 1000
		i++
	}
	return strconv.FormatFloat(x, 'g', 3, 64) + "kMGTPE"[i:i+1]
}

// A tally is a count of things: what one is called, and what follows.
type tally struct {
	n          int64
	what, more string
}

// counted returns a sentence on those counts that are not zero, or none.
func counted(head string, counts []tally) []string {
	var list []string
	for _, c := range counts {
		if c.n != 0 {
			list = append(list, taskrecord.Count(c.n, c.what)+c.more)
		}
	}
	if list == nil {
		return nil
	}
	return []string{head + ": " + strings.Join(list, ", ") + "."}
}
