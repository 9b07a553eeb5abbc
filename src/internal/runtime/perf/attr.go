// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perf

// Values of Attr.Type (enum perf_type_id in linux/perf_event.h). PMUs that are
// registered dynamically have larger ones, which sysfs lists.
const (
	TypeHardware   = 0
	TypeSoftware   = 1
	TypeTracepoint = 2
	TypeHWCache    = 3
	TypeRaw        = 4
	TypeBreakpoint = 5
)

// Values of Attr.Config for TypeSoftware (enum perf_sw_ids in
// linux/perf_event.h): the kernel's clocks, what has addresses, and what the
// runtime itself uses.
const (
	SWCPUClock    = 0
	SWTaskClock   = 1
	SWPageFaults  = 2
	SWMinorFaults = 5
	SWMajorFaults = 6
	SWDummy       = 9
)

// Values of Attr.BPType (linux/hw_breakpoint.h).
const (
	BreakpointR = 1
	BreakpointW = 2
	BreakpointX = 4
)

// PreciseBest is the Attr.Precise that asks for the best level that opens.
const PreciseBest = -1

// An Attr is the part of struct perf_event_attr in perf_event_open(2) that
// selects and filters one event.
type Attr struct {
	Type    uint32 // TypeHardware, ..., or the PMU's dynamic type
	BPType  uint32 // BreakpointR|BreakpointW, or BreakpointX, for TypeBreakpoint
	Config  uint64
	Config1 uint64 // bp_addr for TypeBreakpoint: the kernel's union
	Config2 uint64 // bp_len for TypeBreakpoint: the kernel's union
	Config3 uint64 // needs PERF_ATTR_SIZE_VER8 (Linux 6.3)

	// Leader, if not 0, is the Config of an event of the same PMU that must be counted
	// wherever this one is sampled: counters of the event are opened in groups that
	// counters of the other one lead. It is not needed where this one is only counted.
	Leader uint64

	ExcludeUser   bool
	ExcludeKernel bool
	ExcludeHV     bool
	ExcludeIdle   bool
	ExcludeHost   bool
	ExcludeGuest  bool

	// Precise is the skid constraint precise_ip: 0 arbitrary skid, 1 constant
	// skid, 2 requested to have none, 3 required to have none, or PreciseBest.
	// A level that was asked for by name (:p, :pp, :ppp) must open or fail;
	// PreciseBest may fall back as far as 0.
	Precise int8
}

// Clock reports whether the event is a timer of the kernel, in nanoseconds.
//
//go:norace
func (a *Attr) Clock() bool {
	return a.Type == TypeSoftware && a.Config <= SWTaskClock
}

// FilteredClock reports whether the event is a clock that excludes a mode. Its
// counter advances in that mode all the same, only its samples are left out, so
// counter / period does not say how many samples were due.
//
//go:norace
func (a *Attr) FilteredClock() bool {
	return a.Clock() && (a.ExcludeKernel || a.ExcludeUser)
}

// Software reports whether the kernel counts the event at the place where it
// occurs, as it does page faults and context switches.
//
//go:norace
func (a *Attr) Software() bool {
	return a.Type == TypeSoftware && !a.Clock()
}

// OnPMU reports whether the event needs a counter of the processor.
//
//go:norace
func (a *Attr) OnPMU() bool {
	return a.Type != TypeSoftware && a.Type != TypeTracepoint && a.Type != TypeBreakpoint
}

// Interrupts reports whether each overflow of the event is an interrupt. The
// overflows of other events are noticed where the events are counted.
//
//go:norace
func (a *Attr) Interrupts() bool {
	return a.Clock() || a.OnPMU()
}
