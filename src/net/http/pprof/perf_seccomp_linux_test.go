// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"internal/testenv"
	"net/http"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// killAtPerfEventOpen installs a seccomp filter, for all threads of this
// process, that kills it at perf_event_open, as systemd's SystemCallFilter does.
func killAtPerfEventOpen(t *testing.T) {
	nr := map[string][2]uint32{"386": {354, 336}, "amd64": {317, 298}, "arm64": {277, 241}}[runtime.GOARCH]
	if nr[0] == 0 {
		t.Skip("system call numbers are not known here")
	}
	const (
		prSetNoNewPrivs = 38
		setModeFilter   = 1
		filterTsync     = 1
		retKillProcess  = 0x80000000
		retAllow        = 0x7fff0000
	)
	type instruction struct {
		code   uint16
		jt, jf uint8
		k      uint32
	}
	prog := []instruction{
		{0x20, 0, 0, 0},     // load the system call's number
		{0x15, 0, 1, nr[1]}, // skip one unless it is perf_event_open
		{0x06, 0, 0, retKillProcess},
		{0x06, 0, 0, retAllow},
	}
	fprog := struct {
		n uint16
		p *instruction
	}{uint16(len(prog)), &prog[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0, 0, 0, 0); errno != 0 {
		t.Fatalf("prctl: %v", errno)
	}
	if _, _, errno := syscall.RawSyscall(uintptr(nr[0]), setModeFilter, filterTsync, uintptr(unsafe.Pointer(&fprog))); errno != 0 {
		t.Fatalf("seccomp: %v", errno)
	}
}

// TestIndexUnderSeccomp looks at the pages of a process that a seccomp filter
// kills at perf_event_open.
func TestIndexUnderSeccomp(t *testing.T) {
	const env = "PMU_TEST_SECCOMP"
	if path, ok := os.LookupEnv(env); ok {
		killAtPerfEventOpen(t)
		r := get(t, server(t)+path)
		t.Logf("answered %s", r.Status)
		if r.StatusCode != http.StatusOK && r.StatusCode != http.StatusForbidden {
			t.Errorf("%s", r.body)
		}
		return
	}
	for _, test := range []struct {
		path, off string
		killed    bool
		want      string
	}{
		{"", "", false, "answered 200"},
		{"?debug=1", "", false, "answered 200"},
		{"goroutine?debug=1", "", false, "answered 200"},
		{"profile?seconds=1", "", false, "answered 200"},
		{"profile?event=timer&seconds=1", "", false, "answered 200"},
		{"", "true", false, "answered 200"},
		{"?events=1", "true", false, "answered 403"},
		{"profile?event=task-clock&seconds=1", "true", false, "answered 403"},
		// Who asks for it gets it, which shows that the filter kills.
		{"?events=1", "", true, ""},
		{"profile?event=task-clock&seconds=1", "", true, ""},
	} {
		cmd := testenv.Command(t, testenv.Executable(t), "-test.run=^TestIndexUnderSeccomp$", "-test.v")
		cmd.Env = append(cmd.Environ(), env+"="+test.path, "GO_PPROF_DISABLE_HTTP_EVENTS="+test.off)
		out, err := cmd.CombinedOutput()
		if strings.Contains(string(out), "not known here") {
			t.Skip("system call numbers are not known here")
		}
		ws := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if killed := ws.Signaled() && ws.Signal() == syscall.SIGSYS; killed != test.killed {
			t.Errorf("%q, off %q: killed %v, want %v: %v\n%s", test.path, test.off, killed, test.killed, err, out)
		}
		if !test.killed && (err != nil || !strings.Contains(string(out), test.want)) {
			t.Errorf("%q, off %q: %v, want %q\n%s", test.path, test.off, err, test.want, out)
		}
	}
}
