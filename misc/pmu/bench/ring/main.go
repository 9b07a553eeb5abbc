// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

// Ring runs a command with rings that the kernel writes samples to and nobody reads. At
// the end it prints the number of events of all the command's threads and children.
//
//	ring event period command [arguments]
package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"

	"pmu/bench/bare"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "ring:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("usage: ring event period command [arguments]")
	}
	event, ok := bare.Events[args[0]]
	if !ok {
		return fmt.Errorf("no event %q", args[0])
	}
	period, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil || period == 0 {
		return fmt.Errorf("period %q", args[1])
	}
	runtime.LockOSThread()
	cmd := exec.Command(args[2], args[3:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	n, err := bare.Run(cmd, event, bare.User, period)
	if err != nil {
		return err
	}
	fmt.Println("events", n)
	return nil
}
