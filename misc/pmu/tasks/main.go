// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tasks reads the records of tasks that servers have written, from files or from their
// /debug/pprof/tasks, and says what requests cost, where they waited and why they were
// slow. Records of several servers are joined by the IDs of traces.
//
//	../../goroot/bin/go run ./tasks [flags] FILE|URL...
//
// A file has records as package runtime/task/record writes them, or as lines of JSON; "-" is
// standard input. Without flags it prints a report of all. With -trace ID it prints one
// request: its tasks on all servers, why it took so long and its critical path.
//
//	-trace ID      only this trace
//	-kind KIND     only tasks of this kind
//	-slow          only slow tasks
//	-public        without notes, which may hold secrets
//	-format F      text, or a conversion: json (lines), otlp (OTLP's JSON, for tracing
//	               systems), pprof (for go tool pprof), tasks (the format of files), svg
//	               (a diagram of the trace, or of the slowest one)
//	-o FILE        to write to instead of standard output
//	-max BYTES     to read at most from one file or URL
//	-timeout D     for a URL
//
// What cannot be read of a file is skipped, and reported. The exit status is 0 if there were
// tasks, 1 if there were none, and 2 if an error occurred.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
