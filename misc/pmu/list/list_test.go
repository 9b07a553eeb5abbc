// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

var errNoPMU = errors.New("no PMU: use another machine")

var listing = []event{
	{name: "cycles", aliases: []string{"cpu-cycles"}, kind: "hardware", unit: "count", period: 2000003, err: errNoPMU},
	{name: "LLC-loads", kind: "hardware cache", unit: "count", period: 100003, err: errNoPMU},
	{name: "task-clock", kind: "clock", unit: "nanoseconds", period: 1000003, sampled: true},
	{name: "major-faults", kind: "software", unit: "count", period: 1},
	{name: "msr/tsc/", kind: "PMU", err: errors.New("counts only")},
}

func TestTable(t *testing.T) {
	const legend = `
Also: rHEX, PMU/term=value,.../, mem:SYMBOL_OR_ADDRESS[/len]:x|w|rw, system:tracepoint
yes: samples were taken. opens: accepted by the kernel, but did not occur when tried.
`
	for _, test := range []struct {
		all  bool
		want string
	}{
		{false, `EVENT         KIND        PERIOD      SAMPLED
task-clock    [clock]     1000003 ns  yes
major-faults  [software]  1           opens

[1] no PMU: use another machine
    cycles LLC-loads

[2] counts only
    msr/tsc/
`},
		{true, `EVENT                 KIND              PERIOD      SAMPLED
cycles OR cpu-cycles  [hardware]        2000003     no [1]
LLC-loads             [hardware cache]  100003      no [1]
task-clock            [clock]           1000003 ns  yes
major-faults          [software]        1           opens
msr/tsc/              [PMU]                         no [2]

[1] no PMU: use another machine

[2] counts only
`},
	} {
		var b bytes.Buffer
		writeTable(&b, listing, test.all)
		if got := b.String(); got != test.want+legend {
			t.Errorf("all %v: got\n%s\nwant\n%s", test.all, got, test.want+legend)
		}
	}
}

func TestVerdict(t *testing.T) {
	sampled := func(names ...string) []event {
		list := append([]event(nil), listing...)
		for i := range list {
			list[i].sampled, list[i].err = false, errNoPMU
			for _, n := range names {
				if list[i].name == n {
					list[i].sampled, list[i].err = true, nil
				}
			}
		}
		return list
	}
	for _, test := range []struct {
		list   []event
		text   string
		status int
	}{
		{sampled("cycles", "task-clock"), "hardware counters work here", 0},
		{sampled("LLC-loads", "task-clock"), "some hardware counters work here (LLC-loads), but not cycles: no PMU", 0},
		{sampled("task-clock"), "only events of the kernel", 0},
		{sampled("task-clock"), "use another machine", 0},
		{sampled(), "only the timer. no PMU: use another machine", 1},
		{nil, "only the timer", 1},
	} {
		text, status := verdict(test.list)
		if got := strings.Join(strings.Fields(text), " "); !strings.Contains(got, test.text) || status != test.status {
			t.Errorf("got %d, %s\nwant %d, %s", status, got, test.status, test.text)
		}
	}
}

func TestWrap(t *testing.T) {
	text := strings.Repeat("words ", 40)
	got := wrap(text, 4)
	if strings.Join(strings.Fields(got), " ") != strings.TrimSpace(text) {
		t.Errorf("other words: %q", got)
	}
	for i, line := range strings.Split(strings.Repeat(" ", 4)+got, "\n") {
		if len(line) > width || !strings.HasPrefix(line, "    words") || i < 2 && len(line) < width-5 {
			t.Errorf("line %q", line)
		}
	}
}

// checkFacts fails the test unless the facts about a machine with these files are as
// wanted; "" is for none.
func checkFacts(t *testing.T, facts func(fs.FS) []fact, files, want map[string]string) {
	t.Helper()
	root := make(fstest.MapFS)
	for name, text := range files {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	got := make(map[string]string)
	for _, f := range facts(root) {
		got[f.name] = f.value
	}
	for name, want := range want {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
}

func TestFacts(t *testing.T) {
	checkFacts(t, machineFacts, map[string]string{
		"proc/sys/kernel/osrelease":             "6.1.0\n",
		"proc/sys/kernel/perf_event_paranoid":   "3\n",
		"proc/cpuinfo":                          "processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: fpu hypervisor\n",
		"proc/self/status":                      "Name:\tlist\nCapEff:\t0000004000000000\nSeccomp:\t2\n",
		"run/.containerenv":                     "",
		"sys/bus/event_source/devices/cpu/type": "4\n",
		"sys/bus/event_source/devices/msr/type": "10\n",
		"sys/class/dmi/id/sys_vendor":           "Vendor\n",
	}, map[string]string{
		"kernel":                     "6.1.0",
		"kernel.perf_event_paranoid": "3",
		"kernel.kptr_restrict":       "",
		"processor":                  "Some CPU (virtual)",
		"machine":                    "Vendor",
		"container":                  "Podman",
		"capabilities":               "CAP_PERFMON",
		"seccomp":                    "filter",
		"PMUs":                       "cpu msr",
	})
}

func TestRunFacts(t *testing.T) {
	checkFacts(t, runFacts, map[string]string{
		"proc/self/status": "Uid:\t1000\t1001\t1000\t1000\nCpus_allowed_list:\t0,2-3\n",
		"proc/loadavg":     "0.10 0.20 0.30 1/100 1234\n",
		"proc/meminfo":     "MemTotal:        1000 kB\nMemFree:          100 kB\nMemAvailable:     500 kB\n",
		"proc/self/mounts": "proc /proc proc rw 0 0\ntracefs /sys/kernel/tracing tracefs rw 0 0\n",
		"proc/self/limits": "Limit                     Soft Limit           Hard Limit           Units     \n" +
			"Max open files            1024                 unlimited            files     \n",
	}, map[string]string{
		"user ID":             "1001",
		"CPUs allowed":        "0,2-3",
		"load":                "0.10 0.20 0.30 1/100 1234",
		"memory":              "1000 kB, available 500 kB",
		"clock source":        "unknown",
		"tracefs":             "/sys/kernel/tracing",
		"debugfs":             "not mounted",
		"max open files":      "1024, at most unlimited",
		"max pending signals": "unknown",
	})
}

// TestCosts tests that everything is measured, or a reason given. What it costs
// is the machine's business.
func TestCosts(t *testing.T) {
	seen := make(map[string]bool)
	for _, f := range costs() {
		t.Logf("%s: %s", f.name, f.value)
		var us float64
		if n, _ := fmt.Sscanf(f.value, "%f µs", &us); n == 1 ||
			f.value == "counted" || strings.Contains(f.value, "not ") {
			seen[f.name] = true
			continue
		}
		t.Errorf("%s: %q", f.name, f.value)
	}
	if len(seen) != 12 && !seen["costs"] {
		t.Errorf("%d facts, want 12: %v", len(seen), seen)
	}
}
