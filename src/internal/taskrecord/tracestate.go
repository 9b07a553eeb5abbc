// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"encoding/base64"
	"errors"
	"strings"
)

// A header tracestate (W3C Trace Context, section 3.3, level 2) is a list of members
// key=value, each of a tracing system. Ours is the clock. The others are not for us, and are
// passed on in their order.
const (
	clockKey = "go"

	maxMembers = 32  // of a list
	maxKey     = 256 // characters
	maxValue   = 256
	longMember = 128 // characters: those above are the first to go

	// maxState is how many characters are passed on. More may come, but no more than a list
	// without spaces can have.
	maxState   = 512
	maxStateIn = maxMembers*(maxKey+len("=")+maxValue+len(",")) - len(",")
)

// clockText is the clock's alphabet: it has neither ',' nor '=', which may not be in a value,
// nor padding. Strict, so that a clock has one text.
var clockText = base64.RawURLEncoding.Strict()

var (
	errStateSize    = errors.New("task: tracestate is longer than 32 members can be")
	errStateMembers = errors.New("task: tracestate has more than 32 members")
	errStateMember  = errors.New("task: tracestate has a member that is not key=value: lower-case letters, digits and _-*/@, at most 256, and 1 to 256 printable characters other than ',' and '='")
	errStateTwice   = errors.New("task: tracestate has more than one member \"go\"")
	errStateClock   = errors.New("task: tracestate has a member \"go\" that is no clock in base64url without padding")
)

// ParseTracestate returns the clock that the value of a header tracestate has, whether it has
// one, and the rest: the members of others, in their order, for [AppendTracestate].
// Several header lines are to be joined with commas before. Empty members are left out.
//
// It is an error if something is wrong with the list or the clock, but each is then as good
// as it can be without the other. If a foreign member is invalid, or if there are more than
// 32 members, the clock is still returned, and rest is empty: a list that is invalid
// must not be passed on. If the clock is invalid, or there are two of them, hasClock is false
// and rest is returned. Only a value of more than 16 KB, which no valid list needs, is not
// looked at. It is no error if foreign members have the same key.
//
// At most 512 characters are in rest. Members that don't fit are dropped from the end, those
// of more than 128 characters first.
func ParseTracestate(s string) (clock Clock, hasClock bool, rest string, err error) {
	if len(s) > maxStateIn {
		return Clock{}, false, "", errStateSize
	}
	var l memberList
	err = l.split(s)
	if err == nil {
		l.trim(maxState+1, maxMembers)
		rest = l.join()
	}
	switch {
	case l.clocks == 1:
		clock, hasClock = parseClockText(l.clock)
		if !hasClock {
			err = errors.Join(errStateClock, err)
		}
	case l.clocks > 1:
		err = errors.Join(errStateTwice, err)
	}
	return clock, hasClock, rest, err
}

// AppendTracestate appends the value of a header tracestate: a member for the clock, unless
// c is nil or not valid, and what fits of rest: 512 characters and 32 members in all. Members
// are dropped from the end, those of more than 128 characters first, as the W3C wants it. Of
// a rest that is not from [ParseTracestate], what is invalid is dropped too, and members "go".
// If it appends nothing, no header is to be sent.
func AppendTracestate(b []byte, c *Clock, rest string) []byte {
	var l memberList
	l.split(rest)

	var buf [maxClockSize]byte
	bin := buf[:0]
	if c != nil {
		bin, _ = c.AppendBinary(bin)
	}
	if len(bin) == 0 {
		l.trim(maxState+len(","), maxMembers)
		return l.append(b)
	}
	l.trim(maxState-len(clockKey+"=")-clockText.EncodedLen(len(bin)), maxMembers-1)
	b = append(b, clockKey+"="...)
	b = clockText.AppendEncode(b, bin)
	if l.n > 0 {
		b = append(b, ',')
	}
	return l.append(b)
}

// parseClockText returns the clock in the value of a member.
func parseClockText(s string) (Clock, bool) {
	var text [(maxClockSize*8 + 5) / 6]byte
	var bin [maxClockSize]byte
	// The package base64 skips ends of lines; they may not be in a value.
	if len(s) > len(text) || !validValue(s) {
		return Clock{}, false
	}
	n, err := clockText.Decode(bin[:], text[:copy(text[:], s)])
	if err != nil {
		return Clock{}, false
	}
	c, err := ParseClock(bin[:n])
	return c, err == nil
}

// A memberList is what is in a tracestate.
type memberList struct {
	s      string
	clocks int    // how many members are clocks
	clock  string // the value of one

	// The foreign members, and how many characters they take, with a comma for each.
	n      int
	size   int
	member [maxMembers]struct{ lo, hi int } // in s
}

// split finds the members of s. It finds all clocks, and the first foreign members that are
// valid, whatever it returns.
func (l *memberList) split(s string) (err error) {
	l.s = s
	for lo := 0; lo <= len(s); {
		hi := len(s)
		if i := strings.IndexByte(s[lo:], ','); i >= 0 {
			hi = lo + i
		}
		next := hi + 1
		for lo < hi && isSpace(s[lo]) {
			lo++
		}
		for lo < hi && isSpace(s[hi-1]) {
			hi--
		}
		if lo < hi {
			key, value, ok := strings.Cut(s[lo:hi], "=")
			switch {
			case ok && key == clockKey:
				l.clock = value
				l.clocks++
			case !ok || !validKey(key) || !validValue(value):
				err = errStateMember
			case l.n == maxMembers:
				err = errStateMembers
			default:
				l.member[l.n].lo, l.member[l.n].hi = lo, hi
				l.n++
				l.size += hi - lo + len(",")
			}
		}
		lo = next
	}
	if l.n+l.clocks > maxMembers && err == nil {
		err = errStateMembers
	}
	return err
}

// trim drops members until they fit.
func (l *memberList) trim(size, members int) {
	for i := l.n - 1; i >= 0 && l.size > size; i-- {
		if m := l.member[i]; m.hi-m.lo > longMember {
			copy(l.member[i:l.n], l.member[i+1:l.n])
			l.n--
			l.size -= m.hi - m.lo + len(",")
		}
	}
	for l.n > 0 && (l.size > size || l.n > members) {
		l.n--
		m := l.member[l.n]
		l.size -= m.hi - m.lo + len(",")
	}
}

// join returns the foreign members as a list. It is a part of s if it can be.
func (l *memberList) join() string {
	if l.n == 0 {
		return ""
	}
	for i := 1; i < l.n; i++ {
		if l.member[i].lo != l.member[i-1].hi+len(",") {
			return string(l.append(make([]byte, 0, l.size)))
		}
	}
	return l.s[l.member[0].lo:l.member[l.n-1].hi]
}

func (l *memberList) append(b []byte) []byte {
	for i, m := range l.member[:l.n] {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, l.s[m.lo:m.hi]...)
	}
	return b
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

// validKey reports whether s may be a key. Level 2 allows what level 1 does, for several
// tenants of a system too ("tenant@system"), and a little more.
func validKey(s string) bool {
	if s == "" || len(s) > maxKey {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		case i > 0 && (c == '_' || c == '-' || c == '*' || c == '/' || c == '@'):
		default:
			return false
		}
	}
	return true
}

// validValue reports whether s may be a value. It may begin with spaces; those at its end are
// not its own, and gone already.
func validValue(s string) bool {
	if s == "" || len(s) > maxValue {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == ',' || c == '=' {
			return false
		}
	}
	return true
}
