// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// built is a GOROOT built from fakeRelease and fakeOverlay.
type built struct {
	p      *pristine
	o      *overlay
	goroot string
}

func buildFake(t *testing.T) built {
	t.Helper()
	w := built{
		p:      fakeRelease("go1.99.1").pristine(t, "go1.99.1"),
		o:      fakeOverlay().load(t),
		goroot: filepath.Join(t.TempDir(), "goroot"),
	}
	if out, err := w.build(t); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return w
}

// build builds again, from the overlay as it is now.
func (w *built) build(t *testing.T) (string, error) {
	t.Helper()
	w.o = reload(t, w.o)
	b, out := fakeBuilder(t, w.o, w.p, w.goroot)
	err := b.run()
	return out.String(), err
}

func TestBuild(t *testing.T) {
	w := buildFake(t)
	got := readTree(t, w.goroot)
	want := tree{
		"VERSION":                 "go1.99.1-pmu\ntime 2026-01-02T03:04:05Z\n",
		"go.env":                  "GOTOOLCHAIN=local\n",
		zbootstrap:                "package buildcfg\n\nconst version = `go1.99.1-pmu`\n",
		"src/go.mod":              "module std\n",
		"src/runtime/a.go":        strings.NewReplacer("line 3\n", "our 3\n", "line 10\n", "line 10\nour 10a\nour 10b\n").Replace(numbered(20)),
		"src/runtime/b.go":        numbered(5),
		"src/runtime/m.bash":      "#!/bin/sh\n",
		"src/runtime/own.go":      "package runtime\n",
		"src/runtime/own_test.go": "package runtime\n\n\n",
	}
	for _, command := range []string{"bin/go", "pkg/tool/x/link"} {
		if !strings.Contains(got[command], "echo go version go1.99.1-pmu") {
			t.Errorf("%s was not rebuilt: %q", command, got[command])
		}
		delete(got, command)
	}
	if got[stampFile] == "" {
		t.Error("no stamp")
	}
	delete(got, stampFile)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("goroot is\n%q\nwant\n%q", got, want)
	}
	if info, err := os.Stat(filepath.Join(w.goroot, "src/runtime/m.bash")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("m.bash can't be executed: %v %v", info, err)
	}
}

func TestBuildUpToDate(t *testing.T) {
	w := buildFake(t)
	if out, err := w.build(t); err != nil || !strings.Contains(out, "up to date") {
		t.Errorf("unchanged: %v\n%s", err, out)
	}
	tree{"src/runtime/own.go": "package runtime // changed\n"}.write(t, w.o.root)
	out, err := w.build(t)
	if err != nil || strings.Contains(out, "up to date") {
		t.Errorf("changed: %v\n%s", err, out)
	}
	if got := readTree(t, w.goroot)["src/runtime/own.go"]; got != "package runtime // changed\n" {
		t.Errorf("own.go is %q", got)
	}
	if err := os.Remove(filepath.Join(w.o.root, "src/runtime/own.go")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.build(t); err != nil {
		t.Fatal(err)
	}
	if _, ok := readTree(t, w.goroot)["src/runtime/own.go"]; ok {
		t.Error("own.go is still there after it left the overlay")
	}
}

// The commands are built with the fork's version and tag, and with upstream's
// runtime.
func TestBuildCommandsSources(t *testing.T) {
	o := fakeOverlay().with(tree{"src/cmd/go/own.go": "package main\n"}).load(t)
	p := fakeRelease("go1.99.1").pristine(t, "go1.99.1")
	b, _ := fakeBuilder(t, o, p, filepath.Join(t.TempDir(), "goroot"))
	var sources tree
	compile := b.compile
	b.compile = func(b *builder, stage, bin string, names []string) error {
		sources = readTree(t, stage)
		return compile(b, stage, bin, names)
	}
	if err := b.run(); err != nil {
		t.Fatal(err)
	}
	if got := sources["src/runtime/a.go"]; got != numbered(20) {
		t.Errorf("the commands have the fork's runtime:\n%s", got)
	}
	if _, ok := sources["src/runtime/own.go"]; ok {
		t.Error("the commands have the fork's new file in runtime")
	}
	if sources["src/cmd/go/own.go"] == "" || !strings.Contains(sources[zbootstrap], "go1.99.1-pmu") {
		t.Errorf("the commands lack the fork's own sources: %q", sources)
	}
	if got := readTree(t, b.goroot)["src/runtime/own.go"]; got == "" {
		t.Error("the toolchain lacks the fork's runtime")
	}
}

// Whatever goes wrong, the previous tree stays as it was, and nothing else is left.
func TestBuildFails(t *testing.T) {
	changed := tree{"src/runtime/own.go": "package runtime // changed\n"}
	boom := errors.New("boom")
	tests := []struct {
		name    string
		overlay tree
		break_  func(b *builder)
		want    []string
	}{
		{"fetch", changed, func(b *builder) { b.fetch = func(release) (*pristine, error) { return nil, boom } }, []string{"boom"}},
		{"compile", changed, func(b *builder) {
			b.compile = func(b *builder, stage, bin string, names []string) error { return boom }
		}, []string{"boom"}},
		{"compile makes nothing", changed, func(b *builder) {
			b.compile = func(b *builder, stage, bin string, names []string) error { return os.RemoveAll(bin) }
		}, []string{"rebuilt"}},
		{"version", changed, func(b *builder) {
			compile := b.compile
			b.compile = func(b *builder, stage, bin string, names []string) error {
				fake := tree{zbootstrap: "const version = `go1.99.1`"}
				fake.write(t, stage)
				return compile(b, stage, bin, names)
			}
		}, []string{`says "go version go1.99.1 `, `want "go version go1.99.1-pmu `}},
		{"check", changed, func(b *builder) { b.check = func(string, string) error { return boom } }, []string{"boom"}},
		{"patch", tree{"src/runtime/b.go.patch": "--- a/src/runtime/b.go\n+++ b/src/runtime/b.go\n@@ -2 +2 @@\n-line two\n+x\n"}, nil,
			[]string{"src/runtime/b.go.patch", "patch failed", "b.go:2"}},
		{"patch elsewhere", tree{"src/runtime/b.go.patch": "--- a/src/runtime/b.go\n+++ b/src/runtime/b.go\n@@ -2 +2 @@\n-line 3\n+x\n"}, nil,
			[]string{"src/runtime/b.go.patch", "offset 1"}},
		{"patch with context", tree{"src/runtime/b.go.patch": "--- a/src/runtime/b.go\n+++ b/src/runtime/b.go\n@@ -1,2 +1,2 @@\n line 1\n-line 2\n+x\n"}, nil,
			[]string{"src/runtime/b.go.patch", "context"}},
		{"patch of another file", tree{"src/runtime/b.go.patch": "--- a/src/runtime/a.go\n+++ b/src/runtime/a.go\n@@ -2 +2 @@\n-line 2\n+x\n"}, nil,
			[]string{"src/runtime/b.go.patch", "begin with"}},
		{"patch of nothing", tree{"src/runtime/z.go.patch": "--- a/src/runtime/z.go\n+++ b/src/runtime/z.go\n@@ -2 +2 @@\n-l\n+x\n"}, nil,
			[]string{"src/runtime/z.go.patch", "no such file"}},
		{"own file in the way", tree{"src/runtime/b.go": "package runtime\n"}, nil, []string{"src/runtime/b.go: is in "}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := buildFake(t)
			before := readTree(t, w.goroot)
			test.overlay.write(t, w.o.root)
			b, _ := fakeBuilder(t, reload(t, w.o), w.p, w.goroot)
			if test.break_ != nil {
				test.break_(b)
			}
			wantError(t, b.run(), test.want...)
			if after := readTree(t, w.goroot); !reflect.DeepEqual(after, before) {
				t.Errorf("goroot changed: %q", after)
			}
			for _, left := range []string{b.stage(), b.previous()} {
				if _, err := os.Stat(left); !os.IsNotExist(err) {
					t.Errorf("%s is left: %v", left, err)
				}
			}
		})
	}
}

// A build that was killed leaves a staging tree, and, if that was between the
// two renames, the good tree under another name.
func TestBuildKilled(t *testing.T) {
	w := buildFake(t)
	b, _ := fakeBuilder(t, w.o, w.p, w.goroot)
	before := readTree(t, w.goroot)
	tree{"half": "a build"}.write(t, b.stage())
	if err := os.Rename(w.goroot, b.previous()); err != nil {
		t.Fatal(err)
	}
	out, err := w.build(t)
	if err != nil || !strings.Contains(out, "up to date") {
		t.Errorf("%v\n%s", err, out)
	}
	if after := readTree(t, w.goroot); !reflect.DeepEqual(after, before) {
		t.Errorf("goroot changed: %q", after)
	}
	if _, err := os.Stat(b.stage()); !os.IsNotExist(err) {
		t.Errorf("the staging tree is left: %v", err)
	}
}

func TestBuildKeepsEdits(t *testing.T) {
	w := buildFake(t)
	tree{"src/runtime/own.go": "package runtime // from the overlay\n"}.write(t, w.o.root)
	tree{"src/runtime/b.go": "edited\n", "src/runtime/x.test": "not a source"}.write(t, w.goroot)
	_, err := w.build(t)
	wantError(t, err, "was edited (src/runtime/b.go)", "export", "-force")

	w.o = reload(t, w.o)
	b, _ := fakeBuilder(t, w.o, w.p, w.goroot)
	b.force = true
	if err := b.run(); err != nil {
		t.Fatal(err)
	}
	if got := readTree(t, w.goroot)["src/runtime/b.go"]; got != numbered(5) {
		t.Errorf("-force left %q", got)
	}
}

// Build does not replace a directory that it did not build.
func TestBuildForeignTree(t *testing.T) {
	w := buildFake(t)
	w.goroot = tree{"precious": "data"}.make(t)
	_, err := w.build(t)
	wantError(t, err, "not a tree that this command built")
}

// The module cache is only as good as its bytes.
func TestBuildCorruptModule(t *testing.T) {
	w := buildFake(t)
	tree{"src/runtime/b.go": "tampered\n"}.write(t, w.p.dir)
	tree{"src/runtime/own.go": "package runtime // changed\n"}.write(t, w.o.root)
	b, _ := fakeBuilder(t, reload(t, w.o), w.p, w.goroot)
	b.force = true
	wantError(t, b.run(), "checksum mismatch", w.p.module, w.p.sum)
}

// A go command that ran the module itself left a go.mod beside each _go.mod,
// which is not part of the checksum.
func TestUsedModule(t *testing.T) {
	used := fakeRelease("go1.99.1").pristine(t, "go1.99.1")
	tree{"src/go.mod": "module std\n"}.write(t, used.dir)
	p, err := openPristine(used.dir, used.module, used.sum)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.copyTo(filepath.Join(t.TempDir(), "goroot")); err != nil {
		t.Fatal(err)
	}
}

func TestLoadErrors(t *testing.T) {
	tests := []struct {
		name string
		add  tree
		want []string
	}{
		{"conflict", tree{"goroot.rebase/x": ""}, []string{"goroot.rebase", "resolve"}},
		{"generated", tree{zbootstrap + ".patch": ""}, []string{zbootstrap + ".patch", "itself"}},
		{"release", tree{releaseFile: "1.99\n"}, []string{"RELEASE", `"1.99"`}},
		{"no release", tree{releaseFile: "# nothing\n"}, []string{"RELEASE", "no release"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := loadOverlay(fakeOverlay().with(test.add).make(t))
			wantError(t, err, test.want...)
		})
	}
}

func TestFetchErrors(t *testing.T) {
	r := release{name: "go1.99.1"}
	wantError(t, fetchError(r, r.module()+": Get \"https://proxy/\": dial tcp: no route to host\nmore"),
		"cannot get golang.org/toolchain@v0.0.1-go1.99.1."+platform+": Get", "no route to host", "network", "GOPROXY")
	wantError(t, fetchError(r, "verifying module: checksum mismatch\n\tdownloaded: h1:a\n\tsum.golang.org: h1:b\n\nSECURITY ERROR\n"),
		"checksum mismatch", r.module())
}

// fetch itself, with the real go command and a proxy that is not there.
func TestFetchNoNetwork(t *testing.T) {
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOPROXY", "off")
	r := release{name: "go1.99.1", sums: map[string]string{platform: "h1:x"}}
	_, err := r.fetch()
	wantError(t, err, "cannot get", "GOPROXY=off", "check the network")
}

func TestFetchNoGo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	r := release{name: "go1.99.1", sums: map[string]string{platform: "h1:x"}}
	_, err := r.fetch()
	wantError(t, err, "no go command")
}

// A release without a checksum of its own must have the database's word.
func TestFetchUnverifiable(t *testing.T) {
	t.Setenv("GOSUMDB", "off")
	_, err := release{name: "go1.99.1"}.fetch()
	wantError(t, err, "no pinned checksum", "GOSUMDB")
}

func TestFootprint(t *testing.T) {
	var out bytes.Buffer
	if err := footprint(&out, fakeOverlay().load(t)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"1       1  go.env\n",
		"3       1  src/runtime/a.go\n",
		"4       2  total, 2 files\n",
		"1 lines in 1 own files, and 3 in 1 of tests",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("footprint lacks %q:\n%s", want, out.String())
		}
	}
	for _, text := range []string{"", "Because.\n", "No full stop at the end\n"} {
		bad := fakeOverlay().with(tree{"src/runtime/b.go.patch": text + "--- a/src/runtime/b.go\n+++ b/src/runtime/b.go\n@@ -2 +2 @@\n-line 2\n+x\n"})
		wantError(t, footprint(&out, bad.load(t)), "src/runtime/b.go.patch", "sentence")
	}
}

// TestCommentary tests that each patch of this repository says what it is for.
func TestCommentary(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	root, err := findRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	o, err := loadOverlay(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.checkCommentary(); err != nil {
		t.Error(err)
	}
}
