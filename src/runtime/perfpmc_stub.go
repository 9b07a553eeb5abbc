// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && !amd64 && !arm64

package runtime

// No counters are read in user mode here; see perfpmc_linux_arm64.go.

func perfUserCounters() (config1 uint64, ok bool) { return 0, false }

//go:nowritebarrierrec
func perfReadCounter(i uint32) uint64 { return 0 }

//go:nowritebarrierrec
func perfIsCounter(i uint32) bool { return false }

//go:nowritebarrierrec
func perfReadTime() uint64 { return 0 }
