// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"context"
	"fmt"
	"internal/godebug"
	"internal/taskrecord"
	"io"
	"iter"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

func init() {
	prefix := ""
	if godebug.New("httpmuxgo121").Value() != "1" {
		prefix = "GET "
	}
	http.HandleFunc(prefix+"/debug/pprof/tasks", Tasks)
}

// A taskReader is a [taskrecord.RingReader], whose server is in the stats.
type taskReader interface {
	Next() *taskrecord.Record
	Round()
	Progress() taskrecord.Progress
	Place() taskrecord.RingPlace
	Stats() taskrecord.RingStats
}

// tasks is where records come from. Tests replace it.
var tasks = struct {
	recording func() bool
	stats     func() taskrecord.RecorderStats
	reader    func(oldest bool) taskReader
	newest    func(onlySlow bool, most int, want func(head *taskrecord.Record) bool, yield func(*taskrecord.Record) bool) (chosen, gone uint64)
}{isRecording, readTaskStats, func(oldest bool) taskReader { return taskrecord.NewRingReader(oldest) }, newestTasks}

// maxTaskQuery bounds the query of a request for tasks, in bytes. A kind, completely
// escaped, takes less.
const maxTaskQuery = 4 << 10

// A taskRequest is what a request to /debug/pprof/tasks asks for.
type taskRequest struct {
	format   *taskFormat // nil for the page
	seconds  int64       // 0 for what is in the rings
	kind     string      // if hasKind
	hasKind  bool
	slow     bool          // only those
	least    time.Duration // only those that took at least that long
	trace    taskrecord.TraceID
	span     taskrecord.SpanID
	isPublic bool   // leave notes out
	address  string // of the page, as the client has asked for it
}

// A taskFormat is a value of the parameter format.
type taskFormat struct {
	name, contentType, file string

	// write writes the records. What it returns before it has written anything is
	// answered with.
	write func(w io.Writer, list iter.Seq[*taskrecord.Record], req *taskRequest) error

	// stream says that records are written one by one.
	stream bool
}

// None of them keeps records: a request's memory does not depend on their number.
var taskFormats = []*taskFormat{
	{"json", "application/x-ndjson", "tasks.jsonl", writeTaskLines, true},
	{"pprof", "application/octet-stream", "tasks.pb.gz", func(w io.Writer, list iter.Seq[*taskrecord.Record], _ *taskRequest) error {
		return taskrecord.WriteProfile(w, list)
	}, false},
	{"tasks", "application/octet-stream", "tasks", writeTaskFile, true},
}

func writeTaskLines(w io.Writer, list iter.Seq[*taskrecord.Record], _ *taskRequest) error {
	var b []byte
	for t := range list {
		b = append(taskrecord.AppendJSON(b[:0], t), '\n')
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

func writeTaskFile(w io.Writer, list iter.Seq[*taskrecord.Record], req *taskRequest) error {
	stats := tasks.stats()
	fw := taskrecord.NewFileWriter(w, stats.Server)
	fw.Public = req.isPublic
	a, _ := w.(*taskAnswer)
	if a == nil {
		for t := range list {
			if err := fw.Write(t); err != nil {
				return err
			}
		}
		return nil
	}
	m := a.from.mark(false)
	m.Taken = stats.Taken
	if err := fw.Mark(m); err != nil {
		return err
	}
	for t := range list {
		fw.At = a.from.at
		fw.At.LeftOut = int64(a.left)
		err := fw.Write(t)
		if err == nil {
			a.from.at.Places = a.from.at.Places[:0]
		} else if a.err != nil {
			return err
		} else {
			a.left++ // the record is too large for a file
		}
	}
	m = a.from.mark(true)
	m.LeftOut, m.Taken = int64(a.left), tasks.stats().Taken
	return fw.Mark(m)
}

// taskParams are the parameters of a page, of a page on a task, and of a format. Others
// are refused: one that is misspelt would change the answer without a word.
var taskParams = [...]struct {
	what  string
	names []string
}{
	{"the page", []string{"kind", "public"}},
	{"a task", []string{"trace", "span", "public"}},
	{"format", []string{"format", "seconds", "kind", "slow", "public"}},
}

// parseTaskRequest returns what r asks for.
func parseTaskRequest(r *http.Request) (*taskRequest, error) {
	switch r.Method {
	case "", http.MethodGet, http.MethodHead:
	default:
		return nil, &requestError{http.StatusMethodNotAllowed, "tasks are asked for with GET"}
	}
	if len(r.URL.RawQuery) > maxTaskQuery {
		return nil, badRequest("the query is longer than %d bytes", maxTaskQuery)
	}
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, badRequest("malformed query: %v", err)
	}
	params := &taskParams[0]
	switch {
	case q.Has("format"):
		params = &taskParams[2]
	case q.Has("trace"), q.Has("span"):
		params = &taskParams[1]
	}
	for name, values := range q {
		if !slices.Contains(params.names, name) {
			return nil, badRequest("unknown parameter %.100q: those of %s are %s", name, params.what, strings.Join(params.names, ", "))
		}
		if len(values) > 1 {
			return nil, badRequest("%q is there %d times", name, len(values))
		}
	}
	req := &taskRequest{kind: q.Get("kind"), hasKind: q.Has("kind"), address: addressOf(r)}
	for _, p := range []func(url.Values) error{req.parseFormat, req.parseSeconds, req.parseSlow, req.parseIDs, req.parsePublic} {
		if err := p(q); err != nil {
			return nil, err
		}
	}
	return req, nil
}

// addressOf returns the URL that r asks for, without its parameters. A shell takes it as one
// word.
func addressOf(r *http.Request) string {
	u := url.URL{Scheme: "http", Host: r.Host, Path: r.URL.Path}
	if r.TLS != nil {
		u.Scheme = "https"
	}
	if strings.ContainsFunc(r.Host, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(".-:", c))
	}) {
		u.Host = "localhost:6060" // no name of a host, or an address of IPv6
	}
	return u.String()
}

func (req *taskRequest) parseFormat(q url.Values) error {
	if !q.Has("format") {
		return nil
	}
	var names []string
	for _, f := range taskFormats {
		if f.name == q.Get("format") {
			req.format = f
			return nil
		}
		names = append(names, f.name)
	}
	return badRequest("unknown format %.100q: formats are %s; go tool pmu tasks converts records to others", q.Get("format"), strings.Join(names, ", "))
}

func (req *taskRequest) parseSeconds(q url.Values) error {
	if !q.Has("seconds") {
		return nil
	}
	const maxSeconds = math.MaxInt64 / int64(time.Second)
	n, err := strconv.ParseInt(q.Get("seconds"), 10, 64)
	if err != nil || n <= 0 || n > maxSeconds {
		return badRequest(`invalid value for "seconds" - must be a positive integer`)
	}
	req.seconds = n
	return nil
}

func (req *taskRequest) parseSlow(q url.Values) error {
	switch s := q.Get("slow"); {
	case !q.Has("slow"):
	case s == "1":
		req.slow = true
	default:
		d, err := time.ParseDuration(s)
		if err != nil || d <= 0 {
			return badRequest(`invalid value for "slow" - must be 1, for tasks above the threshold of their kind, or a duration like 20ms`)
		}
		req.least = d
	}
	return nil
}

func (req *taskRequest) parseIDs(q url.Values) (err error) {
	if q.Has("trace") {
		if req.trace, err = taskrecord.ParseTraceID(q.Get("trace")); err != nil || req.trace.IsZero() {
			return badRequest(`invalid value for "trace" - must be 32 hexadecimal digits, not all 0`)
		}
	}
	if q.Has("span") {
		if req.span, err = taskrecord.ParseSpanID(q.Get("span")); err != nil || req.span.IsZero() {
			return badRequest(`invalid value for "span" - must be 16 hexadecimal digits, not all 0`)
		}
	}
	return nil
}

func (req *taskRequest) parsePublic(q url.Values) error {
	switch s := q.Get("public"); {
	case !q.Has("public"), s == "0":
	case s == "1":
		req.isPublic = true
	default:
		return badRequest(`invalid value for "public" - must be 1, to leave notes out, or 0`)
	}
	return nil
}

// wants reports whether the record is asked for.
func (req *taskRequest) wants(t *taskrecord.Record) bool {
	return (!req.hasKind || t.Kind == req.kind) &&
		(!req.slow || t.Flags&taskrecord.Slow != 0) &&
		t.Wall >= req.least
}

var errNotRecording = &requestError{http.StatusServiceUnavailable,
	"tasks are not recorded: the program has to call task.Start, of package runtime/task, first"}

// maxCollectors is how many requests can collect records at once. Each has its own place in the
// rings and takes nothing away from the others. But each costs the time of a conversion.
const maxCollectors = 8

var errCollecting = &requestError{http.StatusConflict, fmt.Sprintf("%d other requests collect tasks: ask again when one is done", maxCollectors)}

// collectors has an element for each request that collects records.
var collectors = make(chan struct{}, maxCollectors)

// serveTaskFormat answers with records.
func serveTaskFormat(w http.ResponseWriter, r *http.Request, req *taskRequest) {
	if !tasks.recording() {
		serveEventError(w, errNotRecording)
		return
	}
	select {
	case collectors <- struct{}{}:
	default:
		serveEventError(w, errCollecting)
		return
	}
	defer func() { <-collectors }()

	c := newTaskCollector(r.Context(), req)
	a := &taskAnswer{ResponseWriter: w, ctx: r.Context(), format: req.format, from: c}
	if srv, ok := a.ctx.Value(http.ServerContextKey).(*http.Server); ok && srv.WriteTimeout > 0 {
		a.until = time.Now().Add(srv.WriteTimeout).Add(time.Duration(req.seconds) * time.Second)
	}
	// The server sets no deadline of its own for the next answer on the connection if it
	// has no timeout.
	defer func() { http.NewResponseController(w).SetWriteDeadline(a.until) }()
	c.flush = a.flush
	if req.seconds > 0 && req.format.stream {
		a.begin() // who gets the header knows that all records from now on will follow
		a.flush()
	}
	err := req.format.write(a, c.records(), req)
	if r.Context().Err() != nil {
		return // nobody is there to read an answer
	}
	if err != nil && !a.begun {
		serveEventError(w, err)
		return
	}
	if err != nil {
		panic(http.ErrAbortHandler) // so that the client doesn't take it for all of it
	}
	a.begin()
	w.Header().Set(tasksHeader, strconv.FormatUint(c.n, 10))
	w.Header().Set(tasksLostHeader, strconv.FormatUint(c.from.Stats().Dropped, 10))
	w.Header().Set(tasksLeftOutHeader, strconv.FormatUint(a.left, 10))
}

// Trailers of an answer with records. They are known at its end.
const (
	tasksHeader        = "X-Go-Tasks"          // records that were asked for, and read
	tasksLostHeader    = "X-Go-Tasks-Lost"     // that the rings have lost while they were read
	tasksLeftOutHeader = "X-Go-Tasks-Left-Out" // that were too large for the format
)

// A taskAnswer is an answer that begins with the first byte of its body: until then it
// can still be an error.
type taskAnswer struct {
	http.ResponseWriter
	ctx    context.Context
	format *taskFormat
	from   *taskCollector
	begun  bool
	err    error     // of the connection
	until  time.Time // the server's deadline, or zero
	left   uint64
}

// taskPatience is how long a client may take for what fits into no buffer. One that is
// stopped would keep its place among the collectors for ever. Tests replace it.
var taskPatience = time.Minute

// patient sets the deadline of what is written next.
func (a *taskAnswer) patient() {
	d := time.Now().Add(taskPatience)
	if !a.until.IsZero() && a.until.Before(d) {
		d = a.until
	}
	http.NewResponseController(a.ResponseWriter).SetWriteDeadline(d)
}

func (a *taskAnswer) begin() {
	if a.begun {
		return
	}
	a.begun = true
	h := a.Header()
	h.Set("Content-Type", a.format.contentType)
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s"`, a.format.file))
	for _, name := range []string{tasksHeader, tasksLostHeader, tasksLeftOutHeader} {
		h.Add("Trailer", name)
	}
	a.WriteHeader(http.StatusOK)
}

func (a *taskAnswer) Write(p []byte) (int, error) {
	if err := a.ctx.Err(); err != nil {
		return 0, err // nobody is there to read it
	}
	a.begin()
	a.patient()
	n, err := a.ResponseWriter.Write(p)
	if err != nil {
		a.err = err
	}
	return n, err
}

// flush sends what there is, so that who reads a stream of records sees them soon.
func (a *taskAnswer) flush() {
	if a.begun {
		a.patient()
		http.NewResponseController(a.ResponseWriter).Flush()
	}
}

// Tasks responds with a page on what the tasks of the program have cost, where they
// waited and why they were slow; see [runtime/task]. With the format GET parameter it
// responds with their records: format=tasks as a file for "go tool pmu tasks",
// json as lines of JSON, and pprof as a profile of the time of tasks. Then seconds=N collects the records of the next N seconds
// instead of those that there are, kind=K only tasks of the kind, slow=1 only slow ones, and
// slow=20ms only those that took at least that long. public=1 leaves out what the program
// has noted. trace=ID and span=ID ask for the page on one task.
// The package initialization registers it as /debug/pprof/tasks.
func Tasks(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	req, err := parseTaskRequest(r)
	if err != nil {
		serveEventError(w, err)
		return
	}
	if req.format != nil && r.Method != http.MethodHead {
		serveTaskFormat(w, r, req)
		return
	}
	if req.format != nil {
		serveEventError(w, &requestError{http.StatusMethodNotAllowed, "records of tasks are asked for with GET"})
		return
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	var page bytes.Buffer
	if err := writeTaskPage(&page, r.Context(), req); err != nil {
		if r.Context().Err() == nil {
			serveEventError(w, err)
		}
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(page.Bytes())
}
