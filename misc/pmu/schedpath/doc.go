// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package schedpath has a test that programs built by the fork schedule
// goroutines with the very instructions of upstream's release: while nothing is
// profiled, the fork costs the schedule path nothing.
//
// A benchmark could show that only within its noise.
package schedpath
