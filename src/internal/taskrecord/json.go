// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"encoding/hex"
	"fmt"
	"runtime/pprof"
	"time"
)

// This file is the JSON form of records: an object a line, whose fields are the columns
// of a table in a database. The names of columns are stable. Columns are added at times,
// and never change their meaning; [ParseJSON] ignores those that it does not know. The file
// schema.json describes them, and a test holds records against it.
//
// All columns are there in each line, empty ones too, for databases that look at some
// lines to find out what there is. Times that end in _ns are in nanoseconds.
//
// As in file.go, the same code reads and writes: jsonObject.task.

// AppendJSON appends to b the record of a task as a JSON object without line ends, to
// which the caller adds one: a line of a file that databases load as it is. Strings are
// escaped for HTML; bytes in them that are not UTF-8 become U+FFFD, since JSON has none.
// If Events has a name twice, the last count remains.
func AppendJSON(b []byte, t *Record) []byte {
	o := jsonObject{b: b}
	o.begin()
	o.task(t)
	o.end()
	return o.b
}

// maxJSONEvents is how many events ParseJSON reads. Far fewer can be counted at a time.
const maxJSONEvents = 1000

// ParseJSON returns the task of a line that [AppendJSON] has written, with a Server of its
// own. The task is as it was, except for bytes that were not UTF-8. Empty slices are nil. A part that
// a later version has is read as pprof.TimeOther where it is a value. Its columns are not known from
// others, and ignored.
//
// Unmarshal is [encoding/json.Unmarshal]. This package does not name it, as it would add a
// megabyte to each server, which only writes.
func ParseJSON(line []byte, unmarshal func(b []byte, v any) error) (*Record, error) {
	t := &Record{Server: new(Server)}
	in := &jsonInput{unmarshal: unmarshal}
	o := jsonObject{reading: true, in: in}
	o.parse(line)
	o.task(t)
	if in.err != nil {
		return nil, in.err
	}
	return t, nil
}

// A jsonObject is an object that is written, or one that is read. Its methods are given the
// variables that its fields are in; when reading, those of which there is no field stay as
// they are.
type jsonObject struct {
	reading bool

	b     []byte // what is written
	empty bool   // it has no field yet

	fields map[string]rawJSON // what is read
	in     *jsonInput
}

// A jsonInput is of all objects of a line that is read.
type jsonInput struct {
	unmarshal func(b []byte, v any) error
	err       error // the first one
}

// A rawJSON is a value that is not read yet.
type rawJSON []byte

func (r *rawJSON) UnmarshalJSON(b []byte) error {
	*r = append((*r)[:0], b...)
	return nil
}

func (o *jsonObject) fail(column, problem string) {
	if o.in.err == nil {
		o.in.err = fmt.Errorf("task: the JSON of a task: %s: %s", column, problem)
	}
}

func (o *jsonObject) begin() {
	o.b = append(o.b, '{')
	o.empty = true
}

func (o *jsonObject) end() { o.b = append(o.b, '}') }

func (o *jsonObject) parse(b []byte) { o.unmarshal("object", b, &o.fields) }

func (o *jsonObject) unmarshal(name string, b []byte, v any) {
	if err := o.in.unmarshal(b, v); err != nil && o.in.err == nil {
		o.in.err = fmt.Errorf("task: a line that is not the JSON of a task: %s: %w", name, err)
	}
}

// key begins a field that is written.
func (o *jsonObject) key(name string) {
	if !o.empty {
		o.b = append(o.b, ',')
	}
	o.empty = false
	o.b = append(o.b, '"')
	o.b = append(o.b, name...)
	o.b = append(o.b, '"', ':')
}

// value is a field of one value.
func (o *jsonObject) value(name string, v any) {
	if !o.reading {
		o.key(name)
		o.marshal(v)
	} else if b, ok := o.fields[name]; ok {
		o.unmarshal(name, b, v)
	}
}

// strings is a list of strings, never null.
func (o *jsonObject) strings(name string, s *[]string) {
	jsonList(o, name, s, nil)
}

// hex is a string of hexadecimal digits. It may be empty, for zeros, if optional.
func (o *jsonObject) hex(name string, dst []byte, optional bool) {
	var s string
	if !o.reading {
		if s = hex.EncodeToString(dst); optional && zero(dst) {
			s = ""
		}
		o.value(name, &s)
		return
	}
	o.value(name, &s)
	if s == "" && optional {
		return
	}
	if len(s) == 2*len(dst) {
		if _, err := hex.Decode(dst, []byte(s)); err == nil {
			return
		}
	}
	o.fail(name, fmt.Sprintf("%.100q is not of %d hexadecimal digits", s, 2*len(dst)))
}

func zero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// object is an object, whose fields are those that f gives; null if it is not there.
func (o *jsonObject) object(name string, there *bool, f func(o *jsonObject)) {
	if !o.reading {
		o.key(name)
		if !*there {
			o.b = append(o.b, "null"...)
			return
		}
		o.inner(nil, f)
		return
	}
	b, ok := o.fields[name]
	if *there = ok && string(b) != "null"; *there {
		o.inner(b, f)
	}
}

// inner reads b, or writes an object.
func (o *jsonObject) inner(b []byte, f func(o *jsonObject)) {
	in := jsonObject{reading: o.reading, b: o.b, in: o.in}
	if o.reading {
		in.parse(b)
		f(&in)
		return
	}
	in.begin()
	f(&in)
	in.end()
	o.b = in.b
}

// jsonList is a list of objects whose fields are those that f gives, or of what package json
// reads and writes if f is nil. It is never null. When reading, an empty one is nil.
func jsonList[T any](o *jsonObject, name string, s *[]T, f func(o *jsonObject, v *T)) {
	if !o.reading {
		o.key(name)
		o.b = append(o.b, '[')
		for i := range *s {
			if i > 0 {
				o.b = append(o.b, ',')
			}
			if f == nil {
				o.marshal(&(*s)[i])
			} else {
				o.inner(nil, func(o *jsonObject) { f(o, &(*s)[i]) })
			}
		}
		o.b = append(o.b, ']')
		return
	}
	var list []rawJSON
	o.value(name, &list)
	for _, b := range list {
		var v T
		if f == nil {
			o.unmarshal(name, b, &v)
		} else {
			o.inner(b, func(o *jsonObject) { f(o, &v) })
		}
		*s = append(*s, v)
	}
}

// task gives all fields of a task.
// It is long because it is the format: a line for each field, in the line's order.
func (o *jsonObject) task(t *Record) {
	s := t.Server
	if s == nil {
		s = new(Server)
	}
	o.hex("trace_id", t.Trace[:], false)
	o.hex("span_id", t.Span[:], false)
	o.hex("parent_span_id", t.Parent[:], true)
	o.value("kind", &t.Kind)

	if !o.reading { // for people
		at := time.Unix(0, t.Start).UTC().Format(time.RFC3339Nano)
		o.value("start_time", &at)
	}
	o.value("start_ns", &t.Start)
	o.value("wall_ns", &t.Wall)
	o.flags(&t.Flags)

	o.value("server_id", &s.ID)
	o.value("server_name", &s.Name)
	o.value("server_pid", &s.PID)
	o.strings("server_events", &s.Events)
	o.value("server_start_ns", &s.Start)
	o.value("server_boot", &s.Boot)

	o.clock("clock_before", &t.Before)
	o.clock("clock_after", &t.After)

	if o.reading { // of which usages have counts
		o.strings("events", &t.Events)
		if len(t.Events) > maxJSONEvents {
			// Each usage has a count of each event, so that their memory is a product.
			o.fail("events", fmt.Sprintf("%d events; at most %d can be read", len(t.Events), maxJSONEvents))
			return
		}
	}
	o.usage(&t.Usage, t.Events)
	if !o.reading { // it follows from the rest
		there, l := true, t.Latency()
		o.object("latency", &there, func(o *jsonObject) { o.parts(l[:]) })
	}
	o.value("goroutine", &t.Goroutine)
	o.value("goroutines", &t.Goroutines)
	ended := true
	o.object("ender", &ended, func(o *jsonObject) {
		o.value("goroutine", &t.Ender.Goroutine)
		o.parts(t.Ender.Parts[:])
	})
	if !o.reading {
		o.strings("events", &t.Events)
	}
	o.lists(t)
	o.value("outliving", &t.Outliving)
	o.lost(&t.Lost)
	o.value("threshold_ns", &t.Threshold)
	there := t.Usual != nil
	o.object("usual", &there, func(o *jsonObject) {
		if o.reading {
			t.Usual = new(Usual)
		}
		o.value("tasks", &t.Usual.Tasks)
		o.value("wall_ns", &t.Usual.Wall)
		o.usage(&t.Usual.Usage, t.Events)
	})
	if !o.reading {
		o.value("trigger", new(string)) // columns stay; no record has ever had one
	}
}

// lists gives what a task may have several of, without events.
func (o *jsonObject) lists(t *Record) {
	jsonList(o, "regions", &t.Regions, func(o *jsonObject, g *RegionSum) {
		o.value("name", &g.Name)
		o.value("n", &g.N)
		o.value("wall_ns", &g.Wall)
		o.value("max_ns", &g.Max)
		o.usage(&g.Usage, t.Events)
	})
	jsonList(o, "notes", &t.Notes, func(o *jsonObject, n *Note) {
		o.value("key", &n.Key)
		o.value("value", &n.Value)
	})
	jsonList(o, "calls", &t.Calls, (*jsonObject).call)
	jsonList(o, "timeline", &t.Timeline, (*jsonObject).stretch)
	jsonList(o, "outlived", &t.Outlived, func(o *jsonObject, g *Goroutine) {
		o.value("id", &g.ID)
		o.value("func", &g.Func)
		there := true
		o.object("created", &there, func(o *jsonObject) { o.frame(&g.Created) })
		o.part(&g.Part)
	})
}

// flags gives each as a column, and all as a number, which is what is read.
func (o *jsonObject) flags(f *Flags) {
	if !o.reading {
		for _, x := range AllFlags {
			on := *f&x.Flag != 0
			o.value(x.Column, &on)
		}
	}
	o.value("flags", f)
}

func (o *jsonObject) clock(name string, c *Clock) {
	var entries []ClockEntry
	if !o.reading {
		entries = c.entries()
	}
	jsonList(o, name, &entries, func(o *jsonObject, e *ClockEntry) {
		o.value("server", &e.Server)
		o.value("count", &e.Count)
	})
	o.value(name+"_overflow", &c.Overflow)
	if o.reading {
		if len(entries) > MaxClock {
			o.fail(name, fmt.Sprintf("%d servers; at most %d are possible", len(entries), MaxClock))
			return
		}
		c.N = uint8(copy(c.Entry[:], entries))
	}
}

// parts gives each part as a column.
func (o *jsonObject) parts(parts []time.Duration) {
	for p := range parts {
		o.value(partColumnsNS[p], &parts[p])
	}
}

// usage gives the parts, and counts of events with those times for which they were enabled and
// counted.
func (o *jsonObject) usage(u *Usage, events []string) {
	o.parts(u.Parts[:])
	o.value("measured_ns", &u.Measured)
	o.value("switches", &u.Switches)
	o.value("preemptions", &u.Preemptions)
	o.value("migrations", &u.Migrations)

	if !o.reading && len(events) == 0 { // mostly
		for _, name := range []string{"counts", "counts_enabled_ns", "counts_running_ns"} {
			o.key(name)
			o.b = append(o.b, '{', '}')
		}
		return
	}
	counts, enabled, running := map[string]uint64{}, map[string]time.Duration{}, map[string]time.Duration{}
	for i, c := range u.Count[:min(len(u.Count), len(events))] {
		counts[events[i]], enabled[events[i]], running[events[i]] = c.Value, c.Enabled, c.Running
	}
	o.value("counts", &counts)
	o.value("counts_enabled_ns", &enabled)
	o.value("counts_running_ns", &running)
	if o.reading && len(counts) > 0 {
		for _, e := range events {
			u.Count = append(u.Count, pprof.CounterValue{Value: counts[e], Enabled: enabled[e], Running: running[e]})
		}
	}
}

func (o *jsonObject) call(c *Call) {
	o.hex("span_id", c.Span[:], true)
	o.value("kind", &c.Kind)
	o.value("start_ns", &c.Start)
	o.value("wall_ns", &c.Wall)
	o.value("remote", &c.Remote)
	o.value("goroutine", &c.Goroutine)
	o.value("ender_goroutine", &c.Ender)
	o.flags(&c.Flags)
}

func (o *jsonObject) stretch(s *Stretch) {
	o.value("goroutine", &s.Goroutine)
	o.value("start_ns", &s.Start)
	o.value("wake_ns", &s.Wake)
	o.value("end_ns", &s.End)
	o.value("region", &s.Region)
	if s.Region == "" {
		o.part(&s.Part)
	} else if !o.reading {
		o.value("part", new(string))
	}
	o.value("reason", &s.Reason)
	o.value("on_thread", &s.OnThread)
	o.stack(&s.Stack)
	w := &s.Waker
	there := w.Goroutine != 0 || w.Span != (SpanID{}) || w.Kind != "" || len(w.Stack) > 0
	o.object("waker", &there, func(o *jsonObject) {
		o.value("goroutine", &w.Goroutine)
		o.hex("span_id", w.Span[:], true)
		o.value("kind", &w.Kind)
		o.stack(&w.Stack)
	})
	o.value("behind_kind", &s.BehindKind)
	o.value("behind_ns", &s.Behind)
	o.value("stopped_ns", &s.Stopped)
	o.value("stop_reason", &s.StopReason)
}

// part is a part by its name. One that this program does not know is read as pprof.TimeOther, as in files.
func (o *jsonObject) part(p *Part) {
	var name string
	if !o.reading {
		name = p.String()
	}
	o.value("part", &name)
	if o.reading {
		n, ok := partNumbers[name]
		if !ok {
			n = pprof.TimeOther
		}
		*p = n
	}
}

func (o *jsonObject) stack(s *[]Frame) { jsonList(o, "stack", s, (*jsonObject).frame) }

func (o *jsonObject) frame(f *Frame) {
	o.value("func", &f.Func)
	o.value("file", &f.File)
	o.value("line", &f.Line)
}

func (o *jsonObject) lost(l *Lost) {
	for i := range AllLost {
		o.value(AllLost[i].Column, AllLost[i].Of(l))
	}
}
