// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent

import (
	"cmp"
	"io"
	"io/fs"
	"slices"
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
	slices.SortStableFunc(cores, func(a, b *pmu) int { return cmp.Compare(a.typ, b.typ) })
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
