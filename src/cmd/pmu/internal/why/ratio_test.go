// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"internal/taskrecord"
	"math/rand/v2"
	"reflect"
	"runtime/pprof"
	"testing"
	"time"
)

// TestRatios tests that a processor's frequency, and how many cycles instructions take, are named where
// they make the tail: running does there, and no count is high.
func TestRatios(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		slower     func(cycles, instructions, ns *float64)
	}{
		{"frequency", "ns per cycle", func(_, _, ns *float64) { *ns *= 3 }},
		{"stalls", "cycles per instruction", func(cycles, _, ns *float64) { *cycles *= 3; *ns *= 3 }},
		{"work", "instructions", func(cycles, instructions, ns *float64) { *cycles *= 3; *ns *= 3; *instructions *= 3 }},
	} {
		r := rand.New(rand.NewPCG(1, 3))
		var b Builder
		for i := range 2000 {
			instructions := 8e6 * (1 + r.Float64()/10)
			cycles := instructions * (1 + r.Float64()/10)
			ns := cycles / 2 * (1 + r.Float64()/10)
			if i%33 == 7 {
				tt.slower(&cycles, &instructions, &ns)
			}
			x := &taskrecord.Record{Kind: "k", Flags: taskrecord.Sampled, Wall: time.Duration(ns), Events: []string{"cycles", "instructions"},
				Usage: taskrecord.Usage{Count: []pprof.CounterValue{{Value: uint64(cycles)}, {Value: uint64(instructions)}}}}
			x.Parts[pprof.TimeRunning] = x.Wall
			b.AddTask(x)
		}
		rep, err := Analyze(b.Table("ms"), Params{})
		if err != nil {
			t.Fatal(err)
		}
		if rep.Top() != tt.want {
			t.Errorf("%s: %q, want %s", tt.name, rep.Cause(), tt.want)
		}
	}
	// What was counted in different modes has no ratio, nor has the kernel's time.
	for _, tt := range []struct {
		events []string
		want   []Ratio
	}{
		{[]string{"cycles:u", "instructions"}, []Ratio{{"ns per cycle (cycles:u)", "cycles:u", "", []taskrecord.Part{pprof.TimeRunning, pprof.TimeC}}}},
		{[]string{"instructions:k", "cpu/cpu-cycles/k"}, []Ratio{{"cycles per instruction (cpu/cpu-cycles/k)", "cpu/cpu-cycles/k", "instructions:k", nil}}},
		{[]string{"page-faults", "instructions"}, nil},
	} {
		if got := Ratios(tt.events); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%v: %+v, want %+v", tt.events, got, tt.want)
		}
	}
}
