// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import "internal/taskrecord"

// takenTimes are for how long threads had no CPU while tasks were recorded. Protected by recorders.
type takenTimes struct {
	running bool
	base    taskrecord.Taken // what the kernel said when recording began
	before  taskrecord.Taken // what was taken while it went on before
}

// start is called when recording begins, or changes how.
func (t *takenTimes) start() {
	if !t.running {
		t.running, t.base = true, readTaken()
	}
}

// stop is called when recording ends, or has ended already.
func (t *takenTimes) stop() { t.running, t.before = false, t.read() }

func (t *takenTimes) read() taskrecord.Taken {
	if !t.running {
		return t.before
	}
	return t.before.Plus(readTaken().Since(t.base))
}

// recordedTaken returns what was taken while tasks were recorded.
func recordedTaken() taskrecord.Taken {
	recorders.Lock()
	defer recorders.Unlock()
	if r := lastRecording.Load(); r != nil {
		return r.taken.read()
	}
	return taskrecord.Taken{}
}
