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
	"internal/taskrecord"
	"math"
	"os"
	"path/filepath"
	"runtime/trace"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	_ "unsafe" // for go:linkname
)

// A Config says what is recorded. The zero Config records slow tasks.
type Config struct {
	// Rate is the part of requests that are recorded whether slow or not, from 0 to 1. The
	// trace ID decides, so servers with the same rate record the same requests.
	Rate float64

	// Events are counted for tasks that begin from now on: events of [pprof.OpenCounters]. If a
	// processor cannot count them all at once, they are counted in turns: sets of them, of
	// which each has its second, such that any two are in one of the sets. A task has
	// the counts of the second that it was in. One that was in two has none. Turns are of
	// real time: don't use them in a bubble of [testing/synctest].
	Events []string

	// Slow says how long a task of a kind may take, or a call. One that takes longer is slow, and is
	// recorded with its timeline whatever Rate is. For kinds that are not in Slow, or with 0, that is
	// found out: it is what 99 % of a thousand tasks of the kind did not exceed, in the best thousand
	// of the last hour. Of a kind whose threshold is found out, 20 slow ones a second are recorded,
	// and 200 at once.
	Slow map[string]time.Duration

	// Flight, if it is not nil, must have been started. A slow task writes the execution
	// trace that it has, of what happened before, to the file trace-ID.out in the directory
	// FlightDir. ID is the request's. At most one is written a minute, in the background.
	//
	// The client can choose the request's ID, so a file that is there is left alone, whatever
	// it is. The name is trace-ID-2.out then, or the next one that is free, up to
	// trace-ID-100.out. [Stop] waits for what is being written.
	Flight    *trace.FlightRecorder
	FlightDir string

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
	server *taskrecord.Server
	events []string // of all sets
	index  []uint16 // in events.names
	turns  *turns   // or nil
	since  time.Time
	below  uint64 // traces with a lower hash are sampled

	*numbers
}

// numbers stay from one recorder to the next.
type numbers struct {
	open       quota
	taken      takenTimes
	tooMany    atomic.Uint64 // tasks that were not recorded, as too many were open
	badParent  atomic.Uint64 // headers
	badState   atomic.Uint64
	tooLong    atomic.Uint64 // records
	overBudget atomic.Uint64 // slow tasks; see kind.slow

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
	if c.Flight != nil && !c.Flight.Enabled() {
		return errors.New("task: the flight recorder has not been started; call its Start first")
	}
	c.Memory = max(cmp.Or(c.Memory, 2<<20), 1<<20)
	r := &recorder{config: c, since: realNow(), numbers: newNumbers()}
	recorders.Lock()
	defer recorders.Unlock()
	old := lastRecording.Load()
	if old != nil {
		r.numbers = old.numbers
	}
	if err := setThresholds(c.Slow, false); err != nil {
		return err
	}
	if err := r.count(old, c.Events); err != nil {
		return err
	}
	setThresholds(c.Slow, true)
	setFlight(c.Flight, c.FlightDir)
	name := c.Name
	if name == "" && len(os.Args) > 0 {
		name = filepath.Base(os.Args[0])
	}
	r.server = &taskrecord.Server{ID: c.Server, Name: name, PID: os.Getpid(), Events: r.events, Start: r.since.UnixNano(), Boot: bootID()}
	if c.Rate == 1 {
		r.below = math.MaxUint64
	} else {
		r.below = uint64(c.Rate * (1 << 64))
	}
	if renamed.Load() == nil {
		renamed.Store(new(renames))
	}
	pprof_taskBegins(kindName)
	runtime_perfTaskFollow(&perf.TaskConfig{Least: leastStretch, Memory: logMemory})
	// A record may take half a ring.
	runtime_perfTaskRingSize(&[perf.NumTaskRings]int{perf.TaskRing: c.Memory / 2, perf.SlowTaskRing: c.Memory / 2})
	wallOffset(runtime_nanotime())
	r.taken.start()
	lastRecording.Store(r)
	recording.Store(r)
	return nil
}

// count begins to count events, if there are any, instead of what old has, which may be nil.
// It goes on with what is counted already. If there is an error, nothing changes. recorders is locked.
func (r *recorder) count(old *recorder, events []string) error {
	var was *turns
	if old != nil {
		was = old.turns
	}
	if was != nil && slices.Equal(was.events, events) {
		r.turns = was
	} else {
		// What is counted now would take its share of the counters, and of the sets that can
		// be open.
		was.finish()
		if len(events) > 0 {
			t, err := newTurns(events, r.numbers)
			if err != nil {
				if was != nil {
					was.start()
				}
				return err
			}
			r.turns = t
			r.failure.Store(nil)
			t.start()
		}
	}
	if old != nil {
		old.turns = nil // they have ended, or are r's
	}
	if r.turns != nil {
		for _, t := range r.turns.list {
			r.uses(t.eventSet)
		}
	}
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

// Stop ends recording: New returns nil from now on. Tasks that are open are recorded
// when they end, and records stay until others take their place. Events are not counted any more,
// and what slow tasks write has been written; see [Config.Flight].
func Stop() {
	defer stopFlight()
	defer waitLate()
	recorders.Lock()
	defer recorders.Unlock()
	recording.Store(nil)
	if r := lastRecording.Load(); r != nil {
		r.turns.finish()
		r.turns = nil
		r.taken.stop()
	}
}

// isRecording reports whether tasks are recorded.
//
//go:linkname isRecording net/http/pprof.isRecording
func isRecording() bool { return recording.Load() != nil }

// samples reports whether a request is one of those that are recorded in any case.
func (r *recorder) samples(id taskrecord.TraceID) bool {
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
