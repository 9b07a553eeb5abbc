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
	s := l.s
	i = space(s, i+1)
	if i < len(s) && s[i] == '}' {
		return i + 1
	}
	for ; ; l.members++ {
		if i >= len(s) || s[i] != '"' {
			return -1
		}
		key, end := str(s, i)
		if end < 0 {
			return -1
		}
		name, column := l.column(prefix, key)
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
		if s[i] == '{' {
			end = l.inner(i, name, column)
		} else {
			t := token{column: column}
			if end = t.scan(s, i); end >= 0 && !l.keep(&t, name) {
				return -1
			}
		}
		if end < 0 {
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

// column returns a member's name and its column: -1 if it is the latency, -2 if there is none yet.
// It is mostly that of the line before.
func (l *flatLine) column(prefix, key string) (name string, column int) {
	b, n := l.b, l.members
	for n >= len(b.last) {
		b.last = append(b.last, -1)
	}
	if k := b.last[n]; k >= 0 {
		if c := b.schema.columns[k].name; len(c) == len(prefix)+len(key) && c[len(prefix):] == key && c[:len(prefix)] == prefix {
			return c, k
		}
	}
	if name = key; prefix != "" {
		name = prefix + key
	}
	if k, ok := b.schema.byName[name]; ok {
		b.last[n] = k
		return name, k
	}
	if prefix == "" && name == l.f.latency {
		return name, -1
	}
	return name, -2
}

// inner scans an object within, of that name. It returns where it ends, or -1.
func (l *flatLine) inner(i int, name string, column int) int {
	if column == -1 || column >= 0 && l.b.seen[column] == l.line || len(l.objects) == deepest {
		return -1
	}
	prefix := l.prefix(name)
	l.objects = append(l.objects, prefix)
	return l.object(i, prefix)
}

// scan sets t to the value that begins at i. It returns where it ends, or -1 if it is not for this scanner.
func (t *token) scan(s string, i int) (end int) {
	switch c := s[i]; {
	case c == '"':
		t.kind = tokenString
		t.text, end = str(s, i)
		return end
	case c == '-' || c-'0' < 10:
		if end = numberEnd(s, i); end < 0 {
			return -1
		}
		t.kind, t.text = tokenNumber, s[i:end]
		return end
	case strings.HasPrefix(s[i:], "true"):
		t.kind, t.text = tokenBool, "true"
		return i + 4
	case strings.HasPrefix(s[i:], "false"):
		t.kind, t.text = tokenBool, "false"
		return i + 5
	case strings.HasPrefix(s[i:], "null"):
		t.kind = tokenNull
		return i + 4
	}
	return -1
}

// keep adds the value of the member of that name. It reports false if that needs a column that is not
// known or has no kind yet, or if the column has a value already.
func (l *flatLine) keep(t *token, name string) bool {
	b := l.b
	switch {
	case t.column == -1:
		l.latency = len(b.tokens) // the last one, if there are two
	case t.column < 0:
		return t.kind == tokenNull || l.f.b.Skip != nil && l.f.b.Skip(name)
	case b.seen[t.column] == l.line:
		return false
	default:
		b.seen[t.column] = l.line
		if c := &b.schema.columns[t.column]; !c.begun && !c.skip && t.kind != tokenNull && (t.kind != tokenString || !why.Empty(why.Trim(t.text))) {
			return false
		}
	}
	b.tokens = append(b.tokens, *t)
	return true
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
