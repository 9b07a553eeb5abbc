// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"fmt"
	"internal/runtime/perf"
	"internal/taskrecord"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
)

// A placedReader has records of rings 0, 1 and 3 in turns, and has lost one before each.
type placedReader struct {
	list []*taskrecord.Record
	n    int
}

func (r *placedReader) Next() *taskrecord.Record {
	if r.n == len(r.list) {
		return nil
	}
	r.n++
	return r.list[r.n-1]
}
func (r *placedReader) Round() {}
func (r *placedReader) Place() taskrecord.RingPlace {
	return taskrecord.RingPlace{Ring: [...]int{0, 1, 3}[(r.n-1)%3], Next: uint64(10*r.n + 1)}
}
func (r *placedReader) Progress() taskrecord.Progress {
	return taskrecord.Progress{Places: taskrecord.RingPlaces{{Ring: 0, Next: 5}, {Ring: 1, Next: 6}, {Ring: 2, Next: uint64(r.n)}}, Lost: int64(r.n)}
}
func (r *placedReader) Stats() taskrecord.RingStats { return taskrecord.RingStats{} }

// withReaders has answers read their records from elsewhere.
func withReaders(t *testing.T, reader func() taskReader) {
	old := tasks
	t.Cleanup(func() { tasks = old })
	tasks.recording = func() bool { return true }
	tasks.stats = func() taskrecord.RecorderStats { return taskrecord.RecorderStats{} }
	tasks.reader = func(bool) taskReader { return reader() }
}

// TestTaskPlaces tests that an answer says where it begins and ends in the rings, and each record up to
// where all before was sent, or counted as lost or left out: also if the kind of some was not asked for,
// or if they are too large. What records say themselves of losses stays as it is.
func TestTaskPlaces(t *testing.T) {
	var list []*taskrecord.Record
	for _, kind := range []string{"a", "b", "large", "b", "a", "a"} {
		x := &taskrecord.Record{Server: &taskrecord.Server{Name: "s"}, Kind: kind, Flags: taskrecord.Slow, Lost: taskrecord.Lost{Before: 1}}
		if kind == "large" {
			x.Kind, x.Notes = "a", []taskrecord.Note{{Key: strings.Repeat("x", 100_000)}}
		}
		list = append(list, x)
	}
	withReaders(t, func() taskReader { return &placedReader{list: list} })
	for _, test := range []struct {
		query string
		want  []string
	}{
		{"", []string{"[{0 5} {1 6} {2 0}] 0 0", "[{0 11}] 1 0", "[{1 21}] 2 0", "[{0 41} {3 31}] 4 1", "[{1 51}] 5 1", "[{3 61}] 6 1", "[{0 5} {1 6} {2 6}] 6 1"}},
		{"&kind=a", []string{"[{0 5} {1 6} {2 0}] 0 0", "[{0 11}] 1 0", "[{1 51} {0 41} {3 31}] 5 1", "[{3 61}] 6 1", "[{0 5} {1 6} {2 6}] 6 1"}},
		{"&slow=1", []string{"[{1 6}] 0 0", "[{0 11}] 1 0", "[{1 21}] 2 0", "[{0 41} {3 31}] 4 1", "[{1 51}] 5 1", "[{3 61}] 6 1", "[{1 6}] 6 1"}},
	} {
		w := httptest.NewRecorder()
		Tasks(w, httptest.NewRequest("GET", "/debug/pprof/tasks?format=tasks"+test.query, nil))
		resp := w.Result()
		r := taskrecord.NewFileReader(resp.Body)
		var got []string
		progress := func(p taskrecord.Progress) { got = append(got, fmt.Sprint(p.Places, p.Lost, p.LeftOut)) }
		ends := 0
		r.Mark = func(m *taskrecord.Mark) {
			if m.Process != taskrecord.Process() || m.End != (len(got) > 0) {
				t.Errorf("%s: a mark %+v after %d records", test.query, m, len(got))
			}
			ends++
			progress(m.Progress)
		}
		x, err := r.Next()
		for ; err == nil; x, err = r.Next() {
			progress(r.At())
			if x.Lost.Before != 1 {
				t.Errorf("%s: a record says that %d were lost before it, want 1", test.query, x.Lost.Before)
			}
		}
		if err != io.EOF || r.Skipped() > 0 || ends != 2 || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %v, %d marks, %d bytes skipped, progress\n%q, want\n%q", test.query, err, ends, r.Skipped(), got, test.want)
		}
		if left := resp.Trailer.Get(tasksLeftOutHeader); left != "1" {
			t.Errorf("%s: %s left out", test.query, left)
		}
	}
}

// A fullReader is in all rings that there can be, as far as numbers go.
type fullReader struct{ placedReader }

func (r *fullReader) Progress() (p taskrecord.Progress) {
	for i := range perf.AllTaskRings {
		p.Places = append(p.Places, taskrecord.RingPlace{Ring: i, Next: math.MaxUint64 - uint64(i)})
	}
	return p
}

// TestTaskPlacesLongest tests that a client gets the longest places that there are.
func TestTaskPlacesLongest(t *testing.T) {
	withReaders(t, func() taskReader { return new(fullReader) })
	hs := httptest.NewServer(http.HandlerFunc(Tasks))
	defer hs.Close()
	for _, query := range []string{"", "&seconds=1"} {
		resp, err := http.Get(hs.URL + "/debug/pprof/tasks?format=tasks" + query)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		r := taskrecord.NewFileReader(resp.Body)
		marks := 0
		r.Mark = func(m *taskrecord.Mark) {
			if want := new(fullReader).Progress(); !reflect.DeepEqual(m.Progress, want) {
				t.Errorf("a mark of %d places, want %d", len(m.Places), len(want.Places))
			}
			marks++
		}
		if _, err := r.Next(); err != io.EOF || marks != 2 || r.Skipped() > 0 {
			t.Errorf("%v after %d marks, %d bytes skipped", err, marks, r.Skipped())
		}
	}
}
