// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !linux

package task

import (
	"internal/taskrecord"
	"time"
)

// readTaken has what accounts know: elsewhere than on Linux the system is not asked.
func readTaken() taskrecord.Taken {
	return taskrecord.Taken{Preempted: time.Duration(runtime_perfTakenSum())}
}
