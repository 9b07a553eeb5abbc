// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package ratiocmd

import (
	"bytes"
	"cmd/pmu/internal/prof"
	"cmd/pmu/internal/verb"
	"fmt"
	"internal/testenv"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// call runs ratio and returns what it writes, and its exit status.
func call(stdin []byte, args ...string) (stdout, stderr string, status int) {
	var out, errs bytes.Buffer
	status = run(Verb, args, verb.IO{Stdin: bytes.NewReader(stdin), Stdout: &out, Stderr: &errs})
	return out.String(), errs.String(), status
}

var sink uint64

// report computes.
//
//go:noinline
func report(data []byte) {
	for range 40 {
		for _, c := range data {
			sink = sink*31 + uint64(c)
		}
	}
}

// lookup has a page fault for each page of new memory.
//
//go:noinline
func lookup(t *testing.T) {
	const size = 4 << 20
	b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	syscall.Madvise(b, 15) // MADV_NOHUGEPAGE
	for i := 0; i < size; i += 4096 {
		b[i] = 1
	}
	if err := syscall.Munmap(b); err != nil {
		t.Fatal(err)
	}
}

const pkg = "cmd/pmu/internal/ratiocmd."

// sample profiles report and lookup, and returns the file.
func sample(t *testing.T, period uint64, events ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cpu.pprof")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := pprof.StartSession(pprof.PerfEvents(f, period, events...))
	if err != nil {
		if e := strings.Join(events, ","); strings.Contains(os.Getenv("PMU_TEST_REQUIRE"), events[0]) || !strings.Contains(e, "cycles") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	data := make([]byte, 1<<20)
	for range 60 {
		report(data[:1<<16])
		lookup(t)
	}
	s.Stop()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

// read reads a profile.
func readFile(t *testing.T, file string) *prof.File {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := prof.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var row = regexp.MustCompile(`(?m)^<tr><td title="([^"]*)">[^<]*</td><td class="n" title="([^"]*)">[^<]*</td><td class="n"><i class="c(\d)"></i>([^<]*)</td><td class="n">±?([^<]*)</td>`)

// A function is one in the table of a page: what it has by itself.
type function struct {
	of, per     int64
	class       string
	ratio, err  float64 // NaN for none
	samples     int64   // of the first event
	ratioString string
}

// functions returns the functions of a page.
func functions(t *testing.T, page string) map[string]function {
	t.Helper()
	all := make(map[string]function)
	number := regexp.MustCompile(`[0-9][0-9,.]*`)
	parse := func(s string) float64 {
		v, err := strconv.ParseFloat(strings.ReplaceAll(number.FindString(s), ",", ""), 64)
		if err != nil {
			return math.NaN()
		}
		return v
	}
	for _, m := range row.FindAllStringSubmatch(page, -1) {
		of, per, _ := strings.Cut(m[2], ";")
		_, samples, _ := strings.Cut(of, " in ")
		_, per, _ = strings.Cut(per, ": ")
		all[m[1]] = function{int64(parse(of)), int64(parse(per)), "c" + m[3], parse(m[4]), parse(m[5]) / 100, int64(parse(samples)), m[4]}
	}
	if len(all) == 0 {
		t.Fatalf("no functions in the page:\n%.3000s", page)
	}
	return all
}

// own returns what each function has by itself of two of the profile's values.
func own(p *prof.File, of, per int) (sums map[string][2]int64) {
	sums = make(map[string][2]int64)
	for _, s := range p.Sample {
		if stack := prof.Stack(s); len(stack) > 0 {
			v := sums[stack[0]]
			v[0] += s.Value[of]
			v[1] += s.Value[per]
			sums[stack[0]] = v
		}
	}
	return sums
}

// TestPage tests that the page of a program's profile has each function's numbers, in either
// order of the events, and what a function that causes page faults is beside one that computes.
func TestPage(t *testing.T) {
	file := sample(t, 0, "task-clock", "page-faults")
	p := readFile(t, file)
	for _, test := range []struct {
		args    []string
		of, per int
		title   string
	}{
		{nil, 1, 2, " per page-faults: "},
		{[]string{"-of", "page-faults", "-per", p.SampleType[1].Type}, 2, 1, "<h1>page-faults per task-clock"},
	} {
		page, stderr, status := call(nil, append(test.args, file)...)
		if status != 0 || stderr != "" || !strings.Contains(page, test.title) {
			t.Fatalf("%q: status %d, %q; no %q in\n%.3000s", test.args, status, stderr, test.title, page)
		}
		want := own(p, test.of, test.per)
		got := functions(t, page)
		// The reader here leaves out code without names, so its callers have what it has.
		var nameless [2]int64
		for name, f := range got {
			if strings.HasPrefix(name, "[") {
				nameless[0] += f.of
				nameless[1] += f.per
			}
		}
		for name, f := range got {
			for i, v := range [2]int64{f.of, f.per} {
				if w := want[name][i]; !strings.HasPrefix(name, "[") && (v > w || v < w-nameless[i]) {
					t.Errorf("%s: %v, want %v", name, f, want[name])
				}
			}
			switch v := float64(f.of) / float64(f.per); {
			case f.of == 0 || f.per == 0:
				if f.ratioString != "none" || f.class != "c8" {
					t.Errorf("%s: %v has a ratio", name, f)
				}
			case math.Abs(f.ratio/v-1) > 0.006 && v > 1e-4:
				t.Errorf("%s: ratio %v of %v", name, f.ratio, f)
			case (f.err > 0.205) != (f.class == "c7") && math.Abs(f.err-0.2) > 0.005:
				t.Errorf("%s: class %s with an error of %v", name, f.class, f.err)
			}
		}
		report, lookup := got[pkg+"report"], got[pkg+"lookup"]
		if report.of == 0 && test.of == 1 || lookup.of == 0 && test.of == 2 {
			t.Errorf("main.report %v, main.lookup %v", report, lookup)
		}
	}
}

// TestLabels tests that go tool pprof has the labels, with the profile's events.
func TestLabels(t *testing.T) {
	file := sample(t, 0, "page-faults", "minor-faults")
	labeled := filepath.Join(t.TempDir(), "labeled.pprof")
	if out, stderr, status := call(nil, "-pprof", labeled, file); status != 0 || out != "" || stderr != "" {
		t.Fatalf("status %d, %q, %q", status, out, stderr)
	}
	p, before := readFile(t, labeled), readFile(t, file)
	classes := make(map[string]string) // by function
	for i, s := range p.Sample {
		leaf, class := prof.Stack(s)[0], strings.Join(s.Label["ratio"], " ")
		if class == "" || classes[leaf] != "" && classes[leaf] != class {
			t.Errorf("%s has the classes %q and %q", leaf, class, classes[leaf])
		}
		classes[leaf] = class
		if fmt.Sprint(s.Value) != fmt.Sprint(before.Sample[i].Value) {
			t.Errorf("sample %d: %v, was %v", i, s.Value, before.Sample[i].Value)
		}
	}
	// All of these faults are minor ones.
	lookup := classes[pkg+"lookup"]
	if !strings.HasPrefix(lookup, "0.7") || !strings.Contains(lookup, " to 1.4") {
		t.Errorf("class of main.lookup: %q", lookup)
	}
	// A profile that has labels can't get more, and a file that is there stays.
	data, err := os.ReadFile(labeled)
	if err != nil {
		t.Fatal(err)
	}
	if _, stderr, status := call(nil, "-pprof", labeled, labeled); status != 2 || !strings.Contains(stderr, `have labels "ratio" already`) {
		t.Errorf("labels twice: status %d, %q", status, stderr)
	}
	if again, err := os.ReadFile(labeled); err != nil || !bytes.Equal(again, data) {
		t.Errorf("labels twice: the file has %d bytes, had %d; %v", len(again), len(data), err)
	}
	tags := pprofTool(t, "-tags", labeled)
	if !strings.Contains(tags, "ratio: Total ") || !strings.Contains(tags, lookup) {
		t.Errorf("go tool pprof -tags:\n%s", tags)
	}
	top := pprofTool(t, "-top", "-tagfocus", "ratio="+lookup, labeled)
	if !strings.Contains(top, pkg+"lookup") {
		t.Errorf("go tool pprof -top -tagfocus:\n%s", top)
	}
	comments := pprofTool(t, "-comments", labeled)
	for _, want := range []string{"event: page-faults", "event: minor-faults", "ratio: label with the class"} {
		if !strings.Contains(comments, want) {
			t.Errorf("no comment %q in\n%s", want, comments)
		}
	}
}

// TestSources tests where a profile is read from and where a page is written to.
func TestSources(t *testing.T) {
	file := sample(t, 0, "task-clock", "page-faults")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, _, _ := call(nil, file)
	if got, _, status := call(data, "-"); status != 0 || got != want {
		t.Errorf("standard input: status %d, %.1000s", status, got)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write(data) }))
	defer srv.Close()
	page := filepath.Join(t.TempDir(), "ratio.html")
	labeled := filepath.Join(t.TempDir(), "labeled.pprof")
	if got, _, status := call(nil, "-html", page, "-pprof", labeled, srv.URL); status != 0 || got != "" {
		t.Errorf("status %d, %.1000s", status, got)
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != want {
		t.Errorf("-html: %v, %.1000s", err, got)
	}
	readFile(t, labeled)
	// A file that is there stays if there is nothing to write.
	if _, _, status := call(nil, "-html", page, "-of", "cycles", "-per", "page-faults", file); status != 2 {
		t.Errorf("status %d", status)
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != want {
		t.Errorf("after an error: %v, %.1000s", err, got)
	}
}

// TestErrors tests errors, and the exit statuses.
func TestErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return file
	}
	two, one, none := sample(t, 0, "task-clock", "page-faults"), sample(t, 0, "page-faults"), sample(t, 0, "task-clock", "major-faults")
	data, err := os.ReadFile(two)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args   []string
		status int
		stderr string
	}{
		{nil, 2, "usage: go tool pmu ratio [flags] FILE|URL"},
		{[]string{two, one}, 2, "usage: go tool pmu ratio"},
		{[]string{"-x", two}, 2, "flag provided but not defined"},
		{[]string{filepath.Join(dir, "missing")}, 2, "missing: no such file or directory"},
		{[]string{dir}, 2, "is a directory"},
		{[]string{write("empty", nil)}, 2, "empty input file"},
		{[]string{write("text", []byte("hello"))}, 2, "text: "},
		{[]string{write("half", data[:len(data)/2])}, 2, "decompressing profile: unexpected EOF"},
		{[]string{one}, 2, "a ratio needs a profile of two events, such as cycles,instructions; this one has page-faults"},
		{[]string{"-of", "cycles", "-per", "page-faults", two}, 2, `the profile has no event "cycles"; name two of task-clock`},
		{[]string{"-of", "page-faults", two}, 2, "-of and -per go together"},
		{[]string{"-of", "page-faults", "-per", "page-faults", two}, 2, "are the same event"},
		{[]string{"-error", "0", two}, 2, "-error is 0: it must be more than 0"},
		{[]string{"-error", "NaN", two}, 2, "-error is NaN"},
		{[]string{"-max", "0", two}, 2, "-max is 0"},
		{[]string{"-max", "100", two}, 2, "there are more than 100 bytes: raise -max"},
		{[]string{"-html", filepath.Join(dir, "no", "page"), two}, 2, "no such file or directory"},
		{[]string{"-pprof", filepath.Join(dir, "no", "profile"), two}, 2, "no such file or directory"},
		{[]string{"-error", "0.0001", two}, 1, "too few samples of one of the events for any ratio"},
		{[]string{none}, 1, "too few samples of one of the events for any ratio"},
	} {
		stdout, stderr, status := call(nil, test.args...)
		if status != test.status || !strings.Contains(stderr, test.stderr) {
			t.Errorf("%q: status %d, %q; want %d, %q", test.args, status, stderr, test.status, test.stderr)
		}
		if (status == 1) != strings.HasPrefix(stdout, "<!DOCTYPE html>") {
			t.Errorf("%q: status %d, and the output is %.100q", test.args, status, stdout)
		}
		if strings.Count(stderr, "ratio: ") > 1 {
			t.Errorf("%q: %q", test.args, stderr)
		}
	}
}

// TestEmulated tests a profile of cycles and instructions. On the emulated machine an
// instruction is a cycle, so the program's CPI is 1. Its functions' need not be: the processor
// there notices that instructions have overflowed at the next exception, which may be in the
// signal handler of a sample of cycles.
func TestEmulated(t *testing.T) {
	file := sample(t, 430000, "cycles", "instructions", "task-clock:u")
	page, stderr, status := call(nil, "-of", "cycles", "-per", "instructions", file)
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	if !regexp.MustCompile(`<h1>cycles per instruction \(CPI\): (1\.0[0-3]|0\.9[789]\d) ±[0-9.]+ %</h1>`).MatchString(page) {
		t.Errorf("title: %.1500s", page[strings.Index(page, "<h1>"):])
	}
}

// pprofTool returns what go tool pprof prints.
func pprofTool(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(testenv.GoToolPath(t), append([]string{"tool", "pprof"}, args...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", cmd, err, &errs)
	}
	return string(out)
}
