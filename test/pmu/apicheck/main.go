// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Apicheck compares the exported API of the fork's standard library with that
// of the release it is made from. What the fork adds must be what the files in
// api/next list, line for line, and nothing may be missing.
//
//	../../goroot/bin/go run ./apicheck [-goroot DIR] [-upstream DIR] [-api DIR]
//
// It is run by the fork's own go command, since the release's sources may have
// syntax that an older Go does not know.
//
// The format is that of Go's api directory (cmd/api). Declarations are read,
// not type-checked: a constant or variable without a type is recorded with its
// expression. That shows any difference, and needs no second compiler.
package main

import (
	"flag"
	"fmt"
	"go/build"
	"log"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"pmu/internal/tool"
)

// contexts are the systems whose API is compared: the one that the fork is
// for, and one of each kind on which it must be a complete no-op.
var contexts = []struct{ goos, goarch string }{
	{"linux", "amd64"},
	{"linux", "386"},
	{"darwin", "arm64"},
	{"windows", "amd64"},
	{"plan9", "386"},
	{"js", "wasm"},
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("apicheck: ")
	goroot := flag.String("goroot", build.Default.GOROOT, "the fork's `DIR`")
	upstream := flag.String("upstream", "", "the release's `DIR` (default: the one that the fork is made from)")
	api := flag.String("api", filepath.FromSlash("../../api/next"), "`DIR` of the lists of what the fork adds")
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	listed, err := readAPI(*api)
	if err != nil {
		log.Fatal(err)
	}
	if *upstream == "" {
		release, err := tool.Release(tool.Toolchain{Goroot: *goroot})
		if err != nil {
			log.Fatal(err)
		}
		*upstream = release.Goroot
	}
	systems := make(map[string][]string) // by problem, where it is
	for _, c := range contexts {
		ctxt := build.Default
		ctxt.GOOS, ctxt.GOARCH, ctxt.CgoEnabled = c.goos, c.goarch, c.goos == "linux"
		before, err := exported(&ctxt, *upstream)
		if err != nil {
			log.Fatal(err)
		}
		after, err := exported(&ctxt, *goroot)
		if err != nil {
			log.Fatal(err)
		}
		for _, p := range compare(before, after, listed) {
			systems[p] = append(systems[p], c.goos+"/"+c.goarch)
		}
		fmt.Printf("%s/%s: %d declarations upstream, %d here\n", c.goos, c.goarch, len(before), len(after))
	}
	for _, p := range sorted(systems) {
		where := strings.Join(systems[p], ", ")
		if len(systems[p]) == len(contexts) {
			where = "all systems"
		}
		fmt.Printf("%s (%s)\n", p, where)
	}
	if len(systems) > 0 {
		log.Fatalf("%d differences from %s", len(systems), *api)
	}
	fmt.Printf("what is new are the %d declarations listed in %s\n", len(listed), *api)
}

// compare returns what is wrong with the new API, in words.
func compare(before, after, listed map[string]bool) []string {
	var problems []string
	for _, d := range sorted(before) {
		if !after[d] {
			problems = append(problems, "missing or changed: "+d)
		}
	}
	for _, d := range sorted(after) {
		if !before[d] && !listed[d] {
			problems = append(problems, "new and not listed: "+d)
		}
	}
	for _, d := range sorted(listed) {
		if !after[d] {
			problems = append(problems, "listed and not there: "+d)
		} else if before[d] {
			problems = append(problems, "listed and not new: "+d)
		}
	}
	return problems
}

func sorted[V any](set map[string]V) []string {
	var all []string
	for d := range set {
		all = append(all, d)
	}
	sort.Strings(all)
	return all
}

// readAPI reads the files in dir, which have lines "DECLARATION #ISSUE", and
// are named after the issue.
func readAPI(dir string) (map[string]bool, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	listed := make(map[string]bool)
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		suffix := " #" + strings.TrimSuffix(filepath.Base(name), ".txt")
		for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
			decl := strings.TrimSuffix(line, suffix)
			if decl == line || listed[decl] {
				return nil, fmt.Errorf("%s:%d: not DECLARATION%s, or there twice: %q", name, i+1, suffix, line)
			}
			listed[decl] = true
		}
	}
	if len(listed) == 0 {
		return nil, fmt.Errorf("%s: no declarations", dir)
	}
	return listed, nil
}
