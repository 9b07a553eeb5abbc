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

// A verdict says whether the task of a sample was slow.
type verdict uint8

const (
	verdictNone    verdict = iota // there was no task
	verdictYes                    // it was slow, or one that it was a child of
	verdictNo                     // it was not
	verdictUnknown                // the sample could not wait for its end
	numVerdicts
)

var verdictNames = [numVerdicts]string{verdictYes: "yes", verdictNo: "no", verdictUnknown: "unknown"}

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

	tasks map[uint64]waitingTask // those with samples here, by number

	maxSamples, maxWords int // 0 for the constants; less in tests
}

// A waitingSample is a sample that waits. It is linked with the others of its task.
type waitingSample struct {
	task       uint64 // for whose end it waits; 0 if it is a hole
	prev, next uint64 // numbers of samples, or noSample
	place      uint64 // of its stack
	words      uint32 // of that
	kind       uint16 // of the task that its goroutine worked for

	event           *perfEvent
	samples, events uint64
	labels          unsafe.Pointer // of type *labelMap
}

type waitingTask struct{ first, last uint64 }

const noSample = ^uint64(0)

func (w *perfWaiting) sample(n uint64) *waitingSample {
	return &w.samples[n&uint64(len(w.samples)-1)]
}

func (w *perfWaiting) stack(s *waitingSample) []uint64 {
	return w.words[s.place&uint64(len(w.words)-1):][:s.words]
}

// add has a sample wait for the end of a task.
func (w *perfWaiting) add(s waitingSample, stk []uint64) {
	s.words = uint32(len(stk))
	s.place = w.room(len(stk))
	w.place = s.place + uint64(len(stk))
	n := w.next
	w.next++
	*w.sample(n) = s
	copy(w.stack(&s), stk)
	w.link(n)
	w.live++
}

// link makes a sample the last one of its task.
func (w *perfWaiting) link(n uint64) {
	s := w.sample(n)
	s.prev, s.next = noSample, noSample
	t, ok := w.tasks[s.task]
	if ok {
		w.sample(t.last).next = n
		s.prev = t.last
	} else {
		if w.tasks == nil {
			w.tasks = make(map[uint64]waitingTask)
		}
		t.first = n
	}
	t.last = n
	w.tasks[s.task] = t
}

// end is called when a task has ended, of which no samples will come any more. Its samples are
// committed, or wait for another one.
func (w *perfWaiting) end(e *perf.TaskEnd) {
	t, ok := w.tasks[e.Task]
	if !ok {
		return
	}
	delete(w.tasks, e.Task)
	v := verdictNo
	if e.Slow {
		v = verdictYes
	}
	for n := t.first; n != noSample; {
		s := w.sample(n)
		next := s.next
		if e.Next != 0 {
			s.task = e.Next
			w.link(n)
		} else {
			w.commit(s, v, e.Trace)
		}
		n = next
	}
}

// commit enters a sample, which is not linked any more, in its profile.
func (w *perfWaiting) commit(s *waitingSample, v verdict, trace [16]byte) {
	p := s.event.profile
	s.event.verdicts[v] += s.samples
	p.commit(s.event, s.samples, s.events, w.stack(s), p.taskTag(s.labels, s.kind, v, trace))
	s.task, s.labels = 0, nil
	w.live--
}

// giveUp commits the oldest sample, which is no hole, without a verdict.
func (w *perfWaiting) giveUp() {
	s := w.sample(w.first)
	t := w.tasks[s.task]
	if s.prev != noSample {
		w.sample(s.prev).next = s.next
	} else {
		t.first = s.next
	}
	if s.next != noSample {
		w.sample(s.next).prev = s.prev
	} else {
		t.last = s.prev
	}
	if t.first == noSample {
		delete(w.tasks, s.task)
	} else {
		w.tasks[s.task] = t
	}
	w.commit(s, verdictUnknown, [16]byte{})
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
	clear(w.tasks)
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
		*w.sample(w.next) = s
		w.link(w.next)
		w.next++
	}
}
