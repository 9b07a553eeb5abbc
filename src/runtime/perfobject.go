// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// What is at an address of the program's memory: which object, of which type, allocated
// where. It is found out in a signal handler, at the moment of the access: later the
// object may be another one.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"unsafe"
)

// A perfObject is what is at an address. It is found without locks; see find.
type perfObject struct {
	kind perf.MemKind
	base uintptr // of the object
	size uintptr // of the object; 0 if it is not known
	typ  uintptr // *_type of the object, or of its elements; 0 if the runtime does not know
	site uintptr // *bucket of the heap profile; 0 if the object is not one of its samples
}

// find sets p to what is at addr, which the code that the signal interrupted has just
// accessed on goroutine gp, or without one if gp is nil.
//
// It is safe in a handler: all that it reads is memory that the runtime never unmaps. And
// what it finds is true, because of that access. An object that the program accesses is
// reachable, and the thread has reached no safe point since, so no sweep can have freed it.
// Its span, then, stays what it is. The runtime itself accesses memory, too, in which
// there is no object yet, or none any more; see inHeap. What may change meanwhile is the
// span's bitmaps and its list of specials; see perfSpanLook.
//
//go:nowritebarrierrec
func (p *perfObject) find(addr uintptr, gp *g) {
	*p = perfObject{}
	switch {
	case addr == 0:
		p.kind = perf.MemNone
	case gp != nil && p.inStack(addr, gp):
	case perfGlobal(addr):
		p.kind = perf.MemGlobal
	default:
		p.inHeap(addr)
	}
}

// inStack reports whether addr is in a stack of gp's thread.
//
//go:nowritebarrierrec
func (p *perfObject) inStack(addr uintptr, gp *g) bool {
	mp := gp.m
	if mp == nil {
		return false
	}
	for _, k := range [...]struct {
		g    *g
		kind perf.MemKind
	}{{mp.curg, perf.MemStack}, {mp.g0, perf.MemSystemStack}, {mp.gsignal, perf.MemSystemStack}} {
		if k.g != nil && k.g.stack.lo <= addr && addr < k.g.stack.hi {
			p.kind = k.kind
			return true
		}
	}
	return false
}

// perfGlobal reports whether addr is in the program's data, which the linker has laid out.
// Modules are only added, at the end of the list.
//
//go:nowritebarrierrec
func perfGlobal(addr uintptr) bool {
	for m := &firstmoduledata; m != nil; m = m.next {
		if m.data <= addr && addr < m.edata || m.bss <= addr && addr < m.ebss ||
			m.noptrdata <= addr && addr < m.enoptrdata || m.noptrbss <= addr && addr < m.enoptrbss ||
			m.rodata <= addr && addr < m.etypes {
			return true
		}
	}
	return false
}

// inHeap sets p to what is at addr in the memory that the runtime manages.
//
//go:nowritebarrierrec
func (p *perfObject) inHeap(addr uintptr) {
	s := spanOf(addr)
	if s == nil || addr < s.base() || addr >= s.base()+s.npages*pageSize {
		return
	}
	switch s.state.get() {
	case mSpanManual:
		p.kind = perf.MemManual
		return
	case mSpanInUse:
	default:
		return
	}
	if addr >= s.limit {
		p.kind = perf.MemFree // the rest of a span
		return
	}
	i := s.objIndex(addr)
	p.kind = perf.MemHeap
	p.size = s.elemsize
	p.base = s.base() + i*p.size
	if s.isUserArenaChunk {
		return
	}
	if s.spanclass == tinySpanClass {
		// Perhaps several objects are in one, whose sizes nobody knows. The heap profile
		// has the first.
		p.kind, p.size = perf.MemTiny, 0
	}
	header := !s.spanclass.noscan() && s.spanclass.sizeclass() != 0 && !heapBitsInSpan(s.elemsize)
	for range 4 {
		var look perfSpanLook
		if !look.begin(s) {
			continue // without type and site
		}
		object := look.isObject(s, i)
		var typ uintptr
		switch {
		case !object || s.spanclass.noscan():
		case header:
			typ = *(*uintptr)(unsafe.Pointer(p.base))
		case s.spanclass.sizeclass() == 0:
			typ = uintptr(atomic.Loadp(unsafe.Pointer(&s.largeType)))
		}
		offset := p.base - s.base()
		if header {
			offset += mallocHeaderSize
		}
		site := look.site(s, offset)
		if !look.end(s) {
			continue
		}
		if !object || header && addr < p.base+mallocHeaderSize {
			*p = perfObject{kind: perf.MemFree}
			return
		}
		p.typ, p.site = typ, uintptr(unsafe.Pointer(site))
		break
	}
	if header {
		p.base += mallocHeaderSize
		p.size -= mallocHeaderSize
	}
}

// A perfSpanLook is a look at a span's bitmaps and specials, which others may change
// meanwhile: then it has to be repeated, or given up, since the others may be on this
// thread. Whoever changes specials holds s.speciallock and has increased s.specialSeq before,
// or sweeps the span, which changes s.sweepgen before and after.
type perfSpanLook struct {
	seq, gen uint32
}

// begin reports whether nobody is changing s now.
//
//go:nowritebarrierrec
func (l *perfSpanLook) begin(s *mspan) bool {
	l.seq = atomic.Load(&s.specialSeq)
	l.gen = atomic.Load(&s.sweepgen)
	return atomic.Loaduintptr(&s.speciallock.key) == 0 && l.gen != mheap_.sweepgen-1
}

// end reports whether nobody has changed s since begin. The loads in between are atomic, so
// that its own come last. (There is none for freeIndexForScan: at worst an object is said to
// be free.)
//
//go:nowritebarrierrec
func (l *perfSpanLook) end(s *mspan) bool {
	return atomic.Load(&s.specialSeq) == l.seq && atomic.Load(&s.sweepgen) == l.gen
}

// isObject reports whether there is an object at index i. What is free is none, nor what
// mallocgc still prepares: what is in its header need not be a type. Nor is what the
// collector has found dead, but has not swept yet.
//
//go:nowritebarrierrec
func (l *perfSpanLook) isObject(s *mspan, i uintptr) bool {
	mark := s.markBitsForIndex(i)
	if atomic.Load8(mark.bytep)&mark.mask != 0 {
		return true
	}
	if gen := mheap_.sweepgen; l.gen == gen-2 || l.gen == gen+1 {
		return false // to be swept
	}
	if i < uintptr(s.freeIndexForScan) {
		return true
	}
	bytep, mask := s.allocBits.bitp(i)
	return atomic.Load8(bytep)&mask != 0
}

// site returns the bucket of the heap profile for the object of s that begins at an
// offset, or nil if the profile does not have it. Specials are in memory that is never given
// back, and buckets are never freed, so following a link of a list that changes is harmless.
//
//go:nowritebarrierrec
func (l *perfSpanLook) site(s *mspan, offset uintptr) *bucket {
	const most = 1024 // specials that are looked at: a span of the least objects has so many objects
	x := (*special)(atomic.Loadp(unsafe.Pointer(&s.specials)))
	for n := 0; x != nil && n < most; n++ {
		at := atomic.Loaduintptr(&x.offset)
		if at > offset {
			break
		}
		if at == offset && atomic.Load8(&x.kind) == _KindSpecialProfile {
			return (*bucket)(atomic.Loadp(unsafe.Pointer(&(*specialprofile)(unsafe.Pointer(x)).b)))
		}
		x = (*special)(atomic.Loadp(unsafe.Pointer(&x.next)))
	}
	return nil
}

// perfSiteStack returns the stack of an allocation, innermost first, of which a
// perfObject.site is. Buckets are never freed, and their stacks never change.
//
//go:linkname perfSiteStack runtime/pprof.runtime_perfSiteStack
func perfSiteStack(site uintptr) []uintptr {
	return (*bucket)(unsafe.Pointer(site)).stk()
}
