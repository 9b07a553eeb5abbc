// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"
)

// This file is the conversion to OpenTelemetry's OTLP. Messages are those of
// opentelemetry/proto/trace/v1/trace.proto and common/v1/common.proto in
// github.com/open-telemetry/opentelemetry-proto, their JSON form that of "JSON Protobuf
// Encoding" in docs/specification.md there: IDs are hexadecimal, enumerations numbers,
// and numbers of 64 bits strings. Attributes that OpenTelemetry has names for
// (github.com/open-telemetry/semantic-conventions) have these; others begin with "go.".

type (
	otlpSpan struct {
		TraceID           string      `json:"traceId"`
		SpanID            string      `json:"spanId"`
		ParentSpanID      string      `json:"parentSpanId,omitempty"`
		Flags             uint32      `json:"flags,omitempty"`
		Name              string      `json:"name"`
		Kind              int         `json:"kind"`
		Start             otlpTime    `json:"startTimeUnixNano"`
		End               otlpTime    `json:"endTimeUnixNano"`
		Attributes        otlpAttrs   `json:"attributes,omitempty"`
		DroppedAttributes uint32      `json:"droppedAttributesCount,omitempty"`
		Events            []otlpEvent `json:"events,omitempty"`
		DroppedEvents     uint32      `json:"droppedEventsCount,omitempty"`
		Status            otlpStatus  `json:"status"`
	}

	otlpEvent struct {
		Time       otlpTime  `json:"timeUnixNano"`
		Name       string    `json:"name"`
		Attributes otlpAttrs `json:"attributes,omitempty"`
	}

	otlpStatus struct {
		Code int `json:"code,omitempty"`
	}

	otlpResource struct {
		Attributes otlpAttrs `json:"attributes,omitempty"`
	}

	otlpScope struct {
		Name string `json:"name"`
	}

	otlpAttrs []otlpAttr

	otlpAttr struct {
		Key   string    `json:"key"`
		Value otlpValue `json:"value"`
	}

	// otlpValue is an AnyValue: one of these is set.
	otlpValue struct {
		String *string    `json:"stringValue,omitempty"`
		Bool   *bool      `json:"boolValue,omitempty"`
		Int    *otlpInt   `json:"intValue,omitempty"`
		Array  *otlpArray `json:"arrayValue,omitempty"`
	}

	otlpArray struct {
		Values []otlpValue `json:"values"`
	}

	otlpInt int64

	// otlpTime is in ns since 1970, which in OTLP is not negative.
	otlpTime int64
)

func (i otlpInt) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatInt(int64(i), 10)), nil
}

func (t otlpTime) MarshalJSON() ([]byte, error) { return otlpInt(max(t, 0)).MarshalJSON() }

// Enumerations of trace.proto.
const (
	otlpInternal = 1 // Span.SpanKind
	otlpServer   = 2
	otlpClient   = 3

	otlpError = 2 // Status.StatusCode

	otlpSampled    = 1 << 0 // SpanFlags: W3C's sampled,
	otlpKnowRemote = 1 << 8 // and whether
	otlpRemote     = 1 << 9 // the parent is on another server
)

// WriteOTLP writes tasks as the body of a request to export traces, in OTLP's JSON
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
func WriteOTLP(w io.Writer, tasks iter.Seq[*Task]) error {
	type id struct {
		id    uint16
		name  string
		pid   int
		start int64
	}
	type resource struct {
		server *Server
		tasks  []*Task
	}
	type call struct {
		trace TraceID
		span  SpanID
	}
	var order []*resource
	resources := make(map[id]*resource)
	remote := make(map[call]string) // of client tasks, which their parents know
	for t := range tasks {
		s := t.Server
		if s == nil {
			s = new(Server)
		}
		key := id{s.ID, s.Name, s.PID, s.Start}
		r := resources[key]
		if r == nil {
			r = &resource{server: s}
			resources[key] = r
			order = append(order, r)
		}
		r.tasks = append(r.tasks, t)
		for i := range t.Calls {
			if c := &t.Calls[i]; c.Remote != "" {
				remote[call{t.Trace, c.Span}] = c.Remote
			}
		}
	}

	o := otlpWriter{w: bufio.NewWriter(w)}
	o.text(`{"resourceSpans":[`)
	for i, r := range order {
		o.separate(i)
		o.text(`{"resource":`)
		o.value(otlpResource{serverAttrs(r.server)})
		o.text(`,"scopeSpans":[{"scope":`)
		o.value(otlpScope{"runtime/task"})
		o.text(`,"spans":[`)
		n := 0
		for _, t := range r.tasks {
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

// An otlpWriter keeps the first error, and the bufio.Writer keeps its own.
type otlpWriter struct {
	w   *bufio.Writer
	err error
}

func (o *otlpWriter) text(s string) { o.w.WriteString(s) }

// separate comes before element i of a list. There is an element on each line.
func (o *otlpWriter) separate(i int) {
	if i > 0 {
		o.text(",")
	}
	o.text("\n")
}

func (o *otlpWriter) value(v any) {
	b, err := json.Marshal(v)
	if o.err == nil {
		o.err = err
	}
	o.w.Write(b)
}

func (a *otlpAttrs) value(key string, v otlpValue) { *a = append(*a, otlpAttr{key, v}) }

func (a *otlpAttrs) string(key, s string) {
	if s != "" {
		a.value(key, otlpValue{String: &s})
	}
}

// int adds a number, of anything, if it is not zero.
func (a *otlpAttrs) int(key string, n int64) {
	if n != 0 {
		i := otlpInt(n)
		a.value(key, otlpValue{Int: &i})
	}
}

func (a *otlpAttrs) bool(key string, b bool) {
	if b {
		a.value(key, otlpValue{Bool: &b})
	}
}

func (a *otlpAttrs) frame(prefix string, f Frame) {
	a.string(prefix+"code.function.name", f.Func)
	a.string(prefix+"code.file.path", f.File)
	a.int(prefix+"code.line.number", int64(f.Line))
}

func serverAttrs(s *Server) (a otlpAttrs) {
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

// otlpName returns a part's or an event's name as one of an attribute.
func otlpName(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "_") }

// taskSpans returns the spans of a task, its own one first. Remote is the server that it
// calls, if it does and that is known.
func taskSpans(t *Task, remote string) iter.Seq[*otlpSpan] {
	trace, span := otlpIDs(t)
	at := func(d time.Duration) otlpTime { return otlpTime(t.Start + int64(d)) }
	s := &otlpSpan{
		TraceID: trace.String(),
		SpanID:  span.String(),
		Name:    named(t.Kind),
		Kind:    otlpInternal,
		Start:   at(0),
		End:     at(max(t.Wall, 0)),
	}
	if t.Parent != (SpanID{}) {
		s.ParentSpanID = t.Parent.String()
		s.Flags |= otlpKnowRemote
		if t.Flags&ServerOf != 0 {
			s.Flags |= otlpRemote
		}
	}
	if t.Flags&Sampled != 0 {
		s.Flags |= otlpSampled
	}
	switch {
	case t.Flags&ServerOf != 0:
		s.Kind = otlpServer
	case t.Flags&Client != 0:
		s.Kind = otlpClient
	}
	if t.Flags&Failed != 0 {
		s.Status.Code = otlpError
	}

	a := &s.Attributes
	for p, d := range t.Parts {
		a.int("go.time."+otlpName(Part(p).String()), int64(d))
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
		n := otlpInt(min(c.Value, math.MaxInt64))
		a.value(key, otlpValue{Int: &n}) // 0 is a count
		if c.Enabled != c.Running {
			a.int(key+".enabled", int64(c.Enabled))
			a.int(key+".running", int64(c.Running))
		}
	}
	a.int("go.goroutine", int64(t.Goroutine))
	a.int("go.goroutines", t.Goroutines)
	a.int("go.outliving", t.Outliving)
	for _, f := range AllFlags {
		if f.Flag&(Failed|Client|ServerOf|Sampled) == 0 { // OTLP has these
			a.bool("go."+f.Column, t.Flags&f.Flag != 0)
		}
	}
	a.int("go.threshold", int64(t.Threshold))
	if t.Usual != nil {
		a.int("go.usual.wall", int64(t.Usual.Wall))
		a.int("go.usual.tasks", t.Usual.Tasks)
	}
	a.string("go.trace.file", t.Trigger)
	a.int("go.lost.regions", t.Lost.Regions)
	a.int("go.lost.calls", t.Lost.Calls)
	a.int("go.lost.records", t.Lost.Before)
	if remote != "" {
		host, port := remote, ""
		if i := strings.LastIndexByte(remote, ':'); i >= 0 && i > strings.LastIndexByte(remote, ']') {
			host, port = remote[:i], remote[i+1:]
		}
		a.string("server.address", strings.Trim(host, "[]"))
		if n, err := strconv.ParseUint(port, 10, 16); err == nil {
			a.int("server.port", int64(n))
		}
	}
	noteAttrs(a, t.Notes)
	s.DroppedAttributes = clamp32(t.Lost.Notes)

	for i := range t.Timeline {
		if w := &t.Timeline[i]; w.Region == "" {
			s.Events = append(s.Events, otlpEvent{at(w.Start), waitName(w), waitAttrs(w)})
		}
	}
	s.DroppedEvents = clamp32(t.Lost.Stretches + t.Lost.Memory)

	return func(yield func(*otlpSpan) bool) {
		if !yield(s) {
			return
		}
		for i := range t.Timeline {
			w := &t.Timeline[i]
			if w.Region == "" {
				continue
			}
			g := &otlpSpan{
				TraceID:      trace.String(),
				SpanID:       otlpSpanID(trace, span, i).String(),
				ParentSpanID: span.String(),
				Flags:        otlpKnowRemote | s.Flags&otlpSampled,
				Name:         w.Region,
				Kind:         otlpInternal,
				Start:        at(w.Start),
				End:          at(max(w.Start, w.End)),
			}
			g.Attributes.int("go.goroutine", int64(w.Goroutine))
			if !yield(g) {
				return
			}
		}
	}
}

func clamp32(n int64) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) }

// noteAttrs adds notes to the attributes. Keys that have been used have "note." before them.
func noteAttrs(a *otlpAttrs, notes []Note) {
	used := make(map[string]bool)
	for _, x := range *a {
		used[x.Key] = true
	}
	at := make(map[string]int)
	for _, n := range notes {
		if i, ok := at[n.Key]; ok {
			v := &(*a)[i].Value
			if v.Array == nil {
				*v = otlpValue{Array: &otlpArray{[]otlpValue{*v}}}
			}
			v.Array.Values = append(v.Array.Values, otlpValue{String: &n.Value})
			continue
		}
		key, value := n.Key, otlpValue{String: &n.Value}
		if key == "status" {
			if code, err := strconv.ParseUint(n.Value, 10, 16); err == nil {
				i := otlpInt(code)
				key, value = "http.response.status_code", otlpValue{Int: &i}
			}
		}
		for key == "" || used[key] {
			key = "note." + key
		}
		used[key] = true
		at[n.Key] = len(*a)
		a.value(key, value)
	}
}

// waitName is the name of the event of what is not a region.
func waitName(w *Stretch) string {
	if w.OnThread {
		return "on thread: " + w.Part.String()
	}
	return "waited: " + w.Part.String()
}

func waitAttrs(w *Stretch) (a otlpAttrs) {
	a.int("go.goroutine", int64(w.Goroutine))
	a.int("go.wait.duration", int64(w.Wake-w.Start))
	a.int("go.wait.runnable", int64(w.End-w.Wake))
	a.string("go.wait.reason", w.Reason)
	if f, ok := userFrame(w.Stack); ok {
		a.frame("", f)
	}
	a.string("code.stacktrace", stackText(w.Stack))
	a.int("go.waker.goroutine", int64(w.Waker.Goroutine))
	if w.Waker.Span != (SpanID{}) {
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
func userFrame(stack []Frame) (Frame, bool) {
	for _, f := range stack {
		if !strings.HasPrefix(f.Func, "runtime.") && !strings.HasPrefix(f.Func, "sync.") && !strings.HasPrefix(f.Func, "internal/") {
			return f, true
		}
	}
	if len(stack) > 0 {
		return stack[0], true
	}
	return Frame{}, false
}

// stackText returns a stack as in tracebacks.
func stackText(stack []Frame) string {
	var b strings.Builder
	for _, f := range stack {
		fmt.Fprintf(&b, "%s(...)\n\t%s:%d\n", f.Func, f.File, f.Line)
	}
	return b.String()
}

// otlpIDs returns the IDs of a task. OTLP does not allow those that are zero.
func otlpIDs(t *Task) (TraceID, SpanID) {
	trace, span := t.Trace, t.Span
	if trace != (TraceID{}) && span != (SpanID{}) {
		return trace, span
	}
	var s Server
	if t.Server != nil {
		s = *t.Server
	}
	h := fnv.New128a()
	fmt.Fprintf(h, "%d %q %d %d %d %q %d %d", s.ID, s.Name, s.PID, s.Start, t.Goroutine, t.Kind, t.Start, t.Wall)
	sum := h.Sum(nil)
	if trace == (TraceID{}) {
		copy(trace[:], sum)
		trace[0] |= 1
	}
	if span == (SpanID{}) {
		copy(span[:], sum[8:])
		span[0] |= 1
	}
	return trace, span
}

// otlpSpanID returns the ID of the span of a region: of stretch i of a task. It is the
// same each time, so that exporting a record twice adds nothing.
func otlpSpanID(trace TraceID, span SpanID, i int) (id SpanID) {
	h := fnv.New64a()
	h.Write(trace[:])
	h.Write(span[:])
	fmt.Fprint(h, i)
	h.Sum(id[:0])
	if id == (SpanID{}) {
		id[0] = 1
	}
	return id
}
