// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package vm

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// probe builds testdata/probe for the guest, after making the machine ready.
var probe = sync.OnceValues(func() (string, error) {
	if runtime.GOOS != "linux" {
		return "", errors.New("the emulated machine needs a Linux host")
	}
	if out, err := exec.Command("./setup.bash").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %s", err, out)
	}
	bin := filepath.Join(os.TempDir(), fmt.Sprintf("probe-%d", os.Getpid()))
	cmd := exec.Command("go", "build", "-o", bin, "./testdata/probe")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building probe: %v\n%s", err, out)
	}
	return bin, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if bin, err := probe(); err == nil {
		os.Remove(bin)
	}
	os.Exit(code)
}

// A result is what one run of the machine gave.
type result struct {
	code           int
	stdout, stderr string
}

// boot runs probe in the machine with the environment variables env added.
func boot(t *testing.T, env []string, args ...string) result {
	t.Helper()
	bin, err := probe()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command("./go_linux_arm64_exec", append([]string{bin}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func TestExitCode(t *testing.T) {
	for _, tt := range []struct {
		args []string
		code int
	}{
		{[]string{"exit", "0"}, 0},
		{[]string{"exit", "7"}, 7},
		{[]string{"kill"}, 128 + 9},
	} {
		if r := boot(t, nil, tt.args...); r.code != tt.code {
			t.Errorf("%v: exit status %d, want %d; stderr: %s", tt.args, r.code, tt.code, r.stderr)
		}
	}
}

// TestOutput checks that both streams arrive whole, apart and unaltered.
func TestOutput(t *testing.T) {
	var all [256]byte
	for i := range all {
		all[i] = byte(i)
	}
	want := string(all[:]) + strings.Repeat("out\n", 20000)
	r := boot(t, nil, "print")
	if r.stdout != want {
		t.Errorf("standard output: %d bytes that differ from the %d written", len(r.stdout), len(want))
	}
	if r.stderr != "err\n" {
		t.Errorf("standard error: %q", r.stderr)
	}
}

// TestWorld checks what of the host the program sees, and the guest's knobs.
func TestWorld(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	// OTHER is neither GO's nor PMU's, and comes only when it is named.
	host := []string{"PMU_TEST=a b", "GODEBUG=panicnil=1", "OTHER=o"}
	for _, tt := range []struct {
		env  []string
		want []string
	}{
		{nil, []string{"env=a b,panicnil=1,", "uid=0", "paranoid=1"}},
		{
			[]string{"PMUVM_UID=1000", "PMUVM_PARANOID=2", "PMUVM_ENV=OTHER"},
			[]string{"env=a b,panicnil=1,o", "uid=1000", "paranoid=2"},
		},
	} {
		r := boot(t, append(host, tt.env...), "self", "x y", "")
		want := append(tt.want, `args=["x y" ""]`, "dir="+dir, "data=shipped err=<nil>", "listen=<nil>")
		for _, w := range want {
			if !strings.Contains(r.stdout, w+"\n") {
				t.Errorf("%v: no line %q in:\n%s%s", tt.env, w, r.stdout, r.stderr)
			}
		}
	}
}

// TestFiles checks that what the program wrote to PMUVM_OUT comes back, as
// root and as an ordinary user.
func TestFiles(t *testing.T) {
	for _, uid := range []string{"0", "1000"} {
		dir := t.TempDir()
		r := boot(t, []string{"PMUVM_OUT=" + dir, "PMUVM_UID=" + uid}, "write")
		if r.code != 0 {
			t.Fatalf("uid %s: exit status %d: %s%s", uid, r.code, r.stdout, r.stderr)
		}
		for name, size := range map[string]int{"a": 0, "sub/b": 3 << 20} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil || string(data) != strings.Repeat("x", size) {
				t.Errorf("uid %s: %s: %d bytes, %v; want %d", uid, name, len(data), err, size)
			}
		}
	}
}

// TestTimeout checks that output comes while the program runs, and that a
// program that does not end is ended, with a message that names the remedy.
func TestTimeout(t *testing.T) {
	// On a busy machine it may take longer to start the program.
	for limit := 10 * time.Second; ; limit *= 2 {
		start := time.Now()
		r := boot(t, []string{fmt.Sprintf("PMUVM_TIMEOUT=%.0f", limit.Seconds())}, "spin")
		if r.code != 124 || !strings.Contains(r.stderr, "PMUVM_TIMEOUT") {
			t.Fatalf("exit status %d, stderr %q; want 124 and PMUVM_TIMEOUT", r.code, r.stderr)
		}
		if d := time.Since(start); d < limit {
			t.Errorf("ended after %v, before its %v", d, limit)
		}
		if r.stdout == "" && limit < 5*time.Minute {
			continue
		}
		if r.stdout != "spinning\n" {
			t.Errorf("standard output %q, want the line that was printed before", r.stdout)
		}
		return
	}
}

// TestNotReady checks the message for a machine that was never made.
func TestNotReady(t *testing.T) {
	r := boot(t, []string{"PMUVM=" + t.TempDir()}, "exit", "0")
	if r.code != 97 || !strings.Contains(r.stderr, "setup.bash") {
		t.Errorf("exit status %d, stderr %q; want 97 and setup.bash", r.code, r.stderr)
	}
}

// TestBadKnob checks that a misspelt value is refused, not ignored.
func TestBadKnob(t *testing.T) {
	r := boot(t, []string{"PMUVM_SMP=two"}, "exit", "0")
	if r.code != 97 || !strings.Contains(r.stderr, `PMUVM_SMP="two"`) {
		t.Errorf("exit status %d, stderr %q; want 97 and PMUVM_SMP", r.code, r.stderr)
	}
}

// TestCounters checks that the machine counts, exactly and repeatably: each turn
// of a loop of two instructions is two of each event, plus the few around the loop,
// and a second boot counts the very same.
func TestCounters(t *testing.T) {
	first := boot(t, nil, "count")
	second := boot(t, nil, "count")
	if first.code != 0 {
		t.Fatalf("exit status %d: %s%s", first.code, first.stdout, first.stderr)
	}
	if first != second {
		t.Errorf("two boots differ:\n%s\n%s", first.stdout, second.stdout)
	}
	const around = 400 // instructions of the two reads, outside the loop
	lines := strings.Split(strings.TrimSpace(first.stdout), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines, want 2:\n%s", len(lines), first.stdout)
	}
	for _, line := range lines {
		var event string
		var turns, n int
		if _, err := fmt.Sscan(line, &event, &turns, &n); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if n < 2*turns || n > 2*turns+around {
			t.Errorf("%s: %d in %d turns, want %d to %d", event, n, turns, 2*turns, 2*turns+around)
		}
	}
}
