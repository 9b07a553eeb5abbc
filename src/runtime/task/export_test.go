// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"internal/runtime/perf"
	"internal/taskrecord"
	"time"
)

// PushDamaged pushes words that are no record.
func PushDamaged() (ok bool) { return runtime_perfTaskPush(perf.SlowTaskRing, make([]uint64, 3)) }

var (
	EndTask    = endTask
	WriteTrace = writeTrace
	NameTask   = nameTask
	NewCall    = newCall

	Receive       = receive
	InjectTask    = inject
	ExtractAnswer = extractAnswer
	WantsClock    = wantsClock
	Recording     = isRecording
	Turns         = turnsOf
	AllStats      = readStats
)

// OutlivedTime returns for how long goroutines have run that have outlived their tasks.
func OutlivedTime() time.Duration {
	d, _ := outlivedTime()
	return d
}

// Use returns the number of the use of the memory that t has, or 0.
func Use(t *Task) uint64 {
	if t == nil {
		return 0
	}
	return t.id.Serial
}

// Outliving returns how many tasks are remembered as goroutines go on that worked for them, and
// how many are not.
func Outliving() (tasks int, dropped uint64) {
	outliving.Lock()
	defer outliving.Unlock()
	return len(outliving.list), outliving.dropped
}

const MaxOutliving = maxOutliving

// Slow has tasks of a kind be slow above a time, or has that found out if it is 0.
func Slow(kind string, d time.Duration) { kindOf(kind, false).setThreshold(d) }

// Epochs returns how many epochs have begun.
func Epochs() uint64 {
	if r := lastRecording.Load(); r != nil {
		return r.epochs.Load()
	}
	return 0
}

// SetTurns has so many events be counted at once, and each set for so long, until the function that it
// returns is called.
func SetTurns(size int, epoch time.Duration) (reset func()) {
	oldSize, oldEpoch := turnSize, turnEpoch
	turnSize, turnEpoch = size, epoch
	return func() { turnSize, turnEpoch = oldSize, oldEpoch }
}

// ToldGoroutines returns for how many goroutines something is kept of regions in traces.
func ToldGoroutines() (n int) {
	for i := range toldBy {
		s := &toldBy[i]
		s.mu.Lock()
		n += len(s.m)
		s.mu.Unlock()
	}
	return n
}

// ShiftWall has the wall clock look as if it had been set since it was last read.
func ShiftWall(d time.Duration) { wall.offset.Add(int64(d)) }

// NoEpoch makes it appear as between two epochs until restore is called. No turns may go on.
func NoEpoch() (restore func()) {
	e := counting.Swap(nil)
	return func() { counting.Store(e) }
}

// RecordedTaken returns what was taken from threads while tasks were recorded.
func RecordedTaken() taskrecord.Taken { return recordedTaken() }
