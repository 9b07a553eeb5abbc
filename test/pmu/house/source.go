// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"path/filepath"
	"strings"

	"pmu/internal/tool"
)

// A pkg is what the go command says of a package.
type pkg struct {
	ImportPath string
	Dir        string
	GoFiles    []string // those that are built, without cgo and tests
}

// A source has the packages to read, and type-checks them. It does not look for errors,
// and knows less than the compiler where the language is newer than go/types.
type source struct {
	fset    *token.FileSet
	listed  map[string]pkg
	checked map[string]*types.Package

	// own returns the name to show for a file, or "" if it is not to be looked into.
	own func(file string) string
}

// list adds the packages that match the patterns in a directory, and all that they
// import, as they are built for Linux on amd64, which has the most of the engine. It
// returns their paths.
func (s *source) list(fork tool.Toolchain, dir string, patterns ...string) ([]string, error) {
	args := append([]string{"list", "-e", "-deps", "-json=ImportPath,Dir,GoFiles"}, patterns...)
	out, err := tool.Output(fork.Command(dir, []string{"GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0"}, args...))
	if err != nil {
		return nil, err
	}
	var paths []string
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); err == io.EOF {
			return paths, nil
		} else if err != nil {
			return nil, err
		}
		s.listed[p.ImportPath] = p
		paths = append(paths, p.ImportPath)
	}
}

// Import returns the declarations of a package.
func (s *source) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	for _, vendor := range []string{"", "vendor/", "cmd/vendor/"} {
		if p, ok := s.listed[vendor+path]; ok {
			if s.checked[p.ImportPath] == nil {
				if _, err := s.check(p, nil); err != nil {
					return nil, err
				}
			}
			return s.checked[p.ImportPath], nil
		}
	}
	return nil, errors.New("not listed")
}

// check type-checks a package. With info it looks into the functions of own files.
func (s *source) check(p pkg, info *types.Info) ([]*ast.File, error) {
	var parsed, own []*ast.File
	for _, name := range p.GoFiles {
		name = filepath.Join(p.Dir, name)
		f, err := parser.ParseFile(s.fset, name, nil, parser.SkipObjectResolution)
		if f == nil {
			return nil, err
		}
		parsed = append(parsed, f)
		if s.own(name) != "" {
			own = append(own, f)
			continue
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				fn.Body = nil
			}
		}
	}
	c := types.Config{
		Importer:         s,
		FakeImportC:      true,
		IgnoreFuncBodies: info == nil,
		Error:            func(error) {},
		Sizes:            types.SizesFor("gc", "amd64"),
	}
	// The error is the first of those that don't matter.
	s.checked[p.ImportPath], _ = c.Check(p.ImportPath, s.fset, parsed, info)
	return own, nil
}
