// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// A rebased overlay is one carried from its release to another.
type rebased struct {
	to        *pristine
	release   release
	files     map[string][]byte // its files by their path in the overlay
	notes     []string          // what a person should know, one line each
	conflicts []conflict
}

// A conflict is a file that needs a person.
type conflict struct {
	path   string
	why    string
	merged []byte // the file with conflict markers, nil if there is nothing to merge
}

// conflictSuffix marks, in an overlay, a merged file whose conflicts are to be
// resolved. Such an overlay does not load.
const conflictSuffix = ".conflict"

var conflictMarker = []byte("\n<<<<<<< ")

// rebase carries o, which fits the release from, to another one.
func rebase(o *overlay, from, to *pristine, r release) (*rebased, error) {
	rb := &rebased{to: to, release: r, files: map[string][]byte{}}
	for _, path := range sortedKeys(o.own) {
		rb.files[path] = o.own[path]
		if to.has(path) {
			rb.conflicts = append(rb.conflicts, conflict{path: path, why: "upstream now has a file of this name"})
		}
	}
	for _, path := range sortedKeys(o.patches) {
		if err := rb.carry(o, from, path); err != nil {
			return nil, err
		}
	}
	sort.Slice(rb.conflicts, func(i, j int) bool { return rb.conflicts[i].path < rb.conflicts[j].path })
	return rb, nil
}

// carry merges the overlay's change to the upstream file path.
func (rb *rebased) carry(o *overlay, from *pristine, path string) error {
	base, err := from.read(path)
	if err != nil {
		return err
	}
	theirs, err := rb.to.read(path)
	if err != nil {
		return err
	}
	ours, err := o.result(from, path)
	if err != nil {
		return err
	}
	switch {
	case theirs == nil:
		rb.files[path+".patch"] = o.patches[path]
		rb.conflicts = append(rb.conflicts, conflict{path: path, why: "upstream no longer has this file"})
		return nil
	case bytes.Equal(base, theirs):
		rb.files[path+".patch"] = o.patches[path]
		return nil
	}
	labels := [3]string{"the overlay", o.release.name, rb.release.name}
	merged, n, err := mergeFiles(base, ours, theirs, labels)
	if err != nil {
		return fmt.Errorf("%s: %v", path, err)
	}
	switch {
	case n > 0:
		rb.conflicts = append(rb.conflicts, conflict{path, fmt.Sprintf("%d conflicting places", n), merged})
		return nil
	case bytes.Equal(merged, theirs):
		rb.notes = append(rb.notes, path+": upstream has our change now, the patch is gone")
		return nil
	}
	text, err := makePatch(path, theirs, merged)
	if err != nil {
		return err
	}
	rb.notes = append(rb.notes, path+": merged")
	rb.files[path+".patch"] = text
	return nil
}

// report prints what a rebase did. The error says that there were conflicts.
func (rb *rebased) report(w io.Writer) error {
	for _, note := range rb.notes {
		fmt.Fprintln(w, note)
	}
	for _, c := range rb.conflicts {
		fmt.Fprintf(w, "CONFLICT %s: %s\n", c.path, c.why)
	}
	fmt.Fprintf(w, "%s: %d files, %d conflicts\n", rb.release.name, len(rb.files), len(rb.conflicts))
	if len(rb.conflicts) > 0 {
		return fmt.Errorf("the overlay does not fit %s: %d conflicts", rb.release.name, len(rb.conflicts))
	}
	return nil
}

// write makes dir an overlay for the new release, replacing the one that dir
// holds if it is old's own directory.
func (rb *rebased) write(dir string, old *overlay) error {
	if dir != old.root {
		if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
			return fmt.Errorf("%s is not empty: remove it, or name another directory", dir)
		}
	}
	files := map[string][]byte{releaseFile: rb.releaseText()}
	for path, data := range rb.files {
		files[path] = data
	}
	for _, c := range rb.conflicts {
		if c.merged != nil {
			files[c.path+conflictSuffix] = c.merged
		}
	}
	if dir == old.root {
		for _, path := range sortedKeys(old.patches) {
			if files[path+".patch"] == nil {
				if err := os.Remove(filepath.Join(dir, filepath.FromSlash(path+".patch"))); err != nil {
					return err
				}
			}
		}
	}
	return writeAll(dir, files)
}

// releaseText is the file that pins the new release, with the checksum for
// this platform, which is the only one that was fetched and so verified.
func (rb *rebased) releaseText() []byte {
	return []byte(fmt.Sprintf("%s%s\n%s %s\n", releaseComment, rb.release.name, platform, rb.to.sum))
}

// resolve turns the merged files whose conflicts a person has resolved, in
// the overlay at root, into patches.
func resolve(w io.Writer, root string, fetch func(release) (*pristine, error)) error {
	r, err := pinned(root)
	if err != nil {
		return err
	}
	p, err := fetch(r)
	if err != nil {
		return err
	}
	paths, err := conflictFiles(root)
	if err != nil {
		return err
	}
	var errs []error
	for _, path := range paths {
		said, err := resolveFile(root, p, path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		fmt.Fprintln(w, said)
	}
	return errors.Join(errs...)
}

// conflictFiles returns the merged files in the overlay at root.
func conflictFiles(root string) ([]string, error) {
	paths, err := listFiles(root, "src")
	if err != nil {
		return nil, err
	}
	var list []string
	for _, path := range append(paths, "go.env"+conflictSuffix) {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(path))); err == nil && strings.HasSuffix(path, conflictSuffix) {
			list = append(list, path)
		}
	}
	return list, nil
}

func resolveFile(root string, p *pristine, path string) (string, error) {
	name := filepath.Join(root, filepath.FromSlash(path))
	merged, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	if bytes.Contains(append([]byte("\n"), merged...), conflictMarker) {
		return "", fmt.Errorf("%s: has conflict markers left", path)
	}
	o := &overlay{root: root, own: map[string][]byte{}, patches: map[string][]byte{}}
	said, err := o.put(p, strings.TrimSuffix(path, conflictSuffix), merged)
	if err != nil {
		return "", err
	}
	return said, os.Remove(name)
}
