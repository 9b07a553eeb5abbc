// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// List prints the performance events that a Go program can sample on this
// machine, as perf list does, but having tried each, and says at the end what
// that means for profiles.
//
//	../../goroot/bin/go run ./list [-all]
//	go run ./list -machine
//
// With -machine it describes the machine instead, and measures what interrupts,
// signals and the like cost there, in a second. Any Go can build that.
//
// The exit status is 0 if an event can be sampled, be it only one of the kernel's,
// 1 if none can, and 2 if an error occurred. With -machine it is 0.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
)

func main() {
	all := flag.Bool("all", false, "list one by one the events that the machine does not have")
	machine := flag.Bool("machine", false, "describe the machine and what things cost there, instead of events")
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if *machine {
		root := os.DirFS("/")
		writeFacts(os.Stdout, append(append(machineFacts(root), runFacts(root)...), costs()...))
		return
	}
	list, err := events()
	if err != nil {
		fmt.Fprintln(os.Stderr, "list:", err)
		os.Exit(2)
	}
	w := bufio.NewWriter(os.Stdout)
	writeTable(w, list, *all)
	fmt.Fprintln(w)
	writeFacts(w, machineFacts(os.DirFS("/")))
	text, status := verdict(list)
	fmt.Fprintf(w, "\n%s\n", text)
	if err := w.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "list:", err)
		os.Exit(2)
	}
	os.Exit(status)
}
