// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

// Package overlay tests overlay.bash, with releases of a few files that a module proxy
// in a directory has. Their go command is a shell script.
package overlay

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestBuild(t *testing.T) {
	p := newProject(t)
	p.overlay("build", "built go1.99.1-pmu")
	got := read(t, p.goroot)
	for _, c := range []string{"bin/go", "pkg/tool/x/link"} {
		// With the overlay's part of cmd, and without that of runtime.
		if !strings.Contains(got[c], "go version go1.99.1-pmu") || !strings.HasSuffix(got[c], "# of 0 cmd: link own.go runtime: a.go b.go m.bash\n") {
			t.Errorf("%s is %q", c, got[c])
		}
		delete(got, c)
	}
	want := tree{
		"VERSION":                 "go1.99.1-pmu\ntime 2026-01-02T03:04:05Z\n",
		"go.env":                  "GOTOOLCHAIN=local\n",
		versionFile:               "package buildcfg\n\nconst version = `go1.99.1-pmu`\n",
		"src/go.mod":              "module std\n",
		"src/cmd/own.go":          "package main\n",
		"src/cmd/link/x.go":       "package main\n",
		"src/runtime/a.go":        lines(20, ourA...),
		"src/runtime/b.go":        lines(5),
		"src/runtime/m.bash":      "#!/bin/sh\n",
		"src/runtime/own.go":      "package runtime\n",
		"src/runtime/own_test.go": "package runtime\n\n\n",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("goroot is\n%q\nwant\n%q", got, want)
	}
	if info, err := os.Stat(p.goroot + "/src/runtime/m.bash"); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("m.bash can't be executed: %v %v", info, err)
	}

	p.overlay("build", "up to date")
	p.overlay("status", "as in the overlay")
	tree{"src/runtime/own.go": "-", "src/runtime/own_test.go": "changed"}.write(t, p.root)
	p.refuses("status", "another state of the overlay", "make.bash")
	p.overlay("build", "built")
	if got := read(t, p.goroot); !reflect.DeepEqual(got, got.with(tree{"src/runtime/own.go": "-", "src/runtime/own_test.go": "changed"})) {
		t.Errorf("goroot is %q", got)
	}
}

// TestBuildFails tests that goroot stays as it was, whatever goes wrong, and that nothing
// else is left.
func TestBuildFails(t *testing.T) {
	b := func(hunk string) tree {
		return tree{"src/runtime/b.go.patch": "For a test.\n" + patchOf("src/runtime/b.go", hunk)}
	}
	tests := []struct {
		name   string
		change tree
		want   []string
	}{
		{"no release", tree{pinFile: "go1.99.9\n"}, []string{"cannot get golang.org/toolchain@v0.0.1-go1.99.9." + platform, "GOPROXY"}},
		{"other checksum", tree{pinFile: "go1.99.1\n" + platform + " h1:x\n"}, []string{"checksum mismatch", "want h1:x"}},
		{"pins nothing", tree{pinFile: "# go1.99.1\n"}, []string{"names no release"}},
		{"does not compile", tree{"src/cmd/broken.go": ""}, []string{"broken.go does not compile", "building the commands failed"}},
		{"wrong version", tree{"src/cmd/stale.go": ""}, []string{"says 'go version stale "}},
		{"programs fail", tree{"src/net/http/exit": "3"}, []string{"a program that the new toolchain builds does not run"}},
		{"patch of other text", b("@@ -2 +2 @@\n-line two\n+x\n"), []string{"patch failed: src/runtime/b.go:2", "src/runtime/b.go.patch: does not apply"}},
		{"patch of another place", b("@@ -2 +2 @@\n-line 3.\n+x\n"), []string{"src/runtime/b.go.patch: is not as export writes it: @@ -3 +3 @@"}},
		{"patch with context", b("@@ -1,2 +1,2 @@\n line 1.\n-line 2.\n+x\n"), []string{"src/runtime/b.go.patch: is not as export writes it: @@ -2 +2 @@"}},
		{"patch of another file", tree{"src/runtime/b.go.patch": patchOf("src/runtime/a.go", "@@ -20 +22 @@\n-line 20.\n+x\n")}, []string{"src/runtime/b.go.patch: is not as export writes it"}},
		{"patch of nothing", tree{"src/runtime/z.go.patch": patchOf("src/runtime/z.go", "@@ -2 +2 @@\n-l\n+x\n")}, []string{"src/runtime/z.go.patch: does not apply: go1.99.1 has no such file"}},
		{"own file in the way", tree{"src/runtime/b.go": "package runtime\n"}, []string{"src/runtime/b.go: is in go1.99.1 too"}},
	}
	p := newProject(t)
	p.overlay("build")
	overlay, goroot := read(t, p.root), read(t, p.goroot)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := *p
			p.TB = t
			test.change.write(t, p.root)
			p.refuses("build", test.want...)
			if after := read(t, p.goroot); !reflect.DeepEqual(after, goroot) {
				t.Errorf("goroot changed: %q", after)
			}
			if left, _ := filepath.Glob(p.goroot + ".[^l]*"); left != nil { // all but the lock
				t.Errorf("%s is left", left)
			}
			for path := range test.change {
				tree{path: "-"}.with(nil).write(t, p.root)
				os.Remove(filepath.Join(p.root, path))
				if old, ok := overlay[path]; ok {
					tree{path: old}.write(t, p.root)
				}
			}
		})
	}
}

// TestBuildKilled tests a build after one that was killed between the two renames.
func TestBuildKilled(t *testing.T) {
	p := newProject(t)
	p.overlay("build")
	before := read(t, p.goroot)
	tree{"half": "a build"}.write(t, p.goroot+".stage")
	must(t, os.Rename(p.goroot, p.goroot+".previous"))
	p.overlay("build", "up to date")
	if after := read(t, p.goroot); !reflect.DeepEqual(after, before) {
		t.Errorf("goroot changed: %q", after)
	}
	if _, err := os.Stat(p.goroot + ".stage"); !os.IsNotExist(err) {
		t.Errorf("the staging tree is left: %v", err)
	}
}

func TestBuildKeepsEdits(t *testing.T) {
	p := newProject(t)
	tree{"precious": "data"}.write(t, p.goroot)
	p.refuses("build", "not a tree that this command built")
	p.refuses("export", "not a tree that this command built")
	must(t, os.RemoveAll(p.goroot))
	p.refuses("status", "not built", "make.bash")

	p.overlay("build")
	tree{"src/runtime/own.go": "package runtime // from the overlay\n"}.write(t, p.root)
	tree{"src/runtime/b.go": "edited\n", "src/runtime/x.test": "not a source"}.write(t, p.goroot)
	p.refuses("build", "was edited (src/runtime/b.go)", "export", "-force")
	p.refuses("status", "edited, not exported: src/runtime/b.go", "1 files to export")
	for i := 0; i < 1000; i++ {
		tree{fmt.Sprintf("src/runtime/testdata/more than a pipe holds, at %d", i): ""}.write(t, p.goroot)
	}
	p.refuses("build", "was edited (src/runtime/b.go src/runtime/testdata/more ", "-force")
	p.overlay("build -force", "built")
	if got := read(t, p.goroot)["src/runtime/b.go"]; got != lines(5) {
		t.Errorf("-force left %q", got)
	}
}

// TestBuildEditedModule tests that a module is taken from its zip file, whose checksum is
// known, not from the directory, which may have been edited.
func TestBuildEditedModule(t *testing.T) {
	p := newProject(t)
	dir := p.cache + "/golang.org/toolchain@v0.0.1-go1.99.1." + platform
	must(t, exec.Command("chmod", "-R", "u+w", dir).Run())
	tree{"src/runtime/b.go": "tampered\n", "src/go.mod": "module std // by a go command that ran from here\n"}.write(t, dir)
	p.overlay("build")
	if got := read(t, p.goroot); got["src/runtime/b.go"] != lines(5) || got["src/go.mod"] != "module std\n" {
		t.Errorf("goroot is %q", got)
	}
}

// edits are one of each kind of change that can be made in goroot, and exported what the
// overlay has then.
var edits = tree{
	"go.env":                      "GOTOOLCHAIN=auto\n",      // back to upstream's
	"src/runtime/b.go":            lines(5, "line 4.\n", ""), // newly patched
	"src/runtime/own.go":          "package runtime // edited\n",
	"src/runtime/own_test.go":     "-",
	"src/runtime/new.go":          "package runtime // new\n",
	"src/runtime/testdata/new":    "",
	"src/runtime/testdata/a name": "of two words",
	"src/runtime/testdata/x.prof": "a test's input",
	"src/runtime/a.go.orig":       "an editor's",
	"src/runtime/cpu.prof":        "a test's",
	"VERSION":                     "anything\n",
	"bin/other":                   "a build's",
	"pkg/other":                   "a build's",
}

var exported = tree{
	"go.env.patch":                "-",
	"src/runtime/b.go.patch":      patchOf("src/runtime/b.go", "@@ -4 +3,0 @@\n-line 4.\n"),
	"src/runtime/own.go":          "package runtime // edited\n",
	"src/runtime/own_test.go":     "-",
	"src/runtime/new.go":          "package runtime // new\n",
	"src/runtime/testdata/new":    "",
	"src/runtime/testdata/a name": "of two words",
	"src/runtime/testdata/x.prof": "a test's input",
}

func TestExport(t *testing.T) {
	p := newProject(t)
	p.overlay("build")
	edits.write(t, p.goroot)
	p.overlay("export src/runtime/testdata/ src/runtime/b.go src/run", "4 files exported", "added src/runtime/b.go.patch")
	p.overlayIs(ours(t).with(tree{
		"src/runtime/b.go.patch":      exported["src/runtime/b.go.patch"],
		"src/runtime/testdata/new":    exported["src/runtime/testdata/new"],
		"src/runtime/testdata/a name": exported["src/runtime/testdata/a name"],
		"src/runtime/testdata/x.prof": exported["src/runtime/testdata/x.prof"],
	}))
	p.overlay("export", "4 files exported", "removed go.env.patch", "written src/runtime/own.go")
	p.overlayIs(ours(t).with(exported))
	p.overlay("export", "0 files exported")

	// What was exported is not lost, and builds to what was edited.
	want := read(t, p.goroot+"/src").with(tree{"runtime/a.go.orig": "-", "runtime/cpu.prof": "-"})
	p.refuses("status", "another state")
	p.overlay("build", "built")
	if got := read(t, p.goroot+"/src"); !reflect.DeepEqual(got, want) {
		t.Errorf("the rebuilt sources are\n%q\nwant\n%q", got, want)
	}
	// A patch keeps its commentary.
	tree{"src/runtime/a.go": lines(20) + "our end\n"}.write(t, p.goroot)
	p.overlay("export", "written src/runtime/a.go.patch")
	p.overlayIs(ours(t).with(exported).with(tree{
		"src/runtime/a.go.patch": "Have two lines of ours.\n\n" + patchOf("src/runtime/a.go", "@@ -20,0 +21 @@\n+our end\n"),
	}))
}

func TestExportRefused(t *testing.T) {
	p := newProject(t)
	p.overlay("build")
	tests := []struct {
		edit tree
		want string
	}{
		{tree{"src/runtime/b.go": "a\x00"}, "src/runtime/b.go: is binary"},
		{tree{"src/runtime/b.go": "-"}, "src/runtime/b.go: is deleted"},
		{tree{"src/runtime/b.go": lines(5), "src/runtime/x.patch": ""}, "src/runtime/x.patch: a new file can't have this name"},
	}
	for _, test := range tests {
		test.edit.write(t, p.goroot)
		p.refuses("export", test.want, "0 files exported")
	}
	p.overlayIs(ours(t))
}

// TestExportOverlayMovedOn tests that export neither undoes what came into the overlay
// after the build, nor loses an edit to it.
func TestExportOverlayMovedOn(t *testing.T) {
	p := newProject(t)
	p.overlay("build")
	moved := tree{"src/runtime/own.go": "package runtime // moved on\n", "src/runtime/later.go": "package runtime // later\n"}
	moved.write(t, p.root)
	p.overlay("export", "0 files exported")
	tree{"src/runtime/own.go": "package runtime // edited\n", "src/runtime/b.go": lines(6)}.write(t, p.goroot)
	p.refuses("export", "src/runtime/own.go: changed both here and in the overlay", "-force", "added src/runtime/b.go.patch", "1 files exported")
	b := tree{"src/runtime/b.go.patch": patchOf("src/runtime/b.go", "@@ -5,0 +6 @@\n+line 6.\n")}
	p.overlayIs(ours(t).with(moved).with(b))
	p.overlay("export -force", "1 files exported")
	p.overlayIs(ours(t).with(moved).with(b).with(tree{"src/runtime/own.go": "package runtime // edited\n"}))
	// What was exported may be edited and exported again.
	tree{"src/runtime/own.go": "package runtime // again\n"}.write(t, p.goroot)
	p.overlay("export", "1 files exported")
}

// rebase carries ours to a release with changes.
func rebase(t *testing.T, changes tree, want func(p *project, args string, want ...string), say ...string) *project {
	t.Helper()
	p := newProject(t)
	p.overlay("build")
	p.publish("go1.99.2", goRelease("go1.99.2").with(changes))
	want(p, "rebase 1.99.2", say...)
	return p
}

func TestRebase(t *testing.T) {
	// Upstream moved the second hunk's place and left the first one's, and took a change
	// of ours.
	p := rebase(t, tree{"src/runtime/a.go": lines(20, "line 7.\n", "line 7.\ntheirs\n"), "go.env": "GOTOOLCHAIN=local\n"},
		(*project).overlay, "removed go.env.patch", "written src/runtime/a.go.patch", "for go1.99.2 now")
	p.overlayIs(ours(t).with(tree{
		"go.env.patch":           "-",
		"src/runtime/a.go.patch": strings.Replace(patchA, "@@ -10,0 +11,2 @@", "@@ -11,0 +12,2 @@", 1),
	}))
	if got := read(t, p.root)[pinFile]; !strings.HasPrefix(got, "# Comment.\ngo1.99.2\n"+platform+" h1:") {
		t.Errorf("%s is %q", pinFile, got)
	}
	p.overlay("build", "built go1.99.2-pmu")
	if got, want := read(t, p.goroot)["src/runtime/a.go"], lines(20, append(ourA, "line 7.\n", "line 7.\ntheirs\n")...); got != want {
		t.Errorf("a.go is\n%s\nwant\n%s", got, want)
	}
}

func TestRebaseConflicts(t *testing.T) {
	rebase(t, tree{"src/runtime/a.go": "-"}, (*project).refuses, "CONFLICT src/runtime/a.go: upstream no longer has this file").
		overlayIs(ours(t))
	rebase(t, tree{"src/runtime/own.go": "package runtime // theirs\n"}, (*project).refuses, "CONFLICT src/runtime/own.go: ").
		overlayIs(ours(t))
	p := rebase(t, tree{"src/runtime/a.go": lines(20, "line 3.", "their 3")}, (*project).refuses,
		"CONFLICT src/runtime/a.go: has conflict markers", "does not fit go1.99.2", "overlay.bash resolve")
	p.overlayIs(ours(t))
	p.refuses("build", "conflicts of a rebase", "resolve")
	p.refuses("resolve", "CONFLICT src/runtime/a.go")
	tree{"src/runtime/b.go": "-"}.write(t, p.goroot+".rebase")
	p.refuses("resolve", "CONFLICT src/runtime/a.go")

	name := p.goroot + ".rebase/src/runtime/a.go"
	data, err := os.ReadFile(name)
	must(t, err)
	before, rest, _ := strings.Cut(string(data), "<<<<<<<")
	_, rest, _ = strings.Cut(rest, ">>>>>>>")
	_, after, _ := strings.Cut(rest, "\n")
	must(t, os.WriteFile(name, []byte(before+"both 3\n"+after), 0o666))
	p.refuses("resolve", "src/runtime/b.go: is deleted", "overlay.bash resolve")
	tree{"src/runtime/b.go": lines(5)}.write(t, p.goroot+".rebase")
	p.overlay("resolve")
	p.overlayIs(ours(t).with(tree{
		"src/runtime/a.go.patch": strings.NewReplacer("line 3.", "their 3", "our 3", "both 3").Replace(patchA),
	}))
	p.refuses("resolve", "no rebase")
	p.overlay("build", "built go1.99.2-pmu")
}

func TestFootprint(t *testing.T) {
	p := newProject(t)
	p.overlay("footprint",
		"1       1  go.env\n", "3       1  src/runtime/a.go\n", "4       2  total, 2 files\n",
		"2 lines in 2 own files, and 3 in 1 of tests")
	for _, text := range []string{"", "Because.\n", "No full stop at the end\n"} {
		tree{"src/runtime/b.go.patch": text + patchOf("src/runtime/b.go", "@@ -2 +2 @@\n-line 2.\n+x\n")}.write(t, p.root)
		p.refuses("footprint", "src/runtime/b.go.patch", "sentence")
	}
	// Those of this repository.
	if out, err := exec.Command("./overlay.bash", "footprint").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
