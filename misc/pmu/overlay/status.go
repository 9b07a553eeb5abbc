// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"io"
)

// status says whether goroot is a build of the overlay as it is now. The
// error says that it is not, what differs having been printed.
func status(w io.Writer, o *overlay, goroot string, fetch func(release) (*pristine, error)) error {
	s := readStamp(goroot)
	if s == nil {
		return fmt.Errorf("%s is not built: run ./make.bash", goroot)
	}
	p, err := fetch(o.release.named(s.Release))
	if err != nil {
		return err
	}
	edits, err := s.edits(goroot, p)
	if err != nil {
		return err
	}
	for _, path := range edits {
		fmt.Fprintln(w, "edited, not exported:", path)
	}
	switch {
	case len(edits) > 0:
		return fmt.Errorf("%s has %d files to export", goroot, len(edits))
	case !s.current(o):
		return fmt.Errorf("%s was built from another state of the overlay: run ./make.bash", goroot)
	}
	fmt.Fprintf(w, "%s: %s, as in the overlay\n", goroot, s.Version)
	return nil
}
