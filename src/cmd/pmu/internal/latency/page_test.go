// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package latency

import (
	"encoding/xml"
	"errors"
	"fmt"
	"internal/taskrecord"
	"io"
	"math"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// planted returns a kind whose slow requests wait for a mutex, and run in a function for twice as long as usual ones, as
// far as that is known.
func planted(t *testing.T, name string) *Kind {
	w := newWorld(1)
	for range 4 {
		w.record(name, true, map[taskrecord.Part]time.Duration{pprof.TimeRunning: 8 * ms, pprof.TimeMutex: 20 * ms},
			taskrecord.Stretch{Part: pprof.TimeMutex, Reason: "sync.Mutex.Lock", Wake: 20 * ms, Stack: []taskrecord.Frame{{Func: "main.load"}}})
		w.record(name, false, map[taskrecord.Part]time.Duration{pprof.TimeRunning: 5 * ms, pprof.TimeMutex: 10 * ms, pprof.TimeSleep: 10 * time.Microsecond})
	}
	w.sample(name, "yes", "main;"+name, 32*ms)
	w.sample(name, "no", "main;"+name, 16*ms)
	w.requests(name, 4, 4)
	return w.kinds(t, w.clock(t))[0]
}

func TestText(t *testing.T) {
	var b strings.Builder
	if err := planted(t, "GET /").WriteText(&b); err != nil {
		t.Fatal(err)
	}
	const want = `latency, kind "GET /":
  slow   4 requests, 28 ms each
  usual  4 requests, 15 ms each

  a slow request  a usual one    in
  28 ms           15 ms          latency
  20 ms           10 ms            mutex
  20 ms           at most 10 ms      main.load < sync.Mutex.Lock
  8 ms            5 ms             running
  8 ms            at most 5 ms       GET / < main
  0 ns            10 us            1 other part

  Records of usual requests have no timelines: they do not say where these waited, nor what a goroutine of their own did that they waited for. A time at most is the longest that it may be, and a colour is that of the least difference.
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	w := newWorld(1)
	w.record("a", false, map[taskrecord.Part]time.Duration{pprof.TimeSleep: 3 * ms})
	w.kinds(t, nil)[0].WriteText(&b)
	const alone = `latency, kind "a":
  slow   no request
  usual  1 request, 3 ms each

  a slow request  a usual one  in
  ?               3 ms         latency
  ?               3 ms           sleep

  No slow request was recorded.
`
	if b.String() != alone {
		t.Errorf("got\n%s\nwant\n%s", b.String(), alone)
	}
	w.record("b", true, map[taskrecord.Part]time.Duration{pprof.TimeRunning: 3 * ms})
	notes := strings.Join(w.kinds(t, nil)[0].Notes(), "\n")
	for _, want := range []string{"No usual request", "go tool pmu slow -latency"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes lack %q:\n%s", want, notes)
		}
	}
}

// titlesOf returns the title of each element of a page that has one, with its class, and its place and width.
func titlesOf(t *testing.T, page string) (list []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, page)
		}
		e, ok := token.(xml.StartElement)
		if !ok || e.Name.Local != "div" {
			continue
		}
		attr := make(map[string]string)
		for _, a := range e.Attr {
			attr[a.Name.Local] = a.Value
		}
		if attr["title"] != "" {
			list = append(list, attr["class"]+" "+attr["style"]+" "+strings.ReplaceAll(attr["title"], "\n", "; "))
		}
	}
}

// TestPage tests that the page has exactly the planted numbers. Where nobody knows of usual requests, the class is that of
// the least difference, or none.
func TestPage(t *testing.T) {
	var b strings.Builder
	if err := planted(t, "GET /").WriteHTML(&b, Links{Back: "/", Callees: "/c?a=b&d", Kinds: []string{"other"}, URLs: []string{"/o"}}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"c4 left:0.0000%;width:100.0000%;top:0px latency; a slow request: 28 ms, 100.0 %, in 32 samples; a usual request: 15 ms, 100.0 %, in 16 samples",
		"c5 left:0.0000%;width:71.4286%;top:19px mutex; a slow request: 20 ms, 71.4 %; a usual request: 10 ms, 66.6 %",
		"c5 left:0.0000%;width:71.4286%;top:38px sync.Mutex.Lock; a slow request: 20 ms, 71.4 %; a usual request: at most 10 ms",
		"c5 left:0.0000%;width:71.4286%;top:57px main.load; a slow request: 20 ms, 71.4 %; a usual request: at most 10 ms",
		"c4 left:71.4286%;width:28.5714%;top:19px running; a slow request: 8 ms, 28.6 %, in 32 samples; a usual request: 5 ms, 33.3 %, in 16 samples",
		"c4 left:71.4286%;width:28.5714%;top:38px main; a slow request: 8 ms, 28.6 %, in 32 samples; a usual request: at most 5 ms, in 16 samples",
		"c4 left:71.4286%;width:28.5714%;top:57px GET /; a slow request: 8 ms, 28.6 %, in 32 samples; a usual request: at most 5 ms, in 16 samples",
	}
	equal(t, "frames", titlesOf(t, b.String()), want...)
	for _, text := range []string{
		"<h1>Where the latency of &#34;GET /&#34; goes: 28 ms of a slow request</h1>", `<a href="/c?a=b&amp;d">Show callees first</a>`, `<a href="/o">other</a>`, `<a href="/">`,
		`<tr class="l2"><td>main.load &lt; sync.Mutex.Lock</td><td class="n">20 ms</td><td class="n">at most 10 ms</td><td class="n">at least 10 ms</td></tr>`,
		`<i class="c7"></i>not known</span>`,
	} {
		if !strings.Contains(b.String(), text) {
			t.Errorf("the page lacks %s:\n%s", text, b.String())
		}
	}
	if strings.Contains(b.String(), "Not drawn") {
		t.Error("something is not drawn")
	}
	// What a usual request may have more of is grey, and without usual ones there is nothing to compare with.
	w := newWorld(1)
	w.record("k", true, map[taskrecord.Part]time.Duration{pprof.TimeSleep: 3 * ms}, taskrecord.Stretch{Part: pprof.TimeSleep, Reason: "a", Wake: 1 * ms}, taskrecord.Stretch{Part: pprof.TimeSleep, Reason: "b", Wake: 2 * ms})
	for i, classes := range []string{"c8 c8 c8 c8", "c5 c5 c7 c4"} {
		b.Reset()
		if err := w.kinds(t, nil)[0].WriteHTML(&b, Links{}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range titlesOf(t, b.String()) {
			class, _, _ := strings.Cut(s, " ")
			got = append(got, class)
		}
		equal(t, fmt.Sprint("classes ", i), []string{strings.Join(got, " ")}, classes)
		w.record("k", false, map[taskrecord.Part]time.Duration{pprof.TimeSleep: 1250 * time.Microsecond})
	}
}

// TestNotDrawn tests that what is too narrow for the page is said, in sum, and what is too little for the rows.
func TestNotDrawn(t *testing.T) {
	w := newWorld(1)
	parts := map[taskrecord.Part]time.Duration{pprof.TimeRunning: 100_000}
	for p := range taskrecord.Part(12) {
		if p != pprof.TimeRunning {
			parts[p] = 40
		}
	}
	w.record("k", true, parts)
	k := w.kinds(t, nil)[0]
	var b strings.Builder
	if err := k.WriteHTML(&b, Links{}); err != nil {
		t.Fatal(err)
	}
	if want := "Stacks that have such a frame have 0.44 % of the time."; !strings.Contains(b.String(), want) || len(titlesOf(t, b.String())) != 2 {
		t.Errorf("no %s in\n%s", want, b.String())
	}
	equal(t, "small", text(k), "0.10044 0 latency: ", "0.1 0 running: ", "0.00044 0 11 other parts: ")
	for p := range parts {
		parts[p] = 1000
	}
	w.records = nil
	w.record("k", true, parts)
	if got := text(w.kinds(t, nil)[0]); len(got) != 2+maxParts || got[1+maxParts] != "0.004 0 4 other parts: " {
		t.Errorf("%q", got)
	}
}

// TestHostile tests that names from elsewhere are text: pages are XML, and have no characters of control and of direction.
func TestHostile(t *testing.T) {
	const bad = `<script>alert(1)</script>"'&` + "]]>\x00\x1b[31m\u202e\u2028"
	k := planted(t, bad)
	var b strings.Builder
	if err := k.WriteHTML(&b, Links{Kinds: []string{bad}, URLs: []string{"/" + bad}}); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	b.Reset()
	if err := k.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if len(titlesOf(t, page)) != 7 {
		t.Errorf("%d frames", len(titlesOf(t, page)))
	}
	for _, text := range []string{page, b.String()} {
		if strings.Contains(text, "<script>alert(1)") && text == page || !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\x1b\u202e\u2028") {
			t.Errorf("%q", text)
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestEach tests averages, also of times whose floating-point number is beyond 64 bits.
func TestEach(t *testing.T) {
	for _, tt := range []struct {
		n       int64
		d, want time.Duration
	}{{0, 0, 0}, {1, math.MaxInt64, math.MaxInt64}, {2, math.MaxInt64, 1 << 62}, {3, 4, 1}, {3, 5, 2}, {2, 5, 3}, {math.MaxInt64, math.MaxInt64, 1}, {math.MaxInt64, 1, 0}} {
		g := Group{Requests: tt.n}
		if got := g.each(tt.d); got != tt.want {
			t.Errorf("%d / %d = %d, want %d", tt.d, tt.n, got, tt.want)
		}
	}
}

// TestBounds tests what is made of records by somebody who wants harm.
func TestBounds(t *testing.T) {
	var b Builder
	for i := range 3 * maxKinds {
		x := &taskrecord.Record{Kind: fmt.Sprint(i), Wall: ms, Goroutines: 1}
		x.Parts[pprof.TimeRunning] = ms
		if err := b.Add(&taskrecord.Node{Task: x, Call: -1}); err != nil {
			t.Fatal(err)
		}
	}
	list, left := b.Kinds()
	if len(list) != maxKinds || left != 2*maxKinds {
		t.Errorf("%d kinds, %d left out", len(list), left)
	}
	x := &taskrecord.Record{Kind: "0", Wall: math.MaxInt64}
	if err := b.Add(&taskrecord.Node{Task: x, Call: -1}); err == nil || !strings.Contains(err.Error(), "64 bits") {
		t.Errorf("error %v", err)
	}
	if err := list[0].WriteText(broken{}); err != io.ErrClosedPipe {
		t.Error(err)
	}
	if err := list[0].WriteHTML(broken{}, Links{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	// Deep stacks, and many, are counted where they are cut off.
	w := newWorld(1)
	deep := w.record("k", true, map[taskrecord.Part]time.Duration{pprof.TimeMutex: ms}, taskrecord.Stretch{Part: pprof.TimeMutex, Wake: ms, Stack: slices.Repeat([]taskrecord.Frame{{Func: "f"}}, 2*maxDepth)})
	n := 0
	for x := w.kinds(t, nil)[0].tree.root; x != nil && x.time[isSlow] == ms; n++ {
		if len(x.kids) == 0 {
			break
		}
		x = x.kids[0]
	}
	if n != maxDepth {
		t.Errorf("%d frames of a deep stack", n)
	}
	full := Builder{nodes: maxNodes}
	if err := full.Add(&taskrecord.Node{Task: deep, Call: -1}); err != nil {
		t.Fatal(err)
	}
	if list, _ := full.Kinds(); list[0].tree.root.own[isSlow] != ms || full.nodes != maxNodes {
		t.Errorf("%+v, %d nodes", list[0].tree.root, full.nodes)
	}
}

// TestCallees tests that a callee comes first, and then who has called it, with all that each had.
func TestCallees(t *testing.T) {
	trace := taskrecord.TraceID{1}
	server := func(name string, id uint16) *taskrecord.Server { return &taskrecord.Server{Name: name, ID: id} }
	front := &taskrecord.Record{Server: server("front", 1), Trace: trace, Span: taskrecord.SpanID{1}, Kind: "GET /", Flags: taskrecord.Slow, Wall: 10 * ms, Goroutine: 1, Goroutines: 1,
		Calls:    []taskrecord.Call{{Span: taskrecord.SpanID{2}, Kind: "GET /b", Flags: taskrecord.Client, Start: 1 * ms, Wall: 8 * ms, Goroutine: 1, Ender: 1}},
		Timeline: []taskrecord.Stretch{{Goroutine: 1, Part: pprof.TimeNetwork, Start: 1 * ms, Wake: 9 * ms, End: 9 * ms}}}
	front.Parts[pprof.TimeRunning], front.Parts[pprof.TimeNetwork] = 2*ms, 8*ms
	back := &taskrecord.Record{Server: server("back", 2), Trace: trace, Span: taskrecord.SpanID{3}, Parent: taskrecord.SpanID{2}, Kind: "GET /b", Flags: taskrecord.ServerOf, Start: int64(2 * ms), Wall: 6 * ms, Goroutine: 1, Goroutines: 1}
	back.Parts[pprof.TimeSleep], back.Parts[pprof.TimeRunning] = 5*ms, 1*ms
	requests := taskrecord.Join(slices.Values([]*taskrecord.Record{front, back}))
	for _, tt := range []struct {
		callees bool
		want    []string
	}{
		{false, []string{"latency 10ms", "GET /b (call) 8ms", "GET /b on back 6ms", "running 1ms", "sleep 5ms", "way there and back 2ms", "running 2ms"}},
		{true, []string{"latency 10ms", "GET / on front 2ms", "GET /b (call) 2ms", "GET / on front 2ms", "GET /b on back 6ms", "GET /b (call) 6ms", "GET / on front 6ms"}},
	} {
		b := Builder{Servers: true, Callees: tt.callees}
		for _, n := range taskrecord.Callers(requests, "") {
			if err := b.Add(n); err != nil {
				t.Fatal(err)
			}
		}
		list, _ := b.Kinds()
		var got []string
		var add func(n *node)
		add = func(n *node) {
			got = append(got, fmt.Sprint(n.name, " ", n.time[isSlow]))
			slices.SortFunc(n.kids, func(a, b *node) int { return strings.Compare(a.name, b.name) })
			for _, kid := range n.kids {
				add(kid)
			}
		}
		add(list[0].tree.root)
		balanced(t, list[0].tree.root)
		equal(t, fmt.Sprint("callees first ", tt.callees), got, tt.want...)
	}
}
