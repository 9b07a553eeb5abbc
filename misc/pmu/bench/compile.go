// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// profileCompiler is a file for cmd/compile, whose own flag knows no events.
const profileCompiler = `package main

import (
	"cmd/compile/internal/base"
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"
)

func init() {
	event, file := os.Getenv("BENCH_EVENT"), os.Getenv("BENCH_PROFILE")
	if event == "" {
		return
	}
	f, err := os.Create(file)
	if err == nil && event == "timer" {
		err = pprof.StartCPUProfile(f)
	} else if err == nil {
		period, _ := strconv.ParseUint(os.Getenv("BENCH_PERIOD"), 10, 64)
		err = pprof.StartCPUProfileWithConfig(pprof.PerfEvent(f, event, period))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	base.AtExit(func() {
		pprof.StopCPUProfile()
		f.Close()
	})
}
`

// compiler returns tc's compiler. The fork's is built with the file above.
func (b *bench) compiler(tc toolchain) (string, error) {
	if tc.name == "stock" {
		return filepath.Join(tc.goroot, "pkg", "tool", runtime.GOOS+"_"+runtime.GOARCH, "compile"), nil
	}
	exe := filepath.Join(b.dir, "compile.fork")
	if b.built[exe] != "" {
		return exe, nil
	}
	source := filepath.Join(b.dir, "profile.go")
	overlay, err := json.Marshal(map[string]any{
		"Replace": map[string]string{filepath.Join(tc.goroot, "src/cmd/compile/profile.go"): source},
	})
	if err == nil {
		err = os.WriteFile(source, []byte(profileCompiler), 0o666)
	}
	if err == nil {
		err = os.WriteFile(source+".json", overlay, 0o666)
	}
	if err == nil {
		_, err = output(tc.command(tc.goroot, nil, "build", "-overlay", source+".json", "-o", exe, "cmd/compile"))
	}
	if err == nil {
		b.built[exe] = exe
	}
	return exe, err
}

// compiling compiles a package of the standard library, which has been compiled
// with all that it imports.
func compiling(pkg string) program {
	args := make(map[string][]string) // by toolchain
	return program{"cmd/compile of " + pkg, func(b *bench, s sampler, file string) (*exec.Cmd, error) {
		tc := s.toolchain(b)
		exe, err := b.compiler(tc)
		if err != nil {
			return nil, err
		}
		if args[tc.name] == nil {
			a, err := b.compileArgs(tc, pkg)
			if err != nil {
				return nil, err
			}
			args[tc.name] = a
		}
		a := args[tc.name]
		if s.stock && s.event == "timer" {
			a = append([]string{"-cpuprofile", file}, a...)
		}
		cmd := exec.Command(exe, a...)
		cmd.Env = os.Environ()
		if !s.stock && s.event != "" && !s.perf {
			cmd.Env = append(cmd.Env, "BENCH_EVENT="+s.event, fmt.Sprintf("BENCH_PERIOD=%d", s.period), "BENCH_PROFILE="+file)
		}
		return cmd, nil
	}}
}

func (b *bench) compileArgs(tc toolchain, pkg string) ([]string, error) {
	exports, err := output(tc.command(tc.goroot, nil, "list", "-deps", "-export", "-f",
		"{{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}", pkg))
	if err != nil {
		return nil, err
	}
	files, err := output(tc.command(tc.goroot, nil, "list", "-f", "{{range .GoFiles}}{{$.Dir}}/{{.}}\n{{end}}", pkg))
	if err != nil {
		return nil, err
	}
	config := filepath.Join(b.dir, "importcfg."+tc.name)
	if err := os.WriteFile(config, []byte(exports+"\n"), 0o666); err != nil {
		return nil, err
	}
	a := []string{"-o", filepath.Join(b.dir, "compiled."+tc.name), "-p", pkg, "-std", "-complete", "-pack", "-importcfg", config}
	return append(a, strings.Fields(files)...), nil
}
