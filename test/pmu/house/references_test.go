// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pmu/internal/tool"
)

func TestReferences(t *testing.T) {
	s := &source{
		fset:    token.NewFileSet(),
		listed:  make(map[string]pkg),
		checked: make(map[string]*types.Package),
		own: func(file string) string {
			dir, base := filepath.Split(file)
			if filepath.Base(dir) != "references" || base == "upstream.go" {
				return ""
			}
			return filepath.Join("folder", base)
		},
	}
	paths, err := s.list(tool.MustFork(t), ".", "./testdata/references")
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.folder(paths[len(paths)-1])
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range d.arrows {
		got = append(got, fmt.Sprintf("%s -> %s: %s", d.files[a.from], d.files[a.to], strings.Join(a.names, " ")))
	}
	want := []string{
		"helper.go -> bottom.go: bottom",
		"helper.go -> middle.go: middle work",
		"middle.go -> helper.go: depth help helper",
		"top.go -> bottom.go: bottom",
		"top.go -> middle.go: count middle work",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	acyclic := &folder{name: "acyclic", files: []string{"a.go", "b.go"}, arrows: []arrow{{1, 0, []string{"f"}}}}
	refs := references([]*folder{d, acyclic})
	checkRows(t, refs, "folder 1 5", "all 1 6")
	// Either of the cycle's two arrows could run up. One has fewer names.
	if got, want := refs.rows[0].details, []string{"helper.go names of middle.go: middle work"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
