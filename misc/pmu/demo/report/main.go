// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Report compares a profile of a demonstration program with what the program
// really did, function by function.
//
//	report -program name -tolerance points [-samples n] profile
//
// Its exit status is 1 when a share is further from the truth than the
// tolerance, in percentage points, when more than 1 % of the samples are in
// none of the program's functions, or when there are fewer samples than
// -samples; 2 when there is no profile to read.
package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"

	"pmu/demo/truth"
	"pmu/profile"
)

// maxElsewhere is the share of samples, in per cent, that the runtime and the
// kernel may have.
const maxElsewhere = 1

func main() {
	program := flag.String("program", "", "what was profiled: goroutine, serial, fusion or transpose")
	tolerance := flag.Float64("tolerance", 0.5, "greatest deviation, in percentage `points`")
	least := flag.Int64("samples", 1, "least number of samples")
	flag.Parse()
	funcs := truth.Programs[*program]
	if flag.NArg() != 1 || funcs == nil {
		flag.Usage()
		os.Exit(2)
	}
	p, err := profile.ReadFile(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(2)
	}
	if err := report(os.Stdout, p, funcs, *tolerance, *least); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

// report prints the table and returns an error that says what is out of
// bounds.
func report(w io.Writer, p *profile.Profile, funcs []truth.Function, tolerance float64, least int64) error {
	count, elsewhere, err := truth.Attribute(p, funcs)
	if err != nil {
		return err
	}
	var sum int64
	for _, n := range count {
		sum += n
	}
	if sum+elsewhere < least {
		return fmt.Errorf("%d samples, want at least %d", sum+elsewhere, least)
	}
	fmt.Fprintf(w, "%-20s %8s %9s %9s %10s\n", "function", "samples", "expected", "measured", "deviation")
	var worst float64
	for _, f := range funcs {
		got := percent(count[f.Name], sum)
		fmt.Fprintf(w, "%-20s %8d %8.2f%% %8.2f%% %+9.3f\n", f.Name, count[f.Name], f.Want, got, got-f.Want)
		worst = math.Max(worst, math.Abs(got-f.Want))
	}
	out := percent(elsewhere, sum+elsewhere)
	fmt.Fprintf(w, "%-20s %8d %18.2f%%\n", "elsewhere", elsewhere, out)
	fmt.Fprintf(w, "%s, period %d, %d samples: worst deviation %.3f points, allowed %g\n",
		p.PeriodType[0], p.Period, sum+elsewhere, worst, tolerance)
	if worst > tolerance {
		return fmt.Errorf("a share is %.3f points from the truth, allowed are %g", worst, tolerance)
	}
	if out > maxElsewhere {
		return fmt.Errorf("%.2f %% of the samples are in none of the functions, allowed are %d %%", out, maxElsewhere)
	}
	return nil
}

func percent(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}
