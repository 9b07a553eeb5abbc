// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package test

// init registers the flags that name performance events, and has them passed to the
// test binary. It must run before the init of testflag.go, which would panic without
// them, and does: the go command compiles a package's files, and so initializes them,
// in the order of their names.
func init() {
	cf := &CmdTest.Flag
	cf.String("counters", "", "")
	cf.String("cpuprofileevent", "", "")
	cf.Int64("cpuprofileperiod", 0, "")
	cf.Bool("cpuprofiledata", false, "")
	for _, name := range []string{"counters", "cpuprofileevent", "cpuprofileperiod", "cpuprofiledata"} {
		passFlagToTest[name] = true
	}
}

// The parts of "go help testflag" that are about performance events. Each is
// followed by an empty line there.

const helpCounters = `	-counters event,...
	    Count the given events while benchmarks run, and report each per
	    operation: 'cycles/op', 'instructions/op' and, where both are there,
	    'insn/cycle'. Events are named as for -cpuprofileevent.
	    What all threads do while the timer is running is counted, the garbage
	    collector included. A count that is an estimate, because there were
	    more events than counters, is followed by the part of the time in
	    which it was taken, as in '25.00 cycles-%run'.
	    If an event cannot be counted, neither tests nor benchmarks are run.
	    See 'go doc runtime/pprof.Counters'.
`

const helpCPUProfileEvents = `	-cpuprofileevent event,...
	    Sample the given events for -cpuprofile instead of timer, the
	    operating system's timer: cycles, instructions, cacheReferences,
	    cacheMisses, branches, branchMisses, rHEX (an event of the processor,
	    by its encoding), or any event that 'perf list' shows.
	    See 'go doc runtime/pprof.PerfEvent'.
	    Several events go to one profile, among which the -sample_index flag
	    of 'go tool pprof' chooses.
	    If an event cannot be sampled, no tests are run.

	-cpuprofileperiod n
	    Take a sample every n events (nanoseconds, for events that are clocks)
	    for -cpuprofile. The default, 0, is a period chosen for the event.
	    The timer has a fixed period and ignores it.

	-cpuprofiledata
	    Have the samples of -cpuprofileevent say in labels what they accessed:
	    the object, where it was allocated, its type and the offset. The event
	    must have addresses, as page-faults has.
	    See 'go doc runtime/pprof.DataAddresses'.
`
