// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

import "unsafe"

// perfUserCounters reports whether programs may be able to read the processor's
// counters, and what config1 of an event must have for that. It is set only where it
// helps, as it has a cost: counters of 32 bits are not chained to make one of 64.
// (Documentation/arch/arm64/perf.rst in Linux)
func perfUserCounters() (config1 uint64, ok bool) {
	name := []byte("/proc/sys/kernel/perf_user_access\x00")
	fd := open(&name[0], 0 /* O_RDONLY */, 0)
	if fd < 0 {
		return 0, false // before Linux 5.17
	}
	var b [1]byte
	n := read(fd, noescape(unsafe.Pointer(&b)), 1)
	closefd(fd)
	if n != 1 || b[0] != '1' {
		return 0, false
	}
	return 1 << 1, true
}

// perfReadCounters reads the registers of n > 0 events of the current thread; see
// perfpmc_linux_amd64.go. 31 is the counter of cycles.
//
//go:noescape
func perfReadCounters(pages *perfPage, base, values *uint64, n int) (ok bool)

//go:noescape
func perfSumCounters(pages *perfPage, base, values, sums *uint64, n int) (ok bool)
