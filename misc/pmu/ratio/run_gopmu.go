// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.23

package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/pprof/ratio"
	"strings"
	"time"

	"pmu/internal/source"
)

// run is the program. It returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	fail := func(err error) int {
		fmt.Fprintln(stderr, "ratio:", strings.TrimPrefix(err.Error(), "ratio: "))
		return 2
	}
	var opt ratio.Options
	src := source.Source{Stdin: stdin}
	fs := flag.NewFlagSet("ratio", flag.ContinueOnError)
	fs.SetOutput(stderr)
	of := fs.String("of", "", "the `event` that is the width; without -of and -per, the profile's two")
	per := fs.String("per", "", "the `event` that it is divided by")
	fs.Float64Var(&opt.MaxError, "error", ratio.DefaultMaxError, "the relative standard error above which a `ratio` is not shown as a colour")
	page := fs.String("html", "", "write the page to this `file` instead of standard output")
	labeled := fs.String("pprof", "", "write the profile with labels to this `file`, and a page only with -html")
	fs.Int64Var(&src.Max, "max", 1<<30, "read at most so many `bytes`")
	fs.DurationVar(&src.Timeout, "timeout", 2*time.Minute, "for a URL")
	fs.Usage = func() {
		fmt.Fprintln(stderr, "usage: ratio [flags] FILE|URL")
		fs.PrintDefaults()
	}
	if err := fs.Parse(args); err != nil {
		return 2
	}
	if fs.NArg() != 1 {
		fs.Usage()
		return 2
	}
	switch {
	case !(opt.MaxError > 0):
		return fail(fmt.Errorf("-error is %v: it must be more than 0", opt.MaxError))
	case (*of == "") != (*per == ""):
		return fail(errors.New("-of and -per go together: a ratio is of two events"))
	case src.Max <= 0:
		return fail(fmt.Errorf("-max is %d: it must be more than 0", src.Max))
	}
	if *of != "" {
		opt.Events = []string{*of, *per}
	}
	name := fs.Arg(0)
	p, err := read(&src, name, opt)
	if err != nil {
		return fail(fmt.Errorf("%s: %s", name, strings.TrimPrefix(err.Error(), "ratio: ")))
	}
	if *labeled != "" {
		if err := writeFile(*labeled, p.WriteProfile); err != nil {
			return fail(err)
		}
	}
	switch {
	case *page != "":
		err = writeFile(*page, p.WriteHTML)
	case *labeled == "":
		err = p.WriteHTML(stdout)
	}
	if err != nil {
		return fail(err)
	}
	if !p.Known() {
		fmt.Fprintln(stderr, "ratio: too few samples of one of the events for any ratio")
		return 1
	}
	return 0
}

// read reads a profile.
func read(src *source.Source, name string, opt ratio.Options) (*ratio.Profile, error) {
	r, err := src.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	p, err := ratio.Read(r, opt)
	if r.Exceeded() {
		return nil, errors.New("there is more to read than -max allows")
	}
	return p, err
}

// writeFile writes a file, and leaves one that is there alone if there is nothing to write.
func writeFile(name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o666)
}
