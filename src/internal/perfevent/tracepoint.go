// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent

import (
	"errors"
	"internal/runtime/perf"
	"io/fs"
	"strconv"
	"strings"
)

// traceEvents is where tracefs has a directory for each system, and in it one
// for each tracepoint, with its number in the file id.
const traceEvents = "events"

// tracefsRemedy says how an ordinary user gets to see tracepoints: tracefs is
// mounted for root alone.
const tracefsRemedy = "run as root, or let root do: mount -o remount,mode=755 /sys/kernel/tracing"

// hasTraceSystem reports whether tracefs shows a system of this name.
func (r *Resolver) hasTraceSystem(name string) bool {
	if r.Tracefs == nil || !validName(name) {
		return false
	}
	_, err := fs.Stat(r.Tracefs, traceEvents+"/"+name)
	return err == nil
}

// parseTracepoint parses SYSTEM:EVENT[:modifiers], cut at the first colon.
func (r *Resolver) parseTracepoint(system, rest string) (*Event, *Error) {
	name, mods, colon := strings.Cut(rest, ":")
	if strings.ContainsAny(system+name, "*?[]") {
		return nil, syntaxError("wildcards name several events; name one")
	}
	if !validName(system) || !validName(name) {
		return nil, syntaxError("this is no event with modifiers and no tracepoint, which is written system:event")
	}
	var m modifiers
	if colon {
		var err *Error
		if m, err = parseModifiers(mods); err != nil {
			return nil, err
		}
	}
	id, err := r.tracepointID(system, name)
	if err != nil {
		return nil, err
	}
	e := &Event{
		Type:       system + ":" + name,
		Unit:       unitCount,
		Period:     periodEach,
		Kind:       Tracepoint,
		KernelOnly: true,
		Attrs:      []PMUAttr{{Attr: perf.Attr{Type: perf.TypeTracepoint, Config: id}}},
	}
	return r.finish(e, &m)
}

func (r *Resolver) tracepointID(system, name string) (uint64, *Error) {
	if r.Tracefs == nil {
		return 0, unsupportedError("tracepoints are found in /sys/kernel/tracing, which there is not here", nil)
	}
	s, err := readFile(r.Tracefs, traceEvents+"/"+system+"/"+name+"/id")
	if err == nil {
		id, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return 0, unsupportedError("the tracepoint's number is not understood: "+quote(s), nil)
		}
		return id, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		if _, derr := fs.ReadDir(r.Tracefs, traceEvents); derr == nil {
			return 0, r.unknownTracepoint(system, name)
		} else if errors.Is(derr, fs.ErrNotExist) {
			return 0, unsupportedError("tracefs is not mounted on /sys/kernel/tracing; let root do: mount -t tracefs nodev /sys/kernel/tracing", err)
		}
	}
	return 0, unsupportedError("/sys/kernel/tracing cannot be read ("+cause(err)+"); "+tracefsRemedy, err)
}

func (r *Resolver) unknownTracepoint(system, name string) *Error {
	if !r.hasTraceSystem(system) {
		var known []string
		for _, s := range r.traceDir("") {
			known = append(known, s+":")
		}
		return unknownError("no tracepoints of system "+quote(system)+" here", system+":", known)
	}
	var known []string
	for _, n := range r.traceDir(system) {
		known = append(known, system+":"+n)
	}
	return unknownError("system "+system+" has no tracepoint "+quote(name)+" here", system+":"+name, known)
}

// traceDir returns the systems, or the tracepoints of one, sorted.
func (r *Resolver) traceDir(system string) []string {
	dir := traceEvents
	if system != "" {
		dir += "/" + system
	}
	if r.Tracefs == nil {
		return nil
	}
	files, err := fs.ReadDir(r.Tracefs, dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, f := range files {
		if f.IsDir() && validName(f.Name()) {
			names = append(names, f.Name())
		}
	}
	return names
}
