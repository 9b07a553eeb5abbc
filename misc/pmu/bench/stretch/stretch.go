// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package stretch times calls in short stretches that take turns, so that what slows down
// the machine for longer than a stretch does not matter.
package stretch

import (
	"syscall"
	"time"
)

// A Call is done n times.
type Call struct {
	Name string
	Do   func(n int)

	// Begin and End, unless they are nil, are called before and after each stretch.
	Begin, End func()
}

// Start is a time that time.Since has only to subtract from the runtime's clock.
var Start = time.Now()

// Times returns what each of the calls takes, in each of so many stretches of about the
// given length: nanoseconds, and those of the process's CPU time.
func Times(rounds int, length time.Duration, calls ...Call) (wall, cpu [][]float64) {
	wall, cpu = make([][]float64, len(calls)), make([][]float64, len(calls))
	n := make([]int, len(calls))
	for i, c := range calls {
		n[i] = enough(length, c)
	}
	for round := 0; round < rounds; round++ {
		for k := range calls {
			i := (round + k) % len(calls) // nobody always has the same neighbour
			w, p := calls[i].took(n[i])
			wall[i], cpu[i] = append(wall[i], w), append(cpu[i], p)
		}
	}
	return wall, cpu
}

// took returns what each of n takes.
func (c Call) took(n int) (wall, cpu float64) {
	if c.Begin != nil {
		c.Begin()
	}
	cpuBefore, before := cpuTime(), time.Since(Start)
	c.Do(n)
	d := time.Since(Start) - before
	p := cpuTime() - cpuBefore
	if c.End != nil {
		c.End()
	}
	return float64(d) / float64(n), float64(p) / float64(n)
}

func cpuTime() time.Duration {
	var ru syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
		panic(err)
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

// enough returns how many take at least so long, also when nothing disturbs them.
func enough(length time.Duration, c Call) int {
	for n := 1; ; n *= 2 {
		least := length
		for i := 0; i < 3; i++ {
			wall, _ := c.took(n)
			least = min(least, time.Duration(wall*float64(n)+0.5))
		}
		if least >= length {
			return n
		}
	}
}
