// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// An overlay is what the fork adds to a release: new files, and patches of
// files that the release has. Paths are slash-separated and relative to GOROOT.
type overlay struct {
	root    string
	release release
	files   map[string][]byte // by path; that of a patch ends in .patch
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
	if _, err := os.Stat(rebaseRepo(root).dir); err == nil {
		return nil, fmt.Errorf("%s has conflicts of a rebase: resolve them, then run the resolve command", rebaseRepo(root).dir)
	}
	return readOverlay(root)
}

// readOverlay is loadOverlay also while a rebase is unfinished.
func readOverlay(root string) (*overlay, error) {
	rel, err := pinned(root)
	if err != nil {
		return nil, err
	}
	o := &overlay{root: root, release: rel, files: map[string][]byte{}}
	paths, err := listFiles(root, "src")
	if err != nil {
		return nil, err
	}
	for _, path := range append(paths, "go.env.patch") {
		data, err := readIfExists(root, path)
		switch target := strings.TrimSuffix(path, ".patch"); {
		case err != nil:
			return nil, err
		case data == nil || isDropping(path):
		case generated[target]:
			return nil, fmt.Errorf("%s: the build writes %s itself", path, target)
		default:
			o.files[path] = data
		}
	}
	return o, nil
}

// patches returns the upstream files that the overlay changes, sorted.
func (o *overlay) patches() []string {
	var paths []string
	for _, file := range sortedKeys(o.files) {
		if path := strings.TrimSuffix(file, ".patch"); path != file {
			paths = append(paths, path)
		}
	}
	return paths
}

// commentary returns what stands before the diff in the patch of the file path.
func (o *overlay) commentary(path string) string {
	text := "\n" + string(o.files[path+".patch"])
	if before, _, ok := strings.Cut(text, "\n--- "); ok && before != "" {
		return before[1:] + "\n"
	}
	return ""
}

// checkForm reports an error unless the patch of the file path is a zero-context
// diff of that file alone.
func (o *overlay) checkForm(path string) error {
	diff := strings.TrimPrefix(string(o.files[path+".patch"]), o.commentary(path))
	if header := fmt.Sprintf("--- a/%s\n+++ b/%[1]s\n@@ ", path); !strings.HasPrefix(diff, header) {
		return fmt.Errorf("%s.patch: its diff does not begin with %q", path, header)
	}
	for _, line := range strings.Split(diff, "\n")[2:] {
		if strings.HasPrefix(line, " ") {
			return fmt.Errorf("%s.patch: has context lines; the overlay keeps no upstream text but what it replaces (use diff -U0)", path)
		}
	}
	return nil
}

// checkCommentary reports an error unless each patch begins with a sentence.
func (o *overlay) checkCommentary() error {
	var errs []error
	for _, path := range o.patches() {
		if text := strings.TrimSpace(o.commentary(path)); len(strings.Fields(text)) < 3 || !strings.HasSuffix(text, ".") {
			errs = append(errs, fmt.Errorf("%s.patch: does not begin with a sentence that says what it is for", path))
		}
	}
	return errors.Join(errs...)
}

// footprint prints how many lines of each upstream file the overlay adds and
// removes, which is what every new release has to be reconciled with, and how
// much the overlay has of its own.
func footprint(w io.Writer, o *overlay) error {
	added, removed := 0, 0
	fmt.Fprintf(w, "%7s %7s  upstream file (%s)\n", "added", "removed", o.release.name)
	for _, path := range o.patches() {
		out, err := repo{o.root}.git("apply", "--numstat", "--unidiff-zero", path+".patch")
		if err != nil {
			return err
		}
		var a, r int
		if _, err := fmt.Sscan(out, &a, &r); err != nil {
			return fmt.Errorf("%s.patch: git apply --numstat wrote %q", path, out)
		}
		added, removed = added+a, removed+r
		fmt.Fprintf(w, "%7d %7d  %s\n", a, r, path)
	}
	fmt.Fprintf(w, "%7d %7d  total, %d files\n\n", added, removed, len(o.patches()))

	var files, lines [2]int // code, tests
	for path, data := range o.files {
		if strings.HasSuffix(path, ".patch") {
			continue
		}
		kind := 0
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/testdata/") {
			kind = 1
		}
		files[kind]++
		lines[kind] += strings.Count(string(data), "\n")
	}
	fmt.Fprintf(w, "%7d lines in %d own files, and %d in %d of tests and their data\n", lines[0], files[0], lines[1], files[1])
	return o.checkCommentary()
}

// A stamp says what a GOROOT was built from. Build writes it last, so a tree
// without one is not a finished build of ours.
type stamp struct {
	Overlay string            // overlay.hash at the time of the build
	Files   map[string]string // sums of the overlay's files then, or since exported
}

// stampFile names the file in a GOROOT that holds its stamp.
const stampFile = "overlay.stamp"

// recipe is raised when the build changes in a way that makes what an
// earlier one built out of date.
const recipe = 4

// hash identifies the overlay, the release that it is for, and the recipe.
func (o *overlay) hash() string {
	h := sha256.New()
	fmt.Fprintln(h, recipe, o.release.module(), o.release.forkVersion())
	for _, path := range sortedKeys(o.files) {
		fmt.Fprintf(h, "%q %s\n", path, fileSum(o.files[path]))
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// fileSum returns data's checksum, "" for nil, which is no file.
func fileSum(data []byte) string {
	if data == nil {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

// stamp returns the stamp of a GOROOT that is built from o.
func (o *overlay) stamp() *stamp {
	s := &stamp{o.hash(), map[string]string{}}
	for path, data := range o.files {
		s.Files[path] = fileSum(data)
	}
	return s
}

// readStamp returns the stamp of goroot, nil if it has none.
func readStamp(goroot string) *stamp {
	s := new(stamp)
	data, err := os.ReadFile(filepath.Join(goroot, stampFile))
	if err != nil || json.Unmarshal(data, s) != nil {
		return nil
	}
	return s
}

// write makes s the stamp of goroot, at once or not at all.
func (s *stamp) write(goroot string) error {
	data, err := json.MarshalIndent(s, "", "\t")
	if err != nil {
		return err
	}
	tmp := filepath.Join(goroot, stampFile+".tmp")
	if err := os.WriteFile(tmp, data, 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(goroot, stampFile))
}

func sortedKeys[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
