// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// maxInitrd limits what is shipped: the guest holds it twice while it boots.
const maxInitrd = 512 << 20

// An initrd writes the guest's root file system: a cpio archive in the "new
// ASCII" format (Documentation/driver-api/early-userspace/buffer-format.rst
// in the kernel). All times in it are zero and inodes count up, so that equal
// contents give equal archives and the guest boots the same way.
type initrd struct {
	w     *bufio.Writer
	n     int64 // bytes written
	inode int
	has   map[string]bool // paths already in the archive
	err   error           // the first error; later calls do nothing
}

func newInitrd(w io.Writer) *initrd {
	return &initrd{w: bufio.NewWriterSize(w, 1<<20), has: make(map[string]bool)}
}

// dir adds a directory, with its parents.
func (a *initrd) dir(name string) {
	name = path.Clean(name)
	if name == "/" || a.has[name] {
		return
	}
	a.dir(path.Dir(name))
	a.entry(name, 0o040755, nil)
}

// file adds a regular file, with its parents. A file that is there stays.
func (a *initrd) file(name string, perm fs.FileMode, data []byte) {
	name = path.Clean(name)
	if a.has[name] {
		return
	}
	a.dir(path.Dir(name))
	a.entry(name, 0o100000|int(perm.Perm()), data)
}

// copy adds the host's file src under name.
func (a *initrd) copy(name, src string) {
	if a.err != nil {
		return
	}
	fi, err := os.Stat(src)
	if err != nil {
		a.err = err
		return
	}
	data, err := os.ReadFile(src)
	if err != nil {
		a.err = err
		return
	}
	a.file(name, fi.Mode(), data)
}

// tree adds the host's file or directory root, whole, at the same path.
// Things other than files and directories are left out.
func (a *initrd) tree(root string) {
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			a.dir(p)
		case isFile(p, d):
			a.copy(p, p)
		}
		return a.err
	})
	if a.err == nil {
		a.err = err
	}
}

// flat adds the regular files in the host's directory dir, and its testdata.
func (a *initrd) flat(dir string) {
	a.dir(dir)
	list, err := os.ReadDir(dir)
	if err != nil && a.err == nil {
		a.err = err
	}
	for _, d := range list {
		p := filepath.Join(dir, d.Name())
		if d.IsDir() && d.Name() == "testdata" {
			a.tree(p)
		} else if isFile(p, d) {
			a.copy(p, p)
		}
	}
}

// isFile reports whether p is a regular file, itself or through a link.
func isFile(p string, d fs.DirEntry) bool {
	if d.Type()&fs.ModeSymlink == 0 {
		return d.Type().IsRegular()
	}
	fi, err := os.Stat(p)
	return err == nil && fi.Mode().IsRegular()
}

// entry writes one archive member. A name is stored without its leading
// slash, and both header with name and data are padded to 4 bytes.
func (a *initrd) entry(name string, mode int, data []byte) {
	if a.err != nil {
		return
	}
	a.has[name] = true
	a.inode++
	if name[0] == '/' {
		name = name[1:]
	}
	a.printf("070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%s\x00",
		a.inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name)+1, 0, name)
	a.pad()
	a.write(data)
	a.pad()
}

func (a *initrd) printf(format string, args ...any) {
	a.write([]byte(fmt.Sprintf(format, args...)))
}

func (a *initrd) pad() {
	a.write(make([]byte, -a.n&3))
}

func (a *initrd) write(p []byte) {
	if a.err != nil {
		return
	}
	if a.n += int64(len(p)); a.n > maxInitrd {
		a.err = fmt.Errorf("the program, its directory and PMUVM_FILES are more than %d MiB", maxInitrd>>20)
		return
	}
	_, a.err = a.w.Write(p)
}

// close ends the archive and returns the first error.
func (a *initrd) close() error {
	a.entry("TRAILER!!!", 0, nil)
	if a.err == nil {
		a.err = a.w.Flush()
	}
	return a.err
}
