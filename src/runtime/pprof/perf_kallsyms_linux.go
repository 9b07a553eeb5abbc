// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"io"
)

// eachKsym calls f for the functions in /proc/kallsyms, whose lines have the form
// "ffffffff81000000 T _text\t[module]" (proc_kallsyms(5): types T, t, W, w), until it
// returns false. core says that the function is not a module's or the like. The name is
// valid during the call.
//
// The kernel's own functions come first, in the order of their addresses: the kernel
// itself looks them up by binary search. If skip is not nil, it is asked now and then
// whether f needs no function before the next ones, which are at addr.
//
// The list ends early if the addresses are hidden, or where a line is too long for one.
func eachKsym(r io.Reader, skip func(addr uint64) bool, f func(addr uint64, name []byte, core bool) (more bool)) {
	// A read returns a page, whatever is asked for.
	buf := make([]byte, 8<<10)
	for n := 0; n < len(buf); {
		m, err := r.Read(buf[n:])
		n += m
		rest := buf[:n]
		if skip != nil {
			if addr, last := lastKsyms(rest); last != nil && skip(addr) {
				rest = last
			}
		}
		for {
			i := bytes.IndexByte(rest, '\n')
			if i < 0 {
				break
			}
			addr, name, core, ok := parseKsym(rest[:i])
			rest = rest[i+1:]
			if ok && (addr == 0 || !f(addr, name, core)) { // if one is hidden, all are
				return
			}
		}
		if err != nil {
			return
		}
		n = copy(buf, rest)
	}
}

// lastKsyms returns the end of a piece of the list from the lines on whose functions are
// at the last address, if they are the kernel's own, and soon found.
func lastKsyms(piece []byte) (addr uint64, last []byte) {
	end := bytes.LastIndexByte(piece, '\n')
	for tries := 8; tries > 0 && end > 0; tries-- {
		start := bytes.LastIndexByte(piece[:end], '\n') + 1
		switch a, _, core, ok := parseKsym(piece[start:end]); {
		case !ok:
		case !core:
			return 0, nil
		case addr == 0:
			addr = a
		case a != addr:
			return addr, piece[end+1:]
		}
		end = start - 1
	}
	return 0, nil
}

// parseKsym parses a line. It reports false if that is not of a function.
func parseKsym(line []byte) (addr uint64, name []byte, core, ok bool) {
	digits := 0
	for ; digits < len(line) && digits < 16; digits++ {
		if c := line[digits]; '0' <= c && c <= '9' {
			addr = addr<<4 | uint64(c-'0')
		} else if 'a' <= c && c <= 'f' {
			addr = addr<<4 | uint64(c-'a'+10)
		} else {
			break
		}
	}
	if line = line[digits:]; digits == 0 || len(line) < 4 || line[0] != ' ' || line[2] != ' ' {
		return 0, nil, false, false
	}
	if typ := line[1] | 0x20; typ != 't' && typ != 'w' {
		return 0, nil, false, false
	}
	name = line[3:]
	if len(name) > 6 && string(name[:6]) == "__pfx_" {
		return 0, nil, false, false // no function, but the padding before one, which is not executed
	}
	size := 0
	for size < len(name) && name[size] > ' ' {
		size++
	}
	return addr, name[:size], size == len(name), true
}
