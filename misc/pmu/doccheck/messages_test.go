// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package doccheck

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A messageGroup is a section of doc/pmu-errors.md.
type messageGroup struct {
	dir   string // of the package: all of its files in this repository, tests excepted
	title string
	intro string
}

// writers match the files that write pages, texts and pictures. In these a string is a
// message only where an error is made.
var writers = regexp.MustCompile(`^src/net/http/pprof/task_|^src/runtime/task/record/|^src/runtime/pprof/ratio/`)

var messageGroups = []messageGroup{
	{"src/runtime/pprof", "Starting a profile, a session or counters", "Package runtime/pprof. A message about one event begins with\n" +
		"`cpu profile: event NAME: ` or `counters: event NAME: `. If only some threads are\n" +
		"affected, the profile is taken and has the message among its\n" +
		"[comments](pmu.md#comments), as a warning."},
	{"src/internal/perfevent", "Names of events", "Package internal/perfevent. These begin with `perf event \"NAME\": ` and, where a\n" +
		"known name is near, end with `; nearest: NAMES`. What looks like `msr: REASON` is a\n" +
		"name that is refused, and the reason as other messages have it."},
	{"src/net/http/pprof", "Requests over HTTP", "Package net/http/pprof. The reference has\n[the status of each kind of error](pmu.md#nethttppprof)."},
	{"src/runtime/pprof/ratio", "Ratios of events", "Package runtime/pprof/ratio, which `misc/pmu/ratio` and `format=html` use."},
	{"src/runtime/task", "Recording tasks", "Package runtime/task."},
	{"src/runtime/task/record", "Records of tasks", "Package runtime/task/record. What `misc/pmu/tasks` says begins with `tasks: ` and the\nname of the file or the URL."},
	{"src/testing", "go test", "Package testing. These begin with `testing: `; no test runs."},
	{"src/testing/internal/testdeps", "go test, from the generated main package", ""},
}

// notMessages are strings of several words that are not errors: usages of flags,
// HTTP headers, HTML, panics, units for benchstat, parts of sentences.
var notMessages = regexp.MustCompile("`|^attachment;|^<|/html;|^runtime/pprof: |(truncated|mismatched) profile|^Unit |^KEY: |^event or term$|^the other events$|</p>$")

const errorsIntro = `# Error messages

<!-- Generated from the code: in misc/pmu, go test ./doccheck -update -->

Every message of the profiler and the counters, by the package it comes from.
A message states the cause and, after a semicolon or a colon, the remedy. Words in
capitals stand for what varies, and N for a number.

` + "`go run -C misc/pmu ./list`" + ` reports what this machine can sample.
[Permissions](pmu.md#permissions) says what to change in containers and for
unprivileged users, and [limits](pmu.md#limits) where the limits come from.
`

// errorsDocument returns what doc/pmu-errors.md has to be.
func errorsDocument(t *testing.T) string {
	var b strings.Builder
	b.WriteString(errorsIntro)
	for _, g := range messageGroups {
		fmt.Fprintf(&b, "\n## %s\n\n", g.title)
		if g.intro != "" {
			fmt.Fprintf(&b, "%s\n\n", g.intro)
		}
		n := 0
		for _, m := range messages(t, g.dir) {
			fmt.Fprintf(&b, "- `%s`\n", m)
			n++
		}
		if n == 0 {
			t.Errorf("%s has no messages", g.dir)
		}
	}
	return b.String()
}

// TestErrors tests that doc/pmu-errors.md is what the code says.
func TestErrors(t *testing.T) {
	writeOrCompare(t, root+"/doc/pmu-errors.md", errorsDocument(t))
}

// sources parses the files that this repository adds to a package, in the order of their
// names.
func sources(t *testing.T, dir string) []*ast.File {
	t.Helper()
	_, files := sourceFiles(t, dir)
	return files
}

// sourceFiles is sources, with the names of the files.
func sourceFiles(t *testing.T, dir string) (paths []string, files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, dir+"/"+filepath.Base(name))
		files = append(files, f)
	}
	if len(files) == 0 {
		t.Fatalf("%s has no files", dir)
	}
	return paths, files
}

// messages returns the messages of a package, in the order of its files.
func messages(t *testing.T, dir string) []string {
	t.Helper()
	names, files := sourceFiles(t, dir)
	m := &messageFinder{consts: make(map[string]string)}
	for _, f := range files {
		m.findConsts(f)
	}
	for i, f := range files {
		if writers.MatchString(names[i]) {
			ast.Inspect(f, m.visitErrors)
		} else {
			ast.Inspect(f, m.visit)
		}
	}
	return m.all
}

// A messageFinder collects the messages of a package: its strings of three words
// or more, with what they are concatenated with.
type messageFinder struct {
	consts map[string]string // the package's string constants
	all    []string
}

// findConsts records the string constants of f, and the variables that hold the
// value of a setting.
func (m *messageFinder) findConsts(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, v := range n.Values {
				if s, ok := literal(v); ok {
					m.consts[n.Names[i].Name] = s
				}
			}
		case *ast.AssignStmt:
			name, ok1 := n.Lhs[0].(*ast.Ident)
			call, ok2 := n.Rhs[0].(*ast.CallExpr)
			if ok1 && ok2 && callName(call) == "perfSysctl" {
				m.consts[name.Name] = m.render(call)
			}
		}
		return true
	})
}

// visitErrors visits what makes errors, and nothing else.
func (m *messageFinder) visitErrors(n ast.Node) bool {
	makes := false
	switch n := n.(type) {
	case *ast.CallExpr:
		switch callName(n) {
		case "New", "Errorf", "badRequest", "fail":
			makes = true
		}
	case *ast.CompositeLit:
		name, ok := n.Type.(*ast.Ident)
		makes = ok && name.Name == "requestError"
	}
	if makes {
		ast.Inspect(n, m.visit)
	}
	return !makes
}

func (m *messageFinder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ImportSpec:
		return false
	case *ast.GenDecl:
		return n.Tok != token.CONST // they are shown where they are used
	case *ast.DeclStmt, *ast.Field:
		return true
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Desc" {
			return false // of an event; the tables of events have it
		}
	case *ast.AssignStmt:
		if sel, ok := n.Lhs[0].(*ast.SelectorExpr); ok && sel.Sel.Name == "Desc" {
			return false
		}
	case *ast.CompositeLit:
		return m.visitTable(n)
	case *ast.CallExpr:
		return m.visitCall(n)
	case *ast.BinaryExpr:
		if n.Op == token.ADD {
			m.add(m.render(n))
			return false
		}
	case *ast.BasicLit:
		m.add(m.render(n))
	}
	return true
}

// visitTable handles a row of a table: a name and why it is refused. Other rows
// that begin with a string describe something else than an error.
func (m *messageFinder) visitTable(n *ast.CompositeLit) bool {
	if n.Type != nil || len(n.Elts) == 0 {
		return true
	}
	name, ok := literal(n.Elts[0])
	if !ok {
		_, nested := n.Elts[0].(*ast.CompositeLit)
		return !nested
	}
	if len(n.Elts) == 2 {
		if why, ok := literal(n.Elts[1]); ok && words(why) {
			m.addReason(name, why)
		}
	}
	return false
}

// visitCall handles a call whose first string is a format, with its arguments.
// Comments of a profile are messages only if they are warnings: the reference
// has the others.
func (m *messageFinder) visitCall(n *ast.CallExpr) bool {
	for i, arg := range n.Args {
		format, ok := literal(arg)
		if !ok {
			continue
		}
		if !strings.Contains(format, "%") && callName(n) != "add" {
			return true
		}
		if callName(n) != "add" || strings.HasPrefix(format, "warning: ") {
			m.add(m.expand(format, n.Args[i+1:]))
		}
		for _, a := range n.Args[i+1:] {
			ast.Inspect(a, m.visit)
		}
		return false
	}
	return true
}

// addReason adds a row of a table; rows with the same reason become one.
func (m *messageFinder) addReason(name, why string) {
	if last := len(m.all) - 1; last >= 0 {
		if names, ok := strings.CutSuffix(m.all[last], ": "+why); ok {
			m.all[last] = names + ", " + name + ": " + why
			return
		}
	}
	m.all = append(m.all, name+": "+why)
}

func (m *messageFinder) add(s string) {
	s = strings.TrimSpace(s)
	if words(s) && !notMessages.MatchString(s) && !slices.Contains(m.all, s) {
		m.all = append(m.all, s)
	}
}

var verb = regexp.MustCompile(`%[-+# 0]*[0-9.]*[a-zA-Z%]`)

// words reports whether s is several words, and not a name or a unit.
func words(s string) bool { return len(strings.Fields(s)) >= 3 }

// expand puts names for the arguments of a format into it.
func (m *messageFinder) expand(format string, args []ast.Expr) string {
	return verb.ReplaceAllStringFunc(format, func(v string) string {
		if v == "%%" {
			return "%"
		}
		if len(args) == 0 {
			return "..."
		}
		arg := m.render(args[0])
		args = args[1:]
		switch v[len(v)-1] {
		case 'd', 'f':
			return "N"
		case 'q':
			return strconv.Quote(arg)
		}
		return arg
	})
}

// render returns the value of a string expression, with names in capitals for
// what is not constant.
func (m *messageFinder) render(e ast.Expr) string {
	if s, ok := literal(e); ok {
		return s
	}
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return m.render(e.X) + m.render(e.Y)
	case *ast.ParenExpr:
		return m.render(e.X)
	case *ast.Ident:
		if s, ok := m.consts[e.Name]; ok {
			return s
		}
		return strings.ToUpper(strings.TrimPrefix(e.Name, "perf"))
	case *ast.SelectorExpr:
		return strings.ToUpper(e.Sel.Name)
	case *ast.StarExpr:
		return m.render(e.X)
	case *ast.IndexExpr:
		return m.render(e.X)
	case *ast.SliceExpr:
		return m.render(e.X)
	case *ast.CallExpr:
		return m.renderCall(e)
	}
	return "..."
}

// renderCall names the result of a call: most convert their first argument.
func (m *messageFinder) renderCall(e *ast.CallExpr) string {
	switch name := callName(e); name {
	case "perfSysctl", "perfNofile":
		return " (now N)"
	case "Itoa", "FormatUint", "len", "uint64":
		return "N"
	case "quote", "Quote":
		return strconv.Quote(m.render(e.Args[0]))
	case "Join", "TrimPrefix", "Repeat":
		return m.render(e.Args[0])
	case "Error", "String":
		return m.render(e.Fun.(*ast.SelectorExpr).X)
	default:
		return strings.ToUpper(strings.TrimPrefix(name, "perf"))
	}
}

// callName returns the name of the function or method that is called.
func callName(e *ast.CallExpr) string {
	switch f := e.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// literal returns the value of a string literal, or of several with + between
// them.
func literal(e ast.Expr) (string, bool) {
	if sum, ok := e.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
		x, ok1 := literal(sum.X)
		y, ok2 := literal(sum.Y)
		return x + y, ok1 && ok2
	}
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}
