// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

// perfUserCounters reports whether programs may be able to read the processor's
// counters, and what config1 of an event must have for that.
func perfUserCounters() (config1 uint64, ok bool) { return 0, true }

// perfReadCounter returns the processor's counter i, which must be in use.
//
//go:noescape
func perfReadCounter(i uint32) uint64

// perfIsCounter reports whether i is a counter. Intel's registers from 1<<29 on
// are not; they have the metrics of the top-down method (INTEL_PMC_FIXED_RDPMC_METRICS
// in arch/x86/include/asm/perf_event.h in Linux).
//
//go:nowritebarrierrec
func perfIsCounter(i uint32) bool { return i&(1<<29) == 0 }

// perfReadTime returns the processor's clock, by which the kernel tells time.
//
//go:nowritebarrierrec
func perfReadTime() uint64 { return uint64(cputicks()) }
