// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Unwinding in the handler of sampled events.
//
// The runtime's unwinder decodes two tables for every frame: which function the
// instruction is in, and how far its stack pointer has moved. Both depend only on
// the instruction, and a profile meets the same instructions all the time, so the
// results are kept. A frame then costs a load, a compare and an add instead of some
// hundred instructions. Inlined calls are expanded once per stack by the reader, not
// once per sample by the handler.
//
// Unlike unwinding by frame pointers this is exact: a function without a frame, or
// one interrupted in its prologue, hides no caller. Whatever is not an ordinary call
// by ordinary code is left to the unwinder; see perfFrameOdd.

package runtime

import (
	"internal/abi"
	"internal/goarch"
	"internal/runtime/atomic"
	"unsafe"
)

// A perfFrame says how to unwind from an instruction: a kind, and in the other bits
// the distance from the stack pointer to the caller's frame, but for a return
// address.
type perfFrame uint32

const (
	perfFrameOdd  perfFrame = iota // ask the unwinder
	perfFrameCall                  // called the ordinary way
	perfFrameTop                   // the first function of a stack

	perfFrameKind = 3 // mask of the kind; the distance is a multiple of 4
)

// caller returns the return address and the stack pointer of the caller of the frame
// at sp. The innermost frame may have the return address in lr.
//
//go:nowritebarrierrec
func (f perfFrame) caller(sp, lr uintptr, innermost bool) (pc, callerSP uintptr) {
	callerSP = sp + f.size()
	switch {
	case !usesLR:
		pc = *(*uintptr)(unsafe.Pointer(callerSP - goarch.PtrSize))
	case f.size() == 0 && innermost:
		pc = lr // a leaf, or one that has not made its frame yet
	default:
		pc = *(*uintptr)(unsafe.Pointer(sp))
	}
	return pc, callerSP
}

// size returns the distance from a frame's stack pointer to its caller's.
//
//go:nowritebarrierrec
func (f perfFrame) size() uintptr {
	d := uintptr(f &^ perfFrameKind)
	if !usesLR {
		d += goarch.PtrSize // the return address, which the call pushed
	}
	return d
}

// perfFrames has the perfFrames of instructions of the first module, hashed by
// their offset from its start: offset<<32 | perfFrame, or 0. Each is read and
// written by handlers on all threads, atomically and as a whole. An entry stays true
// forever, so it does not matter who wins.
var perfFrames [1 << perfFramesBits]uint64

const perfFramesBits = 13

// perfFrameAt returns the perfFrame of pc.
//
//go:nowritebarrierrec
func perfFrameAt(pc uintptr) perfFrame {
	if goarch.PtrSize == 4 {
		return perfFindFrame(pc) // 64-bit atomics may be locks there, which a handler must not take
	}
	off := uint64(pc - firstmoduledata.text)
	if off >= uint64(firstmoduledata.etext-firstmoduledata.text) || off>>32 != 0 {
		return perfFrameOdd
	}
	// Fibonacci hashing: neighbours, which return addresses are, are spread.
	p := &perfFrames[uint32(off)*2654435769>>(32-perfFramesBits)]
	e := atomic.Load64(p)
	if e>>32 != off || e == 0 {
		e = off<<32 | uint64(perfFindFrame(pc))
		atomic.Store64(p, e)
	}
	return perfFrame(e)
}

// perfFindFrame computes the perfFrame of pc. See unwinder.resolveInternal.
//
//go:nowritebarrierrec
func perfFindFrame(pc uintptr) perfFrame {
	f := findfunc(pc)
	switch {
	case !f.valid() || f.pcsp == 0:
		return perfFrameOdd
	case f.flag&abi.FuncFlagTopFrame != 0:
		return perfFrameTop
	case f.flag&abi.FuncFlagSPWrite != 0 || isInjectedCall(f.funcID):
		return perfFrameOdd // moves the stack pointer by itself; called by a signal
	}
	switch f.funcID {
	case abi.FuncID_morestack, abi.FuncID_systemstack, abi.FuncID_cgocallback:
		return perfFrameOdd // the next frame is on another stack
	}
	d := funcspdelta(f, pc)
	if d < 0 || d&perfFrameKind != 0 {
		return perfFrameOdd
	}
	return perfFrame(d) | perfFrameCall
}

// A perfWalk unwinds stacks, and remembers the last one: consecutive samples of a
// thread mostly differ in their innermost frames only. The stack pointer and the
// instruction of a frame determine where its caller's frame is. So from the first
// frame that the last stack had too, this one has the same frames as long as the
// return addresses are the same, and checking that takes a load and a compare for
// each.
//
// A perfWalk belongs to a thread, and is used with perfThread.lock held.
type perfWalk struct {
	hi     uintptr // end of the last stack's memory
	n      int     // its frames
	top    bool    // the last of them is the first function
	cur    uint8   // which of frames has them; the other is for the next stack's
	frames [2][maxCPUProfStack]perfWalkFrame
}

type perfWalkFrame struct{ sp, pc uintptr }

// unwind stores in stk the return addresses of the stack that was interrupted at
// pc, sp and lr, the first of which is pc+1, and returns how many there are, or 0 if
// the runtime's unwinder is needed.
//
// gp is the interrupted goroutine, whose stack does not move meanwhile. The frames
// are where the tables say, and within its stack. Those of the last stack were in
// memory with the same end, so they are within this one.
//
//go:nowritebarrierrec
func (w *perfWalk) unwind(stk *[maxCPUProfStack]uintptr, pc, sp, lr uintptr, gp *g) int {
	prev, next := &w.frames[w.cur&1], &w.frames[w.cur&1^1]
	last, top := w.n, w.top // frames of prev
	if w.hi != gp.stack.hi {
		w.hi = gp.stack.hi
		last = 0
	}
	w.n, w.top = 0, false // until this one is complete
	n, from, old, k := 0, 0, 0, 0
	for n < len(stk) {
		from, old = perfFindSame(prev[:last], from, pc, sp)
		// Where calls don't push the return address, the caller of the innermost
		// function may be in lr and not in memory.
		if old < last && prev[old].sp == sp && sp >= gp.stack.lo && !(usesLR && (n == 0 || old == 0)) {
			stk[n] = pc
			k, pc, sp = perfFollow(prev[old+1:last], stk[n+1:], pc, sp)
			all := old+1+k == last
			if old == n {
				// The others are in their places. These are few, mostly one.
				for i := range n {
					prev[i] = next[i]
				}
				prev, next = next, prev
				w.cur ^= 1
			} else {
				copy(next[n:], prev[old:old+1+k])
			}
			n += 1 + k
			last = 0 // nothing else of prev is needed
			if all && top || n == len(stk) {
				w.top = all && top
				break
			}
			if all {
				n-- // redo the last frame: there was no room for its caller
			}
			continue // at pc and sp
		}
		f := perfFrameAt(pc)
		stk[n] = pc
		next[n] = perfWalkFrame{sp, pc}
		n++
		if f&perfFrameKind != perfFrameCall {
			if f == perfFrameOdd {
				return 0
			}
			w.top = true
			break
		}
		if sp < gp.stack.lo || sp+f.size()+goarch.PtrSize > gp.stack.hi {
			return 0
		}
		pc, sp = f.caller(sp, lr, n == 1)
	}
	w.n = n
	w.cur ^= 1
	stk[0]++ // stacks hold return addresses; see tracebackPCs
	return n
}

// perfFindSame looks in frames, which are those of the last stack from the innermost
// on, for the frame at pc and sp. It begins at from, the first whose stack pointer
// may be sp. It returns the new value of from, and the index of the frame. If there
// is none, that is len(frames) or the index of a frame with another stack pointer.
//
//go:nowritebarrierrec
func perfFindSame(frames []perfWalkFrame, from int, pc, sp uintptr) (newFrom, same int) {
	for from < len(frames) && frames[from].sp < sp {
		from++
	}
	same = from // frames without locals may have the same sp
	for same < len(frames) && frames[same].sp == sp && frames[same].pc != pc {
		same++
	}
	return from, same
}

// perfFollow compares the return addresses of a stack with those of the last one.
// frames are the last stack's, beginning with the caller of the frame at pc and sp,
// which both have. It stores the addresses that are the same in calls, as far as
// there is room, and returns how many they are. The frame that it returns is the one
// after these, or if there is none the last of them.
//
//go:nowritebarrierrec
func perfFollow(frames []perfWalkFrame, calls []uintptr, pc, sp uintptr) (int, uintptr, uintptr) {
	frames = frames[:min(len(frames), len(calls))]
	calls = calls[:len(frames)]
	for k := range frames {
		at := sp
		sp = frames[k].sp
		if !usesLR {
			at = sp - goarch.PtrSize // the call pushed it
		}
		pc = *(*uintptr)(unsafe.Pointer(at))
		if pc != frames[k].pc {
			return k, pc, sp
		}
		calls[k] = pc
	}
	return len(frames), pc, sp
}

// perfInFunc reports whether the instruction is in a Go function, and if so, whether a
// wrapper that calls it counts as a call: see elideWrapperCalling.
//
//go:linkname perfInFunc runtime/pprof.runtime_perfInFunc
func perfInFunc(pc uintptr) (inGo, keepsWrapper bool) {
	f := findfunc(pc)
	return f.valid(), f.valid() && !elideWrapperCalling(f.funcID)
}
