// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perf

// MaxEvents is how many events a process can sample at once, in one profiling
// session or in several. A slot belongs to a request, not to a kind of event:
// several raw events may run together. (EV_MAX in proposal 36821, section 4.2.)
const MaxEvents = 8

// MaxCost is the part of a thread's time, in percent, above which the overhead
// bound lengthens periods, unless the program's owner allows less or more of it. An
// owner that allows all of it gets what is asked for as long as the program makes
// progress; see perfCostMost in package runtime.
const (
	MaxCost   = 25
	NoMaxCost = 100
)

// Limits are what a session must not exceed.
type Limits struct {
	FD   int // least descriptor not to take
	Cost int // percent, at most NoMaxCost

	// Chains says that the kernel is to record the stacks of samples where it can, so
	// that there is no signal for each.
	Chains bool
}

// A SampleConfig says what to sample, and how often. It corresponds to
// cpuProfileConfig in proposal 36821, section 4.2.
type SampleConfig struct {
	Attr
	Period uint64 // events between two samples, > 0

	// Periods are Period and longer ones, each about twice the one before, to
	// be taken where samples cost too much; 0 ends the list. They are given
	// because they must not lock onto loops, which takes primes.
	Periods [32]uint64

	// Data says that samples are to have the address that was accessed.
	Data bool
}

// Exact reports whether each hit of a breakpoint is a sample. Such an event has
// no other period than 1.
//
//go:norace
func (c *SampleConfig) Exact() bool {
	return c.Type == TypeBreakpoint && c.Period == 1
}

// Watch reports whether each execution of an instruction is a sample.
//
//go:norace
func (c *SampleConfig) Watch() bool {
	return c.Exact() && c.BPType == BreakpointX
}
