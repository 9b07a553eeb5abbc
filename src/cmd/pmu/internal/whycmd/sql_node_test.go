// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux

package whycmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// This file runs SQL on the engines that npm has: they are libraries, which testdata/engine.mjs
// loads.

// A nodeEngine is an engine with a directory for its tables.
type nodeEngine struct {
	name, dir string
	took      time.Duration // of CPU, by all processes

	// What is done when the lines are loaded: it makes another requests of them.
	then []string
}

// startNode returns an engine whose package is in PMU_TEST_NODE/node_modules.
func startNode(t *testing.T, name string, then ...string) (e engine, missing string) {
	t.Helper()
	n := &nodeEngine{name: name, dir: t.TempDir(), then: then}
	if os.Getenv("PMU_TEST_NODE") == "" {
		return nil, "there is no " + name + ": ./test.bash sql installs it"
	}
	rows, err := n.query("SELECT version()")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s %s", name, rows[0][0][0])
	return n, ""
}

func (e *nodeEngine) dialect() string { return e.name }

func (e *nodeEngine) cpu() time.Duration { return e.took }

// query runs texts of SQL in a session of their own, and returns the rows of each. NULL is "".
func (e *nodeEngine) query(texts ...string) (tables [][][]string, err error) {
	in, err := json.Marshal(texts)
	if err != nil {
		return nil, err
	}
	var errs bytes.Buffer
	cmd := exec.Command("node", filepath.Join("testdata", "engine.mjs"), e.name, os.Getenv("PMU_TEST_NODE"), e.dir)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), &errs
	out, err := cmd.Output()
	if cmd.ProcessState != nil {
		e.took += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %v\n%.3000s", e.name, err, errs.Bytes())
	}
	if err := json.Unmarshal(out, &tables); err != nil {
		return nil, fmt.Errorf("%s: %v\n%.1000s", e.name, err, out)
	}
	if len(tables) != len(texts) {
		return nil, fmt.Errorf("%s: %d results of %d texts", e.name, len(tables), len(texts))
	}
	return tables, nil
}

func (e *nodeEngine) load(file, script string) error {
	_, err := e.query(slices.Concat([]string{"DROP TABLE IF EXISTS requests"}, loads(script, file), e.then)...)
	return err
}

func (e *nodeEngine) run(script string) (events, pairs [][]string, err error) {
	const first, second = "\n-- The events, the greatest impact first.", "\n-- Events that are high together, and"
	tables, rest, ok := strings.Cut(script, first)
	eventsSQL, pairsSQL, ok2 := strings.Cut(rest, second)
	if !ok || !ok2 {
		return nil, nil, fmt.Errorf("the script has not both of %q and %q", first, second)
	}
	rows, err := e.query(tables, first+eventsSQL, second+pairsSQL)
	if err != nil {
		return nil, nil, err
	}
	return rows[1], rows[2], nil
}
