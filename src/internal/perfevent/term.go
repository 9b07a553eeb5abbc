// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent

import (
	"strconv"
	"strings"
)

// A term is one of those between the slashes. Without a value it is 1, or the
// name of an event.
type term struct {
	name, value string
	valued      bool
}

func parseTerms(body string) ([]term, *Error) {
	if body == "" {
		return nil, nil
	}
	list := strings.Split(body, ",")
	if len(list) > maxTerms {
		return nil, syntaxError("more than " + strconv.Itoa(maxTerms) + " terms")
	}
	terms := make([]term, len(list))
	for i, s := range list {
		t := &terms[i]
		t.name, t.value, t.valued = strings.Cut(strings.TrimSpace(s), "=")
		if !validName(t.name) {
			return nil, syntaxError("no term can be named " + quote(t.name))
		}
		if t.valued && t.value == "" {
			return nil, syntaxError("term " + t.name + " has no value")
		}
	}
	return terms, nil
}

// refusedTerms are those of perf that say how perf record is to sample, not
// what the event is.
var refusedTerms = []reason{
	{"period", "give the period beside the event"},
	{"freq", "give a period beside the event"},
	{"time", "leave it out"},
	{"call-graph", "a profile always has the Go stack"},
	{"stack-size", "a profile always has the Go stack"},
	{"max-stack", "a profile always has the Go stack"},
	{"inherit", "a profile always has all threads"},
	{"no-inherit", "a profile always has all threads"},
	{"overwrite", "leave it out"},
	{"no-overwrite", "leave it out"},
	{"branch_type", "a profile has no branch records"},
	{"percore", "a profile is per thread"},
	{"aux-output", "a profile has no trace"},
	{"aux-sample-size", "a profile has no trace"},
	{"nr", "leave it out"},
	{"metric-id", "leave it out"},
	{"cpu", "a profile is per thread"},
}

// An encoding is what terms add up to. Terms that were written by the user go
// over those from the definition of a named event, whatever their order:
// "mem-loads,ldlat=30" changes the latency that mem-loads brings along.
type encoding struct {
	config [4]uint64
	label  string  // name=
	named  string  // the first event that was named
	preset *Preset // the generic event that was named instead of one of the PMU's
}

func joinTerms(terms []term) string {
	var list []string
	for _, t := range terms {
		if t.name == "name" {
			continue
		}
		if t.valued {
			t.name += "=" + t.value
		}
		list = append(list, t.name)
	}
	return strings.Join(list, ",")
}

// period returns the preset: that of the generic event of the same name, where
// there is one, or a guess from the name, where there is a name.
func (enc *encoding) period() uint64 {
	if enc.preset != nil {
		return enc.preset.Period
	}
	name := strings.ReplaceAll(enc.named, "_", "-")
	if g := lookup(name); g != nil && g.Kind == Hardware {
		return g.Period
	}
	switch {
	case strings.Contains(name, "cycles"), name == "slots":
		return periodCycles
	case name == "inst-retired", name == "inst-spec": // Arm's instructions
		return period1M
	}
	return periodRaw
}

// encode adds up terms: first the events that they name, then the rest.
func (p *pmu) encode(terms []term) (*encoding, *Error) {
	enc := new(encoding)
	given := make(map[string]bool) // terms that need no value from an event
	for _, t := range terms {
		given[t.name] = true
	}
	var own []term
	for _, t := range terms {
		isEvent, err := p.addEvent(enc, t, given)
		if err != nil {
			return nil, err
		}
		if !isEvent {
			own = append(own, t)
		}
	}
	if enc.preset != nil && (len(own) > 1 || len(own) == 1 && own[0].name != "name") {
		return nil, syntaxError(enc.named + " is mapped by the kernel and takes no other terms")
	}
	for _, t := range own {
		if err := p.addTerm(enc, t); err != nil {
			return nil, err
		}
	}
	return enc, nil
}

// addEvent adds t to enc if t names an event: one of the PMU's, or of the
// generic ones on a core PMU.
func (p *pmu) addEvent(enc *encoding, t term, given map[string]bool) (isEvent bool, err *Error) {
	if t.valued || p.has("format/"+t.name) {
		return false, nil
	}
	def, ferr := p.read("events/" + t.name)
	if ferr == nil && !isEventMeta(t.name) {
		if enc.named != "" {
			return false, syntaxError("two events are named: " + enc.named + " and " + t.name)
		}
		enc.named = t.name
		return true, p.addDefinition(enc, t.name, def, given)
	}
	if !p.core {
		return false, nil
	}
	g := lookup(t.name)
	if g == nil || g.Kind != Hardware {
		c, ok, _ := parseCache(t.name)
		if !ok {
			return false, nil
		}
		g = &c
	}
	if enc.named != "" {
		return false, syntaxError("two events are named: " + enc.named + " and " + t.name)
	}
	enc.named, enc.preset = t.name, g
	return true, nil
}

// addDefinition adds the contents of events/NAME, a list of terms. A value
// that is a question mark is to be given by the user.
func (p *pmu) addDefinition(enc *encoding, name, def string, given map[string]bool) *Error {
	terms, err := parseTerms(def)
	if err != nil {
		return unsupportedError("the kernel's definition of "+name+" is not understood: "+err.Reason, nil)
	}
	for _, t := range terms {
		if given[t.name] {
			continue
		}
		if t.value == "?" {
			return syntaxError(name + " needs a value for " + t.name + ": " + p.name + "/" + name + "," + t.name + "=.../")
		}
		if err := p.addTerm(enc, t); err != nil {
			return err
		}
	}
	return nil
}

// addTerm adds one term with a value, or with the value 1.
func (p *pmu) addTerm(enc *encoding, t term) *Error {
	if why := reasonFor(refusedTerms, t.name); why != "" && !p.has("format/"+t.name) {
		return unsupportedError("term "+t.name+" is for perf record; "+why, nil)
	}
	if t.name == "name" {
		return enc.setLabel(t)
	}
	value, err := termValue(t)
	if err != nil {
		return err
	}
	switch t.name {
	case "config", "config1", "config2", "config3":
		enc.config[configIndex(t.name)] = value
		return nil
	}
	format, ferr := p.read("format/" + t.name)
	if ferr != nil {
		return p.unknownTerm(t)
	}
	return enc.setBits(format, t, value)
}

func (enc *encoding) setLabel(t term) *Error {
	if !validName(t.value) {
		return syntaxError("a name= has letters, digits, '_', '-' and '.' only")
	}
	enc.label = t.value
	return nil
}

func termValue(t term) (uint64, *Error) {
	if !t.valued {
		return 1, nil
	}
	v, err := parseNumber(t.value)
	if err != nil {
		return 0, syntaxError("the value of " + t.name + " is not a number of 64 bits: " + quote(t.value))
	}
	return v, nil
}

// parseNumber parses a number as perf does: hexadecimal after 0x, else decimal,
// with no other prefixes.
func parseNumber(s string) (uint64, error) {
	if h, ok := strings.CutPrefix(s, "0x"); ok {
		return strconv.ParseUint(h, 16, 64)
	}
	return strconv.ParseUint(s, 10, 64)
}

func configIndex(name string) int {
	if name == "config" {
		return 0
	}
	return int(name[len(name)-1] - '0')
}

// unknownTerm returns the error for a term that is neither in format nor, when
// it has no value, in events.
func (p *pmu) unknownTerm(t term) *Error {
	known := p.list("format")
	what := "term"
	if !t.valued {
		known = append(known, p.list("events")...)
		what = "event or term"
	}
	return unknownError("PMU "+p.name+" has no "+what+" "+quote(t.name), t.name, known)
}

// setBits spreads value over the bits that a format names, lowest first:
// "config:0-7,32-35" takes 12 bits.
func (enc *encoding) setBits(format string, t term, value uint64) *Error {
	field, mask, ok := parseFormat(format)
	if !ok {
		return unsupportedError("the kernel's format of "+t.name+" is not understood: "+quote(format), nil)
	}
	word, rest := uint64(0), value
	for bit := range 64 {
		if mask>>bit&1 != 0 {
			word |= rest & 1 << bit
			rest >>= 1
		}
	}
	if rest != 0 {
		return syntaxError("the value of " + t.name + " is too large: " + t.value + " does not fit in " + format)
	}
	c := &enc.config[field]
	*c = *c&^mask | word
	return nil
}

// parseFormat parses "FIELD:RANGE[,RANGE...]", a RANGE being BIT or LOW-HIGH.
func parseFormat(s string) (field int, mask uint64, ok bool) {
	name, ranges, ok := strings.Cut(s, ":")
	switch name {
	case "config", "config1", "config2", "config3":
	default:
		return 0, 0, false
	}
	for _, r := range strings.Split(ranges, ",") {
		low, high, isRange := strings.Cut(r, "-")
		if !isRange {
			high = low
		}
		l, err1 := strconv.ParseUint(low, 10, 6)
		h, err2 := strconv.ParseUint(high, 10, 6)
		if err1 != nil || err2 != nil || l > h {
			return 0, 0, false
		}
		mask |= (^uint64(0) >> (63 - (h - l))) << l
	}
	return configIndex(name), mask, ok
}
