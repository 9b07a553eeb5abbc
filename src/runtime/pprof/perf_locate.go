// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import "encoding/binary"

// A perfLocator finds the locations of stacks. It knows each address that it has seen,
// so that a stack costs a look-up for each of its frames. Addresses that are new are
// given to upstream's appendLocsForStack, which writes their locations.
//
// The runtime records most stacks as return addresses of frames. Which calls were inlined
// there is found out here, once for each address rather than by the signal handler for
// each sample. A frame of Go has one location, as only what was inlined into a function
// shares one with it; see pcDeck.tryAdd.
type perfLocator struct {
	b     *profileBuilder
	known []perfLocEntry // a hash table with open addressing, at most half full
	n     int

	// Memory that is used again.
	stk   []uintptr
	calls []uintptr
	locs  []uint64
}

// A perfLocEntry is what an address stands for in a role.
type perfLocEntry struct {
	pc   uintptr
	loc  uint32   // ID of the location; 0 if it has none, as runtime.goexit
	role perfRole // no role: the entry is free

	// next is the role of the caller's frame; no role if that does not depend on
	// this frame, which is not Go's.
	next perfRole

	// special says that this is not all. In the role of a frame, its location depends
	// on its neighbours. In the role of a last call, calls that follow were cut off.
	special bool

	calls uint8 // that the location has, in the role of a call
}

// A perfRole is how an address is used.
type perfRole uint8

const (
	_         perfRole = iota
	roleFrame          // a frame; it is left out if it is a wrapper
	roleKept           // a frame; it is not left out, as it calls runtime.gopanic or the like
	roleCall           // a call in a stack of calls, inlined ones too
	roleLast           // the last of them
)

// find returns what is known of an address in a role.
func (x *perfLocator) find(pc uintptr, role perfRole) (p perfLocEntry, ok bool) {
	if len(x.known) == 0 {
		return p, false
	}
	for i := placeHash(pc, role); ; i++ {
		p = x.known[i&(len(x.known)-1)]
		if p.pc == pc && p.role == role || p.role == 0 {
			return p, p.role != 0
		}
	}
}

func placeHash(pc uintptr, role perfRole) int {
	h := (uint64(pc) + uint64(role)<<56) * 0x9e3779b97f4a7c15
	return int(h >> 33)
}

// learn enters p, which is not known, and returns it.
func (x *perfLocator) learn(p perfLocEntry) perfLocEntry {
	if x.n++; 2*x.n > len(x.known) {
		known := x.known
		x.known = make([]perfLocEntry, max(1<<9, 2*len(known)))
		for i := range known {
			if known[i].role != 0 {
				x.enter(known[i])
			}
		}
	}
	x.enter(p)
	return p
}

func (x *perfLocator) enter(p perfLocEntry) {
	i := placeHash(p.pc, p.role)
	for x.known[i&(len(x.known)-1)].role != 0 {
		i++
	}
	x.known[i&(len(x.known)-1)] = p
}

// appendStack appends the IDs of the locations of a stack as the runtime records it. It
// may emit to x.b.pb.
func (x *perfLocator) appendStack(ids []byte, stk []uint64) []byte {
	if len(stk) > 0 && stk[0] == 0 {
		if ids, ok := x.appendFrames(ids, stk[1:]); ok {
			return ids
		}
	}
	x.stk = x.stk[:0]
	for _, pc := range stk {
		x.stk = append(x.stk, uintptr(pc))
	}
	return x.appendCalls(ids, x.expand(x.stk))
}

// appendFrames appends the IDs of the locations of frames. It reports false if they
// depend on each other.
func (x *perfLocator) appendFrames(ids []byte, frames []uint64) (_ []byte, ok bool) {
	n := len(ids)
	role, callee := roleFrame, uintptr(0)
	for _, frame := range frames {
		pc := uintptr(frame)
		p, ok := x.find(pc, role)
		if !ok {
			p = x.newFrame(pc, role, callee)
		}
		if p.special {
			return ids[:n], false
		}
		if p.loc != 0 {
			ids = binary.AppendUvarint(ids, uint64(p.loc))
		}
		if p.next != 0 {
			role, callee = p.next, pc
		}
	}
	return ids, true
}

// newFrame finds out what a frame stands for. callee is the Go frame that it calls, or 0.
func (x *perfLocator) newFrame(pc uintptr, role perfRole, callee uintptr) perfLocEntry {
	p := perfLocEntry{pc: pc, role: role}
	inGo, keeps := runtime_perfInFunc(pc - 1)
	switch {
	case keeps:
		p.next = roleKept
	case inGo:
		p.next = roleFrame
	default:
		// With a symbolizer, neighbours may be calls that C inlined; see pcDeck.tryAdd.
		if frames, _ := allFrames(pc); len(frames) > 0 {
			last := frames[len(frames)-1]
			p.special = last.Func == nil && last.Entry != 0
		}
	}
	if !p.special {
		x.stk = append(x.stk[:0], 0, pc)
		calls := x.expand(x.stk)
		if role == roleKept {
			x.stk = append(x.stk[:0], 0, callee, pc)
			n := len(x.expand(x.stk[:2]))
			calls = x.expand(x.stk)[n:]
		}
		x.locs = x.b.appendLocsForStack(x.locs[:0], calls)
		if len(x.locs) > 0 {
			p.loc = uint32(x.locs[0])
		}
		p.special = len(x.locs) > 1
	}
	return x.learn(p)
}

// appendCalls appends the IDs of the locations of calls. They are what
// appendLocsForStack finds: a location that it knows is taken, for as many calls as that
// has, whatever comes after it.
func (x *perfLocator) appendCalls(ids []byte, calls []uintptr) []byte {
	if len(calls) == 0 {
		return ids
	}
	pc := calls[len(calls)-1]
	last, ok := x.find(pc, roleLast)
	if !ok {
		all := runtime_expandFinalInlineFrame([]uintptr{pc})
		last = x.learn(perfLocEntry{pc: pc, role: roleLast, special: len(all) != 1 || all[0] != pc})
	}
	if last.special {
		calls = runtime_expandFinalInlineFrame(calls)
	}
	n := len(ids)
	for left := calls; len(left) > 0; {
		p, ok := x.find(left[0], roleCall)
		if !ok || int(p.calls) > len(left) {
			return x.appendNewCalls(ids[:n], calls)
		}
		if p.loc != 0 {
			ids = binary.AppendUvarint(ids, uint64(p.loc))
		}
		left = left[p.calls:]
	}
	return ids
}

// appendNewCalls is appendCalls for calls that are not all known.
func (x *perfLocator) appendNewCalls(ids []byte, calls []uintptr) []byte {
	x.locs = x.b.appendLocsForStack(x.locs[:0], calls)
	for _, id := range x.locs {
		ids = binary.AppendUvarint(ids, id)
	}
	for len(calls) > 0 {
		p := perfLocEntry{pc: calls[0], role: roleCall, calls: 1}
		if l, ok := x.b.locs[p.pc]; ok && len(l.pcs) < 256 {
			p.loc, p.calls = uint32(l.id), uint8(len(l.pcs))
		} else if frames, _ := allFrames(p.pc); len(frames) != 0 {
			break // it is part of a location with another address
		}
		if _, ok := x.find(p.pc, roleCall); !ok {
			x.learn(p)
		}
		calls = calls[min(int(p.calls), len(calls)):]
	}
	return ids
}

// expand returns the calls of a stack as the runtime records it. They are valid until the
// next call.
func (x *perfLocator) expand(stk []uintptr) []uintptr {
	for {
		if n := pprof_fpunwindExpand(x.calls, stk); n < len(x.calls) {
			return x.calls[:n]
		}
		x.calls = make([]uintptr, 256+2*len(x.calls)) // there may be more
	}
}
