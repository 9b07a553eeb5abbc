// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"cmp"
	"fmt"
	"runtime/pprof"
	"slices"
	"strings"
	"time"
)

// A Cause is something that a task's end, or a request's, had to wait for: a reason why it
// took as long as it did.
type Cause struct {
	Task  *Record
	Name  string        // its name in the table of causes: "mutex"
	Time  time.Duration // for so long, on the critical path
	More  time.Duration // so much more than usual; Time if that is not known
	N     int           // how many waits; 0 if that is not known
	Frame Frame         // where the longest of them was; see [Place]

	text string   // has timeMark for Time
	wait *Stretch // the longest wait for a mutex, if it is one
}

// String returns the cause in words: "runnable 12 ms behind task \"report\"".
func (c Cause) String() string {
	return strings.ReplaceAll(c.text, timeMark, Duration(c.Time))
}

// reason returns the cause in words that are the same for all tasks that it is the same for:
// without times and numbers.
func (c *Cause) reason() string {
	switch c.Name {
	case "page faults":
		return "page faults"
	case "running":
		if strings.HasSuffix(c.text, "more than usual") {
			return "running more than usual"
		}
		return "running"
	case "mutex":
		if x, _, ok := c.handover(); ok {
			return "mutex held by " + x.from.anyone()
		}
	}
	return withoutTime.Replace(c.text)
}

var withoutTime = strings.NewReplacer("waited "+timeMark+" for ", "", ", "+timeMark, "", " "+timeMark, "")

// Bounds for page faults, beside time: no event says how long one took.
const (
	minFaults     = 64                     // so many above the usual, and twice as many
	maxFaultTakes = 100 * time.Microsecond // on average, at most, or it was something else
)

// minUsual is for how few tasks an average is no measure.
const minUsual = 8

// faultEvents are the events that are page faults, by [pprof.Events].
var faultEvents = []string{"page-faults", "minor-faults", "major-faults"}

// Causes returns what t's end had to wait for, the main reason first. Only time on the
// critical path counts: what is not on it has not made the task slow. If it is known what
// such tasks use, then the order is by time above that, in the same part of the time;
// otherwise, and among equals, it is by time. What was shorter than a bound, or than 1 %
// of the task, is left out, unless there is nothing else.
//
// Waits that are too short for the timeline, and the time without a CPU, are known as sums
// over goroutines. Of these counts what [Record.Latency] has of them.
//
// What the end of a call had to wait for is the answer, or the way there and back: the server's
// record says which.
func (t *Record) Causes() []Cause { return t.causesBy(new(walker)) }

func (t *Record) causesBy(w *walker) []Cause {
	if t.Flags&Client != 0 && len(t.Timeline) == 0 && t.Wall > 0 {
		return t.answer()
	}
	return t.causesOn(w.criticalPath(t), t.Wall)
}

// answer returns the cause of a call.
func (t *Record) answer() []Cause {
	gs := &groups{t: t, by: make(map[groupKey]*group)}
	g := gs.add(rowNamed("way or answer"), Elsewhere, t.Wall, 1, func(string) string { return timeMark })
	g.More = t.Wall
	if t.Usual != nil && t.Usual.Tasks >= minUsual {
		g.More = max(0, t.Wall-max(0, t.Usual.Wall))
	}
	return []Cause{g.Cause}
}

// elsewhere adds a segment in which no goroutine worked for t.
func (t *Record) elsewhere(gs *groups, s *Segment) {
	name := "elsewhere"
	if t.Flags&Client != 0 {
		name = "way or answer"
		if s.Node != nil && len(s.Node.callees(-1)) > 0 {
			name = "way"
		}
	}
	d := s.End - s.Start
	g := gs.add(rowNamed(name), Elsewhere, d, 1, func(string) string { return timeMark })
	g.longest = max(g.longest, d)
}

// Causes is [Record.Causes] for the critical path of a request.
func (r *Request) Causes() []Cause {
	var nodes []*Node
	of := make(map[*Node][]Segment)
	for _, s := range r.CriticalPath() {
		if of[s.Node] == nil {
			nodes = append(nodes, s.Node)
		}
		of[s.Node] = append(of[s.Node], s)
	}
	var list []Cause
	for _, n := range nodes {
		list = append(list, n.Task.causesOn(of[n], r.Wall)...)
	}
	slices.SortStableFunc(list, compareCauses)
	return list
}

func compareCauses(a, b Cause) int {
	return cmp.Or(cmp.Compare(b.More, a.More), cmp.Compare(b.Time, a.Time), cmp.Compare(a.text, b.text))
}

// A group is a cause while it is summed up.
type group struct {
	Cause
	row     *causeRow
	longest time.Duration
	parts   Latency
}

type groups struct {
	t    *Record
	list []*group
	by   map[groupKey]*group
}

// A groupKey is a row's name, and the text.
type groupKey struct{ name, text string }

func (gs *groups) add(row *causeRow, part Part, d time.Duration, n int, word func(string) string) *group {
	text := row.expand(word)
	key := groupKey{row.name, text}
	g := gs.by[key]
	if g == nil {
		g = &group{Cause: Cause{Task: gs.t, Name: row.name, text: text}, row: row}
		gs.by[key] = g
		gs.list = append(gs.list, g)
	}
	g.Time += d
	g.N += n
	g.parts[part] += d
	return g
}

// causesOn is Causes for those segments of a path that are t's. The bounds are for a path
// of length all.
func (t *Record) causesOn(path []Segment, all time.Duration) []Cause {
	gs := &groups{t: t, by: make(map[groupKey]*group)}
	var pieces [3]piece
	for i := range path {
		s := &path[i]
		if s.Stretch == nil {
			if s.Part == Elsewhere {
				t.elsewhere(gs, s)
			}
			continue
		}
		pieces = s.pieces()
		for j := range pieces {
			p := &pieces[j]
			if p.time <= 0 {
				continue
			}
			row := rowOf(p)
			g := gs.add(row, p.part(), p.time, 1, p.word)
			if p.time > g.longest {
				g.longest = p.time
				g.Frame = s.Frame
				if row.name == "mutex" {
					g.wait = s.Stretch
				}
			}
		}
	}
	running := t.unrecorded(gs, path)
	t.usual(gs)
	t.running(gs, running)

	var list []Cause
	bound := all / 100
	for _, g := range gs.list {
		if g.Time >= max(g.row.bound, bound) {
			list = append(list, g.Cause)
		}
	}
	if list == nil && len(gs.list) > 0 {
		most := gs.list[0]
		for _, g := range gs.list {
			if compareCauses(g.Cause, most.Cause) < 0 {
				most = g
			}
		}
		if most.Time > 0 {
			list = append(list, most.Cause)
		}
	}
	slices.SortFunc(list, compareCauses)
	return list
}

// unrecorded adds what is not in the timeline, but in the task's account, and returns for how
// long it ran.
func (t *Record) unrecorded(gs *groups, path []Segment) (running time.Duration) {
	gaps := t.gaps(path)
	for p, d := range gaps {
		p := Part(p)
		if p == pprof.TimeRunning || d <= 0 {
			continue
		}
		name := "short waits"
		switch {
		case p == pprof.TimePreempted:
			name = "preempted"
		case p == pprof.TimeGC: // Most that a task does for the collector is to assist it.
			name = "GC assist"
		case p == pprof.TimeRunnable:
			name = "runnable"
		case p == Elsewhere:
			name = "elsewhere"
		case len(t.Timeline) == 0 && t.Flags&Slow == 0:
			name = "waits"
		}
		gs.add(rowNamed(name), p, d, 0, func(w string) string {
			return map[string]string{"time": timeMark, "part": p.String()}[w]
		})
	}
	return gaps[pprof.TimeRunning]
}

// usual sets More of all causes. What is usual in a part is known for all of its causes
// together; what is above is the longest one's first.
func (t *Record) usual(gs *groups) {
	usual, known := t.usualLatency()
	if !known {
		for _, g := range gs.list {
			g.More = g.Time
		}
		return
	}
	for p := range usual {
		var list []*group
		var path time.Duration
		for _, g := range gs.list {
			if g.parts[p] > 0 {
				list = append(list, g)
				path += g.parts[p]
			}
		}
		slices.SortStableFunc(list, func(a, b *group) int { return cmp.Compare(b.parts[p], a.parts[p]) })
		more := max(0, path-usual[p])
		for _, g := range list {
			d := min(more, g.parts[p])
			g.More += d
			more -= d
		}
	}
}

// running adds what the task ran for on the path, and page faults if these may be why.
func (t *Record) running(gs *groups, d time.Duration) {
	if d <= 0 {
		return
	}
	usual, known := t.usualLatency()
	more := max(0, d-usual[pprof.TimeRunning])
	row := rowNamed("running")
	faults := t.faults(more)
	if faults != "" {
		row = rowNamed("page faults")
	}
	words := map[string]string{"time": timeMark, "faults": faults}
	time := d
	if known && (more > 0 || faults != "") {
		time = more
		words["all"] = Duration(d)
	}
	if time == d && (faults == "" || !known) {
		row = &causeRow{name: row.name, text: row.plain, bound: row.bound}
	}
	g := gs.add(row, pprof.TimeRunning, time, 0, func(w string) string { return words[w] })
	g.More = more
}

// faults says how many page faults there were, if these are so many that they may be why
// the task ran longer than usual, by d; otherwise it returns the empty string.
func (t *Record) faults(d time.Duration) string {
	for i, e := range t.Events {
		if !slices.Contains(faultEvents, e) || i >= len(t.Count) {
			continue
		}
		n, usual, text := t.Count[i].Value, uint64(0), ""
		if t.Usual != nil && t.Usual.Tasks >= minUsual && i < len(t.Usual.Count) {
			usual = t.Usual.Count[i].Value
			text = fmt.Sprintf(" (usual %d)", usual)
		}
		if n < usual || n-usual < minFaults || n-usual < usual || n-usual < uint64(d/maxFaultTakes) {
			continue
		}
		return fmt.Sprintf("%s %d%s", e, n, text)
	}
	return ""
}
