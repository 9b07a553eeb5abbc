// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Ports checks that the fork is whole on every port of Go, or on those named.
//
//	../../goroot/bin/go run ./ports [GOOS/GOARCH...]
//
// To build all of them takes many minutes. This does on each what can find a
// mistake there.
//
// Linux is where the engine is: on each of its ports a program that uses all of
// it is compiled and linked. Only the linker knows whether a symbol is missing,
// and whether functions that must not grow the stack fit into it, which depends
// on the size of frames on that port. What is in assembly is held to its
// declarations (vet's asmdecl).
//
// Elsewhere the fork is stubs, the same for all systems but for two differences:
// signals are as on Unix or not, and a word has 32 bits or 64. They have no
// assembly, and are so small that the compiler inlines them, which leaves no
// frames. So it takes two ports to compile and link them. What may be wrong on
// another alone is what upstream has there: a name that is missing, is taken,
// or has another type. Type-checking finds that, in a second.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/build"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

type port struct{ os, arch string }

func (p port) String() string { return p.os + "/" + p.arch }

// linked reports whether the program is linked for p. Android has Linux's files
// and few of its own; its other ports can't be linked without a C compiler of
// theirs.
func (p port) linked() bool {
	switch p {
	case port{"android", "arm64"},
		port{"darwin", "arm64"}, // signals, 64 bits
		port{"windows", "386"}:  // no signals, 32 bits
		return true
	}
	return p.os == "linux"
}

// packages have, with what they import, all of the fork that depends on a port.
var packages = []string{"runtime/pprof", "testing"}

func main() {
	log.SetFlags(0)
	log.SetPrefix("ports: ")
	flag.Parse()
	c := &checker{goroot: build.Default.GOROOT}
	names := flag.Args()
	if len(names) == 0 {
		list, err := c.command(port{}, "tool", "dist", "list")
		if err != nil {
			log.Fatal(err)
		}
		names = strings.Fields(string(list))
	}
	tmp, err := os.MkdirTemp("", "ports")
	if err != nil {
		log.Fatal(err)
	}
	err = c.all(names, tmp)
	os.RemoveAll(tmp)
	if err != nil {
		log.Fatal(err)
	}
}

// A checker checks ports.
type checker struct {
	goroot string
	dir    string // where commands are run; "" for the current directory
	source source
}

// all checks the ports named, as many at a time as there are CPUs.
func (c *checker) all(names []string, tmp string) error {
	overlay := filepath.Join(tmp, "overlay.json")
	if err := c.withoutTests(overlay, "runtime"); err != nil {
		return err
	}
	type task struct {
		port port
		what string
		do   func(p port) error
	}
	var long, short []task
	for _, name := range names {
		goos, arch, _ := strings.Cut(name, "/")
		p := port{goos, arch}
		if p.linked() {
			long = append(long, task{p, "links", func(p port) error {
				_, err := c.command(p, "build", "-o", filepath.Join(tmp, p.os+"-"+p.arch), "./ports/testdata/engine")
				return err
			}})
		} else {
			short = append(short, task{p, "type-checks", func(p port) error { return c.typeCheck(p, packages) }})
		}
		if p.os == "linux" {
			// After the link, which has compiled what it needs.
			short = append(short, task{p, "vets", func(p port) error {
				_, err := c.command(p, "vet", "-asmdecl", "-overlay", overlay, "runtime")
				return err
			}})
		}
	}
	tasks := make(chan task)
	failed := make(chan error)
	var wg sync.WaitGroup
	for i := 0; i < runtime.NumCPU(); i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for t := range tasks {
				start := time.Now()
				if err := t.do(t.port); err != nil {
					failed <- fmt.Errorf("%s: %v", t.port, err)
					continue
				}
				fmt.Printf("%s %s (%.1f s)\n", t.port, t.what, time.Since(start).Seconds())
			}
		}()
	}
	go func() {
		for _, t := range append(long, short...) {
			tasks <- t
		}
		close(tasks)
		wg.Wait()
		close(failed)
	}()
	var errs []error
	for err := range failed {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// command runs the go command for p and returns its output. Ports are checked
// side by side, so each is content with one CPU, and the compilers with few
// garbage collections. Without DWARF a port takes a tenth less; what test.bash
// builds anyway is built as it is there, and found in the cache.
func (c *checker) command(p port, args ...string) ([]byte, error) {
	cmd := exec.Command(filepath.Join(c.goroot, "bin", "go"), args...)
	flags := "-p=1"
	if p != (port{"linux", "amd64"}) && p != (port{"linux", "arm64"}) {
		flags += " -gcflags=all=-dwarf=false -ldflags=-w"
	}
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS="+flags, "GOMAXPROCS=1", "GOGC=400", "GOOS="+p.os, "GOARCH="+p.arch)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return out, nil
}

// withoutTests writes an overlay for the go command in which a package of the
// standard library has no tests. Vet would compile all that they import, which
// for the runtime is a good part of the library.
func (c *checker) withoutTests(file, pkg string) error {
	tests, err := filepath.Glob(filepath.Join(c.goroot, "src", filepath.FromSlash(pkg), "*_test.go"))
	if err != nil {
		return err
	}
	replace := make(map[string]string)
	for _, name := range tests {
		replace[name] = ""
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o666)
}
