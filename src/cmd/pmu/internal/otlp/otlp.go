// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package otlp converts the records of tasks to OpenTelemetry's protocol.
package otlp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"internal/taskrecord"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"
)

// Write writes tasks as the body of a request to export traces, in OTLP's JSON
// encoding (content type application/json, path /v1/traces). It reads all tasks first, so
// as to write each server once: export many tasks in several requests, of less than 20 MiB,
// which receivers limit them to.
//
// Each server is a resource, each task a span, of kind server or client if the task is one,
// and internal otherwise. Regions in the timeline are spans too, children of the task's;
// what the goroutines waited for are events of the task's span. Times are in ns. Notes
// are attributes named by their keys, arrays if a key was noted more than once. The note
// "status" is http.response.status_code if it is a number. Tasks without IDs get some
// that depend on what is known of them.
//
// Attributes that OpenTelemetry has names for (github.com/open-telemetry/semantic-conventions)
// have these; others begin with "go.".
func Write(w io.Writer, tasks iter.Seq[*taskrecord.Record]) error {
	list, remote := byProcess(tasks)
	o := writer{w: bufio.NewWriter(w)}
	o.text(`{"resourceSpans":[`)
	for i, p := range list {
		o.separate(i)
		o.text(`{"resource":`)
		o.value(resource{serverAttrs(p.server)})
		o.text(`,"scopeSpans":[{"scope":`)
		o.value(scope{"runtime/task"})
		o.text(`,"spans":[`)
		n := 0
		for _, t := range p.tasks {
			for s := range taskSpans(t, remote[call{t.Trace, t.Span}]) {
				o.separate(n)
				o.value(s)
				n++
			}
		}
		o.text(`]}]}`)
	}
	o.text("]}\n")
	if o.err != nil {
		return o.err
	}
	return o.w.Flush()
}

// A process is a server and its tasks.
type process struct {
	server *taskrecord.Server
	tasks  []*taskrecord.Record
}

// A call is a client's task.
type call struct {
	trace taskrecord.TraceID
	span  taskrecord.SpanID
}

// byProcess returns the processes in the order of their first tasks, and which server each call
// was of: the parents of calls know.
func byProcess(tasks iter.Seq[*taskrecord.Record]) (list []*process, remote map[call]string) {
	type id struct {
		id    uint16
		name  string
		pid   int
		start int64
	}
	processes := make(map[id]*process)
	remote = make(map[call]string)
	for t := range tasks {
		s := t.Server
		if s == nil {
			s = new(taskrecord.Server)
		}
		key := id{s.ID, s.Name, s.PID, s.Start}
		p := processes[key]
		if p == nil {
			p = &process{server: s}
			processes[key] = p
			list = append(list, p)
		}
		p.tasks = append(p.tasks, t)
		for i := range t.Calls {
			if c := &t.Calls[i]; c.Remote != "" {
				remote[call{t.Trace, c.Span}] = c.Remote
			}
		}
	}
	return list, remote
}

// A writer keeps the first error, and the bufio.Writer keeps its own.
type writer struct {
	w   *bufio.Writer
	err error
}

func (o *writer) text(s string) { o.w.WriteString(s) }

// separate comes before element i of a list. There is an element on each line.
func (o *writer) separate(i int) {
	if i > 0 {
		o.text(",")
	}
	o.text("\n")
}

func (o *writer) value(v any) {
	b, err := json.Marshal(v)
	if o.err == nil {
		o.err = err
	}
	o.w.Write(b)
}

func serverAttrs(s *taskrecord.Server) (a attrs) {
	name := s.Name
	if name == "" {
		name = "unknown_service" // as OpenTelemetry wants it
	}
	a.string("service.name", name)
	// An instance is a process, and not what has the same PID after it.
	a.string("service.instance.id", fmt.Sprintf("%d-%d", s.PID, s.Start))
	a.int("process.pid", int64(s.PID))
	a.int("go.server.id", int64(s.ID))
	a.string("telemetry.sdk.language", "go")
	return a
}

// attrName returns a part's or an event's name as one of an attribute.
func attrName(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "_") }

// named returns a name in UTF-8, as protocol buffers demand it, which is not empty: that
// means that there is none.
func named(s string) string {
	if s == "" {
		return "(no name)"
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

// taskSpans returns the spans of a task, its own one first. Remote is the server that it
// calls, if it does and that is known.
func taskSpans(t *taskrecord.Record, remote string) iter.Seq[*span] {
	return func(yield func(*span) bool) {
		own := taskSpan(t, remote)
		if !yield(own) {
			return
		}
		for i := range t.Timeline {
			if s := &t.Timeline[i]; s.Region != "" && !yield(regionSpan(t, i, own)) {
				return
			}
		}
	}
}

// taskSpan returns the span of a task without its regions.
func taskSpan(t *taskrecord.Record, remote string) *span {
	trace, id := idsOf(t)
	s := &span{
		TraceID: trace.String(),
		SpanID:  id.String(),
		Name:    named(t.Kind),
		Kind:    kindInternal,
		Start:   timeIn(t, 0),
		End:     timeIn(t, max(t.Wall, 0)),
	}
	if !t.Parent.IsZero() {
		s.ParentSpanID = t.Parent.String()
		s.Flags |= flagKnowRemote
		if t.Flags&taskrecord.ServerOf != 0 {
			s.Flags |= flagRemote
		}
	}
	if t.Flags&taskrecord.Sampled != 0 {
		s.Flags |= flagSampled
	}
	switch {
	case t.Flags&taskrecord.ServerOf != 0:
		s.Kind = kindServer
	case t.Flags&taskrecord.Client != 0:
		s.Kind = kindClient
	}
	if t.Flags&taskrecord.Failed != 0 {
		s.Status.Code = statusError
	}
	s.Attributes.account(t)
	s.Attributes.rest(t)
	s.Attributes.remote(remote)
	s.Attributes.notes(t.Notes)
	s.DroppedAttributes = clamp32(t.Lost.Notes)
	for i := range t.Timeline {
		if w := &t.Timeline[i]; w.Region == "" {
			s.Events = append(s.Events, event{timeIn(t, w.Start), waitName(w), waitAttrs(w)})
		}
	}
	s.DroppedEvents = clamp32(t.Lost.Stretches + t.Lost.Memory)
	return s
}

// regionSpan returns the span of the region that is stretch i of t, whose span is parent.
func regionSpan(t *taskrecord.Record, i int, parent *span) *span {
	trace, id := idsOf(t)
	w := &t.Timeline[i]
	s := &span{
		TraceID:      parent.TraceID,
		SpanID:       regionID(trace, id, i).String(),
		ParentSpanID: parent.SpanID,
		Flags:        flagKnowRemote | parent.Flags&flagSampled,
		Name:         w.Region,
		Kind:         kindInternal,
		Start:        timeIn(t, w.Start),
		End:          timeIn(t, max(w.Start, w.End)),
	}
	s.Attributes.int("go.goroutine", int64(w.Goroutine))
	return s
}

// timeIn returns when something was that was d after a task's start.
func timeIn(t *taskrecord.Record, d time.Duration) unixNano { return unixNano(t.Start + int64(d)) }

// account adds where the time went, and what was counted. What all goroutines have used is go.time, and what
// the end of the task had to wait for, without the calls of servers, is go.latency.
func (a *attrs) account(t *taskrecord.Record) {
	if t.Flags&taskrecord.Client == 0 { // for a call no goroutine works
		for p, d := range (&taskrecord.Node{Task: t, Call: -1}).Latency(nil)[0].Parts {
			a.int("go.latency."+attrName(taskrecord.PartName(taskrecord.Part(p))), int64(d))
		}
	}
	for p, d := range t.Parts {
		a.int("go.time."+attrName(taskrecord.Part(p).String()), int64(d))
	}
	a.int("go.measured", int64(t.Measured))
	a.int("go.switches", t.Switches)
	a.int("go.preemptions", t.Preemptions)
	a.int("go.migrations", t.Migrations)
	counts := make(map[string]bool)
	for i, c := range t.Count[:min(len(t.Count), len(t.Events))] {
		key := "go.count." + t.Events[i]
		if counts[key] {
			continue // keys are unique
		}
		counts[key], counts[key+".enabled"], counts[key+".running"] = true, true, true
		n := number(min(c.Value, math.MaxInt64))
		a.value(key, value{Int: &n}) // 0 is a count
		if c.Enabled != c.Running {
			a.int(key+".enabled", int64(c.Enabled))
			a.int(key+".running", int64(c.Running))
		}
	}
}

// rest adds what a record has beside accounts, notes and times.
func (a *attrs) rest(t *taskrecord.Record) {
	a.int("go.goroutine", int64(t.Goroutine))
	a.int("go.goroutines", t.Goroutines)
	a.int("go.outliving", t.Outliving)
	for _, f := range taskrecord.AllFlags {
		if f.Flag&(taskrecord.Failed|taskrecord.Client|taskrecord.ServerOf|taskrecord.Sampled) == 0 { // OTLP has these
			a.bool("go."+f.Column, t.Flags&f.Flag != 0)
		}
	}
	a.int("go.threshold", int64(t.Threshold))
	if t.Usual != nil {
		a.int("go.usual.wall", int64(t.Usual.Wall))
		a.int("go.usual.tasks", t.Usual.Tasks)
	}
	for _, f := range taskrecord.AllLost {
		if f.Attr != "" {
			a.int(f.Attr, *f.Of(&t.Lost))
		}
	}
}

// remote adds the address of a server, if there is one.
func (a *attrs) remote(address string) {
	if address == "" {
		return
	}
	host, port := address, ""
	if i := strings.LastIndexByte(address, ':'); i >= 0 && i > strings.LastIndexByte(address, ']') {
		host, port = address[:i], address[i+1:]
	}
	a.string("server.address", strings.Trim(host, "[]"))
	if n, err := strconv.ParseUint(port, 10, 16); err == nil {
		a.int("server.port", int64(n))
	}
}

func clamp32(n int64) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) }

// notes adds notes. Keys that have been used have "note." before them.
func (a *attrs) notes(notes []taskrecord.Note) {
	used := make(map[string]bool)
	for _, x := range *a {
		used[x.Key] = true
	}
	at := make(map[string]int)
	for _, n := range notes {
		if i, ok := at[n.Key]; ok {
			v := &(*a)[i].Value
			if v.Array == nil {
				*v = value{Array: &array{[]value{*v}}}
			}
			v.Array.Values = append(v.Array.Values, value{String: &n.Value})
			continue
		}
		key, v := n.Key, value{String: &n.Value}
		if key == "status" {
			if code, err := strconv.ParseUint(n.Value, 10, 16); err == nil {
				i := number(code)
				key, v = "http.response.status_code", value{Int: &i}
			}
		}
		for key == "" || used[key] {
			key = "note." + key
		}
		used[key] = true
		at[n.Key] = len(*a)
		a.value(key, v)
	}
}

// waitName is the name of the event of what is not a region.
func waitName(w *taskrecord.Stretch) string {
	if w.OnThread {
		return "on thread: " + w.Part.String()
	}
	return "waited: " + w.Part.String()
}

func waitAttrs(w *taskrecord.Stretch) (a attrs) {
	a.int("go.goroutine", int64(w.Goroutine))
	a.int("go.wait.duration", int64(w.Wake-w.Start))
	a.int("go.wait.runnable", int64(w.End-w.Wake))
	a.string("go.wait.reason", w.Reason)
	if f, ok := userFrame(w.Stack); ok {
		a.frame("", f)
	}
	a.string("code.stacktrace", stackText(w.Stack))
	a.int("go.waker.goroutine", int64(w.Waker.Goroutine))
	if w.Waker.Span != (taskrecord.SpanID{}) {
		a.string("go.waker.span", w.Waker.Span.String())
	}
	a.string("go.waker.kind", w.Waker.Kind)
	if f, ok := userFrame(w.Waker.Stack); ok {
		a.frame("go.waker.", f)
	}
	a.string("go.behind.kind", w.BehindKind)
	a.int("go.behind.duration", int64(w.Behind))
	a.int("go.stopped.duration", int64(w.Stopped))
	a.string("go.stopped.reason", w.StopReason)
	return a
}

// userFrame returns the frame of a stack that says most about where it is: the
// innermost one that is not of the runtime or of package sync, which everything waits in.
func userFrame(stack []taskrecord.Frame) (taskrecord.Frame, bool) {
	for _, f := range stack {
		if !strings.HasPrefix(f.Func, "runtime.") && !strings.HasPrefix(f.Func, "sync.") && !strings.HasPrefix(f.Func, "internal/") {
			return f, true
		}
	}
	if len(stack) > 0 {
		return stack[0], true
	}
	return taskrecord.Frame{}, false
}

// stackText returns a stack as in tracebacks.
func stackText(stack []taskrecord.Frame) string {
	var b strings.Builder
	for _, f := range stack {
		fmt.Fprintf(&b, "%s(...)\n\t%s:%d\n", f.Func, f.File, f.Line)
	}
	return b.String()
}

// idsOf returns the IDs of a task. OTLP does not allow those that are zero.
func idsOf(t *taskrecord.Record) (taskrecord.TraceID, taskrecord.SpanID) {
	trace, span := t.Trace, t.Span
	if trace != (taskrecord.TraceID{}) && span != (taskrecord.SpanID{}) {
		return trace, span
	}
	var s taskrecord.Server
	if t.Server != nil {
		s = *t.Server
	}
	h := fnv.New128a()
	fmt.Fprintf(h, "%d %q %d %d %d %q %d %d", s.ID, s.Name, s.PID, s.Start, t.Goroutine, t.Kind, t.Start, t.Wall)
	sum := h.Sum(nil)
	if trace == (taskrecord.TraceID{}) {
		copy(trace[:], sum)
		trace[0] |= 1
	}
	if span == (taskrecord.SpanID{}) {
		copy(span[:], sum[8:])
		span[0] |= 1
	}
	return trace, span
}

// regionID returns the ID of the span of a region: of stretch i of a task. It is the
// same each time, so that exporting a record twice adds nothing.
func regionID(trace taskrecord.TraceID, span taskrecord.SpanID, i int) (id taskrecord.SpanID) {
	h := fnv.New64a()
	h.Write(trace[:])
	h.Write(span[:])
	fmt.Fprint(h, i)
	h.Sum(id[:0])
	if id == (taskrecord.SpanID{}) {
		id[0] = 1
	}
	return id
}
