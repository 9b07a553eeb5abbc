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
// which is what make.bash does to build.
package main

import (
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
  footprint   count the upstream lines that the overlay adds and removes

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
	if cmd.args == "" && fs.NArg() > 0 {
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
	return func([]string) error {
		o, err := c.load()
		if err != nil {
			return err
		}
		b := newBuilder(o, c.goroot, os.Stdout)
		b.force = *force
		return b.run()
	}
}

func setupStatus(c *common, fs *flag.FlagSet) func([]string) error {
	return func([]string) error {
		o, err := c.load()
		if err != nil {
			return err
		}
		return status(os.Stdout, o, c.goroot)
	}
}

func setupExport(c *common, fs *flag.FlagSet) func([]string) error {
	x := new(exporter)
	fs.BoolVar(&x.force, "force", false, "export also where the overlay changed since the toolchain was built")
	fs.BoolVar(&x.prune, "prune", false, "for a toolchain built by hand: drop from the overlay what it does not have")
	return func(args []string) (err error) {
		if x.o, err = c.load(); err != nil {
			return err
		}
		if x.p, err = x.o.release.fetch(); err != nil {
			return err
		}
		x.goroot, x.under = c.goroot, args
		return x.run(os.Stdout)
	}
}

func setupFootprint(c *common, fs *flag.FlagSet) func([]string) error {
	return func([]string) error {
		o, err := c.load()
		if err != nil {
			return err
		}
		return footprint(os.Stdout, o)
	}
}
