// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// tree is the content of a directory, by slash-separated path.
type tree map[string]string

// numbered returns n numbered lines.
func numbered(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// fakeRelease is a release with all that build looks for.
func fakeRelease(name string) tree {
	return tree{
		"VERSION":               name + "\ntime 2026-01-02T03:04:05Z\n",
		"go.env":                "GOTOOLCHAIN=auto\n",
		"bin/go" + exe:          "upstream's go\n",
		"pkg/tool/x/link" + exe: "upstream's link\n",
		zbootstrap:              "package buildcfg\n\nconst version = `" + name + "`\n",
		"src/_go.mod":           "module std\n",
		"src/runtime/a.go":      numbered(20),
		"src/runtime/b.go":      numbered(5),
		"src/runtime/m.bash":    "#!/bin/sh\n",
	}
}

// fakeOverlay is an overlay that fits fakeRelease.
func fakeOverlay() tree {
	return tree{
		releaseFile:               "go1.99.1\n",
		"go.env.patch":            "Do not switch toolchains.\n--- a/go.env\n+++ b/go.env\n@@ -1 +1 @@\n-GOTOOLCHAIN=auto\n+GOTOOLCHAIN=local\n",
		"src/runtime/a.go.patch":  "Have two lines of ours.\n--- a/src/runtime/a.go\n+++ b/src/runtime/a.go\n@@ -3 +3 @@\n-line 3\n+our 3\n@@ -10,0 +11,2 @@\n+our 10a\n+our 10b\n",
		"src/runtime/own.go":      "package runtime\n",
		"src/runtime/own_test.go": "package runtime\n\n\n",
		"doc/pmu.md":              "stays in the repository\n",
	}
}

// make writes the tree to a new directory.
func (t tree) make(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	t.write(tb, dir)
	return dir
}

func (t tree) write(tb testing.TB, dir string) {
	tb.Helper()
	for path, text := range t {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(path)), []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
}

// with returns t with the files of other added or replaced.
func (t tree) with(other tree) tree {
	both := tree{}
	for _, m := range []tree{t, other} {
		for path, text := range m {
			both[path] = text
		}
	}
	return both
}

// readTree reads a whole directory.
func readTree(tb testing.TB, dir string) tree {
	tb.Helper()
	t := tree{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		if rel = filepath.ToSlash(rel); !strings.HasPrefix(rel, ".git/") {
			t[rel] = string(data)
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// pristine writes the tree as the module of the release name and opens it.
func (t tree) pristine(tb testing.TB, name string) *pristine {
	tb.Helper()
	module := release{name: name}.module()
	var all bytes.Buffer
	for _, path := range sortedKeys(t) {
		fmt.Fprintf(&all, "%x  %s/%s\n", sha256.Sum256([]byte(t[path])), module, path)
	}
	sum := sha256.Sum256(all.Bytes())
	p, err := openPristine(t.make(tb), module, "h1:"+base64.StdEncoding.EncodeToString(sum[:]))
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// load writes the tree and loads it as an overlay.
func (t tree) load(tb testing.TB) *overlay {
	tb.Helper()
	o, err := loadOverlay(t.make(tb))
	if err != nil {
		tb.Fatal(err)
	}
	return o
}

// reload reads the overlay again, as another run of the command would.
func reload(tb testing.TB, o *overlay) *overlay {
	tb.Helper()
	o, err := loadOverlay(o.root)
	if err != nil {
		tb.Fatal(err)
	}
	return o
}

// fakeBuilder returns a builder of o over p whose commands are scripts that
// say the version found in the sources that they were built from.
func fakeBuilder(tb testing.TB, o *overlay, p *pristine, goroot string) (*builder, *bytes.Buffer) {
	if runtime.GOOS == "windows" {
		tb.Skip("the stand-ins for commands are shell scripts")
	}
	out := new(bytes.Buffer)
	b := newBuilder(o, goroot, out)
	b.fetch = func(r release) (*pristine, error) {
		if r.module() != p.module {
			return nil, errors.New("no such release")
		}
		return p, nil
	}
	b.check = func(stage, version string) error { return nil }
	b.compile = func(b *builder, stage, bin string, names []string) error {
		boot, err := os.ReadFile(filepath.Join(stage, filepath.FromSlash(zbootstrap)))
		if err != nil {
			return err
		}
		_, version, _ := strings.Cut(string(boot), "`")
		version, _, _ = strings.Cut(version, "`")
		for _, name := range names {
			script := fmt.Sprintf("#!/bin/sh\necho go version %s %s/%s\n", version, runtime.GOOS, runtime.GOARCH)
			if err := os.WriteFile(filepath.Join(bin, filepath.Base(name)), []byte(script), 0o755); err != nil {
				return err
			}
		}
		return nil
	}
	return b, out
}

// wantError fails the test unless err's one line holds all of parts.
func wantError(tb testing.TB, err error, parts ...string) {
	tb.Helper()
	if err == nil {
		tb.Fatalf("no error; want one with %q", parts)
	}
	if strings.Contains(strings.TrimSpace(err.Error()), "\n") {
		tb.Errorf("the error has more than one line: %v", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			tb.Errorf("error %q does not say %q", err, part)
		}
	}
}
