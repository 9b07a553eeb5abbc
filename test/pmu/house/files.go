// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"pmu/internal/tool"
)

// A file is one of the repository's own, or a patch of one of upstream's.
type file struct {
	path string // from the root, with slashes
	text []byte
}

func (f file) lines() int { return bytes.Count(f.text, []byte("\n")) }

// test reports whether the file is part of a test. All of test/pmu is.
func (f file) test() bool {
	return strings.HasSuffix(strings.TrimSuffix(f.path, ".patch"), "_test.go") ||
		strings.Contains(f.path, "/testdata/") || strings.HasPrefix(f.path, "test/")
}

// goCode reports whether the file is Go that is no part of a test.
func (f file) goCode() bool { return strings.HasSuffix(f.path, ".go") && !f.test() }

// files returns the files of text in the repository at root: those that git has and
// those that it does not ignore.
func files(root string) ([]file, error) {
	out, err := tool.Output(exec.Command("git", "-C", root, "ls-files", "-co", "--exclude-standard", "-z"))
	if err != nil {
		return nil, err
	}
	var all []file
	for _, path := range strings.Split(strings.TrimSuffix(out, "\x00"), "\x00") {
		name := filepath.Join(root, filepath.FromSlash(path))
		if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
			continue // removed, and git still has it
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if bytes.IndexByte(text, 0) < 0 {
			all = append(all, file{path, text})
		}
	}
	return all, nil
}
