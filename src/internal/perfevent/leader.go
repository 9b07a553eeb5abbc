// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent

// The part of config that says which event of Intel's PMUs it is, without filters, and
// that of load latencies: INTEL_ARCH_EVENT_MASK and is_mem_loads_event in arch/x86/events.
const (
	selector    = 0xffff
	loadLatency = 0x01cd
)

// addLeaders gives Intel's load latency event the leader that it needs.
//
// On some processors, of which Sapphire Rapids was the first, the event does not work right
// unless another event, whose count is irrelevant, is active before it in its group. With
// data addresses the kernel even refuses it otherwise (intel_pmu_hw_config in
// arch/x86/events/intel/core.c). The PMUs of these processors have mem-loads-aux.
func (r *Resolver) addLeaders(e *Event) {
	if r.Sys == nil || e.Kind != Raw && e.Kind != PMU {
		return
	}
	for _, p := range r.pmusOf(e) {
		if !p.has("events/mem-loads-aux") {
			continue
		}
		aux, err := p.encode([]term{{name: "mem-loads-aux"}})
		if err != nil {
			continue
		}
		for i := range e.Attrs {
			if a := &e.Attrs[i]; a.Type == p.typ && a.Config&selector == loadLatency {
				a.Leader = aux.config[0]
			}
		}
	}
}
