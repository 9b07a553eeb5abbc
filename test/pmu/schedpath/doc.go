// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package schedpath tests that a goroutine that is not accounted is scheduled with
// exactly the instructions of upstream's release: while nothing is profiled, and while
// other goroutines are accounted, the fork costs the schedule path nothing, which a
// benchmark could show only within its noise. It compares the code, and on the emulated
// machine what is executed. It also tests that the linker leaves the engine out of
// programs that can't start a profile.
package schedpath
