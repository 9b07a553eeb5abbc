// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package perfevent turns the name of a performance event, written as
// perf-list(1) writes it, into what perf_event_open(2) wants to know.
//
// It is a pure translation: it opens no event and makes no system call of its
// own. What a name depends on outside the string (the PMUs that the kernel
// describes in sysfs, the tracepoints in tracefs, the program's symbols) comes
// in through a [Resolver], so that the names of any machine can be resolved,
// and tested, on any other.
//
// Whether this process may open an event, and whether it then fires, is for
// the caller to find out.
package perfevent

import "internal/runtime/perf"

// MaxPeriod is the longest period that the kernel takes (perf_event_open(2),
// EINVAL: the highest bit of sample_period must not be set).
const MaxPeriod = 1<<63 - 1

// A PMUAttr selects and filters one event on one PMU.
type PMUAttr struct {
	perf.Attr
	PMU string // its name in sysfs; "" leaves the choice to the kernel
}

// An Event is a parsed event name.
type Event struct {
	// Name is the canonical spelling: perf's own name, whatever alias was
	// given, with those modifiers that ask for something other than the
	// default. Two requests for the same thing under different aliases have
	// the same Name ("cycles" for cpu-cycles:u, "cycles:uk").
	Name string

	// Type is Name without modifiers (or the name= term of a PMU event). What
	// a profile has for it is up to SampleTypes.
	Type string

	// Unit is the sample type's unit: "nanoseconds" for clocks, else "count".
	Unit string

	// Period is the preset sampling period in Units, used when none is asked
	// for: a prime (see PrimePeriod), a prime multiple of Quantum, or 1.
	Period uint64

	// Quantum, if not 0, divides every period that the PMU accepts.
	Quantum uint64

	Kind Kind

	// KernelOnly says that the event occurs only in kernel mode: excluding
	// the kernel would count nothing, so it is included by default, and the
	// process needs the permission for that.
	KernelOnly bool

	// PrecisePreset says that the precision is Resolver.Precise: the name
	// asks for none.
	PrecisePreset bool

	// KernelOptional says that the event, a clock, includes the kernel by
	// default: time in the kernel is CPU time. A process that lacks the permission
	// for that can fall back on UserOnly. (With :uk the kernel is asked for, and not
	// optional.)
	KernelOptional bool

	// Attrs has one element; several on machines with several kinds of core,
	// where the event is to be opened with each, and the samples summed: a
	// thread counts with one of them at a time, whichever core it is on.
	Attrs []PMUAttr
}

// SamplePeriod returns the period to give to the kernel when the user asks for
// a sample every p events: the preset if p is 0, else the nearest period that
// the PMU accepts and that does not lock onto regular code (see PrimePeriod).
func (e *Event) SamplePeriod(p uint64) uint64 {
	if p == 0 {
		return e.Period
	}
	return quantize(p, e.Quantum)
}

// KernelIncluded reports whether the event counts in kernel mode as well.
func (e *Event) KernelIncluded() bool {
	for i := range e.Attrs {
		if !e.Attrs[i].ExcludeKernel {
			return true
		}
	}
	return false
}

// UserOnly excludes the kernel from an event that includes it optionally.
func (e *Event) UserOnly() {
	e.KernelOptional = false
	for i := range e.Attrs {
		e.Attrs[i].ExcludeKernel = true
	}
}

// kernelByDefault reports whether e includes the kernel without modifiers.
func (e *Event) kernelByDefault() bool { return e.KernelOnly || e.Kind == Clock }

// A Kind says where an event comes from, as the bracketed remark in the output
// of perf list does.
type Kind uint8

const (
	Hardware   Kind = iota // generic PMU event, mapped by the kernel
	Cache                  // generic PMU event of a cache, TLB or predictor
	Software               // counted by the kernel
	Clock                  // a timer of the kernel, in nanoseconds
	Breakpoint             // debug register on an address
	Tracepoint             // static or dynamic probe in tracefs
	Raw                    // rHEX: the core PMU's own encoding
	PMU                    // an event or encoding of a PMU in sysfs
)

var kindNames = [...]string{
	Hardware:   "hardware",
	Cache:      "hardware cache",
	Software:   "software",
	Clock:      "clock",
	Breakpoint: "breakpoint",
	Tracepoint: "tracepoint",
	Raw:        "raw",
	PMU:        "PMU",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// precise reports whether events of kind k have levels of precision. Those of
// the others come at an exact place (a breakpoint, a call of the kernel) or
// are timers, and precise_ip means nothing to them.
func (k Kind) precise() bool {
	return k == Hardware || k == Cache || k == Raw || k == PMU
}
