// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Runvm runs one program, for linux/arm64 or linux/riscv64, in the emulated machine as if it ran
// here: its arguments, environment, directory and exit status are passed on,
// its output appears as it is written.
//
//	runvm program [arguments]
//
// The environment variables that steer it are the rows of knobs in
// options.go. go_linux_arm64_exec and go_linux_riscv64_exec call it, so that the go command runs
// tests and programs in the machine by itself.
//
// Exit status: the program's; 124 when it ran out of time; 97 when the
// machine did not get as far as to run it, or lost its files.
package main

import (
	"errors"
	"fmt"
	"os"
)

const (
	exitTimeout = 124 // as timeout(1)
	exitMachine = 97
)

// errTimeout means that the program did not end within Options.Timeout.
var errTimeout = errors.New("timeout")

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "pmuvm: %v\n", err)
	}
	os.Exit(code)
}

func run(args []string) (int, error) {
	if len(args) == 0 {
		return exitMachine, errors.New("usage: runvm program [arguments]")
	}
	opt, err := optionsFromEnv(os.LookupEnv)
	if err != nil {
		return exitMachine, err
	}
	tmp, err := os.MkdirTemp("", "pmuvm-")
	if err != nil {
		return exitMachine, err
	}
	defer os.RemoveAll(tmp)

	m := &machine{opt: opt, tmp: tmp, split: !sameFile(os.Stdout, os.Stderr)}
	if err := m.prepare(args); err != nil {
		return exitMachine, err
	}
	code, err := m.boot()
	if errors.Is(err, errTimeout) {
		return exitTimeout, fmt.Errorf("%s did not end within %v; PMUVM_TIMEOUT sets the limit, in seconds", args[0], opt.Timeout)
	}
	if err != nil {
		return exitMachine, err
	}
	if err := m.fetch(); err != nil {
		return exitMachine, err
	}
	return code, nil
}

// sameFile reports whether two open files are one, as the go command makes
// standard output and error of a test.
func sameFile(a, b *os.File) bool {
	fa, err := a.Stat()
	if err != nil {
		return false
	}
	fb, err := b.Stat()
	return err == nil && os.SameFile(fa, fb)
}
