// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

/*
Pmu explains what profiles and tasks have recorded.

Usage:

	go tool pmu verb [flags] [arguments]

The verbs are:

	list     list the events that this machine, or a server's, can sample
	tasks    say what requests cost, where they waited and why they were slow
	why      say why some requests are slow, from many of them
	slow     say what slow requests execute more of than usual ones
	ratio    show a profile of two events as their ratio
	lines    find false sharing in a profile with data addresses

Arguments are files and URLs of a server that imports [net/http/pprof]. Of a URL such
as http://localhost:6060, list, tasks, why and slow know which page they need. With -http,
tasks, why, slow and ratio open their pages in a browser. For more about a verb, run go tool
pmu help verb.
*/
package main

import (
	"cmd/pmu/internal/linescmd"
	"cmd/pmu/internal/listcmd"
	"cmd/pmu/internal/ratiocmd"
	"cmd/pmu/internal/slowcmd"
	"cmd/pmu/internal/taskscmd"
	"cmd/pmu/internal/verb"
	"cmd/pmu/internal/whycmd"
	"fmt"
	"io"
	"os"
)

var verbs = []*verb.Verb{listcmd.Verb, taskscmd.Verb, whycmd.Verb, slowcmd.Verb, ratiocmd.Verb, linescmd.Verb}

func main() {
	os.Exit(run(os.Args[1:], verb.IO{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}))
}

// run runs the verb, and returns the exit status.
func run(args []string, std verb.IO) int {
	if len(args) == 0 {
		usage(std.Stderr)
		return verb.Error
	}
	name, args := args[0], args[1:]
	switch name {
	case "-h", "-help", "--help", "help":
		if len(args) == 0 {
			usage(std.Stdout)
			return verb.OK
		}
		name, args = args[0], []string{"-h"}
	}
	for _, v := range verbs {
		if v.Name == name {
			return v.Run(v, args, std)
		}
	}
	fmt.Fprintf(std.Stderr, "pmu: there is no verb %q\n", name)
	usage(std.Stderr)
	return verb.Error
}

func usage(w io.Writer) {
	fmt.Fprint(w, "usage: go tool pmu verb [flags] [arguments]\n\nThe verbs are:\n\n")
	for _, v := range verbs {
		fmt.Fprintf(w, "\t%-8s %s\n", v.Name, v.Short)
	}
	fmt.Fprint(w, "\nFor more about a verb, run: go tool pmu help verb\n")
}
