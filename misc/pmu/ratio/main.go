// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Ratio shows a profile of two events as the ratio of one to the other, such as cycles per
// instruction or page faults per 1,000 instructions. It writes a page with a flame graph, whose
// widths are the first event and whose colours are the ratio, and a table of functions.
//
//	../../goroot/bin/go run ./ratio [flags] FILE|URL >ratio.html
//
// The file is a profile by runtime/pprof.PerfEvents, or by what uses it: go test
// -cpuprofileevent cycles,instructions, or /debug/pprof/profile?event=cycles,instructions.
// "-" is standard input.
//
//	-of EVENT    the event that is the width
//	-per EVENT   the event that it is divided by. Without these, they are the profile's two
//	-html FILE   writes the page there instead of to standard output
//	-pprof FILE  writes the profile there with a label "ratio" for each sample, the class of
//	             what its innermost function executes, and the page only with -html
//	-error E     the relative standard error above which a ratio is not shown as a colour, 0.2
//	-max BYTES   to read at most
//	-timeout D   for a URL
//
// A server writes the page itself: /debug/pprof/profile?event=cycles,instructions&format=html.
//
// The exit status is 0 if the whole profile has a ratio within the limit of the error, 1 if
// not, when what was asked for is written nevertheless, and 2 if an error occurred.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
