// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perf

// MaxCounterSets is how many sets of counters can be open at once. Each set
// has a counter per thread and event: file descriptors and the processor's
// counters run out long before sets do.
const MaxCounterSets = 8

// A Count is what counters of one event have counted on all threads, present
// and past, since they were opened.
type Count struct {
	Value   uint64
	Enabled uint64 // ns, sum of the threads' time with the counter enabled
	Running uint64 // ns, sum of the threads' time with the counter counting
}

// Add adds o to c: what another thread's counter has counted, or the same one
// at another time.
//
//go:norace
func (c *Count) Add(o Count) {
	c.Value += o.Value
	c.Enabled += o.Enabled
	c.Running += o.Running
}

// Sub subtracts an earlier count from c.
//
//go:norace
func (c *Count) Sub(o Count) {
	c.Value -= o.Value
	c.Enabled -= o.Enabled
	c.Running -= o.Running
}

// SubNotBelow subtracts o from c, and leaves 0 where that is more.
//
//go:norace
func (c *Count) SubNotBelow(o Count) { c.Sub(o.Min(*c)) }

// Min returns the lesser of each of the numbers of c and o.
//
//go:norace
func (c Count) Min(o Count) Count {
	return Count{min(c.Value, o.Value), min(c.Enabled, o.Enabled), min(c.Running, o.Running)}
}

// Exact reports whether the event was counted all the time.
//
//go:norace
func (c Count) Exact() bool { return c.Running >= c.Enabled }

// Scale returns what Value must be multiplied by to stand for all the time
// enabled: 1 if the event was counted all the time, more if events took turns
// on the processor's counters, and NaN if it was never counted. Like perf stat
// it assumes that the event was as frequent while it was not counted.
// (perf_event_open(2), PERF_FORMAT_TOTAL_TIME_RUNNING)
//
//go:norace
func (c Count) Scale() float64 {
	switch {
	case c.Exact():
		return 1
	case c.Running == 0:
		zero := 0.0
		return zero / zero
	}
	return float64(c.Enabled) / float64(c.Running)
}

// A Division is how what counters have counted is divided. The three add up to it.
type Division struct {
	Goroutines [MaxEvents]Count // of accounted goroutines
	Between    [MaxEvents]Count // of threads that accounted goroutines have used, apart from Goroutines
	Elsewhere  [MaxEvents]Count // of the other threads
}
