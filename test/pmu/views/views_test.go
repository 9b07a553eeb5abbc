// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package views has a test that go tool pprof shows every kind of profile.
package views

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmu/internal/tool"
)

// work is a program whose functions report and lookup compute and cause page faults.
const work = "pmu/bench/work"

// TestViews tests that go tool pprof shows each kind of profile, in text, as a
// tree and in a browser.
func TestViews(t *testing.T) {
	fork := tool.MustFork(t)
	pprof := tool.Must(t, fork.Command(".", nil, "tool", "-n", "pprof"))
	for _, test := range []struct {
		name  string
		event string
		emu   bool
		typ   string // the profile's
		fn    string // where most of it is
	}{
		{"timer", "timer", false, "cpu", "main.report"},
		{"clock", "task-clock:u", false, "task_clock_u", "main.report"},
		{"software", "page-faults", false, "page_faults", "main.lookup"},
		{"breakpoint", "mem:main.lookup:x", false, "mem_main_lookup_x", "main.lookup"},
		{"columns", "page-faults,task-clock", false, "page_faults", "main.lookup"},
		{"hardware", "cycles", true, "cycles", "main.report"},
		{"raw", "r11", true, "r11", "main.report"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			prof := filepath.Join(dir, "cpu.pprof")
			args := []string{"-load", "faults", "-scale", "0.3", "-o", prof, "-event", test.event}
			if test.emu {
				cmd, err := tool.VM(dir, fork.Build(t, tool.OnVM, work), args...)
				if err != nil {
					t.Fatal(err)
				}
				tool.Must(t, cmd)
			} else {
				_, err := tool.Output(exec.Command(fork.Build(t, nil, work), args...))
				tool.NeedBreakpoints(t, err)
				if err != nil {
					t.Fatal(err)
				}
			}

			for _, view := range []string{"-top", "-tree"} {
				out := tool.Must(t, exec.Command(pprof, view, prof))
				for _, want := range []string{"Type: " + test.typ + "\n", test.fn} {
					if !strings.Contains(out, want) {
						t.Errorf("%s: no %q in\n%s", view, want, out)
					}
				}
			}
			browse(t, pprof, prof, test.typ, test.fn)
		})
	}
}

// browse looks at the pages that go tool pprof serves to a browser.
func browse(t *testing.T, pprof, prof, typ, fn string) {
	t.Helper()
	cmd := exec.Command(pprof, "-http=localhost:", "-no_browser", prof)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	url := ""
	for lines := bufio.NewScanner(stderr); url == "" && lines.Scan(); {
		_, url, _ = strings.Cut(lines.Text(), "Serving web UI on ")
	}
	if url == "" {
		t.Fatal("pprof -http: serves nothing")
	}
	// It says so just before it listens.
	addr := strings.TrimPrefix(url, "http://")
	for start := time.Now(); ; {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
			break
		}
		if time.Since(start) > time.Minute {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	client := http.Client{Timeout: time.Minute}
	for _, page := range []string{"/top", "/flamegraph", "/peek?f=main"} {
		resp, err := client.Get(url + page)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != http.StatusOK || !strings.Contains(string(body), typ) || !strings.Contains(string(body), fn) {
			t.Errorf("%s: %s, without %s or %s:\n%.2000s", page, resp.Status, typ, fn, body)
		}
	}
}
