// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package ratiocmd is go tool pmu ratio.
package ratiocmd

import (
	"bytes"
	"cmd/pmu/internal/flame"
	"cmd/pmu/internal/ratio"
	"cmd/pmu/internal/source"
	"cmd/pmu/internal/verb"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Verb shows a profile of two events as their ratio.
var Verb = &verb.Verb{
	Name:  "ratio",
	Args:  "FILE|URL",
	Short: "show a profile of two events as their ratio",
	Long: `
Ratio shows a profile of two events as the ratio of one to the other, such as cycles
per instruction or page faults per 1,000 instructions: a page with a flame graph,
whose widths are the first event and whose colours are the ratio, and a table of
functions.

The profile is one by runtime/pprof.PerfEvents, or by what uses it: go test
-cpuprofileevent cycles,instructions, or a server's /debug/pprof/profile. "-" is
standard input.

	go tool pmu ratio -http=: 'http://localhost:6060/debug/pprof/profile?event=cycles,instructions&seconds=5'
	go tool pmu ratio cpu.pprof >ratio.html

The exit status is 0 if the whole profile has a ratio within the limit of the error,
1 if not, when what was asked for is written nevertheless, and 2 if an error occurred.
`,
	Run: run,
}

func run(v *verb.Verb, args []string, std verb.IO) int {
	var opt ratio.Options
	src := source.Source{Stdin: std.Stdin}
	fs := v.Flags(std)
	of := fs.String("of", "", "the `event` that is the width; without -of and -per, they are the profile's two")
	per := fs.String("per", "", "the `event` that it is divided by")
	fs.Float64Var(&opt.MaxError, "error", ratio.DefaultMaxError, "the relative standard error above which a `ratio` is not shown as a colour")
	page := fs.String("html", "", "write the page to this `file` instead of to standard output")
	labeled := fs.String("pprof", "", "write the profile to this `file`, with a label \"ratio\" for each sample, the class of\nwhat its innermost function executes, and the page only with -html or -http")
	http := v.HTTP(fs)
	src.Flags(fs)
	if status, ok := v.Parse(fs, args, std); !ok {
		return status
	}
	if fs.NArg() != 1 {
		fs.Usage()
		return verb.Error
	}
	switch {
	case !(opt.MaxError > 0):
		return v.Fail(std, fmt.Errorf("-error is %v: it must be more than 0", opt.MaxError))
	case (*of == "") != (*per == ""):
		return v.Fail(std, errors.New("-of and -per go together: a ratio is of two events"))
	}
	if *of != "" {
		opt.Events = []string{*of, *per}
	}
	name := fs.Arg(0)
	p, err := read(&src, name, opt)
	if err != nil {
		return v.Fail(std, fmt.Errorf("%s: %s", name, strings.TrimPrefix(err.Error(), "ratio: ")))
	}
	if *labeled != "" {
		if err := writeFile(*labeled, p.WriteProfile); err != nil {
			return v.Fail(std, err)
		}
	}
	switch {
	case *page != "":
		err = writeFile(*page, p.WriteHTML)
	case *labeled == "" && !http.Given():
		err = p.WriteHTML(std.Stdout)
	}
	if err != nil {
		return v.Fail(std, err)
	}
	status := verb.OK
	if !p.Known() {
		fmt.Fprintln(std.Stderr, "pmu ratio: too few samples of one of the events for any ratio")
		status = verb.Other
	}
	if http.Given() {
		if err := http.ServePage(std, flame.ContentSecurityPolicy(), p.WriteHTML); err != nil {
			return v.Fail(std, err)
		}
	}
	return status
}

// read reads a profile.
func read(src *source.Source, name string, opt ratio.Options) (*ratio.Profile, error) {
	r, err := src.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	p, err := ratio.Read(r, opt)
	if err := r.Err(); err != nil {
		return nil, err
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
