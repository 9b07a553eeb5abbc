// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build amd64 || arm64

package runtime_test

import (
	"runtime"
	"testing"
	"time"
)

// TestPerfClock tests that perfNow is nanotime but for what it may be wrong by.
func TestPerfClock(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var worst int64
	reads := 0
	for start := time.Now(); time.Since(start) < time.Second; reads++ {
		before := runtime.Nanotime()
		now, _ := runtime.PerfNow()
		after := runtime.Nanotime()
		worst = max(worst, before-now, now-after)
	}
	t.Logf("%d reads, wrong by %d ns at most", reads, worst)
	if worst > runtime.PerfClockError {
		t.Errorf("wrong by %d ns, want %d at most", worst, runtime.PerfClockError)
	}
}
