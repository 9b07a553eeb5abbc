// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package truth says what the demonstration programs really do.
package truth

import (
	"fmt"
	"slices"
	"strings"

	"pmu/profile"
)

// A Function is one of a program's, with the per cent of the program's
// work that it does.
type Function struct {
	Name string
	Want float64
}

// Programs are the demonstration programs by name.
var Programs = map[string][]Function{
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
	// Of cache lines; see the programs.
	"fusion":    {{"main.first", 25}, {"main.second", 37.5}, {"main.fused", 37.5}},
	"transpose": {{"main.byColumns", 100 * 18. / 22}, {"main.byRows", 100 * 4. / 22}},
}

// Attribute counts the samples of each function, and the samples of none. The
// functions call nothing, so a deeper frame is the runtime's, as when the signal
// interrupts the thread at the entry of runtime.asyncPreempt; the sample still counts
// for the function.
func Attribute(p *profile.Profile, funcs []Function) (count map[string]int64, elsewhere int64, err error) {
	index := p.Index("samples")
	if index < 0 {
		return nil, 0, fmt.Errorf("the profile has no samples/count among its types, %v", p.Types)
	}
	count, elsewhere = AttributeValue(p, funcs, index)
	return count, elsewhere, nil
}

// AttributeValue is Attribute for what the samples stand for: the sum of their
// values with the given index. Left out is what depends on who else uses the machine. That
// is the thread of the runtime that watches the scheduler, which sleeps and wakes hundreds of
// times a second; the kernel's work that none of the functions has called, as where it gives the
// CPU to another process; and what was lost, which the profile's ledger counts.
func AttributeValue(p *profile.Profile, funcs []Function, index int) (sum map[string]int64, elsewhere int64) {
	sum = make(map[string]int64)
	for _, f := range funcs {
		sum[f.Name] = 0
	}
	for _, s := range p.Samples {
		if f, ok := find(s.Stack, sum); ok {
			sum[f] += s.Values[index]
		} else if !slices.ContainsFunc(s.Stack, machines) {
			elsewhere += s.Values[index]
		}
	}
	return sum, elsewhere
}

// machines reports whether a function is of a stack that AttributeValue leaves out.
func machines(f string) bool {
	return f == "runtime.sysmon" || strings.HasSuffix(f, " [k]") || strings.HasPrefix(f, "runtime._PerfLost")
}

func find(stack []string, names map[string]int64) (string, bool) {
	for _, f := range stack {
		if _, ok := names[f]; ok {
			return f, true
		}
	}
	return "", false
}
