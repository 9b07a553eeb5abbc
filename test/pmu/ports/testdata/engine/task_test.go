// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package engine

import (
	"context"
	"runtime/task"
	"strings"
	"sync"
	"testing"
)

// TestTasks records tasks of several goroutines and Ps. Their counts are refused where there are
// no events, and that leaves nothing behind.
func TestTasks(t *testing.T) {
	err := task.Start(task.Config{Rate: 1, Events: []string{"task-clock", "page-faults"}})
	if !*events {
		refused(t, err, "event task-clock: this kernel has no perf_event_open")
		err = task.Start(task.Config{Rate: 1})
	}
	if err != nil {
		t.Fatal(err)
	}
	defer task.Stop()
	r := task.NewReader()
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
		if got++; x.Kind != "request" || x.Goroutines != 2 || !strings.Contains(string(x.AppendJSON(nil)), `"regions":[{"name":"work","n":1,`) {
			t.Errorf("%+v", x)
		}
		if len(x.Counts) != 2 && *events {
			t.Errorf("no counts: %+v", x)
		}
	}
	if got != 4*n || r.Lost() != 0 {
		t.Errorf("%d records of %d tasks; %d were lost", got, 4*n, r.Lost())
	}
}
