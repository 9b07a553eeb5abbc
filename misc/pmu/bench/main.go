// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Bench measures the cost and the benefit of profiling by events on this machine,
// compared with the same work without a profile, with the timer of the stock Go
// release, with this Go's timer, and with perf record. Runs that are compared
// alternate.
//
//	bench [-long] [-only sections] [-seconds n -rates hz,... -loads names] -o dir
//
// It writes, into the directory, a file for each section with its tables, the
// charts as SVG, and results.md with all of them. A section that was not run
// keeps the file that it has. ./bench.bash at the root of the repository builds
// what is needed and runs it.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"pmu/internal/tool"
)

// A section is a part of the report. It compares samplers on several kinds of work.
type section struct {
	name, title string
	rounds      [2]int // runs of each, in the short form and the long one
	run         func(*bench, *report)
	in          form // which forms have it; others do if it is asked for
}

// A form is a choice of sections.
type form int

const (
	everyForm form = iota
	longForm
	noForm // it takes hours
)

// sections are what is measured, in the order of the report.
var sections = []section{
	{"overhead", "Overhead by rate", [2]int{2, 7}, overhead, everyForm},
	{"cycles", "Overhead by cycles, on the emulated machine", [2]int{1, 1}, cycles, everyForm},
	{"floor", "Whose cost a sample is", [2]int{8, 60}, floor, everyForm},
	{"instructions", "Instructions per sample", [2]int{1, 1}, instructions, everyForm},
	{"off", "Without a profile", [2]int{6, 40}, off, everyForm},
	{"accounts", "Accounts of goroutines", [2]int{20, 60}, accounts, everyForm},
	{"tasks", "Tasks", [2]int{3, 9}, tasks, everyForm},
	{"accuracy", "Accuracy and precision", [2]int{3, 5}, accuracy, everyForm},
	{"threads", "Scale: threads", [2]int{3, 7}, scaleThreads, everyForm},
	{"events", "Scale: events", [2]int{3, 9}, scaleEvents, everyForm},
	{"rates", "Scale: rates and losses", [2]int{3, 3}, scaleLoss, everyForm},
	{"long", "Long runs", [2]int{2, 5}, longRuns, noForm},
	{"pgo", "Profile-guided optimization", [2]int{5, 15}, pgo, longForm},
}

func main() {
	out := flag.String("o", "", "`directory` for the results")
	only := flag.String("only", "", "run only these `sections`, separated by commas")
	long := flag.Bool("long", false, "take more and longer runs")
	flag.Float64Var(&longSeconds, "seconds", longSeconds, "CPU time of each run of section long, without a profile")
	flag.StringVar(&longRates, "rates", longRates, "rates of section long, in `Hz`, separated by commas")
	flag.StringVar(&longLoads, "loads", longLoads, "run only loads of section long whose names contain one of these `parts`, separated by commas")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := benchmark(*out, *only, *long); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func benchmark(out, only string, long bool) error {
	chosen, err := choose(only, long)
	if err != nil {
		return err
	}
	b, err := newBench(long)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	m, err := tool.Output(exec.Command("bash", filepath.Join(b.module, "machine.bash")))
	if err != nil {
		return err
	}
	failed := 0
	for _, s := range chosen {
		fmt.Fprintf(os.Stderr, "%s ...\n", s.title)
		r := &report{dir: out, name: s.name}
		if err := r.measure(b, s); err != nil {
			// The other sections may be possible.
			failed++
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", s.name, err)
		}
		if err := os.WriteFile(filepath.Join(out, s.name+".md"), []byte(r.text.String()), 0o666); err != nil {
			return err
		}
	}
	if err := join(out, m+"\nperf: "+perfVersion()); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d sections could not be measured", failed)
	}
	return nil
}

// choose returns the sections that are asked for.
func choose(only string, long bool) (chosen []section, err error) {
	names := make(map[string]bool)
	for _, name := range strings.Split(only, ",") {
		names[name] = only != ""
	}
	for _, s := range sections {
		if names[s.name] || only == "" && (s.in == everyForm || s.in == longForm && long) {
			chosen = append(chosen, s)
		}
		delete(names, s.name)
	}
	for name, asked := range names {
		if asked {
			return nil, fmt.Errorf("no section %q", name)
		}
	}
	return chosen, nil
}

// join writes results.md of the sections that have been measured.
func join(out, machine string) error {
	var text strings.Builder
	text.WriteString("# Results\n\nWritten by misc/pmu/bench. A ratio is the median of the ratios of neighbouring runs; the least and the greatest are in brackets.\n\n```\n" + machine + "\n```\n")
	for _, s := range sections {
		data, err := os.ReadFile(filepath.Join(out, s.name+".md"))
		if os.IsNotExist(err) {
			fmt.Fprintf(&text, "\n## %s\n\n**Not measured.** It is section `%s` of bench.\n", s.title, s.name)
			continue
		}
		if err != nil {
			return err
		}
		text.WriteString("\n" + string(data))
	}
	return os.WriteFile(filepath.Join(out, "results.md"), []byte(text.String()), 0o666)
}

// measure runs a section into the report.
func (r *report) measure(b *bench, s section) (err error) {
	r.printf("## %s\n\n", s.title)
	start, before, form := time.Now(), loadavg(), "short"
	b.rounds = s.rounds[0]
	if b.long {
		form, b.rounds = "long", s.rounds[1]
	}
	if err = try(func() { s.run(b, r) }); err != nil {
		r.printf("**Not measured**: %v\n\n", firstLine(err))
	}
	r.printf("Measured %s, in %.0f s (%s form). Load average before and after: %s, %s.\n",
		start.UTC().Format("2006-01-02 15:04 UTC"), time.Since(start).Seconds(), form, before, loadavg())
	return err
}

func loadavg() string {
	data, _ := os.ReadFile("/proc/loadavg")
	load, _, _ := strings.Cut(string(data), " ")
	return load
}
