// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// marshal writes a value as package json does.
func (o *jsonObject) marshal(v any) {
	switch v := v.(type) {
	case *int64:
		o.b = strconv.AppendInt(o.b, *v, 10)
	case *time.Duration:
		o.b = strconv.AppendInt(o.b, int64(*v), 10)
	case *uint64:
		o.b = strconv.AppendUint(o.b, *v, 10)
	case *int:
		o.b = strconv.AppendInt(o.b, int64(*v), 10)
	case *uint16:
		o.b = strconv.AppendUint(o.b, uint64(*v), 10)
	case *uint32:
		o.b = strconv.AppendUint(o.b, uint64(*v), 10)
	case *Flags:
		o.b = strconv.AppendUint(o.b, uint64(*v), 10)
	case *bool:
		o.b = strconv.AppendBool(o.b, *v)
	case *string:
		o.b = AppendJSONString(o.b, *v)
	case *map[string]uint64:
		marshalMap(o, *v, strconv.AppendUint)
	case *map[string]time.Duration:
		marshalMap(o, *v, func(b []byte, d time.Duration, base int) []byte { return strconv.AppendInt(b, int64(d), base) })
	default:
		panic(fmt.Sprintf("task: the JSON of a %T", v))
	}
}

// marshalMap writes a map in the order of its keys.
func marshalMap[T any](o *jsonObject, m map[string]T, number func(b []byte, v T, base int) []byte) {
	in := jsonObject{b: append(o.b, '{'), empty: true}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if !in.empty {
			in.b = append(in.b, ',')
		}
		in.empty = false
		in.b = number(append(AppendJSONString(in.b, k), ':'), m[k], 10)
	}
	o.b = append(in.b, '}')
}

// AppendJSONString appends a string as JSON, as package json does: what HTML and JavaScript
// take for something else is escaped, and bytes that are not UTF-8 become U+FFFD.
func AppendJSONString(b []byte, s string) []byte {
	b = append(b, '"')
	if plain(s) { // mostly
		return append(append(b, s...), '"')
	}
	done := 0
	for i := 0; i < len(s); {
		c, n := rune(s[i]), 1
		if c >= utf8.RuneSelf {
			c, n = utf8.DecodeRuneInString(s[i:])
		}
		i += n
		if c >= ' ' && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' && c != '\u2028' && c != '\u2029' && (c != utf8.RuneError || n > 1) {
			continue
		}
		b = append(b, s[done:i-n]...)
		done = i
		if c == utf8.RuneError {
			b = append(b, "\ufffd"...)
			continue
		}
		if k := strings.IndexByte("\b\f\n\r\t\"\\", byte(c)); c < utf8.RuneSelf && k >= 0 {
			b = append(b, '\\', "bfnrt\"\\"[k])
			continue
		}
		b = append(b, '\\', 'u')
		for shift := 12; shift >= 0; shift -= 4 {
			b = append(b, "0123456789abcdef"[c>>shift&0xf])
		}
	}
	return append(append(b, s[done:]...), '"')
}

// plain reports whether s is the same in JSON.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}
