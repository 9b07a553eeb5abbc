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

// show writes attributes in short: "type:config", then what else is not zero.
// The filters are written as what is counted, since that is what is asked for.
func show(attrs []perfevent.PMUAttr) string {
	var all []string
	for _, a := range attrs {
		s := strconv.FormatUint(uint64(a.Type), 10) + ":" + hex(a.Config)
		for i, c := range []uint64{a.Config1, a.Config2, a.Config3} {
			if c != 0 {
				s += " c" + strconv.Itoa(i+1) + "=" + hex(c)
			}
		}
		if a.BPType != 0 {
			s += " bp=" + strconv.Itoa(int(a.BPType))
		}
		s += " "
		for _, m := range []struct {
			excluded bool
			letter   string
		}{{a.ExcludeUser, "u"}, {a.ExcludeKernel, "k"}, {a.ExcludeHV, "h"}, {a.ExcludeHost, "H"}, {a.ExcludeGuest, "G"}, {a.ExcludeIdle, "i"}} {
			if !m.excluded {
				s += m.letter
			}
		}
		s += " p" + strconv.Itoa(int(a.Precise))
		if a.PMU != "" {
			s += " " + a.PMU
		}
		if a.Leader != 0 {
			s += " after " + hex(a.Leader)
		}
		all = append(all, s)
	}
	return strings.Join(all, "; ")
}

func hex(x uint64) string { return "0x" + strconv.FormatUint(x, 16) }

// The encodings of generic events are the kernel's: enum perf_hw_id,
// perf_sw_ids and perf_hw_cache_id of include/uapi/linux/perf_event.h. Those of
// PMU events were compared with what perf stat -vv of Linux 6.1 puts into its
// attributes when it is given the same text and, in SYSFS_PATH, the same tree.
// It differs in what it does not know yet (config3, cpu/cycles/, extended types
// on Arm, ':' after a slash) and in that it ORs a term with that of the named
// event: ldlat=30 over mem-loads' 3 becomes 31.
var parseTests = []struct {
	machine string
	in      string
	name    string // canonical; "" if the same
	attrs   string
}{
	// Hardware.
	{"none", "cycles", "", "0:0x0 uHGi p-1"},
	{"none", "cpu-cycles", "cycles", "0:0x0 uHGi p-1"},
	{"none", "instructions", "", "0:0x1 uHGi p-1"},
	{"none", "cache-references", "", "0:0x2 uHGi p-1"},
	{"none", "cacheReferences", "cache-references", "0:0x2 uHGi p-1"},
	{"none", "cache-misses", "", "0:0x3 uHGi p-1"},
	{"none", "cacheMisses", "cache-misses", "0:0x3 uHGi p-1"},
	{"none", "branches", "", "0:0x4 uHGi p-1"},
	{"none", "branch-instructions", "branches", "0:0x4 uHGi p-1"},
	{"none", "branch-misses", "", "0:0x5 uHGi p-1"},
	{"none", "branchMisses", "branch-misses", "0:0x5 uHGi p-1"},
	{"none", "bus-cycles", "", "0:0x6 uHGi p-1"},
	{"none", "stalled-cycles-frontend", "", "0:0x7 uHGi p-1"},
	{"none", "idle-cycles-frontend", "stalled-cycles-frontend", "0:0x7 uHGi p-1"},
	{"none", "stalled-cycles-backend", "", "0:0x8 uHGi p-1"},
	{"none", "ref-cycles", "", "0:0x9 uHGi p-1"},

	// On one kind of core the kernel maps them; on several each PMU is named.
	{"vm", "cycles", "", "0:0x0 uHGi p-1"},
	{"skylake", "cycles", "", "0:0x0 uHGi p-1"},
	{"neoverse", "cycles", "", "0:0x0 uHGi p-1"},
	{"lunarlake", "cycles", "", "0:0x400000000 uHGi p-1 cpu_core; 0:0xa00000000 uHGi p-1 cpu_atom"},
	{"lunarlake", "branches:pp", "", "0:0x400000004 uHGi p2 cpu_core; 0:0xa00000004 uHGi p2 cpu_atom"},
	{"lunarlake", "LLC-load-misses", "", "3:0x400010002 uHGi p-1 cpu_core; 3:0xa00010002 uHGi p-1 cpu_atom"},
	{"lunarlake", "task-clock", "", "1:0x1 ukHGi p0"},
	{"bigLITTLE", "instructions", "", "0:0x800000001 uHGi p-1 armv8_cortex_a53; 0:0x900000001 uHGi p-1 armv8_cortex_a72"},

	// Modifiers.
	{"none", "cycles:u", "cycles", "0:0x0 uHGi p-1"},
	{"none", "cycles:k", "", "0:0x0 kHGi p-1"},
	{"none", "cycles:h", "", "0:0x0 hHGi p-1"},
	{"none", "cycles:ku", "cycles:uk", "0:0x0 ukHGi p-1"},
	{"none", "cycles:hku", "cycles:ukh", "0:0x0 ukhHGi p-1"},
	{"none", "cycles:p", "", "0:0x0 uHGi p1"},
	{"none", "cycles:ppp", "", "0:0x0 uHGi p3"},
	{"none", "cycles:P", "", "0:0x0 uHGi p-1"},
	{"none", "cycles:pkp", "cycles:kpp", "0:0x0 kHGi p2"},
	{"none", "cycles:H", "", "0:0x0 uHi p-1"},
	{"none", "cycles:G", "", "0:0x0 uGi p-1"},
	{"none", "cycles:GH", "cycles", "0:0x0 uHGi p-1"},
	{"none", "cycles:I", "", "0:0x0 uHG p-1"},
	{"skylake", "cycles:ppp", "", "0:0x0 uHGi p3"},

	// Caches.
	{"none", "L1-dcache-load-misses", "", "3:0x10000 uHGi p-1"},
	{"none", "L1-dcache-loads", "", "3:0x0 uHGi p-1"},
	{"none", "L1-dcache-stores", "", "3:0x100 uHGi p-1"},
	{"none", "L1-dcache-prefetches", "", "3:0x200 uHGi p-1"},
	{"none", "L1-dcache-prefetch-misses", "", "3:0x10200 uHGi p-1"},
	{"none", "L1-icache-load-misses", "", "3:0x10001 uHGi p-1"},
	{"none", "LLC-loads", "", "3:0x2 uHGi p-1"},
	{"none", "LLC-store-misses", "", "3:0x10102 uHGi p-1"},
	{"none", "dTLB-store-misses", "", "3:0x10103 uHGi p-1"},
	{"none", "iTLB-loads", "", "3:0x4 uHGi p-1"},
	{"none", "iTLB-load-misses", "", "3:0x10004 uHGi p-1"},
	{"none", "branch-loads", "", "3:0x5 uHGi p-1"},
	{"none", "branch-load-misses", "", "3:0x10005 uHGi p-1"},
	{"none", "node-prefetch-misses", "", "3:0x10206 uHGi p-1"},
	{"none", "l1d", "L1-dcache-loads", "3:0x0 uHGi p-1"},
	{"none", "l1d-misses", "L1-dcache-load-misses", "3:0x10000 uHGi p-1"},
	{"none", "l1-d-misses-write", "L1-dcache-store-misses", "3:0x10100 uHGi p-1"},
	{"none", "L2-speculative-read-refs", "LLC-prefetches", "3:0x202 uHGi p-1"},
	{"none", "Data-TLB-Reference", "dTLB-loads", "3:0x3 uHGi p-1"},
	{"none", "bpu-read-miss:kp", "branch-load-misses:kp", "3:0x10005 kHGi p1"},

	// Software and clocks.
	{"none", "cpu-clock", "", "1:0x0 ukHGi p0"},
	{"none", "task-clock", "", "1:0x1 ukHGi p0"},
	{"none", "task-clock:u", "", "1:0x1 uHGi p0"},
	{"none", "task-clock:k", "", "1:0x1 kHGi p0"},
	{"none", "task-clock:uk", "", "1:0x1 ukHGi p0"},
	{"none", "page-faults", "", "1:0x2 uHGi p0"},
	{"none", "faults", "page-faults", "1:0x2 uHGi p0"},
	{"none", "context-switches", "", "1:0x3 ukHGi p0"},
	{"none", "cs", "context-switches", "1:0x3 ukHGi p0"},
	{"none", "cs:k", "context-switches:k", "1:0x3 kHGi p0"},
	{"none", "cs:uk", "context-switches", "1:0x3 ukHGi p0"},
	{"none", "migrations", "cpu-migrations", "1:0x4 ukHGi p0"},
	{"none", "minor-faults", "", "1:0x5 uHGi p0"},
	{"none", "major-faults", "", "1:0x6 uHGi p0"},
	{"none", "alignment-faults", "", "1:0x7 uHGi p0"},
	{"none", "emulation-faults", "", "1:0x8 uHGi p0"},
	{"none", "cgroup-switches", "", "1:0xb ukHGi p0"},

	// Raw.
	{"none", "r1c2", "", "4:0x1c2 uHGi p-1"},
	{"none", "r0x01C2:u", "r1c2", "4:0x1c2 uHGi p-1"},
	{"none", "rffffffffffffffff", "", "4:0xffffffffffffffff uHGi p-1"},
	{"skylake", "r08:pp", "r8:pp", "4:0x8 uHGi p2"},
	{"lunarlake", "rc0", "", "4:0xc0 uHGi p-1 cpu_core; 10:0xc0 uHGi p-1 cpu_atom"},

	// PMUs: terms, ranges, named events, generic events on one kind of core.
	{"skylake", "cpu/event=0x3c,umask=0x1/", "", "4:0x13c uHGi p-1 cpu"},
	{"skylake", "cpu/event=60,umask=1,any/k", "", "4:0x20013c kHGi p-1 cpu"},
	{"skylake", "cpu/event=0x3c/:k", "cpu/event=0x3c/k", "4:0x3c kHGi p-1 cpu"},
	{"skylake", "cpu/event=0xc0,cmask=0xff,inv,edge,pc/", "", "4:0xff8c00c0 uHGi p-1 cpu"},
	{"skylake", "cpu/event=0xb7,umask=1,offcore_rsp=0xffffffffffffffff/", "", "4:0x1b7 c1=0xffffffffffffffff uHGi p-1 cpu"},
	{"skylake", "cpu/mem-loads/", "", "4:0x1cd c1=0x3 uHGi p-1 cpu"},
	{"skylake", "cpu/mem-loads,ldlat=30/pp", "", "4:0x1cd c1=0x1e uHGi p2 cpu"},
	{"skylake", "cpu/ldlat=30,mem-loads/", "", "4:0x1cd c1=0x1e uHGi p-1 cpu"},
	{"sapphirerapids", "mem-loads", "", "4:0x1cd c1=0x3 uHGi p-1 cpu after 0x8203"},
	{"sapphirerapids", "cpu/mem-loads,ldlat=30/ppu", "cpu/mem-loads,ldlat=30/pp", "4:0x1cd c1=0x1e uHGi p2 cpu after 0x8203"},
	{"sapphirerapids", "cpu/event=0xcd,umask=0x1,inv,ldlat=30/k", "", "4:0x8001cd c1=0x1e kHGi p-1 cpu after 0x8203"},
	{"sapphirerapids", "r1cd:p", "", "4:0x1cd uHGi p1 after 0x8203"},
	{"sapphirerapids", "cpu/mem-loads-aux/", "", "4:0x8203 uHGi p-1 cpu"},
	{"sapphirerapids", "cpu/mem-stores/", "", "4:0x2cd uHGi p-1 cpu"},
	{"sapphirerapids", "cycles", "", "0:0x0 uHGi p-1"},
	{"alderlake", "mem-loads", "", "4:0x1cd c1=0x3 uHGi p-1 cpu_core after 0x8203; 10:0x5d0 c1=0x3 uHGi p-1 cpu_atom"},
	{"alderlake", "r1cd", "", "4:0x1cd uHGi p-1 cpu_core after 0x8203; 10:0x1cd uHGi p-1 cpu_atom"},
	{"lunarlake", "cpu_core/mem-loads/", "", "4:0x1cd c1=0x3 uHGi p-1 cpu_core"},
	{"skylake", "cpu/cycles-ct/", "", "4:0x30000003c uHGi p-1 cpu"},
	{"skylake", "cycles-t", "", "4:0x10000003c uHGi p-1 cpu"},
	{"skylake", "mem-stores:p", "", "4:0x82d0 uHGi p1 cpu"},
	{"skylake", "cpu/cycles/", "", "0:0x0 uHGi p-1 cpu"},
	{"skylake", "cpu/cpu-cycles/", "", "4:0x3c uHGi p-1 cpu"},
	{"skylake", "cpu/config=0x1c2,config1=0x7,config2=1,config3=2/", "", "4:0x1c2 c1=0x7 c2=0x1 c3=0x2 uHGi p-1 cpu"},
	{"skylake", "cpu/event=0x3c,name=MY_EVENT.ALL/p", "MY_EVENT.ALL:p", "4:0x3c uHGi p1 cpu"},
	{"skylake", "cpu//", "", "4:0x0 uHGi p-1 cpu"},
	{"lunarlake", "cpu_core/event=0xd1,umask=0x1234/", "", "4:0x1200000034d1 uHGi p-1 cpu_core"},
	{"lunarlake", "cpu_core/cycles/", "", "0:0x400000000 uHGi p-1 cpu_core"},
	{"lunarlake", "cpu_atom/cycles/", "", "0:0xa00000000 uHGi p-1 cpu_atom"},
	{"lunarlake", "cpu_atom/L1-dcache-load-misses/u", "cpu_atom/L1-dcache-load-misses/", "3:0xa00010000 uHGi p-1 cpu_atom"},
	{"lunarlake", "mem-stores", "", "4:0x2cd uHGi p-1 cpu_core; 10:0x6d0 uHGi p-1 cpu_atom"},
	{"lunarlake", "slots", "", "4:0x400 uHGi p-1 cpu_core"},
	{"zen5", "cpu/event=0x1ff/", "", "4:0x1000000ff uHGi p-1 cpu"},
	{"zen5", "cpu/event=0xfff/", "", "4:0xf000000ff uHGi p-1 cpu"},
	{"neoverse", "armv8_pmuv3_0/event=0x11,long/", "", "8:0x11 c1=0x1 uHGi p-1 armv8_pmuv3_0"},
	{"neoverse", "armv8_pmuv3_0/l1d_cache_refill,threshold=0xfff/", "", "8:0x3 c1=0x1ffe0 uHGi p-1 armv8_pmuv3_0"},
	{"neoverse", "l1d_cache_refill:k", "", "8:0x3 kHGi p-1 armv8_pmuv3_0"},
	{"bigLITTLE", "cpu_cycles", "", "8:0x11 uHGi p-1 armv8_cortex_a53; 9:0x11 uHGi p-1 armv8_cortex_a72"},
	{"power9", "cpu/byCore,core=7/", "", "4:0x2 c1=0x10007 uHGi p-1 cpu"},

	// IBS, by itself and behind the precise events of AMD's cores.
	{"zen5", "ibs_op//", "", "11:0x0 c2=0x1 uHGi p-1 ibs_op"},
	{"zen5", "ibs_op/cnt_ctl=1,l3missonly/uk", "", "11:0x90000 c2=0x1 ukHGi p-1 ibs_op"},
	{"zen5", "ibs_fetch/rand_en/", "", "10:0x200000000000000 c2=0x1 uHGi p-1 ibs_fetch"},
	{"zen2", "ibs_op/cnt_ctl/ukh", "", "9:0x80000 ukhHGi p-1 ibs_op"},
	{"zen5", "cycles", "", "0:0x0 uHGi p-1"},
	{"zen5", "cycles:pp", "", "0:0x0 c2=0x1 uHGi p2"},
	{"zen5", "cycles:P", "", "0:0x0 c2=0x1 uHGi p-1"},
	{"zen5", "rc1:p", "", "4:0xc1 c2=0x1 uHGi p1"},
	{"zen5", "cpu/event=0x76/p", "", "4:0x76 c2=0x1 uHGi p1 cpu"},
	{"zen2", "cycles:ukhp", "", "0:0x0 ukhHGi p1"},

	// Tracepoints.
	{"skylake", "sched:sched_switch", "", "2:0x13c ukHGi p0"},
	{"skylake", "sched:sched_wakeup:k", "", "2:0x13e kHGi p0"},
	{"skylake", "u:odd", "", "2:0x9 ukHGi p0"},

	// Breakpoints.
	{"none", "mem:main.f:x", "", "5:0x0 c1=0x401000 c2=0x8 bp=4 uHGi p0"},
	{"none", "mem:main.(*T).m:x", "", "5:0x0 c1=0x401000 c2=0x8 bp=4 uHGi p0"},
	{"none", "mem:example.com/p.f[...]:x", "", "5:0x0 c1=0x401000 c2=0x8 bp=4 uHGi p0"},
	{"none", "mem:gopkg.in/yaml%2ev3.F:x", "", "5:0x0 c1=0x401000 c2=0x8 bp=4 uHGi p0"},
	{"none", "mem:9fans.net/go/acme.(*Win).Ctl:x:uk", "", "5:0x0 c1=0x401000 c2=0x8 bp=4 ukHGi p0"},
	{"none", "mem:main.f/8:x", "mem:main.f:x", "5:0x0 c1=0x401000 c2=0x8 bp=4 uHGi p0"},
	{"none", "mem:0x401000:x", "", "5:0x0 c1=0x401000 c2=0x8 bp=4 uHGi p0"},
	{"none", "mem:0x1000", "mem:0x1000/4:rw", "5:0x0 c1=0x1000 c2=0x4 bp=3 uHGi p0"},
	{"none", "mem:4096/2:w", "", "5:0x0 c1=0x1000 c2=0x2 bp=2 uHGi p0"},
	{"none", "mem:0x1000/8:wr:k", "mem:0x1000/8:rw:k", "5:0x0 c1=0x1000 c2=0x8 bp=3 kHGi p0"},
	{"none", "mem:0x1000:r", "mem:0x1000/4:r", "5:0x0 c1=0x1000 c2=0x4 bp=1 uHGi p0"},
	{"none", "mem:main.word:w", "mem:main.word/8:w", "5:0x0 c1=0x500008 c2=0x8 bp=2 uHGi p0"},
	{"none", "mem:main.word/4:w", "", "5:0x0 c1=0x500008 c2=0x4 bp=2 uHGi p0"},
	{"none", "mem:main.byte:rw:uk", "mem:main.byte/1:rw:uk", "5:0x0 c1=0x500001 c2=0x1 bp=3 ukHGi p0"},
	{"none", "mem:main.byte:uk", "mem:main.byte/1:rw:uk", "5:0x0 c1=0x500001 c2=0x1 bp=3 ukHGi p0"},
	{"none", "mem:main.text:w", "mem:main.text/4:w", "5:0x0 c1=0x500010 c2=0x4 bp=2 uHGi p0"},
}

func TestParse(t *testing.T) {
	for _, tt := range parseTests {
		r := machine(t, tt.machine)
		e, err := r.Parse(tt.in)
		if err != nil {
			t.Errorf("%s: %v", tt.machine, err)
			continue
		}
		want := tt.name
		if want == "" {
			want = tt.in
		}
		if e.Name != want {
			t.Errorf("%s: %s: Name %q, want %q", tt.machine, tt.in, e.Name, want)
		}
		if got := show(e.Attrs); got != tt.attrs {
			t.Errorf("%s: %s:\n got %s\nwant %s", tt.machine, tt.in, got, tt.attrs)
		}
		checkEvent(t, e)
		if strings.Contains(tt.in, "name=") {
			continue
		}
		again, err := r.Parse(e.Name)
		if err != nil {
			t.Errorf("%s: canonical name of %s: %v", tt.machine, tt.in, err)
		} else if again.Name != e.Name {
			t.Errorf("%s: canonical name %q has canonical name %q", tt.machine, e.Name, again.Name)
		}
	}
}

// checkEvent checks what holds for every event.
func checkEvent(t *testing.T, e *perfevent.Event) {
	t.Helper()
	if !strings.HasPrefix(e.Name, e.Type) || e.Type == "" {
		t.Errorf("%s: Type %q is not the name without modifiers", e.Name, e.Type)
	}
	wantUnit := "count"
	if e.Kind == perfevent.Clock {
		wantUnit = "nanoseconds"
	}
	if e.Unit != wantUnit {
		t.Errorf("%s: Unit %q, want %q", e.Name, e.Unit, wantUnit)
	}
	if e.Period == 0 || e.SamplePeriod(0) != e.Period || e.SamplePeriod(e.Period) != e.Period {
		t.Errorf("%s: preset period %d is none that would be asked for", e.Name, e.Period)
	}
	if len(e.Attrs) == 0 {
		t.Errorf("%s: no attributes", e.Name)
	}
	for _, a := range e.Attrs {
		if a.ExcludeUser && a.ExcludeKernel && a.ExcludeHV || a.ExcludeGuest && a.ExcludeHost {
			t.Errorf("%s: everything is excluded", e.Name)
		}
		if a.ExcludeKernel == e.KernelIncluded() {
			t.Errorf("%s: KernelIncluded = %v, ExcludeKernel = %v", e.Name, e.KernelIncluded(), a.ExcludeKernel)
		}
		if e.KernelOnly && a.ExcludeKernel {
			t.Errorf("%s: kernel-only event excludes the kernel", e.Name)
		}
	}
}

func TestKindAndPeriod(t *testing.T) {
	for _, tt := range []struct {
		machine, in string
		kind        perfevent.Kind
		typ         string
		period      uint64
		quantum     uint64
	}{
		{"none", "cycles:kpp", perfevent.Hardware, "cycles", 2_000_003, 0},
		{"none", "instructions", perfevent.Hardware, "instructions", 1_000_003, 0},
		{"none", "cacheMisses", perfevent.Hardware, "cache-misses", 10_007, 0},
		{"none", "L1-dcache-loads", perfevent.Cache, "L1-dcache-loads", 1_000_003, 0},
		{"none", "L1-dcache-load-misses", perfevent.Cache, "L1-dcache-load-misses", 100_003, 0},
		{"none", "LLC-loads", perfevent.Cache, "LLC-loads", 100_003, 0},
		{"none", "LLC-load-misses", perfevent.Cache, "LLC-load-misses", 10_007, 0},
		{"none", "dTLB-load-misses:u", perfevent.Cache, "dTLB-load-misses", 10_007, 0},
		{"none", "task-clock:uk", perfevent.Clock, "task-clock", 1_000_003, 0},
		{"none", "faults", perfevent.Software, "page-faults", 101, 0},
		{"none", "rc1:p", perfevent.Raw, "rc1", 100_003, 0},
		{"none", "mem:main.f:x:uk", perfevent.Breakpoint, "mem:main.f:x", 1, 0},
		{"skylake", "sched:sched_switch:k", perfevent.Tracepoint, "sched:sched_switch", 1, 0},
		{"skylake", "cpu/mem-loads/pp", perfevent.PMU, "cpu/mem-loads/", 100_003, 0},
		{"skylake", "cpu/cycles/k", perfevent.PMU, "cpu/cycles/", 2_000_003, 0},
		{"skylake", "cpu/instructions/", perfevent.PMU, "cpu/instructions/", 1_000_003, 0},
		{"lunarlake", "slots", perfevent.PMU, "slots", 2_000_003, 0},
		{"neoverse", "cpu_cycles", perfevent.PMU, "cpu_cycles", 2_000_003, 0},
		{"neoverse", "inst_retired", perfevent.PMU, "inst_retired", 1_000_003, 0},
		{"zen5", "cycles", perfevent.Hardware, "cycles", 2_000_003, 0},
		{"zen5", "cycles:p", perfevent.Hardware, "cycles", 16 * 125_003, 16},
		{"zen5", "ibs_op//", perfevent.PMU, "ibs_op//", 16 * 125_003, 16},
	} {
		e, err := machine(t, tt.machine).Parse(tt.in)
		if err != nil {
			t.Error(err)
			continue
		}
		if e.Kind != tt.kind || e.Type != tt.typ || e.Period != tt.period || e.Quantum != tt.quantum {
			t.Errorf("%s: %v %q, period %d, quantum %d; want %v %q, %d, %d", tt.in,
				e.Kind, e.Type, e.Period, e.Quantum, tt.kind, tt.typ, tt.period, tt.quantum)
		}
		if p := e.SamplePeriod(1000); tt.quantum == 0 && p != 997 || tt.quantum == 16 && p != 16*61 {
			t.Errorf("%s: SamplePeriod(1000) = %d", tt.in, p)
		}
	}
}

const (
	syntax      = perfevent.ErrSyntax
	unknown     = perfevent.ErrUnknown
	unsupported = perfevent.ErrUnsupported
)

func TestLimits(t *testing.T) {
	r := machine(t, "skylake")
	for _, tt := range []struct{ in, reason string }{
		{strings.Repeat("c", 257), "the name is longer than 256 bytes"},
		{"mem:" + strings.Repeat("c", 1021), "the name is longer than 1024 bytes"},
		{"cpu/" + strings.Repeat("pc,", 32) + "pc/", "more than 32 terms"},
	} {
		_, err := r.Parse(tt.in)
		var pe *perfevent.Error
		if !errors.As(err, &pe) || pe.Kind != perfevent.ErrSyntax || pe.Reason != tt.reason {
			t.Errorf("%d bytes: %v, want %s", len(tt.in), err, tt.reason)
		}
		if len(err.Error()) > 300 {
			t.Errorf("%d bytes: message has %d", len(tt.in), len(err.Error()))
		}
	}
	if _, err := r.Parse("cpu/" + strings.Repeat("pc,", 31) + "pc/"); err != nil {
		t.Errorf("32 terms: %v", err)
	}
	long := "mem:" + strings.Repeat("a", 500) + ".f:x"
	r.Symbol = func(name string) (uint64, uint64, error) {
		if len(name) != 502 {
			t.Errorf("symbol has %d bytes, want 502", len(name))
		}
		return 1, 0, nil
	}
	if e, err := r.Parse(long); err != nil || e.Name != long {
		t.Errorf("long symbol: %v, %v", e, err)
	}
}

// TestPrecisionOfMachine checks that a level that the PMU says it has not is
// refused, and that one that is not asked for by name is left to be tried.
func TestPrecisionOfMachine(t *testing.T) {
	sys := sysfs(t, "skylake")
	r := &perfevent.Resolver{Sys: sys}
	for _, tt := range []struct{ max, in, err string }{
		{"3", "cycles:ppp", ""},
		{"2", "cycles:pp", ""},
		{"2", "cycles:ppp", `perf event "cycles:ppp": the highest precision of PMU cpu is :pp`},
		{"0", "cycles", ""},
		{"0", "cycles:P", ""},
		{"0", "cpu/event=1/p", `perf event "cpu/event=1/p": PMU cpu has no precise events here (caps/max_precise is 0, as in most virtual machines); leave out p`},
		{"x", "cycles:ppp", ""},
	} {
		sys["bus/event_source/devices/cpu/caps/max_precise"].Data = []byte(tt.max + "\n")
		_, err := r.Parse(tt.in)
		if got := errString(err); got != tt.err {
			t.Errorf("max_precise %s: %s: %q, want %q", tt.max, tt.in, got, tt.err)
		}
	}
}

func errString(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestGOARCH(t *testing.T) {
	for _, tt := range []struct{ goarch, in, want string }{
		{"amd64", "mem:0x1000:r", `perf event "mem:0x1000:r": x86 cannot watch reads alone; use :rw`},
		{"arm64", "mem:0x1000:r", "5:0x0 c1=0x1000 c2=0x4 bp=1 uHGi p0"},
		{"arm64", "mem:0x1001/4:w", "5:0x0 c1=0x1001 c2=0x4 bp=2 uHGi p0"},
		{"386", "mem:main.f:x", "5:0x0 c1=0x401000 c2=0x8 bp=4 uHGi p0"},
		{"arm", "mem:main.f:x", "5:0x0 c1=0x401000 c2=0x4 bp=4 uHGi p0"},
	} {
		r := &perfevent.Resolver{Symbol: symbol, GOARCH: tt.goarch}
		got := ""
		if e, err := r.Parse(tt.in); err != nil {
			got = err.Error()
		} else {
			got = show(e.Attrs)
		}
		if got != tt.want {
			t.Errorf("%s: %s: got %s, want %s", tt.goarch, tt.in, got, tt.want)
		}
	}
	if _, err := new(perfevent.Resolver).Parse("mem:main.f:x"); errString(err) != `perf event "mem:main.f:x": symbols cannot be looked up here; give the address, mem:0x...` {
		t.Errorf("without Symbol: %v", err)
	}
}
