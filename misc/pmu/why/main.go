// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Why says why some requests are slow: which events and parts of time make the tail of their
// latency, and which conditions describe the slow ones. It reads the records of tasks, and
// tables from elsewhere.
//
//	../../goroot/bin/go run ./why [flags] FILE|URL...
//
// A file has the records of tasks, as package runtime/task/record writes them or as lines of
// JSON; spans as JSON of OTLP; or a table, as CSV with a header or as an object of JSON a
// line. In a table the column latency is how long a request took, and every other column is
// an attribute, of numbers or of words. Of spans a request is a span without a parent, and
// its attributes are the times that spans below it took, without those that they waited for
// themselves. "-" is standard input. All files are one table.
//
// A server that records tasks says the same itself, as a page: /debug/pprof/why.
//
//	-p P           the percentile that is explained: 0.99
//	-kind KIND     only requests of this kind; without it, of the most frequent one
//	-latency NAME  the column of the latency
//	-columns NAMES only these columns, with commas between; nothing is kept of others
//	-bandwidth B   of clusters of values, in the unit of each column; 0 estimates it
//	-seed N        of what is drawn at random
//	-segments N    compares N parts of the run, in order of time, instead; without -html and -sql
//	-time NAME     the column of the time: numbers, or up to 65,536 different dates like
//	               2006-01-02T15:04:05.999Z
//	-html FILE     writes a page with drawings there, too
//	-sql           prints the analysis as SQL for a database, with thresholds of these files
//	-max BYTES     to read at most from one file or URL
//	-table BYTES   that the table may take: 8 bytes a cell, with the empty ones. 8 GiB
//	-timeout D     for a URL
//
// What cannot be read of a file is skipped, and reported. The exit status is 0 if there is a
// report, 1 if there were no requests, and 2 if an error occurred.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
