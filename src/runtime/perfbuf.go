// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The buffers of profiles: from the signal handlers that write samples to the
// goroutine of runtime/pprof that reads them.

package runtime

import (
	"internal/abi"
	"internal/goarch"
	"internal/runtime/perf"
	"internal/runtime/sys"
	"unsafe"
)

// perfHdrWords is the size of a sample's header in a slot's profBuf: the number of
// samples, the number of events they stand for, and the number of the task for which
// the goroutine works, or 0. The first two are apart because
// a sample need not stand for the event's own period: the overhead bound may
// lengthen it, and the kernel may multiplex counters.
const perfHdrWords = 3

// The size of one event's buffer. Events are sampled at up to thousands of Hz per
// thread, so it is twice the timer's: it holds 3,800 samples of full depth, 18,000
// of depth 10, and at most 32,000. The reader is woken when a sixteenth of it is full,
// so that this is all that is used while the reader runs when it should, and the rest
// has to last until it does.
const (
	perfBufWords = 2 * profBufWordCount
	perfBufTags  = 2 * profBufTagCount
	perfBufDue   = 16
)

// Frames that stand in for what could not be unwound or recorded. They appear
// in profiles by name, like _ExternalCode and friends in proc.go.

func _PerfDelayed()   { _PerfDelayed() }   // SIGPROF was blocked or pending when the event overflowed
func _PerfBroken()    { _PerfBroken() }    // the kernel could not follow the frame pointers
func _PerfHandler()   { _PerfHandler() }   // the profiler's own signal handler
func _PerfLostRing()  { _PerfLostRing() }  // the kernel's ring was full
func _PerfLostLate()  { _PerfLostLate() }  // the processor's or the kernel's interrupt came late; see perfCounter.lostLate
func _PerfLostStart() { _PerfLostStart() } // due before the thread's counter could interrupt; see perfFirstPeriod

// perfRead returns the next chunk of the buffer of some event of the session,
// blocking until there is one, or until the ends of many tasks can be read; then data is empty.
// eof means that sampling has stopped and everything
// has been read. The data are valid until the next call. A session has one reader.
//
// It polls every buffer before it sleeps, so a busy event cannot make another one's
// buffer overflow. (The prototype of 2020 read the buffers in turn, blocking.)
//
//go:linkname perfRead runtime/pprof.runtime_perfRead
func perfRead(session int) (event int, data []uint64, tags []unsafe.Pointer, eof bool) {
	ss := &perfTables.sessions[session]
	for {
		ends := ss.seeEnds()
		ended := 0
		for range ss.n {
			i := ss.next
			ss.next = (i + 1) % ss.n
			s := &perfTables.slots[ss.slots[i]]
			data, tags, eof := s.log.read(profBufNonBlocking)
			if len(data) > 0 {
				s.buf.chargeWritten()
				return i, data, tags, false
			}
			if eof {
				ended++
			} else if s.log.rNext != s.buf.start {
				perfosRewind(s)
			}
		}
		ss.ripe = ends // all buffers were empty since
		if ended == ss.n {
			return 0, nil, nil, true
		}
		if ss.ripe-ss.ends >= perfTaskEndsDue {
			return 0, nil, nil, false
		}
		ss.sleeping.Store(1)
		// Look again: a writer that saw sleeping == 0 did not wake us.
		due := perfTaskEnds.n.Load()-ss.ends >= perfTaskEndsDue
		for _, slot := range ss.slots[:ss.n] {
			due = due || perfTables.slots[slot].due()
		}
		if due && ss.sleeping.CompareAndSwap(1, 0) {
			continue
		}
		// Nothing is due, or a waker is on its way.
		notetsleepg(&ss.wait, -1)
		noteclear(&ss.wait)
	}
}

// wake wakes the session's reader if it sleeps. It may run in a signal handler.
//
//go:nowritebarrierrec
func (ss *perfSession) wake() {
	if ss.sleeping.Load() == 1 && ss.sleeping.CompareAndSwap(1, 0) {
		notewakeup(&ss.wait)
	}
}

// due reports whether the reader should drain the slot's buffer now: it has enough data
// or tags, or it is complete. profBuf.write has a wakeup of its own,
// but not for a reader that waits for several buffers at once, nor for stacks so
// short that the tags run out first.
func (s *perfSlot) due() bool {
	b := s.log
	r, w := b.r.load(), b.w.load()
	data := countSub(w.dataCount(), r.dataCount())
	tags := countSub(w.tagCount(), r.tagCount())
	return data < 0 || data >= len(b.data)/perfBufDue || tags >= len(b.tags)/perfBufDue || b.eof.Load() != 0
}

// profBufStack stores stk in data, for profBuf.write. Where words have the same
// size it is a copy, which takes 125 instructions for ten frames instead of 190.
//
//go:nowritebarrierrec
func profBufStack(data []uint64, stk []uintptr) {
	if goarch.PtrSize == 8 {
		copy(data[:len(stk)], unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(stk))), len(stk)))
		return
	}
	for i, pc := range stk {
		data[i] = uint64(pc)
	}
}

// add records samples overflows, which together stand for events events, at stk.
// It is called from signal handlers and, at disarm, from normal code; see
// perfSlot.lock.
//
// The tag must be &gp.labels of the interrupted goroutine, or nil; see
// profBuf.write. The stack is as in perfStack.
//
//go:nowritebarrierrec
func (s *perfSlot) add(tagPtr *unsafe.Pointer, stk []uintptr, samples, events uint64) {
	hdr := [perfHdrWords]uint64{samples, events}
	for !s.lock.CompareAndSwap(0, 1) {
		osyield()
	}
	kind := int64(0)
	if h := perfAccountHooks.sampled; h != nil {
		kind, hdr[2] = h(tagPtr) // with the lock; see perfSession.seeEnds
	}
	s.log.write(tagPtr, kind, hdr[:], stk)
	ss := &perfTables.sessions[s.session]
	due := ss.sleeping.Load() == 1 && s.due()
	s.lock.Store(0)
	if due {
		ss.wake()
	}
}

// perfTaskStamp returns what a sample's record has for its time: without its lowest bits, in
// which is the kind of the task that the goroutine works for whose labels are at tag, or 0.
// tag may be nil. No profile has the time of a sample.
//
// It is called like profBuf.write.
//
//go:nowritebarrierrec
func perfTaskStamp(tag *unsafe.Pointer, now int64) int64 {
	now &^= perf.TaskKindMask
	if h := perfAccountHooks.kind; h != nil {
		now |= h(tag)
	}
	return now
}

// addLeaf records overflows of which only the instruction is known, under the
// frame of why, one of the functions above. ip may be 0.
//
//go:nowritebarrierrec
func (s *perfSlot) addLeaf(ip uintptr, why func(), samples, events uint64) {
	// ip+1 and why+1: stacks hold return addresses. See tracebackPCs.
	stk := [3]uintptr{0, ip + 1, abi.FuncPCABIInternal(why) + sys.PCQuantum}
	if ip == 0 {
		stk[1] = stk[2]
		s.add(nil, stk[:2], samples, events)
		return
	}
	s.add(nil, stk[:], samples, events)
}
