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
	"os"
	"reflect"
	"runtime"
	"strconv"
	"unsafe"
)

// Provided by package runtime; see perfprof.go there.

func runtime_perfStart(cfg []perf.Config, limits perf.Limits) perf.Failure
func runtime_perfStop()
func runtime_perfDone()
func runtime_perfStats(slot int) perf.Stats
func runtime_perfHasForeign() bool
func runtime_perfScan(came, gone []int32)
func runtime_perfInGo(pc uintptr) bool
func runtime_perfRead() (slot int, data []uint64, tags []unsafe.Pointer, eof bool)

// perfRunning is the session that samples events, or nil.
// Protected by cpu.Mutex; not nil only while cpu.profiling is true.
var perfRunning *perfSession

// A perfSession is what one call of StartCPUProfileWithConfig started.
type perfSession struct {
	timer    io.Writer // of the OS timer's profile, or nil
	profiles []*perfProfile
	configs  []perf.Config // one per slot of the runtime
	slots    []*perfEvent  // the event that the slot's samples belong to
	done     chan struct{} // closed by writer

	// foreignStop ends foreignThreads, which closes foreignDone. Both are nil
	// in programs without C.
	foreignStop, foreignDone chan struct{}
}

// A perfProfile is one profile: the samples of one event, or of several, each
// with a column of its own in every sample's vector of values.
type perfProfile struct {
	w      io.Writer
	events []*perfEvent
	b      *profileBuilder
}

// A perfEvent is an event of a session.
type perfEvent struct {
	*perfevent.Event
	profile *perfProfile
	column  int    // index of its count in a sample's values; 0 is the number of samples
	asked   uint64 // period asked for, or 0
	period  uint64
	slots   []int // one, or several if the event is counted by several PMUs

	lostBuffer uint64 // samples that did not fit in the runtime's buffers
}

// add adds an event to the session, and to profile p of it.
func (s *perfSession) add(p *perfProfile, event *perfevent.Event, period uint64) error {
	for _, e := range s.slots {
		if e.Name == event.Name {
			return fmt.Errorf("cpu profile: event %s is there twice", event.Name)
		}
	}
	if event.Kind == perfevent.Breakpoint && !breakpointSignals() {
		return &perfOpError{event: event.Name, err: errors.ErrUnsupported,
			cause: "breakpoints can't be sampled on " + runtime.GOARCH + ", as a thread would not get past one: " +
				"the signal comes before the instruction, which hits it again afterwards; count them with OpenCounters, or use an x86 machine"}
	}
	e := &perfEvent{
		Event:   event,
		profile: p,
		column:  1 + len(p.events),
		asked:   period,
		period:  event.SamplePeriod(period),
	}
	if int64(e.period) <= 0 {
		// The kernel rejects periods with the sign bit set: perf_event_open(2), EINVAL.
		return fmt.Errorf("cpu profile: event %s: period %d is above %d", event.Name, period, uint64(1<<63-1))
	}
	p.events = append(p.events, e)
	for _, a := range event.Attrs {
		e.slots = append(e.slots, len(s.configs))
		s.slots = append(s.slots, e)
		s.configs = append(s.configs, perf.Config{
			Type:          a.Type,
			BPType:        a.BPType,
			Config:        a.Config,
			Config1:       a.Config1,
			Config2:       a.Config2,
			Config3:       a.Config3,
			Period:        e.period,
			Periods:       e.periods(),
			Exact:         event.Kind == perfevent.Breakpoint && e.period == 1,
			ExcludeUser:   a.ExcludeUser,
			ExcludeKernel: a.ExcludeKernel,
			ExcludeHV:     a.ExcludeHV,
			ExcludeIdle:   a.ExcludeIdle,
			ExcludeHost:   a.ExcludeHost,
			ExcludeGuest:  a.ExcludeGuest,
			Precise:       a.Precise,
			Clock:         event.Kind == perfevent.Clock,
		})
	}
	return nil
}

// breakpointSignals reports whether a thread goes on after a signal for a
// breakpoint. On x86 the kernel sets the resume flag, which signal handlers
// preserve. On arm64 and arm it lets the thread step over the instruction, but
// with a signal pending the step is into the handler, and when that returns the
// breakpoint is hit again (breakpoint_handler and signal_rewind_single_step in
// arch/arm64/kernel). A program that called a function 40 times did not finish
// in 10 minutes. Others are not known.
func breakpointSignals() bool {
	return runtime.GOARCH == "amd64" || runtime.GOARCH == "386"
}

// periods returns e's period and longer ones to fall back on; see perf.Config.
func (e *perfEvent) periods() (ps [len(perf.Config{}.Periods)]uint64) {
	p := e.period
	for i := range ps {
		if ps[i] = p; p > 1<<62/2 {
			break
		}
		p = e.SamplePeriod(2 * p)
	}
	return ps
}

// check reports what is wrong with the session's options taken together.
func (s *perfSession) check() error {
	var ws []io.Writer
	n := 0
	if s.timer != nil {
		ws = append(ws, s.timer)
		n++
	}
	for _, p := range s.profiles {
		ws = append(ws, p.w)
		n += len(p.events)
	}
	if n > 1 && os.Getenv(multipleEnv) != "true" {
		return fmt.Errorf("cpu profile: %d events at once need %s=true in the environment", n, multipleEnv)
	}
	if len(s.configs) > perf.MaxEvents {
		return fmt.Errorf("cpu profile: %d events at once; at most %d can be sampled", len(s.configs), perf.MaxEvents)
	}
	for i, w := range ws {
		for _, v := range ws[:i] {
			if sameWriter(v, w) {
				return errors.New("cpu profile: two options have the same writer")
			}
		}
	}
	return nil
}

// sameWriter reports whether v and w are the same writer. Writers of types
// that can't be compared are values, not files, and are not the same.
func sameWriter(v, w io.Writer) bool {
	return reflect.TypeOf(v) == reflect.TypeOf(w) && reflect.TypeOf(v).Comparable() && v == w
}

// start starts sampling. The caller holds cpu.Mutex.
func (s *perfSession) start() error {
	for _, p := range s.profiles {
		p.b = newProfileBuilder(p.w)
		p.b.perf = p
	}
	cost, err := perfMaxCost()
	if err != nil {
		return err
	}
	if f := runtime_perfStart(s.configs, perf.Limits{FD: perfMaxFD(), Cost: cost}); f.Op != perf.OpNone {
		return perfError(s.slots[f.Slot].Name, f)
	}
	s.done = make(chan struct{})
	go s.writer()
	if runtime_perfHasForeign() {
		known := make(map[int32]bool)
		scanThreads(known)
		s.foreignStop, s.foreignDone = make(chan struct{}), make(chan struct{})
		go foreignThreads(s.foreignStop, s.foreignDone, known)
	}
	if s.timer != nil {
		// Like StartCPUProfile, with the timer's own buffer and goroutine.
		if cpu.done == nil {
			cpu.done = make(chan bool)
		}
		runtime.SetCPUProfileRate(timerHz)
		go profileWriter(s.timer)
	}
	return nil
}

// costEnv tightens the overhead bound: whoever runs a program can have profiles
// cost less, down to 1 percent by the bound's estimate, but not more.
const costEnv = "GO_PPROF_MAX_OVERHEAD"

// perfMaxCost returns the bound's perf.Limits.Cost.
func perfMaxCost() (int, error) {
	s := os.Getenv(costEnv)
	if s == "" {
		return perf.MaxCost, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > perf.MaxCost {
		return 0, fmt.Errorf("cpu profile: %s=%q: not a number of percent from 1 to %d", costEnv, s, perf.MaxCost)
	}
	return n, nil
}

// stopPerf stops the running session, if any, and reports whether there was
// one. The caller, StopCPUProfile, holds cpu.Mutex.
func stopPerf() bool {
	s := perfRunning
	if s == nil {
		return false
	}
	perfRunning = nil
	if s.foreignStop != nil {
		close(s.foreignStop)
		<-s.foreignDone
	}
	runtime_perfStop()
	if s.timer != nil {
		runtime.SetCPUProfileRate(0)
		<-cpu.done
	}
	<-s.done
	runtime_perfDone()
	return true
}

// writer drains the buffers of all events, and writes their profiles when the
// session has ended.
func (s *perfSession) writer() {
	defer close(s.done)
	for {
		slot, data, tags, eof := runtime_perfRead()
		if eof {
			break
		}
		e := s.slots[slot]
		if err := e.profile.b.addPerfData(e, data, tags); err != nil {
			// As in profileWriter: the runtime produces whole records only.
			panic("runtime/pprof: converting profile: " + err.Error())
		}
	}
	for _, p := range s.profiles {
		for _, e := range p.events {
			p.b.weighLost(e)
		}
		p.scale(p.b)
		p.expand(p.b)
		p.b.build()
	}
}
