// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"sort"
)

// A folder is the files of a package that are looked into, with the references between
// them.
type folder struct {
	name   string
	files  []string
	arrows []arrow
}

// An arrow says that the first of two files, which are indexes, names what the second
// declares: constants, variables, functions and types, and methods and fields.
type arrow struct {
	from, to int
	names    []string
}

// folder returns the references between the files of a package that are looked into.
func (s *source) folder(path string) (*folder, error) {
	info := &types.Info{Uses: make(map[*ast.Ident]types.Object)}
	own, err := s.check(s.listed[path], info)
	if err != nil {
		return nil, err
	}
	d := new(folder)
	index := make(map[*token.File]int)
	for i, f := range own {
		file := s.fset.File(f.Package)
		d.files = append(d.files, filepath.Base(file.Name()))
		d.name = filepath.ToSlash(filepath.Dir(s.own(file.Name())))
		index[file] = i
	}
	names := make(map[[2]int]map[string]bool)
	for id, obj := range info.Uses {
		from, ok1 := index[s.fset.File(id.Pos())]
		to, ok2 := index[s.fset.File(obj.Pos())]
		if !ok1 || !ok2 || from == to {
			continue
		}
		files := [2]int{from, to}
		if names[files] == nil {
			names[files] = make(map[string]bool)
		}
		names[files][id.Name] = true
	}
	for files, set := range names {
		a := arrow{from: files[0], to: files[1]}
		for name := range set {
			a.names = append(a.names, name)
		}
		sort.Strings(a.names)
		d.arrows = append(d.arrows, a)
	}
	sort.Slice(d.arrows, func(i, j int) bool {
		a, b := d.arrows[i], d.arrows[j]
		return a.from < b.from || a.from == b.from && a.to < b.to
	})
	return d, nil
}
