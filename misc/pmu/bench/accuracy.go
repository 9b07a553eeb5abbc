// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"pmu/bench/chart"
	"pmu/bench/stats"
	"pmu/demo/truth"
	"pmu/internal/tool"
	"pmu/profile"
)

// cyclesName is the name of the profiles by cycles on the emulated machine.
const cyclesName = "cycles"

// accuracy is the proposal's tables 1 to 4 again: programs whose truth is known,
// profiled several times.
func accuracy(b *bench, r *report) {
	cycleRounds, lengths := pick(b, 2, 5), pick(b, []float64{0.3, 3}, []float64{0.3, 3, 12})
	samplers := []sampler{
		stockTimer, timer,
		{name: "task-clock, 1 ms", event: clock, period: 1000000},
		{name: "task-clock, 100 µs", event: clock, period: 100000},
	}
	r.printf("The proposal's programs: goroutine has ten functions that do the same work in goroutines of their own, serial has ten in the ratio 1:2:...:10. Each was profiled %d times for each length of its CPU time. ", b.rounds)
	err := try(func() { b.vm("") })
	if err == nil {
		r.printf("Cycles are those of the emulated machine, at a period of 1000003, for as many of them as the lengths say in nanoseconds (0.3 and 3 s); its %d runs are all alike but for a little more work in each. ", cycleRounds)
	} else {
		r.printf("**Cycles were not sampled**: %v. ", err)
		cycleRounds = 0
	}
	r.printf("*Error* is the root of the mean square of the ten shares' deviations from the truth, in percentage points; *worst* is the worst of any function in any run; *CV* the mean of the functions' coefficients of variation over the runs; *rank* the mean rank correlation (Spearman) of measured and true order; *none* the functions without a sample, of %d, or of %d by cycles.\n\n", 10*b.rounds, 10*cycleRounds)
	var serial [][]*summary // by length
	for _, program := range []string{"goroutine", "serial"} {
		sums := b.summaries(program, lengths, samplers, cycleRounds)
		r.printf("### %s\n\n", program)
		accuracyTables(r, truth.Programs[program], lengths, sums)
		serial = sums
	}
	c := &chart.Chart{Title: "serial: error of the shares, in percentage points", XLabel: "CPU time of the program", YLabel: "points"}
	for _, sum := range serial[0] {
		c.Series = append(c.Series, chart.Series{Name: sum.name})
	}
	for x, sums := range serial {
		c.Groups = append(c.Groups, fmt.Sprintf("%g s", lengths[x]))
		for i, sum := range sums {
			c.Series[i].Points = append(c.Series[i].Points, chart.Point{X: float64(x), Y: sum.rms})
		}
	}
	r.chart("serial", c)
}

// accuracyTables writes what the summaries, by length, say of a program.
func accuracyTables(r *report, funcs []truth.Function, lengths []float64, sums [][]*summary) {
	t := newTable("CPU time", "profile", "samples", "error", "worst", "CV", "rank", "none")
	for i, length := range lengths {
		for _, s := range sums[i] {
			rank := "–"
			if !math.IsNaN(s.rank) {
				rank = fmt.Sprintf("%.3f", s.rank)
			}
			t.row("%g s", length, s.name, "%.0f", s.samples, "%.2f", s.rms, "%.2f", s.worst, "%.1f %%", 100*s.cv, rank, s.missing)
		}
	}
	r.table(t)
	r.printf("The shares at %g s, in per cent: mean, and in brackets the coefficient of variation.\n\n", lengths[0])
	t = newTable("function", "expected")
	for _, s := range sums[0] {
		t.head = append(t.head, s.name)
	}
	for i, f := range funcs {
		t.row(f.Name, "%.2f", f.Want)
		for _, s := range sums[0] {
			t.add("%.2f (%.0f %%)", stats.Mean(s.shares[i]), 100*stats.CV(s.shares[i]))
		}
	}
	r.table(t)
}

// summaries profiles a demonstration program for each length of CPU time, and by
// cycles where that does not take too long.
func (b *bench) summaries(program string, lengths []float64, samplers []sampler, cycleRounds int) (sums [][]*summary) {
	const scale = 0.25
	pkg := "./demo/" + program
	one := stats.Median(b.interleave(ours(program, pkg, scale), []sampler{none}, 3).cpus(none)) / scale
	for _, length := range lengths {
		runs := b.interleave(ours(fmt.Sprintf("%s %gs", program, length), pkg, length/one), samplers, b.rounds)
		var list []*summary
		for _, s := range samplers {
			var profiles []*profile.Profile
			for _, rn := range runs[s.name] {
				profiles = append(profiles, rn.read())
			}
			list = append(list, need(summarize(s.name, truth.Programs[program], profiles)))
		}
		if cycleRounds > 0 && length < 10 {
			list = append(list, need(summarize(cyclesName, truth.Programs[program], b.cyclesOf(program, length, cycleRounds))))
		}
		sums = append(sums, list)
	}
	return sums
}

// cyclesOf profiles a demonstration program on the emulated machine, for billions
// of cycles.
func (b *bench) cyclesOf(program string, billions float64, rounds int) (profiles []*profile.Profile) {
	exe := b.build(b.fork, "build", "./demo/"+program, tool.OnVM...)
	file := filepath.Join(b.dir, "vm", program+".prof")
	profiled := func(scale float64) *profile.Profile {
		os.Remove(file)
		cmd := b.vm(exe, "-event", "cycles", "-period", "1000003", "-scale", fmt.Sprint(scale), "-o", file)
		// An instruction takes 8 cycles: an eighth of the time to wait for.
		cmd.Env = append(cmd.Env, "PMUVM_ICOUNT=shift=3,sleep=off")
		output(cmd)
		return need(profile.ReadFile(file))
	}
	const small = 0.01
	one := float64(profiled(small).Number(profile.Counted)) / small
	for i := 0; i < rounds; i++ {
		// A little more work each time, so that runs are not all the same; and never
		// a whole number of periods in each of the program's rounds, as then every
		// round's samples would be in the same places.
		profiles = append(profiles, profiled(billions*1e9/one*(1.013+float64(i)/1000)))
	}
	return profiles
}

// A summary compares several profiles of a program with the truth.
type summary struct {
	name       string
	samples    float64     // mean of the profiles
	rms, worst float64     // deviation of shares, in points
	cv         float64     // mean of the functions'
	rank       float64     // mean of the profiles'
	missing    int         // functions without a sample, in all profiles
	shares     [][]float64 // per cent, of each function in each profile
}

func summarize(name string, funcs []truth.Function, profiles []*profile.Profile) (*summary, error) {
	s := &summary{name: name, shares: make([][]float64, len(funcs))}
	want := make([]float64, len(funcs))
	for i, f := range funcs {
		want[i] = f.Want
	}
	var rms, ranks []float64
	for _, p := range profiles {
		// The last type is what the samples stand for: where the overhead
		// bound has lengthened the period, they do not count alike.
		count, _ := truth.AttributeValue(p, funcs, len(p.Types)-1)
		n, _ := samples(p)
		var sum int64
		for _, n := range count {
			sum += n
		}
		s.samples += float64(n) / float64(len(profiles))
		if sum == 0 {
			return nil, errors.New("a profile without a sample")
		}
		got := make([]float64, len(funcs))
		for i, f := range funcs {
			got[i] = 100 * float64(count[f.Name]) / float64(sum)
			s.shares[i] = append(s.shares[i], got[i])
			s.worst = math.Max(s.worst, math.Abs(got[i]-want[i]))
			if count[f.Name] == 0 {
				s.missing++
			}
		}
		rms = append(rms, stats.RMS(got, want))
		ranks = append(ranks, stats.Spearman(got, want))
	}
	s.rms, s.rank = stats.Mean(rms), stats.Mean(ranks)
	for _, x := range s.shares {
		s.cv += stats.CV(x) / float64(len(funcs))
	}
	return s, nil
}
