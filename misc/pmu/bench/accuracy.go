// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"pmu/bench/chart"
	"pmu/bench/stats"
	"pmu/demo/truth"
	"pmu/profile"
)

// accuracy is the proposal's tables 1 to 4 again: programs whose truth is known,
// profiled several times.
func accuracy(b *bench, r *report) error {
	rounds, cycleRounds, seconds := 3, 2, []float64{0.3, 3}
	if b.long {
		rounds, cycleRounds, seconds = 5, 5, append(seconds, 12)
	}
	samplers := []sampler{
		stockTimer, timer,
		{name: "task-clock, 1 ms", event: clock, period: 1000000},
		{name: "task-clock, 100 µs", event: clock, period: 100000},
	}
	_, err := b.vm("")
	onVM := err == nil
	r.printf("The proposal's programs: goroutine has ten functions that do the same work in goroutines of their own, serial has ten in the ratio 1:2:...:10. Each was profiled %d times for each length of its CPU time. ", rounds)
	if onVM {
		r.printf("Cycles are those of the emulated machine, at a period of 1000003, for as many of them as the lengths say in nanoseconds (0.3 and 3 s); its %d runs are all alike but for a little more work in each. ", cycleRounds)
	} else {
		r.printf("**Cycles were not sampled**: %v. ", err)
	}
	r.printf("*Error* is the root of the mean square of the ten shares' deviations from the truth, in percentage points; *worst* is the worst of any function in any run; *CV* the mean of the functions' coefficients of variation over the runs; *rank* the mean rank correlation (Spearman) of measured and true order; *none* the functions without a sample, of %d, or of %d by cycles.\n\n", 10*rounds, 10*cycleRounds)
	errors := make(map[string][]chart.Point)
	for _, program := range []string{"goroutine", "serial"} {
		one, err := b.secondsAtScale1(program)
		if err != nil {
			return err
		}
		var rows [][]string
		details := make(map[string]*summary)
		for li, length := range seconds {
			p := ours(fmt.Sprintf("%s %gs", program, length), "./demo/"+program, length/one)
			runs, err := b.interleaveProfiles(p, samplers, rounds)
			if err != nil {
				return err
			}
			names := []string{}
			for _, s := range samplers {
				names = append(names, s.name)
			}
			if onVM && length < 10 {
				if runs["cycles"], err = b.cyclesOf(program, length, cycleRounds); err != nil {
					return err
				}
				names = append(names, "cycles")
			}
			for _, name := range names {
				sum, err := summarize(truth.Programs[program], runs[name])
				if err != nil {
					return err
				}
				rows = append(rows, []string{fmt.Sprintf("%g s", length), name, fmt.Sprintf("%.0f", sum.samples),
					fmt.Sprintf("%.2f", sum.rms), fmt.Sprintf("%.2f", sum.worst), fmt.Sprintf("%.1f %%", 100*sum.cv), rank(sum.rank), fmt.Sprint(sum.missing)})
				if program == "serial" {
					errors[name] = append(errors[name], chart.Point{X: float64(li), Y: sum.rms})
				}
				if li == 0 {
					details[name] = sum
				}
			}
		}
		r.printf("### %s\n\n", program)
		r.table([]string{"CPU time", "profile", "samples", "error", "worst", "CV", "rank", "none"}, rows)
		r.printf("The shares at %g s, in per cent: mean, and in brackets the coefficient of variation.\n\n", seconds[0])
		names := []string{stockTimer.name, timer.name, samplers[2].name, samplers[3].name}
		if details["cycles"] != nil {
			names = append(names, "cycles")
		}
		rows = nil
		for i, f := range truth.Programs[program] {
			row := []string{f.Name, fmt.Sprintf("%.2f", f.Want)}
			for _, n := range names {
				x := details[n].shares[i]
				row = append(row, fmt.Sprintf("%.2f (%.0f %%)", stats.Mean(x), 100*stats.CV(x)))
			}
			rows = append(rows, row)
		}
		r.table(append([]string{"function", "expected"}, names...), rows)
	}
	c := &chart.Chart{Title: "serial: error of the shares, in percentage points", XLabel: "CPU time of the program", YLabel: "points"}
	for _, s := range seconds {
		c.Groups = append(c.Groups, fmt.Sprintf("%g s", s))
	}
	for _, name := range []string{stockTimer.name, timer.name, samplers[2].name, samplers[3].name, "cycles"} {
		if errors[name] != nil {
			c.Series = append(c.Series, chart.Series{Name: name, Points: errors[name]})
		}
	}
	r.chart("serial", c)
	return nil
}

func rank(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf("%.3f", x)
}

// secondsAtScale1 returns the CPU time of a demonstration program at scale 1.
func (b *bench) secondsAtScale1(program string) (float64, error) {
	const scale = 0.25
	runs, err := b.interleave(ours(program, "./demo/"+program, scale), []sampler{none}, 3)
	if err != nil {
		return 0, err
	}
	return stats.Median(cpus(runs[none.name])) / scale, nil
}

// interleaveProfiles is interleave, and returns the profiles.
func (b *bench) interleaveProfiles(p program, samplers []sampler, rounds int) (map[string][]*profile.Profile, error) {
	got := make(map[string][]*profile.Profile)
	for i := 0; i < rounds; i++ {
		runs, err := b.interleave(p, samplers, 1)
		if err != nil {
			return nil, err
		}
		for name, rs := range runs {
			prof, err := profile.ReadFile(rs[0].profile)
			if err != nil {
				return nil, err
			}
			got[name] = append(got[name], prof)
		}
	}
	return got, nil
}

// cyclesOf profiles a demonstration program on the emulated machine, for billions
// of cycles.
func (b *bench) cyclesOf(program string, billions float64, rounds int) (profiles []*profile.Profile, err error) {
	exe, err := b.build(b.fork, "./demo/"+program, false, onVM...)
	if err != nil {
		return nil, err
	}
	profiled := func(scale float64) (*profile.Profile, error) {
		file := filepath.Join(b.dir, "vm", program+".prof")
		os.Remove(file)
		cmd, err := b.vm(exe, "-event", "cycles", "-period", "1000003", "-scale", fmt.Sprint(scale), "-o", file)
		if err != nil {
			return nil, err
		}
		// An instruction takes 8 cycles: an eighth of the time to wait for.
		cmd.Env = append(cmd.Env, "PMUVM_ICOUNT=shift=3,sleep=off")
		if _, err := output(cmd); err != nil {
			return nil, err
		}
		return profile.ReadFile(file)
	}
	const small = 0.01
	p, err := profiled(small)
	if err != nil {
		return nil, err
	}
	one := counted(p) / small
	for i := 0; i < rounds; i++ {
		// A little more work each time, so that runs are not all the same.
		p, err := profiled(billions * 1e9 / one * (1 + float64(i)/1000))
		if err != nil {
			return nil, err
		}
		profiles = append(profiles, p)
	}
	return profiles, nil
}

// A summary compares several profiles of a program with the truth.
type summary struct {
	samples    float64     // mean of the profiles
	rms, worst float64     // deviation of shares, in points
	cv         float64     // mean of the functions'
	rank       float64     // mean of the profiles'
	missing    int         // functions without a sample, in all profiles
	shares     [][]float64 // per cent, of each function in each profile
}

func summarize(funcs []truth.Function, profiles []*profile.Profile) (*summary, error) {
	s := &summary{shares: make([][]float64, len(funcs))}
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
		s.samples += n / float64(len(profiles))
		if sum == 0 {
			return nil, fmt.Errorf("a profile without a sample")
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
