// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"internal/profile"
	"internal/taskrecord"
	"internal/testenv"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A taskFeed stands in for package task. Its readers begin at what was there when they
// were made.
type taskFeed struct {
	mu    sync.Mutex
	list  []*taskrecord.Record
	stats taskrecord.RecorderStats
	next  func() *taskrecord.Record // instead of list
	off   bool

	unpacked int // records that newest has passed on
}

func (f *taskFeed) add(t ...*taskrecord.Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, t...)
}

type feedReader struct {
	f      *taskFeed
	at     int
	popped uint64
	end    uint64 // of the round
}

func (r *feedReader) Progress() taskrecord.Progress {
	return taskrecord.Progress{Places: taskrecord.RingPlaces{{Ring: 0, Next: uint64(r.at)}}}
}

func (r *feedReader) Place() taskrecord.RingPlace {
	return taskrecord.RingPlace{Ring: 0, Next: uint64(r.at)}
}

func (r *feedReader) Round() {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	r.end = r.popped + uint64(len(r.f.list)-r.at)
	if r.f.next != nil {
		r.end = r.popped + 10
	}
}

func (r *feedReader) Next() *taskrecord.Record {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	if r.popped == r.end {
		return nil
	}
	r.popped++
	if r.f.next != nil {
		return r.f.next()
	}
	r.at++
	return r.f.list[r.at-1]
}

const feedDropped = 3

func (r *feedReader) Stats() taskrecord.RingStats {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	s := taskrecord.RingStats{Dropped: feedDropped, Waiting: uint64(len(r.f.list) - r.at)}
	if r.f.next != nil {
		s.Waiting = 10
	}
	return s
}

// feedTasks makes requests see what the feed has.
func feedTasks(t *testing.T, f *taskFeed) *taskFeed {
	old := tasks
	tasks.recording = func() bool { return !f.off }
	tasks.stats = func() taskrecord.RecorderStats { return f.stats }
	tasks.reader = func(oldest bool) taskReader {
		f.mu.Lock()
		defer f.mu.Unlock()
		r := &feedReader{f: f}
		if !oldest {
			r.at = len(f.list)
		}
		return r
	}
	tasks.newest = f.newest
	t.Cleanup(func() { tasks = old })
	return f
}

// newest is package task's. Want gets what a record begins with, and nothing else.
func (f *taskFeed) newest(onlySlow bool, most int, want func(*taskrecord.Record) bool, yield func(*taskrecord.Record) bool) (chosen, gone uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []*taskrecord.Record
	for _, t := range f.list {
		head := &taskrecord.Record{Trace: t.Trace, Span: t.Span, Parent: t.Parent, Kind: t.Kind, Flags: t.Flags, Start: t.Start, Wall: t.Wall}
		if (!onlySlow || t.Flags&taskrecord.Slow != 0) && want(head) {
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, func(a, b *taskrecord.Record) int {
		return cmp.Compare(b.Start+int64(b.Wall), a.Start+int64(a.Wall))
	})
	for _, t := range list[:min(len(list), most)] {
		f.unpacked++
		if !yield(t) {
			break
		}
	}
	return uint64(len(list)), feedGone
}

const feedGone = 7

func taskGet(query string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	Tasks(w, httptest.NewRequest("GET", "/debug/pprof/tasks"+query, nil))
	return w
}

const secret = "s3cret"

// shop returns what a shop has recorded. Its request for a cart waits for a mutex, for
// another server, and for the world.
func shop(now time.Time) *taskFeed {
	const ms = time.Millisecond
	server := &taskrecord.Server{ID: 1, Name: "shop", PID: 4021}
	frames := func(s ...string) (list []taskrecord.Frame) {
		for _, s := range s {
			var f taskrecord.Frame
			fmt.Sscanf(s, "%s %s %d", &f.Func, &f.File, &f.Line)
			list = append(list, f)
		}
		return list
	}
	serve := []string{"net/http.HandlerFunc.ServeHTTP server.go 2294", "net/http.(*conn).serve server.go 2102"}
	cart := func(i int, wait, stopped time.Duration) *taskrecord.Record {
		id := byte(i)
		t := &taskrecord.Record{
			Server: server, Trace: taskrecord.TraceID{0x4b, 0xf9, 15: id}, Span: taskrecord.SpanID{7: id}, Parent: taskrecord.SpanID{0xa7, 7: id}, Kind: "GET /cart/{id}",
			Flags: taskrecord.Slow | taskrecord.ServerOf, Goroutine: uint64(30 + i), Goroutines: 2, Threshold: 12 * ms,
			Regions: []taskrecord.RegionSum{{Name: "load cart", N: 1, Wall: wait + 3*ms, Max: wait + 3*ms}, {Name: "price", N: 1, Wall: 16 * ms, Max: 16 * ms}},
			Notes:   []taskrecord.Note{{Key: "status", Value: "200"}, {Key: "customer", Value: secret}},
			Events:  []string{"page-faults"},
			Usual:   &taskrecord.Usual{Tasks: 5120, Wall: 4200 * time.Microsecond},
			Lost:    taskrecord.Lost{Stretches: 12, StretchesTime: 40 * time.Microsecond},
		}
		t.Count = []pprof.CounterValue{{Value: 12}}
		t.Usual.Count = []pprof.CounterValue{{Value: 9}}
		g, h := t.Goroutine, t.Goroutine+400
		at := 2*ms + wait
		t.Calls = []taskrecord.Call{{Span: taskrecord.SpanID{6: 1, 7: id}, Kind: "GET /price", Flags: taskrecord.Client, Start: at + 3*ms, Wall: 14 * ms, Remote: "prices:8080"}}
		stack := func(s ...string) []taskrecord.Frame { return frames(append(s, serve...)...) }
		price := frames("main.(*shop).price.func1 /src/shop/price.go 84")
		t.Timeline = []taskrecord.Stretch{
			{Goroutine: g, Start: ms, Wake: at + 2*ms, End: at + 2*ms, Region: "load cart"},
			{Goroutine: g, Start: 2 * ms, Wake: at, End: at + ms, Part: pprof.TimeMutex, Reason: "sync.Mutex.Lock",
				Stack:      stack("sync.(*Mutex).Lock mutex.go 90", "main.(*shop).load /src/shop/cart.go 58", "main.(*shop).cart /src/shop/cart.go 31"),
				Waker:      taskrecord.Waker{Goroutine: 17, Span: taskrecord.SpanID{9}, Kind: "flush", Stack: frames("sync.(*Mutex).Unlock mutex.go 223", "main.(*shop).flush /src/shop/flush.go 31")},
				BehindKind: "report", Behind: 900 * time.Microsecond},
			{Goroutine: g, Start: at + 2*ms, Wake: at + 18*ms, End: at + 18*ms, Region: "price"},
			{Goroutine: g, Start: at + 2500*time.Microsecond, Wake: at + 17500*time.Microsecond, End: at + 17600*time.Microsecond, Part: pprof.TimeChan, Reason: "chan receive",
				Stack: stack("main.(*shop).price /src/shop/price.go 90"), Waker: taskrecord.Waker{Goroutine: h, Span: t.Span, Kind: t.Kind, Stack: price}},
			{Goroutine: h, Start: at + 2500*time.Microsecond, Wake: at + 2500*time.Microsecond, End: at + 2800*time.Microsecond, Part: pprof.TimeRunnable, Stack: price, Waker: taskrecord.Waker{Goroutine: g, Span: t.Span, Kind: t.Kind}},
			{Goroutine: h, Start: at + 3*ms, Wake: at + 17*ms, End: at + 17100*time.Microsecond, Part: pprof.TimeNetwork, Reason: "IO wait",
				Stack: append(frames("net.(*conn).Read net.go 194", "net/http.(*persistConn).Read transport.go 2122"), price...)},
		}
		end := at + 19*ms
		if stopped > 0 {
			t.Timeline = append(t.Timeline, taskrecord.Stretch{Goroutine: g, Start: at + 18500*time.Microsecond, Wake: at + 18500*time.Microsecond, End: at + 19*ms + stopped,
				Part: pprof.TimeRunnable, Stopped: stopped, StopReason: "GC mark termination"})
			end += stopped
		}
		t.Wall = end + ms
		for _, s := range t.Timeline {
			if s.Region == "" {
				t.Parts[s.Part] += s.Wake - s.Start
				t.Parts[pprof.TimeRunnable] += s.End - s.Wake
			}
		}
		t.Parts[pprof.TimeRunning] = t.Wall + 15*ms
		for p, d := range t.Parts {
			t.Parts[pprof.TimeRunning] -= d * time.Duration(min(p, 1))
		}
		t.Regions[0].Parts[pprof.TimeMutex] = wait
		t.Regions[1].Parts[pprof.TimeChan] = 15 * ms
		t.Usual.Parts[pprof.TimeRunning] = 2 * ms
		t.Usual.Parts[pprof.TimeNetwork] = 2 * ms
		t.Start = now.Add(-time.Duration(i)*7*time.Second - t.Wall).UnixNano()
		return t
	}
	f := &taskFeed{}
	for i := 12; i >= 1; i-- {
		stopped := time.Duration(0)
		if i%3 == 1 {
			stopped = 6 * ms
		}
		wait := time.Duration(20*ms) / time.Duration(i)
		f.add(cart(i, wait, stopped))
	}
	fast := &taskrecord.Record{Server: server, Trace: taskrecord.TraceID{1}, Span: taskrecord.SpanID{1}, Kind: "GET /health", Wall: 80 * time.Microsecond,
		Flags: taskrecord.Sampled, Start: now.UnixNano(), Goroutine: 8, Goroutines: 1}
	// The price's task is on this server too.
	first := f.list[len(f.list)-1]
	price := &taskrecord.Record{Server: server, Trace: first.Trace, Span: taskrecord.SpanID{5}, Parent: first.Calls[0].Span, Kind: "GET /price", Flags: taskrecord.ServerOf,
		Start: first.Start + int64(first.Calls[0].Start+ms), Wall: 12 * ms, Goroutine: 99, Goroutines: 1}
	price.Parts[pprof.TimeSyscall] = 11 * ms
	price.Parts[pprof.TimeRunning] = ms
	f.add(fast, price)

	usage := func(running, mutex, network, syscall, runnable, gc time.Duration) (u taskrecord.Usage) {
		u.Parts[pprof.TimeRunning], u.Parts[pprof.TimeMutex], u.Parts[pprof.TimeNetwork] = running, mutex, network
		u.Parts[pprof.TimeSyscall], u.Parts[pprof.TimeRunnable], u.Parts[pprof.TimeGC] = syscall, runnable, gc
		return u
	}
	const s = time.Second
	f.stats = taskrecord.RecorderStats{
		Server: server, Since: now.Add(-2 * time.Hour), Rate: 0.01, Open: 4,
		Kinds: []taskrecord.KindStats{
			{Kind: "GET /cart/{id}", Count: 51_200, Open: 2, Slow: 12, Failed: 3, Wall: 215 * s, P50: 3900 * time.Microsecond, P90: 6 * ms, P99: 12 * ms, Max: 48 * ms, Threshold: 12 * ms, Automatic: true, Usage: usage(90*s, 35*s, 60*s, 8*s, 12*s, 3*s)},
			{Kind: "GET /health", Count: 7200, Wall: s, P50: 70 * time.Microsecond, P90: 90 * time.Microsecond, P99: 300 * time.Microsecond, Max: 2 * ms, Usage: usage(s, 0, 0, 0, 0, 0)},
			{Kind: "flush", Count: 720, Open: 1, Wall: 14 * s, P50: 19 * ms, P90: 22 * ms, P99: 26 * ms, Max: 31 * ms, Threshold: 50 * ms, Usage: usage(s, 0, 0, 12*s, s, 0)},
			{Kind: "report", Count: 24, Open: 1, Wall: 61 * s, P50: 2500 * ms, P90: 2900 * ms, P99: 3 * s, Max: 3100 * ms, Usage: usage(55*s, 0, 2*s, s, 3*s, 0)},
		},
		Epochs: 7200, Events: []taskrecord.EventStats{{Name: "page-faults", Tasks: 58_000}, {Name: "cache-misses", Tasks: 600}},
		Lost: []taskrecord.LostStats{{Text: "bad traceparent header", N: 2}, {Text: "rings overflowed", Name: "rings", N: 1841}, {Text: "kinds that were too many", N: 0}},
	}
	return f
}

// TestTasksServe serves the page of a shop, to look at, at the address in the environment.
func TestTasksServe(t *testing.T) {
	addr := os.Getenv("GO_PPROF_TASKS_ADDR")
	if addr == "" {
		t.Skip("GO_PPROF_TASKS_ADDR=host:port serves the page of a shop, for a look at it")
	}
	f := feedTasks(t, shop(time.Now()))
	http.HandleFunc("/off", func(w http.ResponseWriter, r *http.Request) { f.off = !f.off })
	t.Fatal(http.ListenAndServe(addr, nil))
}

// want checks that an answer has a status, and texts, unescaped, in it.
func wantAnswer(t *testing.T, query string, status int, want ...string) string {
	t.Helper()
	w := taskGet(query)
	body := w.Body.String()
	if w.Code != status {
		t.Errorf("%s: %d, want %d:\n%.500s", query, w.Code, status, body)
	}
	if w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s: no nosniff", query)
	}
	plain := html.UnescapeString(body)
	for _, s := range want {
		if !strings.Contains(plain, s) {
			t.Errorf("%s: no %q in\n%.5000s", query, s, body)
		}
	}
	if strings.Contains(body, "<script") {
		t.Errorf("%s: a script in\n%.5000s", query, body)
	}
	return body
}

func TestTasksOff(t *testing.T) {
	feedTasks(t, &taskFeed{off: true})
	page := wantAnswer(t, "", 200, "does not record tasks", "task.Start(task.Config{", "pprof.TaskHandler(")
	// What the program there uses, it imports.
	for _, m := range regexp.MustCompile(`\b([a-z]+)\.[A-Z]`).FindAllStringSubmatch(page, -1) {
		if !regexp.MustCompile(`\n\t"([a-z]+/)*` + m[1] + `"\n`).MatchString(page) {
			t.Errorf("the program uses %s without an import", m[0])
		}
	}
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	for _, query := range []string{"?format=json", "?format=pprof&seconds=10", "?trace=" + id, "?span=" + id[:16]} {
		wantAnswer(t, query, 503, "tasks are not recorded: the program has to call task.Start")
	}
}

func TestTasksPage(t *testing.T) {
	f := feedTasks(t, shop(time.Now()))
	page := wantAnswer(t, "", 200, "<h1>Tasks of shop</h1>", "<td>51200</td><td>7.11</td>", "<td>0.00333</td>", "normally 12 ms", "not yet known", "Slow tasks, and 1 % of all requests, are recorded. 4 tasks are open now.",
		"<td>running 43 %, network 29 %, mutex 17 %</td>",
		"Looked at 12 of 12 slow tasks. 7 older records of slow tasks made room for newer ones.",
		"GET /cart/{id}: <b>mutex held by task \"flush\" at flush.go:31: 1 of 12 slow requests, 20 ms</b>",
		"GET /cart/{id}: <b>call \"GET /price\" of prices:8080: 11 of 12 slow requests, 154 ms</b>", "and 1 other</p>",
		"1841", "bad traceparent header", "name=viewport", "overflow-x", "td:first-child{ white-space:normal;",
		"go tool pmu tasks -http=: 'http://example.com/debug/pprof/tasks'\n", "go tool pmu why -http=: 'http://example.com/debug/pprof/tasks'\n",
		"go tool pmu slow -http=: 'http://example.com/debug/pprof/tasks'\n",
		"go tool pprof -http=: 'http://example.com/debug/pprof/tasks?format=pprof'\n",
		"so far in 7200 epochs", "page-faults</td><td>58000</td><td>98.1 %", "cache-misses</td><td>600</td><td>1.01 %")
	if strings.Contains(page, "kinds that were too many") || strings.Contains(page, "span=0100000000000000") {
		t.Errorf("a cause of nothing, or a fast task, is on the page")
	}
	if strings.Contains(page, secret) {
		t.Errorf("a note is on the page")
	}
	// The newest task is first, and the reason and the kind that take most time.
	tasks := regexp.MustCompile(`<a href='tasks\?(span=[^']*)'>([^<]*)</a> ([^,<]*)`).FindAllStringSubmatch(page, -1)
	if len(tasks) != 11 || tasks[0][2] != "32 ms" || tasks[0][3] != "14 s ago" || tasks[10][2] != "48 ms" || tasks[10][3] != "7 s ago" {
		t.Fatalf("tasks %q", tasks)
	}
	if i, j := strings.Index(page, ">report</a>"), strings.Index(page, ">flush</a>"); i > j {
		t.Errorf("kinds are not by their time")
	}

	first := f.list[11]
	query := html.UnescapeString(tasks[10][1])
	one := wantAnswer(t, "?"+query, 200, "<h1>GET /cart/{id}, 48 ms</h1>", `mutex held by task "flush" at flush.go:31, 20 ms`,
		"usual cost (5120 tasks, 4.2 ms)", "stop-the-world 6 ms", "Critical path", "prices:8080", "sync.Mutex.Lock at cart.go:58",
		"Timeline:", "load cart", "customer", secret, "Not recorded: 12 short waits (40 us in all)", "page-faults", "All tasks of this trace",
		"go tool pmu tasks -http=: -trace "+first.Trace.String()+" 'http://example.com/debug/pprof/tasks'</pre>", "trace "+first.Trace.String()+": 48 ms, 2 tasks on 1 server")
	// All links lead somewhere, and stay public.
	public := wantAnswer(t, "?public=1&"+query, 200, "<h1>GET /cart/{id}, 48 ms</h1>", "-trace "+first.Trace.String()+" 'http://example.com/debug/pprof/tasks?public=1'")
	if strings.Contains(public, secret) || strings.Contains(public, "customer") {
		t.Errorf("a note is on the public page")
	}
	for _, page := range []string{page, one, public, wantAnswer(t, "?public=1", 200, "'http://example.com/debug/pprof/tasks?public=1'")} {
		for _, m := range regexp.MustCompile(`href='tasks([^']*)'`).FindAllStringSubmatch(page, -1) {
			query := html.UnescapeString(m[1])
			if w := taskGet(query); w.Code != 200 {
				t.Errorf("link to %s: %d: %s", query, w.Code, w.Body)
			}
			if page == public && !strings.Contains(query, "public=1") {
				t.Errorf("link from a public page to %s", query)
			}
		}
		if strings.Contains(page, "<svg") {
			t.Error("there is a picture")
		}
	}
	only := wantAnswer(t, "?kind=flush", 200, "Only kind flush", "There are none, or newer ones")
	if strings.Contains(only, "report") {
		t.Errorf("other kinds are on the page")
	}

	none := wantAnswer(t, "?kind=none", 200, "Only kind none", "No task of this kind has ended")
	if strings.Contains(none, "No task has ended yet") {
		t.Error("a kind of no task is said to be all")
	}

	wantAnswer(t, "?span=0000000000000001", 200, "GET /cart/{id}, 48 ms")
	wantAnswer(t, "?span=00000000000000ff", 404, "no record of this task")
	wantAnswer(t, "?trace="+strings.Repeat("f", 32), 404, "no record of this task")
	wantAnswer(t, "?trace="+strings.Repeat("f", 32)+"&span=0000000000000001", 404, "no record of this task")
	wantAnswer(t, "?trace="+first.Trace.String(), 200, "GET /cart/{id}, 48 ms")
	f.list = nil
	f.stats = taskrecord.RecorderStats{}
	wantAnswer(t, "", 200, "No task has ended yet", "Nothing was lost", "There are none, or newer ones")
}

// TestTasksTaken tests that the page, and a file's marks, have why threads had no CPU, if they ever had none.
func TestTasksTaken(t *testing.T) {
	f := feedTasks(t, new(taskFeed))
	for _, taken := range []taskrecord.Taken{{}, {Preempted: 3 * time.Second}} {
		f.stats.Taken = taken
		const text = "<p id=taken>Threads that worked for tasks had no CPU for 3 s, and did not sleep.</p>"
		page := taskGet("").Body.String()
		if strings.Contains(page, text) != (taken.Preempted > 0) || strings.Contains(page, "id=taken") != (taken.Preempted > 0) {
			t.Errorf("%v:\n%s", taken, page)
		}
		r := taskrecord.NewFileReader(taskGet("?format=tasks").Body)
		marks := 0
		r.Mark = func(m *taskrecord.Mark) {
			if marks++; m.Taken != taken {
				t.Errorf("a mark says %v, want %v", m.Taken, taken)
			}
		}
		if _, err := r.Next(); err != io.EOF || marks != 2 {
			t.Errorf("%v, %d marks", err, marks)
		}
	}
}

// TestTasksMany checks the bounds of the page: it says how many records it has looked at, which are
// those that it has unpacked, and those that it shows and leaves out are all of them.
func TestTasksMany(t *testing.T) {
	now := time.Now()
	f := feedTasks(t, &taskFeed{})
	const n, kinds = 2 * maxSlowTasks, 500
	for i := range n {
		// n and 7 have no common divisor, so that each has a time of its own.
		x := &taskrecord.Record{Trace: taskrecord.TraceID{1}, Span: taskrecord.SpanID{1, 6: byte(i >> 8), 7: byte(i)}, Kind: fmt.Sprintf("kind-%d.", i%kinds), Flags: taskrecord.Slow,
			Start: now.UnixNano() + int64(i*7%n), Wall: time.Millisecond}
		x.Parts[pprof.TimeRunning] = x.Wall
		f.add(x)
	}
	for i := range 1000 {
		f.stats.Kinds = append(f.stats.Kinds, taskrecord.KindStats{Kind: fmt.Sprint(i)})
	}
	page := wantAnswer(t, "", 200, fmt.Sprintf("Looked at %d of %d slow tasks, those that ended last.", maxSlowTasks, n))
	if f.unpacked != maxSlowTasks {
		t.Errorf("%d records are unpacked, want %d", f.unpacked, maxSlowTasks)
	}
	shown := 0
	for _, m := range regexp.MustCompile(`: (\d+) of \d+ slow tasks?[,<]`).FindAllStringSubmatch(page, -1) {
		n, _ := strconv.Atoi(m[1])
		shown += n
	}
	m := regexp.MustCompile(`And (\d+) other reasons?, for (\d+) slow tasks.`).FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("the page does not say how many it leaves out:\n%.3000s", page)
	}
	if left, _ := strconv.Atoi(m[2]); shown+left != maxSlowTasks || strings.Count(page, "<b>") != maxReasons {
		t.Errorf("%d tasks are in reasons and %d are left out, want %d; %d reasons, want %d", shown, left, maxSlowTasks, strings.Count(page, "<b>"), maxReasons)
	}

	f.unpacked = 0
	wantAnswer(t, "?kind=kind-3.", 200, fmt.Sprintf("Looked at %d of %[1]d slow tasks; and, for who held mutexes, at %d of %d other ones, those that ended last.", n/kinds, maxSlowTasks/2, n-n/kinds), "kind-3.: <b>")
	if want := maxSlowTasks/2 + n/kinds; f.unpacked != want {
		t.Errorf("%d records are unpacked, want %d", f.unpacked, want)
	}
	f.unpacked = 0
	wantAnswer(t, "?trace="+taskrecord.TraceID{1}.String(), 200, fmt.Sprintf("And %d older tasks that the following leaves out", n-maxTraceTasks))
	if f.unpacked != maxTraceTasks {
		t.Errorf("%d records are unpacked, want %d", f.unpacked, maxTraceTasks)
	}

	// Of records that have much in them it looks at fewer.
	for _, x := range f.list {
		x.Notes = make([]taskrecord.Note, 50)
		x.Kind = "x"
	}
	f.unpacked = 0
	const few = maxPieces / 50
	wantAnswer(t, "", 200, fmt.Sprintf("Looked at %d of %d slow tasks, those that ended last.", few, n), fmt.Sprintf("running: %d of %d slow tasks", few, few))
	if f.unpacked != few {
		t.Errorf("%d records are unpacked, want %d", f.unpacked, few)
	}

	f.next = func() *taskrecord.Record { return f.list[0] } // a program that never stops
	if n := strings.Count(wantAnswer(t, "?format=json", 200), "\n"); n != 10 {
		t.Errorf("%d records, want the 10 that were waiting", n)
	}
}

// TestTasksHostile checks that no text of a record gets into a page as it is.
func TestTasksHostile(t *testing.T) {
	const bad = "'\"><script>alert(1)</script></title></svg>\x00\u202e"
	f := feedTasks(t, shop(time.Now()))
	f.stats.Server = &taskrecord.Server{Name: bad}
	for i := range f.stats.Kinds {
		f.stats.Kinds[i].Kind = bad
	}
	f.stats.Lost[0].Text, f.stats.Lost[1].Name = bad, bad
	frame := taskrecord.Frame{Func: bad, File: bad}
	for _, x := range f.list {
		x.Kind, x.Events = bad, []string{bad}
		x.Server = f.stats.Server
		x.Notes = []taskrecord.Note{{Key: bad, Value: bad}}
		x.Outlived, x.Outliving = []taskrecord.Goroutine{{ID: 1, Func: bad, Created: frame}}, 1
		for i := range x.Regions {
			x.Regions[i].Name = bad
		}
		for i := range x.Calls {
			x.Calls[i].Kind, x.Calls[i].Remote = bad, bad
		}
		for i := range x.Timeline {
			s := &x.Timeline[i]
			s.Reason, s.BehindKind, s.StopReason, s.Waker.Kind = bad, bad, bad, bad
			s.Stack = []taskrecord.Frame{frame}
			s.Waker.Stack = s.Stack
			if s.Region != "" {
				s.Region = bad
			}
		}
	}
	clean, err := regexp.Compile(`[\x00\x{202e}]|'">|</title></svg|'"`)
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"", "?kind=" + url.QueryEscape(bad), "?trace=" + f.list[11].Trace.String(), "?public=1"} {
		if m := clean.FindString(wantAnswer(t, query, 200, "alert(1)")); m != "" {
			t.Errorf("%s: %q is on the page", query, m)
		}
	}
}

func TestTasksBadRequest(t *testing.T) {
	feedTasks(t, shop(time.Now()))
	for query, want := range map[string]string{
		"?x=1":                                 `unknown parameter "x": those of the page are kind, public`,
		"?seconds=1":                           `unknown parameter "seconds"`,
		"?trace=1&kind=x":                      `those of a task are trace, span, public`,
		"?format=xml":                          `unknown format "xml": formats are json, pprof, tasks; go tool pmu tasks converts records to others`,
		"?format=otlp":                         `unknown format "otlp"`,
		"?format=":                             `unknown format ""`,
		"?format=json&x":                       `those of format are format, seconds, kind, slow, public`,
		"?format=json&format=tasks":            `"format" is there 2 times`,
		"?format=json&seconds=0":               "must be a positive integer",
		"?format=json&seconds=":                "must be a positive integer",
		"?format=json&seconds=99999999999999":  "must be a positive integer",
		"?format=json&slow=":                   "must be 1, for tasks above the threshold",
		"?format=json&slow=-1ms":               "must be 1, for tasks above the threshold",
		"?format=json&slow=yes":                "must be 1, for tasks above the threshold",
		"?format=json&public=yes":              "must be 1, to leave notes out, or 0",
		"?public=":                             "must be 1, to leave notes out, or 0",
		"?trace=xyz":                           "must be 32 hexadecimal digits",
		"?trace=" + strings.Repeat("0", 32):    "not all 0",
		"?span=":                               "must be 16 hexadecimal digits",
		"?kind=%zz":                            "malformed query",
		"?kind=" + strings.Repeat("a", 4<<10):  "the query is longer than 4096 bytes",
		"?" + strings.Repeat("a", 300) + "=1":  "unknown parameter",
		"?kind=a;public=1":                     "malformed query",
		"?format=json&kind=" + secret + "&x=%": "malformed query",
	} {
		if body := wantAnswer(t, query, 400, want); len(body) > 1000 {
			t.Errorf("%.100s: the answer has %d bytes", query, len(body))
		}
	}
	for method, format := range map[string]string{"POST": "", "DELETE": "", "HEAD": "?format=json"} {
		w := httptest.NewRecorder()
		Tasks(w, httptest.NewRequest(method, "/debug/pprof/tasks"+format, nil))
		if w.Code != 405 || w.Header().Get("Allow") != "GET" {
			t.Errorf("%s: %d, Allow %q", method, w.Code, w.Header().Get("Allow"))
		}
	}
}

// readTasks returns the records of an answer.
func readTasks(t *testing.T, format string, body []byte) (list []*taskrecord.Record) {
	t.Helper()
	switch format {
	case "json":
		for line := range bytes.Lines(body) {
			x, err := taskrecord.ParseJSON(line, json.Unmarshal)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, x)
		}
	case "tasks":
		r := taskrecord.NewFileReader(bytes.NewReader(body))
		for {
			x, err := r.Next()
			if err == io.EOF {
				return list
			}
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, x)
		}
	}
	return list
}

func TestTasksFormats(t *testing.T) {
	f := feedTasks(t, shop(time.Now()))
	s := httptest.NewServer(http.DefaultServeMux)
	defer s.Close()
	for _, format := range taskFormats {
		for query, want := range map[string]int{
			"": 14, "&slow=1": 12, "&kind=GET+/health": 1, "&kind=GET": 0, "&slow=30ms": 5, "&slow=1&kind=GET+/health": 0, "&public=1": 14, "&kind=": 0,
		} {
			r := get(t, s.URL+"/debug/pprof/tasks?format="+format.name+query)
			if r.StatusCode != 200 || r.Header.Get("Content-Type") != format.contentType || !strings.Contains(r.Header.Get("Content-Disposition"), format.file) {
				t.Errorf("%s%s: %s, header %v:\n%.500s", format.name, query, r.Status, r.Header, r.body)
			}
			for name, n := range map[string]int{tasksHeader: want, tasksLostHeader: feedDropped, tasksLeftOutHeader: 0} {
				if got := r.Trailer.Get(name); got != fmt.Sprint(n) {
					t.Errorf("%s%s: %s: %q, want %d", format.name, query, name, got, n)
				}
			}
			if got := bytes.Contains(r.body, []byte(secret)); got != (want == 14 && query != "&public=1" || strings.HasPrefix(query, "&slow") && want > 0) && format.name != "pprof" {
				t.Errorf("%s%s: the note is there: %v", format.name, query, got)
			}
			n := -1
			switch format.name {
			case "json", "tasks":
				n = len(readTasks(t, format.name, r.body))
			case "pprof":
				p, err := profile.Parse(bytes.NewReader(r.body))
				if err != nil && want > 0 {
					t.Errorf("pprof%s: %v", query, err)
				}
				if want == 0 {
					continue
				}
				n = 0
				for i, st := range p.SampleType {
					for _, s := range p.Sample {
						if st.Type == "tasks" {
							n += int(s.Value[i])
						}
					}
				}
			}
			if n != want {
				t.Errorf("%s%s: %d tasks, want %d", format.name, query, n, want)
			}
		}
	}
	if got := readTasks(t, "json", taskGet("?format=json&slow=1").Body.Bytes()); got[0].Notes == nil || f.list[0].Notes == nil {
		t.Errorf("notes are gone")
	}
}

// TestTasksSeconds checks that what comes within the time is collected, and nothing else.
func TestTasksSeconds(t *testing.T) {
	for _, format := range []string{"json", "tasks", "pprof"} {
		synctest.Test(t, func(t *testing.T) {
			f := feedTasks(t, &taskFeed{list: []*taskrecord.Record{{Kind: "before"}}})
			go func() {
				for _, s := range []string{"a", "b", "c"} {
					time.Sleep(time.Second - 1)
					f.add(&taskrecord.Record{Kind: "in " + s, Wall: 1})
				}
				time.Sleep(time.Second)
				f.add(&taskrecord.Record{Kind: "after", Wall: 1})
			}()
			begin := time.Now()
			w := taskGet("?format=" + format + "&seconds=3")
			if d := time.Since(begin); d != 3*time.Second {
				t.Errorf("%s took %v", format, d)
			}
			if got := w.Result().Trailer.Get(tasksHeader); got != "3" || w.Code != 200 {
				t.Errorf("%s: %d, %s tasks, want 3", format, w.Code, got)
			}
			if w.Flushed != (format == "json" || format == "tasks") {
				t.Errorf("%s: flushed: %v", format, w.Flushed)
			}
			time.Sleep(2 * time.Second)
		})
	}
}

// TestTasksBegun checks that who asks for what comes is answered when the rings are read, and not with the first
// record: from then on none is missing.
func TestTasksBegun(t *testing.T) {
	for _, f := range taskFormats {
		synctest.Test(t, func(t *testing.T) {
			feed := feedTasks(t, &taskFeed{list: []*taskrecord.Record{{Kind: "before"}}})
			w := httptest.NewRecorder()
			done := make(chan bool)
			go func() {
				Tasks(w, httptest.NewRequest("GET", "/debug/pprof/tasks?seconds=3&format="+f.name, nil))
				close(done)
			}()
			synctest.Wait()
			if w.Flushed != f.stream {
				t.Errorf("%s: begun before the first record: %v, want %v", f.name, w.Flushed, f.stream)
			}
			feed.add(&taskrecord.Record{Kind: "in", Wall: 1})
			<-done
			if got := w.Result().Trailer.Get(tasksHeader); got != "1" || w.Code != 200 {
				t.Errorf("%s: %d, %s tasks, want 1", f.name, w.Code, got)
			}
		})
	}
}

// TestTasksCollectors checks that several collect at once, up to a bound, and that a client
// which goes away ends its own collection, and no other.
func TestTasksCollectors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := feedTasks(t, shop(time.Now()))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan *httptest.ResponseRecorder, maxCollectors)
		for i := range maxCollectors {
			ctx := ctx
			if i > 0 {
				ctx = t.Context()
			}
			go func() {
				w := httptest.NewRecorder()
				Tasks(w, httptest.NewRequestWithContext(ctx, "GET", "/debug/pprof/tasks?seconds=1000&format="+taskFormats[i%len(taskFormats)].name, nil))
				done <- w
			}()
		}
		synctest.Wait()
		wantAnswer(t, "?format=json", 409, fmt.Sprintf("%d other requests collect tasks", maxCollectors))
		wantAnswer(t, "", 200, "Tasks of shop") // the page is there meanwhile
		begin := time.Now()
		cancel()
		if w := <-done; w.Body.Len() > 0 || time.Since(begin) > time.Second {
			t.Errorf("%d bytes for nobody, after %v", w.Body.Len(), time.Since(begin))
		}
		wantAnswer(t, "?format=json", 200)
		f.add(f.list[0])
		for range maxCollectors - 1 {
			w := <-done
			if got := w.Result().Trailer.Get(tasksHeader); got != "1" {
				t.Errorf("%v: %s tasks, want 1", w.Header(), got)
			}
		}
	})
}

// A deadlineWriter notes its deadline, and fails if it is told to.
type deadlineWriter struct {
	*httptest.ResponseRecorder
	deadline time.Time
	err      error
}

func (w *deadlineWriter) SetWriteDeadline(t time.Time) error { w.deadline = t; return nil }

func (w *deadlineWriter) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	return w.ResponseRecorder.Write(p)
}

func TestTasksWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		feedTasks(t, shop(time.Now()))
		ctx := context.WithValue(t.Context(), http.ServerContextKey, &http.Server{WriteTimeout: time.Second})
		w := &deadlineWriter{ResponseRecorder: httptest.NewRecorder()}
		begin := time.Now()
		Tasks(w, httptest.NewRequestWithContext(ctx, "GET", "/debug/pprof/tasks?format=json&seconds=5", nil))
		if d := w.deadline.Sub(begin); d != 6*time.Second {
			t.Errorf("deadline after %v, want 6s", d)
		}

		// A connection that breaks must not look like an answer that is complete.
		for _, f := range taskFormats {
			w = &deadlineWriter{ResponseRecorder: httptest.NewRecorder(), err: io.ErrClosedPipe}
			func() {
				defer func() {
					if err := recover(); err != http.ErrAbortHandler {
						t.Errorf("%s: %v, want %v", f.name, err, http.ErrAbortHandler)
					}
				}()
				Tasks(w, httptest.NewRequest("GET", "/debug/pprof/tasks?format="+f.name, nil))
			}()
			if n := len(collectors); n != 0 {
				t.Fatalf("%s: %d requests collect tasks for ever", f.name, n)
			}
		}
	})
}

// TestTasksRegistered checks that the page is where the index page says it is.
func TestTasksRegistered(t *testing.T) {
	feedTasks(t, shop(time.Now()))
	addr := server(t)
	if r := get(t, addr); !bytes.Contains(r.body, []byte("<a href='tasks'>")) {
		t.Errorf("no link to tasks on the index page:\n%s", r.body)
	}
	r := get(t, addr+"tasks")
	if r.StatusCode != 200 || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") || !bytes.Contains(r.body, []byte("Tasks of shop")) {
		t.Errorf("%s %v:\n%.500s", r.Status, r.Header, r.body)
	}
	if !strings.Contains(r.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("the page may load from elsewhere: %v", r.Header)
	}
}

// TestOwnMux checks that no link of the index page is dead where a program has registered Index and
// what else upstream has, and that a profile of the program's own that is called tasks is served. It
// does so in a process of its own, as a profile stays.
func TestOwnMux(t *testing.T) {
	const env = "PMU_TEST_OWN_MUX"
	if os.Getenv(env) == "" {
		cmd := testenv.Command(t, testenv.Executable(t), "-test.run=^TestOwnMux$", "-test.v")
		cmd.Env = append(cmd.Environ(), env+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestOwnMux") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	feedTasks(t, shop(time.Now()))
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", Index)
	long := []string{"profile", "trace"} // they take their time
	mux.HandleFunc("/debug/pprof/cmdline", Cmdline)
	mux.HandleFunc("/debug/pprof/profile", Profile)
	mux.HandleFunc("/debug/pprof/symbol", Symbol)
	mux.HandleFunc("/debug/pprof/trace", Trace)
	ask := func(link string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest("GET", "/debug/pprof/"+link, nil))
		return w
	}
	links := regexp.MustCompile(`href=['"]?([^'"> ]+)`).FindAllStringSubmatch(ask("").Body.String(), -1)
	n := 0
	for _, l := range links {
		name, _, _ := strings.Cut(l[1], "?")
		if slices.Contains(long, name) {
			continue
		}
		n++
		if w := ask(l[1]); w.Code != http.StatusOK {
			t.Errorf("link %s: status %d", l[1], w.Code)
		}
	}
	if n < 8 {
		t.Errorf("only %d links", n)
	}
	if w := ask("tasks?kind=x"); !strings.Contains(w.Body.String(), "Tasks of shop") {
		t.Errorf("not the page of tasks: %.300s", w.Body)
	}
	pprof.NewProfile("tasks")
	if w := ask("tasks?debug=1"); !strings.HasPrefix(w.Body.String(), "tasks profile: total 0") {
		t.Errorf("not the program's own profile: %.300s", w.Body)
	}
}

// TestTasksQueue checks that the page says who held a mutex that was handed on from one task to
// the next.
func TestTasksQueue(t *testing.T) {
	f := feedTasks(t, &taskFeed{})
	const ms = time.Millisecond
	wait := func(id byte, from, to time.Duration, w taskrecord.Waker) {
		t := &taskrecord.Record{Trace: taskrecord.TraceID{id}, Span: taskrecord.SpanID{7: id}, Kind: fmt.Sprintf("GET /%d", id%2), Flags: taskrecord.Slow | taskrecord.ServerOf, Goroutine: uint64(id), Goroutines: 1,
			Start: int64(1e18) + int64(from), Wall: to - from + ms,
			Timeline: []taskrecord.Stretch{{Goroutine: uint64(id), Wake: to - from, End: to - from, Part: pprof.TimeMutex, Waker: w}}}
		t.Parts[pprof.TimeMutex], t.Parts[pprof.TimeRunning] = to-from, ms
		f.add(t)
	}
	by := func(id byte) taskrecord.Waker {
		return taskrecord.Waker{Goroutine: uint64(id), Span: taskrecord.SpanID{7: id}, Kind: "GET /"}
	}
	wait(1, 0, 100*ms, taskrecord.Waker{Goroutine: 10, Span: taskrecord.SpanID{5}, Kind: "flush", Stack: []taskrecord.Frame{{Func: "main.flush", File: "flush.go", Line: 112}}})
	wait(2, 5*ms, 101*ms, by(1))
	wait(3, 10*ms, 102*ms, by(2))
	const flush = `<b>mutex held by task "flush" at flush.go:112: `
	wantAnswer(t, "", 200, "GET /1: "+flush+"2 of 2 slow requests, 192 ms</b>", "GET /0: "+flush+"1 of 1 slow request, 96 ms</b>")
	wantAnswer(t, "?kind=GET+%2F1", 200, "GET /1: "+flush+"2 of 2 slow requests, 192 ms</b>") // by one of another kind
	wantAnswer(t, "?span=0000000000000003", 200, `<p>mutex held by task "flush" at flush.go:112, 92 ms, and handed on by 2 tasks</p>`)
	page := wantAnswer(t, "?span=0000000000000001", 200, `mutex held by task "flush" at flush.go:112, 100 ms`)
	if strings.Contains(page, "handed on") {
		t.Errorf("a task to which nobody handed anything on:\n%s", page)
	}
}

// TestTasksCall checks the page on a call, for which no goroutine works.
func TestTasksCall(t *testing.T) {
	f := feedTasks(t, &taskFeed{})
	f.add(&taskrecord.Record{Trace: taskrecord.TraceID{1}, Span: taskrecord.SpanID{1}, Kind: "GET db:80", Flags: taskrecord.Client | taskrecord.Slow, Wall: 50 * time.Millisecond, Goroutine: 7})
	f.stats.Kinds = []taskrecord.KindStats{{Kind: "GET db:80", Count: 1, Slow: 1}}
	wantAnswer(t, "", 200, "<td>1</td><td>0</td><td>-</td></tr>", "GET db:80 (call): <b>way or answer of the server: 1 of 1 slow task, 50 ms</b>")
	wantAnswer(t, "?span=0100000000000000", 200, "calls a server", "way or answer of the server 50 ms", "at /debug/pprof/tasks?trace="+taskrecord.TraceID{1}.String()+" there")
}
