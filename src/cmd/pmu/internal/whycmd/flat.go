// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"cmd/pmu/internal/why"
	"strings"
	"unicode/utf8"
)

// This file parses the lines that most files of JSON have: objects of numbers and strings, and of
// such objects.
// All other lines are for encoding/json, which takes several times as long.

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
	tokenObject
)

// A flatLine is a line that is being scanned.
type flatLine struct {
	f       *file
	b       *block
	s       string
	line    int      // its number, from 1 on
	latency int      // the token, or -1
	members int      // so far
	objects []string // names of objects within, with a dot at the end
}

// flat adds a line to a block. It reports false, and adds nothing, if the line has anything that is
// not in every reader's JSON, or a column that is not known.
func (f *file) flat(b *block, s string, line int) bool {
	b.tokens = b.tokens[:0]
	l := flatLine{f: f, b: b, s: s, line: line, latency: -1, objects: b.objects[:0]}
	if s[0] != '{' {
		return false
	}
	end := l.object(0, "")
	b.objects = l.objects
	latency := l.latency
	if latency < 0 || end < 0 || space(s, end) != len(s) {
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
		if c.skip || t.kind == tokenNull {
			continue
		}
		switch x := &b.columns[t.column]; {
		case t.kind != tokenBool:
			x.text(row, t.text, c.words || !c.begun)
		case c.words:
			x.word(row, t.text)
		default:
			x.bad++
		}
	}
	return true
}

// deepest is how many objects may be in each other.
const deepest = 4

// object scans an object that begins at i, whose members' names have a prefix. It returns where the
// object ends, or -1 if it is not for this scanner.
func (l *flatLine) object(i int, prefix string) int {
	b, s := l.b, l.s
	i = space(s, i+1)
	if i < len(s) && s[i] == '}' {
		return i + 1
	}
	for ; ; l.members++ {
		// A name, which is mostly that of the line before.
		if i >= len(s) || s[i] != '"' {
			return -1
		}
		key, end := str(s, i)
		if end < 0 {
			return -1
		}
		n := l.members
		for n >= len(b.last) {
			b.last = append(b.last, -1)
		}
		name, column := "", -2
		if k := b.last[n]; k >= 0 {
			if c := b.schema.columns[k].name; len(c) == len(prefix)+len(key) && c[len(prefix):] == key && c[:len(prefix)] == prefix {
				name, column = c, k
			}
		}
		if column < 0 {
			if name = key; prefix != "" {
				name = prefix + key
			}
			if k, ok := b.schema.byName[name]; ok {
				column = k
				b.last[n] = k
			} else if prefix == "" && name == l.f.latency {
				column = -1
			}
		}
		for _, o := range l.objects {
			if len(o) == len(name)+1 && o[:len(name)] == name {
				return -1 // it is an object, too
			}
		}
		if i = space(s, end); i >= len(s) || s[i] != ':' {
			return -1
		}
		if i = space(s, i+1); i >= len(s) {
			return -1
		}
		t := token{column: column}
		switch c := s[i]; {
		case c == '"':
			if t.text, end = str(s, i); end < 0 {
				return -1
			}
			t.kind = tokenString
		case c == '-' || c-'0' < 10:
			if end = numberEnd(s, i); end < 0 {
				return -1
			}
			t.text = s[i:end]
			t.kind = tokenNumber
		case c == '{':
			if column == -1 || column >= 0 && b.seen[column] == l.line || len(l.objects) == deepest {
				return -1
			}
			inner := l.prefix(name)
			l.objects = append(l.objects, inner)
			if end = l.object(i, inner); end < 0 {
				return -1
			}
			t.kind = tokenObject
		case len(s) >= i+4 && s[i:i+4] == "true":
			t.kind, t.text, end = tokenBool, "true", i+4
		case len(s) >= i+5 && s[i:i+5] == "false":
			t.kind, t.text, end = tokenBool, "false", i+5
		case len(s) >= i+4 && s[i:i+4] == "null":
			t.kind, end = tokenNull, i+4
		default:
			return -1
		}
		switch {
		case t.kind == tokenObject:
		case column == -1:
			l.latency = len(b.tokens) // the last one, if there are two
			b.tokens = append(b.tokens, t)
		case column >= 0:
			if b.seen[column] == l.line {
				return -1
			}
			b.seen[column] = l.line
			if c := &b.schema.columns[column]; !c.begun && !c.skip && t.kind != tokenNull && (t.kind != tokenString || !why.Empty(why.Trim(t.text))) {
				return -1
			}
			b.tokens = append(b.tokens, t)
		case t.kind != tokenNull && (l.f.b.Skip == nil || !l.f.b.Skip(name)):
			return -1
		}
		if i = space(s, end); i >= len(s) {
			return -1
		}
		if s[i] == '}' {
			l.members++
			return i + 1
		}
		if s[i] != ',' {
			return -1
		}
		i = space(s, i+1)
	}
}

// prefix returns what the names of an object's members begin with.
func (l *flatLine) prefix(name string) string {
	b := l.b
	p, ok := b.prefixes[name]
	if !ok {
		if len(b.prefixes) > 100 {
			clear(b.prefixes) // objects whose names are data
		}
		if b.prefixes == nil {
			b.prefixes = make(map[string]string)
		}
		p = strings.Clone(name) + "."
		b.prefixes[p[:len(name)]] = p
	}
	return p
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
