// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && (arm64 || riscv64)

// Guestinit is process 1 of the emulated machine: it prepares the few mounts
// that a Go program expects, runs the one program that the host asked for,
// saves the files that it left, reports its exit status, and powers off.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"pmu/vm/guestspec"
)

func main() {
	// Standard output and error are the console here, which carries nothing
	// but this process's report: the kernel's chatter is switched off and the
	// program has devices of its own.
	code, err := serve()
	if err != nil {
		fmt.Printf("\n%s%v\n", guestspec.FailMark, err)
	} else {
		fmt.Printf("\n%s%d\n", guestspec.ExitMark, code)
	}
	drain(os.Stdout)
	syscall.Reboot(syscall.LINUX_REBOOT_CMD_POWER_OFF)
	select {} // process 1 must not return
}

// serve does everything between boot and power-off and returns the program's
// exit status.
func serve() (int, error) {
	if err := mountAll(); err != nil {
		return 0, err
	}
	spec, err := readSpec()
	if err != nil {
		return 0, err
	}
	if err := configure(spec); err != nil {
		return 0, err
	}
	before, err := snapshot(spec.Out)
	if err != nil {
		return 0, err
	}
	code, err := runProgram(spec)
	if err != nil || spec.Out == "" {
		return code, err
	}
	return code, saveFiles(spec.Out, before)
}

func readSpec() (*guestspec.Spec, error) {
	data, err := os.ReadFile(guestspec.Path)
	if err != nil {
		return nil, err
	}
	spec := new(guestspec.Spec)
	return spec, json.Unmarshal(data, spec)
}

// runProgram runs spec's program to its end. A program killed by a signal
// gets the exit status that a shell gives it, 128 + signal, and a line on its
// standard error.
func runProgram(spec *guestspec.Spec) (int, error) {
	stdout, err := openStream(spec.Stdout)
	if err != nil {
		return 0, err
	}
	stderr := stdout
	if spec.Stderr != spec.Stdout {
		if stderr, err = openStream(spec.Stderr); err != nil {
			return 0, err
		}
	}
	// The program holds the device itself: a copying goroutine here would
	// compete with it for the machine's only CPU.
	cmd := exec.Command(spec.Args[0], spec.Args[1:]...)
	cmd.Dir, cmd.Env = spec.Dir, spec.Env
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if spec.UID != 0 {
		id := uint32(spec.UID)
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: id, Gid: id}
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	cmd.Wait() // its error says no more than ProcessState
	code := exitCode(cmd.ProcessState.Sys().(syscall.WaitStatus), stderr)
	drain(stdout)
	drain(stderr)
	return code, nil
}

func exitCode(ws syscall.WaitStatus, stderr *os.File) int {
	if ws.Signaled() {
		fmt.Fprintf(stderr, "pmuvm: killed by signal %d (%v)\n", int(ws.Signal()), ws.Signal())
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// configure applies what the Spec says about the machine.
func configure(spec *guestspec.Spec) error {
	paranoid := strconv.Itoa(spec.Paranoid)
	if err := os.WriteFile("/proc/sys/kernel/perf_event_paranoid", []byte(paranoid), 0); err != nil {
		return err
	}
	if err := loopbackUp(); err != nil {
		return err
	}
	for _, dir := range []string{spec.Dir, spec.Out} {
		if dir == "" {
			continue
		}
		if err := os.Chown(dir, spec.UID, spec.UID); err != nil {
			return err
		}
	}
	return nil
}
