// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perf_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// arches are the architectures that Go supports on Linux.
var arches = []struct {
	name   string
	ioctls *map[string]uint64
	pc, sp uint64 // numbers of registers
}{
	{"386", &ioctls32, 8, 7},
	{"amd64", &ioctls64, 8, 7},
	{"arm", &ioctls32, 15, 13},
	{"arm64", &ioctls64, 32, 31},
	{"loong64", &ioctls64, 0, 3},
	{"mips", &ioctlsWide32, 0, 29},
	{"mipsle", &ioctlsWide32, 0, 29},
	{"mips64", &ioctlsWide64, 0, 29},
	{"mips64le", &ioctlsWide64, 0, 29},
	{"ppc64", &ioctlsWide64, 32, 1},
	{"ppc64le", &ioctlsWide64, 32, 1},
	{"riscv64", &ioctls64, 0, 2},
	{"s390x", &ioctls64, 33, 15},
}

// The ioctl numbers as C programs have them: with 32- and 64-bit pointers, and
// on mips and powerpc ("wide"), whose direction field is wider.
var (
	ioctls32 = map[string]uint64{
		"Enable": 0x2400, "Disable": 0x2401, "Reset": 0x2403,
		"Period": 0x40082404, "SetOutput": 0x2405,
		"ID": 0x80042407,
	}
	ioctls64 = map[string]uint64{
		"Enable": 0x2400, "Disable": 0x2401, "Reset": 0x2403,
		"Period": 0x40082404, "SetOutput": 0x2405,
		"ID": 0x80082407,
	}
	ioctlsWide32 = map[string]uint64{
		"Enable": 0x20002400, "Disable": 0x20002401, "Reset": 0x20002403,
		"Period": 0x80082404, "SetOutput": 0x20002405,
		"ID": 0x40042407,
	}
	ioctlsWide64 = map[string]uint64{
		"Enable": 0x20002400, "Disable": 0x20002401, "Reset": 0x20002403,
		"Period": 0x80082404, "SetOutput": 0x20002405,
		"ID": 0x40082407,
	}
)

// TestDefs checks the numbers of every architecture, whichever one it runs on, by type-checking the file that declares them.
func TestDefs(t *testing.T) {
	for _, arch := range arches {
		t.Run(arch.name, func(t *testing.T) {
			scope := checkDefs(t, arch.name)
			for name, want := range *arch.ioctls {
				checkConst(t, scope, "Ioctl"+name, want)
			}
			checkConst(t, scope, "RegPC", arch.pc)
			checkConst(t, scope, "RegSP", arch.sp)
		})
	}
}

// An importer has the one package that the file may import.
type importer struct{ goarch *types.Package }

func (i importer) Import(path string) (*types.Package, error) {
	if path == "internal/goarch" {
		return i.goarch, nil
	}
	return nil, fmt.Errorf("it must not import %q", path)
}

// checkDefs type-checks defs_linux.go for arch.
func checkDefs(t *testing.T, arch string) *types.Scope {
	fset := token.NewFileSet()
	check := func(path, file string, src any, imp types.Importer) *types.Package {
		f, err := parser.ParseFile(fset, file, src, 0)
		if err != nil {
			t.Fatal(err)
		}
		conf := types.Config{Importer: imp}
		pkg, err := conf.Check(path, fset, []*ast.File{f}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return pkg
	}
	var src strings.Builder
	fmt.Fprintf(&src, "package goarch\nconst PtrSize = %d\n", types.SizesFor("gc", arch).Sizeof(types.Typ[types.Uintptr]))
	for _, a := range arches {
		is := 0
		if a.name == arch {
			is = 1
		}
		fmt.Fprintf(&src, "const Is%s%s = %d\n", strings.ToUpper(a.name[:1]), a.name[1:], is)
	}
	goarch := check("internal/goarch", "goarch.go", src.String(), nil)
	return check("internal/runtime/perf", "defs_linux.go", nil, importer{goarch}).Scope()
}

func checkConst(t *testing.T, scope *types.Scope, name string, want uint64) {
	t.Helper()
	c, ok := scope.Lookup(name).(*types.Const)
	if !ok {
		t.Errorf("no constant %s", name)
		return
	}
	if got, _ := constant.Uint64Val(c.Val()); got != want {
		t.Errorf("%s = %#x, want %#x", name, got, want)
	}
}
