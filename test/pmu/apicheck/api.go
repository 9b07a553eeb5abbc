// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
)

// exported returns the exported declarations of the standard library in goroot.
func exported(ctxt *build.Context, goroot string) (map[string]bool, error) {
	src := filepath.Join(goroot, "src")
	api := make(map[string]bool)
	err := filepath.WalkDir(src, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		switch d.Name() {
		case "internal", "vendor", "testdata", "cmd", "builtin":
			return filepath.SkipDir
		}
		rel, err := filepath.Rel(src, dir)
		if err != nil || rel == "." {
			return err
		}
		p, err := ctxt.ImportDir(dir, 0)
		var none *build.NoGoError
		if errors.As(err, &none) {
			return nil
		} else if err != nil {
			return err
		}
		c := &collector{fset: token.NewFileSet(), pkg: filepath.ToSlash(rel), api: api}
		for _, name := range append(p.GoFiles, p.CgoFiles...) {
			f, err := parser.ParseFile(c.fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			c.file(f)
		}
		return nil
	})
	if err == nil && len(api) == 0 {
		err = fmt.Errorf("%s: no packages", src)
	}
	return api, err
}

// A collector collects the exported declarations of one package.
type collector struct {
	fset *token.FileSet
	pkg  string
	api  map[string]bool
}

func (c *collector) emit(format string, args ...any) {
	c.api["pkg "+c.pkg+", "+fmt.Sprintf(format, args...)] = true
}

func (c *collector) file(f *ast.File) {
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			c.function(d)
		case *ast.GenDecl:
			c.declaration(d)
		}
	}
}

func (c *collector) function(d *ast.FuncDecl) {
	if !d.Name.IsExported() {
		return
	}
	sig := c.typeParams(d.Type.TypeParams) + c.signature(d.Type)
	if d.Recv == nil {
		c.emit("func %s%s", d.Name.Name, sig)
		return
	}
	recv := c.expr(d.Recv.List[0].Type)
	if ast.IsExported(strings.TrimLeft(recv, "*(")) {
		c.emit("method (%s) %s%s", recv, d.Name.Name, sig)
	}
}

func (c *collector) declaration(d *ast.GenDecl) {
	var last *ast.ValueSpec // whose expressions a constant without any repeats
	for i, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() {
				c.typeSpec(s)
			}
		case *ast.ValueSpec:
			if d.Tok == token.VAR || len(s.Values) > 0 || s.Type != nil {
				last = s
			}
			c.values(d.Tok, i, s, last)
		}
	}
}

// values emits the i'th specification s of a group of constants or variables.
func (c *collector) values(tok token.Token, i int, s, last *ast.ValueSpec) {
	for j, name := range s.Names {
		if !name.IsExported() {
			continue
		}
		if last.Type != nil {
			c.emit("%s %s %s", tok, name.Name, c.expr(last.Type))
		}
		if tok == token.CONST || last.Type == nil {
			value := ""
			if len(last.Values) > 0 {
				value = c.expr(last.Values[j%len(last.Values)])
			}
			if value == "iota" {
				value = strconv.Itoa(i)
			} else if strings.Contains(value, "iota") || s != last {
				value += fmt.Sprintf(" /* iota %d */", i)
			}
			c.emit("%s %s = %s", tok, name.Name, value)
		}
	}
}

func (c *collector) typeSpec(s *ast.TypeSpec) {
	name := s.Name.Name + c.typeParams(s.TypeParams)
	switch t := s.Type.(type) {
	case *ast.StructType:
		c.emit("type %s struct", name)
		c.fields(name, t)
	case *ast.InterfaceType:
		c.methods(name, t)
	default:
		if s.Assign.IsValid() {
			name += " ="
		}
		c.emit("type %s %s", name, c.expr(s.Type))
	}
}

func (c *collector) fields(typ string, t *ast.StructType) {
	for _, f := range t.Fields.List {
		if len(f.Names) == 0 {
			embedded := c.expr(f.Type)
			if base := embedded[strings.LastIndexAny(embedded, "*.")+1:]; ast.IsExported(base) {
				c.emit("type %s struct, embedded %s", typ, embedded)
			}
		}
		for _, n := range f.Names {
			if n.IsExported() {
				c.emit("type %s struct, %s %s", typ, n.Name, c.expr(f.Type))
			}
		}
	}
}

func (c *collector) methods(typ string, t *ast.InterfaceType) {
	var names []string
	closed := false // has unexported methods: nobody else can implement it
	for _, f := range t.Methods.List {
		if len(f.Names) == 0 {
			names = append(names, c.expr(f.Type)) // embedded, or a union
		}
		for _, n := range f.Names {
			if !n.IsExported() {
				closed = true
				continue
			}
			names = append(names, n.Name)
			c.emit("type %s interface, %s%s", typ, n.Name, c.signature(f.Type.(*ast.FuncType)))
		}
	}
	if closed {
		c.emit("type %s interface, unexported methods", typ)
		return
	}
	c.emit("type %s interface { %s }", typ, strings.Join(names, ", "))
}

func (c *collector) typeParams(list *ast.FieldList) string {
	if list == nil {
		return ""
	}
	var params []string
	for _, f := range list.List {
		for _, n := range f.Names {
			params = append(params, n.Name+" "+c.expr(f.Type))
		}
	}
	return "[" + strings.Join(params, ", ") + "]"
}

// signature returns a function's type without the word func and without the
// names of its parameters, which are not part of the API.
func (c *collector) signature(t *ast.FuncType) string {
	s := "(" + strings.Join(c.types(t.Params), ", ") + ")"
	switch results := c.types(t.Results); len(results) {
	case 0:
		return s
	case 1:
		return s + " " + results[0]
	default:
		return s + " (" + strings.Join(results, ", ") + ")"
	}
}

func (c *collector) types(list *ast.FieldList) []string {
	if list == nil {
		return nil
	}
	var types []string
	for _, f := range list.List {
		for i := 0; i == 0 || i < len(f.Names); i++ {
			types = append(types, c.expr(f.Type))
		}
	}
	return types
}

// expr returns the text of an expression or type, on one line.
func (c *collector) expr(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.FuncType:
		return "func" + c.signature(e)
	case *ast.StarExpr:
		return "*" + c.expr(e.X)
	case *ast.ArrayType:
		if e.Len == nil {
			return "[]" + c.expr(e.Elt)
		}
		return "[" + c.expr(e.Len) + "]" + c.expr(e.Elt)
	case *ast.Ellipsis:
		return "..." + c.expr(e.Elt)
	case *ast.MapType:
		return "map[" + c.expr(e.Key) + "]" + c.expr(e.Value)
	}
	var b bytes.Buffer
	printer.Fprint(&b, c.fset, e)
	return strings.Join(strings.Fields(b.String()), " ")
}
