// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"cmp"
	"fmt"
	"path"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Hazard is something that a task's end, or a request's, had to wait for: a reason why it
// took as long as it did.
type Hazard struct {
	Task  *Task
	Cause string        // its name in the table of causes: "mutex"
	Time  time.Duration // for so long, on the critical path
	More  time.Duration // so much more than usual; Time if that is not known
	N     int           // how many waits; 0 if that is not known
	Frame Frame         // where the longest of them was; see [Place]

	text string   // has timeMark for Time
	wait *Stretch // the longest wait for a mutex, if it is one
}

// String returns the hazard in words: "runnable 12 ms behind task \"report\"".
func (h Hazard) String() string {
	return strings.ReplaceAll(h.text, timeMark, inUnits(h.Time))
}

// reason returns the hazard in words that are the same for all tasks that it is the same for:
// without times and numbers.
func (h *Hazard) reason() string {
	switch h.Cause {
	case "page faults":
		return "page faults"
	case "running":
		if strings.HasSuffix(h.text, "more than usual") {
			return "running more than usual"
		}
		return "running"
	case "mutex":
		if x, _, ok := h.handover(); ok {
			return "mutex held by " + x.from.anyone()
		}
	}
	return withoutTime.Replace(h.text)
}

var withoutTime = strings.NewReplacer(", "+timeMark, "", " took "+timeMark, "", " "+timeMark, "")

// timeMark is in the text of a hazard where its time comes, which is known only when the
// waits of the same text are summed up. Nothing printable has it.
const timeMark = "\x00"

// A cause is a row of the table of causes.
type cause struct {
	name  string
	match func(p *piece) bool // nil if it is found otherwise
	// text is with {words} in it, which words expands: {time} is the time. Pieces of the
	// same cause and text are one hazard.
	text  string
	plain string        // the text if a word in that one is empty; then it is the name
	bound time.Duration // for less than that it is not reported
}

// causes is the table. A piece of the path is of the first cause that matches.
var causes = []cause{
	{"stop-the-world", func(p *piece) bool { return p.stop },
		"stop-the-world {time} ({stop})", "stop-the-world {time}", 100 * time.Microsecond},
	{"stops the world", in(pprof.TimeStopTheWorld),
		"stop-the-world {time} of its own at {place}", "stop-the-world {time} of its own", 100 * time.Microsecond},
	{"runnable behind", func(p *piece) bool { return p.behind },
		"runnable {time} behind task {behind}", "", 100 * time.Microsecond},
	{"runnable", in(pprof.TimeRunnable),
		"runnable {time}", "", 100 * time.Microsecond},
	{"mutex", in(pprof.TimeMutex),
		"mutex held by {waker}, {time}", "mutex {time} at {place}", 100 * time.Microsecond},
	{"GC assist", func(p *piece) bool {
		return p.seg.Part == pprof.TimeGC && strings.HasPrefix(p.seg.Reason, "GC assist")
	}, "GC assist {time}", "", 100 * time.Microsecond},
	{"GC", in(pprof.TimeGC),
		"garbage collector {time} ({reason})", "garbage collector {time}", 100 * time.Microsecond},
	{"way of a call", func(p *piece) bool { // what the server is not in, in a request's path
		return p.seg.Call >= 0 && p.seg.Node != nil && len(p.seg.Node.callees(p.seg.Call)) > 0
	}, "way of call {call} {time}", "", 100 * time.Microsecond},
	{"call", func(p *piece) bool { return p.seg.Call >= 0 },
		"call {call} took {time}", "", 100 * time.Microsecond},
	{"network", in(pprof.TimeNetwork),
		"network {time} at {place}", "network {time}", 100 * time.Microsecond},
	{"sleep", in(pprof.TimeSleep),
		"sleep {time} at {place}", "sleep {time}", 100 * time.Microsecond},
	{"syscall", in(pprof.TimeSyscall),
		"system call {time} at {place}", "system call {time}", 100 * time.Microsecond},
	{"C", in(pprof.TimeC),
		"C {time} at {place}", "C {time}", 100 * time.Microsecond},
	{"coroutine", in(pprof.TimeCoroutine),
		"coroutine {time} at {place}", "coroutine {time}", 100 * time.Microsecond},
	{"wait for a task", func(p *piece) bool {
		return p.seg.Stretch.Waker.Kind != ""
	}, "{reason} {time} at {place}, ended by {waker}", "{reason} {time}, ended by {waker}", 100 * time.Microsecond},
	{"wait", func(p *piece) bool { return true },
		"{reason} {time} at {place}", "{reason} {time}", 100 * time.Microsecond},

	// What is found without waits: see short waits, running.
	{"preempted", nil, "preempted by the operating system {time}", "", 100 * time.Microsecond},
	{"short waits", nil, "{part} {time}, each too short for the timeline", "", 100 * time.Microsecond},
	{"waits", nil, "{part} {time}", "", 100 * time.Microsecond}, // of a task without a timeline
	{"page faults", nil, "{faults}, running {time} more than usual", "{faults}, running {time}", 100 * time.Microsecond},
	{"way or answer", nil, "way or answer of the server {time}", "", 0},
	{"way", nil, "way to the server and back {time}", "", 100 * time.Microsecond},
	{"elsewhere", nil, "no goroutine at work {time}", "", 100 * time.Microsecond},
	{"running", nil, "running {all}, {time} more than usual", "running {time}", 100 * time.Microsecond},
}

func in(part Part) func(*piece) bool { return func(p *piece) bool { return p.seg.Part == part } }

// A piece is a part of a segment that is of one cause.
type piece struct {
	seg          *Segment
	time         time.Duration
	stop, behind bool
}

// pieces divides a segment. What the world was stopped for is the stop's, whatever the
// goroutine waited for meanwhile.
func (s *Segment) pieces() [3]piece {
	all := s.End - s.Start
	stopped := max(0, min(s.Stopped, all))
	behind := max(0, min(s.Behind, all-stopped))
	return [3]piece{
		{seg: s, time: stopped, stop: true},
		{seg: s, time: behind, behind: true},
		{seg: s, time: all - stopped - behind},
	}
}

// Bounds for page faults, beside time: no event says how long one took.
const (
	minFaults     = 64                     // so many above the usual, and twice as many
	maxFaultTakes = 100 * time.Microsecond // on average, at most, or it was something else
)

// minUsual is for how few tasks an average is no measure.
const minUsual = 8

// faultEvents are the events that are page faults, by [pprof.Events].
var faultEvents = []string{"page-faults", "minor-faults", "major-faults"}

// Hazards returns what t's end had to wait for, the main reason first. Only time on the
// critical path counts: what is not on it has not made the task slow. If it is known what
// such tasks use, then the order is by time above that, in the same part of the time;
// otherwise, and among equals, it is by time. What was shorter than a bound, or than 1 %
// of the task, is left out, unless there is nothing else.
//
// Waits that are too short for the timeline, and the time without a CPU, are known as sums
// over goroutines. Of these counts what [Task.Latency] has of them.
//
// What the end of a call had to wait for is the answer, or the way there and back: the server's
// record says which.
func (t *Task) Hazards() []Hazard { return t.hazardsBy(new(walker)) }

func (t *Task) hazardsBy(w *walker) []Hazard {
	if t.Flags&Client != 0 && len(t.Timeline) == 0 && t.Wall > 0 {
		return t.answer()
	}
	return t.hazards(w.criticalPath(t), t.Wall)
}

// answer returns the hazard of a call.
func (t *Task) answer() []Hazard {
	gs := &groups{t: t, by: make(map[groupKey]*group)}
	g := gs.add(causeNamed("way or answer"), Elsewhere, t.Wall, 1, func(string) string { return timeMark })
	g.More = t.Wall
	if t.Usual != nil && t.Usual.Tasks >= minUsual {
		g.More = max(0, t.Wall-max(0, t.Usual.Wall))
	}
	return []Hazard{g.Hazard}
}

// elsewhere adds a segment in which no goroutine worked for t.
func (t *Task) elsewhere(gs *groups, s *Segment) {
	name := "elsewhere"
	if t.Flags&Client != 0 {
		name = "way or answer"
		if s.Node != nil && len(s.Node.callees(-1)) > 0 {
			name = "way"
		}
	}
	d := s.End - s.Start
	g := gs.add(causeNamed(name), Elsewhere, d, 1, func(string) string { return timeMark })
	g.longest = max(g.longest, d)
}

// Hazards is [Task.Hazards] for the critical path of a request.
func (r *Request) Hazards() []Hazard {
	var nodes []*Node
	of := make(map[*Node][]Segment)
	for _, s := range r.CriticalPath() {
		if of[s.Node] == nil {
			nodes = append(nodes, s.Node)
		}
		of[s.Node] = append(of[s.Node], s)
	}
	var list []Hazard
	for _, n := range nodes {
		list = append(list, n.Task.hazards(of[n], r.Wall)...)
	}
	slices.SortStableFunc(list, compareHazards)
	return list
}

func compareHazards(a, b Hazard) int {
	return cmp.Or(cmp.Compare(b.More, a.More), cmp.Compare(b.Time, a.Time), cmp.Compare(a.text, b.text))
}

// A group is a hazard while it is summed up.
type group struct {
	Hazard
	cause   *cause
	longest time.Duration
	parts   Latency
}

type groups struct {
	t    *Task
	list []*group
	by   map[groupKey]*group
}

// A groupKey is a cause's name, and the text.
type groupKey struct{ name, text string }

func (gs *groups) add(c *cause, part Part, d time.Duration, n int, word func(string) string) *group {
	text := c.expand(word)
	key := groupKey{c.name, text}
	g := gs.by[key]
	if g == nil {
		g = &group{Hazard: Hazard{Task: gs.t, Cause: c.name, text: text}, cause: c}
		gs.by[key] = g
		gs.list = append(gs.list, g)
	}
	g.Time += d
	g.N += n
	g.parts[part] += d
	return g
}

// hazards is Hazards for those segments of a path that are t's. The bounds are for a path
// of length all.
func (t *Task) hazards(path []Segment, all time.Duration) []Hazard {
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
			c := causeOf(p)
			part := s.Part
			if p.stop {
				part = pprof.TimeStopTheWorld // not the usual wait's
			}
			g := gs.add(c, part, p.time, 1, p.word)
			if p.time > g.longest {
				g.longest = p.time
				g.Frame = s.Frame
				if c.name == "mutex" {
					g.wait = s.Stretch
				}
			}
		}
	}
	running := t.unrecorded(gs, path)
	t.usual(gs)
	t.running(gs, running)

	var list []Hazard
	bound := all / 100
	for _, g := range gs.list {
		if g.Time >= max(g.cause.bound, bound) {
			list = append(list, g.Hazard)
		}
	}
	if list == nil && len(gs.list) > 0 {
		most := gs.list[0]
		for _, g := range gs.list {
			if compareHazards(g.Hazard, most.Hazard) < 0 {
				most = g
			}
		}
		if most.Time > 0 {
			list = append(list, most.Hazard)
		}
	}
	slices.SortFunc(list, compareHazards)
	return list
}

func causeOf(p *piece) *cause {
	for i := range causes {
		if c := &causes[i]; c.match != nil && c.match(p) {
			return c
		}
	}
	panic("task: no cause matches") // the last one that has a match matches always
}

func causeNamed(name string) *cause {
	return &causes[slices.IndexFunc(causes, func(c cause) bool { return c.name == name })]
}

// unrecorded adds what is not in the timeline, but in the task's account, and returns for how
// long it ran.
func (t *Task) unrecorded(gs *groups, path []Segment) (running time.Duration) {
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
		gs.add(causeNamed(name), p, d, 0, func(w string) string {
			return map[string]string{"time": timeMark, "part": p.String()}[w]
		})
	}
	return gaps[pprof.TimeRunning]
}

// usual sets More of all hazards. What is usual in a part is known for all of its hazards
// together; what is above is the longest one's first.
func (t *Task) usual(gs *groups) {
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
func (t *Task) running(gs *groups, d time.Duration) {
	if d <= 0 {
		return
	}
	usual, known := t.usualLatency()
	more := max(0, d-usual[pprof.TimeRunning])
	c := causeNamed("running")
	faults := t.faults(more)
	if faults != "" {
		c = causeNamed("page faults")
	}
	words := map[string]string{"time": timeMark, "faults": faults}
	time := d
	if known && (more > 0 || faults != "") {
		time = more
		words["all"] = inUnits(d)
	}
	if time == d && (faults == "" || !known) {
		c = &cause{name: c.name, text: c.plain, bound: c.bound}
	}
	g := gs.add(c, pprof.TimeRunning, time, 0, func(w string) string { return words[w] })
	g.More = more
}

// faults says how many page faults there were, if these are so many that they may be why
// the task ran longer than usual, by d; otherwise it returns the empty string.
func (t *Task) faults(d time.Duration) string {
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

// expand returns the cause's text.
func (c *cause) expand(word func(string) string) string {
	if text := expand(c.text, word); text != "" {
		return text
	}
	if text := expand(c.plain, word); text != "" {
		return text
	}
	return c.name + " " + timeMark
}

// expand replaces the {words} in text. It returns the empty string if one is empty.
func expand(text string, word func(string) string) string {
	b := make([]byte, 0, 128)
	for {
		before, rest, found := strings.Cut(text, "{")
		b = append(b, before...)
		if !found {
			return string(b)
		}
		name, after, _ := strings.Cut(rest, "}")
		w := word(name)
		if w == "" {
			return ""
		}
		if w != timeMark {
			w = printable(w)
		}
		b = append(b, w...)
		text = after
	}
}

// word is what the word means for a wait.
func (p *piece) word(name string) string {
	s := p.seg.Stretch
	switch name {
	case "time":
		return timeMark
	case "place":
		return p.seg.Frame.at()
	case "reason":
		return cmp.Or(p.seg.Reason, p.seg.Part.String())
	case "stop":
		return s.StopReason
	case "behind":
		return strconv.Quote(s.BehindKind)
	case "waker":
		return s.Waker.text()
	case "call":
		c := &p.seg.Task.Calls[p.seg.Call]
		text := strconv.Quote(c.Kind)
		if c.Remote != "" {
			text += " of " + c.Remote
		}
		return text
	}
	return ""
}

// text returns who it was, and where, or the empty string if it was nobody.
func (k *Waker) text() string {
	if k.Kind == "" && k.Goroutine == 0 {
		return ""
	}
	h := holder{waiter{k.Span, k.Goroutine}, k.Kind, Place(k.Stack)}
	return h.text()
}

// at returns the place as messages have it: x.go:31.
func (f Frame) at() string {
	switch {
	case f.File != "":
		return path.Base(strings.ReplaceAll(f.File, `\`, "/")) + ":" + strconv.Itoa(f.Line)
	case f.Func != "":
		return f.Func
	}
	return ""
}

// waiters are the packages, with those below them, that wait on behalf of others: who is
// interested in where a program waits wants to know who called them.
var waiters = []string{
	"bufio", "context", "crypto", "database/sql", "internal", "io", "net", "os", "reflect",
	"runtime", "sync", "syscall", "time", "vendor",
}

// Place returns the frame of a stack that says most about where it is: the innermost one
// that is not in the runtime, nor in a package like sync, time or net. It is the innermost
// one if all are, and the zero Frame if there is none.
func Place(stack []Frame) Frame {
	for _, f := range stack {
		if !f.in(waiters) {
			return f
		}
	}
	if len(stack) == 0 {
		return Frame{}
	}
	return stack[0]
}

// in reports whether f is in one of the packages, or in one below them.
func (f Frame) in(packages []string) bool {
	// A package's path has dots in its last element at most, escaped.
	slash := strings.LastIndexByte(f.Func, '/') + 1
	name, _, _ := strings.Cut(f.Func[slash:], ".")
	pkg := f.Func[:slash] + name
	for _, p := range packages {
		if rest, ok := strings.CutPrefix(pkg, p); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

// Duration returns a duration with three digits, as texts have it: 7 ms, 12.3 ms, 850 us.
func Duration(d time.Duration) string { return inUnits(d) }

// inUnits returns a duration with three digits, as texts have it: 7 ms, 12.3 ms, 850 us.
func inUnits(d time.Duration) string {
	unit, name := time.Nanosecond, "ns"
	switch {
	case d >= time.Second || d <= -time.Second:
		unit, name = time.Second, "s"
	case d >= time.Millisecond || d <= -time.Millisecond:
		unit, name = time.Millisecond, "ms"
	case d >= time.Microsecond || d <= -time.Microsecond:
		unit, name = time.Microsecond, "us"
	}
	v := float64(d) / float64(unit)
	digits := 2
	switch {
	case v >= 99.95 || v <= -99.95:
		digits = 0
	case v >= 9.995 || v <= -9.995:
		digits = 1
	}
	n := strconv.FormatFloat(v, 'f', digits, 64)
	if digits > 0 {
		n = strings.TrimRight(strings.TrimRight(n, "0"), ".")
	}
	return n + " " + name
}

// printable returns s without what a terminal might obey: what comes from a file may hold
// anything.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return '\ufffd'
		}
		return r
	}, s)
}
