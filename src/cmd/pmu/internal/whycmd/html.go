// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"io"
	"os"
	"path/filepath"
)

// writePage writes a page. A file that is there is replaced when all of the page
// has been written, and else stays as it is. What is no file, like /dev/stdout or a pipe, is
// written to.
func writePage(name string, write func(io.Writer) error) error {
	if fi, err := os.Stat(name); err == nil && !fi.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return writeAndClose(f, write)
	}
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".why-*.html")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	mode := os.FileMode(0o644)
	if fi, err := os.Stat(name); err == nil {
		mode = fi.Mode().Perm()
	}
	if err := f.Chmod(mode); err != nil {
		f.Close()
		return err
	}
	if err := writeAndClose(f, write); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

func writeAndClose(f *os.File, write func(io.Writer) error) error {
	err := write(f)
	if err2 := f.Close(); err == nil {
		err = err2
	}
	return err
}
