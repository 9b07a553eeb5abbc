// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package ratio

import (
	"cmd/pmu/internal/flame"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPage tests that the page has exactly the planted numbers.
func TestPage(t *testing.T) {
	page, _ := pageOf(t, cpi().read(t, Options{}))
	if got, want := page.find("h1")[0].text, "cycles per instruction (CPI): 1.50 ±3.8 %"; got != want {
		t.Errorf("title %q, want %q", got, want)
	}
	want := []drawnFrame{
		{"c3", "all", 0, 100, 0, "all", []string{"cycles: 1,200,000 (100.0 %) in 1,200 samples", "instructions: 800,000 (100.0 %) in 1,600 samples", "CPI 1.50 ±3.8 %", "itself: nothing"}},
		{"c3", "main", 0, 100, 19, "main", []string{"cycles: 1,200,000 (100.0 %) in 1,200 samples", "instructions: 800,000 (100.0 %) in 1,600 samples", "CPI 1.50 ±3.8 %", "itself: nothing"}},
		{"c4", "f", 0, 66.6667, 38, "f", []string{"cycles: 800,000 (66.7 %) in 800 samples", "instructions: 300,000 (37.5 %) in about 600 samples", "CPI 2.67 ±5.4 %", "itself: 200,000 (16.7 %); CPI 1.00 ±8.7 %"}},
		{"c6", "g", 0, 50, 57, "g", []string{"cycles: 600,000 (50.0 %) in 600 samples", "instructions: 100,000 (12.5 %) in about 200 samples", "CPI 6.00 ±8.2 %"}},
		{"c7", "", 66.6667, 1.6667, 38, "few", []string{"cycles: 20,000 (1.67 %) in 20 samples", "instructions: 50,000 (6.25 %) in about 100 samples", "CPI 0.400 ±24 %, uncertain"}},
		{"c7", "g", 68.3333, 5, 38, "g", []string{"cycles: 60,000 (5.00 %) in 60 samples", "instructions: 10,000 (1.25 %) in about 20 samples", "CPI 6.00 ±26 %, uncertain"}},
		{"c1", "h", 73.3333, 18.3333, 38, "h", []string{"cycles: 220,000 (18.3 %) in 220 samples", "instructions: 440,000 (55.0 %) in about 880 samples", "CPI 0.500 ±7.5 %"}},
		{"c8", "none", 91.6667, 8.3333, 38, "none", []string{"cycles: 100,000 (8.33 %) in 100 samples", "instructions: 0 (0 %) in 0 samples", "no ratio, without samples of instructions"}},
	}
	got := framesOf(t, page)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || fmt.Sprint(got[i]) != fmt.Sprint(want[i]) {
			t.Errorf("frame %d:\n got %q\nwant %q", i, at(got, i), at(want, i))
		}
	}

	var rows []string
	for _, tr := range page.byID("functions").find("tr")[1:] {
		var cells []string
		for _, td := range tr.find("td") {
			cells = append(cells, td.text)
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	// g is called in two places.
	wantRows := []string{
		"g|55.0 %|6.00|±7.8 %|55.0 %|6.00|±7.8 %",
		"h|18.3 %|0.500|±7.5 %|18.3 %|0.500|±7.5 %",
		"f|16.7 %|1.00|±8.7 %|66.7 %|2.67|±5.4 %",
		"none|8.33 %|none||8.33 %|none|",
		"few|1.67 %|0.400|±24 %|1.67 %|0.400|±24 %",
		"main|0 %|none||100.0 %|1.50|±3.8 %",
	}
	if !slices.Equal(rows, wantRows) {
		t.Errorf("functions:\n%s\nwant:\n%s", strings.Join(rows, "\n"), strings.Join(wantRows, "\n"))
	}
	legend := strings.Fields(page.find("p")[1].text)
	if want := strings.Fields("below 0.375 0.375 to 0.750 0.750 to 1.06 1.06 to 2.12 2.12 to 3.00 3.00 to 6.00 6.00 or more error above 20 % no samples of one event"); !slices.Equal(legend, want) {
		t.Errorf("legend %q, want %q", legend, want)
	}
}

// TestRecursive tests that a function which calls itself is counted once for a sample.
func TestRecursive(t *testing.T) {
	p := cpi()
	p.stacks = []planted{{"main;f;g;f;f", []int64{600, 600_000, 300_000}}, {"main;f", []int64{200, 200_000, 400_000}}, {"main", []int64{200, 200_000, 100_000}}}
	page, _ := pageOf(t, p.read(t, Options{}))
	row := page.byID("functions").find("tr")[1].find("td")
	if got := row[0].text + " " + row[1].text + " " + row[4].text + " " + row[5].text; got != "f 80.0 % 80.0 % 1.14" {
		t.Errorf("%q", got)
	}
}

func at[T any](list []T, i int) any {
	if i < len(list) {
		return list[i]
	}
	return "nothing"
}

// TestLimit tests that the limit of the error is what decides whether there is a colour.
func TestLimit(t *testing.T) {
	for _, test := range []struct {
		n1, n2 int64
		limit  float64
		class  string
	}{
		{50, 50, 0, "c3"},
		{49, 50, 0, "c7"},
		{50, 49, 0, "c7"},
		{1_000_000, 26, 0, "c3"},
		{1_000_000, 24, 0, "c7"},
		{2, 2, 1, "c3"},
		{2, 1, 1, "c7"},
		{1, 1, 10, "c3"},
		{1, 0, 10, "c8"},
	} {
		p := &plant{
			types:    []string{"cycles", "instructions"},
			comments: []string{"event: cycles", "period: 1000", fmt.Sprintf("samples: %d", test.n1), "event: instructions", "period: 1000", fmt.Sprintf("samples: %d", test.n2)},
			stacks:   []planted{{"main", []int64{test.n1, test.n1 * 1000, test.n2 * 1000}}},
		}
		r := p.read(t, Options{MaxError: test.limit})
		page, _ := pageOf(t, r)
		for _, f := range framesOf(t, page) {
			if f.class != test.class {
				t.Errorf("%d and %d samples, limit %v: class %s, want %s; %q", test.n1, test.n2, test.limit, f.class, test.class, f.lines)
			}
		}
		if got, want := r.Known(), test.class == "c3"; got != want {
			t.Errorf("%d and %d samples, limit %v: known %v, want %v", test.n1, test.n2, test.limit, got, want)
		}
	}
}

// TestNothing tests pages of profiles without samples of one event, or of both.
func TestNothing(t *testing.T) {
	for _, test := range []struct {
		stacks []planted
		title  string
		frames int
		text   string
	}{
		{nil, "The profile has no samples", 0, "nothing to draw, as there are no samples of cycles"},
		{[]planted{{"main;f", []int64{5, 5000, 0}}}, "There is no ratio of cycles to instructions", 3, "no samples of one event"},
		{[]planted{{"main;f", []int64{0, 0, 5000}}}, "There is no ratio of cycles to instructions", 0, "nothing to draw, as there are no samples of cycles"},
	} {
		p := cpi()
		p.stacks = test.stacks
		r := p.read(t, Options{})
		page, _ := pageOf(t, r)
		if got := page.find("h1")[0].text; got != test.title {
			t.Errorf("title %q, want %q", got, test.title)
		}
		frames := framesOf(t, page)
		if len(frames) != test.frames || !strings.Contains(page.text, test.text) {
			t.Errorf("%s: %d frames, want %d and %q in %q", test.title, len(frames), test.frames, test.text, page.find("body")[0].text)
		}
		for _, f := range frames {
			if f.class != "c8" || !slices.Contains(f.lines, "no ratio, without samples of instructions") {
				t.Errorf("frame %v", f)
			}
		}
		for _, bad := range []string{"NaN", "Inf", "∞"} {
			if strings.Contains(page.find("body")[0].text, bad) {
				t.Errorf("%s: the page has %s", test.title, bad)
			}
		}
		if r.Known() {
			t.Errorf("%s: known", test.title)
		}
	}
}

// TestLongEvents tests that names of events are cut before each frame has them in its title.
func TestLongEvents(t *testing.T) {
	p := cpi()
	p.stacks = nil
	for i := range 500 {
		p.stacks = append(p.stacks, planted{"f" + strconv.Itoa(i), []int64{100, 100_000, 50_000}})
	}
	long := strings.Repeat("x", 64<<10)
	p.comments[0], p.comments[5] = "event: "+long, "event: y"+long
	r := p.read(t, Options{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := r.WriteHTML(io.Discard); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 32<<20 {
		t.Errorf("a page of 500 frames takes %d bytes, as their titles have names of %d", n, len(long))
	}
}

// TestHostile tests that names can't become a part of the page.
func TestHostile(t *testing.T) {
	names := []string{
		"</div><script>alert(1)</script>", "a\" onmouseover=\"alert(1)", "a' b='c", "&lt", "&#10", "]]>", "<!-- ", "%s%d%!", "a\nb\tc\x00d\u202ee\xff",
		strings.Repeat("x", 10_000), "",
	}
	p := cpi()
	p.stacks = nil
	for _, name := range names {
		p.stacks = append(p.stacks, planted{name, []int64{100, 100_000, 50_000}})
	}
	p.comments = append(p.comments, "warning: <img src=x onerror=alert(1)>\x1b")
	p.types[1] = "<b>instructions\x1b"
	p.types[0], p.comments[0] = "<i>cycles\x1b", "event: <i>cycles\x1b"
	p.comments[5] = "event: </td><script>\x1b"
	p.comments[8] = "samples: 1000"
	page, size := pageOf(t, p.read(t, Options{}))
	if size > 100_000 {
		t.Errorf("the page has %d bytes", size)
	}
	var seen []string
	for _, f := range framesOf(t, page)[1:] {
		seen = append(seen, f.name)
		if strings.ContainsAny(f.name, "\n\t\x00\u202e") || len([]rune(f.name)) > flame.MaxName+1 {
			t.Errorf("name %q", f.name)
		}
	}
	for _, name := range append(names[:8:8], "a b c�d�e�", strings.Repeat("x", flame.MaxName)+"…", "[unknown]") {
		if !slices.Contains(seen, name) {
			t.Errorf("no frame %.100q in %.100q", name, seen)
		}
	}
	if n := len(page.find("script")); n != 1 || page.find("script")[0].text != flame.Script {
		t.Errorf("%d scripts", n)
	}
	allowed := "html head meta title style body h1 h2 table thead tbody tr td th p span i form input button div script"
	var check func(e *element)
	check = func(e *element) {
		for _, kid := range e.kids {
			if !slices.Contains(strings.Fields(allowed), kid.name) {
				t.Errorf("element %s", kid.name)
			}
			for a, v := range kid.attr {
				if strings.HasPrefix(a, "on") || a == "src" || a == "href" {
					t.Errorf("%s has an attribute %s=%q", kid.name, a, v)
				}
			}
			check(kid)
		}
	}
	check(page)
}

// TestDeep tests that stacks are cut at a depth, and that the page says what is missing.
func TestDeep(t *testing.T) {
	p := cpi()
	p.stacks = []planted{
		{strings.Repeat("f;", maxDepth+299) + "g", []int64{750, 750_000, 200_000}},
		{strings.Repeat("f;", maxDepth-1) + "h", []int64{250, 250_000, 600_000}},
	}
	page, _ := pageOf(t, p.read(t, Options{}))
	frames := framesOf(t, page)
	if len(frames) != maxDepth+2 {
		t.Errorf("%d frames, want %d", len(frames), maxDepth+2)
	}
	if want := "Stacks that have such a frame have 75.0 % of the cycles and 25.0 % of the instructions."; !strings.Contains(page.text, want) {
		t.Errorf("no %q", want)
	}
	// The functions are not cut.
	if got := page.byID("functions").find("tr")[1].find("td")[1].text; got != "75.0 %" {
		t.Errorf("g has %s", got)
	}
}

// TestHuge tests that the page and the tree are bounded, and that what is left out is what
// there is least of.
func TestHuge(t *testing.T) {
	p := cpi()
	p.stacks = nil
	const stacks = maxNodes/2 + 5000
	for i := range stacks {
		p.stacks = append(p.stacks, planted{fmt.Sprintf("main;f%d;g%d", i, i), []int64{1, 1000, 500}})
	}
	// They are the last, and wide.
	const wide = stacks / 10
	p.stacks = append(p.stacks, planted{"main;wide;leaf", []int64{wide, wide * 1000, wide * 500}})
	p.comments[8] = fmt.Sprintf("samples: %d", stacks+wide)
	r := p.read(t, Options{})
	if n := r.grow().nodes; n != maxNodes {
		t.Errorf("%d nodes, want %d", n, maxNodes)
	}
	page, size := pageOf(t, r)
	frames := framesOf(t, page)
	if len(frames) != 4 || frames[3].name != "leaf" {
		t.Errorf("%d frames; the last is %q", len(frames), frames[len(frames)-1].name)
	}
	if want := "Stacks that have such a frame have 90.9 % of the cycles and 90.9 % of the instructions."; !strings.Contains(page.text, want) {
		t.Errorf("no %q", want)
	}
	const left = "The profile has more than 100,000 different frames. Those of the stacks with the least cycles are left out."
	if !strings.Contains(page.text, left) {
		t.Errorf("no %q", left)
	}
	if rows := page.byID("functions").find("tr"); len(rows) != maxFunctions+1 || !strings.Contains(page.text, fmt.Sprintf("And %s more, which themselves have 90.", thousands(2*stacks+3-maxFunctions))) {
		t.Errorf("%d rows", len(rows))
	}
	if size > 200_000 {
		t.Errorf("the page has %d bytes", size)
	}

	// As many frames as are wide enough would be too many.
	p.stacks = nil
	deep := strings.Repeat("f;", 10)
	for i := range 1500 {
		p.stacks = append(p.stacks, planted{fmt.Sprintf("a%d;%sg", i, deep), []int64{1, 1000, 500}})
	}
	p.comments[8] = "samples: 1500"
	page, _ = pageOf(t, p.read(t, Options{}))
	frames = framesOf(t, page)
	if strings.Contains(page.text, left) {
		t.Errorf("the page has %q", left)
	}
	if len(frames) != flame.MaxFrames {
		t.Errorf("%d frames, want %d", len(frames), flame.MaxFrames)
	}
	for i, f := range frames[1:] {
		// A frame without the one that calls it would hang in the air.
		if above := frames[i]; f.y > above.y+flame.RowHeight {
			t.Fatalf("frame %d is at %d, after one at %d", i+1, f.y, above.y)
		}
	}
}

// TestInside tests that each frame is within its caller's, and that those of a caller do not
// overlap.
func TestInside(t *testing.T) {
	p := cpi()
	p.stacks = nil
	sum := int64(0)
	for i := range 400 {
		n := int64(i%7*i%11 + 1)
		sum += n
		p.stacks = append(p.stacks, planted{fmt.Sprintf("a%d;b%d;c%d;d%d", i%2, i%5, i%3, i%13), []int64{n, n * 1000, 500}})
	}
	page, _ := pageOf(t, p.read(t, Options{}))
	var stack []drawnFrame
	for _, f := range framesOf(t, page) {
		depth := f.y / flame.RowHeight
		if depth > len(stack) {
			t.Fatalf("frame %v has no caller", f)
		}
		const eps = 1e-3
		if depth > 0 {
			if up := stack[depth-1]; f.x < up.x-eps || f.x+f.w > up.x+up.w+eps {
				t.Errorf("%v is not within %v", f, up)
			}
		}
		if depth < len(stack) {
			if left := stack[depth]; f.x < left.x+left.w-eps {
				t.Errorf("%v overlaps %v", f, left)
			}
		}
		stack = append(stack[:depth], f)
	}
}

// TestPolicy tests that browsers run the script under the page's policy, and only that.
func TestPolicy(t *testing.T) {
	page, _ := pageOf(t, cpi().read(t, Options{}))
	sum := sha256.Sum256([]byte(page.find("script")[0].text))
	if want := "script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(flame.ContentSecurityPolicy(), want) {
		t.Errorf("policy %q, want %s", flame.ContentSecurityPolicy(), want)
	}
	for _, m := range page.find("meta") {
		if m.attr["http-equiv"] == "Content-Security-Policy" {
			if m.attr["content"] != flame.ContentSecurityPolicy() || strings.Contains(strings.ReplaceAll(flame.ContentSecurityPolicy(), "style-src 'unsafe-inline'", ""), "unsafe") {
				t.Errorf("policy %q", m.attr["content"])
			}
			return
		}
	}
	t.Error("no policy")
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

var errBroken = errors.New("broken")

// TestBroken tests that errors of the writer are returned.
func TestBroken(t *testing.T) {
	p := cpi().read(t, Options{})
	if err := p.WriteHTML(brokenWriter{}); err != errBroken {
		t.Error(err)
	}
	if err := p.WriteProfile(brokenWriter{}); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}
