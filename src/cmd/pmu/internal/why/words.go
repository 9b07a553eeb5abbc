// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"fmt"
	"strings"
)

// wordNotes says which columns of words the analysis sees a part of only: those that have so many
// that they are rather names of single requests, or numbers in a form that is none here.
func wordNotes(r *ranked) (notes []string) {
	const most = 3
	left := 0
	for i := range r.Columns {
		c := &r.Columns[i]
		if len(c.Words) <= maxWords {
			continue
		}
		used := make([]bool, len(c.Words))
		n, different, digits := 0, 0, 0
		for _, row := range r.rows {
			v := c.Values[row]
			if v != v {
				continue
			}
			n++
			w := strings.TrimLeft(c.Words[int(v)], "+-")
			if w != "" && w[0]-'0' < 10 {
				digits++
			}
			if !used[int(v)] {
				used[int(v)] = true
				different++
			}
		}
		if different <= maxWords {
			continue
		}
		if len(notes) == most {
			left++
			continue
		}
		s := fmt.Sprintf("column %.100q is of words, %d different ones in %d requests: it is left out of events, and conditions are on the %d most frequent words of slow requests only", c.Name, different, n, maxWords)
		if 2*digits > n {
			s += ". Most begin with a digit, but numbers are like 1.5 or 2e3, without a unit"
		}
		notes = append(notes, s)
	}
	if left > 0 {
		notes = append(notes, fmt.Sprintf("%d more columns are of as many words", left))
	}
	return notes
}
