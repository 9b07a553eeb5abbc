// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent

import "strings"

// A Listing is one line of what can be named on a machine.
type Listing struct {
	Name    string // Parse accepts it
	Aliases []string
	Kind    Kind
	Desc    string // for table events a description, for PMU events their encoding
	Period  uint64 // preset, in the event's unit

	// Err, if not nil, is why the event can't be sampled by a program, as
	// Parse would say. Nil promises nothing: whether the kernel opens the
	// event for this process, and whether it then fires, must be tried.
	Err error
}

// List returns everything that has a name here, in the order of perf list:
// hardware and software events, cache events, then the events of each PMU in
// sysfs. Raw events, breakpoints and tracepoints are too many; for the last
// see Tracepoints.
func (r *Resolver) List() []Listing {
	var all []Listing
	for i := range table {
		p := &table[i]
		all = append(all, Listing{Name: p.Name, Aliases: p.Names()[1:], Kind: p.Kind, Desc: p.Desc, Period: p.Period})
	}
	for _, p := range cacheTable() {
		all = append(all, Listing{Name: p.Name, Aliases: aliasesOfCache(p.Name), Kind: Cache, Desc: p.Desc, Period: p.Period})
	}
	for _, p := range r.pmus() {
		all = append(all, r.listPMU(p)...)
	}
	return all
}

// listPMU returns the named events of one PMU. IBS has none, and is an event
// itself.
func (r *Resolver) listPMU(p *pmu) []Listing {
	var all []Listing
	names := p.list("events")
	if strings.HasPrefix(p.name, "ibs_") && len(names) == 0 {
		names = []string{""}
	}
	for _, name := range names {
		l := Listing{Name: p.name + "/" + name + "/", Kind: PMU}
		if name != "" {
			l.Desc, _ = p.read("events/" + name)
		}
		if e, err := r.Parse(l.Name); err != nil {
			l.Err = err
		} else {
			l.Period = e.Period
		}
		if p.core && lookup(name) == nil {
			l.Aliases = []string{name}
		}
		all = append(all, l)
	}
	return all
}

// Tracepoints returns the names of all tracepoints that tracefs shows, sorted:
// some thousands, or none if tracefs can't be read.
func (r *Resolver) Tracepoints() []string {
	var all []string
	for _, system := range r.traceDir("") {
		for _, name := range r.traceDir(system) {
			all = append(all, system+":"+name)
		}
	}
	return all
}
