// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package linescmd

import (
	"cmd/pmu/internal/prof"
	"cmp"
	"errors"
	"fmt"
	"internal/profile"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A variable is what of a line is accessed: a field of an object, or an address.
type variable struct {
	address                    uint64
	object, typ, field, offset string

	events     int64
	samples    float64          // as many as the events take, at the periods asked for
	access     map[string]int64 // "load", "store" or "": not known
	goroutines map[string]int64
	cpus       map[string]int64
	stacks     map[string]int64
}

// name returns what a variable is.
func (p *variable) name() string {
	s := p.object
	if p.typ != "" && p.typ != "unknown" {
		s += ", " + p.typ
		if p.field != "" {
			s += "." + p.field
		}
	}
	if p.offset != "" {
		s += ", offset " + p.offset
	}
	return s
}

// writes reports whether some access may be a write.
func (p *variable) writes() bool { return p.access["store"]+p.access[""] > 0 }

// A variableKey is what tells variables apart. An address has another object when the one before is
// gone, and neighbours of the same kind have the same offset.
type variableKey struct {
	address uint64
	object  string
}

// lineSize is how many bytes a cache line has, on most processors.
const lineSize = 64

// A line is a cache line.
type line struct {
	address   uint64
	events    int64
	hitm      int64 // found modified in another processor's cache
	variables []*variable
	shared    bool // falsely
}

// find returns the lines of a profile, those with most samples first.
func find(p *prof.File, least int64) ([]*line, error) {
	f := finder{lines: make(map[uint64]*line), variables: make(map[variableKey]*variable), periods: periodsOf(p)}
	labelled := false
	for _, s := range p.Sample {
		l := labelsOf(s)
		if l["object"] == "" {
			continue
		}
		labelled = true
		if err := f.add(p, s, l); err != nil {
			return nil, err
		}
	}
	if !labelled {
		return nil, errors.New("no sample says what it accessed; see runtime/pprof.DataAddresses")
	}
	var list []*line
	for _, ln := range f.lines {
		ln.variables = slices.DeleteFunc(ln.variables, func(p *variable) bool { return p.samples < float64(least)-0.5 })
		if len(ln.variables) == 0 {
			continue
		}
		slices.SortFunc(ln.variables, func(a, b *variable) int {
			return cmp.Or(cmp.Compare(b.events, a.events), cmp.Compare(a.address, b.address), cmp.Compare(a.object, b.object))
		})
		ln.shared = falselyShared(ln.variables)
		list = append(list, ln)
	}
	slices.SortFunc(list, func(a, b *line) int {
		return cmp.Or(cmp.Compare(b.hitm, a.hitm), cmp.Compare(b.events, a.events), cmp.Compare(a.address, b.address))
	})
	return list, nil
}

// A finder sums up samples.
type finder struct {
	lines     map[uint64]*line // by address / lineSize
	variables map[variableKey]*variable
	periods   []int64
}

// add adds a sample, which has labels l, if it has an address.
func (f *finder) add(p *prof.File, s *profile.Sample, l map[string]string) error {
	n, taken := int64(0), 0.0
	for i, t := range p.SampleType {
		if i == 0 || t.Unit == "cycles" {
			continue // the number of samples of the first event; latencies
		}
		n += s.Value[i]
		if i <= len(f.periods) {
			taken += float64(s.Value[i]) / float64(max(f.periods[i-1], 1))
		}
	}
	if l["address"] == "" || n == 0 {
		return nil
	}
	addr, err := address(s)
	if err != nil {
		return err
	}
	ln := f.lines[addr/lineSize]
	if ln == nil {
		ln = &line{address: addr / lineSize * lineSize}
		f.lines[addr/lineSize] = ln
	}
	ln.events += n
	if l["hitm"] != "" {
		ln.hitm += n
	}
	key := variableKey{addr, l["object"]}
	pl := f.variables[key]
	if pl == nil {
		pl = &variable{address: addr, object: l["object"], typ: l["type"], field: l["field"], offset: l["offset"],
			access: make(map[string]int64), goroutines: make(map[string]int64), cpus: make(map[string]int64), stacks: make(map[string]int64)}
		f.variables[key] = pl
		ln.variables = append(ln.variables, pl)
	}
	pl.events += n
	pl.samples += taken
	pl.access[l["access"]] += n
	pl.goroutines[l["goroutine"]] += n
	pl.cpus[l["cpu"]] += n
	if stack := prof.Stack(s); len(stack) > 0 {
		pl.stacks[stack[0]] += n
	}
	return nil
}

// periodsOf returns the periods of the profile's events, which are in its comments.
func periodsOf(p *prof.File) (list []int64) {
	for _, c := range p.Comments {
		if value, ok := strings.CutPrefix(c, "period: "); ok {
			word, _, _ := strings.Cut(value, " ")
			n, _ := strconv.ParseInt(word, 10, 64)
			list = append(list, n)
		}
	}
	return list
}

// labelsOf returns the labels of a sample that are strings, of which runtime/pprof writes one each.
func labelsOf(s *profile.Sample) map[string]string {
	m := make(map[string]string, len(s.Label))
	for k, v := range s.Label {
		m[k] = v[0]
	}
	return m
}

// address returns the address that a sample has accessed.
func address(s *profile.Sample) (uint64, error) {
	addr, err := strconv.ParseUint(labelsOf(s)["address"], 0, 64)
	if err != nil {
		return 0, fmt.Errorf("label address: %w", err)
	}
	return addr, nil
}

// sharing returns the values of label "sharing" for the samples of p, of which these are the
// lines: the variables of a line that is falsely shared, and "" for other samples.
func sharing(p *prof.File, lines []*line) func(i int) string {
	values := make(map[uint64]string)
	for _, ln := range lines {
		if !ln.shared {
			continue
		}
		var names []string
		for _, pl := range ln.variables {
			names = append(names, pl.name())
		}
		if rest := len(names) - mostNamed; rest > 0 {
			names = append(names[:mostNamed], fmt.Sprintf("%d more", rest))
		}
		values[ln.address] = strings.Join(names, " | ")
	}
	return func(i int) string {
		if addr, err := address(p.Sample[i]); err == nil {
			return values[addr/lineSize*lineSize]
		}
		return ""
	}
}

// mostNamed is how many things are named where there may be very many.
const mostNamed = 4

// falselyShared reports whether there are two variables, one of which is written, such that
// each has a goroutine that the other one has not.
func falselyShared(variables []*variable) bool {
	for i, a := range variables {
		for _, b := range variables[:i] {
			if (a.writes() || b.writes()) && beyond(a.goroutines, b.goroutines) && beyond(b.goroutines, a.goroutines) {
				return true
			}
		}
	}
	return false
}

// beyond reports whether a has a key that b has not.
func beyond(a, b map[string]int64) bool {
	for k := range a {
		if _, ok := b[k]; !ok {
			return true
		}
	}
	return false
}

// report prints the lines that are falsely shared, or all, and reports whether there are
// any of the former.
func report(w io.Writer, lines []*line, all bool) (shared bool) {
	for _, ln := range lines {
		shared = shared || ln.shared
		if !ln.shared && !all {
			continue
		}
		what := "false sharing"
		if !ln.shared {
			what = "no false sharing"
		}
		fmt.Fprintf(w, "line %#x: %s, %d accesses", ln.address, what, ln.events)
		if ln.hitm > 0 {
			fmt.Fprintf(w, ", %d of them to a line that another processor had modified", ln.hitm)
		}
		fmt.Fprintln(w)
		for _, p := range ln.variables {
			fmt.Fprintf(w, "%12d  %s, at %#x\n", p.events, p.name(), p.address)
			fmt.Fprintf(w, "%12s  %s by goroutine %s on processor %s, in %s\n", "", counts(p.access, "access"), counts(p.goroutines, "?"), counts(p.cpus, "?"), counts(p.stacks, "?"))
		}
	}
	if !shared {
		fmt.Fprintln(w, "no false sharing")
	}
	return shared
}

// counts returns the most frequent keys.
func counts(m map[string]int64, none string) string {
	type kv struct {
		k string
		n int64
	}
	var list []kv
	for k, n := range m {
		if k == "" {
			k = none
		}
		list = append(list, kv{k, n})
	}
	slices.SortFunc(list, func(a, b kv) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.k, b.k)) })
	var parts []string
	for i, x := range list {
		if i == mostNamed {
			parts = append(parts, fmt.Sprintf("%d more", len(list)-mostNamed))
			break
		}
		if len(list) == 1 {
			parts = append(parts, x.k)
		} else {
			parts = append(parts, fmt.Sprintf("%s (%d)", x.k, x.n))
		}
	}
	return strings.Join(parts, ", ")
}
