// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package tool runs programs for the tools and tests of this module: go commands,
// of the fork and of the release that it is made from, and what they build.
package tool

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Toolchain is a Go that programs are built with.
type Toolchain struct {
	Name   string // "fork" or "stock"
	Goroot string
	Env    []string // beside the usual
}

// forkSuffix ends the fork's version.
const forkSuffix = "-pmu"

// Root returns the repository's root, which is above the current directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "misc", "pmu", "go.mod")); err == nil {
			return d, nil
		}
		if d == filepath.Dir(d) {
			return "", fmt.Errorf("%s is not in the repository", dir)
		}
	}
}

// Fork returns the toolchain that make.bash builds, or the one in the directory
// $PMU_GOROOT.
func Fork() (Toolchain, error) {
	dir := os.Getenv("PMU_GOROOT")
	if dir == "" {
		root, err := Root()
		if err != nil {
			return Toolchain{}, err
		}
		dir = filepath.Join(root, "goroot")
	}
	tc := Toolchain{Name: "fork", Goroot: dir}
	version, err := tc.Version()
	if err == nil && !strings.HasSuffix(version, forkSuffix) {
		err = fmt.Errorf("%s is %s, not the fork", dir, version)
	}
	if err != nil {
		return Toolchain{}, fmt.Errorf("%v: run ./make.bash", err)
	}
	return tc, nil
}

// Release returns the upstream toolchain that fork is made from. The go command in
// PATH finds it, and downloads it if it must.
func Release(fork Toolchain) (Toolchain, error) {
	version, err := fork.Version()
	if err != nil {
		return Toolchain{}, err
	}
	cmd := exec.Command("go", "env", "GOROOT")
	cmd.Env = append(environ(), "GOTOOLCHAIN="+strings.TrimSuffix(version, forkSuffix))
	goroot, err := Output(cmd)
	return Toolchain{Name: "stock", Goroot: goroot}, err
}

// Go returns tc's go command.
func (tc Toolchain) Go() string { return filepath.Join(tc.Goroot, "bin", "go") }

// Version returns tc's version, such as go1.27.4-pmu.
func (tc Toolchain) Version() (string, error) {
	return Output(tc.Command(".", nil, "env", "GOVERSION"))
}

// environ returns the environment without what a go command that runs a test sets
// for itself and what the user's settings would change.
func environ() (env []string) {
	for _, kv := range os.Environ() {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "GOROOT", "GOFLAGS", "GOEXPERIMENT", "GOTOOLDIR":
		default:
			env = append(env, kv)
		}
	}
	return append(env, "GOWORK=off", "GOTOOLCHAIN=local", "GO111MODULE=on")
}

// Command returns tc's go command with args, to run in the directory dir with env
// added to the environment.
func (tc Toolchain) Command(dir string, env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(tc.Go(), args...)
	cmd.Dir = dir
	cmd.Env = append(append(environ(), tc.Env...), env...)
	return cmd
}

// Output returns what cmd writes to standard output, without space around it. Its
// error has what cmd wrote to standard error.
func Output(cmd *exec.Cmd) (string, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.TrimSpace(string(out)), nil
}

// OnVM are the settings of programs that are built for the emulated machine.
var OnVM = []string{"GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0"}

// VM returns the command that runs a program on the emulated machine, and leaves
// its files in the directory dir.
func VM(dir, program string, args ...string) (*exec.Cmd, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	state := os.Getenv("PMUVM")
	if state == "" {
		state = filepath.Join(root, ".cache", "vm")
	}
	if _, err := os.Stat(filepath.Join(state, "ready")); err != nil {
		return nil, errors.New("the emulated machine is not set up: run misc/pmu/vm/setup.bash")
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(root, "misc/pmu/vm/go_linux_arm64_exec"), append([]string{program}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PMUVM="+state, "PMUVM_OUT="+dir)
	return cmd, nil
}
