// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// An overlay is what the fork adds to a release: new files, and patches of
// files that the release has. Paths are slash-separated, relative to GOROOT,
// and without the .patch of a patch file.
type overlay struct {
	root    string
	release release
	own     map[string][]byte // content of new files
	patches map[string][]byte // text of patches
}

// laidOver reports whether the overlay may change the file path of a GOROOT.
// What else the repository holds (api, doc, misc, test) stays there: the
// toolchain module has no such directories.
func laidOver(path string) bool {
	return path == "go.env" || strings.HasPrefix(path, "src/")
}

// generated are the files of a GOROOT that the build writes itself.
var generated = map[string]bool{"VERSION": true, zbootstrap: true}

// findRoot returns the directory that holds the overlay around dir.
func findRoot(dir string) (string, error) {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, filepath.FromSlash(releaseFile))); err == nil {
			return d, nil
		}
		if d == filepath.Dir(d) {
			return "", fmt.Errorf("no overlay (%s) in %s or above it", releaseFile, dir)
		}
	}
}

// loadOverlay reads the overlay at root.
func loadOverlay(root string) (*overlay, error) {
	rel, err := pinned(root)
	if err != nil {
		return nil, err
	}
	o := &overlay{root: root, release: rel, own: map[string][]byte{}, patches: map[string][]byte{}}
	paths, err := listFiles(root, "src")
	if err != nil {
		return nil, err
	}
	for _, path := range append(paths, "go.env.patch") {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
		switch target := strings.TrimSuffix(path, ".patch"); {
		case os.IsNotExist(err): // no go.env.patch
		case err != nil:
			return nil, err
		case isDropping(path):
		case strings.HasSuffix(path, conflictSuffix):
			return nil, fmt.Errorf("%s: resolve the conflicts in it, then run the resolve command", path)
		case generated[target]:
			return nil, fmt.Errorf("%s: the build writes %s itself", path, target)
		case target != path:
			o.patches[target] = data
		default:
			o.own[path] = data
		}
	}
	return o, nil
}

// hash identifies the overlay and the release that it is for.
func (o *overlay) hash() string {
	h := sha256.New()
	fmt.Fprintln(h, o.release.module())
	for _, files := range []map[string][]byte{o.own, o.patches} {
		for _, path := range sortedKeys(files) {
			fmt.Fprintf(h, "%q %d\n", path, len(files[path]))
			h.Write(files[path])
		}
		io.WriteString(h, "\n")
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// result returns the content that the overlay gives the file path of release
// p, which is p's own (nil if it has none) where the overlay has no say.
func (o *overlay) result(p *pristine, path string) ([]byte, error) {
	if data, ok := o.own[path]; ok {
		if p.has(path) {
			return nil, fmt.Errorf("%s: is in %s too: make it a patch or rename it", path, p.module)
		}
		return data, nil
	}
	base, err := p.read(path)
	if err != nil {
		return nil, err
	}
	text, ok := o.patches[path]
	if !ok {
		return base, nil
	}
	if !p.has(path) {
		return nil, fmt.Errorf("%s.patch: does not apply: %s has no such file", path, p.module)
	}
	parsed, err := parsePatch(path, text)
	if err != nil {
		return nil, err
	}
	return parsed.apply(base)
}

// results returns the content of all files that the overlay adds or changes.
// The error names every file that does not fit the release, one a line.
func (o *overlay) results(p *pristine) (map[string][]byte, error) {
	files := map[string][]byte{}
	var errs []error
	for _, path := range o.paths() {
		data, err := o.result(p, path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		files[path] = data
	}
	return files, errors.Join(errs...)
}

// paths returns the files that the overlay adds or changes, sorted.
func (o *overlay) paths() []string {
	paths := append(sortedKeys(o.own), sortedKeys(o.patches)...)
	sort.Strings(paths)
	return paths
}

// put makes data (nil: no file) the content that the overlay gives path of
// release p, in memory and in its directory, and says what it did.
func (o *overlay) put(p *pristine, path string, data []byte) (string, error) {
	base, err := p.read(path)
	if err != nil {
		return "", err
	}
	file, text, files := path, data, o.own
	switch {
	case data == nil && base != nil:
		return "", fmt.Errorf("%s: is deleted, and an overlay cannot delete upstream's files", path)
	case same(data, base): // neither has it, or it is upstream's again
		text = nil
	case base != nil:
		file, files = path+".patch", o.patches
		if text, err = makePatch(path, base, data); err != nil {
			return "", err
		}
	case strings.HasSuffix(path, ".patch"):
		return "", fmt.Errorf("%s: a new file can't be called so: the overlay takes it for a patch", path)
	}
	if text == nil {
		return o.remove(path)
	}
	verb := "wrote"
	if _, ok := files[path]; !ok {
		verb = "added"
	}
	files[path] = text
	return verb + " " + file, writeAll(o.root, map[string][]byte{file: text})
}

// remove takes path out of the overlay.
func (o *overlay) remove(path string) (string, error) {
	file := path
	if _, ok := o.patches[path]; ok {
		file += ".patch"
	}
	delete(o.own, path)
	delete(o.patches, path)
	return "removed " + file, os.Remove(filepath.Join(o.root, filepath.FromSlash(file)))
}

// same reports whether two files are the same, nil being one that isn't there.
func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

func sortedKeys(m map[string][]byte) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
