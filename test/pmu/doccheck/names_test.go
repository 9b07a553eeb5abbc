// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package doccheck

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Names are the identifiers that packages declare: "End", and "Task.End" for fields and methods. What
// a type embeds is "Task.*". nil is a package that is not there.
type names map[string]map[string]bool

// of returns the names of a package of the toolchain.
func (n names) of(t *testing.T, pkg string) map[string]bool {
	t.Helper()
	if all, ok := n[pkg]; ok {
		return all
	}
	n[pkg] = nil
	files, err := filepath.Glob(filepath.Join(root, "goroot/src", pkg, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if n[pkg] == nil {
			n[pkg] = make(map[string]bool)
		}
		for _, d := range f.Decls {
			declared(n[pkg], d)
		}
	}
	return n[pkg]
}

// declared adds the names of a declaration.
func declared(all map[string]bool, d ast.Decl) {
	if f, ok := d.(*ast.FuncDecl); ok {
		name := f.Name.Name
		if f.Recv != nil {
			name = base(f.Recv.List[0].Type) + "." + name
		}
		all[name] = true
		return
	}
	for _, s := range d.(*ast.GenDecl).Specs {
		switch s := s.(type) {
		case *ast.ValueSpec:
			for _, id := range s.Names {
				all[id.Name] = true
			}
		case *ast.TypeSpec:
			all[s.Name.Name] = true
			var list *ast.FieldList
			switch x := s.Type.(type) {
			case *ast.StructType:
				list = x.Fields
			case *ast.InterfaceType:
				list = x.Methods
			default:
				all[s.Name.Name+".*"] = true // of another type, which may have fields
				continue
			}
			for _, f := range list.List {
				if len(f.Names) == 0 {
					all[s.Name.Name+"."+base(f.Type)] = true
					all[s.Name.Name+".*"] = true
				}
				for _, id := range f.Names {
					all[s.Name.Name+"."+id.Name] = true
				}
			}
		}
	}
}

// base returns the name of a type without its package, pointers and type arguments.
func base(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return base(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.IndexExpr:
		return base(e.X)
	case *ast.IndexListExpr:
		return base(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// has reports whether a package declares a name, and a field or method of it if that is not empty.
func has(all map[string]bool, name, of string) bool {
	return all[name] && (of == "" || all[name+"."+of] || all[name+".*"])
}

// TestNames tests that what the documents say of package runtime/task exists: `task.Start`,
// `task.Config.Slow`, and in the document on it `Config.Slow`.
func TestNames(t *testing.T) {
	task := make(names).of(t, "runtime/task")
	code := regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]+`")
	qualified := regexp.MustCompile(`\btask\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)
	member := regexp.MustCompile("^`([A-Z]\\w*)\\.([A-Z]\\w*)`$")
	n := 0
	for _, name := range documents(t) {
		for _, c := range code.FindAllString(readFile(t, name), -1) {
			for _, m := range qualified.FindAllStringSubmatch(c, -1) {
				n++
				if !has(task, m[1], m[2]) {
					t.Errorf("%s: runtime/task has no %s", name, strings.TrimPrefix(m[0], "task."))
				}
			}
			if m := member.FindStringSubmatch(c); m != nil && filepath.Base(name) == "pmu-tasks.md" && task[m[1]] && !has(task, m[1], m[2]) {
				t.Errorf("%s: runtime/task has no %s", name, m[0])
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d names found", n)
	}
}

// TestDocLinks tests that what comments link to exists: [runtime/task.Start], [task.Start] where that is
// imported, and [Start] in the package.
func TestDocLinks(t *testing.T) {
	link := regexp.MustCompile(`\[\*?(?:((?:[a-z0-9]+/)*[a-z][a-z0-9]*)\.)?([A-Z]\w+)(?:\.([A-Z]\w*))?\][^\w(]`)
	all := make(names)
	n := 0
	err := filepath.WalkDir(filepath.Join(root, "src"), func(name string, d os.DirEntry, err error) error {
		if err != nil || d.Name() == "testdata" && d.IsDir() {
			if err == nil {
				err = filepath.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		imports := make(map[string]string)
		for _, i := range f.Imports {
			p, _ := strconv.Unquote(i.Path.Value)
			imports[path.Base(p)] = p
		}
		own, err := filepath.Rel(filepath.Join(root, "src"), filepath.Dir(name))
		if err != nil {
			return err
		}
		for _, c := range f.Comments {
			for _, m := range link.FindAllStringSubmatch(c.Text(), -1) {
				pkg := m[1]
				switch {
				case pkg == "":
					pkg = filepath.ToSlash(own)
				case imports[pkg] != "":
					pkg = imports[pkg]
				}
				declared := all.of(t, pkg)
				if declared == nil {
					continue // no package, and so no link
				}
				n++
				if !has(declared, m[2], m[3]) {
					t.Errorf("%s: a link to %s: %s has none", name, strings.TrimRight(m[0], "\n .,;:"), pkg)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 100 {
		t.Errorf("only %d links found", n)
	}
}
