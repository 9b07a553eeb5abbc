// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package schedpath has a test that programs built by the fork schedule
// goroutines with the very instructions of upstream's release: while nothing is
// profiled, the fork costs the schedule path nothing. Another is that programs
// which can't be profiled have next to nothing of the engine in them.
//
// A benchmark could show the first only within its noise.
package schedpath
