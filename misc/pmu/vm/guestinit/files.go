// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && (arm64 || riscv64)

package main

import (
	"archive/tar"
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
	"unsafe"

	"pmu/vm/guestspec"
)

// A stamp distinguishes a file that the program wrote from one that was shipped.
type stamp struct {
	size int64
	mod  time.Time
}

// snapshot records the regular files below dir. An empty dir has none.
func snapshot(dir string) (map[string]stamp, error) {
	files := make(map[string]stamp)
	if dir == "" {
		return files, nil
	}
	err := walkFiles(dir, func(rel string, fi fs.FileInfo) error {
		files[rel] = stamp{fi.Size(), fi.ModTime()}
		return nil
	})
	return files, err
}

func walkFiles(dir string, f func(rel string, fi fs.FileInfo) error) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return f(rel, fi)
	})
}

// saveFiles writes the files below dir that are new or changed since before
// to the disk, as a tar archive.
func saveFiles(dir string, before map[string]stamp) error {
	if err := loadModules(); err != nil {
		return err
	}
	disk, err := os.OpenFile(guestspec.Disk, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("saving files: %v", err)
	}
	buf := bufio.NewWriterSize(disk, 1<<20)
	w := tar.NewWriter(buf)
	err = walkFiles(dir, func(rel string, fi fs.FileInfo) error {
		if before[rel] == (stamp{fi.Size(), fi.ModTime()}) {
			return nil
		}
		return addFile(w, filepath.Join(dir, rel), rel, fi)
	})
	for _, finish := range []func() error{w.Close, buf.Flush, disk.Sync, disk.Close} {
		if err == nil {
			err = finish()
		}
	}
	if err != nil {
		return fmt.Errorf("saving files: %v", err)
	}
	return nil
}

func addFile(w *tar.Writer, path, rel string, fi fs.FileInfo) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	h := &tar.Header{
		Name: filepath.ToSlash(rel), Mode: int64(fi.Mode().Perm()),
		Size: int64(len(data)), ModTime: fi.ModTime(),
	}
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// loadModules loads the disk's drivers: finit_module(2). Those that are not there are
// part of the kernel.
func loadModules() error {
	for _, name := range guestspec.Modules {
		f, err := os.Open(filepath.Join(guestspec.ModuleDir, name))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("saving files: %v", err)
		}
		params := []byte{0}
		_, _, errno := syscall.Syscall(syscall.SYS_FINIT_MODULE, f.Fd(), uintptr(unsafe.Pointer(&params[0])), 0)
		f.Close()
		if errno != 0 {
			return fmt.Errorf("saving files: load %s: %v", name, errno)
		}
	}
	return nil
}
