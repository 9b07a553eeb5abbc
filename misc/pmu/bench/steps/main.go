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
// With -deeper stacks have a random number of frames more, up to that.
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
	"runtime"
	"runtime/pprof"
	"sort"
	"strconv"
	"syscall"
)

// parts are those of the handler, by function. What is not here is its entry and
// exit, "rest", or if it has no symbol the vDSO, which tells the "clock"; and
// memmove and memclr belong to their caller.
var parts = map[string]string{
	"runtime.(*perfStack).unwind":        "unwind",
	"runtime.(*perfWalk).unwind":         "unwind",
	"runtime.perfFrameAt":                "unwind",
	"runtime.perfFindFrame":              "unwind",
	"runtime.perfExactPC":                "unwind",
	"runtime.(*perfSlot).add":            "buffer",
	"runtime.(*perfSlot).due":            "buffer",
	"runtime.(*profBuf).write":           "buffer",
	"runtime.(*profBuf).canWriteRecord":  "buffer",
	"runtime.(*perfThread).drain":        "drain",
	"runtime.(*perfThread).drainLeafs":   "drain",
	"runtime.(*perfThread).overflow":     "drain",
	"runtime.(*perfThread).event":        "drain",
	"runtime.(*perfThread).count":        "drain",
	"runtime.(*perfRing).next":           "drain",
	"runtime.(*perfThread).account":      "bound",
	"runtime.(*perfThread).interrupts":   "bound",
	"runtime.(*perfThread).stuck":        "bound",
	"runtime.(*perfThread).step":         "bound",
	"runtime.(*perfBound).add":           "bound",
	"runtime.nanotime":                   "clock",
	"runtime.nanotime1":                  "clock",
	"runtime.memmove":                    "",
	"runtime.memclrNoHeapPointers":       "",
	"runtime.(*perfHits).reset":          "rest",
	"runtime.(*perfThread).sample":       "rest",
	"runtime.perfSessionSigprof":         "rest",
	"runtime.sigtramp":                   "rest",
	"runtime.sigtrampgo":                 "rest",
	"runtime.sighandler":                 "rest",
	"runtime.(*perfThread).throttled":    "bound",
	"runtime.(*perfThread).restart":      "bound",
	"runtime.(*perfCounterValue).read":   "bound",
	"runtime.(*perfThread).phase":        "bound",
	"runtime.(*perfThread).drainForeign": "drain",
}

// A result is what samples of stacks of one depth took on average.
type result struct {
	Depth, Deeper, Samples int
	Instructions           float64
	Parts                  map[string]float64
	Top                    []string
}

const (
	period  = 1009
	warmUp  = 20 // samples that are not counted
	samples = 100
)

// Target is what the profiled program writes.
var Target int

func main() {
	deeper := flag.Int("deeper", 0, "let stacks have up to `n` frames more")
	flag.Parse()
	if depth := os.Getenv("STEPS_DEPTH"); depth != "" {
		n, _ := strconv.Atoi(depth)
		profiled(n, *deeper)
		return
	}
	var results []result
	for _, depth := range []int{10, 64} {
		r, err := step(depth, *deeper)
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
func step(depth, deeper int) (*result, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	symbols, err := readSymbols(exe)
	if err != nil {
		return nil, err
	}
	runtime.LockOSThread() // ptrace knows a thread as the tracer
	pid, err := syscall.ForkExec(exe, os.Args, &syscall.ProcAttr{
		Files: []uintptr{0, 2, 2},
		Env:   append(os.Environ(), fmt.Sprintf("STEPS_DEPTH=%d", depth)),
		Sys:   &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		syscall.Kill(pid, syscall.SIGKILL)
		for { // its threads, too: they come before it
			if _, err := syscall.Wait4(-1, nil, syscall.WALL, nil); err != nil && err != syscall.EINTR {
				return
			}
		}
	}()
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &ws, syscall.WALL, nil); err != nil {
		return nil, err
	}
	const PTRACE_O_EXITKILL = 0x100000
	if err := syscall.PtraceSetOptions(pid, syscall.PTRACE_O_TRACECLONE|PTRACE_O_EXITKILL); err != nil {
		return nil, err
	}
	if err := syscall.PtraceCont(pid, 0); err != nil {
		return nil, err
	}
	r := &result{Depth: depth, Deeper: deeper, Parts: make(map[string]float64)}
	functions := make(map[string]float64)
	for seen := 0; r.Samples < samples; {
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
				if err := handler(tid, symbols, r, functions); err != nil {
					return nil, err
				}
			} else {
				syscall.PtraceCont(tid, int(sig))
			}
		default:
			syscall.PtraceCont(tid, int(sig))
		}
	}
	for _, m := range []map[string]float64{r.Parts, functions} {
		for k := range m {
			m[k] /= float64(r.Samples)
		}
	}
	r.Instructions /= float64(r.Samples)
	for f := range functions {
		r.Top = append(r.Top, f)
	}
	sort.Slice(r.Top, func(i, j int) bool { return functions[r.Top[i]] > functions[r.Top[j]] })
	r.Top = r.Top[:min(len(r.Top), 8)]
	for i, f := range r.Top {
		r.Top[i] = fmt.Sprintf("%s %.0f", f, functions[f])
	}
	return r, nil
}

// handler lets the thread take its SIGPROF and steps to the end of the handler,
// which is where it was interrupted.
func handler(tid int, symbols *gosym.Table, r *result, functions map[string]float64) error {
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
		name := "vDSO"
		if f := symbols.PCToFunc(regs.PC()); f != nil {
			name = f.Name
			p, ok := parts[name]
			if !ok {
				part = "rest"
			} else if p != "" {
				part = p
			}
		} else {
			part = "clock"
		}
		functions[name]++
		r.Parts[part]++
		r.Instructions++
	}
	return errors.New("the handler does not end")
}

func readSymbols(exe string) (*gosym.Table, error) {
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
	return gosym.NewTable(nil, gosym.NewLineTable(data, text.Addr))
}
