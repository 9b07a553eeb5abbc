// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent

import (
	"internal/runtime/perf"
	"io/fs"
	"strconv"
	"strings"
)

// A Resolver supplies what names depend on outside the string. The zero
// Resolver knows the names that are the same everywhere.
type Resolver struct {
	// Sys is rooted at /sys; only files under bus/event_source/devices are
	// opened. If nil, there are no PMU events, and hardware events are left
	// to the kernel to map, which picks one kind of core on hybrid machines.
	Sys fs.FS

	// Tracefs is rooted at /sys/kernel/tracing; only files under events are
	// opened. If nil, there are no tracepoints.
	Tracefs fs.FS

	// Symbol finds a function or a package-level variable of the program; a
	// function's size is 0. If nil, breakpoints need addresses.
	Symbol func(name string) (addr, size uint64, err error)

	// GOARCH of the program, for what breakpoints its processor has. If
	// empty, Parse assumes 64 bits and leaves the rest to the kernel.
	GOARCH string

	// Precise, if not nil, is the level of precision, 0 to 3, of events that
	// have levels and whose name asks for none. Like one that is asked for
	// by name it must open or fail.
	Precise *int8
}

// TestSys, if not nil, is what runtime/pprof uses for Resolver.Sys, in tests of packages
// that import it.
var TestSys fs.FS

// Limits on the text of an event, so that what comes in over a network costs
// little to refuse.
const (
	maxLen           = 256
	maxLenBreakpoint = 1024 // Go symbols are long
	maxTerms         = 32   // of PMU/term,.../
)

// Parse parses the name of one event as perf list writes it, or one of the
// names of the flags (see Preset.Flag), with perf's modifiers:
//
//	cycles  cpu-cycles:pp  cacheMisses         hardware
//	L1-dcache-load-misses  LLC-loads           hardware cache
//	task-clock:uk  page-faults                 clock, software
//	r01c2                                      raw, hexadecimal
//	cpu/event=0x3c,umask=0x1/  cpu/mem-loads/pp  mem-stores
//	                                           PMU
//	sched:sched_switch                         tracepoint
//	mem:main.f:x  mem:0x1234/8:w               breakpoint
//
// An error is always an *Error.
func (r *Resolver) Parse(s string) (*Event, error) {
	e, err := r.parse(s)
	if err != nil {
		err.Event = clip(s)
		return nil, err
	}
	return e, nil
}

func (r *Resolver) parse(s string) (*Event, *Error) {
	if err := checkText(s); err != nil {
		return nil, err
	}
	switch {
	case strings.HasPrefix(s, "mem:"):
		return r.parseBreakpoint(s[len("mem:"):])
	case strings.Contains(s, "/"):
		return r.parsePMU(s)
	}
	return r.parseName(s)
}

// checkText refuses what no event is made of, before anything looks at it.
func checkText(s string) *Error {
	limit := maxLen
	if strings.HasPrefix(s, "mem:") {
		limit = maxLenBreakpoint
	}
	switch {
	case s == "":
		return syntaxError("the name is empty; cycles and task-clock are events, for example")
	case len(s) > limit:
		return syntaxError("the name is longer than " + strconv.Itoa(limit) + " bytes")
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] == 0x7f {
			return syntaxError("control characters are not allowed in names")
		}
	}
	return nil
}

// parseName parses the events that begin with a plain name: NAME[:mods] or
// SYSTEM:TRACEPOINT[:mods].
func (r *Resolver) parseName(s string) (*Event, *Error) {
	name, rest, colon := strings.Cut(s, ":")
	e, err := r.namedEvent(name)
	switch {
	case err != nil:
		return nil, err
	case e == nil && colon && !r.unknownWithModifiers(name, rest):
		return r.parseTracepoint(name, rest)
	case e == nil:
		return nil, r.unknownName(name)
	}
	var m modifiers
	if colon {
		if m, err = parseModifiers(rest); err != nil {
			return nil, err
		}
	}
	return r.finish(e, &m)
}

// unknownWithModifiers reports whether "name:rest", whose name is not known,
// is meant to be an event with modifiers rather than a tracepoint.
func (r *Resolver) unknownWithModifiers(name, rest string) bool {
	return looksLikeModifiers(rest) && !r.hasTraceSystem(name)
}

// namedEvent returns the event of a plain name, nil if there is none. Names
// that mean the same everywhere go before the PMUs' own.
func (r *Resolver) namedEvent(name string) (*Event, *Error) {
	if why := reasonFor(notSampled, name); why != "" {
		return nil, unsupportedError(why, nil)
	}
	if p := lookup(name); p != nil {
		return r.presetEvent(p), nil
	}
	if p, ok, err := parseCache(name); err != nil {
		return nil, err
	} else if ok {
		return r.presetEvent(&p), nil
	}
	if isRaw(name) {
		return r.rawEvent(name)
	}
	return r.bareEvent(name)
}

// presetEvent returns the event of a row of a table. Where there are several
// kinds of core, the type of the PMU stands in the upper half of the config of
// a hardware event (PERF_PMU_TYPE_SHIFT, Linux 5.13): without it the kernel
// would count on one kind of core only.
func (r *Resolver) presetEvent(p *Preset) *Event {
	e := &Event{
		Type:       p.Name,
		Unit:       p.Unit,
		Period:     p.Period,
		Kind:       p.Kind,
		KernelOnly: p.KernelOnly,
	}
	if p.Kind == Hardware || p.Kind == Cache {
		if cores := r.corePMUs(); len(cores) > 1 {
			for _, c := range cores {
				e.Attrs = append(e.Attrs, PMUAttr{perf.Attr{Type: p.Type, Config: p.Config | uint64(c.typ)<<32}, c.name})
			}
			return e
		}
	}
	e.Attrs = []PMUAttr{{Attr: perf.Attr{Type: p.Type, Config: p.Config}}}
	return e
}

// isRaw reports whether name has the form of a raw event: r and hexadecimal
// digits.
func isRaw(name string) bool {
	digits, ok := strings.CutPrefix(name, "r")
	digits = strings.TrimPrefix(digits, "0x")
	for i := range len(digits) {
		if !isHex(digits[i]) {
			return false
		}
	}
	return ok && digits != ""
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// rawEvent returns the event of a raw encoding. Where there are several kinds
// of core it is given to each, with the PMU's own type: the user who writes a
// raw encoding on such a machine must know one that means the same on both.
func (r *Resolver) rawEvent(name string) (*Event, *Error) {
	config, err := strconv.ParseUint(strings.TrimPrefix(name[1:], "0x"), 16, 64)
	if err != nil {
		return nil, syntaxError("a raw event has at most 64 bits: 16 hexadecimal digits")
	}
	e := &Event{
		Type:   "r" + strconv.FormatUint(config, 16),
		Unit:   unitCount,
		Period: periodRaw,
		Kind:   Raw,
	}
	if cores := r.corePMUs(); len(cores) > 1 {
		for _, c := range cores {
			e.Attrs = append(e.Attrs, PMUAttr{perf.Attr{Type: c.typ, Config: config}, c.name})
		}
		return e, nil
	}
	e.Attrs = []PMUAttr{{Attr: perf.Attr{Type: perf.TypeRaw, Config: config}}}
	return e, nil
}

// finish applies the modifiers, and what the PMU makes of them, last of all.
func (r *Resolver) finish(e *Event, m *modifiers) (*Event, *Error) {
	e.PrecisePreset = r.Precise != nil && !m.preciseGiven && e.Kind.precise()
	if e.PrecisePreset && *r.Precise > 0 {
		m.precise, m.preciseGiven = *r.Precise, true
	}
	if err := m.apply(e); err != nil {
		return nil, err
	}
	if e.PrecisePreset && *r.Precise == 0 { // for which there is no modifier
		for i := range e.Attrs {
			e.Attrs[i].Precise = 0
		}
	}
	check := r.checkPrecise
	if ibs := r.ibsOf(e, m); ibs != nil {
		check = ibs.adaptIBS
	}
	if err := check(e); err != nil {
		return nil, err
	}
	r.addLeaders(e)
	return e, nil
}

// unknownName returns the error for a plain name that nothing answers to.
func (r *Resolver) unknownName(name string) *Error {
	switch {
	case strings.ContainsAny(name, "*?[]"):
		return syntaxError("wildcards name several events; name one")
	case strings.ContainsAny(name, ",{}"):
		return syntaxError("this names several events or a group; name one")
	}
	known := cacheNames()
	for i := range table {
		known = append(known, table[i].Names()...)
	}
	for _, p := range r.corePMUs() {
		known = append(known, p.list("events")...)
	}
	err := unknownError("no event has this name here", name, known)
	if len(err.Near) == 0 {
		// Perhaps one from the tables that perf brings along.
		err.Reason += "; those of the CPU vendor's manual are written by their encoding, as PMU/event=0xNN,umask=0xNN/ or rHEX (perf list --details shows it)"
	}
	return err
}
