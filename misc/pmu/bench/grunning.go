// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"pmu/internal/tool"
)

// A scheme like that of the runtime that CockroachDB is built with, made from its
// description: a goroutine's running time is the wall time that it has spent in the status
// _Grunning, taken where casgstatus changes that, and a function reads it. It is the least
// that a runtime can do to know a running time, so it is what accounts are compared with.

// runningTime is the function.
const runningTime = `package runtime

// Grunningnanos returns for how long the calling goroutine has been in _Grunning.
func Grunningnanos() int64 {
	gp := getg()
	return gp.runningNanos + nanotime() - gp.runningSince
}
`

// runningEdits insert lines in files of package runtime, each before the one line that
// begins as given.
var runningEdits = []struct{ file, line, insert string }{
	{"runtime2.go", "\ttrackingSeq ", "\trunningNanos, runningSince int64\n"},
	{"proc.go", "\tif !gp.tracking {", `	if oldval == _Grunning {
		gp.runningNanos += nanotime() - gp.runningSince
	} else if newval == _Grunning {
		gp.runningSince = nanotime()
	}
`},
	{"proc.go", "\tnewg.trackingSeq =", "\tnewg.runningNanos = 0\n"},
}

// grunning returns the release with that scheme. Its edits are an overlay, in the directory
// dir, so that nothing of the release's source is kept in the repository.
func grunning(stock tool.Toolchain, dir string) (tool.Toolchain, error) {
	source := filepath.Join(stock.Goroot, "src", "runtime")
	text := map[string]string{"grunning.go": runningTime}
	for _, e := range runningEdits {
		if text[e.file] == "" {
			data, err := os.ReadFile(filepath.Join(source, e.file))
			if err != nil {
				return tool.Toolchain{}, err
			}
			text[e.file] = string(data)
		}
		before, after, ok := strings.Cut(text[e.file], "\n"+e.line)
		if !ok || strings.Contains(after, "\n"+e.line) {
			return tool.Toolchain{}, fmt.Errorf("%s does not have one line %q: correct the edits in bench/grunning.go", e.file, e.line)
		}
		text[e.file] = before + "\n" + e.insert + e.line + after
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return tool.Toolchain{}, err
	}
	replace := make(map[string]string)
	for name, t := range text {
		replace[filepath.Join(source, name)] = filepath.Join(dir, name)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(t), 0o666); err != nil {
			return tool.Toolchain{}, err
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return tool.Toolchain{}, err
	}
	file := filepath.Join(dir, "overlay.json")
	return tool.Toolchain{Name: "grunning", Goroot: stock.Goroot, Env: []string{
		"GOFLAGS='-overlay=" + file + "' -tags=grunning",
		// The go command refuses to replace files in the module cache, where it keeps the
		// release. This module needs nothing from there.
		"GOMODCACHE=" + filepath.Join(dir, "mod"),
	}}, os.WriteFile(file, overlay, 0o666)
}
