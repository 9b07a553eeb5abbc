// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"cmd/pmu/internal/htmltext"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A doc is what was found in a page.
type doc struct {
	text     string
	elements map[string]int
	attrs    []string            // values, but of style
	by       map[string][]string // values of attributes, by class and name: "bar.width"
}

// parsePage returns what is in a page, or an error if it is not what a page may be: well
// formed, of known elements and attributes, without references, and with coordinates that are
// numbers, those in percent from 0 to 100.
func parsePage(data string) (*doc, error) {
	allowed := map[string]string{
		"html": "lang", "head": "", "meta": "charset name content", "title": "", "style": "", "body": "",
		"h1": "", "h2": "", "h3": "", "p": "class", "div": "class", "span": "class", "b": "", "br": "",
		"table": "", "tr": "", "th": "class", "td": "class",
		"svg":  "class width height viewBox preserveAspectRatio role aria-label aria-hidden",
		"line": "class x1 x2 y1 y2", "rect": "class x y width height", "circle": "class cx cy r",
		"path": "class d vector-effect", "text": "class x y dx text-anchor",
	}
	d := &doc{elements: make(map[string]int), by: make(map[string][]string)}
	dec := xml.NewDecoder(strings.NewReader(data))
	var text strings.Builder
	style := false
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			name := tok.Name.Local
			d.elements[name]++
			attrs, ok := allowed[name]
			if !ok {
				return nil, fmt.Errorf("element %s", name)
			}
			style = name == "style"
			class := ""
			for _, a := range tok.Attr {
				if a.Name.Local == "class" {
					class = a.Value
				}
			}
			for _, a := range tok.Attr {
				if !slices.Contains(strings.Fields(attrs), a.Name.Local) {
					return nil, fmt.Errorf("attribute %s of %s", a.Name.Local, name)
				}
				d.attrs = append(d.attrs, a.Value)
				key := class + "." + a.Name.Local
				d.by[key] = append(d.by[key], a.Value)
				if err := checkCoordinate(a.Name.Local, a.Value); err != nil && name != "meta" {
					return nil, fmt.Errorf("%s: %v", name, err)
				}
			}
		case xml.EndElement:
			if tok.Name.Local == "style" {
				style = false
			}
			text.WriteByte('\n')
		case xml.CharData:
			if style {
				if s := string(tok); strings.Contains(s, "url(") || strings.Contains(s, "@import") || strings.Contains(s, "//") {
					return nil, fmt.Errorf("style refers to elsewhere")
				}
				continue
			}
			text.Write(tok)
		case xml.Comment, xml.ProcInst:
			return nil, fmt.Errorf("%T", tok)
		}
	}
	d.text = text.String()
	return d, nil
}

func checkCoordinate(name, value string) error {
	switch name {
	case "d", "viewBox":
		for _, f := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("MLZHV ", r) }) {
			if v, err := strconv.ParseFloat(f, 64); err != nil || !(v >= 0 && v <= 1000) {
				return fmt.Errorf("%s: %q", name, f)
			}
		}
	case "x", "x1", "x2", "cx", "width", "y", "y1", "y2", "cy", "r", "dx", "height":
		number, percent := strings.CutSuffix(value, "%")
		v, err := strconv.ParseFloat(number, 64)
		if err != nil || bad(v) || percent && !(v >= 0 && v <= 100) || math.Abs(v) > 1000 {
			return fmt.Errorf("%s=%q", name, value)
		}
	}
	return nil
}

// TestStyle tests that the pages have colours for light and dark: those of the style sheet that all
// pages share, and no others.
func TestStyle(t *testing.T) {
	if strings.Contains(pageStyle, "#") {
		t.Errorf("a colour that is the same in the dark:\n%s", pageStyle)
	}
	for _, m := range regexp.MustCompile(`var\((--[a-z-]+)\)`).FindAllStringSubmatch(pageStyle, -1) {
		if strings.Count(htmltext.Style, m[1]+":") != 2 {
			t.Errorf("%s is no colour of both", m[1])
		}
	}
}

// pageOf returns the page of a report, and what is in it.
func pageOf(t *testing.T, r *Report) (string, *doc) {
	t.Helper()
	var b strings.Builder
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	d, err := parsePage(b.String())
	if err != nil {
		t.Fatalf("%v:\n%s", err, b.String())
	}
	return b.String(), d
}

// shopTable returns requests of which some wait for a mutex, others for a disk, and
// which have a decoy, a child and words.
func shopTable(n int, name func(string) string) *Table {
	r := rand.New(rand.NewPCG(4, 4))
	t := &Table{Unit: "ms", Columns: []Column{
		{Name: name("mutex"), Unit: "ms"}, {Name: name("disk"), Unit: "ms"}, {Name: name("decoy")},
		{Name: name("server"), Words: []string{name("a"), name("b")}}, {Name: name("same")},
		{Name: name("branches"), Parents: []string{name("instructions")}, Group: Inst}, {Name: name("instructions"), Group: Inst},
	}}
	for range n {
		v := 5 * lognormal(r, 0.2)
		mutex, disk, server := 0.1*r.Float64(), 0.2*r.Float64(), float64(r.IntN(2))
		if r.IntN(110) == 0 {
			mutex += 40 * lognormal(r, 0.2)
		}
		if server == 1 && r.IntN(50) == 0 {
			disk += 35 * lognormal(r, 0.1)
		}
		inst := 1e6 * lognormal(r, 0.2)
		t.Latency = append(t.Latency, v+mutex+disk)
		for j, x := range []float64{mutex, disk, r.Float64(), server, 7, inst / 5, inst} {
			t.Columns[j].Values = append(t.Columns[j].Values, x)
		}
	}
	return t
}

func TestHTML(t *testing.T) {
	tab := shopTable(8000, func(s string) string { return s })
	r, err := Analyze(tab, Params{})
	if err != nil {
		t.Fatal(err)
	}
	r.Left = 3
	r.Notes = []string{"a note of the caller"}
	page, d := pageOf(t, r)
	if again, _ := pageOf(t, r); again != page {
		t.Error("two pages of one report differ")
	}
	list := r.causes()
	if len(list) != 2 || len(r.Patterns) == 0 {
		t.Fatalf("causes %+v, patterns %+v", list, r.Patterns)
	}
	// All that the text says, the page says.
	want := []string{r.Cause(), "8000 requests", number(r.P50) + " ms", number(r.P90) + " ms", number(r.Tail) + " ms", number(r.Max) + " ms",
		"3 others have no latency", "a note of the caller", r.eventsTitle(), patternsTitle, "Ruled out", "branches\nis in proportion to instructions",
		"decoy", "same\nalways the same", "latency, ms"}
	for _, e := range list {
		low, above := e.bounds()
		want = append(want, fmt.Sprintf("%s ms\n lower: %s", number(r.Tail*e.Adjusted), percent(e.Adjusted)),
			fmt.Sprintf("95 of 100: %s to %s", percent(low), percent(above)),
			fmt.Sprintf("high in %d of %d, above %s ms", e.High, e.N, number(e.Threshold)))
	}
	for _, p := range r.Patterns {
		want = append(want, p.conds(), fmt.Sprintf("latency %s..%s ms, n %d of %d", number(p.From), number(p.To), p.TP, p.Pos), fmt.Sprintf("%.2f", p.F))
	}
	for _, s := range want {
		if !strings.Contains(d.text, s) {
			t.Errorf("no %q in\n%s", s, d.text)
		}
	}
	// What is drawn is what is said.
	first := &list[0]
	s := newScale(r.Latencies.Values, first.Without.Values)
	if got := d.by["dot.cx"]; len(got) != 3 || got[2] != s.at(r.Tail) {
		t.Errorf("dots at %v, want the last one at %s", got, s.at(r.Tail))
	}
	if got := d.by["ring.cx"]; len(got) != 1 || got[0] != s.at(r.Tail*(1-first.Raw)) {
		t.Errorf("rings at %v, want %s", got, s.at(r.Tail*(1-first.Raw)))
	}
	most := 0.0
	for _, e := range list {
		_, above := e.bounds()
		most = max(most, above)
	}
	bars, s := d.by["bar.width"], linearScale(0, 100*most)
	for i, e := range list {
		if bars[i] != s.at(100*e.Adjusted) {
			t.Errorf("bar of %s is %s wide, want %s", e.Event, bars[i], s.at(100*e.Adjusted))
		}
	}
	best := r.byRequests()[0]
	s = newScale(r.Latencies.Values, first.Without.Values)
	if x := d.by["bar.x"][len(list)]; x != s.at(best.From) {
		t.Errorf("the first pattern's interval begins at %s, want %s", x, s.at(best.From))
	}
	if bars = bars[len(list):]; !slices.Equal(bars[1:4], []string{num(54*best.Precision) + "%", num(54*best.Recall) + "%", num(54*best.F) + "%"}) {
		t.Errorf("scores are drawn as %v: %+v", bars[1:4], best)
	}
	if n := len(d.by["chart small.class"]); n != len(list) {
		t.Errorf("%d distributions of events, want %d", n, len(list))
	}
}

// TestHTMLAdjusted tests that a page says why its first line and its curve differ.
func TestHTMLAdjusted(t *testing.T) {
	r, err := Analyze(shopTable(8000, func(s string) string { return s }), Params{})
	if err != nil {
		t.Fatal(err)
	}
	if _, d := pageOf(t, r); strings.Contains(d.text, "Without these") {
		t.Errorf("nothing was taken from the impact, but the page says so:\n%s", d.text)
	}
	e := &r.Impacts[0]
	e.Adjusted = e.Raw - 0.02
	want := fmt.Sprintf("Without these requests p99 is %s lower; %s is ", percent(e.Raw), percent(e.Adjusted))
	for _, cause := range []string{"", "disk"} {
		e.Cause = cause
		rest := "the time of mutex itself."
		if cause != "" {
			rest = "left without what is likely to be the impact of disk."
		}
		if _, d := pageOf(t, r); !strings.Contains(d.text, want+rest) {
			t.Errorf("no %q in\n%s", want+rest, d.text)
		}
	}
}

// TestHTMLHostile tests that no text gets into a page as it is.
func TestHTMLHostile(t *testing.T) {
	const evil = "'\"><script>alert(1)</script></title></svg>&amp;\x00\x1b\u202e\u2028]]>"
	tab := shopTable(8000, func(s string) string { return s + evil })
	for i := range tab.Columns {
		tab.Columns[i].Unit = evil
		tab.Columns[i].Parents = nil
	}
	tab.Unit = evil
	r, err := Analyze(tab, Params{P: 0.98})
	if err != nil {
		t.Fatal(err)
	}
	r.Notes = []string{evil}
	r.Pairs = []Pair{{[2]string{evil, evil}, 1}}
	r.Impacts = append(r.Impacts, Impact{Event: "child" + evil, Remark: "in proportion to " + evil, Parent: evil},
		Impact{Event: "follower" + evil, Cause: evil, Raw: 0.5, Own: 1})
	if len(r.causes()) == 0 || len(r.Patterns) == 0 {
		t.Fatal("nothing is found")
	}
	page, d := pageOf(t, r)
	if d.elements["script"] != 0 || strings.Contains(page, "<script") || strings.ContainsAny(page, "\x00\x1b\u202e\u2028") {
		t.Errorf("a text is on the page as it is:\n%s", page)
	}
	if n := strings.Count(d.text, "alert(1)"); n < 20 {
		t.Errorf("texts are there %d times only:\n%s", n, d.text)
	}
	if !strings.Contains(d.text, `'"><script>alert(1)</script></title></svg>&amp;`) {
		t.Errorf("the text has changed:\n%s", d.text)
	}
	// Axes have the beginning of a unit only.
	r.Unit = "\x1b"
	r.Impacts[0].Cause, r.Impacts[0].Adjusted = evil, r.Impacts[0].Raw-0.02
	r.Together = &Joint{Events: []Impact{{Event: evil}}}
	pageOf(t, r)
	if s := clean(strings.Repeat("é", 1e6)); len(s) > 3*maxPageText {
		t.Errorf("a text of 1,000,000 characters takes %d bytes", len(s))
	}
}

// TestHTMLStrange tests reports that are at an edge, or that Analyze never makes.
func TestHTMLStrange(t *testing.T) {
	inf := math.Inf(1)
	odd := []float64{nan, inf, -inf, 0, -1, 5e-324, math.MaxFloat64, -math.MaxFloat64, 1e-310, 1}
	seq := func(n int, f func(i int) float64) (list []float64) {
		for i := range n {
			list = append(list, f(i))
		}
		return list
	}
	for name, tab := range map[string]*Table{
		"one":      {Latency: []float64{1}},
		"few":      {Latency: seq(100, func(i int) float64 { return float64(i) })},
		"constant": {Latency: seq(2000, func(int) float64 { return 3 })},
		"zero":     {Latency: seq(2000, func(int) float64 { return 0 })},
		"zeros":    {Latency: seq(2000, func(i int) float64 { return float64(i / 1000) })},
		"huge":     {Latency: seq(2000, func(i int) float64 { return math.MaxFloat64 / float64(1+i) })},
		"tiny":     {Latency: seq(2000, func(i int) float64 { return 5e-324 * float64(i) })},
		"wide":     {Latency: seq(2000, func(i int) float64 { return math.Pow(10, float64(i%600-300)) })},
		"infinite": {Latency: append(seq(2000, func(i int) float64 { return float64(i) }), inf, nan)},
	} {
		r, err := Analyze(tab, Params{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_, d := pageOf(t, r)
		if !strings.Contains(d.text, r.Cause()) || len(d.by["all.d"]) == 0 {
			t.Errorf("%s: %s", name, d.text)
		}
	}
	pageOf(t, &Report{})
	for _, v := range odd {
		for _, w := range odd {
			r := &Report{P: 0.99, Requests: 5000, P50: v, P90: w, Tail: w, Max: w, Latencies: CDF{[]float64{0, nan, 0.5, 2}, []float64{v, w, v, w}}}
			if r.Tail < leastTail*r.P50 {
				r.P50 = 0
			}
			r.Impacts = []Impact{
				{Event: "e", N: 10, Threshold: v, Raw: 0.9, Adjusted: 0.9, Low: 0.1, Above: w, Own: 1, CDF: CDF{[]float64{0, 1}, []float64{v, w}}, Without: CDF{[]float64{0.5, 1}, []float64{w, v}}},
				{Event: "f", Threshold: nan, Raw: w, Adjusted: 0.5, Low: 0.5, Above: v, Own: 1},
			}
			r.Patterns = []Pattern{{From: v, To: w, F: nan, Precision: w, Recall: v, Conds: []Cond{{Column: "c", Lo: -inf, Hi: inf}, {Column: "d", Lo: v, Hi: w}}}}
			pageOf(t, r)
		}
	}
}

func TestHTMLError(t *testing.T) {
	want := errors.New("no room")
	if err := new(Report).WriteHTML(failing{want}); err != want {
		t.Errorf("%v, want %v", err, want)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestTicks tests that ticks are round, few, and within the scale, which holds all values.
func TestTicks(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   string
	}{
		{[]float64{0, 100}, "[0 20 40 60 80 100]"},
		{[]float64{0, 47.3}, "[0 10 20 30 40 50]"},
		{[]float64{95, 99}, "[95 96 97 98 99]"},
		{[]float64{-3, 8}, "[-4 -2 0 2 4 6 8]"},
		{[]float64{3, 3}, "[0 0.5 1 1.5 2 2.5 3]"},
		{[]float64{2, 130}, "[2 5 10 20 50 100 200]"},
		{[]float64{1, 9000}, "[1 10 100 1000 10000]"},
		{[]float64{0, 0.1, 9}, "[0 0.1 0.2 0.5 1 2 5 10]"},
		{[]float64{0, 1e-9, 1000}, "[0 0.1 1 10 100 1000]"},
		{nil, "[0 0.2 0.4 0.6 0.8 1]"},
	} {
		s := newScale(tt.values)
		var got []string
		last := -1.0
		for _, v := range s.ticks() {
			got = append(got, number(v))
			if x := s.pos(v); x <= last {
				t.Errorf("%v: tick %v is at %v, after one at %v", tt.values, v, x, last)
			} else {
				last = x
			}
		}
		if s := "[" + strings.Join(got, " ") + "]"; s != tt.want {
			t.Errorf("%v: ticks %s, want %s", tt.values, s, tt.want)
		}
	}
	for _, tt := range []struct {
		s    scale
		v    float64
		want string
	}{
		{newScale([]float64{0, 100}), 25, "25%"},
		{newScale([]float64{-10, 10}), 0, "50%"},
		{newScale([]float64{1, 100}), 10, "50%"},
		{newScale([]float64{0, 1, 100}), 0, "0%"},
		{newScale([]float64{0, 1, 100}), 1, "10%"},
		{newScale([]float64{0, 1, 100}), 10, "55%"},
		{newScale([]float64{0, 1, 100}), 1000, "100%"},
		{newScale([]float64{0, 1, 100}), -1, "0%"},
	} {
		if got := tt.s.at(tt.v); got != tt.want {
			t.Errorf("%v is at %s of %+v, want %s", tt.v, got, tt.s, tt.want)
		}
	}
	d := depth{n: 1e4, h: 100}
	for part, want := range map[float64]float64{0: 100, 0.9: 75, 0.99: 50, 0.9999: 0, 1: 0, 2: 0, -1: 100} {
		if got := d.y(part); math.Abs(got-want) > 1e-6 {
			t.Errorf("part %v is at %v, want %v", part, got, want)
		}
	}
	for _, tt := range []struct {
		lo, hi, room float64
		want         string
	}{
		{0, 6e6, 200, "[0 1M 2M 3M 4M 5M 6M]"},
		{5e5, 1e8, 200, "[ 1M   10M   100M]"},
		{5e5, 1e8, 600, "[500k 1M 2M 5M 10M 20M 50M 100M]"},
		{0, 6e-7, 200, "[0  2e-07  4e-07  6e-07]"},
		{0, 60, 20, "[0      60]"},
	} {
		s := newScale([]float64{tt.lo, tt.hi})
		if got := fmt.Sprint(s.labels(s.ticks(), tt.room)); got != tt.want {
			t.Errorf("%v to %v in %v: labels %s, want %s", tt.lo, tt.hi, tt.room, got, tt.want)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		lo := lognormal(rnd, 5) * float64(rnd.IntN(4)-1)
		hi := lo + lognormal(rnd, 8)
		s := newScale([]float64{lo, hi})
		if n := len(s.ticks()); n < 2 || n > 10 {
			t.Fatalf("%v to %v: ticks %v", lo, hi, s.ticks())
		}
		if !(s.lo <= lo+1e-8*(math.Abs(lo)+math.Abs(hi)) || s.zero || s.log) || s.hi < hi-1e-8*(math.Abs(lo)+math.Abs(hi)) || s.pos(lo) > s.pos(hi) {
			t.Fatalf("%v to %v: %+v", lo, hi, s)
		}
	}
}

// TestCDF tests distributions against those of all values.
func TestCDF(t *testing.T) {
	for _, tt := range []struct{ n, every, pick int }{{8000, 1, 0}, {3000, 1, 0}, {40_000, 7, 0}, {8000, 3, 1}} {
		tab := shopTable(tt.n, func(s string) string { return s })
		mutex := tab.Columns[0].Values
		for i := range mutex {
			if i%tt.every != 0 || tt.pick == 1 && tab.Latency[i] < 5 {
				mutex[i] = nan
			}
		}
		r, err := Analyze(tab, Params{P: 0.98})
		if err != nil {
			t.Fatal(err)
		}
		all := sorted(tab.Latency)
		c := r.Latencies
		if len(c.Parts) != len(c.Values) || len(c.Parts) > 200 || c.Parts[0] != 0 || c.Parts[len(c.Parts)-1] != 1 {
			t.Fatalf("parts %v", c.Parts)
		}
		for i, part := range c.Parts {
			if c.Values[i] != percentile(all, part) {
				t.Errorf("%+v: %v of all are at most %v, want %v", tt, part, c.Values[i], percentile(all, part))
			}
		}
		if c.at(0.5) != r.P50 || c.at(0.9) != r.P90 || c.at(0.98) != r.Tail || c.at(1) != r.Max {
			t.Errorf("%+v: %v %v %v %v are not those of the report: %+v", tt, c.at(0.5), c.at(0.9), c.at(0.98), c.at(1), r)
		}
		e := r.Impacts[slices.IndexFunc(r.Impacts, func(e Impact) bool { return e.Event == "mutex" })]
		var low, values []float64
		for i, v := range mutex {
			if v <= e.Threshold {
				low = append(low, tab.Latency[i])
			}
			if v == v {
				values = append(values, v)
			}
		}
		slices.Sort(low)
		slices.Sort(values)
		if !slices.IsSorted(e.Without.Values) || len(low) != e.N-e.High {
			t.Errorf("%+v: without %v", tt, e.Without.Values)
		}
		for i, part := range e.CDF.Parts {
			if e.CDF.Values[i] != percentile(values, part) {
				t.Errorf("%+v: %v of the values are at most %v, want %v", tt, part, e.CDF.Values[i], percentile(values, part))
			}
		}
		for i, part := range e.Without.Parts {
			want := percentile(low, part)
			if got := e.Without.Values[i]; tt.every == 1 && got != want || part >= 0.1 && part < 0.99 && math.Abs(got-want) > 0.1*want {
				t.Errorf("%+v: %v of those without are at most %v, want %v", tt, part, got, want)
			}
		}
		if got := e.Without.at(0.98); tt.every == 1 && math.Abs(got-r.Tail*(1-e.Raw)) > 1e-9 {
			t.Errorf("%+v: the tail without is %v, and the impact %v of %v", tt, got, e.Raw, r.Tail)
		}
	}
}

// TestProcs tests that a report does not depend on how many work on it, and that they stop.
func TestProcs(t *testing.T) {
	tab := shopTable(3000, func(s string) string { return s })
	var want string
	for _, procs := range []int{0, 1, 2, 16} {
		r, err := Analyze(tab, Params{Procs: procs, Done: make(chan struct{})})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := pageOf(t, r); want == "" {
			want = got
		} else if got != want {
			t.Errorf("with %d goroutines the report is another one", procs)
		}
	}
	// Wherever it is stopped, there is an error and no report.
	for n := range 40 {
		done := make(chan struct{})
		calls, stopped := 0, false
		c := crew{1, done, nil}
		for range 3 {
			ok := c.parallel(20, func(int) {
				if calls++; calls == n+1 {
					close(done)
				}
			})
			if ok && stopped || !ok && calls < n+1 {
				t.Fatalf("stopped after call %d: %v after %d", n, ok, calls)
			}
			stopped = calls > n
		}
		if calls > max(n+1, 20*3) || n < 40 && calls != n+1 {
			t.Errorf("%d calls, stopped after %d", calls, n+1)
		}
	}
	done := make(chan struct{})
	close(done)
	if r, err := Analyze(tab, Params{Done: done}); err != errStopped || r != nil {
		t.Errorf("%v, %v; want %v", r, err, errStopped)
	}
}

// TestStopped tests that Analyze may be stopped at any time.
func TestStopped(t *testing.T) {
	tab := shopTable(3000, func(s string) string { return s })
	sum := 0
	for n := range 400 {
		done := make(chan struct{})
		stop := make(chan struct{})
		go func() {
			defer close(stop)
			for range n * 100 {
				sum++
			}
			close(done)
		}()
		r, err := Analyze(tab, Params{Procs: 1, Done: done})
		if (r == nil) != (err == errStopped) {
			t.Fatalf("%v, %v", r, err)
		}
		<-stop
	}
}
