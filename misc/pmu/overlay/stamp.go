// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// stampFile names the file in a GOROOT that says what it was built from.
const stampFile = "overlay.stamp"

// recipe is raised when the build changes in a way that makes what an
// earlier one built out of date.
const recipe = 3

// A stamp says what a GOROOT was built from. Build writes it last, so a tree
// without one is not a finished build of ours; export keeps Files up to date.
type stamp struct {
	Recipe  int
	Overlay string            // overlay.hash at the time of the build
	Release string            // of upstream
	Version string            // of the fork
	Files   map[string]string // fileSum of what the overlay gave each of its files
}

func fileSum(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// readStamp returns the stamp of goroot, nil if it has none (or one that
// can't be read, which leaves it no better than a tree from elsewhere).
func readStamp(goroot string) *stamp {
	data, err := os.ReadFile(filepath.Join(goroot, stampFile))
	if err != nil {
		return nil
	}
	s := new(stamp)
	if json.Unmarshal(data, s) != nil {
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
	if err := os.WriteFile(tmp, append(data, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(goroot, stampFile))
}

// current reports whether a tree with stamp s is a finished build of o.
func (s *stamp) current(o *overlay) bool {
	return s != nil && s.Recipe == recipe && s.Overlay == o.hash() && s.Version == o.release.forkVersion()
}

// edits returns the files of goroot that differ from what s says was laid
// over p: what was edited there and has not been exported. A nil s takes all
// that differs from p.
func (s *stamp) edits(goroot string, p *pristine) ([]string, error) {
	laid := map[string]string{}
	if s != nil {
		laid = s.Files
	}
	paths, err := listFiles(goroot, "src")
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i, path := range paths {
		if strings.HasSuffix(path, "/_go.mod") {
			paths[i] = strings.TrimSuffix(path, "_go.mod") + "go.mod"
		}
		seen[paths[i]] = true
	}
	for path := range p.stored {
		if laidOver(path) && !seen[path] {
			paths = append(paths, path)
		}
	}
	for path := range laid {
		if !seen[path] && !p.has(path) {
			paths = append(paths, path)
		}
	}

	edited := make([]bool, len(paths))
	err = parallel(len(paths), func(i int) (err error) {
		edited[i], err = isEdited(goroot, p, paths[i], laid[paths[i]])
		return err
	})
	var list []string
	for i, path := range paths {
		if edited[i] {
			list = append(list, path)
		}
	}
	return list, err
}

// isEdited reports whether the file path of goroot is neither what was laid
// over it, whose sum is laid, nor, if laid is empty, the release's.
func isEdited(goroot string, p *pristine, path, laid string) (bool, error) {
	if generated[path] || isDropping(path) && !p.has(path) {
		return false, nil
	}
	data, err := readIfExists(goroot, path)
	if err != nil {
		return false, err
	}
	if laid != "" {
		return data == nil || fileSum(data) != laid, nil
	}
	base, err := p.read(path)
	return !same(data, base), err
}

// readIfExists returns the content of the file path of goroot, nil if there is
// no such file. A tree made by hand may have its go.mod files as packed.
func readIfExists(goroot, path string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(goroot, filepath.FromSlash(path)))
	if os.IsNotExist(err) {
		if base := strings.TrimSuffix(path, "/go.mod"); base != path {
			return readIfExists(goroot, base+"/_go.mod")
		}
		return nil, nil
	}
	return data, err
}
