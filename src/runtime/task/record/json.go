// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package record

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime/pprof"
	"time"
)

// This file is the JSON form of records: an object a line, whose fields are the columns
// of a table in a database. The names of columns are stable. Columns are added at times,
// and never change their meaning; [ParseJSON] ignores those that it does not know.
//
// All columns are there in each line, empty ones too, for databases that look at some
// lines to find out what there is. Times that end in _ns are in nanoseconds.

// jsonTask is the line of a task.
type jsonTask struct {
	TraceID      string `json:"trace_id"`       // 32 hexadecimal digits
	SpanID       string `json:"span_id"`        // 16
	ParentSpanID string `json:"parent_span_id"` // 16, or empty
	Kind         string `json:"kind"`

	StartTime string        `json:"start_time"` // RFC 3339, UTC: start_ns for people
	Start     int64         `json:"start_ns"`   // since 1970
	Wall      time.Duration `json:"wall_ns"`

	jsonFlags
	Flags Flags `json:"flags"` // those above as a number

	ServerID     uint16   `json:"server_id"`
	ServerName   string   `json:"server_name"`
	ServerPID    int      `json:"server_pid"`
	ServerEvents []string `json:"server_events"`
	ServerStart  int64    `json:"server_start_ns"` // since 1970

	Before         []jsonClock `json:"clock_before"`
	BeforeOverflow bool        `json:"clock_before_overflow"`
	After          []jsonClock `json:"clock_after"`
	AfterOverflow  bool        `json:"clock_after_overflow"`

	jsonUsage
	Goroutine  uint64 `json:"goroutine"`
	Goroutines int64  `json:"goroutines"`

	Events   []string       `json:"events"` // the keys of counts, in their order
	Regions  []jsonRegion   `json:"regions"`
	Notes    []jsonNote     `json:"notes"`
	Calls    []jsonCall     `json:"calls"`
	Timeline []jsonStretch  `json:"timeline"`
	Outlived []jsonOutlived `json:"outlived"`

	Outliving int64 `json:"outliving"`

	LostStretches     int64         `json:"lost_stretches"`
	LostStretchesTime time.Duration `json:"lost_stretches_ns"`
	LostMemory        int64         `json:"lost_memory"`
	LostRegions       int64         `json:"lost_regions"`
	LostCalls         int64         `json:"lost_calls"`
	LostNotes         int64         `json:"lost_notes"`
	LostBefore        int64         `json:"lost_before"`

	Threshold time.Duration `json:"threshold_ns"`
	Usual     *jsonUsual    `json:"usual"` // or null
	Trigger   string        `json:"trigger"`
}

// jsonFlags are flags as columns.
type jsonFlags struct {
	Sampled   bool `json:"sampled"`
	Slow      bool `json:"slow"`
	Failed    bool `json:"failed"`
	Client    bool `json:"client"`
	ServerOf  bool `json:"server"`
	Late      bool `json:"late"`
	Uncounted bool `json:"uncounted"`

	EpochChange bool `json:"epoch_change"`
	Early       bool `json:"early"`
}

func flagsJSON(f Flags) jsonFlags {
	return jsonFlags{
		Sampled:   f&Sampled != 0,
		Slow:      f&Slow != 0,
		Failed:    f&Failed != 0,
		Client:    f&Client != 0,
		ServerOf:  f&ServerOf != 0,
		Late:      f&Late != 0,
		Uncounted: f&Uncounted != 0,

		EpochChange: f&EpochChange != 0,
		Early:       f&Early != 0,
	}
}

// jsonUsage is a usage as columns. Counts, and for how long their events were enabled and
// counted, are by event.
type jsonUsage struct {
	Running      time.Duration `json:"running_ns"`
	Preempted    time.Duration `json:"preempted_ns"`
	Runnable     time.Duration `json:"runnable_ns"`
	Syscall      time.Duration `json:"syscall_ns"`
	C            time.Duration `json:"c_ns"`
	Chan         time.Duration `json:"chan_ns"`
	Select       time.Duration `json:"select_ns"`
	Mutex        time.Duration `json:"mutex_ns"`
	Sync         time.Duration `json:"sync_ns"`
	Network      time.Duration `json:"network_ns"`
	Sleep        time.Duration `json:"sleep_ns"`
	Coroutine    time.Duration `json:"coroutine_ns"`
	GC           time.Duration `json:"gc_ns"`
	StopTheWorld time.Duration `json:"stop_the_world_ns"`
	Other        time.Duration `json:"other_ns"`

	Measured    time.Duration `json:"measured_ns"`
	Switches    int64         `json:"switches"`
	Preemptions int64         `json:"preemptions"`
	Migrations  int64         `json:"migrations"`

	Counts       map[string]uint64        `json:"counts"`
	Enabled      map[string]time.Duration `json:"counts_enabled_ns"`
	CountRunning map[string]time.Duration `json:"counts_running_ns"`
}

// part returns the column of a part.
func (u *jsonUsage) part(p Part) *time.Duration {
	return [NumParts]*time.Duration{
		pprof.TimeRunning:      &u.Running,
		pprof.TimePreempted:    &u.Preempted,
		pprof.TimeRunnable:     &u.Runnable,
		pprof.TimeSyscall:      &u.Syscall,
		pprof.TimeC:            &u.C,
		pprof.TimeChan:         &u.Chan,
		pprof.TimeSelect:       &u.Select,
		pprof.TimeMutex:        &u.Mutex,
		pprof.TimeSync:         &u.Sync,
		pprof.TimeNetwork:      &u.Network,
		pprof.TimeSleep:        &u.Sleep,
		pprof.TimeCoroutine:    &u.Coroutine,
		pprof.TimeGC:           &u.GC,
		pprof.TimeStopTheWorld: &u.StopTheWorld,
		pprof.TimeOther:        &u.Other,
	}[p]
}

type (
	jsonClock struct {
		Server uint16 `json:"server"`
		Count  uint32 `json:"count"`
	}

	jsonUsual struct {
		Tasks int64         `json:"tasks"`
		Wall  time.Duration `json:"wall_ns"`
		jsonUsage
	}

	jsonRegion struct {
		Name string        `json:"name"`
		N    int64         `json:"n"`
		Wall time.Duration `json:"wall_ns"`
		Max  time.Duration `json:"max_ns"`
		jsonUsage
	}

	jsonNote struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	}

	jsonCall struct {
		SpanID string        `json:"span_id"`
		Kind   string        `json:"kind"`
		Start  time.Duration `json:"start_ns"` // since the task's start
		Wall   time.Duration `json:"wall_ns"`
		Remote string        `json:"remote"`
		jsonFlags
		Flags Flags `json:"flags"`
	}

	jsonStretch struct {
		Goroutine  uint64        `json:"goroutine"`
		Start      time.Duration `json:"start_ns"` // since the task's start, and so on
		Wake       time.Duration `json:"wake_ns"`
		End        time.Duration `json:"end_ns"`
		Region     string        `json:"region"`
		Part       string        `json:"part"` // empty in a region
		Reason     string        `json:"reason"`
		OnThread   bool          `json:"on_thread"`
		Stack      []jsonFrame   `json:"stack"`
		Waker      *jsonWaker    `json:"waker"` // or null
		BehindKind string        `json:"behind_kind"`
		Behind     time.Duration `json:"behind_ns"`
		Stopped    time.Duration `json:"stopped_ns"`
		StopReason string        `json:"stop_reason"`
	}

	jsonWaker struct {
		Goroutine uint64      `json:"goroutine"`
		SpanID    string      `json:"span_id"`
		Kind      string      `json:"kind"`
		Stack     []jsonFrame `json:"stack"`
	}

	jsonFrame struct {
		Func string `json:"func"`
		File string `json:"file"`
		Line int    `json:"line"`
	}

	jsonOutlived struct {
		ID      uint64    `json:"id"`
		Func    string    `json:"func"`
		Created jsonFrame `json:"created"`
		Part    string    `json:"part"`
	}
)

// AppendJSON appends to b the record of a task as a JSON object without line ends, to
// which the caller adds one: a line of a file that databases load as it is. Columns are
// described in this file's source. Strings are escaped for HTML; bytes in them that are
// not UTF-8 become U+FFFD, since JSON has none. If Events has a name twice, the last
// count remains.
func AppendJSON(b []byte, t *Task) []byte {
	s := t.Server
	if s == nil {
		s = new(Server)
	}
	j := jsonTask{
		TraceID:      hex.EncodeToString(t.Trace[:]),
		SpanID:       hex.EncodeToString(t.Span[:]),
		ParentSpanID: spanJSON(t.Parent),
		Kind:         t.Kind,

		StartTime: time.Unix(0, t.Start).UTC().Format(time.RFC3339Nano),
		Start:     t.Start,
		Wall:      t.Wall,
		jsonFlags: flagsJSON(t.Flags),
		Flags:     t.Flags,

		ServerID:     s.ID,
		ServerName:   s.Name,
		ServerPID:    s.PID,
		ServerEvents: notNil(s.Events),
		ServerStart:  s.Start,

		Before:         clockJSON(&t.Before),
		BeforeOverflow: t.Before.Overflow,
		After:          clockJSON(&t.After),
		AfterOverflow:  t.After.Overflow,

		jsonUsage:  usageJSON(&t.Usage, t.Events),
		Goroutine:  t.Goroutine,
		Goroutines: t.Goroutines,

		Events: notNil(t.Events),
		Regions: each(t.Regions, func(g *Region) jsonRegion {
			return jsonRegion{g.Name, g.N, g.Wall, g.Max, usageJSON(&g.Usage, t.Events)}
		}),
		Notes: each(t.Notes, func(n *Note) jsonNote { return jsonNote(*n) }),
		Calls: each(t.Calls, func(c *Call) jsonCall {
			return jsonCall{spanJSON(c.Span), c.Kind, c.Start, c.Wall, c.Remote, flagsJSON(c.Flags), c.Flags}
		}),
		Timeline: each(t.Timeline, stretchJSON),
		Outlived: each(t.Outlived, func(g *Goroutine) jsonOutlived {
			return jsonOutlived{g.ID, g.Func, jsonFrame(g.Created), g.Part.String()}
		}),
		Outliving: t.Outliving,

		LostStretches:     t.Lost.Stretches,
		LostStretchesTime: t.Lost.StretchesTime,
		LostMemory:        t.Lost.Memory,
		LostRegions:       t.Lost.Regions,
		LostCalls:         t.Lost.Calls,
		LostNotes:         t.Lost.Notes,
		LostBefore:        t.Lost.Before,

		Threshold: t.Threshold,
		Trigger:   t.Trigger,
	}
	if u := t.Usual; u != nil {
		j.Usual = &jsonUsual{u.Tasks, u.Wall, usageJSON(&u.Usage, t.Events)}
	}
	line, err := json.Marshal(&j)
	if err != nil {
		panic("record: " + err.Error()) // there is nothing in j that could not be marshaled
	}
	return append(b, line...)
}

// maxJSONEvents is how many events ParseJSON reads. Far fewer can be counted at a time.
const maxJSONEvents = 1000

// ParseJSON returns the task of a line that [AppendJSON] has written, with a Server of its
// own. The task is as it was but for bytes that were not UTF-8. Empty slices are nil.
func ParseJSON(line []byte) (*Task, error) {
	var j jsonTask
	if err := json.Unmarshal(line, &j); err != nil {
		return nil, fmt.Errorf("record: a line that is not the JSON of a task: %w", err)
	}
	p := jsonParser{}
	if len(j.Events) > maxJSONEvents {
		// Each usage has a count of each event, so that their memory is a product.
		p.fail("events", fmt.Sprintf("%d events; at most %d can be read", len(j.Events), maxJSONEvents))
		return nil, p.err
	}
	t := &Task{
		Server: &Server{ID: j.ServerID, Name: j.ServerName, PID: j.ServerPID, Events: orNil(j.ServerEvents), Start: j.ServerStart},

		Kind:  j.Kind,
		Flags: j.Flags,
		Start: j.Start,
		Wall:  j.Wall,

		Before:     p.clock("clock_before", j.Before, j.BeforeOverflow),
		After:      p.clock("clock_after", j.After, j.AfterOverflow),
		Usage:      p.usage(&j.jsonUsage, j.Events),
		Goroutine:  j.Goroutine,
		Goroutines: j.Goroutines,

		Events: orNil(j.Events),
		Regions: orNil(each(j.Regions, func(g *jsonRegion) Region {
			return Region{g.Name, g.N, g.Wall, g.Max, p.usage(&g.jsonUsage, j.Events)}
		})),
		Notes: orNil(each(j.Notes, func(n *jsonNote) Note { return Note(*n) })),
		Calls: orNil(each(j.Calls, func(c *jsonCall) Call {
			return Call{p.span("calls.span_id", c.SpanID), c.Kind, c.Flags, c.Start, c.Wall, c.Remote}
		})),
		Timeline: orNil(each(j.Timeline, p.stretch)),
		Outlived: orNil(each(j.Outlived, func(g *jsonOutlived) Goroutine {
			return Goroutine{g.ID, g.Func, Frame(g.Created), p.part("outlived.part", g.Part)}
		})),
		Outliving: j.Outliving,

		Lost: Lost{
			Stretches:     j.LostStretches,
			StretchesTime: j.LostStretchesTime,
			Memory:        j.LostMemory,
			Regions:       j.LostRegions,
			Calls:         j.LostCalls,
			Notes:         j.LostNotes,
			Before:        j.LostBefore,
		},

		Threshold: j.Threshold,
		Trigger:   j.Trigger,
	}
	p.hex("trace_id", t.Trace[:], j.TraceID)
	p.hex("span_id", t.Span[:], j.SpanID)
	t.Parent = p.span("parent_span_id", j.ParentSpanID)
	if u := j.Usual; u != nil {
		t.Usual = &Usual{u.Tasks, u.Wall, p.usage(&u.jsonUsage, j.Events)}
	}
	if p.err != nil {
		return nil, p.err
	}
	return t, nil
}

// each returns what f makes of the elements of s. It is not nil.
func each[T, U any](s []T, f func(*T) U) []U {
	r := make([]U, len(s))
	for i := range s {
		r[i] = f(&s[i])
	}
	return r
}

func notNil[T any](s []T) []T {
	if s == nil {
		s = []T{}
	}
	return s
}

func orNil[T any](s []T) []T {
	if len(s) == 0 {
		s = nil
	}
	return s
}

func spanJSON(s SpanID) string {
	if s == (SpanID{}) {
		return ""
	}
	return hex.EncodeToString(s[:])
}

func clockJSON(c *Clock) []jsonClock {
	return each(c.Entry[:min(c.N, MaxClock)], func(e *ClockEntry) jsonClock { return jsonClock(*e) })
}

func usageJSON(u *Usage, events []string) jsonUsage {
	j := jsonUsage{
		Measured:     u.Measured,
		Switches:     u.Switches,
		Preemptions:  u.Preemptions,
		Migrations:   u.Migrations,
		Counts:       make(map[string]uint64),
		Enabled:      make(map[string]time.Duration),
		CountRunning: make(map[string]time.Duration),
	}
	for p, d := range u.Parts {
		*j.part(Part(p)) = d
	}
	for i, c := range u.Count[:min(len(u.Count), len(events))] {
		j.Counts[events[i]] = c.Value
		j.Enabled[events[i]] = c.Enabled
		j.CountRunning[events[i]] = c.Running
	}
	return j
}

func stretchJSON(s *Stretch) jsonStretch {
	j := jsonStretch{
		Goroutine:  s.Goroutine,
		Start:      s.Start,
		Wake:       s.Wake,
		End:        s.End,
		Region:     s.Region,
		Reason:     s.Reason,
		OnThread:   s.OnThread,
		Stack:      stackJSON(s.Stack),
		BehindKind: s.BehindKind,
		Behind:     s.Behind,
		Stopped:    s.Stopped,
		StopReason: s.StopReason,
	}
	if s.Region == "" {
		j.Part = s.Part.String()
	}
	if w := &s.Waker; w.Goroutine != 0 || w.Span != (SpanID{}) || w.Kind != "" || len(w.Stack) > 0 {
		j.Waker = &jsonWaker{w.Goroutine, spanJSON(w.Span), w.Kind, stackJSON(w.Stack)}
	}
	return j
}

func stackJSON(s []Frame) []jsonFrame {
	return each(s, func(f *Frame) jsonFrame { return jsonFrame(*f) })
}

// A jsonParser keeps the first error of what cannot be told by types.
type jsonParser struct{ err error }

func (p *jsonParser) fail(column, problem string) {
	if p.err == nil {
		p.err = fmt.Errorf("record: the JSON of a task: %s: %s", column, problem)
	}
}

func (p *jsonParser) hex(column string, dst []byte, s string) {
	if len(s) == 2*len(dst) {
		if _, err := hex.Decode(dst, []byte(s)); err == nil {
			return
		}
	}
	p.fail(column, fmt.Sprintf("%.100q is not of %d hexadecimal digits", s, 2*len(dst)))
}

func (p *jsonParser) span(column, s string) (id SpanID) {
	if s != "" {
		p.hex(column, id[:], s)
	}
	return id
}

// partNumbers are the parts by name.
var partNumbers = func() map[string]Part {
	m := make(map[string]Part)
	for p := range NumParts {
		m[p.String()] = p
	}
	return m
}()

func (p *jsonParser) part(column, s string) Part {
	n, ok := partNumbers[s]
	if !ok {
		p.fail(column, fmt.Sprintf("%.100q is not a part of a task's time", s))
	}
	return n
}

func (p *jsonParser) clock(column string, entries []jsonClock, overflow bool) Clock {
	c := Clock{Overflow: overflow}
	if len(entries) > MaxClock {
		p.fail(column, fmt.Sprintf("%d servers; at most %d are possible", len(entries), MaxClock))
		return c
	}
	for i, e := range entries {
		c.Entry[i] = ClockEntry(e)
	}
	c.N = uint8(len(entries))
	return c
}

func (p *jsonParser) usage(j *jsonUsage, events []string) Usage {
	u := Usage{
		Measured:    j.Measured,
		Switches:    j.Switches,
		Preemptions: j.Preemptions,
		Migrations:  j.Migrations,
	}
	for i := range u.Parts {
		u.Parts[i] = *j.part(Part(i))
	}
	if len(j.Counts) > 0 {
		for _, e := range events {
			u.Count = append(u.Count, Count{j.Counts[e], j.Enabled[e], j.CountRunning[e]})
		}
	}
	return u
}

func (p *jsonParser) stretch(j *jsonStretch) Stretch {
	s := Stretch{
		Goroutine:  j.Goroutine,
		Start:      j.Start,
		Wake:       j.Wake,
		End:        j.End,
		Region:     j.Region,
		Reason:     j.Reason,
		OnThread:   j.OnThread,
		Stack:      parseStack(j.Stack),
		BehindKind: j.BehindKind,
		Behind:     j.Behind,
		Stopped:    j.Stopped,
		StopReason: j.StopReason,
	}
	if j.Region == "" {
		s.Part = p.part("timeline.part", j.Part)
	}
	if w := j.Waker; w != nil {
		s.Waker = Waker{w.Goroutine, p.span("timeline.waker.span_id", w.SpanID), w.Kind, parseStack(w.Stack)}
	}
	return s
}

func parseStack(s []jsonFrame) []Frame {
	return orNil(each(s, func(f *jsonFrame) Frame { return Frame(*f) }))
}
