// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package schedpath

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pmu/internal/tool"
)

// path is the functions that take a goroutine onto a thread and off it.
var path = []string{
	"runtime.execute", "runtime.schedule", "runtime.findRunnable", "runtime.gosched_m",
	"runtime.park_m", "runtime.gopark", "runtime.ready",
	"runtime.exitsyscall", "runtime.entersyscall", "runtime.reentersyscall",
	"runtime.cgocall", "runtime.casgstatus",
}

const program = `package main

func main() {
	c := make(chan int)
	go func() { c <- 1 }()
	<-c
}
`

// build builds the program by the release that the fork is made from, and by the
// fork.
func build(t *testing.T) (fork tool.Toolchain, stockExe, forkExe string) {
	t.Helper()
	fork = tool.MustFork(t)
	stock, err := tool.Release(fork)
	if err != nil {
		t.Fatal(err)
	}
	src := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(src, []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	env := []string{"CGO_ENABLED=0"}
	return fork, stock.Build(t, env, src), fork.Build(t, env, src)
}

// TestSize tests that the linker leaves the engine out of a program that can't
// start a profile.
func TestSize(t *testing.T) {
	_, stockExe, forkExe := build(t)
	var size [2]int64
	for i, exe := range []string{stockExe, forkExe} {
		fi, err := os.Stat(exe)
		if err != nil {
			t.Fatal(err)
		}
		size[i] = fi.Size()
	}
	ratio := float64(size[1]) / float64(size[0])
	t.Logf("%d bytes in stock, %d in the fork: %.4f", size[0], size[1], ratio)
	if ratio > 1.01 {
		t.Errorf("a program without a profile is %.2f %% larger, want 1 %% at most", 100*(ratio-1))
	}
}

// TestSamePath compares the instructions of the schedule path.
func TestSamePath(t *testing.T) {
	fork, stockExe, forkExe := build(t)
	for _, fn := range path {
		stock, forked := code(t, fork, stockExe, fn), code(t, fork, forkExe, fn)
		if len(stock) == 0 {
			t.Errorf("%s: no code in the stock program", fn)
			continue
		}
		if len(stock) != len(forked) {
			t.Errorf("%s: %d instructions in stock, %d in the fork", fn, len(stock), len(forked))
			continue
		}
		for i := range stock {
			if stock[i] != forked[i] {
				t.Errorf("%s: instruction %d is\n\t%s\nin stock and in the fork\n\t%s", fn, i, stock[i], forked[i])
				return
			}
		}
		t.Logf("%s: the same %d instructions", fn, len(stock))
	}
}

// What differs between two links of the same code: where data are, and the
// targets of jumps. The offsets of fields of g, m and p must not differ.
var (
	data    = regexp.MustCompile(`[\w./]+\(SB\)|(0x[0-9a-f]+)?\(IP\)`)
	address = regexp.MustCompile(`0x[0-9a-f]{5,}`)
)

// code returns the instructions of a function, without addresses.
func code(t *testing.T, tc tool.Toolchain, exe, fn string) (insns []string) {
	out := tool.Must(t, tc.Command(".", nil, "tool", "objdump", "-s", "^"+regexp.QuoteMeta(fn)+"$", exe))
	for _, line := range strings.Split(out, "\n") {
		// file.go:line address bytes instruction
		f := strings.Fields(line)
		if len(f) < 4 || f[0] == "TEXT" {
			continue
		}
		insn := strings.Join(f[3:], " ")
		if f[3] != "CALL" {
			insn = data.ReplaceAllString(insn, "DATA")
		}
		insns = append(insns, address.ReplaceAllString(insn, "ADDR"))
	}
	return insns
}
