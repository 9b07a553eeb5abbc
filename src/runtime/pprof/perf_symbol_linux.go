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
	"io"
	"os"
)

// runtime_perfFunc returns the entry of the function with the given name in
// the runtime's tables, and how many there are. See runtime/perfbreak.go.
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

// elfVariable returns the address and size of a variable in the running program,
// whose ELF file is file. As with elfBuildID, debug/elf is not used so that programs
// do not depend on it.
func elfVariable(file, name string) (addr, size uint64, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	e, err := readELF(f)
	if err != nil {
		return 0, 0, err
	}
	syms, strs, err := e.symtab()
	if err != nil {
		return 0, 0, err
	}
	var anchorAddr uint64
	found := 0
	for ; len(syms) >= e.symSize(); syms = syms[e.symSize():] {
		s := e.symbol(syms)
		switch {
		case s.typ == elfFunc && symName(strs, s.name, elfAnchor):
			anchorAddr = s.addr
		case s.typ == elfObject && symName(strs, s.name, name):
			addr, size = s.addr, s.size
			found++
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

// programVariables returns the program's package-level variables, or nil if they are not
// known.
func programVariables() (vars []perfGlobal) {
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		return nil
	}
	defer f.Close()
	e, err := readELF(f)
	if err != nil {
		return nil
	}
	syms, strs, err := e.symtab()
	if err != nil {
		return nil
	}
	var anchor uint64
	for ; len(syms) >= e.symSize(); syms = syms[e.symSize():] {
		switch s := e.symbol(syms); {
		case s.typ == elfFunc && symName(strs, s.name, elfAnchor):
			anchor = s.addr
		case s.typ == elfObject && s.size > 0 && uint64(s.name) < uint64(len(strs)):
			name, _, _ := bytes.Cut(strs[s.name:], []byte{0})
			vars = append(vars, perfGlobal{s.addr, s.size, string(name)})
		}
	}
	if anchor == 0 {
		return nil
	}
	for i := range vars {
		vars[i].addr += uint64(abi.FuncPCABIInternal(lostProfileEvent)) - anchor
	}
	return vars
}

// elfAnchor is a function that is in both tables, from which the load address of a
// position-independent executable is known.
const elfAnchor = "runtime/pprof.lostProfileEvent"

// An elfFile is an ELF file of either class and byte order. See elf(5).
type elfFile struct {
	f       io.ReaderAt
	is64    bool
	order   binary.ByteOrder
	off     int64 // of the section headers
	entSize int   // of a section header
	n       int   // number of sections
}

const (
	elfSymtab     = 2       // sh_type SHT_SYMTAB
	elfObject     = 1       // symbol type STT_OBJECT
	elfFunc       = 2       // STT_FUNC
	elfMaxSection = 1 << 30 // a malformed file must not exhaust memory
)

func readELF(f io.ReaderAt) (*elfFile, error) {
	var hdr [64]byte
	if _, err := f.ReadAt(hdr[:], 0); err != nil {
		return nil, err
	}
	if string(hdr[:4]) != "\x7fELF" {
		return nil, errBadELF
	}
	e := &elfFile{f: f, is64: hdr[4] == 2, order: binary.LittleEndian}
	if hdr[5] == 2 {
		e.order = binary.BigEndian
	}
	e.off = e.word(hdr[:], 32, 40)
	if e.is64 {
		e.entSize, e.n = int(e.order.Uint16(hdr[58:])), int(e.order.Uint16(hdr[60:]))
	} else {
		e.entSize, e.n = int(e.order.Uint16(hdr[46:])), int(e.order.Uint16(hdr[48:]))
	}
	if e.entSize < 40 || e.is64 && e.entSize < 64 {
		return nil, errBadELF
	}
	return e, nil
}

// word reads a field that has the size of the file's class, and is at off32 or off64.
func (e *elfFile) word(b []byte, off32, off64 int) int64 {
	if e.is64 {
		return int64(e.order.Uint64(b[off64:]))
	}
	return int64(e.order.Uint32(b[off32:]))
}

// section returns the i'th section header.
func (e *elfFile) section(i int) ([]byte, error) {
	sh := make([]byte, e.entSize)
	_, err := e.f.ReadAt(sh, e.off+int64(i)*int64(e.entSize))
	return sh, err
}

// content returns the content of a section.
func (e *elfFile) content(sh []byte) ([]byte, error) {
	off, n := e.word(sh, 16, 24), e.word(sh, 20, 32)
	if n < 0 || n > elfMaxSection {
		return nil, errBadELF
	}
	b := make([]byte, n)
	_, err := io.ReadFull(io.NewSectionReader(e.f, off, n), b)
	return b, err
}

// symtab returns the symbol table and its strings.
func (e *elfFile) symtab() (syms, strs []byte, err error) {
	for i := range e.n {
		sh, err := e.section(i)
		if err != nil {
			return nil, nil, err
		}
		if e.order.Uint32(sh[4:]) != elfSymtab {
			continue
		}
		if syms, err = e.content(sh); err != nil {
			return nil, nil, err
		}
		link := e.order.Uint32(sh[24:])
		if e.is64 {
			link = e.order.Uint32(sh[40:])
		}
		if sh, err = e.section(int(link)); err != nil {
			return nil, nil, err
		}
		strs, err = e.content(sh)
		return syms, strs, err
	}
	return nil, nil, errNoSymtab
}

type elfSymbol struct {
	name       uint32 // offset in the string table
	typ        byte
	addr, size uint64
}

// symSize returns the size of a symbol.
func (e *elfFile) symSize() int {
	if e.is64 {
		return 24
	}
	return 16
}

// symbol decodes the symbol at the start of b.
func (e *elfFile) symbol(b []byte) elfSymbol {
	if e.is64 {
		return elfSymbol{e.order.Uint32(b), b[4] & 0xf, e.order.Uint64(b[8:]), e.order.Uint64(b[16:])}
	}
	return elfSymbol{e.order.Uint32(b), b[12] & 0xf, uint64(e.order.Uint32(b[4:])), uint64(e.order.Uint32(b[8:]))}
}

// symName reports whether the string at off in the string table is name.
func symName(strs []byte, off uint32, name string) bool {
	if uint64(off) >= uint64(len(strs)) {
		return false
	}
	rest, ok := bytes.CutPrefix(strs[off:], []byte(name))
	return ok && len(rest) > 0 && rest[0] == 0
}
