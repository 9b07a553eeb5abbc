// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import "encoding/json"

// An object is one of JSON, without what can be no cell: of arrays nothing is made, as they may take
// many times what their text does.
type object map[string]cell

// A cell is a member of an object: a json.Number, a string, a bool, an object, an array without what
// is in it, or nil.
type cell struct{ v any }

func (c *cell) UnmarshalJSON(b []byte) (err error) {
	switch b[0] {
	case '{':
		var o object
		err = json.Unmarshal(b, &o)
		c.v = o
	case '"':
		var s string
		err = json.Unmarshal(b, &s)
		c.v = s
	case 't', 'f':
		c.v = b[0] == 't'
	case 'n':
		c.v = nil
	case '[':
		c.v = array{}
	default:
		c.v = json.Number(b)
	}
	return err
}

type array struct{}

// maxDepth is how many objects may be in each other. Each is parsed as often as it is in others.
const maxDepth = 16

// depth returns how many objects are in each other, without those in arrays.
func depth(line string) (deepest int) {
	n, arrays, quoted := 0, 0, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '[':
			arrays++
		case c == ']':
			arrays--
		case arrays > 0:
		case c == '{':
			n++
			deepest = max(deepest, n)
		case c == '}':
			n--
		}
	}
	return deepest
}
