// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"runtime/pprof"
	"runtime/task/record"
	"runtime/task/why"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// slowTasks returns n tasks, of which one in 50 waits for a mutex; beside them some of another kind, and calls.
func slowTasks(n int) (list []*record.Task) {
	const ms = time.Millisecond
	r := rand.New(rand.NewPCG(2, 3))
	server := &record.Server{ID: 1, Name: "shop"}
	for i := range n {
		t := &record.Task{Server: server, Kind: "GET /cart/{id}", Flags: record.ServerOf, Goroutines: 1, Notes: []record.Note{{Key: "items", Value: fmt.Sprint(r.IntN(5))}, {Key: "customer", Value: secret}}}
		t.Parts[pprof.TimeRunning] = 4*ms + time.Duration(r.IntN(int(ms)))
		if i%50 == 0 {
			t.Parts[pprof.TimeMutex] = 60*ms + time.Duration(r.IntN(int(10*ms)))
		}
		t.Wall = t.Parts[pprof.TimeRunning] + t.Parts[pprof.TimeMutex]
		list = append(list, t)
	}
	for range n / 10 {
		list = append(list, &record.Task{Server: server, Kind: "flush", Wall: 5 * ms, Goroutines: 1})
	}
	for range 2 * n {
		list = append(list, &record.Task{Server: server, Kind: "GET stock:80", Flags: record.Client, Wall: time.Second})
	}
	return list
}

func whyRequestOf(method, query string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	Why(w, httptest.NewRequest(method, "/debug/pprof/why"+query, nil))
	return w
}

// wantWhy checks that an answer has a status, and texts, unescaped, in it.
func wantWhy(t *testing.T, query string, status int, want ...string) string {
	t.Helper()
	w := whyRequestOf("GET", query)
	body := w.Body.String()
	if w.Code != status {
		t.Errorf("%.200s: %d, want %d:\n%.500s", query, w.Code, status, body)
	}
	h := w.Header()
	if h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%.200s: no nosniff", query)
	}
	plain := html.UnescapeString(body)
	for _, s := range want {
		if !strings.Contains(plain, s) {
			t.Errorf("%.200s: no %q in\n%.5000s", query, s, body)
		}
	}
	if status != 200 {
		return body
	}
	if !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("%.200s: the page may load from elsewhere: %v", query, h)
	}
	if h.Get("Content-Length") != fmt.Sprint(len(body)) {
		t.Errorf("%.200s: Content-Length %s of %d bytes", query, h.Get("Content-Length"), len(body))
	}
	if strings.HasPrefix(h.Get("Content-Type"), "text/html") {
		dec := xml.NewDecoder(strings.NewReader(body))
		for {
			if _, err := dec.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Errorf("%.200s: %v in\n%s", query, err, body)
				break
			}
		}
		if strings.Contains(body, "<script") {
			t.Errorf("%.200s: a script in\n%.5000s", query, body)
		}
	}
	return body
}

func TestWhy(t *testing.T) {
	f := feedTasks(t, &taskFeed{list: slowTasks(3000)})
	page := wantWhy(t, "", 200, "<h1>mutex makes the tail: p99 is", "<svg", "mutex", "Records of 3300 tasks; this is about the 3000 of kind \"GET /cart/{id}\", the most frequent one",
		"Newer records have taken the place of 3 before", "<a href=\"tasks\">tasks</a>", "flush</a> (300)")
	if strings.Contains(page, "stock") || strings.Contains(page, "percentiles are those") {
		t.Errorf("calls are requests, or some are missing:\n%s", page)
	}
	text := wantWhy(t, "?format=text", 200, "mutex makes the tail: p99 is", "3000 requests: p50 4.")
	if ct := whyRequestOf("GET", "?format=text").Header().Get("Content-Type"); ct != "text/plain; charset=utf-8" || strings.Contains(text, "<") {
		t.Errorf("%s:\n%s", ct, text)
	}
	h := whyRequestOf("GET", "?format=html").Header()
	if h.Get(tasksHeader) != "3300" || h.Get(tasksLostHeader) != fmt.Sprint(feedDropped) || h.Get(tasksLeftOutHeader) != "0" || h.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("headers %v", h)
	}

	// The notes are an attribute unless they are left out.
	const items = "note items"
	if !strings.Contains(page, items) || !strings.Contains(text, items) {
		t.Errorf("no notes on the page")
	}
	for _, query := range []string{"?public=1", "?public=1&format=text"} {
		if public := wantWhy(t, query, 200, "mutex makes the tail", "Notes are left out"); strings.Contains(public, items) || strings.Contains(public, "customer") {
			t.Errorf("%s: a note is there:\n%s", query, public)
		}
	}

	wantWhy(t, "?p=0.97&format=text", 200, "p97 is")
	wantWhy(t, "?kind=flush&p=0.9", 200, "no cause found: all requests took the same time", `Records of 300 tasks of kind "flush"`, "the most frequent kind</a>")
	wantWhy(t, "?kind=none", 200, "there are no requests", `No records of tasks of kind "none"`)
	wantWhy(t, "?kind=none&format=text", 200, "there are no requests\n\nNo records of tasks of kind \"none\"\n")
	f.list = slowTasks(200)
	wantWhy(t, "", 200, "too few requests: 2 are above p99, and it takes 10")
	f.list = nil
	wantWhy(t, "", 200, "there are no requests", "No records of tasks")
	// What is recorded for being slow is no tail of all.
	f.list = slowTasks(3000)
	for i, x := range f.list {
		if i%2 == 0 && x.Wall > 20*time.Millisecond {
			x.Flags |= record.Slow
		}
	}
	wantWhy(t, "", 200, "others are left out: they were recorded for being slow")
	for _, x := range f.list {
		x.Flags |= record.Slow
	}
	wantWhy(t, "", 200, "percentiles are those of the records")

	// All links lead somewhere, and stay public.
	f.list = slowTasks(300)
	for _, query := range []string{"", "?public=1", "?kind=flush&p=0.9", "?kind=&public=1"} {
		page := wantWhy(t, query, 200)
		for _, m := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			link := html.UnescapeString(m[1])
			if link == "./" {
				continue
			}
			if strings.Contains(query, "public") != strings.Contains(link, "public=1") || strings.Contains(query, "p=0.9") && strings.HasPrefix(link, "why") != strings.Contains(link, "p=0.9") {
				t.Errorf("%s links to %s", query, link)
			}
			if q, ok := strings.CutPrefix(link, "why"); ok {
				wantWhy(t, q, 200)
			}
		}
	}
	for i := range 100 {
		f.add(&record.Task{Kind: fmt.Sprint("kind", i), Wall: 1})
	}
	wantWhy(t, "", 200, "kind0</a>", "and 91 more kinds")
}

func TestWhyBadRequest(t *testing.T) {
	f := feedTasks(t, &taskFeed{list: slowTasks(100)})
	for query, want := range map[string]string{
		"?x=1":                                `unknown parameter "x": parameters are seconds, p, kind, format, public`,
		"?slow=1":                             `unknown parameter "slow"`,
		"?p=0.9&p=0.99":                       `"p" is there 2 times`,
		"?p=":                                 `invalid value for "p" - must be a percentile between 0 and 1, like 0.99`,
		"?p=99":                               "must be a percentile between 0 and 1",
		"?p=0":                                "must be a percentile between 0 and 1",
		"?p=1":                                "must be a percentile between 0 and 1",
		"?p=NaN":                              "must be a percentile between 0 and 1",
		"?p=-0.5":                             "must be a percentile between 0 and 1",
		"?p=1e-400x":                          "must be a percentile between 0 and 1",
		"?seconds=0":                          "must be a positive integer",
		"?seconds=":                           "must be a positive integer",
		"?seconds=1.5":                        "must be a positive integer",
		"?seconds=99999999999999":             "must be a positive integer",
		"?format=":                            `unknown format "": formats are html, text`,
		"?format=json":                        `unknown format "json": formats are html, text`,
		"?public=yes":                         "must be 1, to leave notes out, or 0",
		"?kind=%zz":                           "malformed query",
		"?kind=" + strings.Repeat("a", 4<<10): "the query is longer than 4096 bytes",
		"?" + strings.Repeat("a", 300) + "=1": "unknown parameter",
	} {
		if body := wantWhy(t, query, 400, want); len(body) > 1000 {
			t.Errorf("%.100s: the answer has %d bytes", query, len(body))
		}
	}
	for method, want := range map[string]int{"POST": 405, "DELETE": 405, "OPTIONS": 405, "HEAD": 200} {
		w := whyRequestOf(method, "")
		if w.Code != want || want == 405 && w.Header().Get("Allow") != "GET, HEAD" || want == 200 && (w.Body.Len() > 0 || w.Header().Get("Content-Type") != "text/html; charset=utf-8") {
			t.Errorf("%s: %d, %v", method, w.Code, w.Header())
		}
	}
	f.off = true
	wantWhy(t, "", 503, "tasks are not recorded: the program has to call task.Start")
	wantWhy(t, "?format=text&seconds=100", 503, "tasks are not recorded")
	wantWhy(t, "?p=2", 400)
}

// TestWhyBounds tests that what is kept is bounded, and that the answer says what is missing.
func TestWhyBounds(t *testing.T) {
	f := feedTasks(t, &taskFeed{list: slowTasks(3000)})
	x := &record.Task{Kind: "x", Wall: time.Millisecond}
	for range maxWhyRows {
		f.add(x)
	}
	w := whyRequestOf("GET", "?format=text")
	if h := w.Header(); h.Get(tasksHeader) != fmt.Sprint(maxWhyRows) || h.Get(tasksLeftOutHeader) != "3300" || !strings.Contains(w.Body.String(), "3300 tasks are left out, as there are too many") {
		t.Errorf("headers %v:\n%s", h, w.Body)
	}

	// Columns of notes, whose keys may come from clients, and their words.
	f.list = slowTasks(3000)
	for i, x := range f.list[:3000] {
		x.Notes = append(x.Notes, record.Note{Key: fmt.Sprint("key", i), Value: "1"}, record.Note{Key: "status", Value: fmt.Sprint("s", i)})
	}
	page := wantWhy(t, "", 200, "<h1>mutex makes the tail", "values of columns beyond the first 100 are left out")
	if n := strings.Count(page, "note key"); n > maxWhyColumns {
		t.Errorf("%d columns", n)
	}
	f.list = slowTasks(2000)
	long := strings.Repeat("x", 64<<10)
	for i, x := range f.list[:2000] {
		x.Notes = append(x.Notes, record.Note{Key: "status", Value: fmt.Sprint(i, long)})
	}
	w = whyRequestOf("GET", "")
	var n, left int
	fmt.Sscan(w.Header().Get(tasksHeader), &n)
	fmt.Sscan(w.Header().Get(tasksLeftOutHeader), &left)
	if n < 400 || n > maxWhyBytes/len(long) || n+left != 2200 || w.Body.Len() > 1<<20 {
		t.Errorf("%d tasks, and %d left out; the page has %d bytes", n, left, w.Body.Len())
	}
	// A key whose values are numbers and words.
	f.list = slowTasks(1000)
	f.list[999].Notes[0].Value = "many"
	wantWhy(t, "", 200, "1 notes that don't fit the others of their key are left out")
}

// TestWhyHostile tests that no text of a record gets into a page as it is.
func TestWhyHostile(t *testing.T) {
	const bad = "'\"><body>\n<script>alert(1)</script></title></svg>\x00\u202e%s"
	f := feedTasks(t, &taskFeed{list: slowTasks(3000)})
	for i, x := range f.list[:3000] {
		x.Kind += bad
		x.Server = &record.Server{Name: bad}
		x.Events, x.Count = []string{bad}, []record.Count{{Value: uint64(i % 7)}}
		x.Notes = []record.Note{{Key: bad, Value: bad}}
		x.Regions = []record.Region{{Name: bad, Wall: x.Parts[pprof.TimeMutex]}}
		x.Calls = []record.Call{{Kind: bad, Wall: x.Parts[pprof.TimeMutex]}}
	}
	f.list[3001].Kind = bad
	for _, query := range []string{"", "?kind=" + url.QueryEscape(bad), "?kind=" + url.QueryEscape("none"+bad)} {
		if page := wantWhy(t, query, 200, "alert(1)"); strings.ContainsAny(page, "\x00\u202e") || strings.Contains(page, `'">`) || strings.Count(page, "<body>") != 1 {
			t.Errorf("%s: a text is on the page as it is:\n%s", query, page)
		}
	}
}

// TestWhySeconds tests that what comes within the time is analyzed, and nothing else.
func TestWhySeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := feedTasks(t, &taskFeed{list: []*record.Task{{Kind: "early"}}})
		go func() {
			for range 3 {
				time.Sleep(time.Second - 1)
				f.add(slowTasks(1000)...)
			}
			time.Sleep(time.Second)
			f.add(&record.Task{Kind: "late", Wall: 1})
		}()
		begin := time.Now()
		page := wantWhy(t, "?seconds=3", 200, "<h1>mutex makes the tail", "Records of 3300 tasks in 3 seconds")
		if d := time.Since(begin); d != 3*time.Second || strings.Contains(page, "early") || strings.Contains(page, "late</a>") {
			t.Errorf("it took %v:\n%s", d, page)
		}
		time.Sleep(2 * time.Second)
	})
}

// TestWhyOneAtATime tests that there is one collection at a time, of tasks or for an analysis,
// and that a client which goes away ends its own.
func TestWhyOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		feedTasks(t, &taskFeed{list: slowTasks(1000)})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan *httptest.ResponseRecorder, 1)
		go func() {
			w := httptest.NewRecorder()
			Why(w, httptest.NewRequestWithContext(ctx, "GET", "/debug/pprof/why?seconds=1000", nil))
			done <- w
		}()
		synctest.Wait()
		wantWhy(t, "", 409, "another request collects tasks")
		wantAnswer(t, "?format=json", 409, "another request collects tasks")
		begin := time.Now()
		cancel()
		if w := <-done; w.Body.Len() > 0 || time.Since(begin) > time.Second {
			t.Errorf("%d bytes for nobody, after %v", w.Body.Len(), time.Since(begin))
		}
		wantWhy(t, "", 200)
	})
}

// A goneReader ends a request at the n-th record.
type goneReader struct {
	taskReader
	n    int
	gone func()
}

func (r *goneReader) Next() *record.Task {
	if r.n--; r.n == 0 {
		r.gone()
	}
	return r.taskReader.Next()
}

// TestWhyGone tests that nothing is done for a client that is gone: neither after the
// collection nor within the analysis.
func TestWhyGone(t *testing.T) {
	feedTasks(t, &taskFeed{list: slowTasks(1000)})
	reader := tasks.reader
	for _, n := range []int{1, 500, 1000, 3100} {
		ctx, cancel := context.WithCancel(t.Context())
		tasks.reader = func(oldest bool) taskReader { return &goneReader{reader(oldest), n, cancel} }
		w := httptest.NewRecorder()
		Why(w, httptest.NewRequestWithContext(ctx, "GET", "/debug/pprof/why", nil))
		if w.Body.Len() > 0 || ctx.Err() == nil {
			t.Errorf("gone after %d tasks: an answer of %d bytes", n, w.Body.Len())
		}
	}
	// In the analysis.
	tasks.reader = reader
	ctx, cancel := context.WithCancel(t.Context())
	analyze = func(tab *why.Table, o why.Options) (*why.Report, error) {
		if o.Procs != 1 {
			t.Errorf("%d goroutines may analyze, want 1", o.Procs)
		}
		cancel()
		r, err := why.Analyze(tab, o)
		if err == nil {
			t.Errorf("the analysis went on for nobody")
		}
		return r, err
	}
	defer func() { analyze = why.Analyze }()
	w := httptest.NewRecorder()
	Why(w, httptest.NewRequestWithContext(ctx, "GET", "/debug/pprof/why", nil))
	if w.Body.Len() > 0 || w.Code != 200 || ctx.Err() == nil {
		t.Errorf("gone before the analysis: %d, an answer of %d bytes", w.Code, w.Body.Len())
	}
	analyze = why.Analyze
	wantWhy(t, "", 200, "mutex makes the tail")
}

// A deadlinesWriter notes all of its deadlines.
type deadlinesWriter struct {
	deadlineWriter
	all []time.Time
}

func (w *deadlinesWriter) SetWriteDeadline(t time.Time) error {
	w.all = append(w.all, t)
	return w.deadlineWriter.SetWriteDeadline(t)
}

// TestWhyWrite tests the deadlines of an answer.
func TestWhyWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		feedTasks(t, &taskFeed{list: slowTasks(1000)})
		for timeout, want := range map[time.Duration]time.Duration{time.Second: 6 * time.Second, time.Hour: 5*time.Second + taskPatience} {
			ctx := context.WithValue(t.Context(), http.ServerContextKey, &http.Server{WriteTimeout: timeout})
			w := &deadlinesWriter{deadlineWriter: deadlineWriter{ResponseRecorder: httptest.NewRecorder()}}
			begin := time.Now()
			Why(w, httptest.NewRequestWithContext(ctx, "GET", "/debug/pprof/why?seconds=5", nil))
			// Streams of HTTP/2 end at their deadline, so there is none before the answer.
			if d := w.deadline.Sub(begin); d != want || w.Code != 200 || len(w.all) != 2 || !w.all[0].IsZero() {
				t.Errorf("timeout %v: %d, deadline after %v, want %v", timeout, w.Code, d, want)
			}
		}
		w := &deadlineWriter{ResponseRecorder: httptest.NewRecorder()}
		Why(w, httptest.NewRequest("GET", "/debug/pprof/why?seconds=5", nil))
		if !w.deadline.IsZero() || !w.Flushed {
			t.Errorf("without a timeout, a deadline is left for the next answer: %v", w.deadline)
		}
		w = &deadlineWriter{ResponseRecorder: httptest.NewRecorder(), err: io.ErrClosedPipe}
		Why(w, httptest.NewRequest("GET", "/debug/pprof/why", nil))
		if !collecting.TryLock() {
			t.Fatal("nobody can collect any more")
		}
		collecting.Unlock()
	})
}

// TestWhyServer tests the page where it is registered, on a server whose timeout is shorter
// than the collection.
func TestWhyServer(t *testing.T) {
	f := feedTasks(t, &taskFeed{list: slowTasks(1000)})
	s := httptest.NewUnstartedServer(http.DefaultServeMux)
	s.Config.WriteTimeout = 200 * time.Millisecond
	s.Start()
	defer s.Close()
	addr := s.URL + "/debug/pprof/"
	for page, want := range map[string]string{"": "<a href='why'>", "tasks": "<a href='why'", "tasks?kind=x&public=1": "<a href='why?kind=x&amp;public=1'"} {
		if r := get(t, addr+page); !bytes.Contains(r.body, []byte(want)) {
			t.Errorf("%s does not link to why:\n%s", page, r.body)
		}
	}
	time.AfterFunc(200*time.Millisecond, func() { f.add(slowTasks(1000)...) })
	r := get(t, addr+"why?seconds=1")
	if r.StatusCode != 200 || !bytes.Contains(r.body, []byte("<h1>mutex makes the tail")) || !bytes.HasSuffix(r.body, []byte("</html>\n")) {
		t.Errorf("%s %v:\n%.500s", r.Status, r.Header, r.body)
	}
	head, err := http.Head(addr + "why")
	if err != nil || head.StatusCode != 200 {
		t.Errorf("HEAD: %v, %v", head, err)
	}
}
