// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package linescmd

import (
	"bytes"
	"cmd/pmu/internal/prof"
	"fmt"
	"internal/profile"
	"strconv"
	"strings"
	"testing"
)

// An access is n samples of a place in a line.
type access struct {
	line, offset int
	how, by      string
	hitm         bool
	n            int64
}

func profileOf(period int64, accesses ...access) *prof.File {
	p := &profile.Profile{Comments: []string{"event: mem_loads", fmt.Sprintf("period: %d", period)}}
	for _, t := range [][2]string{{"samples", "count"}, {"mem_loads", "count"}, {"latency", "cycles"}} {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: t[0], Unit: t[1]})
	}
	sample := func(leaf string, labels map[string]string, values ...int64) {
		s := &profile.Sample{Value: values, Label: make(map[string][]string)}
		s.Location = []*profile.Location{{Line: []profile.Line{{Function: &profile.Function{Name: leaf}}}}}
		for k, v := range labels {
			s.Label[k] = []string{v}
		}
		p.Sample = append(p.Sample, s)
	}
	for _, a := range accesses {
		l := map[string]string{"object": "main.new:1", "type": "main.T", "field": "f" + strconv.Itoa(a.offset), "offset": strconv.Itoa(a.offset), "address": fmt.Sprintf("%#x", 64*a.line+a.offset%64), "access": a.how, "goroutine": a.by, "cpu": "0"}
		if a.hitm {
			l["hitm"] = "true"
		}
		sample("main.g"+a.by, l, a.n, period*a.n, 1000*a.n)
	}
	sample("runtime._PerfDelayed", nil, 1, 1, 0)
	return &prof.File{Profile: p}
}

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		name     string
		accesses []access
		shared   bool
	}{
		{"two write two places", []access{{1, 0, "store", "1", false, 50}, {1, 8, "store", "2", false, 50}}, true},
		{"one writes, one reads another place", []access{{1, 0, "store", "1", false, 50}, {1, 8, "load", "2", false, 50}}, true},
		{"who does what is not known", []access{{1, 0, "", "1", false, 50}, {1, 8, "", "2", false, 50}}, true},
		{"both read", []access{{1, 0, "load", "1", false, 50}, {1, 8, "load", "2", false, 50}}, false},
		{"the same place", []access{{1, 0, "store", "1", false, 50}, {1, 0, "store", "2", false, 50}}, false},
		{"one goroutine", []access{{1, 0, "store", "1", false, 50}, {1, 8, "store", "1", false, 50}}, false},
		{"one of both uses both places", []access{{1, 0, "store", "1", false, 50}, {1, 8, "load", "1", false, 50}, {1, 8, "store", "2", false, 50}}, false},
		{"two lines", []access{{1, 0, "store", "1", false, 50}, {2, 64, "store", "2", false, 50}}, false},
		{"too few", []access{{1, 0, "store", "1", false, 50}, {1, 8, "store", "2", false, 9}}, false},
	} {
		lines, err := find(profileOf(1009, tt.accesses...), 10)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if got := report(&out, lines, false); got != tt.shared {
			t.Errorf("%s: false sharing %v, want %v:\n%s", tt.name, got, tt.shared, &out)
		}
		if no := strings.Contains(out.String(), "no false sharing\n"); no == tt.shared {
			t.Errorf("%s: printed\n%s", tt.name, &out)
		}
	}
	if _, err := find(profileOf(1), 10); err == nil || !strings.Contains(err.Error(), "DataAddresses") {
		t.Errorf("a profile without data addresses: %v", err)
	}
}

func TestReport(t *testing.T) {
	lines, err := find(profileOf(1, access{1, 0, "store", "1", false, 90}, access{1, 8, "load", "2", false, 60}, access{1, 8, "load", "2", true, 20},
		access{2, 0, "store", "1", true, 10}, access{2, 8, "store", "2", true, 15}), 10)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	report(&out, lines, true)
	want := `line 0x80: false sharing, 25 accesses, 25 of them to a line that another processor had modified
          15  main.new:1, main.T.f8, offset 8, at 0x88
              store by goroutine 2 on processor 0, in main.g2
          10  main.new:1, main.T.f0, offset 0, at 0x80
              store by goroutine 1 on processor 0, in main.g1
line 0x40: false sharing, 170 accesses, 20 of them to a line that another processor had modified
          90  main.new:1, main.T.f0, offset 0, at 0x40
              store by goroutine 1 on processor 0, in main.g1
          80  main.new:1, main.T.f8, offset 8, at 0x48
              load by goroutine 2 on processor 0, in main.g2
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}
