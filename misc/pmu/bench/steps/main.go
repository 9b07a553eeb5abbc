// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && linux && amd64

// Steps counts the instructions of the profiler's signal handler, one by one: it runs
// itself under ptrace(2), with a profile of the writes to a variable, and steps
// through each SIGPROF. The numbers are those of this processor's instruction
// set, exact, and but for a sample now and then that needs the runtime's unwinder the
// same each time. Their means are printed as JSON: by depth of the stack, the
// instructions of a sample by part and by function.
//
// With -deeper n, stacks have up to n more frames, at random.
package main

import (
	"bytes"
	"debug/elf"
	"debug/gosym"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"sort"
	"strconv"
	"strings"
	"syscall"
)

// parts are the parts of the handler, with the files of package runtime that they are
// in. It is an error if a function of the profiler is in another file, or if the
// program has nothing of a file: otherwise moved or renamed code would silently count
// as another part. Inlined functions count as their callers. Functions outside the
// profiler belong to "rest", which is mostly the handler's entry and exit.
var parts = map[string][]string{
	"unwind": {"perfstack_linux.go", "perfunwind.go", "perffit_linux.go"},
	"buffer": {"perfbuf.go", "profbuf.go"},
	"drain":  {"perfrecord_linux.go", "perfring_linux.go", "perfforeign_linux.go", "perfforeigntable_linux.go", "perfstacks_linux.go"},
	"bound":  {"perfbound_linux.go", "perfperiod_linux.go", "perfcounter_linux.go", "perffd_linux.go", "perfcost_linux.go"},
	"rest": {"perfsig_linux.go", "perfthread_linux.go", "perfhook_linux.go", "perfarm_linux.go", "perfdisarm_linux.go",
		"perfbreak_linux.go", "perfhit_linux_amd64.go", "perfprof.go", "perftaskback.go"},
}

// functions belong to other parts than their files: "" is their caller's. The clock's
// other part has no symbol: it is in the vDSO.
var functions = map[string]string{
	"runtime.nanotime1":            "clock",
	"runtime.memmove":              "",
	"runtime.memclrNoHeapPointers": "",
}

// symbols are the program's functions, with the parts of their files.
type symbols struct {
	*gosym.Table
	parts map[string]string
}

// part returns the part that the function at pc belongs to, and its name. before is the
// part of the previous instruction.
func (s *symbols) part(pc uint64, before string) (part, name string, err error) {
	f := s.PCToFunc(pc)
	if f == nil {
		return "clock", "vDSO", nil
	}
	if part, ok := functions[f.Name]; ok {
		if part == "" {
			part = before
		}
		return part, f.Name, nil
	}
	file, _, _ := s.PCToLine(f.Entry)
	part, ok := s.parts[file]
	switch base := filepath.Base(file); {
	case ok:
		return part, f.Name, nil
	case strings.HasPrefix(f.Name, "runtime.") && strings.HasPrefix(base, "perf"):
		return "", "", fmt.Errorf("%s is in %s, which is in none of the parts: add the file to the table in bench/steps", f.Name, base)
	}
	return "rest", f.Name, nil
}

// A result is what samples of stacks of one depth took on average.
type result struct {
	Depth, Deeper, Samples int
	Instructions           float64
	Parts                  map[string]float64
	Top                    []string
	functions              map[string]float64
}

const (
	period = 1009
	warmUp = 20 // samples that are not counted
)

// Target is what the profiled program writes.
var Target int

func main() {
	deeper := flag.Int("deeper", 0, "let stacks have up to `n` frames more")
	samples := flag.Int("samples", 100, "step through so many samples of each depth")
	flag.Parse()
	if depth := os.Getenv("STEPS_DEPTH"); depth != "" {
		n, _ := strconv.Atoi(depth)
		profiled(n, *deeper)
		return
	}
	var results []result
	for _, depth := range []int{10, 64} {
		r, err := step(depth, *deeper, *samples)
		if err != nil {
			fmt.Fprintln(os.Stderr, "steps:", err)
			os.Exit(1)
		}
		results = append(results, *r)
	}
	json.NewEncoder(os.Stdout).Encode(results)
}

// profiled is the program that is stepped through. It ends when it is killed.
func profiled(depth, deeper int) {
	var b bytes.Buffer
	if err := pprof.StartCPUProfileWithConfig(pprof.PerfEvent(&b, "mem:main.Target:w", period)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var base int
	at(0, func() { base = runtime.Callers(1, make([]uintptr, 100)) })
	at(depth-base, func() {
		for i := uint(0); ; i++ {
			more := 0
			if deeper > 0 {
				more = int(i * 2654435769 >> 7 % uint(deeper+1))
			}
			write(more)
		}
	})
}

//go:noinline
func at(depth int, f func()) {
	if depth > 0 {
		at(depth-1, f)
		return
	}
	f()
}

//go:noinline
func write(more int) {
	if more > 0 {
		write(more - 1)
		return
	}
	for i := 0; i < 1500; i++ {
		Target = i
	}
}

// step runs the program and counts the instructions of its handler.
func step(depth, deeper, samples int) (*result, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	symbols, err := readSymbols(exe)
	if err != nil {
		return nil, err
	}
	runtime.LockOSThread() // ptrace knows a thread as the tracer
	pid, err := startTraced(exe, depth)
	if err != nil {
		return nil, err
	}
	defer endTraced(pid)
	r := &result{Depth: depth, Deeper: deeper, Parts: make(map[string]float64), functions: make(map[string]float64)}
	for seen := 0; r.Samples < samples; {
		var ws syscall.WaitStatus
		tid, err := syscall.Wait4(-1, &ws, syscall.WALL, nil)
		if err != nil {
			return nil, err
		}
		if tid == pid && (ws.Exited() || ws.Signaled()) {
			return nil, errors.New("the profiled program has ended")
		}
		if !ws.Stopped() {
			continue
		}
		switch sig := ws.StopSignal(); sig {
		case syscall.SIGTRAP, syscall.SIGSTOP:
			syscall.PtraceCont(tid, 0) // of ptrace's own
		case syscall.SIGPROF:
			if seen++; seen > warmUp {
				if err := handler(tid, symbols, r); err != nil {
					return nil, err
				}
				continue
			}
			fallthrough
		default:
			syscall.PtraceCont(tid, int(sig))
		}
	}
	r.average()
	return r, nil
}

// startTraced starts the program under ptrace.
func startTraced(exe string, depth int) (pid int, err error) {
	pid, err = syscall.ForkExec(exe, os.Args, &syscall.ProcAttr{
		Files: []uintptr{0, 2, 2},
		Env:   append(os.Environ(), fmt.Sprintf("STEPS_DEPTH=%d", depth)),
		Sys:   &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		return 0, err
	}
	var ws syscall.WaitStatus
	if _, err = syscall.Wait4(pid, &ws, syscall.WALL, nil); err == nil {
		const PTRACE_O_EXITKILL = 0x100000
		err = syscall.PtraceSetOptions(pid, syscall.PTRACE_O_TRACECLONE|PTRACE_O_EXITKILL)
	}
	if err == nil {
		err = syscall.PtraceCont(pid, 0)
	}
	if err != nil {
		endTraced(pid)
	}
	return pid, err
}

// endTraced ends the program and waits for its threads, which end before it.
func endTraced(pid int) {
	syscall.Kill(pid, syscall.SIGKILL)
	for {
		if _, err := syscall.Wait4(-1, nil, syscall.WALL, nil); err != nil && err != syscall.EINTR {
			return
		}
	}
}

// average divides the sums by the number of samples and finds the functions that
// take most.
func (r *result) average() {
	for _, m := range []map[string]float64{r.Parts, r.functions} {
		for k := range m {
			m[k] /= float64(r.Samples)
		}
	}
	r.Instructions /= float64(r.Samples)
	for f := range r.functions {
		r.Top = append(r.Top, f)
	}
	sort.Slice(r.Top, func(i, j int) bool { return r.functions[r.Top[i]] > r.functions[r.Top[j]] })
	r.Top = r.Top[:min(len(r.Top), 8)]
	for i, f := range r.Top {
		r.Top[i] = fmt.Sprintf("%s %.0f", f, r.functions[f])
	}
}

// handler lets the thread take its SIGPROF and steps to the end of the handler,
// which is where it was interrupted.
func handler(tid int, symbols *symbols, r *result) error {
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(tid, &regs); err != nil {
		return err
	}
	start, part := regs.PC(), "rest"
	sig := syscall.SIGPROF
	for n := 0; n < 1e6; n++ {
		if _, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, syscall.PTRACE_SINGLESTEP, uintptr(tid), 0, uintptr(sig), 0, 0); errno != 0 {
			return errno
		}
		var ws syscall.WaitStatus
		if _, err := syscall.Wait4(tid, &ws, syscall.WALL, nil); err != nil {
			return err
		}
		if !ws.Stopped() {
			return errors.New("the thread has ended in the handler")
		}
		sig = 0
		if s := ws.StopSignal(); s != syscall.SIGTRAP {
			sig = s // comes when the handler has returned
			continue
		}
		if err := syscall.PtraceGetRegs(tid, &regs); err != nil {
			return err
		}
		if regs.PC() == start {
			r.Samples++
			return syscall.PtraceCont(tid, 0)
		}
		var name string
		var err error
		if part, name, err = symbols.part(regs.PC(), part); err != nil {
			return err
		}
		r.functions[name]++
		r.Parts[part]++
		r.Instructions++
	}
	return errors.New("the handler does not end")
}

// readSymbols reads the program's functions, and reports an error if a file of the
// parts is missing.
func readSymbols(exe string) (*symbols, error) {
	f, err := elf.Open(exe)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	pclntab, text := f.Section(".gopclntab"), f.Section(".text")
	if pclntab == nil || text == nil {
		return nil, errors.New("no symbols")
	}
	data, err := pclntab.Data()
	if err != nil {
		return nil, err
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, text.Addr))
	if err != nil {
		return nil, err
	}
	s := &symbols{table, make(map[string]string)}
	known := make(map[string]string)
	for part, files := range parts {
		for _, file := range files {
			known[file] = part
		}
	}
	for file := range table.Files {
		dir, base := filepath.Split(file)
		if part, ok := known[base]; ok && strings.HasSuffix(dir, "/src/runtime/") {
			s.parts[file] = part
			delete(known, base)
		}
	}
	for file := range known {
		return nil, fmt.Errorf("the program has nothing of runtime/%s: correct the table in bench/steps", file)
	}
	return s, nil
}
