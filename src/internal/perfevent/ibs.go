// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent

import (
	"internal/runtime/perf"
	"strings"
)

// AMD's instruction-based sampling differs from other PMUs (Linux,
// arch/x86/events/amd/ibs.c):
//
//   - periods are multiples of 16; the hardware makes the low bits random, so
//     that they do not lock onto loops as even periods otherwise do;
//   - it samples all modes. Where format/swfilt exists (config2:0), the kernel
//     can drop the samples of unwanted ones; without it, it refuses to exclude
//     any;
//   - precise cycles (cycles, r76) and micro-ops (rc1) of an AMD core PMU are
//     IBS in disguise, of at most level 2; no other event of it is precise.
const (
	ibsQuantum = 16
	ibsPeriod  = periodCycles // it counts cycles or micro-ops
	ibsSWFilt  = 1
)

// ibsOf returns the IBS PMU that e is sampled with, or nil: its own or, if a
// level of precision is asked for by name, that of the machine. Without that,
// a prime period and the core PMU are the better choice for cycles.
func (r *Resolver) ibsOf(e *Event, m *modifiers) *pmu {
	if r.Sys == nil || !e.Kind.precise() {
		return nil
	}
	name := e.Attrs[0].PMU
	if !strings.HasPrefix(name, "ibs_") {
		if !m.preciseGiven {
			return nil
		}
		name = "ibs_op"
	}
	ibs, err := r.pmu(name)
	if err != nil {
		return nil
	}
	return ibs
}

// adaptIBS makes e acceptable to the IBS PMU p.
func (p *pmu) adaptIBS(e *Event) *Error {
	a := &e.Attrs[0]
	if a.PMU != p.name && !hasIBS(a) {
		if a.Precise > 0 {
			return unsupportedError("AMD processors sample cycles, r76 and rc1 precisely, nothing else; leave out p", nil)
		}
		return nil
	}
	if a.Precise > 2 {
		return unsupportedError("the highest precision of PMU "+p.name+" is :pp", nil)
	}
	if a.ExcludeGuest || a.ExcludeHost || a.ExcludeIdle {
		return unsupportedError("PMU "+p.name+" cannot leave out guests, the host or idling; leave out G, H and I", nil)
	}
	if p.has("format/swfilt") {
		a.Config2 |= ibsSWFilt
	} else if a.ExcludeUser || a.ExcludeKernel || a.ExcludeHV {
		if a.PMU != p.name && a.Precise == perf.PreciseBest {
			return nil // the best that opens is none
		}
		return unsupportedError("PMU "+p.name+" cannot leave out the kernel here, for want of format/swfilt; add the modifiers ukh to sample all modes", nil)
	}
	e.Quantum = ibsQuantum
	if a.PMU == p.name {
		e.Period = ibsPeriod
	}
	e.Period = quantize(e.Period, ibsQuantum)
	return nil
}

// hasIBS reports whether the kernel gives a, an event of an AMD core PMU, to
// IBS if it is to be precise.
func hasIBS(a *PMUAttr) bool {
	switch a.Type {
	case perf.TypeHardware:
		return a.Config == 0
	case perf.TypeRaw:
		return a.Config == 0x76 || a.Config == 0xc1
	}
	return false
}
