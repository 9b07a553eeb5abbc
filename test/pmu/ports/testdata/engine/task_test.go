// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package engine

import (
	"context"
	"runtime/task"
	"runtime/task/record"
	"sync"
	"testing"
)

// TestTasks records tasks of several goroutines and Ps. Their counts are refused where there are
// no events, and that leaves nothing behind.
func TestTasks(t *testing.T) {
	turns := task.Turns(1, "task-clock", "page-faults")
	err := task.Start(task.Config{Rate: 1, Turns: turns})
	if !*events {
		refused(t, err, "event page-faults: this kernel has no perf_event_open")
		err = task.Start(task.Config{Rate: 1})
	}
	if err != nil {
		t.Fatal(err)
	}
	defer task.Stop()
	r := task.NewReader(false)
	const n = 200
	var wg sync.WaitGroup
	for i := 0; i < 4; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; i < n; i++ {
				ctx, x := task.New(context.Background(), "request")
				done := make(chan bool)
				go func() {
					e := task.Enter(ctx)
					g := x.Region("work")
					spin(100)
					g.End()
					e.Exit()
					close(done)
				}()
				<-done
				x.End()
			}
		}()
	}
	wg.Wait()
	got := 0
	for x := r.Next(); x != nil; x = r.Next() {
		if got++; x.Kind != "request" || x.Goroutines != 2 || len(x.Regions) != 1 || x.Regions[0].N != 1 {
			t.Errorf("%+v", x)
		}
		if x.Events == nil && *events && x.Flags&record.EpochChange == 0 {
			t.Errorf("no counts: %+v", x)
		}
	}
	if s := r.Stats(); got != 4*n || s.Dropped != 0 {
		t.Errorf("%d records of %d tasks: %+v", got, 4*n, s)
	}
}
