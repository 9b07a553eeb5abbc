// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent

import "strings"

// AMD's instruction-based sampling differs from other PMUs in two ways (Linux,
// arch/x86/events/amd/ibs.c):
//
//   - periods are multiples of 16; the hardware makes the low bits random, so
//     that they do not lock onto loops as even periods otherwise do;
//   - it samples all modes. Since Linux 6.14 the kernel can drop the samples of
//     unwanted ones, if swfilt (config2:0) is set; before, and without swfilt,
//     it refuses any exclusion.
//
// Precise cycles of an AMD core PMU are IBS as well: forward_event_to_ibs.
const (
	ibsQuantum = 16
	ibsPeriod  = period10M // it counts cycles or micro-ops
	ibsSWFilt  = 1
)

// adaptIBS makes e, an event of p, acceptable to an IBS PMU.
func (p *pmu) adaptIBS(e *Event, m *modifiers) *Error {
	if !strings.HasPrefix(p.name, "ibs_") {
		return nil
	}
	e.Quantum = ibsQuantum
	e.Period = quantize(ibsPeriod, ibsQuantum)
	if m.guest != m.host || m.excludeIdle {
		return unsupportedError("PMU "+p.name+" cannot leave out guests, the host or idling; leave out G, H and I", nil)
	}
	if p.has("format/swfilt") {
		e.Attrs[0].Config2 |= ibsSWFilt
		return nil
	}
	if !m.user || !m.kernel || !m.hv {
		return unsupportedError("PMU "+p.name+" cannot leave out the kernel here (that needs swfilt, of Linux 6.14); write "+e.Type+"ukh to sample all modes", nil)
	}
	return nil
}
