// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent

import (
	"errors"
	"io"
	"io/fs"
	"strconv"
	"strings"
)

// The kernel describes each PMU in a directory of sysfs
// (Documentation/ABI/testing/sysfs-bus-event_source-devices*):
//
//	type         the number for perf_event_attr.type
//	cpus         of a core PMU on machines that may have several: its CPUs
//	cpumask      of a PMU that counts for the whole chip: who may open it
//	format/TERM  which bits of config, config1, ... a term sets
//	events/NAME  the terms that a name stands for
//	caps/CAP     limits

const devices = "bus/event_source/devices"

// maxFile bounds what is read of one file; those of sysfs have a page at most.
const maxFile = 4096

// validName reports whether s can be the name of a directory or a file that is
// opened, of a term, or of an event. It excludes everything with which a path
// could leave its directory.
func validName(s string) bool {
	if s == "" || s[0] == '.' {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '.', c == '-':
		default:
			return false
		}
	}
	return true
}

// readFile returns the contents of a file without the space around them. The
// name's elements must be valid.
func readFile(fsys fs.FS, name string) (string, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile))
	return strings.TrimSpace(string(b)), err
}

// A pmu is one directory of sysfs.
type pmu struct {
	sys    fs.FS
	name   string
	typ    uint32
	core   bool // counts for the thread that runs on a core
	uncore bool // counts for a chip, whatever thread runs
}

func (p *pmu) read(file string) (string, error) {
	return readFile(p.sys, devices+"/"+p.name+"/"+file)
}

func (p *pmu) has(file string) bool {
	_, err := p.read(file)
	return err == nil
}

// pmu returns the named PMU; the error is from its type file.
func (r *Resolver) pmu(name string) (*pmu, error) {
	p := &pmu{sys: r.Sys, name: name}
	s, err := p.read("type")
	if err != nil {
		return nil, err
	}
	typ, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return nil, err
	}
	p.typ = uint32(typ)
	p.core = name == "cpu" || p.has("cpus")
	p.uncore = !p.core && p.has("cpumask")
	return p, nil
}

// pmuNames returns the names of the PMUs in sysfs, sorted.
func (r *Resolver) pmuNames() []string {
	if r.Sys == nil {
		return nil
	}
	dirs, err := fs.ReadDir(r.Sys, devices)
	if err != nil {
		return nil
	}
	var names []string
	for _, d := range dirs {
		if validName(d.Name()) {
			names = append(names, d.Name())
		}
	}
	return names
}

// pmus returns the PMUs in sysfs, sorted by name.
func (r *Resolver) pmus() []*pmu {
	var all []*pmu
	for _, name := range r.pmuNames() {
		if p, err := r.pmu(name); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// corePMUs returns the PMUs of the cores, one for each kind of core, in the
// order of their types: the kernel registers the big cores first.
func (r *Resolver) corePMUs() []*pmu {
	var cores []*pmu
	for _, p := range r.pmus() {
		if p.core {
			cores = append(cores, p)
		}
	}
	for i := range cores {
		for j := i; j > 0 && cores[j].typ < cores[j-1].typ; j-- {
			cores[j], cores[j-1] = cores[j-1], cores[j]
		}
	}
	return cores
}

// notEvents says why the events of some PMUs are no samples that a profile
// could use. The name is a prefix.
var notEvents = []struct{ pmu, why string }{
	{"msr", "it counts but never interrupts, so it cannot be sampled"},
	{"intel_pt", "it writes a trace for perf record to decode, not samples"},
	{"intel_bts", "it writes a trace for perf record to decode, not samples"},
	{"cs_etm", "it writes a trace for perf record to decode, not samples"},
	{"arm_spe", "it writes a trace for perf record to decode, not samples"},
	{"hisi_ptt", "it writes a trace for perf record to decode, not samples"},
	{"kprobe", "write mem:SYMBOL:x for a function of the program, or a tracepoint made by perf probe"},
	{"uprobe", "write mem:SYMBOL:x for a function of the program, or a tracepoint made by perf probe"},
	{"breakpoint", "write breakpoints as mem:ADDRESS_OR_SYMBOL[/len][:access]"},
	{"tracepoint", "write tracepoints as system:event"},
	{"software", "write software events by their plain names, such as page-faults"},
}

// sampleable returns why nothing of p can be sampled for a thread, or nil.
func (p *pmu) sampleable() *Error {
	for _, n := range notEvents {
		if strings.HasPrefix(p.name, n.pmu) {
			return unsupportedError("PMU "+p.name+": "+n.why, nil)
		}
	}
	if p.uncore {
		return unsupportedError("PMU "+p.name+" counts for a whole chip (it has a cpumask), not for a thread, so it cannot be sampled in a program; use perf stat -a", nil)
	}
	return nil
}

// A term is one of those between the slashes. Without a value it is 1, or the
// name of an event.
type term struct {
	name, value string
	valued      bool
}

// parsePMU parses PMU/term,.../ with modifiers right after it or after a colon.
func (r *Resolver) parsePMU(s string) (*Event, *Error) {
	name, rest, _ := strings.Cut(s, "/")
	body, mods, ok := strings.Cut(rest, "/")
	if !ok {
		return nil, syntaxError("the closing slash is missing: PMU/term=value,.../")
	}
	if !validName(name) {
		return nil, syntaxError("no PMU can be named " + quote(name))
	}
	terms, err := parseTerms(body)
	if err != nil {
		return nil, err
	}
	var m modifiers
	if mods != "" {
		if m, err = parseModifiers(strings.TrimPrefix(mods, ":")); err != nil {
			return nil, err
		}
	}
	p, err := r.findPMU(name)
	if err != nil {
		return nil, err
	}
	e, err := r.sampledEvent(p, terms)
	if err != nil {
		return nil, err
	}
	return r.finish(e, &m)
}

// findPMU returns the PMU that the user named, or an error that says what
// there is.
func (r *Resolver) findPMU(name string) (*pmu, *Error) {
	if r.Sys == nil {
		return nil, unsupportedError("PMUs are found in /sys/"+devices+", which there is not here", nil)
	}
	p, err := r.pmu(name)
	switch {
	case err == nil:
		return p, nil
	case errors.Is(err, fs.ErrNotExist):
		names := r.pmuNames()
		reason := "no PMU " + quote(name) + " here"
		if len(names) == 0 {
			reason += ", nor any in /sys/" + devices
		} else if name == "cpu" && len(r.corePMUs()) > 0 {
			// Hybrid and Arm machines: not a matter of spelling.
			return nil, &Error{Kind: ErrUnknown, Reason: reason + "; the cores' are " + joinPMUs(r.corePMUs())}
		}
		return nil, unknownError(reason, name, names)
	}
	return nil, unsupportedError("PMU "+name+" cannot be read: "+cause(err), err)
}

func joinPMUs(pmus []*pmu) string {
	var names []string
	for _, p := range pmus {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// cause returns the errno's text of a file's error: the path is known.
func cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return clip(err.Error())
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
var refusedTerms = map[string]string{
	"period":          "give the period beside the event",
	"freq":            "give a period beside the event",
	"time":            "leave it out",
	"call-graph":      "a profile always has the Go stack",
	"stack-size":      "a profile always has the Go stack",
	"max-stack":       "a profile always has the Go stack",
	"inherit":         "a profile always has all threads",
	"no-inherit":      "a profile always has all threads",
	"overwrite":       "leave it out",
	"no-overwrite":    "leave it out",
	"branch_type":     "a profile has no branch records",
	"percore":         "a profile is per thread",
	"aux-output":      "a profile has no trace",
	"aux-sample-size": "a profile has no trace",
	"nr":              "leave it out",
	"metric-id":       "leave it out",
	"cpu":             "a profile is per thread",
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

// pmuEvent returns the event on p that the terms describe.
func (r *Resolver) pmuEvent(p *pmu, terms []term) (*Event, *Error) {
	enc, err := p.encode(terms)
	if err != nil {
		return nil, err
	}
	e := &Event{
		Type:   enc.label,
		Unit:   unitCount,
		Period: enc.period(),
		Kind:   PMU,
	}
	if e.Type == "" {
		e.Type = p.name + "/" + joinTerms(terms) + "/"
	}
	a := Attr{
		Type:    p.typ,
		Config:  enc.config[0],
		Config1: enc.config[1],
		Config2: enc.config[2],
		Config3: enc.config[3],
		PMU:     p.name,
	}
	if g := enc.preset; g != nil {
		a.Type, a.Config = g.Type, g.Config
		if len(r.corePMUs()) > 1 {
			a.Config |= uint64(p.typ) << 32 // see presetEvent
		}
	}
	e.Attrs = []Attr{a}
	return e, nil
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
		return period10M
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

// isEventMeta reports whether a file of the events directory says something
// about an event instead of being one.
func isEventMeta(name string) bool {
	for _, suffix := range []string{".unit", ".scale", ".per-pkg", ".snapshot"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
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
	if why, ok := refusedTerms[t.name]; ok && !p.has("format/"+t.name) {
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

// list returns the names in one of the PMU's directories, sorted.
func (p *pmu) list(dir string) []string {
	files, err := fs.ReadDir(p.sys, devices+"/"+p.name+"/"+dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, f := range files {
		if validName(f.Name()) && !isEventMeta(f.Name()) {
			names = append(names, f.Name())
		}
	}
	return names
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

// bareEvent returns the event of a name that PMUs define in events, without
// the PMU's name before it: mem-loads for cpu/mem-loads/. As in perf it stands
// for all PMUs that define it, here those of the cores, if any does.
func (r *Resolver) bareEvent(name string) (*Event, *Error) {
	if r.Sys == nil || !validName(name) || isEventMeta(name) {
		return nil, nil
	}
	e, err := r.eventOn(r.corePMUs(), name)
	if e == nil && err == nil {
		e, err = r.eventOn(r.pmus(), name)
	}
	return e, err
}

// eventOn returns the event that those of the PMUs that define name sum up to,
// nil if none does. The error is for a name that none can sample.
func (r *Resolver) eventOn(pmus []*pmu, name string) (sum *Event, refused *Error) {
	for _, p := range pmus {
		if !p.has("events/" + name) {
			continue
		}
		e, err := r.sampledEvent(p, []term{{name: name}})
		switch {
		case err != nil:
			refused = err
		case sum == nil:
			sum = e
			sum.Type = name
		default:
			sum.Attrs = append(sum.Attrs, e.Attrs...)
		}
	}
	if sum != nil {
		return sum, nil
	}
	return nil, refused
}

// sampledEvent is pmuEvent for a PMU that can be sampled, else an error.
func (r *Resolver) sampledEvent(p *pmu, terms []term) (*Event, *Error) {
	if err := p.sampleable(); err != nil {
		return nil, err
	}
	return r.pmuEvent(p, terms)
}

// checkPrecise refuses an explicit level of precision that the PMU says it
// does not have. It is not for machines with IBS: see adaptIBS.
func (r *Resolver) checkPrecise(e *Event) *Error {
	if r.Sys == nil || e.Attrs[0].Precise <= 0 {
		return nil
	}
	for _, p := range r.pmusOf(e) {
		s, err := p.read("caps/max_precise")
		if err != nil {
			continue
		}
		level, err := strconv.ParseUint(s, 10, 8)
		if err != nil || int(e.Attrs[0].Precise) <= int(level) {
			continue
		}
		if level == 0 {
			return unsupportedError("PMU "+p.name+" has no precise events here (caps/max_precise is 0, as in most virtual machines); leave out p", nil)
		}
		return unsupportedError("the highest precision of PMU "+p.name+" is :"+strings.Repeat("p", int(level)), nil)
	}
	return nil
}

// pmusOf returns the PMUs that e's attributes name, or else those of the cores.
func (r *Resolver) pmusOf(e *Event) []*pmu {
	if e.Attrs[0].PMU == "" {
		return r.corePMUs()
	}
	var pmus []*pmu
	for i := range e.Attrs {
		if p, err := r.pmu(e.Attrs[i].PMU); err == nil {
			pmus = append(pmus, p)
		}
	}
	return pmus
}
