// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
)

// A crew does what can be done several at a time: in so many goroutines at most, or GOMAXPROCS
// if that is 0, and until done is closed.
type crew struct {
	procs int
	done  <-chan struct{}
	work  *work // or nil
}

var errStopped = errors.New("the analysis was stopped")

// parallel calls f(0), ..., f(n-1), several at a time. It reports false if it was stopped before
// it had called all.
func (c crew) parallel(n int, f func(i int)) bool {
	if c.procs <= 0 {
		c.procs = runtime.GOMAXPROCS(0)
	}
	var wg sync.WaitGroup
	var next, called atomic.Int64
	for range min(n, c.procs) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && !c.stopped(); i = int(next.Add(1)) - 1 {
				f(i)
				called.Add(1)
			}
		})
	}
	wg.Wait()
	return int(called.Load()) == n
}

func (c crew) stopped() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}
