// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package vm holds a machine with a performance monitoring unit for those
// who have none: an arm64 machine emulated by QEMU, whose PMUv3 counts cycles
// and instructions and interrupts on overflow, under Debian's own kernel.
// See README.md for its use. The package itself has only tests.
package vm
