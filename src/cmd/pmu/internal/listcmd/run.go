// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package listcmd is go tool pmu list.
package listcmd

import (
	"bufio"
	"cmd/pmu/internal/verb"
	"fmt"
	"runtime/pprof"
)

// Verb lists events.
var Verb = &verb.Verb{
	Name:  "list",
	Short: "list the events that this machine can sample",
	Long: `
List prints the performance events that a Go program can sample on this machine, as
perf list does, but having tried each, and says at the end what that means for
profiles.

	go tool pmu list

The exit status is 0 if an event can be sampled, even if it is only one of the
kernel's, 1 if none can, and 2 if an error occurred.
`,
	Run: run,
}

func run(v *verb.Verb, args []string, std verb.IO) int {
	fs := v.Flags(std)
	all := fs.Bool("all", false, "list one by one the events that the machine does not have")
	if status, ok := v.Parse(fs, args, std); !ok {
		return status
	}
	if fs.NArg() > 0 {
		fs.Usage()
		return verb.Error
	}
	list := pprof.Events()
	w := bufio.NewWriter(std.Stdout)
	writeTable(w, list, *all)
	text, status := verdict(list)
	fmt.Fprintf(w, "\n%s\n", text)
	if err := w.Flush(); err != nil {
		return v.Fail(std, err)
	}
	return status
}
