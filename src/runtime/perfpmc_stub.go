// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && !amd64 && !arm64

package runtime

// No counters are read in user mode here; see perfpmc_linux_arm64.go.

func perfUserCounters() (config1 uint64, ok bool) { return 0, false }

//go:nosplit
//go:nowritebarrierrec
func perfReadCounters(pages *perfPage, base, values *uint64, n int) (ok bool) { return false }

//go:nosplit
//go:nowritebarrierrec
func perfSumCounters(pages *perfPage, base, values, sums *uint64, n int) (ok bool) { return false }
