// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"errors"
	"fmt"
	"internal/perfevent"
	"internal/runtime/perf"
	"io"
	"strconv"
	"sync"
)

// A ProfilingOption names an event for [StartCPUProfileWithConfig] to sample,
// and where the profile goes.
type ProfilingOption interface {
	apply(s *perfSession) error
}

// multipleEnv allows more than one profile in a session (proposal 36821,
// section 4.4). Each option takes a counter and a descriptor per thread, or two, a buffer,
// and its share of what samples may cost; a program that is given options by
// several of its parts would not notice. PerfEvents needs no such permission:
// whoever names several events for one profile means it.
const multipleEnv = "GO_PPROF_ENABLE_MULTIPLE_CPU_PROFILES"

// timerHz is the rate of the OS timer; see StartCPUProfile.
const timerHz = 100

// StartCPUProfileWithConfig starts sampling one or several events on all
// threads of the current process, until [StopCPUProfile]. Each event's profile
// is written to the writer of its option when the profile is stopped.
//
// StartCPUProfile(w) is StartCPUProfileWithConfig(OSTimer(w)). The other
// options sample events of the processor's performance-monitoring unit (PMU) or
// of the kernel. They work on Linux, where the machine has a PMU (virtual
// machines often do not), and where perf_event_open(2) is permitted (the
// setting kernel.perf_event_paranoid and the seccomp filters of containers).
//
// More than one option needs the environment variable
// GO_PPROF_ENABLE_MULTIPLE_CPU_PROFILES=true, so that nobody takes several
// profiles at once, and has the program pay for each, without meaning to.
// One profile of several events does not need it: see [PerfEvents]. Options
// must differ in their events and in their writers. Up to eight events can be
// sampled at once.
//
// An error says what is wrong and what would help: an event is unknown or not
// supported here, a permission is missing, a profile is running already, or sessions
// (see [StartSession]) have taken the events or sample every execution of the same
// function. The last three, and the kernel's own EBUSY, are errors for which
// errors.Is(err, syscall.EBUSY) is true. Then nothing has been started. An event is
// never replaced by another.
//
// A profile has the sample types samples/count and TYPE/count (or
// TYPE/nanoseconds for clocks), where TYPE is the event's name with underscores in
// place of other characters than letters and digits: cache_misses. A sample stands
// for as many events as its period, see [PerfEvent]. The comments (go tool pprof -comments) say what was
// asked for, what the kernel gave, and what became of every overflow of the
// counters.
func StartCPUProfileWithConfig(opt ProfilingOption, moreOpts ...ProfilingOption) error {
	s := new(perfSession)
	if err := s.options(append([]ProfilingOption{opt}, moreOpts...)); err != nil {
		return err
	}
	if len(s.profiles) == 0 {
		return StartCPUProfile(s.timer)
	}

	cpu.Lock()
	defer cpu.Unlock()
	if cpu.profiling {
		return errInUse
	}
	if err := s.start(); err != nil {
		return err
	}
	cpu.profiling = true
	perfRunning = s
	return nil
}

// checkEventCount returns an error if the options have more events than can be
// sampled. It comes before their names are looked at, each of which takes files
// of sysfs to be read.
func checkEventCount(opts []ProfilingOption) error {
	n := 0
	for _, o := range opts {
		switch o := o.(type) {
		case *perfEventsOption:
			n += len(o.names)
		case dataOption:
			if o, ok := o.opt.(*perfEventsOption); ok {
				n += len(o.names)
			}
		}
	}
	return tooManyEvents(n)
}

func tooManyEvents(n int) error {
	if n > perf.MaxEvents {
		return fmt.Errorf("cpu profile: %d events at once; at most %d can be sampled", n, perf.MaxEvents)
	}
	return nil
}

// A Session samples events independently of other sessions, and of the CPU profile that
// [StartCPUProfile] and [StartCPUProfileWithConfig] start.
type Session struct {
	s    *perfSession
	once sync.Once
}

// StartSession starts sampling like [StartCPUProfileWithConfig], until the session's
// Stop. Several sessions can sample at once, each its own events: eight events in all
// sessions together, and the operating system's timer in one. They share the overhead
// bound: the samples of all sessions together cost a thread no more than those of one
// may.
//
// Errors are those of StartCPUProfileWithConfig; of profiles that are running already,
// only one of the timer is in the way of a session with the timer. Several options do
// not need the environment variable.
func StartSession(opt ProfilingOption, moreOpts ...ProfilingOption) (*Session, error) {
	s := &perfSession{handle: true}
	if err := s.options(append([]ProfilingOption{opt}, moreOpts...)); err != nil {
		return nil, err
	}
	if s.timer != nil {
		cpu.Lock()
		defer cpu.Unlock()
		if cpu.profiling {
			return nil, errInUse
		}
	}
	if err := s.start(); err != nil {
		return nil, err
	}
	if s.timer != nil {
		cpu.profiling = true
		perfRunning = s
	}
	return &Session{s: s}, nil
}

// Stop stops the session. It returns when its profiles have been written; calls after
// the first one do nothing else.
func (s *Session) Stop() {
	s.once.Do(func() {
		if s.s.timer != nil {
			cpu.Lock()
			defer cpu.Unlock()
			cpu.profiling = false
			perfRunning = nil
		}
		s.s.stop()
	})
}

// OSTimer samples CPU time with the operating system's timer at 100 Hz, as
// [StartCPUProfile] does.
func OSTimer(w io.Writer) ProfilingOption { return timerOption{w} }

// CPUCycles samples CPU cycles. A period of 0 means the preset, as for all
// events; see [PerfEvent].
func CPUCycles(w io.Writer, period uint64) ProfilingOption {
	return PerfEvent(w, "cycles", period)
}

// CPUInstructions samples retired instructions.
func CPUInstructions(w io.Writer, period uint64) ProfilingOption {
	return PerfEvent(w, "instructions", period)
}

// CPUCacheReferences samples cache accesses, usually of the last level.
func CPUCacheReferences(w io.Writer, period uint64) ProfilingOption {
	return PerfEvent(w, "cache-references", period)
}

// CPUCacheMisses samples cache misses, usually of the last level.
func CPUCacheMisses(w io.Writer, period uint64) ProfilingOption {
	return PerfEvent(w, "cache-misses", period)
}

// CPUBranchInstructions samples retired branch instructions.
func CPUBranchInstructions(w io.Writer, period uint64) ProfilingOption {
	return PerfEvent(w, "branches", period)
}

// CPUBranchMisses samples mispredicted branch instructions.
func CPUBranchMisses(w io.Writer, period uint64) ProfilingOption {
	return PerfEvent(w, "branch-misses", period)
}

// CPURawEvent samples the event that the processor's manual encodes as hex, in
// user mode only. It is the event "rHEX" of [PerfEvent].
func CPURawEvent(w io.Writer, period uint64, hex uint64) ProfilingOption {
	return PerfEvent(w, "r"+strconv.FormatUint(hex, 16), period)
}

// PerfEvent samples the event that has the given name in the output of
// "perf list" (perf-list(1)), for instance
//
//	cycles                  CPU cycles, like CPUCycles
//	task-clock              CPU time, in nanoseconds
//	page-faults             page faults
//	L1-dcache-load-misses   loads that miss the first-level data cache
//	r01c2                   a raw event of the processor
//	mem:main.f:x            calls of the function main.f
//	mem:main.v:w            writes of the package-level variable main.v
//	mem:0xc000012345/8:rw   accesses to 8 bytes at an address
//	sched:sched_switch      a tracepoint of the kernel
//
// optionally followed by modifiers: :u counts in user mode only and is the
// default, :k in the kernel only, :uk in both, :p to :ppp ask for a more
// precise instruction pointer; without it, the environment variable
// GO_PPROF_PRECISION=0 to 3 does. Clocks count in both modes by default, for time in
// the kernel is CPU time; where that is not permitted, in user mode, and the
// profile's comments say so. What is counted in other modes than by default
// has their letters in its sample type: cycles_uk, task_clock_u. An event is named by
// what the prototype of proposal 36821 called it, too, such as branchInstructions.
//
// A breakpoint on a function sees its calls, but not where it was inlined.
//
// The period is the number of events between two samples; for clocks, of
// nanoseconds. 0 means the event's preset. A period that is not a prime would
// lock onto loops whose length divides it and blame the same instruction over
// and over, so the nearest prime is used in its place and recorded in the
// profile. 1 samples every event.
func PerfEvent(w io.Writer, event string, period uint64) ProfilingOption {
	return PerfEvents(w, period, event)
}

// PerfEvents samples several events into one profile, whose samples have a
// value for each: "go tool pprof -sample_index=cache_misses" shows the graph
// of one of them. The names and the period are those of [PerfEvent]; a period
// that is not 0 applies to all events. The first sample type, samples/count,
// is the number of samples of the first event, whose period the profile has.
//
// Unlike several options of [StartCPUProfileWithConfig], several events of one
// profile need no environment variable.
func PerfEvents(w io.Writer, period uint64, events ...string) ProfilingOption {
	return &perfEventsOption{w: w, period: period, names: events}
}

type timerOption struct{ w io.Writer }

func (o timerOption) apply(s *perfSession) error {
	if s.timer != nil {
		return errors.New("cpu profile: OSTimer is there twice")
	}
	if o.w == nil {
		return errors.New("cpu profile: OSTimer has no writer")
	}
	s.timer = o.w
	return nil
}

type perfEventsOption struct {
	w      io.Writer
	period uint64
	names  []string
	parsed []*perfevent.Event // of the names, if Parse was called
}

// Parse parses the names, unless it has done so, and returns the events that the
// option samples. Package net/http/pprof calls it to check them: it has the option as
// an interface with this method.
func (o *perfEventsOption) Parse() ([]*perfevent.Event, error) {
	if o.parsed != nil {
		return o.parsed, nil
	}
	var events []*perfevent.Event
	for _, name := range o.names {
		e, err := perfParseSampled(name)
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	o.parsed = events
	return events, nil
}

func (o *perfEventsOption) apply(s *perfSession) error {
	if len(o.names) == 0 {
		return errors.New("cpu profile: PerfEvents without events")
	}
	if o.w == nil {
		return fmt.Errorf("cpu profile: event %s has no writer", o.names[0])
	}
	events, err := o.Parse()
	if err != nil {
		return err
	}
	o.parsed = nil // a session changes its events; see UserOnly
	p := &perfProfile{w: o.w}
	for _, event := range events {
		if err := s.add(p, event, o.period); err != nil {
			return err
		}
	}
	s.profiles = append(s.profiles, p)
	return nil
}
