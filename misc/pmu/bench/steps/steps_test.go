// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"pmu/internal/tool"
)

// TestParts tests that the program knows every function of the handler: after a
// rename it would not.
func TestParts(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" || os.Getuid() != 0 {
		t.Skip("needs breakpoints on linux/amd64, as root")
	}
	out, err := tool.Output(exec.Command(tool.MustFork(t).Build(t, nil, "."), "-samples=10"))
	tool.NeedBreakpoints(t, err)
	if err != nil {
		t.Fatal(err)
	}
	var results []struct{ Parts map[string]float64 }
	if err := json.Unmarshal([]byte(out), &results); err != nil || len(results) != 2 {
		t.Fatalf("%v: %s", err, out)
	}
	for _, r := range results {
		for _, part := range []string{"unwind", "buffer", "drain", "bound", "clock", "rest"} {
			if r.Parts[part] == 0 {
				t.Errorf("no instructions in %s: %v", part, r.Parts)
			}
		}
	}
}
