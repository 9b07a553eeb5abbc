// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"context"
	"internal/taskrecord"
	. "runtime/task"
	"sync"
	"testing"
	"time"
)

// TestEarly tests that among the records that are not early, from rings that have overflowed, there
// are all that have ended since then: those that are slow are in rings of their own, which
// reach back farther.
func TestEarly(t *testing.T) {
	start(t, Config{})
	Slow("TestEarly", time.Hour)
	Slow("TestEarly, slow", 1)
	const every = 50
	var mu sync.Mutex
	ends := make(map[string]time.Time) // not earlier than that
	begin := time.Now()
	for time.Since(begin) < time.Minute {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for i := range 2000 {
					kind := "TestEarly"
					if i%every == 0 {
						kind = "TestEarly, slow"
					}
					_, task := New(context.Background(), kind)
					end := time.Now()
					task.End()
					mu.Lock()
					ends[task.Span()] = end
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		r := taskrecord.NewRingReader(true)
		early, there, slow := 0, make(map[string]bool), 0
		oldest := int64(1 << 62)
		for rec := r.Next(); rec != nil; rec = r.Next() {
			if _, ok := ends[rec.Span.String()]; !ok {
				continue // another test's
			}
			if rec.Flags&taskrecord.Early != 0 {
				early++
				continue
			}
			there[rec.Span.String()] = true
			if rec.Flags&taskrecord.Slow != 0 {
				slow++
			}
			oldest = min(oldest, rec.Start+int64(rec.Wall))
		}
		if early < 100 {
			continue // no ring has overflowed
		}
		missing, later := 0, time.Unix(0, oldest).Add(time.Millisecond) // the two clocks are not read at once
		for span, end := range ends {
			if end.After(later) && !there[span] {
				missing++
			}
		}
		t.Logf("%d records, of which %d are slow, and %d early ones", len(there), slow, early)
		if missing > 0 {
			t.Errorf("%d records are missing", missing)
		}
		if got, want := slow, len(there)/every; got < want*8/10-5 || got > want*12/10+5 {
			t.Errorf("%d of %d are slow", got, len(there))
		}
		return
	}
	t.Fatal("no ring has overflowed")
}
