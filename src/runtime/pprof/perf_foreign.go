// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"os"
	"strconv"
	"time"
)

// foreignInterval is how often a session looks for threads that Go did not
// create, and reads the samples of those it knows. One that lives shorter may
// not be seen. Their rings hold 512 samples, 25 per millisecond.
const foreignInterval = 20 * time.Millisecond

// foreignThreads looks for threads that come and go until stop is closed, and
// then closes done.
func foreignThreads(stop <-chan struct{}, done chan<- struct{}, known map[int32]bool) {
	defer close(done)
	tick := time.NewTicker(foreignInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			scanThreads(known)
		case <-stop:
			scanThreads(known)
			return
		}
	}
}

// scanThreads tells the runtime which threads of the process have come and
// gone since known was last updated.
func scanThreads(known map[int32]bool) {
	dir, err := os.Open("/proc/self/task")
	if err != nil {
		return // no /proc: only threads that run Go are sampled
	}
	names, err := dir.Readdirnames(0)
	dir.Close()
	if err != nil {
		return
	}
	for tid := range known {
		known[tid] = false
	}
	var came, gone []int32
	for _, name := range names {
		tid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if _, ok := known[int32(tid)]; !ok {
			came = append(came, int32(tid))
		}
		known[int32(tid)] = true
	}
	for tid, alive := range known {
		if !alive {
			gone = append(gone, tid)
			delete(known, tid)
		}
	}
	runtime_perfScan(came, gone)
}
