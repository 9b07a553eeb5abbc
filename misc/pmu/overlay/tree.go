// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"sync"
)

// A pristine is an unpacked toolchain module: the release, untouched.
//
// The module packs each go.mod as _go.mod, so that its directory is not taken for
// another module. Paths here are slash-separated paths in the real GOROOT.
type pristine struct {
	dir    string
	module string            // path@version, which its checksum covers
	sum    string            // the checksum, "h1:..."
	stored map[string]string // path in GOROOT → path under dir
}

// openPristine lists the toolchain module unpacked in dir.
func openPristine(dir, module, sum string) (*pristine, error) {
	p := &pristine{dir: dir, module: module, sum: sum, stored: map[string]string{}}
	paths, err := listFiles(dir, "")
	if err != nil {
		return nil, err
	}
	packed := map[string]bool{}
	for _, path := range paths {
		if base := strings.TrimSuffix(path, "_go.mod"); base != path {
			packed[base+"go.mod"] = true
			p.stored[base+"go.mod"] = path
		}
	}
	for _, path := range paths {
		// A go.mod next to a _go.mod is a copy that the go command made
		// when it used this toolchain itself.
		if !packed[path] && !strings.HasSuffix(path, "_go.mod") {
			p.stored[path] = path
		}
	}
	return p, nil
}

// has reports whether the release has the file path.
func (p *pristine) has(path string) bool { return p.stored[path] != "" }

// read returns the content of the file path, nil if the release has none.
func (p *pristine) read(path string) ([]byte, error) {
	if !p.has(path) {
		return nil, nil
	}
	return os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(p.stored[path])))
}

// copyTo copies the release to dir, writable, and verifies that what it
// copied has the module's checksum: a module cache can have been edited.
func (p *pristine) copyTo(dir string) error {
	paths := make([]string, 0, len(p.stored))
	for path := range p.stored {
		paths = append(paths, path)
	}
	sums := make([]string, len(paths)) // lines of dirhash.Hash1
	err := parallel(len(paths), func(i int) error {
		data, err := p.read(paths[i])
		if err != nil {
			return err
		}
		sums[i] = fmt.Sprintf("%x  %s/%s\n", sha256.Sum256(data), p.module, p.stored[paths[i]])
		return writeFile(filepath.Join(dir, filepath.FromSlash(paths[i])), data, mode(paths[i], data))
	})
	if err != nil {
		return err
	}
	sort.Slice(sums, func(i, j int) bool { return nameOf(sums[i]) < nameOf(sums[j]) })
	all := sha256.New()
	for _, s := range sums {
		all.Write([]byte(s))
	}
	if got := "h1:" + base64.StdEncoding.EncodeToString(all.Sum(nil)); got != p.sum {
		return sumError(p.module+" in "+p.dir, got, p.sum)
	}
	return nil
}

// nameOf returns the file name in a line of dirhash.Hash1's, its sort key.
func nameOf(line string) string { return line[2*sha256.Size+2:] }

// mode returns the mode that the file gets in a GOROOT. The module has no modes:
// executables are known by their directory or their first bytes.
func mode(path string, data []byte) fs.FileMode {
	if strings.HasPrefix(path, "bin/") || strings.HasPrefix(path, "pkg/tool/") || bytes.HasPrefix(data, []byte("#!")) {
		return 0o755
	}
	return 0o644
}

// listFiles returns the regular files under root/sub, as sorted
// slash-separated paths relative to root. None is no error.
func listFiles(root, sub string) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(filepath.Join(root, filepath.FromSlash(sub)), func(name string, d fs.DirEntry, err error) error {
		switch {
		case os.IsNotExist(err):
			return nil
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.Type().IsRegular():
			rel, err := filepath.Rel(root, name)
			if err != nil {
				return err
			}
			paths = append(paths, filepath.ToSlash(rel))
		}
		return nil
	})
	sort.Strings(paths)
	return paths, err
}

// droppings are the names of files that builds, tests and editors leave
// in a source tree.
var droppings = []string{"*.test", "*.exe", "*.prof", "*.pprof", "*.out", "*.orig", "*.rej", "*~", "[#]*#", ".#*", "*.sw[op]", ".DS_Store"}

// isDropping reports whether path is one of those. In testdata, a profile may be a
// source file.
func isDropping(path string) bool {
	if strings.Contains(path, "/testdata/") {
		return false
	}
	for _, pattern := range droppings {
		if ok, _ := filepath.Match(pattern, path[strings.LastIndex(path, "/")+1:]); ok {
			return true
		}
	}
	return false
}

// writeFile writes a file, making its directory if need be.
func writeFile(name string, data []byte, perm fs.FileMode) error {
	err := os.WriteFile(name, data, perm)
	if os.IsNotExist(err) {
		if err = os.MkdirAll(filepath.Dir(name), 0o777); err == nil {
			err = os.WriteFile(name, data, perm)
		}
	}
	return err
}

// writeAll writes files, by slash-separated path, under dir.
func writeAll(dir string, files map[string][]byte) error {
	for path, data := range files {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(path)), data, mode(path, data)); err != nil {
			return err
		}
	}
	return nil
}

// parallel runs f(0) to f(n-1) on all processors and returns the first error.
func parallel(n int, f func(int) error) error {
	var (
		wg    sync.WaitGroup
		once  sync.Once
		first error
	)
	next := make(chan int)
	for p := 0; p < runtime.GOMAXPROCS(0); p++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range next {
				if err := f(i); err != nil {
					once.Do(func() { first = err })
				}
			}
		}()
	}
	for i := 0; i < n; i++ {
		next <- i
	}
	close(next)
	wg.Wait()
	return first
}

// readIfExists returns the content of the file path under root, nil if there is
// no such file.
func readIfExists(root, path string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if os.IsNotExist(err) {
		return nil, nil
	}
	return append([]byte{}, data...), err // an empty file is one
}
