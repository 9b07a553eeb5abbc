// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTypeCheck checks a package that is right on some ports only: a name is
// missing on one, a constant too large for another's words, and something that
// it imports is wrong on a third.
func TestTypeCheck(t *testing.T) {
	c := &checker{goroot: build.Default.GOROOT, dir: t.TempDir()}
	for name, text := range map[string]string{
		"go.mod":         "module m\n\ngo 1.21\n",
		"m.go":           "package m\n\nimport \"m/other\"\n\nvar V = name + other.Name\n\nfunc f() int { return 1 << 40 }\n",
		"m_unix.go":      "//go:build unix\n\npackage m\n\nconst name = 1\n",
		"m_js.go":        "package m\n\nconst name = 1\n",
		"other/other.go": "package other\n\nconst Name = 1\n",
		"other/o_js.go":  "package other\n\nvar x string = 1\n",
	} {
		name = filepath.Join(c.dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		port port
		want string
	}{
		{port{"linux", "amd64"}, ""},
		{port{"windows", "amd64"}, "undefined: name"},
		{port{"linux", "386"}, "1 << 40"},
		{port{"js", "wasm"}, "o_js.go:3"},
	} {
		err := c.typeCheck(test.port, []string{"m"})
		if test.want == "" {
			if err != nil {
				t.Errorf("%s: %v", test.port, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got error %v, want one with %q", test.port, err, test.want)
		}
	}
}

// TestLinked tests what the package's comment says: that each port where
// nothing is linked has the same files of the fork as one where a program is.
func TestLinked(t *testing.T) {
	c := &checker{goroot: build.Default.GOROOT}
	list, _, err := c.command(port{}, "tool", "dist", "list")
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[port]string)
	for _, name := range strings.Fields(string(list)) {
		goos, arch, _ := strings.Cut(name, "/")
		p := port{goos, arch}
		ctxt := build.Default
		ctxt.GOOS, ctxt.GOARCH, ctxt.CgoEnabled = p.os, p.arch, false
		err := filepath.WalkDir("../../../src", func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && d.Name() == "testdata" {
				return fs.SkipDir
			}
			if ext := filepath.Ext(path); ext != ".go" && ext != ".s" || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			match, err := ctxt.MatchFile(filepath.Dir(path), d.Name())
			if match {
				files[p] += path + "\n"
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if files[p] == "" {
			t.Fatalf("%s: no files", p)
		}
	}
	for p := range files {
		covered := p.linked()
		for q := range files {
			covered = covered || q.linked() && files[q] == files[p]
		}
		if !covered {
			t.Errorf("nothing is linked on %s, nor on a port with its files:\n%s", p, files[p])
		}
	}
}
