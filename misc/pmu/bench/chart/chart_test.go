// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package chart

import (
	"encoding/xml"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
)

// check fails if s is no well-formed XML or has coordinates outside of the
// picture. It returns the number of elements by name.
func check(t *testing.T, s string) map[string]int {
	t.Helper()
	n := make(map[string]int)
	d := xml.NewDecoder(strings.NewReader(s))
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return n
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, s)
		}
		e, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		n[e.Name.Local]++
		for _, a := range e.Attr {
			v, err := strconv.ParseFloat(a.Value, 64)
			if err == nil && (math.IsNaN(v) || v < 0 || v > width) {
				t.Errorf("%s has %s=%q", e.Name.Local, a.Name.Local, a.Value)
			}
		}
		if strings.Contains(strings.Join(attrs(e), " "), "NaN") {
			t.Errorf("%s: %v", e.Name.Local, attrs(e))
		}
	}
}

func attrs(e xml.StartElement) (s []string) {
	for _, a := range e.Attr {
		s = append(s, a.Value)
	}
	return s
}

func TestLines(t *testing.T) {
	c := Chart{
		Title: "a < b & c", XLabel: "rate", YLabel: "ratio", LogX: true, MinY: 1,
		Series: []Series{
			{Name: "one", Points: []Point{{100, 1, 0.99, 1.01}, {1000, 1.1, 1, 1.2}, {50000, 1.9, 1.8, 2.3}}},
			{Name: "two", Points: []Point{{X: 100, Y: 1.2}}, Dashed: true},
		},
	}
	n := check(t, c.SVG())
	if n["circle"] != 4 || n["polyline"] != 2 {
		t.Errorf("elements %v, want 4 circles on 2 polylines", n)
	}
}

func TestBars(t *testing.T) {
	c := Chart{
		Title: "bars", Groups: []string{"x", "y", "z"},
		Series: []Series{
			{Name: "one", Points: []Point{{X: 0, Y: 3}, {X: 1, Y: 4}, {X: 2, Y: 0}}},
			{Name: "two", Points: []Point{{X: 0, Y: 1}}},
		},
	}
	n := check(t, c.SVG())
	if n["rect"] != 1+2+4 { // background, legend, bars
		t.Errorf("elements %v, want 7 rects", n)
	}
}

// Bars are as high as their values.
func TestProportion(t *testing.T) {
	y := axis{low: 0, high: 10}
	if y.at(5) != 0.5 || y.at(10) != 1 || y.at(-1) != 0 {
		t.Errorf("5, 10, -1 of 10 at %v, %v, %v", y.at(5), y.at(10), y.at(-1))
	}
	l := axis{low: 1, high: 100, log: true}
	if math.Abs(l.at(10)-0.5) > 1e-12 {
		t.Errorf("10 of 1..100 at %v on a logarithmic axis", l.at(10))
	}
}

func TestTicks(t *testing.T) {
	for _, tt := range []struct {
		low, high float64
		log       bool
	}{{0, 1, false}, {1, 2.3, false}, {0, 66000, false}, {0.97, 1.03, false}, {100, 50000, true}, {1, 1, false}} {
		got := ticks(tt.low, tt.high, tt.log)
		if len(got) == 0 || len(got) > 10 || got[0] < tt.low*0.999 {
			t.Errorf("%v: %v", tt, got)
		}
	}
}
