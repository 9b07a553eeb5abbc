// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package listcmd is go tool pmu list.
package listcmd

import (
	"bufio"
	"cmd/pmu/internal/source"
	"cmd/pmu/internal/verb"
	"fmt"
	"runtime/pprof"
)

// Verb lists events.
var Verb = &verb.Verb{
	Name:  "list",
	Args:  "[URL]",
	Short: "list the events that this machine, or a server's, can sample",
	Long: `
List prints the performance events that a Go program can sample on this machine, as
perf list does, but having tried each, and says at the end what that means for
profiles.

	go tool pmu list

With the address of a server it prints what that server can sample, which depends on
its machine and on its permissions:

	go tool pmu list http://localhost:6060

The server tries each event with the system call perf_event_open. It ends if a seccomp
filter kills for that; see net/http/pprof.

The exit status is 0 if an event can be sampled, even if it is only one of the
kernel's, 1 if none can, and 2 if an error occurred.
`,
	Run: run,
}

func run(v *verb.Verb, args []string, std verb.IO) int {
	fs := v.Flags(std)
	src := source.Source{Stdin: std.Stdin, Max: 16 << 20}
	src.Flags(fs)
	all := fs.Bool("all", false, "list one by one the events that the machine does not have")
	if status, ok := v.Parse(fs, args, std); !ok {
		return status
	}
	var list []pprof.EventInfo
	switch fs.NArg() {
	case 0:
		list = pprof.Events()
	case 1:
		var err error
		if list, err = serverEvents(&src, fs.Arg(0)); err != nil {
			return v.Fail(std, err)
		}
	default:
		fs.Usage()
		return verb.Error
	}
	w := bufio.NewWriter(std.Stdout)
	writeTable(w, list, *all)
	text, status := verdict(list)
	fmt.Fprintf(w, "\n%s\n", text)
	if err := w.Flush(); err != nil {
		return v.Fail(std, err)
	}
	return status
}
