// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent

import (
	"errors"
	"internal/runtime/perf"
	"io/fs"
	"strings"
)

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
	a := PMUAttr{PMU: p.name, Attr: perf.Attr{
		Type:    p.typ,
		Config:  enc.config[0],
		Config1: enc.config[1],
		Config2: enc.config[2],
		Config3: enc.config[3],
	}}
	if g := enc.preset; g != nil {
		a.Type, a.Config = g.Type, g.Config
		if len(r.corePMUs()) > 1 {
			a.Config |= uint64(p.typ) << 32 // see presetEvent
		}
	}
	e.Attrs = []PMUAttr{a}
	return e, nil
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
