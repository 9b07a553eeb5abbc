// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package testing

import (
	"errors"
	"flag"
	"fmt"
	"internal/runtime/perf"
	"io"
	"math"
	"strings"
)

// Counters of performance events in benchmarks: -test.counters. What an event
// is called, and whether it can be counted here, is not known to this package;
// see counterDeps.

// counterList is the flag, registered during Init.
var counterList *string

func initCounterFlags() {
	counterList = flag.String("test.counters", "", "count `events`, separated by commas, in benchmarks")
}

// counterDeps is what a testDeps also implements that can count events. It is
// not part of testDeps, which programs other than those that the go command
// makes implement too.
type counterDeps interface {
	// OpenCounters starts counting the events in a list on all threads. It
	// returns the events' names and their units ("count", "nanoseconds"), and
	// a function that reads the events' counts.
	OpenCounters(list string) (names, units []string, read func([]perf.Count) error, close func() error, err error)
}

// benchCounters are the counters of -test.counters, which all benchmarks share.
// Written before the first benchmark and after the last.
var benchCounters struct {
	deps    counterDeps
	metrics []counterMetric // in the order in which they were asked for
	ipc     []counterRatio
	read    func([]perf.Count) error // nil unless the counters are open
}

// A counterMetric is what a benchmark reports of an event.
type counterMetric struct {
	name   string
	perOp  string // unit of the count per operation
	runPct string // unit of the part of the time in which it was counted, if not all
}

// A counterRatio is instructions per cycle, for each pair of events that are
// counted in the same modes of the processor.
type counterRatio struct {
	num, denom int // indexes of the events
	unit       string
}

// checkCounterFlags reports what is wrong with -test.counters, so that nothing
// runs if an event can't be counted. The counters are opened for this and
// closed again: they are the benchmarks', not the tests'.
func (m *M) checkCounterFlags() error {
	if *counterList == "" {
		return nil
	}
	if *matchBenchmarks == "" {
		return fmt.Errorf("-test.counters=%s needs -test.bench", *counterList)
	}
	deps, ok := m.deps.(counterDeps)
	if !ok {
		return fmt.Errorf("cannot use -test.counters: %T has no method OpenCounters", m.deps)
	}
	benchCounters.deps = deps
	closeCounters, err := openCounters()
	if err != nil {
		return fmt.Errorf("-test.counters=%s: %w", *counterList, errors.Unwrap(err))
	}
	closeCounters()
	return nil
}

// openBenchCounters opens the counters that the flag asks for, if any. If that
// fails now, although checkCounterFlags did not, it panics: results without
// the counters are not what was asked for.
func openBenchCounters() (closeCounters func()) {
	if benchCounters.deps == nil {
		return func() {}
	}
	closeCounters, err := openCounters()
	if err != nil {
		panic(err)
	}
	return closeCounters
}

func openCounters() (closeCounters func(), err error) {
	c := &benchCounters
	names, units, read, closeAll, err := c.deps.OpenCounters(*counterList)
	if err != nil {
		return nil, fmt.Errorf("testing: %w", err)
	}
	c.read = read
	c.metrics, c.ipc = counterMetrics(names, units)
	return func() {
		c.read = nil
		closeAll()
	}, nil
}

// counterMetrics returns what to report of the named events.
func counterMetrics(names, units []string) (metrics []counterMetric, ipc []counterRatio) {
	for i, name := range names {
		perOp := name + "/op"
		if units[i] == "nanoseconds" {
			perOp = name + "-ns/op" // benchstat shows seconds
		}
		metrics = append(metrics, counterMetric{name, perOp, name + "-%run"})
		mode, ok := strings.CutPrefix(name, "instructions")
		for j, other := range names {
			if ok && other == "cycles"+mode {
				ipc = append(ipc, counterRatio{i, j, "insn/cycle" + mode})
			}
		}
	}
	return metrics, ipc
}

// printCounterUnits writes what benchstat has to know of the counters' units;
// see golang.org/x/perf/benchfmt.
func printCounterUnits(w io.Writer) {
	if benchCounters.read == nil {
		return
	}
	for _, m := range benchCounters.metrics {
		fmt.Fprintf(w, "Unit %s better=lower\n", m.perOp)
	}
	for _, r := range benchCounters.ipc {
		fmt.Fprintf(w, "Unit %s better=higher\n", r.unit)
	}
}

// A counterState is a benchmark's counts. The timer's methods drive it, in
// the same way as they do the time and the allocations.
type counterState struct {
	start []perf.Count // when the timer was started
	net   []perf.Count // while the timer was running, until it was last stopped
	err   error        // the first one of reading
}

// resetCounters zeroes the counts. It is called before the first startCounters,
// which must not allocate.
func (b *B) resetCounters() {
	if benchCounters.read == nil {
		return
	}
	c := &b.counters
	if n := len(benchCounters.metrics); len(c.net) != n {
		c.start, c.net = make([]perf.Count, n), make([]perf.Count, n)
	}
	clear(c.net)
	c.err = nil
}

// startCounters is called immediately before the time is taken, and
// stopCounters immediately after, so that ns/op does not include the reading
// of counters.
func (b *B) startCounters() {
	if benchCounters.read != nil {
		b.counters.read(b.counters.start)
	}
}

func (b *B) stopCounters() {
	if benchCounters.read == nil {
		return
	}
	// net += now - start, with start as the place for now.
	c := &b.counters
	for i := range c.net {
		c.net[i].Sub(c.start[i])
	}
	c.read(c.start)
	for i := range c.net {
		c.net[i].Add(c.start[i])
	}
}

func (c *counterState) read(dst []perf.Count) {
	if err := benchCounters.read(dst); err != nil && c.err == nil {
		c.err = err
	}
}

// reportCounters adds the counts to the benchmark's metrics. As everywhere, a
// metric that the benchmark has reported itself is left alone. Counts that are
// not complete fail the benchmark.
func (b *B) reportCounters() {
	if benchCounters.read == nil || b.failed || b.N == 0 {
		return
	}
	c := &b.counters
	if c.err != nil {
		b.Error(c.err)
		return
	}
	report := func(unit string, v float64) {
		if _, ok := b.extra[unit]; !ok {
			b.extra[unit] = v
		}
	}
	scaled := make([]float64, len(c.net))
	for i, m := range benchCounters.metrics {
		scale := c.net[i].Scale()
		if math.IsNaN(scale) {
			b.Errorf("counters: event %s was not counted at all: others had the processor's counters all the time; "+
				"count fewer events, or run the benchmark for longer", m.name)
			return
		}
		if scale > 1 {
			report(m.runPct, 100/scale)
		}
		scaled[i] = float64(c.net[i].Value) * scale
		report(m.perOp, scaled[i]/float64(b.N))
	}
	for _, r := range benchCounters.ipc {
		if scaled[r.denom] > 0 {
			report(r.unit, scaled[r.num]/scaled[r.denom])
		}
	}
}
