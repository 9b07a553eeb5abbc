// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent

// selector is the part of config that says which event of Intel's PMUs it is, without
// the filters: INTEL_ARCH_EVENT_MASK in arch/x86/include/asm/perf_event.h.
const selector = 0xffff

// addLeaders adds to Intel's load latency event what it must be counted beside.
//
// The event of processors since Sapphire Rapids does not work right unless another one is
// active in front of it in its group, whose count is irrelevant; with data addresses, the
// kernel even refuses it then (intel_pmu_hw_config in arch/x86/events/intel/core.c). Where
// a processor needs that, its PMU has mem-loads-aux.
func (r *Resolver) addLeaders(e *Event) {
	if r.Sys == nil || e.Kind != Raw && e.Kind != PMU {
		return
	}
	for _, p := range r.pmusOf(e) {
		if !p.has("events/mem-loads-aux") {
			continue
		}
		loads, err1 := p.encode([]term{{name: "mem-loads"}})
		aux, err2 := p.encode([]term{{name: "mem-loads-aux"}})
		if err1 != nil || err2 != nil {
			continue
		}
		for i := range e.Attrs {
			if a := &e.Attrs[i]; a.Type == p.typ && a.Config&selector == loads.config[0]&selector {
				a.Leader = aux.config[0]
			}
		}
	}
}
