// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package latency

import (
	"cmd/pmu/internal/slow"
	"fmt"
	"internal/taskrecord"
	"math"
	"math/bits"
	"runtime/pprof"
	"slices"
	"time"
)

// What requests ran for is known by the clock, and where they did by samples of the time on a CPU. Samples are of
// all requests of a group, records of some. And samples are of all goroutines, while the end of a request waits for one at
// a time. So of what the recorded requests ran for, stacks have as much as their samples say for so many requests. What
// is missing then is not known. If it is more than they ran for, goroutines ran side by side: each stack gets its part.

// Divide divides what requests ran for among the stacks of a clock's samples. It follows all of Add, once.
func (k *Kind) Divide(c *slow.Clock) {
	k.clock = c.Name()
	for g := range groups {
		k.divide(g, c)
	}
}

func (k *Kind) divide(g int, c *slow.Clock) {
	if k.run == nil || k.run.own[g] == 0 {
		return
	}
	var list []slow.Stack
	var sum, elsewhere time.Duration
	for s := range c.Stacks(k.Name, g == isSlow) {
		if partOf(s.Functions) != pprof.TimeRunning {
			elsewhere += s.Time
			continue
		}
		list = append(list, s)
		sum += s.Time
	}
	requests, known := c.Requests(k.Name, g == isSlow)
	all := k.run.own[g]
	expected := all
	if known && requests > 0 {
		expected = scale(sum, k.group[g].Requests, requests)
	}
	k.note(g, sum, elsewhere, all, expected, requests, known && requests > 0)
	k.run.take(g, all)
	rest := all
	if sum > 0 {
		to := min(expected, all)
		rest -= to
		k.spread(g, list, to, sum)
	}
	if rest > 0 {
		k.tree.addTo(k.run, []string{notKnown}, g, rest, 0)
	}
}

// spread divides d among stacks whose times are sum, exactly.
func (k *Kind) spread(g int, list []slow.Stack, d, sum time.Duration) {
	var before, given time.Duration
	for _, s := range list {
		before += s.Time
		to := scale(d, int64(before), int64(sum))
		slices.Reverse(s.Functions)
		k.tree.addTo(k.run, s.Functions, g, to-given, s.Samples)
		given = to
	}
}

// scale returns d*a/b.
func scale(d time.Duration, a, b int64) time.Duration {
	hi, lo := bits.Mul64(uint64(d), uint64(a))
	if hi >= uint64(b) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(b))
	return time.Duration(min(q, math.MaxInt64))
}

// noticeable is from which part of the time on that a note says something of it.
const noticeable = 0.1

// note notes what limits how a group's running was divided.
func (k *Kind) note(g int, sum, elsewhere, all, expected time.Duration, requests int64, known bool) {
	name := groupNames[g]
	each := func(d time.Duration, n int64) string {
		g := Group{Requests: n}
		return taskrecord.Duration(g.each(d))
	}
	switch {
	case sum == 0:
		k.notes = append(k.notes, fmt.Sprintf("The profile has no sample of a %s request that runs.", name))
	case !known:
		k.notes = append(k.notes, fmt.Sprintf("The profile does not say of how many %s requests its samples are, as some may be of children. What they ran for is divided by the samples that there are.", name))
	case float64(expected) > (1+noticeable)*float64(all):
		k.notes = append(k.notes, fmt.Sprintf("By the samples all goroutines of a %s request have run for %s, and the ends of those that were recorded had to wait for %s of running. Each stack has its part of that.", name, each(sum, requests), each(all, k.group[g].Requests)))
	}
	if known && float64(elsewhere) > noticeable*float64(sum) {
		k.notes = append(k.notes, fmt.Sprintf("Of a %s request %s on a CPU are in no stack here: in system calls, C and the collector, which are parts of their own.", name, each(elsewhere, requests)))
	}
}

var groupNames = [groups]string{"usual", "slow"}

// parts are the functions in which a goroutine is not running, by the accounts of its time: they tell the
// scheduler, and what they call is in the part. In a callback from C it runs again.
var parts = map[string]taskrecord.Part{
	"syscall.Syscall":       pprof.TimeSyscall,
	"syscall.Syscall6":      pprof.TimeSyscall,
	"runtime.cgocall":       pprof.TimeC,
	"runtime.cgocallbackg":  pprof.TimeRunning,
	"runtime.gcAssistAlloc": pprof.TimeGC,
}

// partOf returns what a goroutine was in.
func partOf(functions []string) taskrecord.Part {
	for _, f := range functions {
		if p, ok := parts[f]; ok {
			return p
		}
	}
	return pprof.TimeRunning
}
