// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perf

// MaxCounterSets is how many sets of counters can be open at once. Each set
// has a counter per thread and event: what is scarce is file descriptors and
// the processor's counters, long before it is sets.
const MaxCounterSets = 8

// A Count is what the counters of one event have counted on all threads,
// present and past, since they were opened.
type Count struct {
	Value   uint64
	Enabled uint64 // ns, sum of the threads' time with the counter enabled
	Running uint64 // ns, sum of the threads' time with the counter counting
}
