// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"fmt"
	. "runtime/task"
	"slices"
	"testing"
	"time"
)

func TestTurns(t *testing.T) {
	for _, c := range []struct{ atOnce, n, most int }{
		{4, 0, 0}, {4, 1, 1}, {4, 4, 1}, {1, 5, 5}, {0, 3, 3}, {2, 5, 10}, {3, 7, 10}, {4, 16, 30}, {4, 79, 620}, {8, 79, 170}, {100, 9, 5},
	} {
		var events []string
		for i := range c.n {
			events = append(events, fmt.Sprintf("e%02d", i))
		}
		given := slices.Clone(events)
		sets := Turns(c.atOnce, append(events, events...)...)
		if !slices.Equal(given, events) {
			t.Fatal("it has changed what it was given")
		}
		if len(sets) > c.most {
			t.Errorf("%d of %d: %d sets, more than %d", c.atOnce, c.n, len(sets), c.most)
		}
		atOnce := min(max(c.atOnce, 1), 8)
		seen, counted := make(map[[2]string]bool), make(map[string]int)
		for _, set := range sets {
			if len(set) == 0 || len(set) > atOnce {
				t.Fatalf("a set of %d", len(set))
			}
			for i, a := range set {
				counted[a]++
				for _, b := range set[:i] {
					if a == b {
						t.Fatalf("%q has an event twice", set)
					}
					seen[[2]string{min(a, b), max(a, b)}] = true
				}
			}
		}
		least, most := 1<<30, 0
		for i, a := range given {
			least, most = min(least, counted[a]), max(most, counted[a])
			for _, b := range given[:i] {
				if atOnce > 1 && !seen[[2]string{b, a}] {
					t.Fatalf("%d of %d: %s and %s are never together", c.atOnce, c.n, a, b)
				}
			}
		}
		if c.n > 0 && (least == 0 || most > 2*least) {
			t.Errorf("%d of %d: events are in %d to %d sets", c.atOnce, c.n, least, most)
		}
		t.Logf("%d of %d: %d sets, each event in %d to %d", c.atOnce, c.n, len(sets), least, most)
	}
}

func TestEventsErrors(t *testing.T) {
	many := make([]string, 80)
	for i := range many {
		many[i] = fmt.Sprintf("mem:%d:x", 4096*(i+1))
	}
	for _, test := range []struct {
		size   int // at once; 0 to find that out
		events []string
	}{
		{0, []string{"nothing"}},
		{0, []string{"task-clock", "nothing"}},
		{0, []string{""}},
		{0, []string{"task-clock", "task-clock"}},
		{1, []string{"task-clock", "nothing"}},
		{2, many}, // 3,160 pairs
	} {
		defer SetTurns(test.size, time.Second)()
		err := Start(Config{Events: test.events})
		if err == nil {
			t.Errorf("no error: %d at once of %q", test.size, test.events)
		} else {
			t.Log(err)
		}
		if Recording() {
			t.Fatalf("records after an error: %q", test.events)
		}
	}
}
