// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

var (
	declaration = regexp.MustCompile(`^pkg (\S+), (?:(?:const|var|func|type) (\w+)|method \(\*?(\w+)[^)]*\) (\w+))`)
	member      = regexp.MustCompile(`^pkg \S+, type \w+(?:\[.*?\])? (?:struct|interface), (embedded .*|[A-Z]\w*)`)
)

// exportedName returns the package and the name that a line of an API file declares.
func exportedName(line string) (pkg, name string, ok bool) {
	m := declaration.FindStringSubmatch(line)
	if m == nil {
		return "", "", false
	}
	if m[3] != "" {
		return m[1], m[3] + "." + m[4], true
	}
	if mm := member.FindStringSubmatch(line); mm != nil {
		return m[1], m[2] + "." + mm[1], true
	}
	return m[1], m[2], true
}

// exportedNames counts the names that the files in dir, in the format of GOROOT/api,
// add to the API: constants, variables, functions and types, and the methods and fields
// of types. Each counts once, though a constant has a line for its type and one for its
// value, and an interface one for its methods and one for each.
func exportedNames(dir string) (section, error) {
	s := section{title: "exported names", columns: []column{{"names", nil}}}
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return s, err
	}
	names := make(map[string]map[string]bool)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return s, err
		}
		for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
			decl, _, _ := strings.Cut(line, " #")
			pkg, name, ok := exportedName(decl)
			if !ok {
				return s, fmt.Errorf("%s:%d: no declaration: %q", path, i+1, line)
			}
			if names[pkg] == nil {
				names[pkg] = make(map[string]bool)
			}
			names[pkg][name] = true
		}
	}
	for pkg, set := range names {
		s.rows = append(s.rows, row{name: pkg, numbers: []int{len(set)}})
	}
	sort.Slice(s.rows, func(i, j int) bool { return s.rows[i].name < s.rows[j].name })
	s.addSum()
	return s, nil
}
