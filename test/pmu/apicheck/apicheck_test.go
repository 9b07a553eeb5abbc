// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"go/build"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const upstreamSource = `package p

import "io"

const A = 1
const (
	B = iota
	C
)

var V, W int
var x int

type T struct {
	F, G int
	h    int
	io.Reader
}

func (t *T) M(a, b int, c ...string) (n int, err error) { return }
func (t *T) m()                                        {}

type I interface {
	io.Reader
	M(f func(x int) error)
}
type N func(chan<- int)

func F[E any](e E) []E { return nil }
func f()               {}
`

func TestExported(t *testing.T) {
	got := apiOf(t, map[string]string{
		"p/p.go":           upstreamSource,
		"p/p_test.go":      "package p\nfunc Test() {}\n",
		"p/p_windows.go":   "package p\nfunc Windows() {}\n",
		"internal/q/q.go":  "package q\nfunc Q() {}\n",
		"p/testdata/d.go":  "package d\nfunc D() {}\n",
		"cmd/x/x.go":       "package x\nfunc X() {}\n",
		"p/r/r.go":         "package r\ntype Closed interface { M(); m() }\ntype A = []string\n",
		"p/internal/s.go":  "package s\nfunc S() {}\n",
		"vendor/v/v.go":    "package v\nfunc V() {}\n",
		"builtin/bltin.go": "package builtin\nfunc B() {}\n",
	})
	want := []string{
		"pkg p, const A = 1",
		"pkg p, const B = 0",
		"pkg p, const C = 1",
		"pkg p, func F[E any](E) []E",
		"pkg p, method (*T) M(int, int, ...string) (int, error)",
		"pkg p, type I interface { io.Reader, M }",
		"pkg p, type I interface, M(func(int) error)",
		"pkg p, type N func(chan<- int)",
		"pkg p, type T struct",
		"pkg p, type T struct, F int",
		"pkg p, type T struct, G int",
		"pkg p, type T struct, embedded io.Reader",
		"pkg p, var V int",
		"pkg p, var W int",
		"pkg p/r, type A = []string",
		"pkg p/r, type Closed interface, M()",
		"pkg p/r, type Closed interface, unexported methods",
	}
	if g, w := strings.Join(sorted(got), "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

func TestCompare(t *testing.T) {
	edit := strings.NewReplacer(
		"W int", "W string",
		"a, b int", "x, y int", // names are not API
		"h    int", "h, H int",
		"C\n", "",
		"func f()", "func New()",
	)
	before := apiOf(t, map[string]string{"p/p.go": upstreamSource})
	after := apiOf(t, map[string]string{"p/p.go": edit.Replace(upstreamSource)})
	listed := map[string]bool{
		"pkg p, func New()":  true,
		"pkg p, func Old()":  true,
		"pkg p, const A = 1": true,
	}
	got := strings.Join(compare(before, after, listed), "\n")
	want := strings.Join([]string{
		"missing or changed: pkg p, const C = 1",
		"missing or changed: pkg p, var W int",
		"new and not listed: pkg p, type T struct, H int",
		"new and not listed: pkg p, var V string",
		"new and not listed: pkg p, var W string",
		"listed and not new: pkg p, const A = 1",
		"listed and not there: pkg p, func Old()",
	}, "\n")
	want = strings.Replace(want, "missing or changed: pkg p, var W int", "missing or changed: pkg p, var V int\nmissing or changed: pkg p, var W int", 1)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestReadAPI(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct {
		text string
		ok   bool
	}{
		{"pkg p, func F() #123\npkg p, func G() #123\n", true},
		{"pkg p, func F() #1\n", false},
		{"pkg p, func F()\n", false},
		{"pkg p, func F() #x\n", false},
		{"pkg p, func F() #123\npkg p, func F() #123\n", false},
		{"", false},
	} {
		if err := os.WriteFile(filepath.Join(dir, "123.txt"), []byte(test.text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := readAPI(dir); (err == nil) != test.ok {
			t.Errorf("%q: %v", test.text, err)
		}
	}
	if _, err := readAPI(filepath.Join("..", "..", "..", "api", "next")); err != nil {
		t.Error(err)
	}
}

// apiOf returns the linux/amd64 API of a GOROOT with the files in src.
func apiOf(t *testing.T, files map[string]string) map[string]bool {
	t.Helper()
	goroot := t.TempDir()
	for name, text := range files {
		name = filepath.Join(goroot, "src", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	ctxt := build.Default
	ctxt.GOOS, ctxt.GOARCH = "linux", "amd64"
	api, err := exported(&ctxt, goroot)
	if err != nil {
		t.Fatal(err)
	}
	return api
}
