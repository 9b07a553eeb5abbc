// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sort"
	"strings"
	"time"
)

// zbootstrap is the file that gives the toolchain its version. Upstream's
// cmd/dist generates it.
const zbootstrap = "src/internal/buildcfg/zbootstrap.go"

var zbootstrapVersion = regexp.MustCompile("(?m)^const version = `[^`]*`$")

// A builder builds a GOROOT from a release and an overlay.
//
// The tree takes shape in a staging directory beside the target and becomes
// the target by a rename when it is complete and has answered for itself, so
// that a build that fails or is killed leaves the previous one as it was.
type builder struct {
	o      *overlay
	goroot string // the target, an absolute path
	force  bool   // build although nothing changed, and over unexported edits
	out    io.Writer

	// What takes a real release. Tests put stand-ins in their place.
	compile func(b *builder, stage, bin string, names []string) error // see compileTools
	check   func(stage, version string) error                         // see checkProgram
	fetch   func(release) (*pristine, error)
	start   time.Time
}

func newBuilder(o *overlay, goroot string, out io.Writer) *builder {
	return &builder{
		o: o, goroot: goroot, out: out, start: time.Now(),
		compile: compileTools, check: checkProgram, fetch: release.fetch,
	}
}

func (b *builder) stage() string    { return b.goroot + ".stage" }
func (b *builder) previous() string { return b.goroot + ".previous" }

func (b *builder) say(format string, args ...any) {
	fmt.Fprintf(b.out, "%6.1fs  %s\n", time.Since(b.start).Seconds(), fmt.Sprintf(format, args...))
}

// run builds unless the target is up to date.
func (b *builder) run() error {
	if err := os.MkdirAll(filepath.Dir(b.goroot), 0o777); err != nil {
		return err
	}
	unlock, err := lock(b.goroot + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	if err := b.recover(); err != nil {
		return err
	}
	if s := readStamp(b.goroot); !b.force && s != nil && s.Overlay == b.o.hash() {
		b.say("%s is up to date", b.goroot)
		return nil
	}
	if err := b.refuseToLoseEdits(); err != nil {
		return err
	}
	b.say("getting %s", b.o.release.module())
	p, err := b.fetch(b.o.release)
	if err != nil {
		return err
	}
	defer os.RemoveAll(b.stage())
	if err := b.fill(p); err != nil {
		return err
	}
	return b.swap()
}

// recover clears away what a build that was killed left behind. If it was
// killed between the two renames of swap, the previous tree comes back.
func (b *builder) recover() error {
	if _, err := os.Stat(b.goroot); os.IsNotExist(err) {
		if err := os.Rename(b.previous(), b.goroot); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return errors.Join(os.RemoveAll(b.stage()), os.RemoveAll(b.previous()))
}

// refuseToLoseEdits reports an error if the target has edits that are not in
// the overlay, or is a tree that this program did not build.
func (b *builder) refuseToLoseEdits() error {
	if _, err := os.Stat(b.goroot); b.force || os.IsNotExist(err) {
		return nil
	}
	edits, err := repo{b.goroot}.edits()
	if err == nil && len(edits) > 0 {
		err = fmt.Errorf("%s was edited (%s): export that first, or use -force to discard it", b.goroot, summary(edits))
	}
	return err
}

// summary names the first few of paths.
func summary(paths []string) string {
	const max = 3
	if len(paths) > max {
		return fmt.Sprintf("%s and %d more", strings.Join(paths[:max], ", "), len(paths)-max)
	}
	return strings.Join(paths, ", ")
}

// fill makes the staging tree: release p with the overlay on top, its commands
// rebuilt, and the stamp.
func (b *builder) fill(p *pristine) error {
	r := repo{b.stage()}
	version := b.o.release.forkVersion()
	steps := []struct {
		say string
		do  func() error
	}{
		{"copying it", func() error { return p.copyTo(r.dir) }},
		{"", r.init},
		{"", func() error { return r.commitRelease(b.o.release.name) }},
		{"", func() error { return b.o.check(r, p) }},
		{"", func() error { return b.o.applyTo(r, inCommands) }},
		{"", func() error { return setVersion(r.dir, b.o.release) }},
		{"building its commands", func() error { return b.rebuildCommands(p) }},
		{"", func() error { return b.o.applyTo(r, func(path string) bool { return !inCommands(path) }) }},
		{"checking it", func() error { return checkVersion(r.dir, version) }},
		{"", func() error { return b.check(r.dir, version) }},
		{"", func() error { return r.commit(version) }},
		{"", func() error { return b.o.stamp().write(r.dir) }},
	}
	for _, step := range steps {
		if step.say != "" {
			b.say("%s", step.say)
		}
		if err := step.do(); err != nil {
			return err
		}
	}
	return nil
}

// check reports an error for each file that does not fit the release p, whose
// sources are in r.
func (o *overlay) check(r repo, p *pristine) error {
	var errs []error
	for _, file := range sortedKeys(o.files) {
		path := strings.TrimSuffix(file, ".patch")
		switch {
		case path == file && p.has(path):
			errs = append(errs, fmt.Errorf("%s: is in %s too: make it a patch or rename it", path, p.module))
		case path == file:
		case !p.has(path):
			errs = append(errs, fmt.Errorf("%s: does not apply: %s has no such file", file, p.module))
		default:
			err := o.checkForm(path)
			if err == nil {
				err = r.apply(path, o.name(file), "--check")
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// applyTo lays the overlay, or what of it include takes, over release p in r.
// With a nil include, as for a rebase, that is the patches.
func (o *overlay) applyTo(r repo, include func(path string) bool) error {
	for _, file := range sortedKeys(o.files) {
		path := strings.TrimSuffix(file, ".patch")
		var err error
		switch {
		case include != nil && !include(path):
		case path != file:
			err = r.apply(path, o.name(file))
		case include != nil:
			err = writeAll(r.dir, map[string][]byte{path: o.files[path]})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// name returns the name of the overlay's file.
func (o *overlay) name(file string) string { return filepath.Join(o.root, filepath.FromSlash(file)) }

// notInCommands are the packages, with all below them, whose changes the
// commands do without: they are built with upstream's own. What programs get
// from these packages, no command has a use for; the compiler runs on the
// runtime that upstream released; and a change to the runtime takes seconds
// to build, where linking it into every command takes a minute.
var notInCommands = []string{"src/runtime/", "src/testing/", "src/net/http/"}

// inCommands reports whether the commands are built with the file path.
func inCommands(path string) bool {
	for _, dir := range notInCommands {
		if strings.HasPrefix(path, dir) {
			return false
		}
	}
	return true
}

// setVersion makes the tree say the fork's version in the two places that
// have it: VERSION for people and cmd/dist, zbootstrap.go for the tools.
func setVersion(goroot string, r release) error {
	edit := func(path string, f func([]byte) []byte) error {
		name := filepath.Join(goroot, filepath.FromSlash(path))
		old, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		text := f(old)
		if bytes.Equal(text, old) {
			return fmt.Errorf("%s: no version %s to replace", path, r.name)
		}
		return os.WriteFile(name, text, 0o644)
	}
	return errors.Join(
		edit("VERSION", func(text []byte) []byte {
			return bytes.Replace(text, []byte(r.name+"\n"), []byte(r.forkVersion()+"\n"), 1)
		}),
		edit(zbootstrap, func(text []byte) []byte {
			return zbootstrapVersion.ReplaceAll(text, []byte("const version = `"+r.forkVersion()+"`"))
		}),
	)
}

// rebuildCommands builds every command that the release comes with anew,
// from the staging tree's sources as they are now.
func (b *builder) rebuildCommands(p *pristine) error {
	var names []string
	for path := range p.stored {
		if strings.HasPrefix(path, "bin/") || strings.HasPrefix(path, "pkg/tool/") {
			names = append(names, path)
		}
	}
	sort.Strings(names)
	bin := filepath.Join(b.stage(), "pkg", "rebuilt")
	defer os.RemoveAll(bin)
	if err := os.MkdirAll(bin, 0o777); err != nil {
		return err
	}
	for _, name := range names {
		// The go command links only those that differ from what is there.
		if data, err := readIfExists(b.goroot, name); err == nil && data != nil {
			if err := os.WriteFile(filepath.Join(bin, filepath.Base(name)), data, 0o755); err != nil {
				return err
			}
		}
	}
	if err := b.compile(b, b.stage(), bin, names); err != nil {
		return err
	}
	for _, name := range names {
		if err := os.Rename(filepath.Join(bin, filepath.Base(name)), filepath.Join(b.stage(), filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	return nil
}

// compileTools builds commands, named by their place in a GOROOT, into the
// directory bin.
//
// One pass does: it is the release's own toolchain, at work in the staging
// tree, that compiles and links them all, so the result does not depend on
// what was built before. Only the name that a linker bakes into a program
// as its runtime.Version has to be set apart, because the linker at work
// still has the release's.
func compileTools(b *builder, stage, bin string, names []string) error {
	version := b.o.release.forkVersion()
	// Upstream's compiler is optimized by profile, which makes it a few per
	// cent faster. It costs the build a quarter of its time, as the packages
	// that the compiler imports are compiled once more just for it.
	args := []string{"build", "-trimpath", "-pgo=off", "-gcflags=all=-dwarf=false",
		"-ldflags=-w -X=runtime.buildVersion=" + version, "-o", bin + string(filepath.Separator)}
	for _, name := range names {
		args = append(args, "cmd/"+strings.TrimSuffix(filepath.Base(name), exe))
	}
	cmd := goCommand(filepath.Join(stage, "bin", "go"+exe), filepath.Join(stage, "src"), buildEnv(stage), args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the commands failed: %v\n%s", err, bytes.TrimSpace(out))
	}
	return nil
}

// exe is how the name of a program file ends.
var exe = map[bool]string{true: ".exe"}[runtime.GOOS == "windows"]

// checkVersion asks the built go command for its version.
func checkVersion(goroot, version string) error {
	out, err := goCommand(filepath.Join(goroot, "bin", "go"+exe), goroot, buildEnv(goroot), "version").Output()
	if err != nil {
		return fmt.Errorf("the go command that was built does not run: %v", err)
	}
	want := fmt.Sprintf("go version %s %s/%s", version, runtime.GOOS, runtime.GOARCH)
	if got := strings.TrimSpace(string(out)); got != want {
		return fmt.Errorf("the go command that was built says %q, want %q", got, want)
	}
	return nil
}

// checkFiles are a program that says what built it.
var checkFiles = map[string][]byte{
	"go.mod":    []byte("module check\n"),
	"main.go":   []byte("package main\n\nimport \"runtime\"\n\nfunc main() { println(runtime.Version(), tag) }\n"),
	"fork.go":   []byte("//go:build gopmu\n\npackage main\n\nconst tag = \"gopmu\"\n"),
	"nofork.go": []byte("//go:build !gopmu\n\npackage main\n\nconst tag = \"no build tag gopmu\"\n"),
}

// checkProgram has the new toolchain build a program, and runs it.
func checkProgram(goroot, version string) error {
	dir, err := os.MkdirTemp("", "overlay-check")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := writeAll(dir, checkFiles); err != nil {
		return err
	}
	out, err := goCommand(filepath.Join(goroot, "bin", "go"+exe), dir, buildEnv(goroot), "run", ".").CombinedOutput()
	got := strings.TrimSpace(string(out))
	if err != nil {
		return fmt.Errorf("a program that the new toolchain builds does not run: %v\n%s", err, got)
	}
	// A runtime under development may print things of its own.
	if want := version + " gopmu"; !strings.HasSuffix(got, want) {
		return fmt.Errorf("a program that the new toolchain builds says %q, want %q", got, want)
	}
	return nil
}

// vet builds and vets, tests included, the packages that the overlay touches.
func (b *builder) vet() error {
	dirs := map[string]bool{}
	for file := range b.o.files {
		if path := strings.TrimSuffix(file, ".patch"); strings.HasSuffix(path, ".go") && !strings.Contains(path, "/testdata/") {
			dirs["./"+strings.TrimPrefix(filepath.Dir(path), "src/")] = true
		}
	}
	src := filepath.Join(b.goroot, "src")
	for _, verb := range []string{"build", "vet"} {
		b.say("go %s of the %d packages that the overlay touches", verb, len(dirs))
		cmd := goCommand(filepath.Join(b.goroot, "bin", "go"+exe), src, buildEnv(b.goroot), append([]string{verb}, sortedKeys(dirs)...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go %s: %v\n%s", verb, err, bytes.TrimSpace(out))
		}
	}
	b.say("they build and vet")
	return nil
}

// swap makes the staging tree the target.
func (b *builder) swap() error {
	if err := os.Rename(b.goroot, b.previous()); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.Rename(b.stage(), b.goroot); err != nil {
		return errors.Join(err, os.Rename(b.previous(), b.goroot))
	}
	b.say("built %s: %s", b.o.release.forkVersion(), b.goroot)
	return os.RemoveAll(b.previous())
}
