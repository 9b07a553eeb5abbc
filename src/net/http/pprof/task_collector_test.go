// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"fmt"
	record "internal/task"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A placedReader has records of rings 0, 1 and 3 in turns, and has lost one before each.
type placedReader struct {
	list []*record.Task
	n    int
}

func (r *placedReader) Next() *record.Task {
	if r.n == len(r.list) {
		return nil
	}
	r.n++
	return r.list[r.n-1]
}
func (r *placedReader) Round() {}
func (r *placedReader) Place() record.RingPlace {
	return record.RingPlace{Ring: [...]int{0, 1, 3}[(r.n-1)%3], Next: uint64(10*r.n + 1)}
}
func (r *placedReader) Places() record.RingPlaces {
	return record.RingPlaces{{Ring: 0, Next: 5}, {Ring: 1, Next: 6}, {Ring: 2, Next: uint64(r.n)}}
}
func (r *placedReader) Stats() record.RingStats { return record.RingStats{} }

// TestTaskPlaces tests that an answer says where it begins and ends in the rings, and each record up to
// where all before was sent, or told as lost: also if the kind of some was not asked for, or if they are
// too large.
func TestTaskPlaces(t *testing.T) {
	var list []*record.Task
	for _, kind := range []string{"a", "b", "large", "b", "a", "a"} {
		x := &record.Task{Server: &record.Server{Name: "s"}, Kind: kind, Flags: record.Slow, Lost: record.Lost{Before: 1}}
		if kind == "large" {
			x.Kind, x.Notes = "a", []record.Note{{Key: strings.Repeat("x", 100_000)}}
		}
		list = append(list, x)
	}
	old := tasks
	defer func() { tasks = old }()
	tasks.recording = func() bool { return true }
	tasks.stats = func() record.Stats { return record.Stats{} }
	tasks.reader = func(bool) taskReader {
		r := new(placedReader)
		for _, x := range list {
			y := *x
			r.list = append(r.list, &y)
		}
		return r
	}
	for _, test := range []struct{ query, from, until string }{
		{"", "0:5 1:6 2:0", "0:5 1:6 2:6"},
		{"&kind=a", "0:5 1:6 2:0", "0:5 1:6 2:6"},
		{"&slow=1", "1:6", "1:6"},
	} {
		w := httptest.NewRecorder()
		Tasks(w, httptest.NewRequest("GET", "/debug/pprof/tasks?format=tasks"+test.query, nil))
		resp := w.Result()
		h := func(h http.Header, name string) string {
			process, at, _ := strings.Cut(h.Get(name), " ")
			if process != record.Process() {
				t.Errorf("%s: %s is of process %q", test.query, name, process)
			}
			return at
		}
		if from, until := h(resp.Header, tasksFromHeader), h(resp.Trailer, tasksUntilHeader); from != test.from || until != test.until {
			t.Errorf("%s: from %s until %s, want %s and %s", test.query, from, until, test.from, test.until)
		}
		r := record.NewReader(resp.Body)
		var at record.RingPlaces
		lost := int64(0)
		var text []string
		for x, err := r.Next(); err == nil; x, err = r.Next() {
			lost += x.Lost.Before
			at.Raise(r.At())
			text = append(text, fmt.Sprint(r.At(), x.Lost.Before))
		}
		if lost != int64(len(list))+1 {
			t.Errorf("%s: %d records are told as lost, want one before each, and one that is too large: %v", test.query, lost, text)
		}
		want := record.RingPlaces{{Ring: 0, Next: 41}, {Ring: 1, Next: 51}, {Ring: 3, Next: 61}}
		if !reflect.DeepEqual(at, want) {
			t.Errorf("%s: read up to %v, want %v: %v", test.query, at, want, text)
		}
		// The one in ring 3 was too large.
		if i := slices.Index(text, "[{0 41} {3 31}] 3"); test.query != "&kind=a" && i != 2 {
			t.Errorf("%s: records tell of places and losses %v", test.query, text)
		}
		if left := resp.Trailer.Get(tasksLeftOutHeader); left != "1" {
			t.Errorf("%s: %s left out", test.query, left)
		}
	}
}
