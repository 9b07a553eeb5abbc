// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package doccheck

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of events")

const (
	root      = "../../.."
	reference = root + "/doc/pmu.md"
)

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// fork returns a command of the fork's go command, to be run in this directory.
func fork(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	goCmd, err := filepath.Abs(root + "/goroot/bin/go")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(goCmd); err != nil {
		t.Fatalf("%v: run ./make.bash first", err)
	}
	cmd := exec.Command(goCmd, args...)
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); name != "GOROOT" && name != "GOTOOLDIR" {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "GOTOOLCHAIN=local", "GOWORK=off", "GOFLAGS=")
	return cmd
}

// build builds the program in the directory dir and returns its file.
func build(t *testing.T, dir string) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "exe")
	if out, err := fork(t, "build", "-buildvcs=false", "-o", exe, "./"+dir).CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", dir, err, out)
	}
	return exe
}

var space = regexp.MustCompile(`\s+`)

// plain returns text without what Markdown adds to it, and with all white
// space alike.
func plain(text string) string {
	text = strings.NewReplacer("`", "", `\|`, "|").Replace(text)
	return strings.TrimSpace(space.ReplaceAllString(text, " "))
}

// sources are the files whose messages doc/pmu.md has to quote.
var sources = []struct {
	file string
	skip string // regular expression of literals that are no messages
}{
	{"src/runtime/pprof/perf_error_linux.go", ""},
	{"src/runtime/pprof/perf_error.go", ""},
	{"src/runtime/pprof/perf_other.go", ""},
	{"src/runtime/pprof/perf.go", ""},
	{"src/runtime/pprof/perf_session.go", "^runtime/pprof: converting profile"},
	{"src/runtime/pprof/perf_counter.go", ""},
	{"src/runtime/pprof/perf_list_linux.go", ""},
	{"src/runtime/pprof/perf_symbol_linux.go", ""},
	{"src/runtime/pprof/perf_remark.go", ""},
	{"src/runtime/pprof/perf_proto.go", "^(truncated profile|mismatched profile)"},
	{"src/net/http/pprof/perf.go", "^attachment;"},
	{"src/testing/perf.go", "^(sample `events`|take a sample every)"}, // flags' usage
	{"src/testing/counters.go", "^count `events`"},
	{"src/testing/internal/testdeps/perf.go", ""},
	{"src/internal/perfevent/error.go", ""},
	{"src/internal/perfevent/parse.go", ""},
	{"src/internal/perfevent/table.go", ""},
	{"src/internal/perfevent/hwcache.go", ""},
	{"src/internal/perfevent/modifier.go", ""},
	{"src/internal/perfevent/breakpoint.go", ""},
	{"src/internal/perfevent/tracepoint.go", ""},
	{"src/internal/perfevent/pmu.go", ""},
	{"src/internal/perfevent/term.go", ""},
	{"src/internal/perfevent/sysfs.go", ""},
	{"src/internal/perfevent/ibs.go", ""},
}

// literals returns the string literals of a Go file, with their places.
func literals(t *testing.T, file string) map[string]string {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, filepath.Join(root, file), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	lits := make(map[string]string)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if n.Kind != token.STRING {
				break
			}
			s, err := strconv.Unquote(n.Value)
			if err != nil {
				t.Fatal(err)
			}
			lits[s] = fmt.Sprintf("%s:%d", file, fset.Position(n.Pos()).Line)
		}
		return true
	})
	return lits
}

var verb = regexp.MustCompile(`%[-+# 0]*[0-9.]*[a-zA-Z]`)

// fragments returns the parts of a message between its variables, as far as
// they are of two words or more: what somebody would search for.
func fragments(message string) []string {
	var all []string
	for _, f := range verb.Split(message, -1) {
		f = strings.Trim(plain(f), " :;,.()[]\"'=+/")
		if strings.Contains(f, " ") {
			all = append(all, f)
		}
	}
	return all
}

func TestMessages(t *testing.T) {
	doc := plain(readFile(t, reference))
	for _, src := range sources {
		n := 0
		for message, place := range literals(t, src.file) {
			if src.skip != "" && regexp.MustCompile(src.skip).MatchString(message) {
				continue
			}
			for _, f := range fragments(message) {
				n++
				if !strings.Contains(doc, f) {
					t.Errorf("%s: doc/pmu.md does not have %q", place, f)
				}
			}
		}
		if n == 0 && src.file == sources[0].file {
			t.Errorf("%s: no messages found", src.file)
		}
	}
}

func TestFragments(t *testing.T) {
	for message, want := range map[string]string{
		"event %s: period %d is above %d": "is above",
		" (now ":                          "",
		"not supported by this machine (": "not supported by this machine",
		"%s failed: %v":                   "",
	} {
		if got := strings.Join(fragments(message), "|"); got != want {
			t.Errorf("fragments(%q) = %q, want %q", message, got, want)
		}
	}
}

var (
	hexNumber = regexp.MustCompile(`0x[0-9a-f]+`)
	number    = regexp.MustCompile(`-?[0-9]+`) // kernel.perf_event_paranoid can be negative
)

// numberless returns plain text with all numbers alike.
func numberless(text string) string {
	return number.ReplaceAllString(hexNumber.ReplaceAllString(plain(text), "0"), "0")
}

// The reference leaves out where a message begins alike for many events, and
// gives what may follow some, by what a machine has, once.
var (
	beforeMessage = regexp.MustCompile(`^(perf event "[^"]*"|(cpu profile|counters): event \S+): `)
	afterMessage  = regexp.MustCompile(`; nearest: .*|, nor any in /sys/bus/event_source/devices|; the cores' are .*`)
)

// TestProvoked tests that the reference has the messages of testdata/provoke
// verbatim, apart from numbers: whole, or without the event's name, or what
// else there is on the machine.
func TestProvoked(t *testing.T) {
	out, err := exec.Command(build(t, "testdata/provoke")).CombinedOutput()
	if err != nil {
		t.Fatalf("provoke: %v\n%s", err, out)
	}
	doc := numberless(readFile(t, reference))
	n := 0
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		name, message, ok := strings.Cut(line, "\t")
		if !ok {
			if !strings.HasPrefix(strings.Trim(name, `"`), "?") {
				t.Errorf("case %s gave no error", name)
			}
			t.Logf("case %s: no error here", name)
			continue
		}
		n++
		core := afterMessage.ReplaceAllString(beforeMessage.ReplaceAllString(message, ""), "")
		if !strings.Contains(doc, numberless(message)) && !strings.Contains(doc, numberless(core)) {
			t.Errorf("case %s: doc/pmu.md does not have %q", name, message)
		}
	}
	t.Logf("%d messages", n)
	if n < 25 {
		t.Errorf("only %d messages provoked:\n%s", n, out)
	}
}

// TestTables tests that the tables of events are those of the code.
func TestTables(t *testing.T) {
	out, err := exec.Command(build(t, "testdata/eventtable")).Output()
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- begin tables of events: go test ./doccheck -update -->\n", "<!-- end tables of events -->"
	doc := readFile(t, reference)
	before, rest, ok1 := strings.Cut(doc, begin)
	got, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("doc/pmu.md has no %q ... %q", begin, end)
	}
	want := "\n" + string(out) + "\n"
	if got == want {
		return
	}
	if !*update {
		t.Fatalf("the tables of events are out of date: run in misc/pmu: go test ./doccheck -update\nwant:\n%s", want)
	}
	if err := os.WriteFile(reference, []byte(before+begin+want+end+after), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestAPI tests that the reference has every addition to the API.
func TestAPI(t *testing.T) {
	doc := readFile(t, reference)
	n := 0
	for _, line := range strings.Split(readFile(t, root+"/api/next/36821.txt"), "\n") {
		m := regexp.MustCompile(`^pkg runtime/pprof, (?:func|type|method \([^)]*\)) (\w+)`).FindStringSubmatch(line)
		if m == nil {
			continue
		}
		n++
		if !regexp.MustCompile(`\b` + m[1] + `\b`).MatchString(doc) {
			t.Errorf("doc/pmu.md does not have %s", m[1])
		}
	}
	if n == 0 {
		t.Error("no API found")
	}
}

// documents are the project's own, without those in the toolchain.
func documents(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"README*.md", "doc/*.md", "misc/pmu/*.md", "misc/pmu/*/*.md"} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, names...)
	}
	if len(all) < 3 {
		t.Fatalf("only %q found", all)
	}
	return all
}

var (
	fence   = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	notSlug = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// anchors returns the names that a document's headings have as link targets.
func anchors(doc string) map[string]bool {
	all := make(map[string]bool)
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(doc, ""), -1) {
		s := notSlug.ReplaceAllString(strings.ToLower(m[1]), "")
		all[strings.ReplaceAll(s, " ", "-")] = true
	}
	return all
}

func TestLinks(t *testing.T) {
	for _, name := range documents(t) {
		doc := readFile(t, name)
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(doc, ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			target := doc
			if file != "" {
				path := filepath.Join(filepath.Dir(name), file)
				fi, err := os.Stat(path)
				if err != nil {
					t.Errorf("%s: link to %s: %v", name, m[1], err)
					continue
				}
				if fi.IsDir() || anchor == "" {
					continue
				}
				target = readFile(t, path)
			}
			if !anchors(target)[anchor] {
				t.Errorf("%s: link to %s: no such heading", name, m[1])
			}
		}
	}
}

// TestExamples tests that the whole programs in the documents compile and pass
// go vet.
func TestExamples(t *testing.T) {
	n := 0
	for _, name := range documents(t) {
		for _, m := range fence.FindAllStringSubmatch(readFile(t, name), -1) {
			if m[1] != "go" || !strings.HasPrefix(m[2], "package ") {
				continue
			}
			n++
			dir := t.TempDir()
			for file, text := range map[string]string{"go.mod": "module example\n\ngo 1.27\n", "example.go": m[2]} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if strings.Contains(m[2], "\nfunc Test") || strings.Contains(m[2], "\nfunc Benchmark") {
				if err := os.Rename(filepath.Join(dir, "example.go"), filepath.Join(dir, "example_test.go")); err != nil {
					t.Fatal(err)
				}
			}
			cmd := fork(t, "vet", ".")
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: an example: %v\n%s\n%s", name, err, out, m[2])
			}
		}
	}
	if n == 0 {
		t.Error("no examples found")
	}
}

// TestPaths tests that the files and directories exist that the documents name
// in the project's own trees.
func TestPaths(t *testing.T) {
	path := regexp.MustCompile("`((?:src|misc|doc|api|test)/[\\w./-]+)`")
	for _, name := range documents(t) {
		for _, m := range path.FindAllStringSubmatch(readFile(t, name), -1) {
			_, err := os.Stat(filepath.Join(root, m[1]))
			if os.IsNotExist(err) {
				// Upstream's files are in the toolchain.
				_, err = os.Stat(filepath.Join(root, "goroot", m[1]))
			}
			if err != nil {
				t.Errorf("%s: names %s: %v", name, m[1], err)
			}
		}
	}
}
