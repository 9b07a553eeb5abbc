// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"pmu/internal/tool"
)

var update = flag.Bool("update", false, "write house.txt")

const comment = `# What go run ./house prints, when it was last recorded by go test ./house -update.

`

// TestHouse compares the table with the recorded one.
func TestHouse(t *testing.T) {
	table, err := measure(tool.MustFork(t))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("house.txt", []byte(comment+format(table, false)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("house.txt")
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := parse(string(text))
	if err != nil {
		t.Fatalf("house.txt: %v", err)
	}
	for _, d := range compare(table, recorded) {
		t.Error(d)
	}
	if t.Failed() {
		t.Log("if that is meant, run in test/pmu: go test ./house -update, and have the change's description say why")
	}
}

// TestAboveGOROOT tests that no module is above GOROOT. The go command, run in GOROOT, would
// take it for its own, and go/importer would find no packages.
func TestAboveGOROOT(t *testing.T) {
	root := filepath.Dir(tool.MustFork(t).Goroot)
	for _, name := range []string{"go.mod", "go.work"} {
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil {
			t.Errorf("%s is at the top", name)
		}
	}
}
