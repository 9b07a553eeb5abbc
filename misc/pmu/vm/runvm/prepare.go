// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pmu/vm/guestspec"
)

// The guest's serial devices are the ports of one pci-serial-2x.
func (a *arch) stdout() string { return fmt.Sprintf("/dev/ttyS%d", a.serial) }
func (a *arch) stderr() string { return fmt.Sprintf("/dev/ttyS%d", a.serial+1) }

// etc returns the guest's files below /etc.
func etc(uid int) map[string]string {
	passwd, group := "root:x:0:0:root:/tmp:/bin/false\n", "root:x:0:\n"
	if uid != 0 {
		passwd += fmt.Sprintf("user:x:%d:%[1]d:user:/tmp:/bin/false\n", uid)
		group += fmt.Sprintf("user:x:%d:\n", uid)
	}
	return map[string]string{
		"hosts":  "127.0.0.1 localhost\n::1 localhost\n",
		"passwd": passwd,
		"group":  group,
	}
}

// prepare writes the guest's initrd: the program, what it may read, and the
// Spec. The program sees its directory, with the regular files in it and its
// testdata, and PMUVM_OUT and PMUVM_FILES, all at the paths that they have
// here.
func (m *machine) prepare(args []string) error {
	spec, err := m.spec(args)
	if err != nil {
		return err
	}
	specJSON, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	f, err := os.Create(m.initrdPath())
	if err != nil {
		return err
	}
	defer f.Close()

	a := newInitrd(f)
	a.copy("/init", filepath.Join(m.opt.Dir, "init"))
	a.dir("/dev")
	a.file(guestspec.Path, 0o444, specJSON)
	a.copy(spec.Args[0], args[0])
	conf := etc(m.opt.UID)
	for _, name := range []string{"group", "hosts", "passwd"} { // in a fixed order
		a.file("/etc/"+name, 0o644, []byte(conf[name]))
	}
	a.flat(spec.Dir)
	for _, p := range m.opt.Files {
		abs, err := filepath.Abs(p)
		if err != nil {
			return err
		}
		a.tree(abs)
	}
	if spec.Out != "" {
		a.dir(spec.Out)
		for _, mod := range guestspec.Modules {
			if name := filepath.Join(m.opt.Dir, "modules", mod); !slices.Contains(m.opt.Arch.builtin, mod) {
				a.copy(filepath.Join(guestspec.ModuleDir, mod), name)
			}
		}
	}
	if err := a.close(); err != nil {
		return fmt.Errorf("cannot ship the program and its files: %v", err)
	}
	return nil
}

func (m *machine) spec(args []string) (*guestspec.Spec, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	// A fixed directory and the program's own name: the go command's
	// temporary directory, new each time, would shift the stack and with it
	// everything that should repeat.
	prog := "/bin/" + filepath.Base(args[0])
	spec := &guestspec.Spec{
		Args:     append([]string{prog}, args[1:]...),
		Env:      guestEnv(os.Environ(), m.opt, dir),
		Dir:      dir,
		Out:      m.opt.Out,
		UID:      m.opt.UID,
		Paranoid: m.opt.Paranoid,
		Stdout:   m.opt.Arch.stdout(),
		Stderr:   m.opt.Arch.stderr(),
	}
	if !m.split {
		spec.Stderr = spec.Stdout
	}
	return spec, nil
}

// hostOnly are the GO variables that name places on the host.
var hostOnly = map[string]bool{
	"GOROOT": true, "GOPATH": true, "GOCACHE": true, "GOMODCACHE": true, "GOENV": true,
	"GOBIN": true, "GOTMPDIR": true, "GOTOOLDIR": true, "GOWORK": true, "GOMOD": true,
	"GOPROXY": true, "GOSUMDB": true, "GONOSUMDB": true, "GOAUTH": true,
}

// guestEnv is the program's environment: the host's GO and PMU_ variables,
// those that PMUVM_ENV names, and the guest's own.
func guestEnv(host []string, opt *Options, dir string) []string {
	env := []string{"HOME=/tmp", "TMPDIR=/tmp", "PATH=/bin", "USER=root", "PWD=" + dir}
	if opt.UID != 0 {
		env[3] = "USER=user"
	}
	if opt.Out != "" {
		env = append(env, "PMUVM_OUT="+opt.Out)
	}
	more := make(map[string]bool)
	for _, name := range opt.Env {
		more[name] = true
	}
	for _, kv := range host {
		name, _, _ := strings.Cut(kv, "=")
		if more[name] || strings.HasPrefix(name, "PMU_") || strings.HasPrefix(name, "GO") && !hostOnly[name] {
			env = append(env, kv)
		}
	}
	return env
}
