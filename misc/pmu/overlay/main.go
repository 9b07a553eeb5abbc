// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Overlay builds and maintains the fork: an overlay of new files and
// zero-context patches over a pinned release of Go.
//
// Run it in the repository as
//
//	go run -C misc/pmu ./overlay COMMAND
//
// which for build is what make.bash does. To work on the fork:
//
//	./make.bash                              # build goroot
//	(edit in goroot/src, test with goroot/bin/go)
//	go run -C misc/pmu ./overlay export      # goroot's edits → the overlay
//	go run -C misc/pmu ./overlay status      # anything left to export or build?
//
// To carry it to another release, first somewhere else, then in place:
//
//	go run -C misc/pmu ./overlay rebase -o /tmp/new -build go1.28.1
//	go run -C misc/pmu ./overlay rebase -o "$PWD" go1.28.1
//
// Where the merge leaves conflicts, it stops: resolve them in /tmp/new/goroot.rebase,
// which is a git working tree, then run resolve. If there are none but the
// result does not compile, edit /tmp/new and try again with
//
//	go run -C misc/pmu ./overlay build -overlay /tmp/new -vet
//
// Every patch begins with a sentence that says what it is for; footprint demands
// it, and export keeps it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const usage = `usage: overlay COMMAND [flags]

  build       build the toolchain, unless it is up to date
  status      say what differs between the toolchain's sources and the overlay
  export      write what was edited in the toolchain's sources to the overlay
  footprint   count the upstream lines that the overlay adds and removes,
              and demand a sentence of commentary of each patch
  rebase      carry the overlay to another release by three-way merge
  resolve     finish a rebase, once the conflicts that it left are resolved

Each takes -h.
`

// A command is a subcommand of overlay. Its setup declares its flags besides
// the common ones and returns what runs it.
type command struct {
	name  string
	args  string // operands, for the usage message
	setup func(c *common, fs *flag.FlagSet) func(args []string) error
}

var commands = []command{
	{"build", "", setupBuild},
	{"status", "", setupStatus},
	{"export", "[PATH...]", setupExport},
	{"footprint", "", setupFootprint},
	{"rebase", "RELEASE", setupRebase},
	{"resolve", "", setupResolve},
}

// common are the flags of all commands.
type common struct {
	root    string // of the overlay
	goroot  string
	release string
}

func (c *common) declare(fs *flag.FlagSet) {
	fs.StringVar(&c.root, "overlay", "", "the overlay's `DIR` (default: the one around the current directory)")
	fs.StringVar(&c.goroot, "goroot", "", "the toolchain's `DIR` (default: goroot in the overlay)")
	fs.StringVar(&c.release, "release", "", "the upstream `RELEASE`, such as go1.27.4, instead of the pinned one")
}

// load completes the flags and reads the overlay.
func (c *common) load() (*overlay, error) {
	dir, err := filepath.Abs(c.root)
	if err != nil {
		return nil, err
	}
	root, err := findRoot(dir)
	if err != nil {
		return nil, err
	}
	if c.goroot == "" {
		c.goroot = filepath.Join(root, "goroot")
	}
	if c.goroot, err = filepath.Abs(c.goroot); err != nil {
		return nil, err
	}
	o, err := loadOverlay(root)
	if err == nil && c.release != "" {
		o.release = o.release.named(c.release)
	}
	return o, err
}

func main() {
	if len(os.Args) > 1 {
		for _, cmd := range commands {
			if cmd.name == os.Args[1] {
				os.Exit(cmd.run(os.Args[2:]))
			}
		}
	}
	fmt.Fprint(os.Stderr, usage)
	os.Exit(2)
}

// run runs the command and returns its exit status.
func (cmd command) run(args []string) int {
	fs := flag.NewFlagSet(cmd.name, flag.ExitOnError)
	fs.Usage = func() {
		fmt.Fprintf(os.Stderr, "usage: overlay %s [flags] %s\n", cmd.name, cmd.args)
		fs.PrintDefaults()
	}
	c := new(common)
	c.declare(fs)
	do := cmd.setup(c, fs)
	fs.Parse(args)
	if cmd.args == "" && fs.NArg() > 0 || cmd.args == "RELEASE" && fs.NArg() != 1 {
		fs.Usage()
		return 2
	}
	if err := do(fs.Args()); err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			fmt.Fprintf(os.Stderr, "overlay: %s\n", line)
		}
		return 1
	}
	return 0
}

func setupBuild(c *common, fs *flag.FlagSet) func([]string) error {
	force := fs.Bool("force", false, "build even if nothing changed, and discard edits that were not exported")
	vet := fs.Bool("vet", false, "then build and vet the packages that the overlay touches")
	return func([]string) error {
		o, err := c.load()
		if err != nil {
			return err
		}
		b := newBuilder(o, c.goroot, os.Stdout)
		b.force = *force
		if err := b.run(); err != nil {
			return err
		}
		if *vet {
			if err := b.vet(); err != nil {
				return err
			}
		}
		fmt.Printf(howToUse, o.release.forkVersion(), filepath.Join(c.goroot, "bin"))
		return nil
	}
}

// howToUse is what build says in the end.
const howToUse = `
%s is ready. Put it first in PATH and use it as any go command:

	export PATH=%s:$PATH

Programs that it builds have the build tag gopmu. README.pmu.md has the rest.
`

func setupStatus(c *common, fs *flag.FlagSet) func([]string) error {
	return c.loaded(func(o *overlay) error { return status(os.Stdout, o, c.goroot) })
}

// loaded returns a command without arguments that needs the overlay.
func (c *common) loaded(do func(o *overlay) error) func([]string) error {
	return func([]string) error {
		o, err := c.load()
		if err != nil {
			return err
		}
		return do(o)
	}
}

func setupExport(c *common, fs *flag.FlagSet) func([]string) error {
	force := fs.Bool("force", false, "export also where the overlay changed since the toolchain was built")
	return func(args []string) error {
		return c.loaded(func(o *overlay) error {
			x := &exporter{o: o, repo: repo{c.goroot}, under: args, force: *force, output: os.Stdout}
			return x.run()
		})(args)
	}
}

func setupFootprint(c *common, fs *flag.FlagSet) func([]string) error {
	return c.loaded(func(o *overlay) error { return footprint(os.Stdout, o) })
}

func setupRebase(c *common, fs *flag.FlagSet) func([]string) error {
	dir := fs.String("o", "", "write the result to `DIR`, which may be the overlay itself (default: only report)")
	build := fs.Bool("build", false, "also build the result, in DIR/goroot or -goroot, and vet the packages that it touches")
	return func(args []string) error {
		goroot := c.goroot
		o, err := c.load()
		if err != nil {
			return err
		}
		if *dir == "" {
			if *build {
				return errors.New("rebase: -build needs -o")
			}
			return rebaseTo(os.Stdout, o, args[0], "")
		}
		if *dir, err = filepath.Abs(*dir); err != nil {
			return err
		}
		if err := rebaseTo(os.Stdout, o, args[0], *dir); err != nil || !*build {
			return err
		}
		c := &common{root: *dir, goroot: goroot}
		return c.loaded(func(o *overlay) error {
			b := newBuilder(o, c.goroot, os.Stdout)
			if err := b.run(); err != nil {
				return err
			}
			return b.vet()
		})(nil)
	}
}

func setupResolve(c *common, fs *flag.FlagSet) func([]string) error {
	return func([]string) error {
		dir, err := filepath.Abs(c.root)
		if err != nil {
			return err
		}
		root, err := findRoot(dir)
		if err != nil {
			return err
		}
		return resolve(os.Stdout, root)
	}
}
