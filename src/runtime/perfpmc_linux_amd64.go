// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

// perfUserCounters reports whether programs may be able to read the processor's
// counters, and what config1 of an event must have for that.
func perfUserCounters() (config1 uint64, ok bool) { return 0, true }

// perfReadCounters reads the registers of n > 0 events of the current thread, whose pages
// are in memory one after the other. It stores in values, for each page p and element
// of base,
//
//	p.offset + the register that p.index - 1 names, as a signed number of p.pmcWidth bits - base
//
// and returns true if each p.index named a counter, and no p.lock changed while its page
// was used. The kernel changes a page in interrupts of this thread, so the order in which
// another processor would see the loads does not matter.
//
// Intel's registers from 1<<29 on are no counters; they have the metrics of the top-down
// method (INTEL_PMC_FIXED_RDPMC_METRICS in arch/x86/include/asm/perf_event.h in Linux).
//
//go:noescape
func perfReadCounters(pages *perfPage, base, values *uint64, n int) (ok bool)

// perfSumCounters is perfReadCounters, and adds what the values become more to sums. If it
// returns false, some may have been added, with their values.
//
//go:noescape
func perfSumCounters(pages *perfPage, base, values, sums *uint64, n int) (ok bool)
