// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// checkRows tests that a section has rows of these names and numbers.
func checkRows(t *testing.T, s section, want ...string) {
	t.Helper()
	var got []string
	for _, r := range s.rows {
		got = append(got, r.name+" "+strings.Trim(fmt.Sprint(r.numbers), "[]"))
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %q, want %q", s.title, got, want)
	}
}

// TestFiles counts in a repository.
func TestFiles(t *testing.T) {
	root := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	for path, lines := range map[string]int{
		"src/runtime/a.go":                      500,
		"src/runtime/b.go":                      501,
		"src/runtime/a_test.go":                 600,
		"src/runtime/sizeof_test.go.patch":      7,
		"src/runtime/proc.go.patch":             4,
		"src/runtime/pprof/c.go":                20,
		"src/internal/taskrecord/testdata/d.go": 3,
		"src/internal/runtime/perf/e.go":        10,
		"src/internal/other/f.go":               1,
		"src/testing/g.go":                      1,
		"src/cmd/go/h.go":                       1,
		"misc/pmu/bench/i.go":                   700,
		"misc/pmu/j_test.go":                    2,
		"test/pmu/house/k.go":                   800,
		"doc/l.md":                              900,
		"doc.bash":                              6,
		"src/runtime/ignored":                   1000,
		"src/runtime/removed.go":                1000,
	} {
		name := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(strings.Repeat("\n", lines)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{".gitignore": "ignored\n", "doc/picture": "\n\x00\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	git("add", "src/runtime")
	os.Remove(filepath.Join(root, "src/runtime/removed.go"))
	all, err := files(root)
	if err != nil {
		t.Fatal(err)
	}
	checkRows(t, linesByWing(all),
		"src/runtime 1005 607",
		"src/runtime/pprof 20 0",
		"src/runtime/task 0 0",
		"src/internal/taskrecord 0 3",
		"src/internal/perfevent, runtime/perf 10 0",
		"src/net/http 0 0",
		"src/testing, cmd/go 2 0",
		"src/cmd/pmu 0 0",
		"src, the rest 1 0",
		"misc/pmu 700 2",
		"test/pmu 0 800",
		"doc 900 0",
		"the rest 7 0",
		"all 2645 1412",
	)
	checkRows(t, longFiles(all), "misc/pmu/bench/i.go 700", "src/runtime/b.go 501")
}
