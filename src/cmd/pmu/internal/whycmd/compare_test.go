// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"internal/taskrecord"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"
)

// without returns requests that no mutex has delayed, as many as there are.
func without(list []request) []request {
	list = slices.Clone(list)
	for i := range list {
		if list[i].Mutex > 40 {
			list[i].Mutex -= 40
			list[i].Latency -= 40
		}
	}
	return list
}

// writeAs writes a file of a name in a directory.
func writeAs(t *testing.T, dir, name, data string) string {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(data), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestByFile tests that files, and directories, are experiments, whatever their order and their form.
func TestByFile(t *testing.T) {
	slow := planted()
	fast := without(slow)[:4000]
	dir := t.TempDir()
	before := writeAs(t, dir, "before", csvOf(fast))
	after := writeAs(t, dir, "after", csvOf(slow))
	status, want, errs := call("-by", "file", before, after)
	if status != 0 || errs != "" {
		t.Fatalf("status %d, %q", status, errs)
	}
	contains(t, "comparison", want, "mutex makes the difference: p99 is ", " in after, and ", " less without it; in before it is ", "\nafter   5000 ", "\nbefore  4000 ")
	if _, got, errs := call("-by", "file", after, before); got != want || errs != "" {
		t.Errorf("the other way round:\n%s%s\nwant\n%s", got, errs, want)
	}
	parts := filepath.Join(dir, "parts", "after")
	writeAs(t, parts, "1", csvOf(slow[:2000]))
	writeAs(t, parts, "2", linesOf(slow[2000:]))
	if _, got, errs := call("-by", "file", before, parts); got != want || errs != "" {
		t.Errorf("of a directory:\n%s%s\nwant\n%s", got, errs, want)
	}
	// The same file twice is no duplicate, and makes no difference.
	tasks := writeAs(t, dir, "tasks", fileOf(t, tasksOf(slow)))
	status, got, errs := call("-by", "file", "-kind", "GET /", tasks, tasks)
	if status != 0 || errs != "" {
		t.Errorf("the same: status %d, %q", status, errs)
	}
	contains(t, "the same", got, "no difference found: p99 is ", "\ntasks      5000 ", "\ntasks (2)  5000 ")
	// A region that no request of an experiment was in took no time there.
	records := tasksOf(slow)
	for _, x := range records {
		if d := x.Parts[pprof.TimeMutex]; d > time.Millisecond {
			x.Regions = []taskrecord.RegionSum{{Name: "lock", N: 1, Wall: d}}
		}
	}
	_, got, errs = call("-by", "file", writeAs(t, dir, "old", fileOf(t, tasksOf(fast))), writeAs(t, dir, "new", fileOf(t, records)))
	contains(t, "records", got, "makes the difference: p99 is ")
	if lock := rowOf(got, "region lock"); !strings.HasSuffix(lock, " none") {
		t.Errorf("a region in one of two: %q", lock)
	}
	if !strings.Contains(errs, `9000 of 9002 requests are of kind "GET /", and the report is of these`) {
		t.Errorf("kinds: %q", errs)
	}
}

// rowOf returns the first row of a table of text that begins with a name.
func rowOf(text, name string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, name+" ") {
			return strings.TrimRight(line, " \n")
		}
	}
	return ""
}

// TestByFileNotCounted tests that what only one file has counted is not 0 in the other, in whatever
// order they are.
func TestByFileNotCounted(t *testing.T) {
	slow := planted()
	var b strings.Builder
	b.WriteString("latency,server\n")
	for _, line := range strings.Split(csvOf(without(slow)), "\n")[1:] {
		if f := strings.Split(line, ","); len(f) == 4 {
			b.WriteString(f[0] + "," + f[2] + "\n")
		}
	}
	dir := t.TempDir()
	before, after := writeAs(t, dir, "before", b.String()), writeAs(t, dir, "after", csvOf(slow))
	_, want, _ := call("-by", "file", before, after)
	contains(t, "comparison", want, "no event that both have counted makes the difference: mutex makes the tail in after, and was not counted in before")
	if n := strings.Count(want, "not counted"); n != 3 {
		t.Errorf("%d times not counted:\n%s", n, want)
	}
	if _, got, _ := call("-by", "file", after, before); got != want {
		t.Errorf("the other way round:\n%s\nwant\n%s", got, want)
	}
	// -columns may name what only one of them has.
	if status, _, errs := call("-by", "file", "-columns", "mutex", after, before); status != 0 || errs != "" {
		t.Errorf("-columns: status %d, %q", status, errs)
	}
	if status, _, errs := call("-by", "file", "-columns", "mutx", after, before); status != 2 || !strings.Contains(errs, `there is no column "mutx": of 3, those of the nearest names are "mutex", `) {
		t.Errorf("-columns: status %d, %q", status, errs)
	}
}

// TestByColumn tests experiments in one table, also with -columns and of kinds.
func TestByColumn(t *testing.T) {
	slow := planted()
	for i := range slow {
		slow[i].Server = "new"
	}
	old := without(slow)
	for i := range old {
		old[i].Server = "old"
	}
	input := write(t, csvOf(append(slow, old...)))
	page := filepath.Join(t.TempDir(), "page.html")
	for _, args := range [][]string{nil, {"-columns", "mutex"}, {"-html", page}, {"-segments", "3"}} {
		status, got, errs := call(append(args, "-by", "server", input)...)
		if status != 0 || errs != "" {
			t.Errorf("%q: status %d, %q", args, status, errs)
		}
		contains(t, "comparison", got, "mutex makes the difference: p99 is ", " in new, and ", "\nnew     5000 ", "\nold     5000 ")
		if strings.Contains(got, "3 of 3") != slices.Contains(args, "-segments") {
			t.Errorf("%q:\n%s", args, got)
		}
	}
	if html, err := os.ReadFile(page); err != nil || !strings.Contains(string(html), "<h1>mutex makes the difference: ") {
		t.Errorf("the page: %v, %s", err, html)
	}
	tasks := tasksOf(slow)
	for _, x := range tasks[:len(tasks)/2] {
		x.Kind = "GET /other"
	}
	_, got, errs := call("-by", "kind", write(t, fileOf(t, tasks)))
	contains(t, "kinds", got, "no difference found: ", "\nGET /       2499", "\nGET /other  2501", "\nPOST /      1 ")
	if errs != "" {
		t.Errorf("of kinds: %q", errs)
	}
}

// TestByErrors tests errors of -by.
func TestByErrors(t *testing.T) {
	input := write(t, csvOf(planted()))
	empty := write(t, "latency,mutex\n")
	for _, tt := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"-by", "serwer", input}, 2, `-by: there is no column "serwer": of 3, those of the nearest names are "server", `},
		{[]string{"-by", "file", input}, 2, `there is one experiment by "file", and so nothing to compare`},
		{[]string{"-by", "file", input, t.TempDir()}, 2, "there is no file in this directory"},
		{[]string{"-by", "file", "-sql", input, input}, 2, "-by goes with neither -rows nor -sql"},
		{[]string{"-by", "server", "-rows", "x", input}, 2, "-by goes with neither -rows nor -sql"},
		{[]string{"-by", "file", "-segments", "20", input, input}, 2, "segments of 250 requests are too short: for p99 it takes 1000"},
		{[]string{"-by", "file", empty, empty}, 1, "there are no requests"},
		{[]string{"-by", "file", "-latency", "ms_ms", write(t, "ms_ms,a\n1,2\n"), write(t, "ms_ms,a\n3,4\n"), "none"}, 2, "none: no such file"},
		{[]string{"-by", "file", write(t, `{"latency":1}`), write(t, fileOf(t, tasksOf(planted())))}, 2, "latencies are in no unit in "},
	} {
		if status, _, errs := call(tt.args...); status != tt.status || !strings.Contains(errs, tt.want) {
			t.Errorf("%q: status %d, %q, want %q", tt.args, status, errs, tt.want)
		}
	}
}
