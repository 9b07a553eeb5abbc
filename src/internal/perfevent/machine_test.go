// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent_test

import (
	"errors"
	"internal/perfevent"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// machine returns a Resolver for one of testdata/machines.txt; "none" is a
// machine without sysfs and tracefs.
func machine(t testing.TB, name string) *perfevent.Resolver {
	t.Helper()
	r := &perfevent.Resolver{Symbol: symbol}
	if name == "none" {
		return r
	}
	sys := sysfs(t, name)
	r.Sys = sys
	if _, err := fs.Stat(sys, "kernel/tracing/events"); err == nil {
		r.Tracefs, err = fs.Sub(sys, "kernel/tracing")
		if err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// sysfs returns the /sys of a machine of testdata/machines.txt.
func sysfs(t testing.TB, machine string) fstest.MapFS {
	t.Helper()
	b, err := os.ReadFile("testdata/machines.txt")
	if err != nil {
		t.Fatal(err)
	}
	sys := fstest.MapFS{}
	found := false
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if title, ok := strings.CutPrefix(line, "== "); ok {
			name, _, _ := strings.Cut(title, ":")
			found = name == machine
			continue
		}
		if !found || line == "" || line[0] == '#' {
			continue
		}
		path, content, _ := strings.Cut(line, " ")
		if strings.HasPrefix(path, "tracing/") {
			path = "kernel/" + path
		} else {
			path = "bus/event_source/devices/" + path
		}
		sys[path] = &fstest.MapFile{Data: []byte(content + "\n")}
	}
	if len(sys) == 0 {
		t.Fatalf("no machine %s in testdata/machines.txt", machine)
	}
	return sys
}

var errNoSymbol = errors.New("no function or package-level variable has this name")

// symbol is a program's symbol table.
func symbol(name string) (addr, size uint64, err error) {
	switch name {
	case "main.f", "main.(*T).m", "example.com/p.f[...]", "gopkg.in/yaml%2ev3.F", "9fans.net/go/acme.(*Win).Ctl", "main.main.func1":
		return 0x401000, 0, nil
	case "main.byte":
		return 0x500001, 1, nil
	case "main.word":
		return 0x500008, 8, nil
	case "main.text": // a string
		return 0x500010, 16, nil
	case "main.packed":
		return 0x500022, 6, nil
	}
	return 0, 0, errNoSymbol
}
