// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rebaseFake carries fakeOverlay from fakeRelease to that release with changes.
func rebaseFake(t *testing.T, changes tree) (*overlay, *rebased) {
	t.Helper()
	o := fakeOverlay().load(t)
	from := fakeRelease("go1.99.1").pristine(t, "go1.99.1")
	to := fakeRelease("go1.99.2").with(changes)
	for path, text := range to {
		if text == "" {
			delete(to, path)
		}
	}
	rb, err := rebase(o, from, to.pristine(t, "go1.99.2"), o.release.named("go1.99.2"))
	if err != nil {
		t.Fatal(err)
	}
	return o, rb
}

func TestRebase(t *testing.T) {
	// Upstream moved the second hunk's place and left the first one's.
	theirs := strings.Replace(numbered(20), "line 7\n", "line 7\ntheirs\n", 1)
	_, rb := rebaseFake(t, tree{"src/runtime/a.go": theirs})
	var out bytes.Buffer
	if err := rb.report(&out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	dir := filepath.Join(t.TempDir(), "new")
	if err := rb.write(dir, fakeOverlay().load(t)); err != nil {
		t.Fatal(err)
	}
	o, err := loadOverlay(dir)
	if err != nil {
		t.Fatal(err)
	}
	if o.release.name != "go1.99.2" || o.release.sums[platform] != rb.to.sum {
		t.Errorf("the new overlay pins %+v", o.release)
	}
	files, err := o.results(rb.to)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("line 3\n", "our 3\n", "line 10\n", "line 10\nour 10a\nour 10b\n").Replace(theirs)
	if got := string(files["src/runtime/a.go"]); got != want {
		t.Errorf("a.go is\n%s\nwant\n%s", got, want)
	}
	for _, path := range []string{"src/runtime/own.go", "src/runtime/own_test.go", "go.env"} {
		if files[path] == nil {
			t.Errorf("%s was not carried", path)
		}
	}
}

func TestRebaseConflicts(t *testing.T) {
	tests := []struct {
		name    string
		changes tree
		want    string
	}{
		{"both changed", tree{"src/runtime/a.go": strings.Replace(numbered(20), "line 3\n", "their 3\n", 1)},
			"CONFLICT src/runtime/a.go: 1 conflicting places"},
		{"upstream file gone", tree{"src/runtime/a.go": ""},
			"CONFLICT src/runtime/a.go: upstream no longer has this file"},
		{"upstream file of our name", tree{"src/runtime/own.go": "package runtime // theirs\n"},
			"CONFLICT src/runtime/own.go: upstream now has a file of this name"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, rb := rebaseFake(t, test.changes)
			var out bytes.Buffer
			wantError(t, rb.report(&out), "does not fit go1.99.2", "1 conflicts")
			if !strings.Contains(out.String(), test.want) {
				t.Errorf("report lacks %q:\n%s", test.want, out.String())
			}
		})
	}
}

// Upstream took our change: there is nothing left to patch.
func TestRebaseUpstreamed(t *testing.T) {
	o, rb := rebaseFake(t, tree{"go.env": "GOTOOLCHAIN=local\n"})
	var out bytes.Buffer
	if err := rb.report(&out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "go.env: upstream has our change now") {
		t.Errorf("report is\n%s", out.String())
	}
	// In place: the patch must go.
	if err := rb.write(o.root, o); err != nil {
		t.Fatal(err)
	}
	if _, ok := readTree(t, o.root)["go.env.patch"]; ok {
		t.Error("go.env.patch is still there")
	}
	if o := reload(t, o); o.release.name != "go1.99.2" {
		t.Errorf("the overlay pins %s", o.release.name)
	}
}

func TestResolve(t *testing.T) {
	o, rb := rebaseFake(t, tree{"src/runtime/a.go": strings.Replace(numbered(20), "line 3\n", "their 3\n", 1)})
	if err := rb.write(o.root, o); err != nil {
		t.Fatal(err)
	}
	_, err := loadOverlay(o.root)
	wantError(t, err, "a.go.conflict", "resolve")
	fetch := func(release) (*pristine, error) { return rb.to, nil }
	wantError(t, resolve(new(bytes.Buffer), o.root, fetch), "a.go.conflict", "markers left")

	name := filepath.Join(o.root, "src/runtime/a.go.conflict")
	merged, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text := string(merged)
	start, end := strings.Index(text, "<<<<<<<"), strings.Index(text, ">>>>>>>")
	rest := text[end+strings.Index(text[end:], "\n")+1:]
	tree{"src/runtime/a.go.conflict": text[:start] + "both 3\n" + rest}.write(t, o.root)
	if err := resolve(new(bytes.Buffer), o.root, fetch); err != nil {
		t.Fatal(err)
	}
	want := "--- a/src/runtime/a.go\n+++ b/src/runtime/a.go\n@@ -3 +3 @@\n-their 3\n+both 3\n@@ -10,0 +11,2 @@\n+our 10a\n+our 10b\n"
	got := readTree(t, o.root)
	if got["src/runtime/a.go.patch"] != want {
		t.Errorf("the patch is\n%s\nwant\n%s", got["src/runtime/a.go.patch"], want)
	}
	if _, ok := got["src/runtime/a.go.conflict"]; ok {
		t.Error("a.go.conflict is still there")
	}
}

// A directory with something in it is not overwritten.
func TestRebaseKeepsDirectory(t *testing.T) {
	_, rb := rebaseFake(t, nil)
	dir := tree{"precious": "data"}.make(t)
	wantError(t, rb.write(dir, fakeOverlay().load(t)), "not empty")
}
