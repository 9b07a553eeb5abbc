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
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Provided by package runtime; see perfprof.go there.

func runtime_perfStart(cfg []perf.SampleConfig, limits perf.Limits) (session int, f perf.Failure)
func runtime_perfStop(session int)
func runtime_perfDone(session int)
func runtime_perfStats(session, event int) perf.EventLedger
func runtime_perfHasForeign() bool
func runtime_perfLook() (spent int64)
func runtime_perfScan(tids []int32, session int) (failed int, spent, ran int64)
func runtime_perfInFunc(pc uintptr) (inGo, keepsWrapper bool)
func runtime_perfRead(session int) (event int, data []uint64, tags []unsafe.Pointer, eof bool)

// perfRunning is the session that StopCPUProfile ends, or that has the timer; nil if
// there is none. Protected by cpu.Mutex; not nil only while cpu.profiling is true.
var perfRunning *perfSession

// perfChange is held while a session starts, stops or is given back: the runtime makes
// one change at a time. It may be taken while cpu.Mutex is held, not the other way
// round.
var perfChange sync.Mutex

// A perfSession is what one call of StartCPUProfileWithConfig or StartSession started.
type perfSession struct {
	timer    io.Writer // of the OS timer's profile, or nil
	profiles []*perfProfile
	configs  []perf.SampleConfig // one per slot of the runtime
	slots    []*perfEvent        // the event that the slot's samples belong to
	id       int                 // the runtime's name for it
	done     chan struct{}       // closed by writer
	handle   bool                // it ends with Session.Stop

	waiting perfWaiting // owned by writer, as the profiles are

	// roots are the counts when the session began, and since then once it has stopped.
	roots atomic.Pointer[taskRoots]

	foundLate atomic.Int64 // see foreignThreads; until the session stops, what it was before
}

// options applies options to a new session.
func (s *perfSession) options(opts []ProfilingOption) error {
	if err := checkEventCount(opts); err != nil {
		return err
	}
	for _, o := range opts {
		if o == nil {
			return errors.New("cpu profile: nil ProfilingOption")
		}
		if err := o.apply(s); err != nil {
			return err
		}
	}
	return s.check()
}

// A perfProfile is one profile: the samples of one event, or of several, each
// with a column of its own in every sample's vector of values.
type perfProfile struct {
	w      io.Writer
	events []*perfEvent
	b      *profileBuilder

	data    *perfData // nil if samples do not say what they accessed
	stacks  perfStacks
	locator perfLocator
	stopped time.Time // when the last record had been read

	maxStrings int // in memory: the constant, or less in tests

	// By column of values, of which 0 is the number of samples:
	written []uint64  // sums of what has been written
	scales  []float64 // factors; 0 if there is nothing to scale

	// Parts of a sample that is being written, to use their memory again.
	locs, values, message []byte
	tag                   unsafe.Pointer // that labels is for
	labels                []byte

	traces   taskTraces
	lastTags [numVerdicts]struct { // of samples that have waited
		key     taskTag
		pointer unsafe.Pointer
	}
}

// A perfEvent is an event of a session.
type perfEvent struct {
	*perfevent.Event
	session *perfSession
	profile *perfProfile
	column  int    // index of its count in a sample's values; 0 is the number of samples
	latency int    // index of the latency of its accesses, or 0 if there is none
	asked   uint64 // period asked for, or 0
	precise *int8  // of precisionEnv, or nil
	period  uint64
	slots   []int // indices in session.slots: one, or several if the event is counted by several PMUs

	// userOnly is why the kernel is left out of a clock; see startEvents.
	userOnly perf.Failure

	lostBuffer uint64 // samples that did not fit in the runtime's buffers
	noAddress  uint64 // samples, those included, without one, of a profile that has them
	recorded   uint64 // events that the others stand for

	verdicts [numVerdicts]uint64 // samples, the lost ones included, by what is known of their tasks
	kinds    map[uint16]bool     // of samples that have waited
}

// add adds an event to the session, and to profile p of it.
func (s *perfSession) add(p *perfProfile, event *perfevent.Event, period uint64) error {
	for _, e := range s.slots {
		if e.Name == event.Name || e.Type == event.Type && slices.Equal(e.Attrs, event.Attrs) {
			return fmt.Errorf("cpu profile: event %s is there twice", event.Name)
		}
	}
	if event.Kind == perfevent.Breakpoint && !breakpointSignals() {
		return &perfOpError{event: event.Name, err: errors.ErrUnsupported,
			cause: "breakpoints can't be sampled on " + runtime.GOARCH + ", as a thread would not get past one: " +
				"the signal comes before the instruction, which hits it again afterwards; count them with OpenCounters, or use an x86 machine"}
	}
	if breakpointDead(event) {
		return deadError(event)
	}
	e := &perfEvent{
		Event:   event,
		session: s,
		profile: p,
		column:  1 + len(p.events),
		asked:   period,
		period:  event.SamplePeriod(period),
	}
	if int64(e.period) <= 0 {
		// The kernel rejects periods with the sign bit set: perf_event_open(2), EINVAL.
		return fmt.Errorf("cpu profile: event %s: period %d is above %d", event.Name, period, uint64(1<<63-1))
	}
	e.precise, _ = perfPrecision() // parsing has checked it
	p.events = append(p.events, e)
	for _, a := range event.Attrs {
		e.slots = append(e.slots, len(s.configs))
		s.slots = append(s.slots, e)
		s.configs = append(s.configs, perf.SampleConfig{Attr: a.Attr, Period: e.period, Periods: e.periods()})
	}
	return nil
}

// breakpointSignals reports whether a thread gets past a breakpoint that sends it a
// signal. On x86 the kernel sets the resume flag, which signal handlers preserve. On
// arm64 and arm it lets the thread step over the instruction. But with a signal
// pending the step goes into the handler, and when that returns the breakpoint is hit
// again (breakpoint_handler and signal_rewind_single_step in arch/arm64/kernel): a
// program that called a function 40 times did not finish in 10 minutes. Other
// architectures have not been tried.
func breakpointSignals() bool {
	return runtime.GOARCH == "amd64" || runtime.GOARCH == "386"
}

// periods returns e's period and longer ones to fall back on; see perf.SampleConfig.
func (e *perfEvent) periods() (ps [len(perf.SampleConfig{}.Periods)]uint64) {
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
	if s.timer != nil {
		ws = append(ws, s.timer)
	}
	for _, p := range s.profiles {
		ws = append(ws, p.w)
	}
	if len(ws) > 1 && !s.handle && os.Getenv(multipleEnv) != "true" {
		return fmt.Errorf("cpu profile: %d profiles at once need %s=true in the environment; one profile of several events, by PerfEvents, does not", len(ws), multipleEnv)
	}
	// An event takes a counter for each kind of core.
	if err := tooManyEvents(len(s.configs)); err != nil {
		return err
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

// start starts sampling. If the session has the timer, the caller holds cpu.Mutex, and
// no other session has the timer.
func (s *perfSession) start() error {
	for _, p := range s.profiles {
		p.begin()
	}
	if len(s.configs) > 0 {
		if err := s.startEvents(); err != nil {
			return err
		}
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

// startEvents makes the runtime start sampling. If a clock is refused because it
// includes the kernel, which the program did not ask for, clocks leave the kernel out,
// and the profile says so.
func (s *perfSession) startEvents() error {
	cost, err := perfMaxCost()
	if err != nil {
		return err
	}
	chains, err := perfChains()
	if err != nil {
		return err
	}
	limits := perf.Limits{FD: perfMaxFD(), Cost: cost, Chains: chains}
	perfChange.Lock()
	defer perfChange.Unlock()
	id, f := runtime_perfStart(s.configs, limits)
	if perfRefused(f) && s.slots[f.Slot].KernelOptional && s.userOnly(f) {
		id, f = runtime_perfStart(s.configs, limits)
	}
	if f.Op != perf.OpNone {
		return perfStartError(s.slots[f.Slot].Event, f)
	}
	if e := s.imprecise(func(slot int) int8 { return runtime_perfStats(id, slot).Precise }); e != nil {
		runtime_perfStop(id)
		for eof := false; !eof; {
			_, _, _, eof = runtime_perfRead(id)
		}
		runtime_perfDone(id)
		return fmt.Errorf("cpu profile: event %s has no addresses: this machine does not sample it precisely (%w)", e.Name, errors.ErrUnsupported)
	}
	s.id = id
	s.done = make(chan struct{})
	s.roots.Store(readTaskRoots())
	go s.writer()
	s.foundLate.Store(foreignStart(id))
	return nil
}

// userOnly excludes the kernel from the clocks that need not include it, because of f.
// It reports false if that would make two of the session's events the same.
func (s *perfSession) userOnly(f perf.Failure) bool {
	for slot, e := range s.slots {
		if !e.KernelOptional {
			continue
		}
		e.UserOnly()
		e.userOnly = f
		s.configs[slot].ExcludeKernel = true
		for _, o := range s.slots {
			if o != e && o.Type == e.Type && slices.Equal(o.Attrs, e.Attrs) {
				return false
			}
		}
	}
	return true
}

// stop stops sampling, and waits until the profiles are written.
func (s *perfSession) stop() {
	if len(s.configs) > 0 {
		perfChange.Lock()
		s.foundLate.Store(foreignStop() - s.foundLate.Load())
		s.roots.Store(readTaskRoots().since(s.roots.Load()))
		runtime_perfStop(s.id)
		perfChange.Unlock()
	}
	if s.timer != nil {
		runtime.SetCPUProfileRate(0)
		<-cpu.done
	}
	if len(s.configs) > 0 {
		<-s.done
		perfChange.Lock()
		runtime_perfDone(s.id)
		perfChange.Unlock()
	}
}

// stopPerf stops the session that StartCPUProfileWithConfig has started, if any, and
// reports whether StopCPUProfile has nothing else to do. It holds cpu.Mutex.
func stopPerf() bool {
	s := perfRunning
	switch {
	case s == nil:
		return false
	case s.handle: // the timer is somebody else's
	default:
		perfRunning = nil
		cpu.profiling = false
		s.stop()
	}
	return true
}

// writer drains the buffers of all events, and writes their profiles when the
// session has ended.
func (s *perfSession) writer() {
	defer close(s.done)
	ends := make([]perf.TaskEnd, 64)
	for {
		slot, data, tags, eof := runtime_perfRead(s.id)
		e := s.slots[slot]
		if err := e.profile.add(e, data, tags); err != nil {
			// As in profileWriter: the runtime produces whole records only.
			panic("runtime/pprof: converting profile: " + err.Error())
		}
		for n := 1; n > 0; {
			n = runtime_perfTaskEnds(s.id, ends)
			for i := range ends[:n] {
				s.waiting.end(&ends[i])
			}
		}
		if eof {
			break
		}
	}
	s.waiting.finish()
	s.nameKernel()
	for _, p := range s.profiles {
		p.end()
	}
}
