// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"bytes"
	"internal/runtime/perf"
	"io"
	"reflect"
	"strings"
	"testing"
)

// TestMarks tests that marks and records are read as they were written, in their order, and that a reader
// which doesn't ask for marks passes over them.
func TestMarks(t *testing.T) {
	var file bytes.Buffer
	w := NewFileWriter(&file, &Server{Name: "s"})
	begin := Progress{Places: RingPlaces{{0, 7}, {5, 1 << 40}}}
	at := Progress{Places: RingPlaces{{5, 9}, {0, 8}}, Lost: 3, LeftOut: 1}
	var want []any
	for range 3 {
		end := Mark{true, "q", Progress{RingPlaces{{0, 8}, {5, 9}}, 3, 1}, Taken{1, 2, 3, 4, DelayKnown}}
		want = append(want, Mark{false, "p", begin, Taken{}}, at, Progress{}, end)
		w.At = at
		if w.Mark(&Mark{false, "p", begin, Taken{}}) != nil || w.Write(new(Record)) != nil || w.Write(new(Record)) != nil || w.Mark(&end) != nil {
			t.Fatal("a mark or a record is not written")
		}
	}
	for _, ask := range []bool{true, false} {
		r := NewFileReader(bytes.NewReader(file.Bytes()))
		var got []any
		if ask {
			r.Mark = func(m *Mark) { got = append(got, *m) }
		}
		n := 0
		x, err := r.Next()
		for ; err == nil; x, err = r.Next() {
			n++
			got = append(got, r.At())
			if x.Server.Name != "s" {
				t.Errorf("a record is of server %q", x.Server.Name)
			}
		}
		if err != io.EOF || n != 6 || r.Skipped() > 0 || ask && !reflect.DeepEqual(got, want) {
			t.Errorf("%v after %d records, %d bytes skipped:\n%v, want\n%v", err, n, r.Skipped(), got, want)
		}
	}
}

// TestMarkBounds tests that no mark and no record has more places than there are rings, nor others, nor counts
// that are none.
func TestMarkBounds(t *testing.T) {
	var many RingPlaces
	for range perf.AllTaskRings + 1 {
		many = append(many, RingPlace{0, 1})
	}
	for _, m := range []Mark{
		{Process: strings.Repeat("x", maxProcess+1)},
		{Progress: Progress{Places: many}},
		{Progress: Progress{Places: RingPlaces{{perf.AllTaskRings, 1}}}},
		{Progress: Progress{Lost: -1}},
		{Progress: Progress{LeftOut: maxCounted + 1}},
	} {
		c := coder{b: appendString([]byte{beginMark}, m.Process)}
		c.progress(&m.Progress)
		r := coder{reading: true, b: c.b}
		if r.mark(); r.err == nil {
			t.Errorf("a mark of %d places was read: %.200v", len(m.Places), m)
		}
		if m.Process != "" {
			continue
		}
		r = coder{reading: true, b: c.b[2:]}
		if r.progress(new(Progress)); r.err == nil {
			t.Errorf("%d places of a record were read: %.200v", len(m.Places), m)
		}
	}
	for _, rings := range [][]int{{1, 0}, {1, 1}} {
		c := coder{b: []byte{endMark, 0}}
		c.progress(&Progress{Places: RingPlaces{{rings[0], 1}, {rings[1], 1}}})
		r := coder{reading: true, b: c.b}
		if r.mark(); r.err == nil {
			t.Errorf("a mark has places in rings %v", rings)
		}
	}
}
