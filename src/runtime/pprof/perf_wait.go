// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"internal/runtime/perf"
	"unsafe"
)

// Samples that wait until it is known whether their task was slow; see perftaskend.go in
// package runtime.

// Provided by package runtime; see perftaskend.go there.

//go:noescape
func runtime_perfTaskEnds(session int, dst []perf.TaskEnd) (n int)

// The most samples of a session that wait at a time, and words of their stacks: 4.5 MiB and 8
// MiB, which is 5 seconds of 10,000 samples of 20 functions each. If there are more, the oldest one
// waits no longer.
const (
	maxWaiting      = 1 << 16
	maxWaitingWords = 1 << 20
	minWaiting      = 1 << 8
	minWaitingWords = 1 << 12
)

// A perfWaiting is the samples of a session that wait. The zero perfWaiting has none.
//
// It is two rings, of samples and of their stacks, so that what waits longest is found when
// there is no room for more. They grow as they are needed. A sample that has been committed
// leaves a hole until it is the oldest one, or until half of the samples are holes.
type perfWaiting struct {
	samples     []waitingSample // number n is at n modulo the length, a power of two
	first, next uint64          // numbers of the oldest one and of the one that comes next
	live        int             // that are no holes

	// A stack has a place, which is where it begins modulo the length, a power of two. It does
	// not go beyond the end. Places increase with the samples' numbers.
	words []uint64
	place uint64 // behind the latest stack

	// index has the first sample of each task. It is a hash table with open addressing, at most
	// half full.
	index []waitingRef

	maxSamples, maxWords int // 0 for the constants; less in tests
}

// A waitingSample is a sample that waits. It is linked with the others of its task.
type waitingSample struct {
	task       uint64 // for whose end it waits; 0 if it is a hole
	prev, next waitingRef
	last       waitingRef // of the first one of the task: the last one
	words      uint32     // of its stack
	place      uint64

	event           *perfEvent
	samples, events uint64
	labels          unsafe.Pointer // of type *labelMap
	kind            uint16         // of the task that its goroutine worked for
}

// A waitingRef is 1 and the index of a sample in the ring, or 0.
type waitingRef uint32

func (w *perfWaiting) at(r waitingRef) *waitingSample { return &w.samples[r-1] }

// ref returns the reference to the sample with a number.
func (w *perfWaiting) ref(n uint64) waitingRef {
	return waitingRef(n&uint64(len(w.samples)-1)) + 1
}

func (w *perfWaiting) sample(n uint64) *waitingSample { return w.at(w.ref(n)) }

func (w *perfWaiting) stack(s *waitingSample) []uint64 {
	return w.words[s.place&uint64(len(w.words)-1):][:s.words]
}

// add has a sample wait for the end of a task. The caller sets its event and what follows.
func (w *perfWaiting) add(task uint64, stk []uint64) *waitingSample {
	place := w.room(len(stk))
	r := w.ref(w.next)
	w.next++
	s := w.at(r)
	s.task, s.place, s.words = task, place, uint32(len(stk))
	copy(w.stack(s), stk)
	w.place = place + uint64(len(stk))
	w.link(r)
	w.live++
	return s
}

// home returns where in the index a task would be if it were empty.
func (w *perfWaiting) home(task uint64) int {
	return int(task*0x9e3779b97f4a7c15>>32) & (len(w.index) - 1)
}

// find returns where in the index a task is, or where to enter it.
func (w *perfWaiting) find(task uint64) (i int) {
	for i = w.home(task); ; i = (i + 1) & (len(w.index) - 1) {
		if r := w.index[i]; r == 0 || w.at(r).task == task {
			return i
		}
	}
}

// remove removes the entry at i from the index, so that those behind it are found.
func (w *perfWaiting) remove(i int) {
	mask := len(w.index) - 1
	for j := (i + 1) & mask; w.index[j] != 0; j = (j + 1) & mask {
		if home := w.home(w.at(w.index[j]).task); (j-home)&mask >= (j-i)&mask {
			w.index[i] = w.index[j]
			i = j
		}
	}
	w.index[i] = 0
}

// link makes a sample the last one of its task.
func (w *perfWaiting) link(r waitingRef) {
	s := w.at(r)
	s.prev, s.next, s.last = 0, 0, r
	w.join(r, s)
}

// join puts r, which is s, and the samples linked with it behind the others of its task.
func (w *perfWaiting) join(r waitingRef, s *waitingSample) {
	i := w.find(s.task)
	if w.index[i] == 0 {
		w.index[i] = r
		return
	}
	first := w.at(w.index[i])
	s.prev = first.last
	w.at(first.last).next = r
	first.last = s.last
}

// end is called when a task has ended, of which no samples will come any more. Its samples are
// committed, or wait for another one.
func (w *perfWaiting) end(e *perf.TaskEnd) {
	if len(w.index) == 0 {
		return
	}
	i := w.find(e.Task)
	first := w.index[i]
	if first == 0 {
		return
	}
	w.remove(i)
	if e.Next != 0 {
		for r := first; r != 0; r = w.at(r).next {
			w.at(r).task = e.Next
		}
		w.join(first, w.at(first))
		return
	}
	v := verdictNo
	if e.Slow {
		v = verdictYes
	}
	for r := first; r != 0; {
		s := w.at(r)
		r = s.next
		w.commit(s, v, &e.Trace)
	}
}

// commit enters a sample, which is not linked any more, in its profile.
func (w *perfWaiting) commit(s *waitingSample, v verdict, trace *[16]byte) {
	p := s.event.profile
	s.event.verdicts[v] += s.samples
	s.event.noteKind(s.kind)
	p.commit(s.event, s.samples, s.events, w.stack(s), p.taskTag(s.labels, s.kind, v, trace))
	s.task, s.labels = 0, nil
	w.live--
}

// giveUp commits the oldest sample, which is no hole, without a verdict.
func (w *perfWaiting) giveUp() {
	s := w.sample(w.first)
	i := w.find(s.task)
	switch {
	case s.prev != 0:
		w.at(s.prev).next = s.next
	case s.next != 0:
		w.index[i] = s.next
		w.at(s.next).last = s.last
	default:
		w.remove(i)
	}
	switch {
	case s.next != 0:
		w.at(s.next).prev = s.prev
	case s.prev != 0:
		w.at(w.index[i]).last = s.prev
	}
	w.commit(s, verdictUnknown, nil)
}

// finish gives all samples up.
func (w *perfWaiting) finish() {
	for w.skip(); w.first != w.next; w.skip() {
		w.giveUp()
	}
	*w = perfWaiting{maxSamples: w.maxSamples, maxWords: w.maxWords}
}

// skip forgets holes before the oldest sample.
func (w *perfWaiting) skip() {
	for w.first != w.next && w.sample(w.first).task == 0 {
		w.first++
	}
	if w.first == w.next {
		w.place = 0
	}
}

// room makes room for a sample with a stack of n words, and returns the place for that.
func (w *perfWaiting) room(n int) (place uint64) {
	samples, words := w.maxSamples, w.maxWords
	if samples == 0 {
		samples, words = maxWaiting, maxWaitingWords
	}
	for {
		w.skip()
		place, ok := w.fit(n)
		full := w.next-w.first == uint64(len(w.samples))
		switch {
		case ok && !full:
			return place
		case w.next-w.first >= uint64(2*w.live) && w.live > 0:
			w.pack(len(w.samples), len(w.words))
		case full && len(w.samples) < samples:
			w.pack(max(2*len(w.samples), minWaiting), len(w.words))
		case !ok && len(w.words) < words:
			w.pack(len(w.samples), max(2*len(w.words), minWaitingWords))
		default:
			w.giveUp()
		}
	}
}

// fit returns the place for a stack of n words, if there is room.
func (w *perfWaiting) fit(n int) (place uint64, ok bool) {
	size := uint64(len(w.words))
	if size == 0 {
		return 0, false
	}
	place = w.nextPlace(w.place, n)
	oldest := place
	if w.first != w.next {
		oldest = w.sample(w.first).place
	}
	return place, place+uint64(n)-oldest <= size
}

// nextPlace returns the first place for a stack of n words from a place on.
func (w *perfWaiting) nextPlace(place uint64, n int) uint64 {
	size := uint64(len(w.words))
	if at := place & (size - 1); at+uint64(n) > size {
		place += size - at
	}
	return place
}

// pack removes the holes, and gives the rings new lengths, which are not less than before.
func (w *perfWaiting) pack(samples, words int) {
	old := *w
	if samples != len(w.samples) {
		w.samples, w.first = make([]waitingSample, samples), 0
	}
	if words != len(w.words) {
		w.words, w.place = make([]uint64, words), 0
	} else if old.first != old.next {
		w.place = old.sample(old.first).place
	}
	// In the same ring a sample and its stack move to an earlier place, or stay.
	w.next = w.first
	if n := 2 * len(w.samples); n != len(w.index) {
		w.index = make([]waitingRef, n)
	} else {
		clear(w.index)
	}
	for n := old.first; n != old.next; n++ {
		s := *old.sample(n)
		if s.task == 0 {
			continue
		}
		from := old.stack(&s)
		s.place = w.nextPlace(w.place, len(from))
		w.place = s.place + uint64(len(from))
		copy(w.stack(&s), from)
		old.sample(n).labels = nil
		r := w.ref(w.next)
		*w.at(r) = s
		w.link(r)
		w.next++
	}
}
