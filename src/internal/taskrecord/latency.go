// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"cmp"
	"math/bits"
	"runtime/pprof"
	"slices"
	"time"
)

// A task has a cost and a latency. The cost is what all of its goroutines have used, Record.Usage:
// a sum, which may be more than the time on the clock. The latency is that time, by what the end
// of the task had to wait for. A goroutine that nobody has waited for costs, and delays nothing.

// Elsewhere is the part of a latency in which no goroutine worked for the task: a goroutine had
// handed it over, and none had taken it up. A call of another server, for which no goroutine
// works, is there or on its way.
const Elsewhere = NumParts

// PartName returns the name of a part of a latency.
func PartName(p Part) string {
	if p == Elsewhere {
		return "elsewhere"
	}
	return p.String()
}

// A Latency is the time from a task's start to its end, by parts: by what the end had to wait
// for. Their sum is Record.Wall, exactly.
type Latency [NumParts + 1]time.Duration

// Latency returns where the time went that t has taken.
//
// It is that of the critical path; see [Record.CriticalPath]. Of a task without a timeline less is
// known: what the goroutine that ended it has waited for. The rest, before that one worked for
// the task, is by what the others have used.
func (t *Record) Latency() Latency {
	if len(t.Timeline) == 0 {
		return t.latency([]Segment{{Task: t, Goroutine: t.last(), End: max(0, t.Wall), Part: pprof.TimeRunning}})
	}
	return t.latency(t.CriticalPath())
}

// latency returns the parts of a path. What the world was stopped for is the stop's, as it is among
// the causes: the goroutine could not have gone on before that.
func (t *Record) latency(path []Segment) (l Latency) {
	for i := range path {
		switch s := &path[i]; {
		case s.Stretch != nil:
			for _, p := range s.pieces() {
				l[p.part()] += p.time
			}
		case s.Part == Elsewhere:
			l[Elsewhere] += s.End - s.Start
		}
	}
	gaps := t.gaps(path)
	for p, d := range gaps {
		l[p] += d
	}
	return l
}

// last returns the goroutine that ended the task.
func (t *Record) last() uint64 { return cmp.Or(t.Ender.Goroutine, t.Goroutine) }

// gaps returns what the time was in that a path has no stretches of: running, or in waits that
// are too short for the timeline. Both are known as sums: of the goroutine that ended the task,
// and of the others.
func (t *Record) gaps(path []Segment) Latency {
	left, rest := t.left()
	return t.gapsOf(path, &left, &rest)
}

// gapsOf is gaps, by what left has returned.
func (t *Record) gapsOf(path []Segment, left, rest *[NumParts]time.Duration) Latency {
	last := t.last()
	var own, others time.Duration
	for i := range path {
		switch s := &path[i]; {
		case s.Stretch != nil || s.Part == Elsewhere:
		case s.Goroutine == last:
			own += s.End - s.Start
		default:
			others += s.End - s.Start
		}
	}
	l := divide(own, left)
	// What the goroutine can't have had by itself was before it worked for the task.
	others += l[Elsewhere]
	l[Elsewhere] = 0
	for p, d := range divide(others, rest) {
		l[p] += d
	}
	return l
}

// left returns what the goroutine that ended t, and the others, have used that is not in the
// timeline.
func (t *Record) left() (own, others [NumParts]time.Duration) {
	own = t.Ender.Parts
	if own == [NumParts]time.Duration{} && t.Goroutines <= 1 {
		own = t.Parts
	}
	for p := range own {
		own[p] = length(own[p])
		others[p] = length(t.Parts[p]) - own[p]
	}
	last := t.last()
	for i := range t.Timeline {
		s := &t.Timeline[i]
		if s.Region != "" {
			continue
		}
		start := max(0, min(s.Start, t.Wall))
		end := max(start, min(s.End, t.Wall))
		wake := max(start, min(s.Wake, end))
		of := &others
		if s.Goroutine == last {
			of = &own
		}
		of[s.part()] -= wake - start
		of[pprof.TimeRunnable] -= end - wake
	}
	for p := range own {
		// Before it left the task for a child of it the goroutine was one of the others, to
		// the account.
		if own[p] < 0 {
			others[p] += own[p]
		}
		own[p], others[p] = length(own[p]), length(others[p])
	}
	return own, others
}

// part returns what the goroutine was in, in [Start, Wake), which is no time in which it ran.
func (s *Stretch) part() Part {
	if s.Part == pprof.TimeRunning || s.Part >= NumParts {
		return pprof.TimeOther
	}
	return s.Part
}

// divide divides a time by sums that some goroutines have used in all. So much of it was running
// as they have, at most. The rest is waiting, in proportion to their sums, and what is left then
// was elsewhere.
func divide(d time.Duration, sums *[NumParts]time.Duration) (l Latency) {
	running := min(d, sums[pprof.TimeRunning])
	l[pprof.TimeRunning] = running
	d -= running
	var all time.Duration
	for p, sum := range sums {
		if Part(p) != pprof.TimeRunning {
			all += sum
		}
	}
	waiting := min(d, all)
	l[Elsewhere] = d - waiting
	if waiting == 0 {
		return l
	}
	var sum, given time.Duration // up to p
	for p := range sums {
		if Part(p) == pprof.TimeRunning {
			continue
		}
		sum += sums[p]
		hi, lo := bits.Mul64(uint64(waiting), uint64(sum))
		to, _ := bits.Div64(hi, lo, uint64(all))
		l[p] = time.Duration(to) - given
		given = time.Duration(to)
	}
	return l
}

// away returns how much of the gaps of w's path the task was elsewhere in: of those of the goroutine
// that ended it, and of those of the others.
//
// What the others can't have had is of their gaps, and only the remainder, which the one can't have
// had that ended the task, of its own. Otherwise time that is known to be its running would be
// taken, and what is left of the others' be elsewhere once more.
func (w *walker) away() (own, others time.Duration) {
	if !w.hasLeft { // once for all paths: it looks at the whole timeline
		w.own, w.rest = w.t.left()
		w.hasLeft = true
	}
	all := w.t.gapsOf(w.path, &w.own, &w.rest)[Elsewhere]
	if all == 0 {
		return 0, 0
	}
	last := w.t.last()
	for i := range w.path {
		if s := &w.path[i]; s.Stretch == nil && s.Goroutine != last {
			others += s.End - s.Start
		}
	}
	for _, d := range w.rest {
		others -= d
	}
	others = max(0, others)
	return all - others, others
}

// settle takes those parts out of the gaps of w's path in which its goroutines have neither run
// nor waited, by their sums. What another goroutine waited for has not begun to work for the
// task then: the wait goes on until it has. Otherwise the task was elsewhere.
func (w *walker) settle() {
	own, others := w.away()
	if own+others == 0 {
		return
	}
	last := w.t.last()
	var order []int // of gaps
	for i := range w.path {
		if s := &w.path[i]; s.Stretch == nil {
			order = append(order, i)
		}
	}
	// A goroutine comes to the task before what it is known to have done, rather than later.
	rank := func(s *Segment) int {
		switch {
		case s.outer != nil && s.first:
			return 0
		case s.outer != nil:
			return 1
		case s.first:
			return 2
		}
		return 3
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &w.path[i], &w.path[j]
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.End-b.Start, a.End-a.Start))
	})
	taken := make(map[int]time.Duration)
	for _, i := range order {
		s, of := &w.path[i], &others
		if s.Goroutine == last {
			of = &own
		}
		taken[i] = min(*of, s.End-s.Start)
		*of -= taken[i]
	}
	path := w.path
	w.path = make([]Segment, 0, len(path)+len(taken))
	for i := range path { // the last one first
		s := path[i]
		d := taken[i]
		from := s.Start
		if d == 0 {
			w.path = append(w.path, s)
			continue
		}
		if s.Start += d; s.Start < s.End {
			s.first = false
			w.path = append(w.path, s)
		}
		if x := s.outer; x != nil {
			w.piece(x, from, from+d, -1)
		} else {
			w.add(Segment{Goroutine: s.Goroutine, Start: from, End: from + d, Part: Elsewhere})
		}
	}
}

// usualLatency returns the latency that is usual, as far as sums say. It is false if too few tasks have
// ended to know.
func (t *Record) usualLatency() (Latency, bool) {
	u := t.Usual
	if u == nil || u.Tasks < minUsual {
		return Latency{}, false
	}
	var sums [NumParts]time.Duration
	for p, d := range u.Parts {
		sums[p] = length(d)
	}
	return divide(max(0, u.Wall), &sums), true
}
