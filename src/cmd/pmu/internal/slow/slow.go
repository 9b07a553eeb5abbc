// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package slow compares what slow requests have executed with what usual ones have: where in
// the code a profile's samples with label slow=yes are, beside those with slow=no.
//
// Requests differ in length. So stacks are compared by their shares of a group's samples, and what
// a request uses of the event is said beside that. Samples of one request are no independent
// observations: a request that takes another path does so with all of them. So the error of a share
// comes from how the traces of a group differ from each other. Some samples have their trace as a label: of
// requests that were chosen by chance.
package slow

import (
	"cmd/pmu/internal/prof"
	"cmp"
	"errors"
	"fmt"
	"internal/profile"
	"internal/runtime/perf"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The labels of samples; see package runtime/pprof.
const (
	labelSlow  = "slow"
	labelKind  = "task"
	labelTrace = "trace"
)

// Options say what to compare.
type Options struct {
	Event string // its name or its sample type; all events if it is empty
	Kind  string // all kinds if it is empty
	Waits bool   // requests may only have waited: an event's profile without a sample of one is no error
}

// A Profile is a profile whose samples say if their task was slow.
type Profile struct {
	raw      *prof.File
	events   []event
	requests map[string]requests // by kind; some are missing, or all
	timer    bool                // it is of no event, or no one knows of which
	opt      Options
}

// An event is one of a profile.
type event struct {
	name, unit string
	column     int
	period     float64 // what a sample stands for
	first      bool    // the samples are counted by stack, in column 0
}

// requests are how many of a kind have ended while the profile was taken.
type requests struct{ usual, slow int64 }

// Read reads a profile that [runtime/pprof.StartCPUProfileWithConfig] has written while tasks were
// recorded. Its bounds are those of [prof.Read].
func Read(r io.Reader, opt Options) (*Profile, error) {
	raw, err := prof.Read(r)
	if err != nil {
		return nil, err
	}
	return newProfile(raw, opt)
}

func newProfile(raw *prof.File, opt Options) (*Profile, error) {
	p := &Profile{raw: raw, opt: opt}
	p.readComments()
	if opt.Event != "" {
		list := slices.DeleteFunc(slices.Clone(p.events), func(e event) bool {
			return e.name != opt.Event && raw.SampleType[e.column].Type != opt.Event
		})
		if len(list) == 0 {
			return nil, fmt.Errorf("the profile has no event %q; it has %s", opt.Event, p.names())
		}
		p.events = list
	}
	return p, p.check()
}

// check returns an error if the profile has nothing to compare.
func (p *Profile) check() error {
	waited := false
	sums := make([]int64, len(p.raw.SampleType))
	for _, s := range p.raw.Sample {
		for i, v := range s.Value {
			if v < 0 {
				return errors.New("the profile has negative values, as the difference of two profiles has: compare each of them")
			}
			if v > math.MaxInt64-sums[i] {
				return errors.New("the sum of the profile's values does not fit into 64 bits")
			}
			sums[i] += v
		}
		waited = waited || verdictOf(s) != ""
	}
	if !waited && (!p.opt.Waits || p.timer) {
		return errors.New("no sample says if its request was slow. Take a profile of an event, such as task-clock, while tasks are recorded: the timer's samples do not say it")
	}
	return nil
}

// readComments sets the events, and how many requests there were.
func (p *Profile) readComments() {
	var names []string
	var periods []float64
	merged := false
	for _, c := range p.raw.Comments {
		key, value, _ := strings.Cut(c, ": ")
		switch key {
		case "event":
			names = append(names, value)
			periods = append(periods, 0)
		case "period":
			word, _, _ := strings.Cut(value, " ")
			if n, err := strconv.ParseInt(word, 10, 64); err == nil && n > 0 && len(periods) > 0 {
				periods[len(periods)-1] = float64(n)
			}
		case "requests":
			kind, n, ok := parseRequests(value)
			if !ok {
				continue
			}
			if p.requests == nil {
				p.requests = make(map[string]requests)
			}
			old, there := p.requests[kind]
			merged = merged || there && old != n
			p.requests[kind] = n
		}
	}
	p.timer = len(names) == 0
	if merged {
		p.requests = nil // the comments are of several profiles, and equal ones are there once
	}
	for i, t := range p.raw.SampleType {
		if t.Unit == "cycles" || i == 0 && t.Type == "samples" {
			continue // latency of an event with data addresses; the number of samples
		}
		p.events = append(p.events, event{name: t.Type, unit: t.Unit, column: i, first: i == 1 && p.raw.SampleType[0].Type == "samples"})
	}
	for i := range p.events {
		if len(names) == len(p.events) {
			p.events[i].name, p.events[i].period = names[i], periods[i]
		}
		p.events[i].period = cmp.Or(p.events[i].period, float64(max(p.raw.Period, 1)))
	}
	p.events = p.events[:min(len(p.events), perf.MaxEvents)]
}

// parseRequests parses a comment: 12 usual, 3 slow, of kind "GET /".
func parseRequests(s string) (kind string, n requests, ok bool) {
	usual, rest, ok1 := strings.Cut(s, " usual, ")
	slow, quoted, ok2 := strings.Cut(rest, " slow, of kind ")
	kind, err1 := strconv.Unquote(quoted)
	var err2, err3 error
	n.usual, err2 = strconv.ParseInt(usual, 10, 64)
	n.slow, err3 = strconv.ParseInt(slow, 10, 64)
	return kind, n, ok1 && ok2 && err1 == nil && err2 == nil && err3 == nil && n.usual >= 0 && n.slow >= 0
}

// names returns the names of the events.
func (p *Profile) names() string {
	var list []string
	for _, e := range p.events {
		list = append(list, e.name)
	}
	return strings.Join(list, ", ")
}

// verdictOf returns the value of a sample's label "slow".
func verdictOf(s *profile.Sample) string { return label(s, labelSlow) }

func label(s *profile.Sample, key string) string {
	if v := s.Label[key]; len(v) == 1 {
		return v[0]
	}
	return ""
}

// A Group is the slow requests of a kind, or the usual ones.
type Group struct {
	Requests int64   // that have ended while the profile was taken; 0 if that is not known
	Value    int64   // of the event
	Samples  float64 // nearly, of an event that is not the profile's first
}

// PerRequest returns how much of the event a request has used, on average.
func (g *Group) PerRequest() (v float64, ok bool) {
	return float64(g.Value) / float64(g.Requests), g.Requests > 0
}

// A Comparison is that of the slow requests of a kind with the usual ones, by an event.
type Comparison struct {
	Kind, Event, Unit string
	Slow, Usual       Group
	Unknown           float64 // part of the slow requests' samples and these, of requests that are of neither group
	Traces            int     // of slow requests that tell how these differ from each other,
	UsualTraces       int     // and of usual ones
	Rows              []Row   // what is more in slow requests, most first

	event event
	tree  *tree
}

// A Row is code that slow requests execute more of.
type Row struct {
	Stack             []string // functions, innermost first
	Slow, Usual       float64  // share of the group's samples, with what it calls
	Error             float64  // half the interval of Slow-Usual that has it with 95 % for all rows together
	PerSlow, PerUsual float64  // of the event, if the numbers of requests are known
}

// maxKinds bounds how many kinds are compared: those with most samples of slow requests.
const maxKinds = 200

// Compare compares each kind by each event. Kinds whose slow requests have most samples come first.
func (p *Profile) Compare() []*Comparison {
	kinds := p.kinds()
	nodes := 0
	var list []*Comparison
	for _, e := range p.events {
		byKind := make(map[string]*tree)
		for _, kind := range kinds {
			byKind[kind] = newTree(&nodes)
		}
		for _, s := range p.raw.Sample {
			if t := byKind[label(s, labelKind)]; t != nil {
				t.add(s, &e)
			}
		}
		for _, kind := range kinds {
			if c := p.compare(kind, &e, byKind[kind]); c.Slow.Value+c.Usual.Value > 0 {
				list = append(list, c)
			}
		}
	}
	for _, c := range list {
		if c.Known() {
			c.Rows = c.tree.rows(c, len(list))
		}
	}
	return list
}

// kinds returns the kinds to compare.
func (p *Profile) kinds() []string {
	slow := make(map[string]int64)
	for _, s := range p.raw.Sample {
		switch kind := label(s, labelKind); {
		case p.opt.Kind != "" && kind != p.opt.Kind:
		case verdictOf(s) == "yes":
			slow[kind] += s.Value[0]
		case verdictOf(s) == "no":
			slow[kind] += 0
		}
	}
	list := slices.SortedFunc(maps.Keys(slow), func(a, b string) int {
		return cmp.Or(cmp.Compare(slow[b], slow[a]), strings.Compare(a, b))
	})
	return list[:min(len(list), maxKinds)]
}

func (p *Profile) compare(kind string, e *event, t *tree) *Comparison {
	c := &Comparison{Kind: kind, Event: e.name, Unit: e.unit, event: *e, tree: t, Traces: len(t.traces[isSlow]), UsualTraces: len(t.traces[isUsual])}
	c.Slow = Group{p.requests[kind].slow, t.root.value[isSlow], t.root.samples[isSlow]}
	c.Usual = Group{p.requests[kind].usual, t.root.value[isUsual], t.root.samples[isUsual]}
	if t.unknown > 0 {
		c.Unknown = t.unknown / (t.unknown + float64(c.Slow.Value))
	}
	return c
}

// more returns by how much the share of slow requests is larger.
func (r *Row) more() float64 { return r.Slow - r.Usual }

// Known reports whether both groups have samples, and those of slow ones are of several requests.
func (c *Comparison) Known() bool { return c.Slow.Value > 0 && c.Usual.Value > 0 && c.Traces > 1 }

// quantiles has quantiles p of Student's distribution, by degrees of freedom.
type quantiles struct {
	p     float64
	known map[int]float64
}

func (q *quantiles) of(n int) float64 {
	v, ok := q.known[n]
	if !ok {
		if q.known == nil {
			q.known = make(map[int]float64)
		}
		v = quantile(q.p, n)
		q.known[n] = v
	}
	return v
}

// quantile returns the quantile p, more than 0.5, of Student's distribution with n degrees of freedom.
func quantile(p float64, n int) float64 {
	lo, hi := 0.0, 1.0
	for student(hi, n) < p && hi < 1e12 {
		hi *= 2
	}
	for range 200 {
		if mid := (lo + hi) / 2; student(mid, n) < p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// student returns Student's distribution with n degrees of freedom at t, by its finite series (Abramowitz
// and Stegun, 26.7.3 and 26.7.4).
func student(t float64, n int) float64 {
	angle := math.Atan(t / math.Sqrt(float64(n)))
	sin, cos := math.Sincos(angle)
	sum, term := 0.0, 1.0
	first := n % 2 // of the numbers in the series
	if first == 1 {
		term = cos
	}
	for k := first; k < n-1; k += 2 {
		sum += term
		term *= cos * cos * float64(k+1) / float64(k+2)
	}
	if first == 1 {
		return 0.5 + (angle+sin*sum)/math.Pi
	}
	return 0.5 + sin*sum/2
}
