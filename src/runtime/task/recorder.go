// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"internal/runtime/perf"
	"math"
	"os"
	"path/filepath"
	"runtime/pprof"
	"runtime/task/record"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A Config says what is recorded. The zero Config records slow tasks.
type Config struct {
	// Rate is the part of requests that are recorded whether slow or not, from 0 to 1. It
	// depends on the trace ID which they are, so that servers with one rate record the same
	// ones.
	Rate float64

	// Counters are counted for tasks that begin from now on. They must stay open: tasks that are
	// open when they are closed lose their counts, and have [record.EpochChange].
	Counters *pprof.Counters

	// Turns are sets of events of which one is counted at a time, for an Epoch (1 s by default),
	// as a processor counts few events at once. See the function [Turns]. A task has the counts of
	// the epoch that it was in. One that was in two has none, and [record.EpochChange]. Other
	// than Counters they are opened here, and closed by [Stop]. Epochs are of real time: don't
	// start them in a bubble of [testing/synctest].
	Turns [][]string
	Epoch time.Duration

	Server uint16 // ID in clocks, neither 0 nor 65535; 0 if the server takes no part
	Name   string // of the server, in records; the program's by default

	// Filter, if it is not nil, is called with each note, and returns what is to be kept of
	// the value, if anything.
	Filter func(key, value string) (string, bool)

	// Memory is for the rings of records, in bytes of each P: 2 MB by default, and 1 GiB at
	// most. Rings that there are stay as they are.
	Memory int
}

// A recorder is a configuration, and what was not recorded under it.
type recorder struct {
	config Config
	server *record.Server
	events []string // of all sets
	index  []uint16 // in events.names
	turns  *turns   // or nil
	since  time.Time
	below  uint64 // traces with a lower hash are sampled

	*numbers
}

// numbers stay from one recorder to the next.
type numbers struct {
	open      quota
	tooMany   atomic.Uint64 // tasks that were not recorded, as too many were open
	badParent atomic.Uint64 // headers
	badState  atomic.Uint64
	tooLong   atomic.Uint64 // records

	epochs  atomic.Uint64
	failed  atomic.Uint64 // epochs in which nothing could be counted
	failure atomic.Pointer[error]
	changes atomic.Uint64 // tasks that an epoch's end has cost their counts
}

func newNumbers() *numbers {
	n := new(numbers)
	n.open.left.Store(maxQuota)
	return n
}

var (
	recorders     sync.Mutex
	recording     atomic.Pointer[recorder] // nil while nothing is
	lastRecording atomic.Pointer[recorder] // the latest one; not nil if there is a task
)

// maxMemory is what the rings of a P can have.
const maxMemory = perf.NumTaskRings * perf.MaxTaskRing

// Start begins to record tasks, or changes how. Tasks that are open go on.
func Start(c Config) error {
	if c.Rate < 0 || c.Rate > 1 || math.IsNaN(c.Rate) {
		return fmt.Errorf("task: rate %v is not between 0 and 1", c.Rate)
	}
	if c.Server == math.MaxUint16 {
		return errors.New("task: server 65535 is no ID; use one from 1 to 65534, or 0 for none")
	}
	if c.Memory < 0 {
		return fmt.Errorf("task: %d bytes of memory; use 0 for the default", c.Memory)
	}
	if c.Memory > maxMemory {
		return fmt.Errorf("task: %d bytes of memory for each P; use %d at most", c.Memory, maxMemory)
	}
	c.Memory = max(cmp.Or(c.Memory, 2<<20), 1<<20)
	r := &recorder{config: c, since: realNow(), numbers: newNumbers()}
	recorders.Lock()
	defer recorders.Unlock()
	old := lastRecording.Load()
	if old != nil {
		r.numbers = old.numbers
	}
	var set *eventSet
	var err error
	switch {
	case c.Counters != nil && len(c.Turns) > 0:
		return errTurnsAndCounters
	case c.Counters != nil:
		if id, _ := pprof_counterSet(c.Counters); id.Gen == 0 {
			return errors.New("task: the counters are closed; open them for as long as tasks are recorded")
		}
		if set, err = newEventSet(c.Counters); err != nil {
			return err
		}
		r.uses(set)
	case len(c.Turns) > 0:
		// What is counted now would take its share of the counters, and of the sets that can
		// be open.
		if old != nil {
			old.turns.finish()
		}
		if r.turns, err = newTurns(c.Turns, c.Epoch, r.numbers); err != nil {
			if old != nil && old.turns != nil {
				old.turns.start()
			}
			return err
		}
		if old != nil {
			old.turns = nil // they have ended
		}
		for _, t := range r.turns.list {
			r.uses(t.eventSet)
		}
	}
	name := c.Name
	if name == "" && len(os.Args) > 0 {
		name = filepath.Base(os.Args[0])
	}
	r.server = &record.Server{ID: c.Server, Name: name, PID: os.Getpid(), Events: r.events, Start: r.since.UnixNano()}
	if c.Rate == 1 {
		r.below = math.MaxUint64
	} else {
		r.below = uint64(c.Rate * (1 << 64))
	}
	pprof_taskBegins(kindName)
	runtime_perfTaskFollow(&perf.TaskConfig{Least: leastStretch, Memory: logMemory})
	// A record may take half a ring.
	runtime_perfTaskRingSize(&[perf.NumTaskRings]int{perf.TaskRing: c.Memory / 2, perf.SlowTaskRing: c.Memory / 2})
	wallOffset(runtime_nanotime())
	r.countInstead(old, set)
	lastRecording.Store(r)
	recording.Store(r)
	return nil
}

// uses adds a set of events to those of r.
func (r *recorder) uses(s *eventSet) {
	for i, name := range s.names {
		if !slices.Contains(r.events, name) {
			r.events, r.index = append(r.events, name), append(r.index, s.index[i])
		}
	}
}

// countInstead begins to count what r does, which is set unless it has turns, instead of what
// old has, which may be nil. recorders is locked.
func (r *recorder) countInstead(old *recorder, set *eventSet) {
	if old != nil {
		old.turns.finish()
		old.turns = nil
	}
	switch {
	case r.turns != nil:
		counting.Store(nil)
		r.turns.start()
	case set == nil:
		counting.Store(nil)
	default:
		id, _ := pprof_counterSet(r.config.Counters)
		if e := counting.Load(); e == nil || e.id != id { // else open tasks are in it
			set.count(r.config.Counters)
		}
	}
}

// Stop ends recording: New returns nil from now on. Tasks that are open are recorded
// when they end, and records stay until others take their place. [Config.Turns] end.
func Stop() {
	defer waitLate()
	recorders.Lock()
	defer recorders.Unlock()
	recording.Store(nil)
	if r := lastRecording.Load(); r != nil {
		r.turns.finish()
		r.turns = nil
	}
}

// Recording reports whether tasks are recorded.
func Recording() bool { return recording.Load() != nil }

// samples reports whether a request is one of those that are recorded in any case.
func (r *recorder) samples(id record.TraceID) bool {
	if r.below == 0 || r.below == math.MaxUint64 {
		return r.below != 0
	}
	// IDs need not be random in all bits; see mix64 in Steele, Lea, Flood, "Fast splittable
	// pseudorandom number generators", 2014.
	h := binary.LittleEndian.Uint64(id[:8]) ^ binary.LittleEndian.Uint64(id[8:])
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h^h>>31 < r.below
}

// wall is how far the wall clock was ahead of the monotonic one at last.
var wall struct{ offset atomic.Int64 }

// sameOffset is by how much, in ns, the wall clock may seem to have been set though it has not: it
// is read a moment later than the other one.
const sameOffset = 20_000

// wallOffset returns how far the wall clock is ahead, now: it may have been set a moment ago. The
// monotonic one was read just before. As long as the wall clock is not set, the result is the same,
// whatever readings differ by, so that what is dated with it stays in order.
func wallOffset(before int64) int64 {
	offset := wall.offset.Load()
	if !isOffset(runtime_perfWalltime()-before, offset) {
		if o := readOffset(runtime_nanotime, runtime_perfWalltime); !isOffset(o, offset) {
			// If another thread stores an older one after it, the next caller sees that.
			offset = o
			wall.offset.Store(o)
		}
	}
	return offset
}

func isOffset(o, offset int64) bool {
	d := o - offset
	return -sameOffset < d && d < sameOffset
}

// realNow is time.Now, also in a bubble.
func realNow() time.Time {
	t, now := time.Now(), runtime_perfWalltime()
	if d := now - t.UnixNano(); d > 1e9 || d < -1e9 {
		t = time.Unix(0, now)
	}
	return t
}

// readOffset reads two clocks one after the other, and returns how far the second is ahead. As
// the thread may lose its CPU in between, it does so until that has taken little time, and
// takes the best of ten if it always takes longer.
func readOffset(nanotime, walltime func() int64) (offset int64) {
	least := int64(math.MaxInt64)
	for range 10 {
		from := nanotime()
		now := walltime()
		if took := nanotime() - from; took < least {
			least, offset = took, now-from-took/2
		}
		if least < 1000 {
			break
		}
	}
	return offset
}

// KindStats are the numbers of the tasks of a kind that have ended.
type KindStats struct {
	Kind                string
	Count, Failed, Slow int64
	Open                int64         // that have not ended
	Wall                time.Duration // of all
	P50, P90, P99, Max  time.Duration // P* within 7 %
	Threshold           time.Duration // above which a task is slow; 0 if it is not known yet
	Automatic           bool          // the threshold is; see [Slow]
	Usage               record.Usage  // of all
	Counted             []int64       // how many of them each count in Usage is of

	// Usage.Count and Counted have an element for each of Server.Events.
}

// Stats are the numbers of the recorder.
type Stats struct {
	Server *record.Server // nil if nothing has ever been recorded
	Since  time.Time      // Start
	Rate   float64
	Kinds  []KindStats // with tasks, by name
	Open   int64
	Epochs int64 // that have begun, of Config.Turns
	Events []EventStats
	Causes []Cause // of what has not been recorded
}

// A Cause is why something has not been recorded, and how often.
type Cause struct {
	Name string
	N    uint64
}

// ReadStats returns the recorder's numbers.
func ReadStats() (s Stats) {
	r := lastRecording.Load()
	if r == nil {
		return s
	}
	s = Stats{Server: r.server, Since: r.since, Rate: r.config.Rate, Open: r.open.open(), Epochs: int64(r.epochs.Load())}
	for _, name := range r.events {
		s.Events = append(s.Events, EventStats{Name: name})
	}
	kinds.mu.Lock()
	all := slices.Clone(kinds.byID)
	kinds.mu.Unlock()
	for _, k := range all {
		if k != nil && k.count.Load()+k.open() > 0 {
			s.Kinds = append(s.Kinds, k.stats(r.index))
		}
	}
	slices.SortFunc(s.Kinds, func(a, b KindStats) int { return cmp.Compare(a.Kind, b.Kind) })
	s.Causes = []Cause{
		{"tasks, as 10,000 were open", r.tooMany.Load()},
		{"tasks under their own kind, as there were 1,000", kinds.many.Load()},
		{"bad headers traceparent", r.badParent.Load()},
		{"bad headers tracestate", r.badState.Load()},
		{"records that were too long", r.tooLong.Load()},
		{"counts of tasks in which an epoch ended", r.changes.Load()},
		{"regions that an execution trace does not have as they were, as they did not nest", untold.Load()},
	}
	for _, k := range s.Kinds {
		for i, n := range k.Counted {
			s.Events[i].Tasks += n
		}
	}
	if err := r.failure.Load(); err != nil {
		s.Causes = append(s.Causes, Cause{"epochs in which nothing could be counted, at last as " + (*err).Error(), r.failed.Load()})
	}
	return s
}
