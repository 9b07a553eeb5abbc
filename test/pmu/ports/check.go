// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
)

// source is the files parsed so far, which most ports share.
type source struct {
	mu    sync.Mutex
	fset  *token.FileSet
	files map[string]*ast.File
}

func (s *source) parse(name string) (*ast.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[name]; f != nil {
		return f, nil
	}
	if s.files == nil {
		s.fset, s.files = token.NewFileSet(), make(map[string]*ast.File)
	}
	f, err := parser.ParseFile(s.fset, name, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s.files[name] = f
	return f, nil
}

// listed is what the go command says of a package.
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	ImportMap  map[string]string
}

// typeCheck type-checks the packages that go list lists with some flags, and all that they
// import, as they are on the port. Function bodies are checked in the packages themselves and in those
// that the fork changes; the others are upstream's.
func (c *checker) typeCheck(p port, packages []string, flags ...string) error {
	args := append([]string{"list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap"}, flags...)
	list, _, err := c.command(p, append(args, packages...)...)
	if err != nil {
		return err
	}
	whole, err := c.own()
	if err != nil {
		return err
	}
	for _, name := range packages {
		whole[name] = true
	}
	done := map[string]*types.Package{"unsafe": types.Unsafe}
	var errs []error
	for d := json.NewDecoder(strings.NewReader(string(list))); ; {
		var l listed
		if err := d.Decode(&l); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		path, _, _ := strings.Cut(l.ImportPath, " [") // with tests
		if l.ImportPath == "unsafe" || strings.HasSuffix(path, ".test") {
			continue
		}
		var files []*ast.File
		for _, name := range l.GoFiles {
			f, err := c.source.parse(filepath.Join(l.Dir, name))
			if err != nil {
				return err
			}
			files = append(files, f)
		}
		conf := types.Config{
			Importer: importer(func(path string) (*types.Package, error) {
				if mapped := l.ImportMap[path]; mapped != "" {
					path = mapped
				}
				if pkg := done[path]; pkg != nil { // imports are listed before their importers
					return pkg, nil
				}
				return nil, fmt.Errorf("%s is not listed before %s", path, l.ImportPath)
			}),
			IgnoreFuncBodies: !whole[strings.TrimSuffix(path, "_test")],

			Sizes: types.SizesFor("gc", p.arch),
			Error: func(err error) { errs = append(errs, err) },
		}
		done[l.ImportPath], _ = conf.Check(l.ImportPath, c.source.fset, files, nil)
	}
	return errors.Join(errs...)
}

// own returns the packages that have files or patches of the fork.
func (c *checker) own() (map[string]bool, error) {
	all := make(map[string]bool)
	if c.src == "" {
		return all, nil
	}
	err := filepath.WalkDir(c.src, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			dir, err := filepath.Rel(c.src, filepath.Dir(path))
			if err != nil {
				return err
			}
			all[filepath.ToSlash(dir)] = true
		}
		return err
	})
	return all, err
}

type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }
