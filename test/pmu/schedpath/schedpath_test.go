// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package schedpath

import (
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pmu/internal/tool"
)

// A function is one that takes goroutines onto threads or off them, with what may be
// different in the fork, for goroutines that are not accounted.
type function struct {
	name string

	// The number of compares of g.account with 0 where upstream compares g.bubble.
	compares int

	// The number of instructions that use another register, and are as long.
	registers int

	// The number of times that two loads from the stack come in the other order.
	swaps int
}

// Left out are newproc1, coroswitch_m and preemptPark, which compare g.account once more
// and thereby let the compiler choose other registers. TestSwitches counts what the first
// two execute.
var path = []function{
	{name: "execute"}, {name: "schedule"}, {name: "findRunnable"}, {name: "gosched_m"},
	{name: "goschedImpl"}, {name: "park_m"}, {name: "gopark"}, {name: "ready"},
	{name: "goexit0"}, {name: "gdestroy"}, {name: "entersyscall"}, {name: "entersyscallblock"},
	{name: "cgocall"}, {name: "casGToPreemptScan"}, {name: "casGFromPreempted"},
	{name: "reentersyscall", compares: 1},
	{name: "exitsyscall", compares: 1},

	// The differences are in the loop that waits while others scan the stack.
	{name: "casgstatus", compares: 1, registers: 7, swaps: 1},
}

const program = `package main

func main() {
	c := make(chan int)
	go func() { c <- 1 }()
	<-c
}
`

// toolchains returns the fork and the release that it is made from.
func toolchains(t *testing.T) (fork, stock tool.Toolchain) {
	t.Helper()
	fork = tool.MustFork(t)
	stock, err := tool.Release(fork)
	if err != nil {
		t.Fatal(err)
	}
	return fork, stock
}

// build builds the program by both, with env.
func build(t *testing.T, env ...string) (fork tool.Toolchain, stockExe, forkExe string) {
	t.Helper()
	fork, stock := toolchains(t)
	src := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(src, []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	env = append(env, "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	return fork, stock.Build(t, env, src), fork.Build(t, env, src)
}

// TestSize tests that the linker leaves the engine out of a program that can't
// start a profile. Without -trimpath the programs would hold the names of all source files,
// in two directories that have names of their own.
func TestSize(t *testing.T) {
	_, stockExe, forkExe := build(t, "GOFLAGS=-trimpath")
	var size [2]int
	for i, exe := range []string{stockExe, forkExe} {
		var err error
		if size[i], err = tool.Size(exe); err != nil {
			t.Fatal(err)
		}
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
	stock, forked := disassemble(t, fork, stockExe), disassemble(t, fork, forkExe)
	for _, f := range path {
		w := walk{stock: stock[f.name], fork: forked[f.name], seen: make(map[position]bool)}
		if len(w.stock) == 0 {
			t.Errorf("%s: no code in the stock program", f.name)
			continue
		}
		if err := w.from(position{}); err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		if w.compares != f.compares || w.registers != f.registers || w.swaps != f.swaps {
			t.Errorf("%s: %d compares of g.account, %d other registers and %d swaps, want %d, %d and %d",
				f.name, w.compares, w.registers, w.swaps, f.compares, f.registers, f.swaps)
			continue
		}
		t.Logf("%s: the same %d instructions; %d with g.account for g.bubble, %d with another register, %d swaps",
			f.name, len(w.seen), w.compares, w.registers, w.swaps)
	}
}

// An insn is an instruction. Its text is without what differs between two links of the
// same code: where data are, and the targets of jumps. Offsets of fields stay, as those of
// g, m and p must not differ.
type insn struct {
	addr, text string
	size       int
	target     string // of a jump within the function
}

// nop reports whether the instruction does nothing: the assembler pads jumps according to
// where they are, and marks calls that were inlined.
func (i insn) nop() bool { return strings.HasPrefix(i.text, "NOP") }

// ends reports whether the next instruction does not follow.
func (i insn) ends() bool {
	return i.text == "RET" || i.text == "JMP" || strings.HasPrefix(i.text, "JMP ") || i.text == "CALL runtime.throw(SB)"
}

var (
	objdumpLine = regexp.MustCompile(`(?m)^(?:TEXT runtime\.(\w+)\(SB\)|\s+\S+:\d+\s+(0x\w+)\s+(\w+)\s+(.*\S)).*$`)
	data        = regexp.MustCompile(`[\w./]+\(SB\)|(0x[0-9a-f]+)?\(IP\)`)
	jump        = regexp.MustCompile(`^(J\w+) (0x[0-9a-f]{5,})$`)
	load        = regexp.MustCompile(`^MOV[LQ] 0x\w+\(SP\), (\w+)$`)
	register    = regexp.MustCompile(`\b([ABCD][LX]|[SD]IL?|R[89]|R1[0-35])\b`) // R14 is g
)

// disassemble returns the functions of the schedule path in a program.
func disassemble(t *testing.T, tc tool.Toolchain, exe string) map[string][]insn {
	t.Helper()
	var names []string
	for _, f := range path {
		names = append(names, f.name)
	}
	fields := offsets(t, exe)
	funcs := make(map[string][]insn)
	out := tool.Must(t, tc.Command(".", nil, "tool", "objdump", "-s", `^runtime\.(`+strings.Join(names, "|")+")$", exe))
	name := ""
	for _, m := range objdumpLine.FindAllStringSubmatch(out, -1) {
		if m[1] != "" {
			name = m[1]
			continue
		}
		i := insn{addr: m[2], size: len(m[3]) / 2, text: strings.Join(strings.Fields(m[4]), " ")}
		if j := jump.FindStringSubmatch(i.text); j != nil {
			i.text, i.target = j[1], j[2]
		} else if !strings.HasPrefix(i.text, "CALL ") && !strings.HasPrefix(i.text, "J") {
			i.text = data.ReplaceAllString(i.text, "DATA")
		}
		for field, offset := range fields {
			if strings.HasPrefix(i.text, "CMPQ "+offset+"(") && strings.HasSuffix(i.text, "), $0x0") {
				i.text = strings.Replace(i.text, offset, field, 1)
			}
		}
		funcs[name] = append(funcs[name], i)
	}
	return funcs
}

// offsets returns where the fields of g are that say whether casgstatus has to tell
// others. Upstream has no account.
func offsets(t *testing.T, exe string) map[string]string {
	t.Helper()
	f, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	fields := make(map[string]string)
	for r, in := d.Reader(), false; ; {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			t.Fatalf("%s: no type runtime.g", exe)
		}
		name, _ := e.Val(dwarf.AttrName).(string)
		switch {
		case e.Tag == dwarf.TagStructType:
			in = name == "runtime.g"
		case in && e.Tag == 0:
			return fields
		case in && (name == "bubble" || name == "account"):
			fields["g."+name] = fmt.Sprintf("%#x", e.Val(dwarf.AttrDataMemberLoc))
		}
	}
}

// A walk goes through a function of stock and of the fork side by side, along all jumps
// but those that only a goroutine takes that has an account or is in a bubble.
type walk struct {
	stock, fork                []insn
	compares, registers, swaps int
	seen                       map[position]bool
}

// A position is the next instruction of each. If zero is set, it follows a compare that
// was equal.
type position struct {
	stock, fork int
	zero        bool
}

// from compares all that can follow p.
func (w *walk) from(p position) error {
	for {
		for p.stock < len(w.stock) && w.stock[p.stock].nop() {
			p.stock++
		}
		for p.fork < len(w.fork) && w.fork[p.fork].nop() {
			p.fork++
		}
		if p.stock >= len(w.stock) || p.fork >= len(w.fork) {
			return errors.New("a path leads out of the function")
		}
		if w.seen[p] {
			return nil
		}
		w.seen[p] = true
		zero := p.zero
		p.zero = false
		s, f := w.stock[p.stock], w.fork[p.fork]
		switch {
		case s.text == f.text:
		case s.text == strings.Replace(f.text, "g.account", "g.bubble", 1):
			w.compares++
			p.zero = true
		case like(s, f):
			w.registers++
		case w.swapped(p):
			w.swaps++
			p.stock++
			p.fork++
		default:
			return fmt.Errorf("an instruction is\n\t%s %s\nin stock and in the fork\n\t%s %s", s.addr, s.text, f.addr, f.text)
		}
		if zero && s.text != "JE" && s.text != "JNE" {
			return fmt.Errorf("%s %s after a compare of g.account", f.addr, f.text)
		}
		if s.target != "" && !(zero && s.text == "JNE") {
			if err := w.from(position{index(w.stock, s.target), index(w.fork, f.target), false}); err != nil {
				return err
			}
		}
		if s.ends() || zero && s.text == "JE" {
			return nil
		}
		p.stock++
		p.fork++
	}
}

// like reports whether two instructions differ in nothing but registers.
func like(s, f insn) bool {
	return s.size == f.size && register.ReplaceAllString(s.text, "R") == register.ReplaceAllString(f.text, "R")
}

// swapped reports whether two loads from the stack follow, into two registers, which come
// in the other order in the fork.
func (w *walk) swapped(p position) bool {
	if p.stock+1 >= len(w.stock) || p.fork+1 >= len(w.fork) {
		return false
	}
	s, f := w.stock[p.stock:][:2], w.fork[p.fork:][:2]
	into := func(i insn) string { // the register
		if m := load.FindStringSubmatch(i.text); m != nil {
			return m[1]
		}
		return ""
	}
	return like(s[0], f[1]) && like(s[1], f[0]) && into(s[0]) != "" && into(s[1]) != "" &&
		into(s[0]) != into(s[1]) && into(f[0]) != into(f[1])
}

// index returns which instruction has an address, or what is after the last.
func index(insns []insn, addr string) int {
	for i := range insns {
		if insns[i].addr == addr {
			return i
		}
	}
	return len(insns)
}
