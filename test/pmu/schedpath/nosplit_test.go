// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package schedpath

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const accountedProgram = `package main

import "runtime/pprof"

func main() { pprof.RunningTime() }
`

// TestNosplit has the linker check that what accounts do in casgstatus and in
// reentersyscall, where the stack can't grow, fits into what is left of the stack. By
// itself it does not: the call is indirect, so that the linker can leave accounts out of
// programs, and it takes the callees of such calls for functions that check the stack. So
// the program is linked with a direct call.
func TestNosplit(t *testing.T) {
	fork, _ := toolchains(t)
	file := filepath.Join(fork.Goroot, "src/runtime/proc.go")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	direct := strings.ReplaceAll(string(text), "perfAccountHooks.status(", "perfStatus(")
	if direct == string(text) {
		t.Fatal("proc.go calls nothing by perfAccountHooks.status")
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{file: write("proc.go", direct)}})
	if err != nil {
		t.Fatal(err)
	}
	overlay := write("overlay.json", string(replace))
	main := write("main.go", accountedProgram)
	for _, arch := range []string{"amd64", "arm64"} {
		fork.Build(t, []string{"GOOS=linux", "GOARCH=" + arch, "CGO_ENABLED=0", "GOFLAGS=-overlay=" + overlay}, main)
	}
}
