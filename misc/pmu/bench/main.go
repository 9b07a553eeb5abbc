// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Bench measures what profiling by events costs and what it is worth, beside the
// alternatives, on the machine that it runs on: the same work without a profile,
// with the timer of the stock Go release, with this Go's timer, with its events
// at several rates, and with perf record. Runs of what is compared take turns.
//
//	bench [-long] [-only sections] -o dir
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
	"path/filepath"
	"strings"
	"time"

	"pmu/bench/chart"
)

// sections are what is measured, in the order of the report.
var sections = []struct {
	name, title string
	run         func(*bench, *report) error
	long        bool // left out of the short form, unless it is asked for
}{
	{"overhead", "Overhead by rate", overhead, false},
	{"cycles", "Overhead by cycles, on the emulated machine", cycles, false},
	{"floor", "Whose cost a sample is", floor, false},
	{"instructions", "Instructions per sample", instructions, false},
	{"off", "Without a profile", off, false},
	{"accuracy", "Accuracy and precision", accuracy, false},
	{"threads", "Scale: threads", scaleThreads, false},
	{"events", "Scale: events", scaleEvents, false},
	{"rates", "Scale: rates and losses", scaleLoss, false},
	{"pgo", "Profile-guided optimization", pgo, true},
}

func main() {
	out := flag.String("o", "", "`directory` for the results")
	root := flag.String("root", "../..", "root `directory` of the repository, with goroot built")
	only := flag.String("only", "", "run only these `sections`, separated by commas")
	long := flag.Bool("long", false, "take more and longer runs")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := benchmark(*root, *out, *only, *long); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func benchmark(root, out, only string, long bool) error {
	b, err := newBench(root, long)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	for _, name := range strings.Split(only, ",") {
		if name != "" && !known(name) {
			return fmt.Errorf("no section %q", name)
		}
	}
	m := machine()
	failed := 0
	for _, s := range sections {
		if only == "" && s.long && !long || only != "" && !strings.Contains(","+only+",", ","+s.name+",") {
			continue
		}
		start := time.Now()
		fmt.Fprintf(os.Stderr, "%s ...\n", s.title)
		r := &report{dir: out, name: s.name}
		r.printf("## %s\n\n", s.title)
		before := loadavg()
		if err := s.run(b, r); err != nil {
			// The other sections may be possible.
			failed++
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", s.name, err)
			r.printf("**Not measured**: %v\n\n", firstLine(err.Error()))
		}
		form := "short"
		if long {
			form = "long"
		}
		r.printf("Measured %s, in %.0f s (%s form). Load average before and after: %s, %s.\n",
			start.UTC().Format("2006-01-02 15:04 UTC"), time.Since(start).Seconds(), form, before, loadavg())
		if err := r.write(); err != nil {
			return err
		}
	}
	if err := join(out, m); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d sections could not be measured", failed)
	}
	return nil
}

func known(name string) bool {
	for _, s := range sections {
		if s.name == name {
			return true
		}
	}
	return false
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// join writes results.md of the sections that have been measured.
func join(out, machine string) error {
	var text strings.Builder
	text.WriteString("# Results\n\nWritten by misc/pmu/bench. A ratio is the median of those of neighbouring runs; in brackets are the least and the greatest.\n\n" + machine)
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

// A report is the text and the charts of one section.
type report struct {
	dir, name string
	text      strings.Builder
	err       error
}

func (r *report) printf(format string, args ...any) { fmt.Fprintf(&r.text, format, args...) }

// chart writes c to the file NAME-what.svg and shows it.
func (r *report) chart(what string, c *chart.Chart) {
	name := r.name + "-" + what + ".svg"
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(c.SVG()), 0o666); err != nil && r.err == nil {
		r.err = err
	}
	r.printf("![%s](%s)\n\n", c.Title, name)
}

// table writes a markdown table. Cells after the first are aligned right.
func (r *report) table(head []string, rows [][]string) {
	r.printf("| %s |\n|---|%s\n", strings.Join(head, " | "), strings.Repeat("--:|", len(head)-1))
	for _, row := range rows {
		r.printf("| %s |\n", strings.Join(row, " | "))
	}
	r.printf("\n")
}

func (r *report) write() error {
	if r.err != nil {
		return r.err
	}
	return os.WriteFile(filepath.Join(r.dir, r.name+".md"), []byte(r.text.String()), 0o666)
}
