// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
)

// An exporter writes what was edited in a GOROOT back to the overlay.
type exporter struct {
	o      *overlay
	p      *pristine
	goroot string
	under  []string // if any: only files that are, or lie in, one of these
	force  bool     // take the GOROOT's version where the overlay changed too
	prune  bool     // a GOROOT without a stamp is complete: see candidates
}

// run exports, prints what it wrote, and reports an error for each file that
// it could not export.
func (x *exporter) run(w io.Writer) error {
	s := readStamp(x.goroot)
	paths, err := x.candidates(s)
	if err != nil {
		return err
	}
	var errs []error
	done := 0
	for _, path := range paths {
		said, err := x.exportFile(s, path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if said != "" {
			done++
			fmt.Fprintln(w, said)
		}
	}
	fmt.Fprintf(w, "%d files exported from %s\n", done, x.goroot)
	if s != nil {
		// What was exported is no longer an edit. Overlay stays the
		// hash of what was built, so the next build sees the change.
		errs = append(errs, s.write(x.goroot))
	}
	return errors.Join(errs...)
}

// candidates returns the files that may have to be exported. A GOROOT that
// build made has a stamp, and what differs from it was edited. Of any other
// tree it is unknown which version of the overlay it started from: all that
// differs from the release counts as edited there, and a file of the overlay
// that the tree does not have counts only if prune says that it should.
func (x *exporter) candidates(s *stamp) ([]string, error) {
	all, err := s.edits(x.goroot, x.p)
	if err != nil {
		return nil, err
	}
	if s == nil && x.prune {
		all = append(all, x.o.paths()...)
	}
	var paths []string
	for _, path := range all {
		if x.wanted(path) {
			paths = append(paths, path)
		}
	}
	sort.Strings(paths)
	return paths, nil
}

func (x *exporter) wanted(path string) bool {
	for _, u := range x.under {
		if u = strings.TrimSuffix(u, "/"); path == u || strings.HasPrefix(path, u+"/") {
			return true
		}
	}
	return len(x.under) == 0
}

// exportFile makes the overlay give path the content that it has in the
// GOROOT, and says what it did, if anything.
func (x *exporter) exportFile(s *stamp, path string) (string, error) {
	have, err := readIfExists(x.goroot, path)
	if err != nil {
		return "", err
	}
	// An overlay that does not fit the release says nothing about path.
	give, giveErr := x.o.result(x.p, path)
	said := ""
	if giveErr != nil || !same(have, give) {
		if s != nil && !x.force && (giveErr != nil || x.movedOn(s, path, give)) {
			return "", fmt.Errorf("%s: changed both here and in the overlay since the build: merge by hand, or use -force to take this one", path)
		}
		if said, err = x.o.put(x.p, path, have); err != nil {
			return "", err
		}
	}
	if s != nil {
		delete(s.Files, path)
		if base, err := x.p.read(path); err != nil || !same(have, base) {
			s.Files[path] = fileSum(have)
		}
	}
	return said, nil
}

// movedOn reports whether give, what the overlay now gives path, is not what
// it gave when the GOROOT was built.
func (x *exporter) movedOn(s *stamp, path string, give []byte) bool {
	if laid := s.Files[path]; laid != "" {
		return give == nil || fileSum(give) != laid
	}
	base, err := x.p.read(path)
	return err != nil || !same(give, base)
}
