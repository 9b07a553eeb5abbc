// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package diagram

import (
	"cmp"
	"errors"
	"fmt"
	"internal/taskrecord"
	"io"
	"math/rand"
	"reflect"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"time"
)

const ms = time.Millisecond

func stackOf(names ...string) (s []taskrecord.Frame) {
	for _, name := range names {
		fn, at, _ := strings.Cut(name, " ")
		f := taskrecord.Frame{Func: fn}
		if at != "" {
			fmt.Sscanf(at, "%d", &f.Line)
			f.File = "/src/shop/" + strings.Split(strings.TrimPrefix(fn, "main."), ".")[0] + ".go"
		}
		s = append(s, f)
	}
	return s
}

// cartTask is a request to a shop: it waits for a mutex, for a price from another
// server, and for the world.
func cartTask() *taskrecord.Record {
	t := &taskrecord.Record{
		Server: &taskrecord.Server{ID: 1, Name: "shop", PID: 4021},
		Trace:  taskrecord.TraceID{1}, Span: taskrecord.SpanID{2}, Kind: "GET /cart/{id}", Flags: taskrecord.Slow | taskrecord.ServerOf,
		Start: 1_760_000_000_000_000_000, Wall: 48 * ms, Threshold: 10 * ms, Goroutine: 34, Goroutines: 3,
		Regions: []taskrecord.RegionSum{{Name: "load cart", N: 1, Wall: 23 * ms, Max: 23 * ms}, {Name: "price", N: 1, Wall: 15 * ms, Max: 15 * ms}},
		Notes:   []taskrecord.Note{{Key: "user", Value: "ann"}},
		Calls:   []taskrecord.Call{{Span: taskrecord.SpanID{3}, Kind: "GET /price", Flags: taskrecord.Client, Start: 25 * ms, Wall: 14 * ms, Remote: "prices:8080"}},
		Lost:    taskrecord.Lost{Stretches: 12, StretchesTime: 40 * time.Microsecond},
	}
	serve := []string{"net/http.HandlerFunc.ServeHTTP", "net/http.(*conn).serve"}
	flush := taskrecord.Waker{Goroutine: 77, Span: taskrecord.SpanID{9}, Kind: "flush", Stack: stackOf("sync.(*Mutex).Unlock", "main.flush 31", "main.flusher")}
	t.Timeline = []taskrecord.Stretch{
		{Goroutine: 34, Start: 1 * ms, Wake: 24 * ms, End: 24 * ms, Region: "load cart"},
		{Goroutine: 34, Start: 2 * ms, Wake: 22 * ms, End: 23 * ms, Part: pprof.TimeMutex, Reason: "sync.Mutex.Lock",
			Stack: append(stackOf("sync.(*Mutex).Lock", "main.cart.load 58"), stackOf(serve...)...), Waker: flush, BehindKind: "report", Behind: 900 * time.Microsecond},
		{Goroutine: 34, Start: 24 * ms, Wake: 40 * ms, End: 40 * ms, Region: "price"},
		{Goroutine: 34, Start: 24500 * time.Microsecond, Wake: 39500 * time.Microsecond, End: 39600 * time.Microsecond, Part: pprof.TimeChan, Reason: "chan receive",
			Stack: append(stackOf("main.cart.price 90"), stackOf(serve...)...), Waker: taskrecord.Waker{Goroutine: 91, Span: taskrecord.SpanID{2}, Kind: t.Kind, Stack: stackOf("main.cart.price.func1 84")}},
		{Goroutine: 91, Start: 24500 * time.Microsecond, Wake: 24500 * time.Microsecond, End: 24800 * time.Microsecond, Part: pprof.TimeRunnable, Waker: taskrecord.Waker{Goroutine: 34, Span: taskrecord.SpanID{2}, Kind: t.Kind}},
		{Goroutine: 91, Start: 25 * ms, Wake: 39 * ms, End: 39100 * time.Microsecond, Part: pprof.TimeNetwork, Reason: "IO wait", Stack: stackOf("net.(*conn).Read", "main.cart.fetch 12", "main.cart.price.func1 84")},
		{Goroutine: 34, Start: 40500 * time.Microsecond, Wake: 40500 * time.Microsecond, End: 47 * ms, Part: pprof.TimeRunnable, Stopped: 6 * ms, StopReason: "GC mark termination"},
	}
	t.Parts[pprof.TimeRunning] = 5 * ms
	t.Parts[pprof.TimeMutex] = 20 * ms
	t.Parts[pprof.TimeChan] = 15 * ms
	t.Parts[pprof.TimeNetwork] = 14 * ms
	t.Parts[pprof.TimeRunnable] = 8 * ms
	return t
}

// cartRequest is cartTask with the task of the server that it calls.
func cartRequest() *taskrecord.Request {
	t := cartTask()
	t.Events = []string{"cycles", "page-faults"}
	t.Count = []pprof.CounterValue{{Value: 12_345_678}, {Value: 12}}
	p := &taskrecord.Record{Server: &taskrecord.Server{ID: 2, Name: "prices", PID: 17}, Trace: t.Trace, Span: taskrecord.SpanID{4}, Parent: taskrecord.SpanID{3},
		Kind: "GET /price", Flags: taskrecord.ServerOf, Wall: 13 * ms, Goroutine: 5, Goroutines: 1}
	p.Parts[pprof.TimeSyscall] = 11 * ms
	p.Parts[pprof.TimeRunning] = 2 * ms
	r := &taskrecord.Request{Trace: t.Trace, Wall: t.Wall, Servers: []taskrecord.Offset{{Server: t.Server}, {Server: p.Server, Offset: 3200 * ms, Error: ms / 2}}}
	root := &taskrecord.Node{Task: t, Call: -1}
	child := &taskrecord.Node{Task: p, Parent: root, Call: 0, Server: 1, Start: 25500 * time.Microsecond}
	root.Children = []*taskrecord.Node{child}
	r.Roots, r.Nodes = []*taskrecord.Node{root}, []*taskrecord.Node{root, child}
	return r
}

func TestTimeline(t *testing.T) {
	task := cartTask()
	doc := drawSVG(t, "timeline", func(w io.Writer) error { return WriteTimeline(w, task) })
	doc.has(t, "text", doc.text, "GET /cart/{id}, 48 ms (slow above 10 ms)", "goroutine 34\n", "goroutine 91\n", "goroutine 77\n",
		`of task "flush"`, `mutex 20 ms, ended by task "flush"`, "chan 15 ms", "network 14 ms", "load cart", "price",
		"→ prices:8080: GET /price, 14 ms", "world stopped 6 ms", "critical path", "\n0\n5 ms\n10 ms\n", "Not recorded: 12 short waits (40 us in all).")
	titles := strings.Join(doc.titles, "\n--\n")
	doc.has(t, "titles", titles, "mutex 20 ms (sync.Mutex.Lock)\nfrom 2 ms to 22 ms\nin main.cart.load at cart.go:58\nwoken by goroutine 77 of task \"flush\" in main.flush at flush.go:31\nthen runnable 1 ms, 900 us of it behind task \"report\"",
		"the world was stopped for 6 ms (GC mark termination)", "woken by a timer or the network")
	for class, n := range map[string]int{
		"region": 2, "other": 1, "task": 1,
		"stop": 1 + 1, "path": 1 + 1, "wake": 3 + 1, // and the legend
	} {
		if doc.classes[class] != n {
			t.Errorf("%d shapes of class %q, want %d", doc.classes[class], class, n)
		}
	}
	if doc.elements["desc"] != 1 || !strings.HasPrefix(doc.titles[0], "Timeline of GET /cart/{id}") {
		t.Errorf("no description, or another title: %q", doc.titles[0])
	}
	if strings.Contains(titles+doc.text, "ann") {
		t.Errorf("a note is in the diagram")
	}

	// When the world was stopped within a long wait is not known.
	task.Timeline[len(task.Timeline)-1].Stopped = 0
	task.Timeline[1].Stopped = 3 * ms
	doc = drawSVG(t, "", func(w io.Writer) error { return WriteTimeline(w, task) })
	if doc.classes["stop unsure"] != 1 {
		t.Errorf("classes %v, want a stop at an unsure time", doc.classes)
	}
	doc.has(t, "titles", strings.Join(doc.titles, "\n"), "the world was stopped for 3 ms (reason unknown)\nwithin the time from 2 ms to 23 ms")

	task.Timeline = nil
	doc = drawSVG(t, "timeline-fast", func(w io.Writer) error { return WriteTimeline(w, task) })
	doc.has(t, "text", doc.text, "→ prices:8080")
	if strings.Contains(doc.text, "There is no timeline") {
		t.Error("a slow task that only ran is said to have no timeline")
	}
	task.Flags &^= taskrecord.Slow
	doc = drawSVG(t, "", func(w io.Writer) error { return WriteTimeline(w, task) })
	doc.has(t, "text", doc.text, "There is no timeline")
	task.Flags |= taskrecord.Slow | taskrecord.Client
	doc = drawSVG(t, "", func(w io.Writer) error { return WriteTimeline(w, task) })
	doc.has(t, "text", doc.text, "A call of another server")
}

// TestOne checks that one of a thing is not several.
func TestOne(t *testing.T) {
	task := cartTask()
	task.Goroutines = 1
	task.Timeline = []taskrecord.Stretch{{Goroutine: task.Goroutine, Start: 0, Wake: 1, End: 1, Region: "short"}}
	task.Lost = taskrecord.Lost{Stretches: 1, StretchesTime: 40_000, Memory: 1, Calls: 1, Regions: 1}
	doc := drawSVG(t, "", func(w io.Writer) error { return WriteTimeline(w, task) })
	doc.has(t, "text", doc.text, "Not drawn: 1 short or deeply nested region.\n",
		"Not recorded: 1 short wait (40 us in all), 1 wait for which there was no memory, 1 region of further names, 1 short call.\n")
	doc = drawSVG(t, "", func(w io.Writer) error {
		return WriteRequest(w, &taskrecord.Request{Wall: 1, Duplicates: 1, Dropped: 2})
	})
	doc.has(t, "text", doc.text, "Left out: 1 record of a span that another one has, 2 records beyond the limit.\n")
}

func TestRequest(t *testing.T) {
	doc := drawSVG(t, "request", func(w io.Writer) error { return WriteRequest(w, cartRequest()) })
	doc.has(t, "text", doc.text, "GET /cart/{id}, 48 ms", "cycles 12.3M, page-faults 12", "GET /price, 13 ms", "syscall 11 ms",
		"shop\n", "prices\n", "clock moved by 3.2 s", taskrecord.TraceID{1}.String())
	// The strips have no times: they are at none.
	doc.has(t, "text", doc.text, "The strip in a box is the cost of the task, by the share of each part. It does not say when that was.\n")
	doc.has(t, "titles", strings.Join(doc.titles, "\n"), " % of the cost", "± 500 us", "there in 500 us", "back in 500 us", "process 17")
	if doc.classes["task"] != 2 || doc.classes["wake"] != 2+1 || doc.classes["path"] != 1+1 {
		t.Errorf("classes %v", doc.classes)
	}
	empty := drawSVG(t, "", func(w io.Writer) error { return WriteRequest(w, new(taskrecord.Request)) })
	if empty.classes["task"] != 0 || strings.Contains(empty.text, "strip") {
		t.Errorf("tasks in the diagram of none")
	}
}

func TestParts(t *testing.T) {
	var rows []PartsRow
	for i := range 1000 {
		r := PartsRow{Name: fmt.Sprintf("kind %d", i)}
		r.Parts[pprof.TimeMutex] = time.Duration(i) * ms
		r.Parts[pprof.TimeRunning] = ms
		rows = append(rows, r)
	}
	for i := range taskrecord.NumParts {
		rows[1].Parts[i] = time.Duration(i+1) * ms
	}
	doc := drawSVG(t, "parts", func(w io.Writer) error { return WriteParts(w, rows) })
	rest := time.Duration(0)
	for i := 49; i < 1000; i++ {
		rest += time.Duration(i+1) * ms
	}
	doc.has(t, "text", doc.text, "kind 0\n", "kind 48\n", "951 others\n", "mutex 98%", taskrecord.Duration(rest)+"\n")
	if strings.Contains(doc.text, "kind 49\n") {
		t.Errorf("too many rows")
	}
	if len(rows) != 1000 || rows[49].Name != "kind 49" {
		t.Errorf("the rows were changed")
	}
	// All parts are in the legend, each with a name, and look differently.
	for p := range taskrecord.NumParts {
		doc.has(t, "text", doc.text, p.String()+"\n")
	}
	seen := make(map[partStyle]taskrecord.Part)
	for p, s := range partStyles {
		if o, ok := seen[s]; ok || s.fill == "" {
			t.Errorf("%v looks like %v", taskrecord.Part(p), o)
		}
		seen[s] = taskrecord.Part(p)
	}
	hatched := 0
	for _, s := range partStyles {
		if s.hatch != "" {
			hatched++
		}
	}
	if len(doc.ids) != hatched {
		t.Errorf("IDs %q, want %d", doc.ids, hatched)
	}
	doc = drawSVG(t, "", func(w io.Writer) error { return WriteParts(w, make([]PartsRow, 1)) })
	doc.has(t, "text", doc.text, "no time")
}

// TestBounded checks that much more than can be seen is drawn together, and counted.
func TestBounded(t *testing.T) {
	task := &taskrecord.Record{Kind: "many", Wall: time.Second, Goroutine: 1, Flags: taskrecord.Slow}
	r := rand.New(rand.NewSource(1))
	short := 0
	for g := range 200 {
		for i := range 100 {
			at := time.Duration(i) * 10 * ms
			task.Timeline = append(task.Timeline, taskrecord.Stretch{Goroutine: uint64(g + 1), Start: at, Wake: at + time.Duration(1+r.Intn(100_000)), End: at + ms/4, Part: pprof.TimeChan,
				Waker: taskrecord.Waker{Goroutine: uint64(1000 + r.Intn(100)), Kind: "w"}})
			if g < maxLanes {
				short++
			}
		}
	}
	for i := range 5000 {
		task.Timeline = append(task.Timeline, taskrecord.Stretch{Goroutine: 1, Start: time.Duration(i), Wake: time.Second, End: time.Second, Region: "r"})
		task.Calls = append(task.Calls, taskrecord.Call{Kind: "c", Start: time.Duration(i), Wall: time.Second})
	}
	doc := drawSVG(t, "many", func(w io.Writer) error { return WriteTimeline(w, task) })
	if n := doc.elements["rect"] + doc.elements["path"]; n > 3*maxShapes {
		t.Errorf("%d shapes", n)
	}
	doc.has(t, "notes", doc.text, fmt.Sprintf("%d waits shorter than", short), "152 goroutines of the task", "92 goroutines of others", "short or deeply nested regions", "4988 calls")

	// Waits that overlap can't be, and may be in a file.
	for i := range task.Timeline {
		task.Timeline[i] = taskrecord.Stretch{Goroutine: 1, Wake: time.Second, End: time.Second, Part: pprof.TimeChan}
	}
	doc = drawSVG(t, "", func(w io.Writer) error { return WriteTimeline(w, task) })
	if n := doc.elements["rect"] + doc.elements["path"]; n > 3*maxShapes {
		t.Errorf("%d shapes of waits that overlap", n)
	}
	doc.has(t, "notes", doc.text, " waits, ")

	req := &taskrecord.Request{Wall: time.Second}
	root := &taskrecord.Node{Task: task, Call: -1}
	req.Nodes = append(req.Nodes, root)
	req.Roots = req.Nodes
	for i := range 100 {
		req.Servers = append(req.Servers, taskrecord.Offset{Server: &taskrecord.Server{Name: fmt.Sprint("s", i)}})
	}
	for i := range 20_000 {
		wall := time.Duration(100)
		if i%4 == 0 {
			wall = time.Duration(r.Intn(1e9))
		}
		n := &taskrecord.Node{Task: &taskrecord.Record{Kind: "k", Wall: wall}, Parent: root, Server: i % 100, Start: time.Duration(r.Intn(1e9)), Call: -1}
		root.Children = append(root.Children, n)
		req.Nodes = append(req.Nodes, n)
	}
	doc = drawSVG(t, "many-servers", func(w io.Writer) error { return WriteRequest(w, req) })
	if n := doc.elements["rect"] + doc.elements["path"]; n > maxBands*260+4*maxShapes {
		t.Errorf("%d shapes", n)
	}
	doc.has(t, "notes", doc.text, "68 servers", "short tasks are drawn together")
}

// TestRandom draws tasks as there could be, and such as there can't be, with texts that
// would end the element that they are in. TestText checks that parseSVG would notice.
func TestRandom(t *testing.T) {
	n := 100
	if testing.Short() {
		n = 30
	}
	for i := range n {
		r := rand.New(rand.NewSource(int64(i)))
		tasks := []*taskrecord.Record{anyTask(r), someTask(r)}
		for _, task := range tasks {
			if i%2 == 0 {
				task.Kind, task.Server = hostile, &taskrecord.Server{Name: hostile}
				for j := range task.Timeline {
					s := &task.Timeline[j]
					s.Reason, s.StopReason, s.BehindKind, s.Waker.Kind = hostile, hostile, hostile, hostile
					for k := range s.Stack {
						s.Stack[k] = taskrecord.Frame{Func: hostile, File: hostile, Line: -1}
					}
				}
			}
			drawAll(t, task, tasks)
		}
	}
}

// anyTask returns a task with anything in it.
func anyTask(r *rand.Rand) *taskrecord.Record {
	v, _ := quick.Value(reflect.TypeFor[taskrecord.Record](), r)
	t := v.Interface().(taskrecord.Record)
	return &t
}

// someTask returns a task whose parts and times are as they can be.
func someTask(r *rand.Rand) *taskrecord.Record {
	t := anyTask(r)
	t.Wall = time.Duration(1 + r.Int63n(1e9))
	for p := range t.Parts {
		t.Parts[p] = time.Duration(r.Int63n(1e9))
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		c.Start = time.Duration(r.Int63n(int64(t.Wall)))
		c.Wall = time.Duration(r.Int63n(int64(t.Wall - c.Start)))
	}
	for i := range t.Timeline {
		s := &t.Timeline[i]
		s.Goroutine, s.Waker.Goroutine = uint64(r.Intn(5)), uint64(r.Intn(10))
		s.Part %= taskrecord.NumParts
		s.Start = time.Duration(r.Int63n(int64(t.Wall)))
		s.Wake = s.Start + time.Duration(r.Int63n(int64(t.Wall-s.Start)))
		s.End = s.Wake + time.Duration(r.Int63n(int64(t.Wall-s.Wake)))
		s.Behind = time.Duration(r.Int63n(int64(1 + s.End - s.Wake)))
		s.Stopped = time.Duration(r.Int63n(int64(1 + s.End - s.Start)))
		if r.Intn(3) != 0 {
			s.Region = ""
		}
	}
	slices.SortFunc(t.Timeline, func(a, b taskrecord.Stretch) int { return cmp.Compare(a.Start, b.Start) })
	return t
}

const hostile = "</title></text></style>]]><script>alert(1)</script>\x00\x1b\"' onload='x' \u202e\xff&lt;"

func drawAll(t *testing.T, task *taskrecord.Record, others []*taskrecord.Record) {
	t.Helper()
	drawSVG(t, "", func(w io.Writer) error { return WriteTimeline(w, task) })
	drawSVG(t, "", func(w io.Writer) error { return WriteParts(w, []PartsRow{{task.Kind, task.Parts}}) })
	req := &taskrecord.Request{Wall: task.Wall}
	root := &taskrecord.Node{Task: task, Call: -1}
	req.Roots = []*taskrecord.Node{root}
	req.Nodes = []*taskrecord.Node{root}
	req.Servers = []taskrecord.Offset{{Server: task.Server, Offset: task.Wall, Error: task.Wall}}
	for i, o := range others {
		n := &taskrecord.Node{Task: o, Parent: root, Call: i - 1, Server: i, Start: o.Threshold}
		root.Children = append(root.Children, n)
		req.Nodes = append(req.Nodes, n)
	}
	drawSVG(t, "", func(w io.Writer) error { return WriteRequest(w, req) })
}

func FuzzDraw(f *testing.F) {
	f.Add("GET /", "sync.Mutex.Lock", int64(1), int64(2), int64(3))
	f.Add(hostile, "]]>", int64(-1), int64(1<<63-1), int64(-1<<63))
	f.Fuzz(func(t *testing.T, kind, text string, a, b, c int64) {
		task := cartTask()
		task.Kind, task.Wall, task.Goroutine = kind, time.Duration(a), uint64(b)
		task.Calls[0].Remote, task.Calls[0].Start = text, time.Duration(c)
		for i := range task.Timeline {
			s := &task.Timeline[i]
			s.Start, s.Wake, s.End = s.Start+time.Duration(a), s.Wake+time.Duration(b), s.End+time.Duration(c)
			s.Reason, s.Waker.Kind, s.StopReason = text, kind, text
			s.Part = taskrecord.Part(b)
			s.Waker.Goroutine = uint64(c)
		}
		drawAll(t, task, []*taskrecord.Record{task, cartTask()})
	})
}

// A failingWriter fails after n bytes.
type failingWriter struct{ n int }

var errFull = errors.New("full")

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.n -= len(p); w.n < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWriteError(t *testing.T) {
	for _, n := range []int{0, 3000} {
		for _, f := range []func(io.Writer) error{
			func(w io.Writer) error { return WriteTimeline(w, cartTask()) },
			func(w io.Writer) error { return WriteRequest(w, cartRequest()) },
		} {
			if err := f(&failingWriter{n}); err != errFull {
				t.Errorf("after %d bytes: %v, want %v", n, err, errFull)
			}
		}
	}
}

// TestLost fails if something that a record has lost is lost without a word.
func TestLost(t *testing.T) {
	for _, f := range taskrecord.AllLost {
		task := cartTask()
		task.Lost = taskrecord.Lost{}
		*f.Of(&task.Lost) = 1
		doc := drawSVG(t, "", func(w io.Writer) error { return WriteTimeline(w, task) })
		if !strings.Contains(doc.text, "Not recorded: "+task.Lost.Words()[0]+".") {
			t.Errorf("the timeline does not say that there is %s", f.Column)
		}
	}
}
