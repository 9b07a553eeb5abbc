// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"errors"
	"internal/perfevent"
	"internal/runtime/perf"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// runtime_perfProbe is perfProbe of package runtime; see perfprobe_linux.go.
func runtime_perfProbe(cfg *perf.SampleConfig, budget int64, step func()) (samples, counted uint64, ran bool, f perf.Failure)

// How long an event may take to show a sample. Most show it in the first step.
const (
	// That an event does not occur in this time proves nothing.
	probeBudget = 2 * time.Millisecond

	// An event that counts and does not interrupt is given some ticks of the
	// kernel (4 or 10 ms each): emulated PMUs look for overflows only then.
	probeBudgetLong = 30 * time.Millisecond
)

// Why an event that opens can't be sampled.
var (
	errProbeSilent  = errors.New("the machine accepts it but does not count it, as some virtual machines do; use another machine, or sample task-clock or the timer")
	errProbeNoIRQ   = errors.New("the machine counts it but raises no interrupt when the counter overflows, as some virtual machines do; use another machine, or sample task-clock or the timer")
	errProbeCrowded = errors.New("all counters that can count it are in use, by another profiler or the NMI watchdog; stop it, or set kernel.nmi_watchdog=0")
)

func perfEvents() []EventInfo {
	w := newProbeWork()
	defer w.close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	var all []EventInfo
	for _, l := range perfResolver(nil).List() {
		info := newEventInfo(&l)
		if info.Err == nil {
			sampled, err := w.probe(l.Name)
			if err != nil {
				info.Err = newEventError(err)
			}
			info.Sampled = sampled
		}
		all = append(all, info)
	}
	return all
}

// probe reports whether the event can be sampled; see EventInfo. The goroutine
// is locked to its thread.
//
// Where the event has a counter for each kind of core, all must open and one
// must give samples: this thread runs on one kind only.
func (w *probeWork) probe(name string) (sampled bool, err error) {
	e, err := perfParseSampled(name)
	if err != nil {
		return false, err
	}
	var s perfSession // for its configs; never started
	period := e.SamplePeriod(probePeriod(e))
	if err := s.add(&perfProfile{}, e, period); err != nil {
		return false, err
	}
	step, occurs := w.step(e)
	var counted uint64
	var ran bool
	for i := range s.configs {
		r, f := tryProbe(&s.configs[i], step, occurs && !sampled)
		if perfRefused(f) && e.KernelOptional && s.userOnly(f) {
			r, f = tryProbe(&s.configs[i], step, occurs && !sampled)
		}
		if f.Op != perf.OpNone {
			return false, perfStartError(e, f)
		}
		sampled = sampled || r.samples > 0
		counted += r.counted
		ran = ran || r.ran
	}
	if sampled {
		return true, nil
	}
	return false, probeVerdict(ran, counted, period, occurs)
}

// probeVerdict returns why an event that opens can't be sampled, given whether its
// counters ran and how much they counted without a sample. nil does not prove that it
// can be sampled.
func probeVerdict(ran bool, counted, period uint64, occurs bool) error {
	switch {
	case !ran:
		return errProbeCrowded
	case counted >= 2*period:
		return errProbeNoIRQ
	case counted == 0 && occurs:
		return errProbeSilent
	}
	return nil
}

type probeResult struct {
	samples, counted uint64
	ran              bool
}

// tryProbe probes for a short time, and once more for a long time before it concludes
// anything from a lack of samples.
func tryProbe(cfg *perf.SampleConfig, step func(), occurs bool) (r probeResult, f perf.Failure) {
	for _, budget := range []time.Duration{probeBudget, probeBudgetLong} {
		r.samples, r.counted, r.ran, f = runtime_perfProbe(cfg, budget.Nanoseconds(), step)
		if f.Op != perf.OpNone || r.samples > 0 || r.counted < 2*cfg.Period && !occurs {
			break
		}
	}
	return r, f
}

// probePeriod returns a period that some hundred microseconds of probeWork
// exceed, for an event whose preset aims at 10 to 1000 samples per second.
func probePeriod(e *perfevent.Event) uint64 {
	switch e.Kind {
	case perfevent.Clock:
		return 50_000 // ns
	case perfevent.Software:
		return 1
	}
	return max(e.Period/200, 100)
}

// probeWork causes events.
type probeWork struct {
	mem []byte // beyond the heap; see compute
	x   uint64
}

const (
	probeMem   = 4 << 20 // bytes; more than most caches of the second level
	probeFault = 64 << 10
)

func newProbeWork() *probeWork {
	mem, err := syscall.Mmap(-1, 0, probeMem, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return &probeWork{}
	}
	return &probeWork{mem: mem}
}

func (w *probeWork) close() {
	if w.mem != nil {
		syscall.Munmap(w.mem)
	}
}

// step returns what may cause the event, some tens of microseconds of it, and
// whether it does so on every machine that has the event.
func (w *probeWork) step(e *perfevent.Event) (step func(), occurs bool) {
	switch e.Type {
	case "page-faults", "minor-faults":
		return w.fault, true
	case "context-switches", "cgroup-switches":
		return w.block, e.Type == "context-switches"
	}
	return w.compute, alwaysOccurs(e)
}

// alwaysOccurs reports whether whatever computes causes the event, on every
// machine that has it.
func alwaysOccurs(e *perfevent.Event) bool {
	return slices.Contains([]string{"cycles", "instructions", "branches", "cpu-clock", "task-clock"}, e.Type)
}

// silentCause returns why there are no samples of an event that its counters
// counted so often while threads ran with them for so long, or "" if there is
// nothing wrong with that. All that threads do counts for some events; a
// millisecond is more than the threads that start and stop a profile need.
func silentCause(e *perfevent.Event, counted, running uint64) string {
	// Where only a guest or the kernel is counted, there may be none.
	some := !slices.ContainsFunc(e.Attrs, func(a perfevent.PMUAttr) bool { return a.ExcludeUser || a.ExcludeHost })
	if counted == 0 && running >= uint64(time.Millisecond) && some && alwaysOccurs(e) {
		return errProbeSilent.Error()
	}
	return ""
}

// compute loads and stores at random places of w.mem and takes branches that
// can't be predicted. The memory is fresh at first, so that there are page
// faults, and misses in caches of every size, too.
func (w *probeWork) compute() {
	for range 1024 {
		w.x = w.x*6364136223846793005 + 1442695040888963407
		if len(w.mem) == 0 {
			continue
		}
		if p := &w.mem[w.x>>32%probeMem]; w.x>>63 == 0 {
			*p += byte(w.x >> 56)
		} else {
			*p ^= byte(w.x >> 48)
		}
	}
}

// fault touches fresh pages.
func (w *probeWork) fault() {
	mem, err := syscall.Mmap(-1, 0, probeFault, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return
	}
	for i := 0; i < len(mem); i += os.Getpagesize() {
		mem[i] = 1
	}
	syscall.Munmap(mem)
}

// block lets the thread sleep in the kernel.
func (w *probeWork) block() {
	ts := syscall.NsecToTimespec(20_000)
	syscall.Nanosleep(&ts, nil)
}
