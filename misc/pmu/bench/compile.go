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

	"pmu/internal/tool"
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
func (b *bench) compiler(tc tool.Toolchain) string {
	if tc.Name == "stock" {
		return filepath.Join(tc.Goroot, "pkg", "tool", runtime.GOOS+"_"+runtime.GOARCH, "compile")
	}
	exe := filepath.Join(b.dir, "compile.fork")
	if !b.built[exe] {
		source := filepath.Join(b.dir, "profile.go")
		overlay := need(json.Marshal(map[string]any{
			"Replace": map[string]string{filepath.Join(tc.Goroot, "src/cmd/compile/profile.go"): source},
		}))
		must(os.WriteFile(source, []byte(profileCompiler), 0o666))
		must(os.WriteFile(source+".json", overlay, 0o666))
		output(tc.Command(tc.Goroot, nil, "build", "-overlay", source+".json", "-o", exe, "cmd/compile"))
		b.built[exe] = true
	}
	return exe
}

// compiling compiles a package of the standard library, which has been compiled
// with all that it imports.
func compiling(pkg string) program {
	args := make(map[string][]string) // by toolchain
	return program{"cmd/compile of " + pkg, func(b *bench, s sampler, file string) *exec.Cmd {
		tc := s.toolchain(b)
		if args[tc.Name] == nil {
			args[tc.Name] = b.compileArgs(tc, pkg)
		}
		a := args[tc.Name]
		if s.stock && s.event == "timer" {
			a = append([]string{"-cpuprofile", file}, a...)
		}
		cmd := exec.Command(b.compiler(tc), a...)
		cmd.Env = os.Environ()
		if !s.stock && s.inside() {
			cmd.Env = append(cmd.Env, "BENCH_EVENT="+s.event, fmt.Sprintf("BENCH_PERIOD=%d", s.period), "BENCH_PROFILE="+file)
		}
		return cmd
	}}
}

func (b *bench) compileArgs(tc tool.Toolchain, pkg string) []string {
	exports := output(tc.Command(tc.Goroot, nil, "list", "-deps", "-export", "-f",
		"{{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}", pkg))
	vendored := output(tc.Command(tc.Goroot, nil, "list", "-f", "{{range $from, $to := .ImportMap}}importmap {{$from}}={{$to}}\n{{end}}", pkg))
	files := output(tc.Command(tc.Goroot, nil, "list", "-f", "{{range .GoFiles}}{{$.Dir}}/{{.}}\n{{end}}", pkg))
	config := filepath.Join(b.dir, "importcfg."+strings.ReplaceAll(pkg, "/", "-")+"."+tc.Name)
	must(os.WriteFile(config, []byte(exports+"\n"+vendored+"\n"), 0o666))
	a := []string{"-o", filepath.Join(b.dir, "compiled."+tc.Name), "-p", pkg, "-std", "-complete", "-pack", "-importcfg", config}
	return append(a, strings.Fields(files)...)
}
