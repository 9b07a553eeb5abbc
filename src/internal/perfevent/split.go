// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent

import "strings"

// Split splits a list of events at its commas, but not at those that belong to
// an event: between the slashes of a PMU event and in the brackets of a symbol.
// Spaces around events are dropped. The events are not checked, and an empty
// one is an empty string.
func Split(list string) []string {
	var events []string
	for {
		n := eventLen(list)
		events = append(events, strings.TrimSpace(list[:n]))
		if n == len(list) {
			return events
		}
		list = list[n+1:]
	}
}

// eventLen returns the length of the event that list begins with.
func eventLen(list string) int {
	isMem := strings.HasPrefix(strings.TrimLeft(list, " "), "mem:")
	depth, slashes := 0, 0
	for i := range len(list) {
		switch list[i] {
		case '/':
			slashes++
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			inside := slashes == 1
			if isMem {
				inside = depth > 0
			}
			if !inside {
				return i
			}
		}
	}
	return len(list)
}
