// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// rebaseRepo is the working tree in which the overlay at root is carried to
// another release. It has only the files that the overlay patches, and stays
// where conflicts are left.
func rebaseRepo(root string) repo { return repo{filepath.Join(root, "goroot.rebase")} }

// rebase writes to dir, which may be o's own, the overlay as it is for the
// release to. The error says that there are conflicts.
func rebase(w io.Writer, o *overlay, from, to *pristine, name, dir string) error {
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 && dir != o.root {
		return fmt.Errorf("%s is not empty: remove it, or name another directory", dir)
	}
	r := rebaseRepo(dir)
	if err := merge(r, o, from, to, name); err != nil {
		os.RemoveAll(r.dir)
		return err
	}
	// The only checksum is that of this platform, whose module was fetched and verified.
	text := fmt.Sprintf("%s%s\n%s %s\n", releaseComment, name, platform, to.sum)
	files := map[string][]byte{releaseFile: []byte(text)}
	for path, data := range o.files {
		files[path] = data
	}
	if err := writeAll(dir, files); err != nil {
		return err
	}
	clashes := 0
	for _, path := range sortedKeys(o.files) {
		if to.has(path) {
			fmt.Fprintf(w, "CONFLICT %s: upstream now has a file of this name\n", path)
			clashes++
		}
	}
	err = resolve(w, dir)
	if err == nil && clashes > 0 {
		err = fmt.Errorf("the overlay does not fit %s: %d conflicts", name, clashes)
	}
	return err
}

// merge makes r the sources of the release to with the overlay's patches, as
// git merges them.
func merge(r repo, o *overlay, from, to *pristine, name string) error {
	fill := func(p *pristine) error {
		files := map[string][]byte{"src/.keep": nil}
		for _, path := range o.patches() {
			data, err := p.read(path)
			if err != nil {
				return err
			}
			if files[path] = data; data == nil {
				delete(files, path)
				os.Remove(filepath.Join(r.dir, filepath.FromSlash(path)))
			}
		}
		return writeAll(r.dir, files)
	}
	steps := []func() error{
		r.init,
		func() error { return fill(from) },
		func() error { return r.commitRelease(o.release.name) },
		func() error { return o.applyTo(r, nil) },
		func() error { return r.commit("the overlay") },
		func() error { _, err := r.git("branch", "overlay"); return err },
		func() error { _, err := r.git("checkout", "-q", "--detach", releaseTag); return err },
		func() error { return fill(to) },
		func() error { return r.commitRelease(name) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	_, err := r.git("-c", "merge.conflictStyle=diff3", "-c", "merge.renames=false", "cherry-pick", "--no-commit", "overlay")
	if unmerged, _ := r.git("diff", "--name-only", "--diff-filter=U"); unmerged != "" {
		return nil // resolve says so
	}
	return err
}

// resolve makes patches of the merged files in the rebase of the overlay at
// root. While one has conflicts it writes none of them.
func resolve(w io.Writer, root string) error {
	r := rebaseRepo(root)
	if _, err := os.Stat(r.dir); err != nil {
		return fmt.Errorf("no rebase to resolve: there is no %s", r.dir)
	}
	o, err := readOverlay(root)
	if err != nil {
		return err
	}
	conflicts := 0
	patches := map[string][]byte{}
	for _, path := range o.patches() {
		data, err := readIfExists(r.dir, path)
		switch {
		case err != nil:
			return err
		case !r.hasRelease(path):
			fmt.Fprintf(w, "CONFLICT %s: upstream no longer has this file: remove its patch\n", path)
			conflicts++
			continue
		case bytes.Contains(append([]byte("\n"), data...), []byte("\n<<<<<<< ")):
			fmt.Fprintf(w, "CONFLICT %s: has conflict markers\n", path)
			conflicts++
			continue
		}
		if patches[path], err = o.patch(r, path); err != nil {
			return err
		}
	}
	if conflicts > 0 {
		return fmt.Errorf("the overlay does not fit %s: resolve %d conflicts in %s, then run: overlay resolve -overlay %s", o.release.name, conflicts, r.dir, root)
	}
	for _, path := range sortedKeys(patches) {
		text := patches[path]
		switch {
		case text == nil:
			fmt.Fprintf(w, "%s: upstream has our change now, the patch is gone\n", path)
		case !bytes.Equal(text, o.files[path+".patch"]):
			fmt.Fprintf(w, "%s: merged\n", path)
		}
		if err := o.put(path+".patch", text); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "%s: %d files\n", o.release.name, len(o.files))
	return os.RemoveAll(r.dir)
}

// rebaseTo fetches both releases and rebases. Without a directory it works in a
// temporary one, and only reports.
func rebaseTo(w io.Writer, o *overlay, name, dir string) error {
	from, err := o.release.fetch()
	if err != nil {
		return err
	}
	name = "go" + strings.TrimPrefix(name, "go")
	to, err := o.release.named(name).fetch()
	if err != nil {
		return err
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "overlay-rebase"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if err := rebase(w, o, from, to, name, dir); err != nil {
			return fmt.Errorf("%v (nothing is kept without -o)", err)
		}
		return nil
	}
	return rebase(w, o, from, to, name, dir)
}
