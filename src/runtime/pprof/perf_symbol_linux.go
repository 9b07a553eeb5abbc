// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"internal/abi"
	"internal/perfevent"
	"io"
	"os"
	"runtime"
)

// perfParse returns the event that name names on this machine, in this program,
// with the given precision (perfevent.Resolver.Precise).
func perfParse(name string, precise *int8) (*perfevent.Event, error) {
	r := perfevent.Resolver{
		Sys:     os.DirFS("/sys"),
		Tracefs: os.DirFS("/sys/kernel/tracing"),
		Symbol:  perfSymbol,
		GOARCH:  runtime.GOARCH,
		Precise: precise,
	}
	return r.Parse(name)
}

// runtime_perfFunc returns the entry of the function with the given name in
// the runtime's tables, and how many there are. See runtime/perfsym.go.
func runtime_perfFunc(name string) (entry uintptr, n int)

// perfSymbol finds a function or package-level variable of the running program
// for a breakpoint. A function's size is 0.
func perfSymbol(name string) (addr, size uint64, err error) {
	if entry, n := runtime_perfFunc(name); n == 1 {
		return uint64(entry), 0, nil
	} else if n > 1 {
		return 0, 0, fmt.Errorf("%d functions have this name", n)
	}
	addr, size, err = elfVariable("/proc/self/exe", name)
	if err != nil {
		return 0, 0, fmt.Errorf("no function in this program (perhaps inlined everywhere), and %w", err)
	}
	return addr, size, nil
}

var (
	errNoSymtab = errors.New("no variable, as the program has no symbol table (go test and -ldflags=-s strip it; give the address)")
	errNoSymbol = errors.New("no package-level variable")
)

// elfVariable returns the address and size of a variable in the running
// program, whose ELF file is file. As with elfBuildID, debug/elf is not used so
// that programs do not depend on it.
func elfVariable(file, name string) (addr, size uint64, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	const (
		shtSymtab  = 2
		sttObject  = 1
		sttFunc    = 2
		symSize32  = 16
		symSize64  = 24
		maxSection = 1 << 30 // a malformed file must not exhaust memory
	)
	var hdr [64]byte
	if _, err := f.ReadAt(hdr[:], 0); err != nil {
		return 0, 0, err
	}
	if string(hdr[:4]) != "\x7fELF" {
		return 0, 0, errBadELF
	}
	is64 := hdr[4] == 2
	var bo binary.ByteOrder = binary.LittleEndian
	if hdr[5] == 2 {
		bo = binary.BigEndian
	}
	// word reads a field that has the class's size.
	word := func(b []byte, off32, off64 int) int64 {
		if is64 {
			return int64(bo.Uint64(b[off64:]))
		}
		return int64(bo.Uint32(b[off32:]))
	}
	half := func(off32, off64 int) int {
		if is64 {
			return int(bo.Uint16(hdr[off64:]))
		}
		return int(bo.Uint16(hdr[off32:]))
	}
	shoff, shentsize, shnum := word(hdr[:], 32, 40), half(46, 58), half(48, 60)
	if shentsize < 40 || is64 && shentsize < 64 {
		return 0, 0, errBadELF
	}
	section := func(i int) (sh []byte, err error) {
		sh = make([]byte, shentsize)
		_, err = f.ReadAt(sh, shoff+int64(i)*int64(shentsize))
		return sh, err
	}
	content := func(sh []byte) ([]byte, error) {
		off, n := word(sh, 16, 24), word(sh, 20, 32)
		if n < 0 || n > maxSection {
			return nil, errBadELF
		}
		b := make([]byte, n)
		_, err := io.ReadFull(io.NewSectionReader(f, off, n), b)
		return b, err
	}
	for i := range shnum {
		sh, err := section(i)
		if err != nil {
			return 0, 0, err
		}
		if bo.Uint32(sh[4:]) != shtSymtab {
			continue
		}
		syms, err := content(sh)
		if err != nil {
			return 0, 0, err
		}
		strsh, err := section(int(word32(bo, sh, is64)))
		if err != nil {
			return 0, 0, err
		}
		strs, err := content(strsh)
		if err != nil {
			return 0, 0, err
		}
		// The load address of a position-independent executable is known
		// from a function that is in both tables.
		const anchor = "runtime/pprof.lostProfileEvent"
		var anchorAddr uint64
		found := 0
		entsize := symSize32
		if is64 {
			entsize = symSize64
		}
		for ; len(syms) >= entsize; syms = syms[entsize:] {
			var value, n uint64
			var info byte
			if is64 {
				info, value, n = syms[4], bo.Uint64(syms[8:]), bo.Uint64(syms[16:])
			} else {
				value, n, info = uint64(bo.Uint32(syms[4:])), uint64(bo.Uint32(syms[8:])), syms[12]
			}
			switch info & 0xf {
			case sttFunc:
				if symName(strs, bo.Uint32(syms), anchor) {
					anchorAddr = value
				}
			case sttObject:
				if symName(strs, bo.Uint32(syms), name) {
					addr, size = value, n
					found++
				}
			}
		}
		switch {
		case found == 0:
			return 0, 0, errNoSymbol
		case found > 1:
			return 0, 0, fmt.Errorf("%d variables have this name", found)
		case anchorAddr == 0:
			return 0, 0, errors.New("the program's load address is unknown")
		}
		return addr + uint64(abi.FuncPCABIInternal(lostProfileEvent)) - anchorAddr, size, nil
	}
	return 0, 0, errNoSymtab
}

// word32 returns sh_link.
func word32(bo binary.ByteOrder, sh []byte, is64 bool) uint32 {
	if is64 {
		return bo.Uint32(sh[40:])
	}
	return bo.Uint32(sh[24:])
}

// symName reports whether the string at off in the string table is name.
func symName(strs []byte, off uint32, name string) bool {
	if uint64(off) >= uint64(len(strs)) {
		return false
	}
	rest, ok := bytes.CutPrefix(strs[off:], []byte(name))
	return ok && len(rest) > 0 && rest[0] == 0
}
