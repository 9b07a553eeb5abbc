// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package linescmd is go tool pmu lines.
package linescmd

import (
	"bytes"
	"cmd/pmu/internal/prof"
	"cmd/pmu/internal/source"
	"cmd/pmu/internal/verb"
	"fmt"
	"os"
)

// Verb finds false sharing.
var Verb = &verb.Verb{
	Name:  "lines",
	Args:  "FILE|URL",
	Short: "find false sharing in a profile with data addresses",
	Long: `
Lines finds false sharing: cache lines where one goroutine writes one place while
another one uses another place, so that the line goes from processor to processor
although nothing is shared.

The profile is one by runtime/pprof.DataAddresses, in a file, at a URL, or "-" for
standard input. For each line, busiest first, lines prints every place that is
accessed: how often, the object with its type, field and offset, how, by which
goroutines on which processors, and where from.

	go tool pmu lines cpu.pprof

The exit status is 0 if there is no false sharing, 1 if there is, and 2 if an error
occurred.
`,
	Run: run,
}

func run(v *verb.Verb, args []string, std verb.IO) int {
	src := source.Source{Stdin: std.Stdin}
	fs := v.Flags(std)
	least := fs.Int64("min", 10, "leave out places with fewer than `n` samples")
	all := fs.Bool("all", false, "print lines without false sharing, too")
	labeled := fs.String("pprof", "", "write the profile to this `file`, with a label \"sharing\" for samples of lines\nwith false sharing, that has their places")
	src.Flags(fs)
	if status, ok := v.Parse(fs, args, std); !ok {
		return status
	}
	if fs.NArg() != 1 {
		fs.Usage()
		return verb.Error
	}
	name := fs.Arg(0)
	fail := func(err error) int { return v.Fail(std, fmt.Errorf("%s: %w", name, err)) }
	p, err := read(&src, name)
	if err != nil {
		return fail(err)
	}
	lines, err := find(p, *least)
	if err != nil {
		return fail(err)
	}
	if *labeled != "" {
		var out bytes.Buffer
		if err := p.WriteLabeled(&out, "sharing", sharing(p, lines)); err != nil {
			return fail(err)
		}
		if err := os.WriteFile(*labeled, out.Bytes(), 0o666); err != nil {
			return v.Fail(std, err)
		}
	}
	if report(std.Stdout, lines, *all) {
		return verb.Other
	}
	return verb.OK
}

// read reads the profile.
func read(src *source.Source, name string) (*prof.File, error) {
	r, err := src.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	p, err := prof.Read(r)
	if err2 := r.Err(); err2 != nil {
		err = err2
	}
	return p, err
}
