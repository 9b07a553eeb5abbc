// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard_test

import (
	"errors"
	"internal/hazardfeed"
	"io/fs"
	"os"
	. "runtime/hazard"
	"strings"
	"testing"
)

// entries returns how many there are in a directory.
func entries(t *testing.T, name string) int {
	t.Helper()
	list, err := os.ReadDir(name)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// TestFeed tests that all who serve the page of this process have one file and one thread, that each of them
// hears of the end, and that nothing is left then.
func TestFeed(t *testing.T) {
	if _, err := hazardfeed.Open(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing is published: %v", err)
	}
	file := tempDir(t) + "/page"
	files := 0
	for i := range 3 { // after the first time the poller and the like are there
		p, err := Publish(file)
		if err != nil {
			t.Fatal(err)
		}
		published := entries(t, "/proc/self/fd")
		var feeds []hazardfeed.Feed
		for range 5 {
			f, err := hazardfeed.Open()
			if err != nil {
				t.Fatal(err)
			}
			feeds = append(feeds, f)
		}
		if n := entries(t, "/proc/self/fd"); i > 0 && n != published+1 {
			t.Errorf("%d files with feeds, %d before", n, published)
		}
		if n := SleepersOf(feeds[0]); n != 5 {
			t.Errorf("%d wait with one thread", n)
		}
		feeds[0].Leave()
		feeds[0].Leave() // does nothing
		feeds = feeds[1:]
		for _, f := range feeds {
			s, err := f.Status()
			if err != nil || s.Number == 0 || s.Last {
				t.Errorf("%+v, %v", s, err)
			}
			hear(t, f, s.Number, func() { p.Set(Draining, `a "\`) }, `"state":"Draining","program":"Draining","reason":"a \"\\"}`)
			p.Set(OK, "")
		}
		n := last(t, feeds[0], 0).Number
		for j, f := range feeds {
			hear(t, f, n, func() {
				if j == 0 {
					p.Close()
				}
			}, `"state":"Gone","program":"OK","reason":"closed"}`)
		}
		if _, err := hazardfeed.Open(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after Close: %v", err)
		}
		for _, f := range feeds {
			f.Leave()
		}
		if n := entries(t, "/proc/self/fd"); i == 0 {
			files = n
		} else if n != files {
			t.Errorf("%d files are open, %d before", n, files)
		}
	}
}

// last returns the last change.
func last(t *testing.T, f hazardfeed.Feed, after uint64) (e hazardfeed.Event) {
	t.Helper()
	list, _, err := f.Changes(after)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) > 0 {
		e = list[len(list)-1]
	}
	return e
}

// hear does something, and waits for a change.
func hear(t *testing.T, f hazardfeed.Feed, after uint64, do func(), want string) {
	t.Helper()
	do()
	for {
		changed, err := f.Changed()
		if err != nil {
			t.Fatal(err)
		}
		if e := last(t, f, after); strings.HasSuffix(string(e.JSON), want) {
			if e.Last != strings.Contains(want, "Gone") {
				t.Errorf("%s: the last one: %v", e.JSON, e.Last)
			}
			return
		}
		<-changed
	}
}
