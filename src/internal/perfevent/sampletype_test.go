// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent_test

import (
	"fmt"
	"hash/fnv"
	"internal/perfevent"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// machineNames are the machines of testdata/machines.txt, and one without sysfs.
var machineNames = []string{"none", "vm", "skylake", "lunarlake", "zen5", "zen2", "neoverse", "bigLITTLE", "power9"}

// The rules of the servers that store profiles, written anew.

// metricName is what Parca's queries, which are Prometheus's, take for the name
// of a metric, and with it what it stores: it tries the query for each profile
// that comes in. (parser.ParseMetricSelector in prometheus/promql/parser)
var metricName = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)

// identifierPart is what Pyroscope's newer queries take for a part of a profile's
// type. Its older ones take nearly all; what it stores must have no hyphen.
var identifierPart = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// maxLabelValue is the length of a label's value that Pyroscope takes. The
// profile's type is one.
const maxLabelValue = 2048

// parcaQuery takes apart the query for a profile's type as Parca does,
//
//	name:sample_type:sample_unit:period_type:period_unit[:delta]
func parcaQuery(query string) (parts []string, err error) {
	if !metricName.MatchString(query) {
		return nil, fmt.Errorf("parse error in %q", query)
	}
	parts = strings.Split(query, ":")
	if n := len(parts); n != 5 && n != 6 {
		return nil, fmt.Errorf("%d parts in %q", n, query)
	}
	if len(parts) == 6 && parts[5] != "delta" {
		return nil, fmt.Errorf("%q does not end in :delta", query)
	}
	return parts, nil
}

// pyroscopeType takes apart a profile's type as Pyroscope does.
func pyroscopeType(id string) (parts []string, err error) {
	if strings.Contains(id, "-") {
		return nil, fmt.Errorf("sample type contains -: %q", id)
	}
	if len(id) > maxLabelValue {
		return nil, fmt.Errorf("%d bytes of label value", len(id))
	}
	parts = strings.Split(id, ":")
	if len(parts) != 5 {
		return nil, fmt.Errorf("%d parts in %q", len(parts), id)
	}
	for _, p := range parts {
		if !identifierPart.MatchString(p) {
			return nil, fmt.Errorf("%q in %q is no identifier", p, id)
		}
	}
	return parts, nil
}

// checkServers checks that the servers take profiles with the given sample type
// and period type.
func checkServers(t testing.TB, typ, unit, periodType, periodUnit string) {
	t.Helper()
	want := []string{"process_cpu", typ, unit, periodType, periodUnit}
	id := strings.Join(want, ":")
	if got, err := parcaQuery(id + ":delta"); err != nil {
		t.Errorf("Parca: %v", err)
	} else if !slices.Equal(got[:5], want) {
		t.Errorf("Parca takes %q for %q", got[:5], want)
	}
	if got, err := pyroscopeType(id); err != nil {
		t.Errorf("Pyroscope: %v", err)
	} else if !slices.Equal(got, want) {
		t.Errorf("Pyroscope takes %q for %q", got, want)
	}
}

// TestServers tests the rules: those for what the timer's profiles have, and
// the events' names, which were refused.
func TestServers(t *testing.T) {
	for _, typ := range []string{"samples", "cpu"} {
		checkServers(t, typ, "count", "cpu", "nanoseconds")
	}
	for _, typ := range []string{"task-clock", "cpu/event=0x3c/", "mem:main.f:x", "4k", "", "über"} {
		id := "process_cpu:" + typ + ":count:cpu:nanoseconds"
		_, err := parcaQuery(id + ":delta")
		if _, err2 := pyroscopeType(id); err2 == nil || err == nil && typ != "" && typ != "4k" {
			t.Errorf("%q: %v, %v", typ, err, err2)
		}
	}
}

// allEvents returns what can be named on a machine, with all modifiers that are
// taken, by their canonical names.
func allEvents(t testing.TB, m string) map[string]*perfevent.Event {
	t.Helper()
	r := machine(t, m)
	var names []string
	for _, l := range r.List() {
		names = append(names, l.Name)
		names = append(names, l.Aliases...)
	}
	names = append(names, r.Tracepoints()...)
	for _, tt := range parseTests {
		if tt.machine == m {
			names = append(names, tt.in)
		}
	}
	all := make(map[string]*perfevent.Event)
	for _, name := range names {
		for _, mods := range []string{"", "u", "k", "uk", "ukh", "h", "G", "H", "I", "p", "pp", "ppp", "P", "ukpp", "kI", "ukppHI"} {
			if mods != "" && !strings.HasSuffix(name, "/") {
				mods = ":" + mods
			}
			if e, err := r.Parse(name + mods); err == nil {
				all[e.Name] = e
			}
		}
	}
	return all
}

// TestSampleTypes tests that the servers take every event of every machine, and
// that what they merge and compare counts the same events in the same modes.
func TestSampleTypes(t *testing.T) {
	for _, m := range machineNames {
		events := allEvents(t, m)
		if len(events) < 100 {
			t.Errorf("%s: %d events", m, len(events))
		}
		same := make(map[string][]*perfevent.Event)
		for _, e := range events {
			typ := perfevent.SampleTypes([]*perfevent.Event{e})[0]
			checkServers(t, typ, e.Unit, typ, e.Unit)
			same[typ] = append(same[typ], e)
		}
		for typ, events := range same {
			for _, e := range events {
				if got, want := counts(e), counts(events[0]); got != want {
					t.Errorf("%s: %s and %s have the same type, %s", m, e.Name, events[0].Name, typ)
				}
			}
			seen := make(map[string]bool)
			for i, typ := range perfevent.SampleTypes(events) {
				checkServers(t, typ, "count", typ, "count")
				if seen[typ] {
					t.Errorf("%s: %s has a type in a profile, %s, that another has", m, events[i].Name, typ)
				}
				seen[typ] = true
			}
		}
	}
}

// counts describes what e counts and when, whatever its precision.
func counts(e *perfevent.Event) string {
	attrs := slices.Clone(e.Attrs)
	for i := range attrs {
		attrs[i].Precise = 0
		if attrs[i].Config2 == 1 {
			attrs[i].Config2 = 0 // AMD's filter of modes, which only precise events need
		}
	}
	return e.Type + " " + show(attrs)
}

// TestSampleTypeNames tests what is in the type of a profile.
func TestSampleTypeNames(t *testing.T) {
	long := "mem:" + strings.Repeat("example.com/", 60) + "p.f:x"
	for _, tt := range []struct {
		machine string
		events  string
		types   string
	}{
		{"none", "cycles", "cycles"},
		{"none", "cpu-cycles:u", "cycles"},
		{"none", "cycles:uk", "cycles_uk"},
		{"none", "cycles:kpp", "cycles_k"},
		{"none", "cycles:ukhGI", "cycles_ukhGI"},
		{"none", "cycles:H", "cycles_H"},
		{"none", "L1-dcache-load-misses", "L1_dcache_load_misses"},
		{"none", "task-clock", "task_clock"},
		{"none", "task-clock:uk", "task_clock"},
		{"none", "task-clock:u", "task_clock_u"},
		{"none", "cpu-clock:k", "cpu_clock_k"},
		{"none", "context-switches", "context_switches"},
		{"none", "context-switches:k", "context_switches_k"},
		{"none", "page-faults:uk", "page_faults_uk"},
		{"none", "r1c2", "r1c2"},
		{"none", "mem:main.(*T).m:x", "mem_main_T_m_x"},
		{"none", "mem:0x1000/4:rw", "mem_0x1000_4_rw"},
		{"skylake", "cpu/event=0x3c,umask=0x1/", "cpu_event_0x3c_umask_0x1"},
		{"skylake", "cpu/event=60/kp", "cpu_event_60_k"},
		{"skylake", "cpu/event=60,name=4k/", "_4k"},
		{"skylake", "cpu/event=60,name=--/", "_"},
		{"skylake", "sched:sched_switch", "sched_sched_switch"},

		// In one profile.
		{"none", "cycles,cycles:uk,cycles:k", "cycles cycles_uk cycles_k"},
		{"none", "cycles,cycles:pp,instructions", "cycles cycles_pp instructions"},
		{"none", "cycles:p,cycles:P,cycles:kpp,cycles:k", "cycles_p cycles_P cycles_k_pp cycles_k"},
		{"skylake", "cpu/event=1,name=x-y/,cpu/event=1,name=x_y/", "x_y_" + fnv1a("x-y") + " x_y_" + fnv1a("x_y")},
		{"skylake", "cpu/event=1,name=x_y/,cpu/event=1,name=x-y/", "x_y_" + fnv1a("x_y") + " x_y_" + fnv1a("x-y")},
		{"skylake", "cpu/event=1,name=samples/", "samples_" + fnv1a("samples")},
		{"none", long, identifierOf(long)[:200] + "_" + fnv1a(long)},
	} {
		r := machine(t, tt.machine)
		r.Symbol = func(string) (uint64, uint64, error) { return 0x401000, 0, nil }
		var events []*perfevent.Event
		for _, name := range perfevent.Split(tt.events) {
			e, err := r.Parse(name)
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
		}
		types := perfevent.SampleTypes(events)
		if got := strings.Join(types, " "); got != tt.types {
			t.Errorf("%s: types %s, want %s", tt.events, got, tt.types)
		}
		for _, typ := range types {
			checkServers(t, typ, "count", types[0], "count")
		}
	}
}

func fnv1a(s string) string {
	h := fnv.New64a()
	h.Write([]byte(s))
	return strconv.FormatUint(h.Sum64(), 16)
}

func identifierOf(name string) string {
	return regexp.MustCompile(`[^a-zA-Z0-9]+`).ReplaceAllString(name, "_")
}

// TestUserOnly tests what becomes of a clock without the kernel's permission.
func TestUserOnly(t *testing.T) {
	for _, tt := range []struct {
		in       string
		optional bool
	}{
		{"task-clock", true},
		{"cpu-clock", true},
		{"task-clock:I", true},
		{"task-clock:u", false},
		{"task-clock:k", false},
		{"task-clock:uk", false},
		{"page-faults", false},
		{"cycles", false},
		{"context-switches", false},
	} {
		e, err := machine(t, "none").Parse(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		if e.KernelOptional != tt.optional {
			t.Errorf("%s: KernelOptional = %v", tt.in, e.KernelOptional)
		}
		if !tt.optional {
			continue
		}
		before := perfevent.SampleTypes([]*perfevent.Event{e})[0]
		e.UserOnly()
		after := perfevent.SampleTypes([]*perfevent.Event{e})[0]
		if e.KernelIncluded() || e.KernelOptional || e.Name != tt.in || before == after || !strings.Contains(after, "_u") {
			t.Errorf("%s: %+v, types %s, %s", tt.in, e, before, after)
		}
	}
}
