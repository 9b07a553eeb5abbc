// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

import (
	"internal/runtime/perf"
	"unsafe"
)

// perfMaxPrecise is the highest level of precise_ip: required to have no skid.
const perfMaxPrecise = 3

// perfAttr returns the kernel's form of an event's attributes, for a counter that
// is opened stopped and wakes its reader at each sample. The caller adds the
// period and what reads return.
func perfAttr(a *perf.Attr, precise int8) perfEventAttr {
	attr := perfEventAttr{
		typ:          a.Type,
		size:         uint32(unsafe.Sizeof(perfEventAttr{})),
		config:       a.Config,
		sampleType:   perfSampleType,
		clockid:      1, // CLOCK_MONOTONIC, as nanotime
		bits:         perfAttrBit(perf.AttrDisabled) | perfAttrBit(perf.AttrUseClockid) | perfAttrPreciseIP(uint(precise)),
		wakeupEvents: 1,
		bpType:       a.BPType,
		config1:      a.Config1,
		config2:      a.Config2,
		config3:      a.Config3,
	}
	for _, f := range [...]struct {
		set bool
		bit uint
	}{
		{a.ExcludeUser, perf.AttrExcludeUser},
		{a.ExcludeKernel, perf.AttrExcludeKernel},
		{a.ExcludeHV, perf.AttrExcludeHV},
		{a.ExcludeIdle, perf.AttrExcludeIdle},
		{a.ExcludeHost, perf.AttrExcludeHost},
		{a.ExcludeGuest, perf.AttrExcludeGuest},
	} {
		if f.set {
			attr.bits |= perfAttrBit(f.bit)
		}
	}
	return attr
}
