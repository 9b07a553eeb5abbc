// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"fmt"
	"internal/runtime/perf"
	"internal/taskrecord"
	"math/bits"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A kind is what is known of tasks with one name. Kinds stay.
type kind struct {
	name   string
	client bool // they are calls
	id     uint32

	threshold atomic.Int64 // ns, above which a task is slow; 0 if none
	fixed     atomic.Bool  // the threshold is given
	budget    budget       // of records of slow ones, if it is not

	count  atomic.Int64
	max    atomic.Int64
	sums   [shards]kindSums
	counts eventSums

	lengths [numLengths]atomic.Uint32 // of all tasks
	recent  struct {                  // those of the latest window: lengths at its beginning
		mu    sync.Mutex
		until atomic.Int64 // count at its end
		base  [numLengths]uint32
		least leastOf // thresholds of windows
	}
}

// Lengths are counted by powers of two, each divided in lengthSteps. So a percentile is
// right within 1/lengthSteps.
const (
	lengthBits  = 4
	lengthSteps = 1 << lengthBits
	numLengths  = (48 - lengthBits + 1) * lengthSteps // up to 78 hours

	// window is of how many tasks the threshold of a kind is the 99th percentile; see leastOf.
	window = 1000
)

// lengthOf returns the index of a length.
func lengthOf(nanos int64) int {
	n := uint64(max(nanos, 0))
	if n < lengthSteps {
		return int(n)
	}
	e := bits.Len64(n) - lengthBits - 1
	return min((e+1)<<lengthBits|int(n>>e)&(lengthSteps-1), numLengths-1)
}

// lengthEnd returns the least length that is longer than all of an index.
func lengthEnd(i int) int64 {
	if i < lengthSteps {
		return int64(i) + 1
	}
	e := i>>lengthBits - 1
	return int64(lengthSteps+i&(lengthSteps-1)+1) << e
}

var kinds struct {
	byName atomic.Pointer[map[kindKey]*kind]
	cache  [64]atomic.Pointer[kind] // some of byName; see slotOf
	mu     sync.Mutex
	byID   []*kind                  // from 1; kinds.mu
	given  map[string]time.Duration // Config.Slow; kinds.mu
	many   atomic.Uint64            // tasks that became "other"
}

// A kindKey is a name, and whether tasks of it are calls. A client's and a server's may have the same.
type kindKey struct {
	name   string
	client bool
}

// otherKind is the name of the kind of tasks whose own would be one too many.
const otherKind = "other"

// kindOf returns the kind with a name, of calls if client.
func kindOf(name string, client bool) *kind {
	slot := &kinds.cache[slotOf(name)%uint(len(kinds.cache))]
	if k := slot.Load(); k != nil && k.name == name && k.client == client {
		return k
	}
	if m := kinds.byName.Load(); m != nil {
		if k := (*m)[kindKey{name, client}]; k != nil {
			slot.CompareAndSwap(nil, k)
			return k
		}
	}
	return newKind(name, client)
}

// slotOf returns where to look for a name first: the kind that was there before others stays. A
// map's hash would take as long as the map.
func slotOf(name string) uint {
	n := uint(len(name))
	if n == 0 {
		return 0
	}
	return n + 7*uint(name[n-1]) + 31*uint(name[n/2])
}

func newKind(name string, client bool) *kind {
	name = cut(strings.ToValidUTF8(name, "\uFFFD"), maxKind)
	kinds.mu.Lock()
	defer kinds.mu.Unlock()
	old := kinds.byName.Load()
	m := make(map[kindKey]*kind)
	key, other := kindKey{name, client}, kindKey{otherKind, client}
	if old != nil {
		if k := (*old)[key]; k != nil {
			return k
		}
		if len(*old) > maxKinds+1 && name != otherKind {
			kinds.many.Add(1)
			return (*old)[other]
		}
		for n, k := range *old {
			m[n] = k
		}
	} else {
		for _, client := range []bool{false, true} {
			m[kindKey{otherKind, client}] = addKind(kindKey{otherKind, client})
		}
	}
	k := m[key]
	if k == nil {
		key.name = strings.Clone(name)
		k = addKind(key)
		m[key] = k
	}
	kinds.byName.Store(&m)
	return k
}

// addKind makes a kind. kinds.mu is held.
func addKind(key kindKey) *kind {
	kinds.byID = append(kinds.byID, nil)
	if len(kinds.byID) == 1 {
		kinds.byID = append(kinds.byID, nil) // 0 is none
	}
	k := &kind{name: key.name, client: key.client, id: uint32(len(kinds.byID) - 1)}
	k.recent.until.Store(window)
	k.setThreshold(kinds.given[k.name])
	kinds.byID[k.id] = k
	return k
}

// kindName returns the name of the kind with an ID, or "".
func kindName(id uint32) string {
	kinds.mu.Lock()
	defer kinds.mu.Unlock()
	if id == 0 || uint64(id) >= uint64(len(kinds.byID)) {
		return ""
	}
	return kinds.byID[id].name
}

// setThresholds sets above which time tasks of a kind are slow, calls as well as others: what slow
// says, and for other kinds that is found out. It only checks slow unless really. recorders is locked.
func setThresholds(slow map[string]time.Duration, really bool) error {
	given := make(map[string]time.Duration)
	for name, d := range slow {
		k := kindOf(name, false)
		if k.name == otherKind && name != otherKind {
			return fmt.Errorf("task: there are %d kinds, so that %q can have no threshold of its own", maxKinds, name)
		}
		if d < 0 {
			return fmt.Errorf("task: tasks of kind %q can't be slow above %v; use a time above 0, or 0 to have it found out", name, d)
		}
		if d > 0 {
			given[k.name] = d
		}
	}
	if !really {
		return nil
	}
	kinds.mu.Lock()
	defer kinds.mu.Unlock()
	kinds.given = given // also for kinds that come
	for _, k := range kinds.byID {
		if k != nil {
			k.setThreshold(given[k.name])
		}
	}
	return nil
}

// setThreshold sets it; 0 has it found out.
func (k *kind) setThreshold(d time.Duration) {
	k.recent.mu.Lock()
	defer k.recent.mu.Unlock()
	if d > 0 || k.fixed.Load() {
		k.fixed.Store(d > 0)
		k.threshold.Store(int64(d))
	}
}

// observe adds a task that has ended, whose counts are those of s, or nil.
func (k *kind) observe(shard int, u *perf.TaskUsage, s *eventSet, flags taskrecord.Flags, slow bool) {
	n := k.count.Add(1)
	sums := &k.sums[shard]
	sums.open.Add(-1)
	if flags&taskrecord.Failed != 0 {
		sums.failed.Add(1)
	}
	if slow {
		sums.slow.Add(1)
	}
	sums.wall.Add(u.Wall)
	if u.Wall > k.max.Load() {
		for old := k.max.Load(); u.Wall > old && !k.max.CompareAndSwap(old, u.Wall); old = k.max.Load() {
		}
	}
	for i, d := range u.Parts {
		if d != 0 {
			sums.parts[i].Add(d)
		}
	}
	if u.Measured != 0 {
		sums.measured.Add(u.Measured)
	}
	if u.Switches != 0 {
		sums.switches.Add(int64(u.Switches))
		sums.preemptions.Add(int64(u.Preemptions))
		sums.migrations.Add(int64(u.Migrations))
	}
	if s != nil && flags&taskrecord.Uncounted == 0 {
		k.counts.add(s, &u.Counts)
	}
	k.lengths[lengthOf(u.Wall)].Add(1)
	if n >= k.recent.until.Load() {
		k.nextWindow(u.Ended)
	}
}

// nextWindow sets the threshold by the tasks of the window that has ended now.
func (k *kind) nextWindow(now int64) {
	w := &k.recent
	w.mu.Lock()
	defer w.mu.Unlock()
	n := k.count.Load()
	if n < w.until.Load() {
		return
	}
	var lengths [numLengths]uint32
	sum := uint64(0)
	for i := range lengths {
		now := k.lengths[i].Load()
		lengths[i] = now - w.base[i]
		sum += uint64(lengths[i])
		w.base[i] = now
	}
	normal := w.least.add(percentile(&lengths, sum, 0.99), now)
	if !k.fixed.Load() {
		k.threshold.Store(normal)
	}
	w.until.Store(n + window)
}

// percentile returns a length that a fraction p of n tasks have not exceeded.
func percentile(lengths *[numLengths]uint32, n uint64, p float64) int64 {
	rest := int64(float64(n) * p)
	for i, c := range lengths {
		if rest -= int64(c); rest < 0 {
			return lengthEnd(i) - 1
		}
	}
	return 0
}

// A usual is what tasks of a kind have used so far, on average.
type usual struct {
	tasks int64
	wall  int64
	usage perf.GoroutineTime

	events int // of count: 0 if fewer tasks have been counted than an average takes
	count  [perf.MaxEvents]uint64
}

// readUsual stores the averages of the tasks of a kind, of counts those of s, which may be nil.
func (k *kind) readUsual(u *usual, s *eventSet) {
	n := k.count.Load()
	if n == 0 {
		return
	}
	u.tasks = n
	for i := range k.sums {
		s := &k.sums[i]
		u.wall += s.wall.Load()
		for i := range u.usage.Parts {
			u.usage.Parts[i] += s.parts[i].Load()
		}
		u.usage.Measured += s.measured.Load()
		u.usage.Switches += uint64(s.switches.Load())
		u.usage.Preemptions += uint64(s.preemptions.Load())
		u.usage.Migrations += uint64(s.migrations.Load())
	}
	u.wall /= n
	for i := range u.usage.Parts {
		u.usage.Parts[i] /= n
	}
	u.usage.Measured /= n
	u.usage.Switches /= uint64(n)
	u.usage.Preemptions /= uint64(n)
	u.usage.Migrations /= uint64(n)
	if s == nil {
		return
	}
	for i, e := range s.index {
		sum, tasks := k.counts.read(e)
		if tasks < min(n, leastUsual) {
			return
		}
		u.count[i] = sum / uint64(tasks)
	}
	u.events = len(s.index)
}

// leastUsual is of how many tasks an average is at least, once there have been so many.
const leastUsual = 8

// stats returns k's numbers, of events those with an index.
func (k *kind) stats(index []uint16) taskrecord.KindStats {
	s := taskrecord.KindStats{Kind: k.name, Client: k.client, Count: k.count.Load(), Open: k.open(), Max: time.Duration(k.max.Load()),
		Threshold: time.Duration(k.threshold.Load()), Automatic: !k.fixed.Load()}
	for i := range k.sums {
		sums := &k.sums[i]
		s.Failed += sums.failed.Load()
		s.Slow += sums.slow.Load()
		s.Wall += time.Duration(sums.wall.Load())
		for i := range s.Usage.Parts {
			s.Usage.Parts[i] += time.Duration(sums.parts[i].Load())
		}
		s.Usage.Measured += time.Duration(sums.measured.Load())
		s.Usage.Switches += sums.switches.Load()
		s.Usage.Preemptions += sums.preemptions.Load()
		s.Usage.Migrations += sums.migrations.Load()
	}
	for _, i := range index {
		sum, tasks := k.counts.read(i)
		s.Usage.Count, s.Counted = append(s.Usage.Count, pprof.CounterValue{Value: sum}), append(s.Counted, tasks)
	}
	var lengths [numLengths]uint32
	sum := uint64(0)
	for i := range lengths {
		lengths[i] = k.lengths[i].Load()
		sum += uint64(lengths[i])
	}
	for _, p := range []struct {
		d *time.Duration
		p float64
	}{{&s.P50, 0.5}, {&s.P90, 0.9}, {&s.P99, 0.99}} {
		*p.d = min(time.Duration(percentile(&lengths, sum, p.p)), s.Max)
	}
	return s
}
