// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Provoke provokes error messages of runtime/pprof and prints them, each after
// its case's name and a tab. A case whose name begins with a question mark may
// do without an error, on a machine that has more or a user who may less.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"strconv"
	"syscall"
	"unsafe"
)

// Variables for breakpoints, one more than x86 has registers for.
var A, B, C, D, E int64

const multiple = "GO_PPROF_ENABLE_MULTIPLE_CPU_PROFILES"

func main() {
	if len(os.Args) > 1 {
		child(os.Args[1])
		return
	}
	os.Unsetenv(multiple)
	names()
	options()
	counters()
	for _, c := range []string{"EACCES", "EPERM", "ENOSYS", "EMFILE", "tracefs", "tracefs for root", "no tracefs", "no PMUs"} {
		spawn(c)
	}
	A, B, C, D, E = 1, 2, 3, 4, 5 // so that they are linked
}

// report prints a case.
func report(name string, err error) {
	if err != nil {
		fmt.Printf("%s\t%v\n", name, err)
	} else {
		fmt.Printf("%s\n", name)
	}
}

// start reports what StartCPUProfileWithConfig says to the options.
func start(name string, opts ...pprof.ProfilingOption) {
	err := pprof.StartCPUProfileWithConfig(opts[0], opts[1:]...)
	if err == nil {
		pprof.StopCPUProfile()
	}
	report(name, err)
}

// A buffer is a writer that differs from every other one.
type buffer struct{ n int }

func (b *buffer) Write(p []byte) (int, error) { b.n += len(p); return len(p), nil }

func event(name string) pprof.ProfilingOption { return pprof.PerfEvent(new(buffer), name, 0) }

// names asks for events that are misspelled, or that no machine or not this
// one can sample.
func names() {
	for _, name := range []string{
		"", "cacheMises", "rfoo", "task-clock:p", "cycles:z", "cycles:S", "dummy", "timer",
		"context-switches:u", "L1-icache-stores", "cycles,instructions", "nosuch/x=1/", "mem:main.nothere:x",
		"mem:main.A/3:w", "mem:0x1001/8:w",
		"?mem:main.A:r", "?cycles", "?mem:0xffffffff81000000/8:w",
	} {
		arg := name
		if name != "" && name[0] == '?' {
			arg = name[1:]
		}
		start(strconv.Quote(name), event(arg))
	}
	tracepoints("")
}

// tracepoints asks for tracepoints that are misspelled. Where tracefs is not
// mounted or not for this user, that is what the messages are about.
func tracepoints(where string) {
	for _, name := range []string{"sched:sched_swich", "nosuch:thing"} {
		start(strconv.Quote(name)+where, event(name))
	}
}

// options asks for options that do not go together.
func options() {
	start("two profiles", event("task-clock"), event("page-faults"))
	const precision = "GO_PPROF_PRECISION"
	os.Setenv(precision, "high")
	start("precision", event("task-clock"))
	os.Unsetenv(precision)
	os.Setenv(multiple, "true")
	b := new(buffer)
	start("one event twice", event("task-clock"), event("task-clock:uk"))
	start("one writer twice", pprof.PerfEvent(b, "task-clock", 0), pprof.PerfEvent(b, "page-faults", 0))
	start("no option", nil)
	start("no writer", pprof.PerfEvent(nil, "task-clock", 0))
	start("no writer of the timer", pprof.OSTimer(nil))
	start("two timers", pprof.OSTimer(b), pprof.OSTimer(new(buffer)))
	start("no events", pprof.PerfEvents(b, 0))
	start("period", pprof.PerfEvent(b, "task-clock", 1<<64-1))
	var all []pprof.ProfilingOption
	for _, name := range []string{"cpu-clock", "task-clock", "page-faults", "cs", "migrations", "minor-faults", "major-faults", "alignment-faults", "emulation-faults"} {
		all = append(all, event(name))
	}
	start("nine events", all...)
	all = nil
	for _, v := range []*int64{&A, &B, &C, &D, &E} {
		all = append(all, event(fmt.Sprintf("mem:%p/8:w", v)))
	}
	start("?five breakpoints", all...)
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		report("timer", err)
	}
	start("already running", event("task-clock"))
	pprof.StopCPUProfile()
}

func counters() {
	_, err := pprof.OpenCounters()
	report("no counters", err)
	_, err = pprof.OpenCounters("cpu-clock", "task-clock", "page-faults", "cs", "migrations", "minor-faults", "major-faults", "alignment-faults", "emulation-faults")
	report("nine counters", err)
	_, err = pprof.OpenCounters("task-clock", "task-clock")
	report("one counter twice", err)
	var open []*pprof.Counters
	for i := 0; i < 9; i++ {
		var c *pprof.Counters
		if c, err = pprof.OpenCounters("task-clock"); err == nil {
			open = append(open, c)
		}
	}
	report("nine sets of counters", err)
	if len(open) == 0 {
		return // kernel.perf_event_paranoid is 3, which Debian has, and forbids all
	}
	report("no room", open[0].Read(nil))
	for _, c := range open {
		c.Close()
	}
	report("closed", open[0].Read(make([]pprof.CounterValue, 1)))
}

// spawn runs the program once more for a case that changes the process.
func spawn(name string) {
	// Not by its name: another user may not be let into its directory.
	cmd := exec.Command("/proc/self/exe", name)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if os.Getuid() == 0 {
		switch name {
		case "EACCES":
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		case "tracefs", "tracefs for root", "no tracefs", "no PMUs":
			cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
		}
	}
	err := cmd.Run()
	if errors.Is(err, syscall.EPERM) && cmd.SysProcAttr != nil {
		report("?"+name, nil) // root in a container that may not do this
	} else if err != nil {
		report(name, err)
	}
}

// nobody is an ordinary user and a group.
const nobody = 65534

func child(name string) {
	const enosys = 38
	switch name {
	case "EACCES": // kernel.perf_event_paranoid may allow even that
		start("?EACCES", event("task-clock:k"))
	case "EPERM":
		seccomp(uint32(syscall.EPERM))
		start("EPERM", event("task-clock"))
	case "ENOSYS":
		seccomp(enosys)
		start("ENOSYS", event("task-clock"))
	case "EMFILE":
		syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 16, Max: 16})
		for {
			if _, err := syscall.Dup(0); err != nil {
				break
			}
		}
		start("EMFILE", event("task-clock"))
	case "tracefs", "tracefs for root", "no tracefs":
		// In a mount namespace of this process's own; others can't do that.
		const tracing, detach = "/sys/kernel/tracing", 2
		if os.Getuid() != 0 {
			report("?"+name, nil)
			return
		}
		for syscall.Unmount(tracing, detach) == nil {
		}
		if name != "no tracefs" {
			if err := syscall.Mount("nodev", tracing, "tracefs", 0, ""); err != nil {
				report("?"+name, nil)
				return
			}
		}
		if name == "tracefs for root" {
			if err := syscall.Setuid(nobody); err != nil {
				report(name, err)
				return
			}
		}
		tracepoints(", " + name)
	case "no PMUs":
		if os.Getuid() != 0 || syscall.Mount("nodev", "/sys/bus/event_source/devices", "tmpfs", 0, "") != nil {
			report("?"+name, nil)
			return
		}
		start(name, event("nosuch/x=1/"))
	}
}

// seccomp makes perf_event_open fail with errno on this thread, and the
// goroutine stay there, as the filters of containers do.
func seccomp(errno uint32) {
	runtime.LockOSThread()
	type filter struct {
		code   uint16
		jt, jf uint8
		k      uint32
	}
	nr := map[string]uint32{"amd64": 298, "arm64": 241, "riscv64": 241, "loong64": 241, "386": 336, "arm": 364, "ppc64le": 319, "s390x": 331}[runtime.GOARCH]
	prog := []filter{
		{0x20, 0, 0, 0},                  // load the system call's number
		{0x15, 0, 1, nr},                 // skip one unless it is perf_event_open
		{0x06, 0, 0, 0x00050000 | errno}, // SECCOMP_RET_ERRNO
		{0x06, 0, 0, 0x7fff0000},         // SECCOMP_RET_ALLOW
	}
	fprog := struct {
		n uint16
		p *filter
	}{uint16(len(prog)), &prog[0]}
	const prSetSeccomp, prSetNoNewPrivs, modeFilter = 22, 38, 2
	syscall.Syscall(syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0)
	if _, _, e := syscall.Syscall(syscall.SYS_PRCTL, prSetSeccomp, modeFilter, uintptr(unsafe.Pointer(&fprog))); e != 0 {
		report("seccomp", e)
	}
}
