// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package doccheck

import (
	"flag"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what is generated in the documents")

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

// writeOrCompare fails the test if the file does not have the text, or with
// -update writes it.
func writeOrCompare(t *testing.T, name, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != text {
		t.Fatalf("%s is out of date (%v): run in test/pmu: go test ./doccheck -update", filepath.Base(name), err)
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
	if got != want {
		writeOrCompare(t, reference, before+begin+want+end+after)
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

// TestComments tests that the reference has the key of every comment that a
// profile can have.
func TestComments(t *testing.T) {
	_, table, ok := strings.Cut(readFile(t, reference), "\n### Comments\n")
	if !ok {
		t.Fatal("doc/pmu.md has no section Comments")
	}
	table, _, _ = strings.Cut(table, "\n### ")
	n := 0
	check := func(comment string) {
		key, _, _ := strings.Cut(strings.TrimPrefix(comment, "warning: "), ": ")
		key, _, _ = strings.Cut(key, "; ")
		if strings.Contains(key, "%") {
			return // the line of a table, whose key is checked by itself
		}
		n++
		if !strings.Contains(table, "`"+key+":") && !strings.Contains(table, "`warning: "+key) {
			t.Errorf("doc/pmu.md does not explain the comment %q", key)
		}
	}
	for _, f := range sources(t, "src/runtime/pprof") {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if format, ok := firstLiteral(n.Args); ok && callName(n) == "add" {
					check(format)
				}
			case *ast.CompositeLit:
				if key, ok := firstLiteral(n.Elts); ok && n.Type == nil && len(n.Elts) == 3 {
					check(key)
				}
			}
			return true
		})
	}
	if n < 20 {
		t.Errorf("only %d comments found in the code", n)
	}
}

// firstLiteral returns the first expression if it is a string literal.
func firstLiteral(list []ast.Expr) (string, bool) {
	if len(list) == 0 {
		return "", false
	}
	return literal(list[0])
}

// TestVariables tests that the reference has every environment variable that
// the code knows, and the documents no other.
func TestVariables(t *testing.T) {
	goPprof := regexp.MustCompile(`\bGO_PPROF_[A-Z_]+\b`)
	known := make(map[string]bool)
	for _, dir := range []string{"src/runtime/pprof", "src/net/http/pprof"} {
		for _, f := range sources(t, dir) {
			ast.Inspect(f, func(n ast.Node) bool {
				if e, ok := n.(ast.Expr); ok {
					if s, _ := literal(e); s != "" && goPprof.FindString(s) == s {
						known[s] = true
					}
				}
				return true
			})
		}
	}
	if len(known) == 0 {
		t.Fatal("no variables found in the code")
	}
	for name := range known {
		if !strings.Contains(readFile(t, reference), "| `"+name+"=") {
			t.Errorf("doc/pmu.md has no row for %s", name)
		}
	}
	for _, name := range documents(t) {
		for _, v := range goPprof.FindAllString(readFile(t, name), -1) {
			if !known[v] {
				t.Errorf("%s: the code does not know %s", name, v)
			}
		}
	}
}

// TestTests tests that the tests exist that the documents name.
func TestTests(t *testing.T) {
	code := testCode(t)
	// "TestPerf..." stands for all tests whose names begin like that.
	name := regexp.MustCompile(`\b((?:Test|Fuzz)[A-Z]\w+)(\.\.\.)?`)
	n := 0
	for _, doc := range documents(t) {
		for _, m := range name.FindAllStringSubmatch(readFile(t, doc), -1) {
			n++
			want := "\nfunc " + m[1]
			if m[2] == "" {
				want += "("
			}
			if !strings.Contains(code, want) {
				t.Errorf("%s: there is no %s", doc, m[1])
			}
		}
	}
	if n == 0 {
		t.Error("no tests are named")
	}
}

// testCode returns the code of all tests here, and upstream's of the runtime.
func testCode(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(root + "/goroot/src/runtime/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, tree := range []string{"src", "misc", "test"} {
		err := filepath.WalkDir(filepath.Join(root, tree), func(name string, _ os.DirEntry, err error) error {
			if strings.HasSuffix(name, "_test.go") {
				files = append(files, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var code strings.Builder
	for _, file := range files {
		code.WriteString(readFile(t, file))
	}
	return code.String()
}

// documents are the project's own, without those in the toolchain.
func documents(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"README*.md", "doc/*.md", "doc/pmu-evidence/*.md", "misc/pmu/*.md", "misc/pmu/*/*.md", "test/pmu/*.md", "test/pmu/*/*.md"} {
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
