// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.23

package main

import "unicode/utf8"

// This file parses the lines that most files of JSON have: flat objects of numbers and strings.
// All other lines are for encoding/json, which takes ten times as long.

// A token is a member of an object.
type token struct {
	column int // -1 is the latency
	kind   byte
	text   string
	v      float64 // of a number
	ok     bool    // it has such a value
}

// Kinds of tokens.
const (
	tokenNumber = iota
	tokenString
	tokenBool
	tokenNull
)

// flat adds a line to a block. It reports false, and adds nothing, if the line has anything that is
// not in every reader's JSON, or a column that is not known.
func (f *file) flat(b *block, s string, line int) bool {
	b.tokens = b.tokens[:0]
	latency := -1 // the token
	i := 1
	if s[0] != '{' {
		return false
	}
	i = space(s, i)
	if i < len(s) && s[i] == '}' {
		return false
	}
	for n := 0; ; n++ {
		// A name, which is mostly that of the line before.
		if i >= len(s) || s[i] != '"' {
			return false
		}
		name, end := str(s, i)
		if end < 0 {
			return false
		}
		t := token{column: -2}
		if n < len(b.last) && b.last[n] >= 0 && b.schema.columns[b.last[n]].name == name {
			t.column = b.last[n]
		} else if name == f.latency {
			t.column = -1
		} else if k, ok := b.schema.byName[name]; ok {
			t.column = k
		}
		if n == len(b.last) {
			b.last = append(b.last, -1)
		}
		if t.column >= 0 {
			b.last[n] = t.column
		}
		if i = space(s, end); i >= len(s) || s[i] != ':' {
			return false
		}
		if i = space(s, i+1); i >= len(s) {
			return false
		}
		switch c := s[i]; {
		case c == '"':
			if t.text, end = str(s, i); end < 0 {
				return false
			}
			t.kind = tokenString
		case c == '-' || c-'0' < 10:
			if end = numberEnd(s, i); end < 0 {
				return false
			}
			t.text = s[i:end]
			t.kind = tokenNumber
		case len(s) >= i+4 && s[i:i+4] == "true":
			t.kind, t.text, end = tokenBool, "true", i+4
		case len(s) >= i+5 && s[i:i+5] == "false":
			t.kind, t.text, end = tokenBool, "false", i+5
		case len(s) >= i+4 && s[i:i+4] == "null":
			t.kind, end = tokenNull, i+4
		default:
			return false
		}
		switch {
		case t.column == -1:
			if latency >= 0 {
				return false // twice
			}
			latency = len(b.tokens)
			b.tokens = append(b.tokens, t)
		case t.column >= 0:
			if b.seen[t.column] == line {
				return false
			}
			b.seen[t.column] = line
			if c := &b.schema.columns[t.column]; !c.begun && !c.skip && t.kind != tokenNull && (t.kind != tokenString || t.text != "") {
				return false
			}
			b.tokens = append(b.tokens, t)
		case t.kind != tokenNull && (f.b.Skip == nil || !f.b.Skip(name)):
			return false
		}
		if i = space(s, end); i >= len(s) {
			return false
		}
		if s[i] == '}' {
			break
		}
		if s[i] != ',' {
			return false
		}
		i = space(s, i+1)
	}
	if latency < 0 || space(s, i+1) != len(s) {
		return false
	}
	row := len(b.latency)
	v := nan
	if t := &b.tokens[latency]; t.kind == tokenNumber {
		v, _ = parseNumber(t.text)
	}
	b.latency = append(b.latency, v)
	for k := range b.tokens {
		t := &b.tokens[k]
		if t.column < 0 {
			continue
		}
		c := &b.schema.columns[t.column]
		if c.skip || t.kind == tokenNull || !c.begun {
			continue
		}
		switch x := &b.columns[t.column]; {
		case t.kind != tokenBool:
			x.text(row, t.text, c.words)
		case c.words:
			x.word(row, t.text)
		default:
			x.bad++
		}
	}
	return true
}

func space(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\r' || s[i] == '\n') {
		i++
	}
	return i
}

// str returns the string that begins at i, and where it ends; -1 if it has an escape, or is none.
func str(s string, i int) (string, int) {
	i++
	from, ascii := i, true
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			if !ascii && !utf8.ValidString(s[from:i]) {
				return "", -1
			}
			return s[from:i], i + 1
		case c == '\\' || c < ' ':
			return "", -1
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return "", -1
}

// numberEnd returns where the number ends that begins at i; -1 if JSON has no such numbers.
func numberEnd(s string, i int) int {
	digits := func() bool {
		from := i
		for i < len(s) && s[i]-'0' < 10 {
			i++
		}
		return i > from
	}
	if s[i] == '-' {
		i++
	}
	zero := i < len(s) && s[i] == '0'
	from := i
	if !digits() || zero && i > from+1 {
		return -1
	}
	if i < len(s) && s[i] == '.' {
		i++
		if !digits() {
			return -1
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if !digits() {
			return -1
		}
	}
	return i
}
