// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

import (
	"internal/runtime/perf"
	"internal/runtime/sys"
	"unsafe"
)

// A PerfWalk remembers the last stack.
type PerfWalk = perfWalk

// Frames returns how many frames of the last stack w has.
func (w *perfWalk) Frames() int { return w.n }

// PerfUnwind returns the stack of its caller, its inlined calls included, as
// w and as the unwinder find it. cached is empty if w leaves it to the unwinder.
func PerfUnwind(w *PerfWalk) (cached, unwound []uintptr) {
	var frames [1 + maxCPUProfStack]uintptr
	var calls [maxCPUProfStack]uintptr
	var nframes, ncalls int
	pc, sp, gp := sys.GetCallerPC(), sys.GetCallerSP(), getg()
	systemstack(func() {
		nframes = w.unwind((*[maxCPUProfStack]uintptr)(frames[1:]), pc, sp, 0, gp)
		var u unwinder
		u.initAt(pc, sp, 0, gp, unwindSilentErrors|unwindTrap|unwindJumpStack)
		ncalls = tracebackPCs(&u, 0, calls[:])
	})
	cached = make([]uintptr, maxCPUProfStack)
	cached = cached[:fpunwindExpand(cached, frames[:1+nframes])]
	return cached, append(unwound, calls[:ncalls]...)
}

// PerfUnwindAt returns how many frames a perfWalk finds for a function at pc
// whose stack pointer is off bytes below the end of the calling goroutine's stack.
func PerfUnwindAt(pc, off uintptr) int {
	var frames [maxCPUProfStack]uintptr
	gp := getg()
	return new(perfWalk).unwind(&frames, pc, gp.stack.hi-off, 0, gp)
}

// A PerfBuf is a profile buffer, of no session.
type PerfBuf = perfBuf

const PerfBufWords = perfBufWords

// PerfBufHeader is the number of words before a record's stack.
const PerfBufHeader = 2 + perfHdrWords

// NewPerfBuf returns a new buffer. Only one may exist at a time, and no session.
func NewPerfBuf() *PerfBuf { return newPerfBuf(perf.MaxEvents - 1) }

func (b *perfBuf) Free() { b.free(perf.MaxEvents - 1) }

func (b *perfBuf) Write(tag *unsafe.Pointer, stk []uintptr) {
	hdr := [perfHdrWords]uint64{1, 1}
	b.log.write(tag, 0, hdr[:], stk)
}

// Read reads as perfRead does.
func (b *perfBuf) Read() (data []uint64, tags []unsafe.Pointer) {
	data, tags, _ = b.log.read(profBufNonBlocking)
	if len(data) > 0 {
		b.chargeWritten()
	} else {
		b.rewind()
	}
	return data, tags
}

func (b *perfBuf) Close() { b.log.close() }

// Memory returns where the buffer is, and what of it is accounted for.
func (b *perfBuf) Memory() (addr, size, charged uintptr) {
	return uintptr(unsafe.Pointer(b)), alignUp(unsafe.Sizeof(*b), physPageSize), b.charged
}

// PerfBufs returns the buffers of sessions. They are valid until the first one ends.
func PerfBufs() (bufs []*PerfBuf) {
	for i := range perfTagRoots.bufs {
		if b := (*perfBuf)(perfTagRoots.bufs[i].Load()); b != nil {
			bufs = append(bufs, b)
		}
	}
	return bufs
}

// Rounds returns how often b has been written from the start.
func (b *perfBuf) Rounds() int { return int(b.log.w.load().dataCount()/perfBufWords) + 1 }

// A PerfObject is a perfObject.
type PerfObject struct {
	Kind             perf.MemKind
	Base, Size, Type uintptr
	Site             []uintptr
}

// PerfObjectOf finds what is at addr, as a handler does: nothing preempts it.
func PerfObjectOf(addr uintptr) PerfObject {
	mp := acquirem()
	var p perfObject
	p.find(addr, mp.curg)
	releasem(mp)
	var stk []uintptr
	if p.site != 0 {
		stk = perfSiteStack(p.site)
	}
	return PerfObject{p.kind, p.base, p.size, p.typ, stk}
}

// PerfObjectSweeping finds what is at addr, in an object of the heap, while its span's sweepgen
// is off by so much, or while somebody changes its specials.
func PerfObjectSweeping(addr uintptr, off int32, changing bool) (got PerfObject) {
	stw := stopTheWorld(stwForTestReadMemStatsSlow)
	s := spanOf(addr)
	gen, key := s.sweepgen, s.speciallock.key
	s.sweepgen = uint32(int32(mheap_.sweepgen) + off)
	if changing {
		s.speciallock.key = 1
	}
	got = PerfObjectOf(addr)
	s.sweepgen, s.speciallock.key = gen, key
	startTheWorld(stw)
	return got
}

var PerfFunc = perfFunc
