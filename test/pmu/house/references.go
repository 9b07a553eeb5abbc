// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"sort"
	"strings"

	"pmu/internal/tool"
)

// references counts the arrows between the files of folders, and those of them that run
// up in the order of the folder's files that layers finds. Each of these closes a cycle.
// Without one, a file can be understood with those below it alone. Folders in which no
// arrow runs up are in the sum only.
func references(folders []*folder) section {
	s := section{title: "references between files of a folder", columns: []column{{"up", nil}, {"all", someLines}}}
	all := 0
	for _, d := range folders {
		all += len(d.arrows)
		r := row{name: d.name}
		for _, a := range runUp(layers(len(d.files), d.arrows), d.arrows) {
			r.details = append(r.details, fmt.Sprintf("%s names of %s: %s", d.files[a.from], d.files[a.to], strings.Join(a.names, " ")))
		}
		if up := len(r.details); up > 0 {
			r.numbers = []int{up, len(d.arrows)}
			s.rows = append(s.rows, r)
		}
	}
	sort.Slice(s.rows, func(i, j int) bool { return s.rows[i].name < s.rows[j].name })
	s.addSum()
	s.rows[len(s.rows)-1].numbers[1] = all
	return s
}

// folders returns the folders with Go code of the product, and of the checks. The
// sources are those of the fork's GOROOT, where patches are applied.
func folders(fork tool.Toolchain, root string, all []file) ([]*folder, error) {
	own := make(map[string]string)
	std := make(map[string]bool) // packages of GOROOT
	for _, f := range all {
		inTest := strings.HasPrefix(f.path, "test/") && !strings.Contains(f.path, "/testdata/") && !strings.HasSuffix(f.path, "_test.go")
		if !strings.HasSuffix(f.path, ".go") || f.test() && !inTest {
			continue
		}
		place := root
		if below := strings.TrimPrefix(f.path, "src/"); below != f.path {
			place = fork.Goroot
			std[filepath.ToSlash(filepath.Dir(below))] = true
		}
		own[filepath.Join(place, filepath.FromSlash(f.path))] = f.path
	}
	s := &source{
		fset:    token.NewFileSet(),
		listed:  make(map[string]pkg),
		checked: make(map[string]*types.Package),
		own:     func(file string) string { return own[file] },
	}
	var patterns []string
	for path := range std {
		patterns = append(patterns, path)
	}
	sort.Strings(patterns)
	paths, err := s.list(fork, fork.Goroot, patterns...)
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{"misc/pmu", "test/pmu"} {
		more, err := s.list(fork, filepath.Join(root, dir), "./...")
		if err != nil {
			return nil, err
		}
		paths = append(paths, more...)
	}
	var found []*folder
	seen := make(map[string]bool)
	for _, path := range paths {
		n := 0
		for _, name := range s.listed[path].GoFiles {
			if own[filepath.Join(s.listed[path].Dir, name)] != "" {
				n++
			}
		}
		if n < 2 || seen[path] {
			continue
		}
		seen[path] = true
		d, err := s.folder(path)
		if err != nil {
			return nil, err
		}
		found = append(found, d)
	}
	return found, nil
}
