// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// status reports whether goroot is a build of the overlay as it is now. It prints the
// files that differ.
func status(w io.Writer, o *overlay, goroot string) error {
	s := readStamp(goroot)
	if s == nil {
		return fmt.Errorf("%s is not built: run ./make.bash", goroot)
	}
	edits, err := repo{goroot}.edits()
	if err != nil {
		return err
	}
	for _, path := range edits {
		fmt.Fprintln(w, "edited, not exported:", path)
	}
	switch {
	case len(edits) > 0:
		return fmt.Errorf("%s has %d files to export", goroot, len(edits))
	case s.Overlay != o.hash():
		return fmt.Errorf("%s was built from another state of the overlay: run ./make.bash", goroot)
	}
	fmt.Fprintf(w, "%s: %s, as in the overlay\n", goroot, o.release.forkVersion())
	return nil
}

// An exporter writes what was edited in a GOROOT back to the overlay.
type exporter struct {
	o      *overlay
	repo   repo     // the GOROOT
	under  []string // if any: only files that are, or lie in, one of these
	force  bool     // take the GOROOT's version where the overlay changed too
	stamp  *stamp
	output io.Writer
}

// run exports, prints what it wrote, and reports an error for each file that
// it could not export.
func (x *exporter) run() error {
	if x.stamp = readStamp(x.repo.dir); x.stamp == nil {
		return fmt.Errorf("%s is not built: run ./make.bash", x.repo.dir)
	}
	paths, err := x.repo.edits()
	if err != nil {
		return err
	}
	var errs []error
	done := 0
	for _, path := range paths {
		if !x.wanted(path) {
			continue
		}
		if err := x.exportFile(path); err != nil {
			errs = append(errs, err)
			continue
		}
		done++
		// What was exported is no longer an edit.
		_, err := x.repo.git("add", "-A", "-f", "--", path)
		errs = append(errs, err)
	}
	if done > 0 {
		x.stamp.Overlay = "" // the commands are not built from this yet
		_, err := x.repo.git("commit", "-q", "--no-verify", "-m", "export")
		errs = append(errs, err, x.stamp.write(x.repo.dir))
	}
	fmt.Fprintf(x.output, "%d files exported from %s\n", done, x.repo.dir)
	return errors.Join(errs...)
}

func (x *exporter) wanted(path string) bool {
	for _, u := range x.under {
		if u = strings.TrimSuffix(u, "/"); path == u || strings.HasPrefix(path, u+"/") {
			return true
		}
	}
	return len(x.under) == 0
}

// exportFile makes the overlay give path the content that it has in the GOROOT.
func (x *exporter) exportFile(path string) error {
	file, text, err := x.text(path)
	if err != nil {
		return err
	}
	old := x.o.files[file]
	if fileSum(old) == fileSum(text) {
		x.stamp.Files[file] = fileSum(text)
		return nil
	}
	if !x.force && fileSum(old) != x.stamp.Files[file] {
		return fmt.Errorf("%s: changed both here and in the overlay since the build: merge by hand, or use -force to take this one", path)
	}
	if err := x.o.put(file, text); err != nil {
		return err
	}
	x.stamp.Files[file] = fileSum(text)
	switch {
	case text == nil:
		fmt.Fprintln(x.output, "removed", file)
	case old == nil:
		fmt.Fprintln(x.output, "added", file)
	default:
		fmt.Fprintln(x.output, "wrote", file)
	}
	return nil
}

// text returns the overlay's file for path and the content that it gets, nil
// for none.
func (x *exporter) text(path string) (file string, text []byte, err error) {
	have, err := readIfExists(x.repo.dir, path)
	switch {
	case err != nil:
		return "", nil, err
	case x.repo.hasRelease(path):
		if have == nil {
			return "", nil, fmt.Errorf("%s: is deleted, and an overlay cannot delete upstream's files", path)
		}
		text, err = x.o.patch(x.repo, path)
		return path + ".patch", text, err
	case strings.HasSuffix(path, ".patch"):
		return "", nil, fmt.Errorf("%s: a new file can't have this name: the overlay would take it for a patch", path)
	}
	return path, have, nil
}

// patch returns the patch of the file path as it is in r, with the commentary
// that it has in o; nil if there is nothing to patch.
func (o *overlay) patch(r repo, path string) ([]byte, error) {
	diff, err := r.diff(path)
	if diff == "" || err != nil {
		return nil, err
	}
	return []byte(o.commentary(path) + diff), nil
}

// put writes a file of the overlay, or removes it if data is nil.
func (o *overlay) put(file string, data []byte) error {
	if fileSum(data) == fileSum(o.files[file]) {
		return nil
	}
	if data == nil {
		delete(o.files, file)
		return os.Remove(filepath.Join(o.root, filepath.FromSlash(file)))
	}
	o.files[file] = data
	return writeAll(o.root, map[string][]byte{file: data})
}
