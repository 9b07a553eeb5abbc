// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// List prints the performance events that a Go program can sample on this
// machine, as perf list does, but having tried each, and says at the end what
// that means for profiles.
//
//	../../goroot/bin/go run ./list [-all]
//
// The exit status is 0 if an event can be sampled, even if it is only one of the
// kernel's, 1 if none can, and 2 if an error occurred.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
)

func main() {
	all := flag.Bool("all", false, "list one by one the events that the machine does not have")
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	list, err := events()
	if err != nil {
		fmt.Fprintln(os.Stderr, "list:", err)
		os.Exit(2)
	}
	w := bufio.NewWriter(os.Stdout)
	writeTable(w, list, *all)
	text, status := verdict(list)
	fmt.Fprintf(w, "\n%s\n", text)
	if err := w.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "list:", err)
		os.Exit(2)
	}
	os.Exit(status)
}
