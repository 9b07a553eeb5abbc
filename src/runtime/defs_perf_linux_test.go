// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"encoding/binary"
	"fmt"
	"go/ast"
	goconstant "go/constant"
	"go/parser"
	"go/token"
	"go/types"
	. "runtime"
	"strings"
	"testing"
)

// perfArches are the architectures that Go supports on Linux.
var perfArches = []struct {
	name      string
	bigEndian bool
	oAsync    uint64
	ioctls    *map[string]uint64
	pc, sp    uint64 // numbers of registers
}{
	{"386", false, 0x2000, &perfIoctls32, 8, 7},
	{"amd64", false, 0x2000, &perfIoctls64, 8, 7},
	{"arm", false, 0x2000, &perfIoctls32, 15, 13},
	{"arm64", false, 0x2000, &perfIoctls64, 32, 31},
	{"loong64", false, 0x2000, &perfIoctls64, 0, 3},
	{"mips", true, 0x1000, &perfIoctlsWide32, 0, 29},
	{"mipsle", false, 0x1000, &perfIoctlsWide32, 0, 29},
	{"mips64", true, 0x1000, &perfIoctlsWide64, 0, 29},
	{"mips64le", false, 0x1000, &perfIoctlsWide64, 0, 29},
	{"ppc64", true, 0x2000, &perfIoctlsWide64, 32, 1},
	{"ppc64le", false, 0x2000, &perfIoctlsWide64, 32, 1},
	{"riscv64", false, 0x2000, &perfIoctls64, 0, 2},
	{"s390x", true, 0x2000, &perfIoctls64, 33, 15},
}

// The ioctl numbers as C programs have them: with 32- and 64-bit pointers, and
// on mips and powerpc ("wide"), whose direction field is wider.
var (
	perfIoctls32 = map[string]uint64{
		"Enable": 0x2400, "Disable": 0x2401, "Reset": 0x2403,
		"Period": 0x40082404, "SetOutput": 0x2405,
		"ID": 0x80042407,
	}
	perfIoctls64 = map[string]uint64{
		"Enable": 0x2400, "Disable": 0x2401, "Reset": 0x2403,
		"Period": 0x40082404, "SetOutput": 0x2405,
		"ID": 0x80082407,
	}
	perfIoctlsWide32 = map[string]uint64{
		"Enable": 0x20002400, "Disable": 0x20002401, "Reset": 0x20002403,
		"Period": 0x80082404, "SetOutput": 0x20002405,
		"ID": 0x40042407,
	}
	perfIoctlsWide64 = map[string]uint64{
		"Enable": 0x20002400, "Disable": 0x20002401, "Reset": 0x20002403,
		"Period": 0x80082404, "SetOutput": 0x20002405,
		"ID": 0x40082407,
	}
)

// perfLayouts are the kernel's structs: the size, and the offset of each field
// in bytes, the same everywhere. Each must list every field.
var perfLayouts = map[string]struct {
	size    int64
	offsets map[string]int64
}{
	"perfEventAttr": {136, map[string]int64{
		"typ": 0, "size": 4, "config": 8, "samplePeriod": 16, "sampleType": 24,
		"readFormat": 32, "bits": 40, "wakeupEvents": 48, "bpType": 52,
		"config1": 56, "config2": 64, "branchSampleType": 72,
		"sampleRegsUser": 80, "sampleStackUser": 88, "clockid": 92,
		"sampleRegsIntr": 96, "auxWatermark": 104, "sampleMaxStack": 108,
		"reserved2": 110, "auxSampleSize": 112, "auxAction": 116,
		"sigData": 120, "config3": 128,
	}},
	"perfEventMmapPage": {1088, map[string]int64{
		"version": 0, "compatVersion": 4, "lock": 8, "index": 12, "offset": 16,
		"timeEnabled": 24, "timeRunning": 32, "capabilities": 40,
		"pmcWidth": 48, "timeShift": 50, "timeMult": 52, "timeOffset": 56,
		"timeZero": 64, "size": 72, "reserved1": 76, "timeCycles": 80,
		"timeMask": 88, "reserved": 96, "dataHead": 1024, "dataTail": 1032,
		"dataOffset": 1040, "dataSize": 1048, "auxHead": 1056,
		"auxTail": 1064, "auxOffset": 1072, "auxSize": 1080,
	}},
	"perfEventHeader": {8, map[string]int64{"typ": 0, "misc": 4, "size": 6}},
	"fOwnerEx":        {8, map[string]int64{"typ": 0, "pid": 4}},
}

// TestPerfDefs checks the kernel interface of every architecture, whichever
// one it runs on, by type-checking the files that declare it.
func TestPerfDefs(t *testing.T) {
	for _, arch := range perfArches {
		t.Run(arch.name, func(t *testing.T) {
			sizes := types.SizesFor("gc", arch.name)
			numbers, scope := checkPerfDefs(t, arch.name, sizes, arch.bigEndian)
			for name, want := range *arch.ioctls {
				checkPerfConst(t, numbers, "Ioctl"+name, want)
			}
			checkPerfConst(t, numbers, "RegPC", arch.pc)
			checkPerfConst(t, numbers, "RegSP", arch.sp)
			checkPerfConst(t, scope, "_O_ASYNC", arch.oAsync)
			for name, want := range perfLayouts {
				checkPerfStruct(t, scope, sizes, name, want.size, want.offsets)
			}
		})
	}
}

// perfImporter has what the files may import.
type perfImporter map[string]*types.Package

func (i perfImporter) Import(path string) (*types.Package, error) {
	if p := i[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("it must not import %q", path)
}

// checkPerfDefs type-checks the files of numbers and structs for arch.
func checkPerfDefs(t *testing.T, arch string, sizes types.Sizes, bigEndian bool) (numbers, structs *types.Scope) {
	fset := token.NewFileSet()
	check := func(path, file string, src any, imp types.Importer) *types.Package {
		f, err := parser.ParseFile(fset, file, src, 0)
		if err != nil {
			t.Fatal(err)
		}
		conf := types.Config{Importer: imp, Sizes: sizes}
		pkg, err := conf.Check(path, fset, []*ast.File{f}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return pkg
	}

	var src strings.Builder
	fmt.Fprintf(&src, "package goarch\nconst PtrSize = %d\nconst BigEndian = %t\n",
		sizes.Sizeof(types.Typ[types.Uintptr]), bigEndian)
	for _, a := range perfArches {
		is := 0
		if a.name == arch {
			is = 1
		}
		fmt.Fprintf(&src, "const Is%s%s = %d\n", strings.ToUpper(a.name[:1]), a.name[1:], is)
	}
	has := perfImporter{"internal/goarch": check("internal/goarch", "goarch.go", src.String(), nil)}
	perf := check("internal/runtime/perf", "../internal/runtime/perf/defs_linux.go", nil, has)
	has[perf.Path()] = perf
	return perf.Scope(), check("runtime", "defs_perf_linux.go", nil, has).Scope()
}

func checkPerfConst(t *testing.T, scope *types.Scope, name string, want uint64) {
	t.Helper()
	c, ok := scope.Lookup(name).(*types.Const)
	if !ok {
		t.Errorf("no constant %s", name)
		return
	}
	if got, _ := goconstant.Uint64Val(c.Val()); got != want {
		t.Errorf("%s = %#x, want %#x", name, got, want)
	}
}

func checkPerfStruct(t *testing.T, scope *types.Scope, sizes types.Sizes, name string, size int64, offsets map[string]int64) {
	t.Helper()
	obj, ok := scope.Lookup(name).(*types.TypeName)
	if !ok {
		t.Errorf("no type %s", name)
		return
	}
	typ := obj.Type().Underlying().(*types.Struct)
	if got := sizes.Sizeof(typ); got != size {
		t.Errorf("%s has %d bytes, want %d", name, got, size)
	}
	if got, want := typ.NumFields(), len(offsets); got != want {
		t.Errorf("%s has %d fields, want %d", name, got, want)
	}
	var fields []*types.Var
	for f := range typ.Fields() {
		fields = append(fields, f)
	}
	for i, got := range sizes.Offsetsof(fields) {
		if want, ok := offsets[fields[i].Name()]; !ok || got != want {
			t.Errorf("%s.%s is at offset %d, want %d", name, fields[i].Name(), got, want)
		}
	}
}

// TestPerfBitField checks the two orders of bit-fields against their rule in
// bytes, which is the same for words of any size: on little-endian machines
// field n begins at bit n%8 of byte n/8 counted from the low end, on big-endian
// ones counted from the high end.
func TestPerfBitField(t *testing.T) {
	for n := uint(0); n < 64; n++ {
		var le, be [8]byte
		le[n/8] = 1 << (n % 8)
		be[n/8] = 0x80 >> (n % 8)
		checkPerfBits(t, fmt.Sprintf("flag %d", n), PerfBitField(n, 1, 1, false), PerfBitField(n, 1, 1, true), le, be)
		checkPerfNative(t, fmt.Sprintf("flag %d", n), PerfAttrBit(n), le, be)
	}
	for level := uint(0); level < 4; level++ {
		// Bits 15 and 16: the last of one byte and the first of the next.
		hi, lo := byte(level>>1), byte(level&1)
		le := [8]byte{1: lo << 7, 2: hi}
		be := [8]byte{1: hi, 2: lo << 7}
		name := fmt.Sprintf("precise_ip %d", level)
		checkPerfBits(t, name, PerfBitField(PerfAttrPreciseAt, 2, uint64(level), false), PerfBitField(PerfAttrPreciseAt, 2, uint64(level), true), le, be)
		checkPerfNative(t, name, PerfAttrPreciseIP(level), le, be)
	}
	if got := PerfBitField(15, 2, 7, false); got != 3<<15 {
		t.Errorf("a value too wide for its field gives %#x, want %#x", got, 3<<15)
	}
}

func checkPerfBits(t *testing.T, name string, gotLE, gotBE uint64, le, be [8]byte) {
	t.Helper()
	if want := binary.LittleEndian.Uint64(le[:]); gotLE != want {
		t.Errorf("%s, little-endian: %#x, want %#x", name, gotLE, want)
	}
	if want := binary.BigEndian.Uint64(be[:]); gotBE != want {
		t.Errorf("%s, big-endian: %#x, want %#x", name, gotBE, want)
	}
}

// checkPerfNative checks the word in the byte order of this machine.
func checkPerfNative(t *testing.T, name string, got uint64, le, be [8]byte) {
	t.Helper()
	want := le
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		want = be
	}
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], got)
	if b != want {
		t.Errorf("%s, native: %x, want %x", name, b, want)
	}
}
