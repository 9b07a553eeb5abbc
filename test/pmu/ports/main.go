// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Ports checks that the fork works on every port of Go, or on the ports named.
//
//	../../goroot/bin/go run ./ports [GOOS/GOARCH...]
//
// Building everything on all ports takes many minutes, so each port gets only the
// checks that can find a mistake there.
//
// The engine is for Linux. On each of its ports a test binary that uses all of the
// engine is compiled, linked and run. Only the linker finds missing symbols, and
// nosplit functions whose frames do not fit on the stack, which depends on the port;
// some of the stack must be left. Vet's asmdecl checks the assembly against its
// declarations.
//
// Programs that the machine cannot run run under QEMU's user-mode emulation (Debian's
// qemu-user), which has no events: a profile of an event must fail there with an error
// that says so, and a profile of the timer must be right.
//
// net/http/pprof is the same everywhere, and its imports take longer to compile than
// all else together. So it is linked and run on two of Linux's ports: one has 32-bit
// words, the other is big-endian. test.bash tests it on amd64.
//
// Elsewhere the fork is stubs. They differ in two respects only: whether signals are as
// on Unix, and whether a word has 32 bits or 64. They have no assembly, and are inlined,
// so they have no frames. Two ports are enough to compile and link them. What can be
// wrong on one of the others alone is in upstream's code: a name is missing or taken, or
// has another type. Type-checking finds that in a second.
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
	"syscall"
	"time"
)

type port struct{ os, arch string }

func (p port) String() string { return p.os + "/" + p.arch }

// linked reports whether the program is linked for p. Android has Linux's files
// of the fork (TestLinked); most of its ports can't be linked without a C compiler
// of theirs.
func (p port) linked() bool {
	switch p {
	case port{"darwin", "arm64"}, // signals, 64 bits
		port{"windows", "386"}: // no signals, 32 bits
		return true
	}
	return p.os == "linux"
}

// http reports whether the program has net/http/pprof on p.
func (p port) http() bool {
	return p == port{"linux", "386"} || p == port{"linux", "ppc64"}
}

// emulator returns the command that runs programs for p, or "" if the machine runs them
// itself.
func (p port) emulator() string {
	if p.arch == runtime.GOARCH || p.arch == "386" && runtime.GOARCH == "amd64" {
		return ""
	}
	names := map[string]string{"386": "i386", "amd64": "x86_64", "arm64": "aarch64", "loong64": "loongarch64",
		"mipsle": "mipsel", "mips64le": "mips64el"}
	if name := names[p.arch]; name != "" {
		return "qemu-" + name
	}
	return "qemu-" + p.arch
}

// packages have, with what they import, all of the fork that depends on a port.
var packages = []string{"net/http/pprof", "runtime/hazard", "runtime/pprof", "testing"}

// tested have tests for every port, some in files for Linux, and need only a port without them
// to show what is missing.
var tested = []string{
	"cmd/pmu/...", "internal/perfevent", "internal/runtime/perf", "internal/taskrecord", "net/http/pprof",
	"runtime", "runtime/hazard", "runtime/pprof", "runtime/task", "testing",
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("ports: ")
	link := flag.Bool("link", false, "link programs, but do not run them")
	flag.Parse()
	c := &checker{goroot: build.Default.GOROOT, src: "../../src", link: *link}
	names := flag.Args()
	if len(names) == 0 {
		list, _, err := c.command(port{}, "tool", "dist", "list")
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
	src    string // the fork's own files and patches; "" for none
	link   bool   // do not run what has been linked
	source source
}

// A task is one check of a port.
type task struct {
	port port
	what string
	do   func(p port) error
}

// all checks the ports named, as many at a time as there are CPUs.
func (c *checker) all(names []string, tmp string) error {
	overlay := filepath.Join(tmp, "overlay.json")
	if err := c.withoutTests(overlay, "runtime"); err != nil {
		return err
	}
	var long, short []task // those that take long first
	for _, name := range names {
		goos, arch, _ := strings.Cut(name, "/")
		p := port{goos, arch}
		if p.linked() {
			long = append(long, c.links(p, tmp)...)
		} else {
			short = append(short, task{p, "type-checks", func(p port) error { return c.typeCheck(p, packages) }})
		}
		if name == "windows/amd64" {
			short = append(short, task{p, "type-checks tests", func(p port) error { return c.typeCheck(p, tested, "-test") }})
		}
		if p.os == "linux" {
			// After the link, which has compiled what it needs.
			short = append(short, task{p, "vets", func(p port) error {
				_, _, err := c.command(p, "vet", "-asmdecl", "-overlay", overlay, "runtime")
				return err
			}})
		}
	}
	return do(append(long, short...))
}

// links returns the tasks of a port for which programs are linked.
func (c *checker) links(p port, tmp string) []task {
	what := "links and runs"
	if c.link || p.os != "linux" {
		what = "links"
	}
	tasks := []task{{p, what, func(p port) error { return c.engine(p, tmp, what != "links") }}}
	if p.os == "linux" && p.arch == "ppc64" {
		// Where least stack is left, frames are larger still for a debugger.
		tasks = append(tasks, task{p, "links without inlining", func(p port) error {
			_, out, err := c.command(p, "build", "-gcflags=all=-dwarf=false -N -l", "-ldflags=-w -debugnosplit",
				"-o", filepath.Join(tmp, "hello"), "./ports/testdata/hello")
			if err != nil {
				return err
			}
			return checkStack(out)
		}})
	}
	return tasks
}

// do does the tasks, as many at a time as there are CPUs.
func do(list []task) error {
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
		for _, t := range list {
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

// engine links the program for p, and runs it if asked to.
func (c *checker) engine(p port, tmp string, run bool) error {
	exe := filepath.Join(tmp, p.os+"-"+p.arch)
	args := []string{"test", "-c", "-vet=off", "-ldflags=-w -debugnosplit", "-o", exe}
	if p.http() {
		args = append(args, "-tags=nethttp")
	}
	_, out, err := c.command(p, append(args, "./ports/testdata/engine")...)
	if err != nil {
		return err
	}
	if p.os == "linux" {
		if err := checkStack(out); err != nil {
			return err
		}
	}
	if !run {
		return nil
	}
	defer os.Remove(exe)
	args = []string{exe, "-test.v", "-test.timeout=5m"}
	if p.arch == "386" && errors.Is(exec.Command(exe, "-test.run=^$").Run(), syscall.ENOEXEC) {
		// The kernel has no CONFIG_IA32_EMULATION. Under qemu-i386 7.2 no Go program with
		// several threads gets far, stock Go's included: "bad g in signal handler".
		fmt.Printf("%s is only linked: this kernel runs no programs of it\n", p)
		return nil
	}
	if emulator := p.emulator(); emulator != "" {
		if _, err := exec.LookPath(emulator); err != nil {
			return fmt.Errorf("cannot run programs: %v: install qemu-user, or use -link", err)
		}
		args = append([]string{emulator}, args...)
	} else {
		args = append(args, "-events")
	}
	b, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %v\n%s", strings.Join(args, " "), err, b)
	}
	want := []string{"TestEvents", "TestCounters", "TestProfile", "TestTimer", "TestTasks"}
	if p.http() {
		want = append(want, "TestHTTP")
	}
	for _, test := range want {
		if !bytes.Contains(b, []byte("--- PASS: "+test+" ")) {
			return fmt.Errorf("%s: no %s:\n%s", exe, test, b)
		}
	}
	return nil
}

// command runs the go command for p and returns its output and its diagnostics. Ports
// are checked side by side, so each uses one CPU, and the compilers collect garbage only
// for large packages. What test.bash builds anyway is built as it is there, and found in
// the cache. Other ports are built without DWARF, and only the runtime, where the stack
// is scarce, is optimized. All this saves a quarter of the time.
func (c *checker) command(p port, args ...string) (stdout []byte, stderr string, err error) {
	cmd := exec.Command(filepath.Join(c.goroot, "bin", "go"), args...)
	flags := "-p=1"
	if p != (port{"linux", "amd64"}) && p != (port{"linux", "arm64"}) {
		flags += " '-gcflags=all=-dwarf=false -N -l' -gcflags=runtime=-dwarf=false -gcflags=internal/...=-dwarf=false"
	}
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS="+flags, "GOMAXPROCS=1", "GOGC=off", "GOMEMLIMIT=400MiB", "GOOS="+p.os, "GOARCH="+p.arch)
	var diagnostics strings.Builder
	cmd.Stderr = &diagnostics
	stdout, err = cmd.Output()
	if err != nil {
		return nil, "", fmt.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, withoutStack(diagnostics.String()))
	}
	return stdout, diagnostics.String(), nil
}

// withoutTests writes an overlay for the go command in which a package of the standard
// library has no tests. Vet would compile all that the tests import, which for the
// runtime is a good part of the library.
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
