// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent_test

import (
	"errors"
	"internal/perfevent"
	"strconv"
	"strings"
	"testing"
)

var errorTests = []struct {
	machine string
	in      string
	kind    perfevent.ErrorKind
	reason  string // after `perf event "IN": `
}{
	{"none", "", syntax, `the name is empty; cycles and task-clock are events, for example`},
	{"none", "cyc\x00les", syntax, `control characters are not allowed in names`},
	{"none", "cycles\n", syntax, `control characters are not allowed in names`},

	// Unknown names, with the nearest ones.
	{"none", "cyles", unknown, `no event has this name here; nearest: cycles`},
	{"none", "CacheMisses", unknown, `no event has this name here; nearest: cacheMisses, cache-misses, branch-misses, branchMisses`},
	{"none", "cache_misses", unknown, `no event has this name here; nearest: cache-misses, cacheMisses, branch-misses, branchMisses`},
	{"none", "llc-loads", unknown, `no event has this name here; nearest: LLC-loads, dTLB-loads, iTLB-loads, LLC-stores, node-loads`},
	{"none", "zzzzzzzzzzzz", unknown, `no event has this name here; those of the CPU vendor's manual are written by their encoding, as PMU/event=0xNN,umask=0xNN/ or rHEX (perf list --details shows it)`},
	{"skylake", "mem-load", unknown, `no event has this name here; nearest: mem-loads, LLC-loads`},
	{"none", "cyles:u", unknown, `no event has this name here; nearest: cycles`},
	{"skylake", "INST_RETIRED.ANY", unknown, `no event has this name here; those of the CPU vendor's manual are written by their encoding, as PMU/event=0xNN,umask=0xNN/ or rHEX (perf list --details shows it)`},
	{"none", "iTLB-stores", unknown, `the instruction TLB has no such operation; nearest: dTLB-stores, LLC-stores, iTLB-loads, node-stores, dTLB-loads`},
	{"none", "timer", unsupported, `it is the operating system's timer, not a perf event, and is chosen by itself (pprof.OSTimer)`},
	{"none", "dummy", unsupported, `it counts nothing; perf record uses it to carry side-band records`},
	{"none", "duration_time", unsupported, `it is a figure of perf stat, not an event`},
	{"none", "cycles,instructions", syntax, `this names several events or a group; name one`},
	{"none", "{cycles}", syntax, `this names several events or a group; name one`},
	{"none", "cyc*", syntax, `wildcards name several events; name one`},

	// Modifiers.
	{"none", "cycles:", syntax, `nothing follows the colon; modifiers are u, k, h, p, pp, ppp, P, G, H and I`},
	{"none", "cycles:z", syntax, `unknown modifier "z"; modifiers are u, k, h, p, pp, ppp, P, G, H and I`},
	{"none", "cycles:uu", syntax, `modifier "u" is given twice`},
	{"none", "cycles:pppp", syntax, `at most three p's: ppp is the highest precision`},
	{"none", "cycles:pP", syntax, `p and P exclude each other: P is the highest precision that opens`},
	{"none", "cycles:S", unsupported, `modifier "S" reads a group of counters with each sample, which a profile cannot do; leave it out`},
	{"none", "cycles:uD", unsupported, `modifier "D" pins the event to a counter, which a profile cannot do; leave it out`},
	{"none", "task-clock:p", unsupported, `clock events have no levels of precision; leave out p`},
	{"none", "page-faults:P", unsupported, `software events have no levels of precision; leave out p`},
	{"none", "mem:main.f:x:p", unsupported, `breakpoint events have no levels of precision; leave out p`},
	{"none", "cs:u", unsupported, `context-switches occurs in the kernel only and would count nothing; leave out the modifiers or use :k`},
	{"none", "r1c2:k", unsupported, `raw events are sampled in user mode only; for other modes write the event as PMU/config=0x1c2/k`},
	{"none", "r1c2:ukpp", unsupported, `raw events are sampled in user mode only; for other modes write the event as PMU/config=0x1c2/ukpp`},
	{"none", "r12345678123456789", syntax, `a raw event has at most 64 bits: 16 hexadecimal digits`},

	// PMUs.
	{"none", "cpu/event=1/", unsupported, `PMUs are found in /sys/bus/event_source/devices, which there is not here`},
	{"skylake", "cpu/event=1", syntax, `the closing slash is missing: PMU/term=value,.../`},
	{"skylake", "/event=1/", syntax, `no PMU can be named ""`},
	{"skylake", "../event=1/", syntax, `no PMU can be named ".."`},
	{"skylake", "cpu/../../type/", syntax, `no term can be named ".."`},
	{"skylake", "cpu/..=1/", syntax, `no term can be named ".."`},
	{"skylake", "cpu/event=0x1,,umask=1/", syntax, `no term can be named ""`},
	{"skylake", "cpu/event=/", syntax, `term event has no value`},
	{"skylake", "cpu/event=zz/", syntax, `the value of event is not a number of 64 bits: "zz"`},
	{"skylake", "cpu/event=0x1ff/", syntax, `the value of event is too large: 0x1ff does not fit in config:0-7`},
	{"zen5", "cpu/event=0x1fff/", syntax, `the value of event is too large: 0x1fff does not fit in config:0-7,32-35`},
	{"skylake", "cpu/evnt=0x1/", unknown, `PMU cpu has no term "evnt"; nearest: event`},
	{"skylake", "cpu/mem-load/", unknown, `PMU cpu has no event or term "mem-load"; nearest: mem-loads`},
	{"skylake", "cpu/mem-loads,mem-stores/", syntax, `two events are named: mem-loads and mem-stores`},
	{"skylake", "cpu/cycles,umask=1/", syntax, `cycles is mapped by the kernel and takes no other terms`},
	{"skylake", "cpu/topdown-total-slots.scale/", unknown, `PMU cpu has no event or term "topdown-total-slots.scale"; nearest: topdown-total-slots, topdown-slots-issued`},
	{"skylake", "cpu/event=1,period=1000/", unsupported, `term period is for perf record; give the period beside the event`},
	{"skylake", "cpu/event=1,percore/", unsupported, `term percore is for perf record; a profile is per thread`},
	{"skylake", "cpu/event=1,name=a b/", syntax, `a name= has letters, digits, '_', '-' and '.' only`},
	{"skylake", "cpu/event=1/z", syntax, `unknown modifier "z"; modifiers are u, k, h, p, pp, ppp, P, G, H and I`},
	{"skylake", "cpu/event=1/:", syntax, `nothing follows the colon; modifiers are u, k, h, p, pp, ppp, P, G, H and I`},
	{"skylake", "cpx/event=1/", unknown, `no PMU "cpx" here; nearest: cpu`},
	{"lunarlake", "cpu/event=1/", unknown, `no PMU "cpu" here; the cores' are cpu_core, cpu_atom`},
	{"neoverse", "cpu/event=1/", unknown, `no PMU "cpu" here; the cores' are armv8_pmuv3_0`},
	{"vm", "cpu/event=1/", unknown, `no PMU "cpu" here`},
	{"power9", "badtype/event=1/", unsupported, `PMU badtype cannot be read: strconv.ParseUint: parsing "x": invalid syntax`},
	{"power9", "cpu/byCore/", syntax, `byCore needs a value for core: cpu/byCore,core=.../`},
	{"power9", "cpu/broken/", unsupported, `the kernel's definition of broken is not understood: no term can be named "$(id)"`},
	{"power9", "cpu/odd=1/", unsupported, `the kernel's format of odd is not understood: "config4:0"`},
	{"power9", "cpu/reversed=1/", unsupported, `the kernel's format of reversed is not understood: "config:8-0"`},
	{"power9", "cpu/wide=1/", unsupported, `the kernel's format of wide is not understood: "config:0-64"`},

	// PMUs without samples.
	{"vm", "power/energy-psys/", unsupported, `PMU power counts for a whole chip (it has a cpumask), not for a thread, so it cannot be sampled in a program; use perf stat -a`},
	{"skylake", "uncore_imc_0/cas_count_read/", unsupported, `PMU uncore_imc_0 counts for a whole chip (it has a cpumask), not for a thread, so it cannot be sampled in a program; use perf stat -a`},
	{"skylake", "cas_count_read", unsupported, `PMU uncore_imc_0 counts for a whole chip (it has a cpumask), not for a thread, so it cannot be sampled in a program; use perf stat -a`},
	{"vm", "msr/tsc/", unsupported, `PMU msr: it counts but never interrupts, so it cannot be sampled`},
	{"skylake", "intel_pt//u", unsupported, `PMU intel_pt: it writes a trace for perf record to decode, not samples`},
	{"neoverse", "arm_spe_0/ts_enable=1/", unsupported, `PMU arm_spe_0: it writes a trace for perf record to decode, not samples`},
	{"vm", "uprobe/retprobe/", unsupported, `PMU uprobe: write mem:SYMBOL:x for a function of the program, or a tracepoint made by perf probe`},
	{"vm", "software/config=1/", unsupported, `PMU software: write software events by their plain names, such as page-faults`},

	// Precision and IBS.
	{"zen5", "instructions:p", unsupported, `AMD processors sample cycles, r76 and rc1 precisely, nothing else; leave out p`},
	{"zen5", "cycles:ppp", unsupported, `the highest precision of PMU ibs_op is :pp`},
	{"zen5", "ibs_op//H", unsupported, `PMU ibs_op cannot leave out guests, the host or idling; leave out G, H and I`},
	{"zen2", "ibs_op//", unsupported, `PMU ibs_op cannot leave out the kernel here, for want of format/swfilt; add the modifiers ukh to sample all modes`},
	{"zen2", "cycles:p", unsupported, `PMU ibs_op cannot leave out the kernel here, for want of format/swfilt; add the modifiers ukh to sample all modes`},

	// Tracepoints.
	{"none", "sched:sched_switch", unsupported, `tracepoints are found in /sys/kernel/tracing, which there is not here`},
	{"skylake", "sched:sched_swich", unknown, `system sched has no tracepoint "sched_swich" here; nearest: sched:sched_switch, sched:sched_waking, sched:sched_wakeup`},
	{"skylake", "shed:sched_switch", unknown, `no tracepoints of system "shed" here; nearest: sched:`},
	{"skylake", "sched:*", syntax, `wildcards name several events; name one`},
	{"skylake", "sched:..", syntax, `this is no event with modifiers and no tracepoint, which is written system:event`},
	{"skylake", "..:sched_switch", syntax, `this is no event with modifiers and no tracepoint, which is written system:event`},
	{"skylake", "sched:sched_switch:u", unsupported, `sched:sched_switch occurs in the kernel only and would count nothing; leave out the modifiers or use :k`},
	{"skylake", "sched:sched_switch:", syntax, `nothing follows the colon; modifiers are u, k, h, p, pp, ppp, P, G, H and I`},

	// Breakpoints.
	{"none", "mem:", syntax, `no address; write mem:ADDRESS_OR_SYMBOL[/len][:access]`},
	{"none", "mem::x", syntax, `no address; write mem:ADDRESS_OR_SYMBOL[/len][:access]`},
	{"none", "mem:/4:w", syntax, `no address; write mem:ADDRESS_OR_SYMBOL[/len][:access]`},
	{"none", "mem:main.f:", syntax, `after the colon comes the access, r, w, rw or x, not ""`},
	{"none", "mem:main.f:y", syntax, `after the colon comes the access, r, w, rw or x, not "y"`},
	{"none", "mem:main.f:y:u", syntax, `between the colons comes the access, r, w, rw or x, not "y"`},
	{"none", "mem:main.f:xx", syntax, `access "x" is given twice`},
	{"none", "mem:main.f:rwx", syntax, `a breakpoint is on execution (x) or on data (r, w, rw), not on both; use two events`},
	{"none", "mem:main.f/4:x", syntax, `a breakpoint on execution has no length; leave out /4`},
	{"none", "mem:0x1000/3:w", syntax, `a length is 1, 2, 4 or 8, not "3"`},
	{"none", "mem:0x1000/:w", syntax, `a length is 1, 2, 4 or 8, not ""`},
	{"none", "mem:0x1001/4:w", unsupported, `the address 0x1001 is not a multiple of the length 4; give a smaller /len`},
	{"none", "mem:main.packed:w", unsupported, `the address 0x500022 is not a multiple of the length 4; give a smaller /len`},
	{"none", "mem:0x10000000000000000:w", syntax, `not an address of 64 bits: "0x10000000000000000"`},
	{"none", "mem:main.g:x", unknown, `no function or package-level variable has this name`},
}

func TestParseErrors(t *testing.T) {
	for _, tt := range errorTests {
		_, err := machine(t, tt.machine).Parse(tt.in)
		var pe *perfevent.Error
		if !errors.As(err, &pe) {
			t.Errorf("%s: %q: error %v, want an *Error", tt.machine, tt.in, err)
			continue
		}
		want := "perf event " + strconv.Quote(tt.in) + ": " + tt.reason
		if pe.Kind != tt.kind || err.Error() != want {
			t.Errorf("%s: %q:\n got %d %s\nwant %d %s", tt.machine, tt.in, pe.Kind, err, tt.kind, want)
		}
		if pe.Event != tt.in {
			t.Errorf("%s: %q: Event %q", tt.machine, tt.in, pe.Event)
		}
		if strings.Contains(pe.Reason, "nearest") {
			t.Errorf("%s: nearest names are in Reason: %s", tt.in, pe.Reason)
		}
	}
}
