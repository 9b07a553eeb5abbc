// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package demo is what the demonstration programs share: their flags, and
// the profile that is taken while they work.
package demo

import (
	"flag"
	"fmt"
	"io"
	"os"
)

// Main runs a demonstration program, which is there to be sampled by the preset event:
// it parses the flags, calls work with the scale while the profile is on, and exits with
// status 1 if the profile cannot be started. Work is linear in its argument; 1 is about a
// second or two.
func Main(preset string, work func(scale float64)) {
	event := flag.String("event", preset, "what to sample by: timer, or an `event` as perf list names it")
	period := flag.Uint64("period", 0, "events per sample; 0 for the event's preset")
	out := flag.String("o", "", "write the profile to `file`; without it, nothing is profiled")
	scale := flag.Float64("scale", 1, "amount of work")
	flag.Parse()
	if flag.NArg() > 0 || *scale <= 0 {
		flag.Usage()
		os.Exit(2)
	}
	if *out == "" {
		work(*scale)
		return
	}
	if err := profile(*out, *event, *period, func() { work(*scale) }); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// profile writes a profile of work to the file out. If it cannot be started, no file
// is left.
func profile(out, event string, period uint64, work func()) error {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	stop, err := start(io.Writer(f), event, period)
	if err != nil {
		f.Close()
		os.Remove(out)
		return err
	}
	work()
	stop()
	return f.Close()
}
