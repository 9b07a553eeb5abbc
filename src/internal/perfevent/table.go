// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent

import (
	"internal/runtime/perf"
	"strings"
)

// A Preset is one row of the table of events that have a name of their own. It
// feeds the API of runtime/pprof, the flags of the go command, net/http/pprof
// and the documentation.
type Preset struct {
	Name       string   // perf's name, and the Event's
	Aliases    []string // perf's other names
	Flag       string   // name in -cpuprofileevent and ?event=; "" if only Name
	Func       string   // constructor in runtime/pprof; "" if only PerfEvent
	Kind       Kind
	Type       uint32
	Config     uint64
	Unit       string
	Period     uint64 // prime or 1; see the table
	KernelOnly bool   // see Event
	Desc       string // one line, lower case, no full stop
}

// Names returns every name of p that Parse accepts, Name first.
func (p *Preset) Names() []string {
	names := append([]string{p.Name}, p.Aliases...)
	if p.Flag != "" && p.Flag != p.Name {
		names = append(names, p.Flag)
	}
	return names
}

// Preset periods are the primes nearest to round numbers, never the round
// numbers themselves, which lock onto loops (see PrimePeriod). Those of the
// hardware events with a Func, but for cycles, are near the presets of the
// prototype of proposal 36821. The rest aim at 10 to 1000 samples per second in a
// busy thread.
const (
	period1M   = 1_000_003
	period100k = 100_003
	period10k  = 10_007

	// Clocks and cycles measure time. They should resolve it better than the
	// timer's 100 Hz does, and 1 kHz costs little everywhere: some 5 % of the CPU time
	// in a virtual machine, where a sample is dearest. The prototype's 10M cycles are
	// 2.5 to 10 ms, which is hardly better than the timer.
	//
	// Cycles are in proportion: 0.5 to 2 kHz from 1 to 4 GHz.
	period1ms    = period1M
	periodCycles = 2_000_003

	// A fault or a switch costs the kernel about a microsecond; a sample costs
	// tens of them. One in a hundred leaves a program that does little else
	// usable. Period 1 on page-faults has been seen never to finish: the fault
	// is taken again after each signal.
	period100 = 101

	// Migrations are rarer than switches.
	period10 = 11

	// A raw encoding may be anything from cycles to a rare hazard; this is
	// the proposal's choice.
	periodRaw = period100k

	// Breakpoints and tracepoints are asked for to see each occurrence: who
	// calls this function, who writes this variable. perf record does the
	// same with tracepoints.
	periodEach = 1
)

const (
	unitCount = "count"
	unitNano  = "nanoseconds"
)

// Table returns the events that have a name of their own: hardware events
// first, in the order of the proposal, then the software events. The caller
// must not change it.
func Table() []Preset { return table }

var table = []Preset{
	{
		Name: "cycles", Aliases: []string{"cpu-cycles"}, Flag: "cycles", Func: "CPUCycles",
		Kind: Hardware, Type: perf.TypeHardware, Config: 0, Unit: unitCount, Period: periodCycles,
		Desc: "core clock cycles while not halted; their rate follows the core's frequency",
	}, {
		Name: "instructions", Flag: "instructions", Func: "CPUInstructions",
		Kind: Hardware, Type: perf.TypeHardware, Config: 1, Unit: unitCount, Period: period1M,
		Desc: "instructions retired",
	}, {
		Name: "cache-references", Flag: "cacheReferences", Func: "CPUCacheReferences",
		Kind: Hardware, Type: perf.TypeHardware, Config: 2, Unit: unitCount, Period: period100k,
		Desc: "cache accesses, usually of the last level",
	}, {
		Name: "cache-misses", Flag: "cacheMisses", Func: "CPUCacheMisses",
		Kind: Hardware, Type: perf.TypeHardware, Config: 3, Unit: unitCount, Period: period10k,
		Desc: "cache misses, usually of the last level",
	}, {
		Name: "branches", Aliases: []string{"branch-instructions", "branchInstructions"}, Flag: "branches", Func: "CPUBranchInstructions",
		Kind: Hardware, Type: perf.TypeHardware, Config: 4, Unit: unitCount, Period: period100k,
		Desc: "branch instructions retired",
	}, {
		Name: "branch-misses", Flag: "branchMisses", Func: "CPUBranchMisses",
		Kind: Hardware, Type: perf.TypeHardware, Config: 5, Unit: unitCount, Period: period10k,
		Desc: "mispredicted branch instructions",
	}, {
		Name: "bus-cycles",
		Kind: Hardware, Type: perf.TypeHardware, Config: 6, Unit: unitCount, Period: period1M,
		Desc: "bus clock cycles",
	}, {
		Name: "stalled-cycles-frontend", Aliases: []string{"idle-cycles-frontend"},
		Kind: Hardware, Type: perf.TypeHardware, Config: 7, Unit: unitCount, Period: period1M,
		Desc: "cycles in which no instruction could be fetched or decoded",
	}, {
		Name: "stalled-cycles-backend", Aliases: []string{"idle-cycles-backend"},
		Kind: Hardware, Type: perf.TypeHardware, Config: 8, Unit: unitCount, Period: period1M,
		Desc: "cycles in which no instruction could be executed or retired",
	}, {
		Name: "ref-cycles",
		Kind: Hardware, Type: perf.TypeHardware, Config: 9, Unit: unitCount, Period: periodCycles,
		Desc: "cycles at a constant rate while not halted",
	},

	{
		Name: "cpu-clock",
		Kind: Clock, Type: perf.TypeSoftware, Config: 0, Unit: unitNano, Period: period1ms,
		Desc: "wall-clock time of the CPU while the thread is on it",
	}, {
		Name: "task-clock",
		Kind: Clock, Type: perf.TypeSoftware, Config: 1, Unit: unitNano, Period: period1ms,
		Desc: "time that the thread is on a CPU",
	}, {
		Name: "page-faults", Aliases: []string{"faults"},
		Kind: Software, Type: perf.TypeSoftware, Config: 2, Unit: unitCount, Period: period100,
		Desc: "page faults",
	}, {
		Name: "context-switches", Aliases: []string{"cs"},
		Kind: Software, Type: perf.TypeSoftware, Config: 3, Unit: unitCount, Period: period100, KernelOnly: true,
		Desc: "times that the thread was switched out by the kernel",
	}, {
		Name: "cpu-migrations", Aliases: []string{"migrations"},
		Kind: Software, Type: perf.TypeSoftware, Config: 4, Unit: unitCount, Period: period10, KernelOnly: true,
		Desc: "times that the thread was moved to another CPU",
	}, {
		Name: "minor-faults",
		Kind: Software, Type: perf.TypeSoftware, Config: 5, Unit: unitCount, Period: period100,
		Desc: "page faults served without I/O",
	}, {
		// Each has waited for a disk: none is too cheap to look at.
		Name: "major-faults",
		Kind: Software, Type: perf.TypeSoftware, Config: 6, Unit: unitCount, Period: periodEach,
		Desc: "page faults that waited for I/O",
	}, {
		Name: "alignment-faults",
		Kind: Software, Type: perf.TypeSoftware, Config: 7, Unit: unitCount, Period: period100,
		Desc: "unaligned accesses that the kernel fixed up; none on x86",
	}, {
		Name: "emulation-faults",
		Kind: Software, Type: perf.TypeSoftware, Config: 8, Unit: unitCount, Period: period100,
		Desc: "instructions that the kernel emulated",
	}, {
		Name: "cgroup-switches",
		Kind: Software, Type: perf.TypeSoftware, Config: 11, Unit: unitCount, Period: period100, KernelOnly: true,
		Desc: "context switches to another cgroup (Linux 5.13)",
	},
}

// notSampled holds names that perf list shows and that name nothing to sample.
var notSampled = []reason{
	{"dummy", "it counts nothing; perf record uses it to carry side-band records"},
	{"bpf-output", "it carries the output of BPF programs and counts nothing"},
	{"duration_time", "it is a figure of perf stat, not an event"},
	{"user_time", "it is a figure of perf stat, not an event; sample task-clock:u"},
	{"system_time", "it is a figure of perf stat, not an event; sample task-clock:k"},
	{Timer, "it is the operating system's timer, not a perf event, and is chosen by itself (pprof.OSTimer)"},
}

// lookup returns the row that has the given name, or nil.
func lookup(name string) *Preset {
	for i := range table {
		p := &table[i]
		if p.Name == name || p.Flag == name {
			return p
		}
		for _, a := range p.Aliases {
			if a == name {
				return p
			}
		}
	}
	return nil
}

// Timer is the name that flags and requests have for the operating system's timer,
// which is not an event but stands beside them.
const Timer = "timer"

// FlagNames lists the short names that flags and requests take, the timer's and those
// of events (Preset.Flag), for messages.
func FlagNames() string {
	names := []string{Timer}
	for i := range table {
		if table[i].Flag != "" {
			names = append(names, table[i].Flag)
		}
	}
	return strings.Join(names, ", ")
}
