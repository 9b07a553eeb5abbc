// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestKnobsDocumented checks that the table in doc.go has each knob, with its
// default.
func TestKnobsDocumented(t *testing.T) {
	data, err := os.ReadFile("../doc.go")
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string][]string)
	for _, line := range strings.Split(string(data), "\n") {
		if row := strings.Fields(strings.TrimPrefix(line, "//\t")); len(row) > 1 {
			rows[row[0]] = row
		}
	}
	for _, k := range knobs {
		row, ok := rows[k.name]
		if !ok || k.preset != "" && row[1] != k.preset {
			t.Errorf("doc.go has %q for %s, want %q", row, k.name, k.preset)
		}
	}
}

func TestGuestEnv(t *testing.T) {
	host := []string{"GOROOT=/go", "GODEBUG=a=1", "GO_X=2", "PMU_Y=3", "HOME=/root", "LANG=C", "EMPTY="}
	got := strings.Join(guestEnv(host, &Options{Out: "/out", UID: 5, Env: []string{"LANG"}}, "/dir"), " ")
	want := "HOME=/tmp TMPDIR=/tmp PATH=/bin USER=user PWD=/dir PMUVM_OUT=/out GODEBUG=a=1 GO_X=2 PMU_Y=3 LANG=C"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestFlat checks which of a directory's files are shipped.
func TestFlat(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"x.go", "sub/y.go", "testdata/deep/z"} {
		p := filepath.Join(dir, name)
		os.MkdirAll(filepath.Dir(p), 0o777)
		if err := os.WriteFile(p, []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var buf bytes.Buffer
	a := newInitrd(&buf)
	a.flat(dir)
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"x.go": true, "sub": false, "testdata/deep/z": true} {
		if p := filepath.Join(dir, name); a.has[p] != want {
			t.Errorf("shipped %s: %v, want %v", name, a.has[p], want)
		}
	}
	if buf.Len()%4 != 0 || int64(buf.Len()) != a.n {
		t.Errorf("archive of %d bytes, counted %d; want a multiple of 4", buf.Len(), a.n)
	}
}

// TestUntarStaysInside checks that no file is written outside the directory.
func TestUntarStaysInside(t *testing.T) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	w.WriteHeader(&tar.Header{Name: "../evil", Size: 1, Mode: 0o644})
	fmt.Fprint(w, "x")
	w.Close()
	dir := filepath.Join(t.TempDir(), "in")
	if err := untar(dir, tar.NewReader(&buf)); err == nil {
		t.Error("no error for a name that leaves the directory")
	}
	if _, err := os.Stat(filepath.Join(dir, "../evil")); err == nil {
		t.Error("the file was written")
	}
}

// TestArch checks that the machines differ in what they must.
func TestArch(t *testing.T) {
	for _, tt := range []struct{ name, cpu, stdout, args string }{
		{"arm64", "", "/dev/ttyS0", "-M virt -cpu cortex-a57 console=ttyAMA0"},
		{"riscv64", "", "/dev/ttyS1", "-M virt -cpu rv64,sscofpmf=on,smcntrpmf=on console=ttyS0 -bios /vm/bios"},
		{"riscv64", "rv64", "/dev/ttyS1", "-cpu rv64 -bios /vm/bios"},
	} {
		o := &Options{Dir: "/vm", CPU: tt.cpu}
		if err := setArch(&o.Arch, tt.name); err != nil {
			t.Fatal(err)
		}
		if got := o.Arch.stdout(); got != tt.stdout {
			t.Errorf("%s: standard output is %s, want %s", tt.name, got, tt.stdout)
		}
		got := strings.Fields(strings.Join((&machine{opt: o, tmp: "/tmp"}).args(), " "))
		for _, arg := range strings.Fields(tt.args) {
			if !slices.Contains(got, arg) {
				t.Errorf("%s: no %s in %v", tt.name, arg, got)
			}
		}
	}
	if err := setArch(new(arch), "x"); err == nil {
		t.Error("no error for an architecture without a machine")
	}
}
