// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// export exports from w's GOROOT and returns the overlay's tree.
func (w *built) export(t *testing.T, x exporter) (string, error) {
	t.Helper()
	w.o = reload(t, w.o)
	var out bytes.Buffer
	x.o, x.repo, x.output = w.o, repo{w.goroot}, &out
	err := x.run()
	return out.String(), err
}

// edit is one of each kind of change that can be made in a GOROOT.
func edit(t *testing.T, goroot string) {
	t.Helper()
	tree{
		"go.env":                      "GOTOOLCHAIN=auto\n",                            // back to upstream's
		"src/runtime/b.go":            strings.Replace(numbered(5), "line 4\n", "", 1), // newly patched
		"src/runtime/own.go":          "package runtime // edited\n",
		"src/runtime/new.go":          "package runtime // new\n",
		"src/runtime/testdata/new":    "",
		"src/runtime/testdata/x.prof": "a test's input",
		"src/runtime/a.go.orig":       "an editor's",
		"src/runtime/cpu.prof":        "a test's",
		"VERSION":                     "anything\n",
		"bin/other":                   "a build's",
		"pkg/other":                   "a build's",
	}.write(t, goroot)
	if err := os.Remove(filepath.Join(goroot, "src/runtime/own_test.go")); err != nil {
		t.Fatal(err)
	}
}

// exported is fakeOverlay after edit and export.
func exported() tree {
	want := fakeOverlay().with(tree{
		"src/runtime/b.go.patch":      "--- a/src/runtime/b.go\n+++ b/src/runtime/b.go\n@@ -4 +3,0 @@\n-line 4\n",
		"src/runtime/own.go":          "package runtime // edited\n",
		"src/runtime/new.go":          "package runtime // new\n",
		"src/runtime/testdata/new":    "",
		"src/runtime/testdata/x.prof": "a test's input",
	})
	delete(want, "go.env.patch")
	delete(want, "src/runtime/own_test.go")
	return want
}

func TestExport(t *testing.T) {
	w := buildFake(t)
	edit(t, w.goroot)
	if out, err := w.export(t, exporter{}); err != nil || !strings.Contains(out, "7 files exported") {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := readTree(t, w.o.root); !reflect.DeepEqual(got, exported()) {
		t.Errorf("overlay is\n%q\nwant\n%q", got, exported())
	}
	if out, err := w.export(t, exporter{}); err != nil || !strings.Contains(out, "0 files exported") {
		t.Errorf("again: %v\n%s", err, out)
	}

	// What was exported builds to what was edited.
	edited := readTree(t, filepath.Join(w.goroot, "src"))
	if out, err := w.build(t); err != nil || strings.Contains(out, "up to date") {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, dropping := range []string{"runtime/a.go.orig", "runtime/cpu.prof"} {
		delete(edited, dropping)
	}
	if got := readTree(t, filepath.Join(w.goroot, "src")); !reflect.DeepEqual(got, edited) {
		t.Errorf("rebuilt sources are\n%q\nwant\n%q", got, edited)
	}
}

func TestExportUnder(t *testing.T) {
	w := buildFake(t)
	edit(t, w.goroot)
	if _, err := w.export(t, exporter{under: []string{"src/runtime/testdata/", "src/runtime/b.go", "src/run"}}); err != nil {
		t.Fatal(err)
	}
	want := fakeOverlay()
	for _, path := range []string{"src/runtime/b.go.patch", "src/runtime/testdata/new", "src/runtime/testdata/x.prof"} {
		want[path] = exported()[path]
	}
	if got := readTree(t, w.o.root); !reflect.DeepEqual(got, want) {
		t.Errorf("overlay is\n%q\nwant\n%q", got, want)
	}
}

// A patch keeps its commentary.
func TestExportCommentary(t *testing.T) {
	w := buildFake(t)
	tree{"src/runtime/a.go": numbered(20) + "our end\n"}.write(t, w.goroot)
	if _, err := w.export(t, exporter{}); err != nil {
		t.Fatal(err)
	}
	want := "Have two lines of ours.\n--- a/src/runtime/a.go\n+++ b/src/runtime/a.go\n@@ -20,0 +21 @@\n+our end\n"
	if got := readTree(t, w.o.root)["src/runtime/a.go.patch"]; got != want {
		t.Errorf("the patch is\n%s\nwant\n%s", got, want)
	}
}

// Neither what a patch can't hold nor a name that it would have.
func TestExportRefused(t *testing.T) {
	w := buildFake(t)
	tree{"src/runtime/b.go": "a\x00"}.write(t, w.goroot)
	_, err := w.export(t, exporter{})
	wantError(t, err, "src/runtime/b.go", "binary")
	tree{"src/runtime/b.go": numbered(5), "src/runtime/x.patch": ""}.write(t, w.goroot)
	_, err = w.export(t, exporter{})
	wantError(t, err, "src/runtime/x.patch", "can't have this name")
}

// Export must neither undo what came into the overlay after the build, nor
// lose an edit to it.
func TestExportOverlayMovedOn(t *testing.T) {
	w := buildFake(t)
	moved := tree{
		"src/runtime/own.go":   "package runtime // moved on\n",
		"src/runtime/later.go": "package runtime // later\n",
	}
	moved.write(t, w.o.root)
	if out, err := w.export(t, exporter{}); err != nil || !strings.Contains(out, "0 files exported") {
		t.Errorf("nothing edited: %v\n%s", err, out)
	}
	tree{"src/runtime/own.go": "package runtime // edited\n", "src/runtime/b.go": numbered(6)}.write(t, w.goroot)
	out, err := w.export(t, exporter{})
	wantError(t, err, "src/runtime/own.go: changed both here and in the overlay", "-force")
	if !strings.Contains(out, "added src/runtime/b.go.patch") {
		t.Errorf("the other edit was not exported: %s", out)
	}
	got := readTree(t, w.o.root)
	for path, text := range moved {
		if got[path] != text {
			t.Errorf("%s is %q, want %q", path, got[path], text)
		}
	}
	if _, err := w.export(t, exporter{force: true}); err != nil {
		t.Fatal(err)
	}
	if got := readTree(t, w.o.root)["src/runtime/own.go"]; got != "package runtime // edited\n" {
		t.Errorf("-force left %q", got)
	}
}

func TestExportDeletedUpstream(t *testing.T) {
	w := buildFake(t)
	if err := os.Remove(filepath.Join(w.goroot, "src/runtime/b.go")); err != nil {
		t.Fatal(err)
	}
	_, err := w.export(t, exporter{})
	wantError(t, err, "src/runtime/b.go: is deleted")
}

func TestStatus(t *testing.T) {
	w := buildFake(t)
	if err := status(new(bytes.Buffer), w.o, w.goroot); err != nil {
		t.Error(err)
	}
	tree{"src/runtime/own.go": "package runtime // changed\n"}.write(t, w.o.root)
	wantError(t, status(new(bytes.Buffer), reload(t, w.o), w.goroot), "another state of the overlay", "make.bash")
	tree{"src/runtime/b.go": "edited\n"}.write(t, w.goroot)
	var out bytes.Buffer
	wantError(t, status(&out, w.o, w.goroot), "1 files to export")
	if !strings.Contains(out.String(), "src/runtime/b.go") {
		t.Errorf("status does not name the edited file:\n%s", out.String())
	}
	wantError(t, status(new(bytes.Buffer), w.o, t.TempDir()), "not built", "make.bash")
}
