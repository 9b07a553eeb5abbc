// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"archive/tar"
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// fetch unpacks the guest's disk into PMUVM_OUT. Nothing happens when that is
// not set.
func (m *machine) fetch() error {
	if m.opt.Out == "" {
		return nil
	}
	f, err := os.Open(m.diskPath())
	if err != nil {
		return err
	}
	defer f.Close()
	if err := untar(m.opt.Out, tar.NewReader(bufio.NewReader(f))); err != nil {
		return fmt.Errorf("fetching files: %v", err)
	}
	return nil
}

func untar(dir string, r *tar.Reader) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for {
		h, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if !filepath.IsLocal(h.Name) {
			return fmt.Errorf("name %q leaves the directory", h.Name)
		}
		if err := writeFile(filepath.Join(dir, h.Name), fs.FileMode(h.Mode).Perm(), r); err != nil {
			return err
		}
	}
}

func writeFile(name string, perm fs.FileMode, r io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
