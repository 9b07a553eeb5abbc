// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// rebaseFake carries fakeOverlay from fakeRelease to that release with changes,
// and returns what it says. An empty dir is the overlay's own.
func rebaseFake(t *testing.T, changes tree, dir string) (o *overlay, to *pristine, out string, err error) {
	t.Helper()
	o = fakeOverlay().load(t)
	from := fakeRelease("go1.99.1").pristine(t, "go1.99.1")
	next := fakeRelease("go1.99.2").with(changes)
	for path, text := range next {
		if text == "" {
			delete(next, path)
		}
	}
	if dir == "" {
		dir = o.root
	}
	to = next.pristine(t, "go1.99.2")
	var b bytes.Buffer
	err = rebase(&b, o, from, to, "go1.99.2", dir)
	return o, to, b.String(), err
}

func TestRebase(t *testing.T) {
	// Upstream moved the second hunk's place and left the first one's.
	theirs := strings.Replace(numbered(20), "line 7\n", "line 7\ntheirs\n", 1)
	dir := filepath.Join(t.TempDir(), "new")
	_, to, out, err := rebaseFake(t, tree{"src/runtime/a.go": theirs}, dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	o, err := loadOverlay(dir)
	if err != nil {
		t.Fatal(err)
	}
	if o.release.name != "go1.99.2" || o.release.sums[platform] != to.sum {
		t.Errorf("the new overlay pins %+v", o.release)
	}
	w := built{p: to, o: o, goroot: filepath.Join(t.TempDir(), "goroot")}
	if out, err := w.build(t); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := strings.NewReplacer("line 3\n", "our 3\n", "line 10\n", "line 10\nour 10a\nour 10b\n").Replace(theirs)
	got := readTree(t, w.goroot)
	if got["src/runtime/a.go"] != want {
		t.Errorf("a.go is\n%s\nwant\n%s", got["src/runtime/a.go"], want)
	}
	carried := tree{"src/runtime/own.go": "package runtime\n", "go.env": "GOTOOLCHAIN=local\n"}
	for path, want := range carried {
		if got[path] != want {
			t.Errorf("%s is %q, want %q", path, got[path], want)
		}
	}
}

var theirLine3 = tree{"src/runtime/a.go": strings.Replace(numbered(20), "line 3\n", "their 3\n", 1)}

func TestRebaseConflicts(t *testing.T) {
	tests := []struct {
		name    string
		changes tree
		want    string
	}{
		{"both changed", theirLine3, "CONFLICT src/runtime/a.go: has conflict markers"},
		{"upstream file gone", tree{"src/runtime/a.go": ""},
			"CONFLICT src/runtime/a.go: upstream no longer has this file"},
		{"upstream file of our name", tree{"src/runtime/own.go": "package runtime // theirs\n"},
			"CONFLICT src/runtime/own.go: upstream now has a file of this name"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, out, err := rebaseFake(t, test.changes, filepath.Join(t.TempDir(), "new"))
			wantError(t, err, "does not fit go1.99.2", "1 conflicts")
			if !strings.Contains(out, test.want) {
				t.Errorf("report lacks %q:\n%s", test.want, out)
			}
		})
	}
}

// Where upstream took our change, there is nothing left to patch.
func TestRebaseUpstreamed(t *testing.T) {
	o, _, out, err := rebaseFake(t, tree{"go.env": "GOTOOLCHAIN=local\n"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, "go.env: upstream has our change now") {
		t.Errorf("report is\n%s", out)
	}
	if _, ok := readTree(t, o.root)["go.env.patch"]; ok {
		t.Error("go.env.patch is still there")
	}
	if o := reload(t, o); o.release.name != "go1.99.2" {
		t.Errorf("the overlay pins %s", o.release.name)
	}
}

func TestResolve(t *testing.T) {
	o, _, _, err := rebaseFake(t, theirLine3, "")
	wantError(t, err, "resolve 1 conflicts")
	_, err = loadOverlay(o.root)
	wantError(t, err, "goroot.rebase", "resolve")
	wantError(t, resolve(new(bytes.Buffer), o.root), "resolve 1 conflicts")

	text := readTree(t, o.root)["goroot.rebase/src/runtime/a.go"]
	start, end := strings.Index(text, "<<<<<<<"), strings.Index(text, ">>>>>>>")
	rest := text[end+strings.Index(text[end:], "\n")+1:]
	tree{"goroot.rebase/src/runtime/a.go": text[:start] + "both 3\n" + rest}.write(t, o.root)
	if err := resolve(new(bytes.Buffer), o.root); err != nil {
		t.Fatal(err)
	}
	want := "Have two lines of ours.\n--- a/src/runtime/a.go\n+++ b/src/runtime/a.go\n@@ -3 +3 @@\n-their 3\n+both 3\n@@ -10,0 +11,2 @@\n+our 10a\n+our 10b\n"
	got := readTree(t, o.root)
	if got["src/runtime/a.go.patch"] != want {
		t.Errorf("the patch is\n%s\nwant\n%s", got["src/runtime/a.go.patch"], want)
	}
	wantError(t, resolve(new(bytes.Buffer), o.root), "no rebase")
}

// A directory with something in it is not overwritten.
func TestRebaseKeepsDirectory(t *testing.T) {
	_, _, _, err := rebaseFake(t, nil, tree{"precious": "data"}.make(t))
	wantError(t, err, "not empty")
}
