// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof_test

import (
	"fmt"
	"runtime/pprof"
	"time"
)

func ExampleInterval() {
	var iv pprof.Interval
	var t pprof.GoroutineTime
	if err := iv.Start(nil); err != nil { // time only, no counters
		fmt.Println(err)
		return
	}
	time.Sleep(10 * time.Millisecond) // what is measured
	if err := iv.Stop(&t, nil); err != nil {
		fmt.Println(err)
		return
	}
	var sum time.Duration
	for part := range pprof.TimeParts() {
		sum += t.Part(part)
	}
	fmt.Println("asleep for 9 ms at least:", t.Part(pprof.TimeSleep) >= 9*time.Millisecond)
	fmt.Println("the parts make up the time on the clock:", sum == t.Wall)
	// Output:
	// asleep for 9 ms at least: true
	// the parts make up the time on the clock: true
}
