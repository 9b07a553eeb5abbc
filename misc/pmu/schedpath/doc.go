// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package schedpath tests that programs built by the fork schedule goroutines with
// exactly the instructions of upstream's release: while nothing is profiled, the fork
// costs the schedule path nothing, which a benchmark could show only within its noise.
// It also tests that the linker leaves the engine out of programs that can't start a
// profile.
package schedpath
