// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Report compares a profile of a demonstration program with what the program
// really did, function by function.
//
//	report -program goroutine|serial -tolerance points [-samples n] profile
//
// Its exit status is 1 when a share is further from the truth than the
// tolerance, in percentage points, when more than 1 % of the samples are in
// none of the program's ten functions, or when there are fewer samples than
// -samples; 2 when there is no profile to read.
package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"
)

// A function is one of a program's ten, with the per cent of the program's
// work that it does.
type function struct {
	name string
	want float64
}

var programs = map[string][]function{
	"goroutine": {
		{"main.f1", 10}, {"main.f2", 10}, {"main.f3", 10}, {"main.f4", 10}, {"main.f5", 10},
		{"main.f6", 10}, {"main.f7", 10}, {"main.f8", 10}, {"main.f9", 10}, {"main.f10", 10},
	},
	"serial": {
		{"main.A_expect_1_82", 100 * 1. / 55},
		{"main.B_expect_3_64", 100 * 2. / 55},
		{"main.C_expect_5_45", 100 * 3. / 55},
		{"main.D_expect_7_27", 100 * 4. / 55},
		{"main.E_expect_9_09", 100 * 5. / 55},
		{"main.F_expect_10_91", 100 * 6. / 55},
		{"main.G_expect_12_73", 100 * 7. / 55},
		{"main.H_expect_14_55", 100 * 8. / 55},
		{"main.I_expect_16_36", 100 * 9. / 55},
		{"main.J_expect_18_18", 100 * 10. / 55},
	},
}

// maxElsewhere is the share of samples, in per cent, that the runtime and the
// kernel may have.
const maxElsewhere = 1

func main() {
	program := flag.String("program", "", "what was profiled: goroutine or serial")
	tolerance := flag.Float64("tolerance", 0.5, "greatest deviation, in percentage `points`")
	least := flag.Int64("samples", 1, "least number of samples")
	flag.Parse()
	funcs := programs[*program]
	if flag.NArg() != 1 || funcs == nil {
		flag.Usage()
		os.Exit(2)
	}
	p, err := readProfile(flag.Arg(0))
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
func report(w io.Writer, p *profile, funcs []function, tolerance float64, least int64) error {
	count, elsewhere, err := attribute(p, funcs)
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
		got := percent(count[f.name], sum)
		fmt.Fprintf(w, "%-20s %8d %8.2f%% %8.2f%% %+9.3f\n", f.name, count[f.name], f.want, got, got-f.want)
		worst = math.Max(worst, math.Abs(got-f.want))
	}
	out := percent(elsewhere, sum+elsewhere)
	fmt.Fprintf(w, "%-20s %8d %18.2f%%\n", "elsewhere", elsewhere, out)
	fmt.Fprintf(w, "%s, period %d, %d samples: worst deviation %.3f points, allowed %g\n",
		p.periodType[0], p.period, sum+elsewhere, worst, tolerance)
	if worst > tolerance {
		return fmt.Errorf("a share is %.3f points from the truth, allowed are %g", worst, tolerance)
	}
	if out > maxElsewhere {
		return fmt.Errorf("%.2f %% of the samples are in none of the ten functions, allowed are %d %%", out, maxElsewhere)
	}
	return nil
}

// attribute counts the samples of each function and those of none. The ten
// call nothing, so a frame further in is the runtime's, as when the sampling
// signal catches the thread at the entry of runtime.asyncPreempt: the sample
// is the function's all the same.
func attribute(p *profile, funcs []function) (count map[string]int64, elsewhere int64, err error) {
	index := -1
	for i, t := range p.types {
		if t == [2]string{"samples", "count"} {
			index = i
		}
	}
	if index < 0 {
		return nil, 0, fmt.Errorf("the profile has no samples/count among its types, %v", p.types)
	}
	count = make(map[string]int64)
	for _, f := range funcs {
		count[f.name] = 0
	}
	for _, s := range p.samples {
		if f, ok := find(s.stack, count); ok {
			count[f] += s.values[index]
		} else {
			elsewhere += s.values[index]
		}
	}
	return count, elsewhere, nil
}

func find(stack []string, names map[string]int64) (string, bool) {
	for _, f := range stack {
		if _, ok := names[f]; ok {
			return f, true
		}
	}
	return "", false
}

func percent(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}
