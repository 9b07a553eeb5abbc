// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Lines finds false sharing in a profile with data addresses: cache lines of which one
// goroutine writes one place while another one uses another place, so that the line goes
// from processor to processor although nothing is shared.
//
//	../../goroot/bin/go run ./lines [flags] FILE
//
// The file is a profile by runtime/pprof.DataAddresses. For each line, busiest first, it
// prints every place that is accessed: how often, the object with its type, field and offset,
// how, by which goroutines on which processors, and where from.
//
//	-min N       leave out places with fewer samples, 10
//	-all         print lines without false sharing, too
//	-pprof FILE  write the profile there with a label "sharing" for the samples of lines with
//	             false sharing, that has their places
//
// The exit status is 0 if there is no false sharing, 1 if there is, and 2 if an error
// occurred.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"

	"pmu/profile"
)

func main() {
	least := flag.Int64("min", 10, "leave out places with fewer samples")
	all := flag.Bool("all", false, "print lines without false sharing, too")
	labeled := flag.String("pprof", "", "write the profile with labels to this `file`")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	shared, err := run(flag.Arg(0), *least, *all, *labeled)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "lines:", err)
		os.Exit(2)
	case shared:
		os.Exit(1)
	}
}

// run looks at the profile in a file, and reports whether there is false sharing.
func run(file string, least int64, all bool, labeled string) (shared bool, err error) {
	f, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	data, err := profile.ReadAll(f)
	if err != nil {
		return false, fmt.Errorf("%s: %w", file, err)
	}
	p, err := profile.Read(bytes.NewReader(data))
	if err != nil {
		return false, fmt.Errorf("%s: %w", file, err)
	}
	lines, err := find(p, least)
	if err != nil {
		return false, fmt.Errorf("%s: %w", file, err)
	}
	if labeled != "" {
		var out bytes.Buffer
		if err := profile.WriteLabeled(&out, data, "sharing", sharing(p, lines)); err != nil {
			return false, fmt.Errorf("%s: %w", file, err)
		}
		if err := os.WriteFile(labeled, out.Bytes(), 0o666); err != nil {
			return false, err
		}
	}
	return report(os.Stdout, lines, all), nil
}
