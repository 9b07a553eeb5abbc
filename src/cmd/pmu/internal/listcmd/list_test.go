// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package listcmd

import (
	"bytes"
	"errors"
	"runtime/pprof"
	"strings"
	"testing"
)

var errNoPMU = errors.New("no PMU: use another machine")

var listing = []pprof.EventInfo{
	{Name: "cycles", Aliases: []string{"cpu-cycles"}, Kind: "hardware", Unit: "count", Period: 2000003, Err: errNoPMU},
	{Name: "LLC-loads", Kind: "hardware cache", Unit: "count", Period: 100003, Err: errNoPMU},
	{Name: "task-clock", Kind: "clock", Unit: "nanoseconds", Period: 1000003, Sampled: true},
	{Name: "major-faults", Kind: "software", Unit: "count", Period: 1},
	{Name: "msr/tsc/", Kind: "PMU", Err: errors.New("counts only")},
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
	sampled := func(names ...string) []pprof.EventInfo {
		list := append([]pprof.EventInfo(nil), listing...)
		for i := range list {
			list[i].Sampled, list[i].Err = false, errNoPMU
			for _, n := range names {
				if list[i].Name == n {
					list[i].Sampled, list[i].Err = true, nil
				}
			}
		}
		return list
	}
	for _, test := range []struct {
		list   []pprof.EventInfo
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
