// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent

import (
	"internal/runtime/perf"
	"strconv"
	"strings"
)

// A breakpoint is written mem:WHERE[/len][:access][:modifiers], WHERE being an
// address or a symbol of the program. Go's symbols hold slashes, parentheses,
// brackets, stars and dots:
//
//	mem:main.(*T).m:x  mem:example.com/p.f[...]:x
//
// so it is read from the right, where the parts with few letters are.

// parseBreakpoint parses what follows "mem:".
func (r *Resolver) parseBreakpoint(s string) (*Event, *Error) {
	where, access, mods, err := cutBreakpoint(s)
	if err != nil {
		return nil, err
	}
	where, length, err := cutLength(where)
	if err != nil {
		return nil, err
	}
	if where == "" {
		return nil, syntaxError("no address; write mem:ADDRESS_OR_SYMBOL[/len][:access]")
	}
	bpType, err := r.parseAccess(access)
	if err != nil {
		return nil, err
	}
	addr, size, err := r.address(where)
	if err != nil {
		return nil, err
	}
	n, err := r.watchLength(bpType, length, size)
	if err != nil {
		return nil, err
	}
	if bpType != perf.BreakpointX && r.aligned() && addr%n != 0 {
		return nil, unsupportedError("the address "+hex(addr)+" is not a multiple of the length "+strconv.FormatUint(n, 10)+"; give a smaller /len", nil)
	}
	e := &Event{
		Type:   "mem:" + where + lengthSuffix(bpType, n) + ":" + accessName(bpType),
		Unit:   unitCount,
		Period: periodEach,
		Kind:   Breakpoint,
		Attrs:  []PMUAttr{{Attr: perf.Attr{Type: perf.TypeBreakpoint, Config1: addr, Config2: n, BPType: bpType}}},
	}
	return r.finish(e, &mods)
}

// cutBreakpoint cuts the access and the modifiers off the end of s. With one
// colon, letters that are all r, w and x are an access, as in perf.
func cutBreakpoint(s string) (where, access string, m modifiers, err *Error) {
	where, last, ok := cutLast(s, ":")
	if !ok {
		return s, "", m, nil
	}
	if last != "" && strings.Trim(last, "rwx") == "" {
		return where, last, m, nil
	}
	if !looksLikeModifiers(last) {
		return "", "", m, syntaxError("after the colon comes the access, r, w, rw or x, not " + quote(last))
	}
	if m, err = parseModifiers(last); err != nil {
		return "", "", m, err
	}
	if before, a, ok := cutLast(where, ":"); ok {
		if a == "" || strings.Trim(a, "rwx") != "" {
			return "", "", m, syntaxError("between the colons comes the access, r, w, rw or x, not " + quote(a))
		}
		where, access = before, a
	}
	return where, access, m, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// cutLength cuts a /len off the end of s; length is 0 if there is none. The
// last element of a Go symbol's path has a dot, so it is never taken for one.
func cutLength(s string) (where string, length uint64, err *Error) {
	where, digits, ok := cutLast(s, "/")
	if !ok || strings.Trim(digits, "0123456789") != "" {
		return s, 0, nil
	}
	switch digits {
	case "1", "2", "4", "8":
		return where, uint64(digits[0] - '0'), nil
	}
	return "", 0, syntaxError("a length is 1, 2, 4 or 8, not " + quote(digits))
}

// parseAccess parses the letters; rw if there are none, as in perf.
func (r *Resolver) parseAccess(s string) (bpType uint32, err *Error) {
	if s == "" {
		s = "rw"
	}
	for i := range len(s) {
		bit := uint32(perf.BreakpointX)
		switch s[i] {
		case 'r':
			bit = perf.BreakpointR
		case 'w':
			bit = perf.BreakpointW
		}
		if bpType&bit != 0 {
			return 0, syntaxError("access " + quote(s[i:i+1]) + " is given twice")
		}
		bpType |= bit
	}
	if bpType&perf.BreakpointX != 0 && bpType != perf.BreakpointX {
		return 0, syntaxError("a breakpoint is on execution (x) or on data (r, w, rw), not on both; use two events")
	}
	if bpType == perf.BreakpointR && (r.GOARCH == "amd64" || r.GOARCH == "386") {
		return 0, unsupportedError("x86 cannot watch reads alone; use :rw", nil)
	}
	return bpType, nil
}

// accessName is the canonical spelling of an access.
func accessName(bpType uint32) string {
	switch bpType {
	case perf.BreakpointR:
		return "r"
	case perf.BreakpointW:
		return "w"
	case perf.BreakpointX:
		return "x"
	}
	return "rw"
}

// address resolves an address, decimal or 0x, or a symbol and its size. A
// symbol may begin with a digit, as its import path may, but it has a dot.
func (r *Resolver) address(where string) (addr, size uint64, err *Error) {
	if addr, nerr := parseNumber(where); nerr == nil {
		return addr, 0, nil
	}
	if '0' <= where[0] && where[0] <= '9' && !strings.Contains(where, ".") {
		return 0, 0, syntaxError("not an address of 64 bits: " + quote(where))
	}
	if r.Symbol == nil {
		return 0, 0, unsupportedError("symbols cannot be looked up here; give the address, mem:0x...", nil)
	}
	addr, size, serr := r.Symbol(where)
	if serr != nil {
		return 0, 0, &Error{Kind: ErrUnknown, Reason: serr.Error(), Err: serr}
	}
	return addr, size, nil
}

// watchLength returns bp_len. On execution it must be sizeof(long) of the
// kernel (perf_event_open(2), bp_len). On data it is what is asked for, the
// size of the variable if the hardware has that, or 4, as in perf.
func (r *Resolver) watchLength(bpType uint32, asked, size uint64) (uint64, *Error) {
	if bpType == perf.BreakpointX {
		long := r.longSize()
		if asked != 0 && asked != long {
			return 0, syntaxError("a breakpoint on execution has no length; leave out /" + strconv.FormatUint(asked, 10))
		}
		return long, nil
	}
	if asked != 0 {
		return asked, nil
	}
	switch size {
	case 1, 2, 4, 8:
		return size, nil
	}
	return 4, nil
}

// longSize is the kernel's. 32-bit x86 programs are assumed to run on a 64-bit
// kernel, as they do nearly everywhere.
func (r *Resolver) longSize() uint64 {
	switch r.GOARCH {
	case "arm", "mips", "mipsle":
		return 4
	}
	return 8
}

// aligned reports whether the processor watches aligned words only. Others
// have byte masks, and the kernel decides.
func (r *Resolver) aligned() bool {
	return r.GOARCH == "" || r.GOARCH == "amd64" || r.GOARCH == "386"
}

// lengthSuffix is the length as it is shown: never on execution, always on
// data, where the default depends on the variable.
func lengthSuffix(bpType uint32, n uint64) string {
	if bpType == perf.BreakpointX {
		return ""
	}
	return "/" + strconv.FormatUint(n, 10)
}

func hex(x uint64) string { return "0x" + strconv.FormatUint(x, 16) }
