// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"context"
	. "runtime/task"
	"sync"
	"testing"
	"testing/synctest"
)

// TestLateInBubble tests that a task of many goroutines can end in a bubble: what the goroutines
// have used is summed up outside of it.
func TestLateInBubble(t *testing.T) {
	r := start(t, Config{})
	const n = 1000
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan bool)
		var wg sync.WaitGroup
		_, a := New(context.Background(), "late")
		for range n {
			wg.Go(func() { <-hold })
		}
		synctest.Wait()
		a.End()
		close(hold)
		wg.Wait()
	})
	Stop() // waits for it
	if rec := one(t, r); rec.Kind != "late" || rec.Goroutines != n+1 {
		t.Errorf("a record of %q, with %d goroutines", rec.Kind, rec.Goroutines)
	}
}
