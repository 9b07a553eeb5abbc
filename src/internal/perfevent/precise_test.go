// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent_test

import (
	"internal/perfevent"
	"strings"
	"testing"
)

// TestPrototypeNames checks that all names are taken which the prototype of
// proposal 36821 took or documented, in 2020 and 2021, for its flag and over
// HTTP.
func TestPrototypeNames(t *testing.T) {
	for name, want := range map[string]string{
		"cycles":              "cycles",
		"instructions":        "instructions",
		"cacheReferences":     "cache-references",
		"cacheMisses":         "cache-misses",
		"branchInstructions":  "branches",
		"branches":            "branches",
		"branchMisses":        "branch-misses",
		"cacheLLReadAccesses": "LLC-loads",
		"cacheLLReadMisses":   "LLC-load-misses",
		"r08d1":               "r8d1",
	} {
		for _, mods := range []string{"", ":p"} {
			e, err := new(perfevent.Resolver).Parse(name + mods)
			if err != nil {
				t.Error(err)
			} else if e.Name != want+mods {
				t.Errorf("%s is %s, want %s", name+mods, e.Name, want+mods)
			}
		}
	}
	// They are listed.
	listed := make(map[string]bool)
	for _, l := range new(perfevent.Resolver).List() {
		for _, a := range l.Aliases {
			listed[a] = true
		}
	}
	for _, a := range []string{"branchInstructions", "cacheLLReadAccesses", "cacheLLReadMisses", "cacheMisses"} {
		if !listed[a] {
			t.Errorf("%s is not listed", a)
		}
	}
}

// TestResolverPrecise checks the level of precision for names that ask for none.
func TestResolverPrecise(t *testing.T) {
	for _, tt := range []struct {
		machine string
		level   int8
		in      string
		name    string // or the error, if it has a space
		attrs   string
		preset  bool
	}{
		{"none", 3, "cycles", "cycles:ppp", "0:0x0 uHGi p3", true},
		{"none", 2, "cycles:u", "cycles:pp", "0:0x0 uHGi p2", true},
		{"none", 1, "cycles:uk", "cycles:ukp", "0:0x0 ukHGi p1", true},
		{"none", 0, "cycles", "cycles", "0:0x0 uHGi p0", true},
		{"none", 0, "LLC-loads:k", "LLC-loads:k", "3:0x2 kHGi p0", true},
		{"none", 3, "r1c2", "r1c2:ppp", "4:0x1c2 uHGi p3", true},
		{"none", 3, "cycles:p", "cycles:p", "0:0x0 uHGi p1", false},
		{"none", 3, "cycles:P", "cycles:P", "0:0x0 uHGi p-1", false},
		{"none", 0, "cycles:pp", "cycles:pp", "0:0x0 uHGi p2", false},
		{"none", 3, "task-clock", "task-clock", "1:0x1 ukHGi p0", false},
		{"none", 3, "page-faults", "page-faults", "1:0x2 uHGi p0", false},
		{"lunarlake", 2, "branches", "branches:pp", "0:0x400000004 uHGi p2 cpu_core; 0:0xa00000004 uHGi p2 cpu_atom", true},
		{"lunarlake", 0, "branches", "branches", "0:0x400000004 uHGi p0 cpu_core; 0:0xa00000004 uHGi p0 cpu_atom", true},
		{"skylake", 3, "cpu/event=0x3c/", "cpu/event=0x3c/ppp", "4:0x3c uHGi p3 cpu", true},
		{"zen5", 3, "cycles", "the highest precision of PMU ibs_op is :pp", "", true},
		{"zen5", 2, "instructions", "AMD processors sample cycles, r76 and rc1 precisely, nothing else", "", true},
		{"vm", 0, "cycles", "cycles", "0:0x0 uHGi p0", true},
	} {
		r := machine(t, tt.machine)
		r.Precise = &tt.level
		e, err := r.Parse(tt.in)
		if err != nil {
			if !strings.Contains(tt.name, " ") || !strings.Contains(err.Error(), tt.name) {
				t.Errorf("%s: %s with level %d: %v", tt.machine, tt.in, tt.level, err)
			}
			continue
		}
		if got := show(e.Attrs); e.Name != tt.name || got != tt.attrs || e.PrecisePreset != tt.preset {
			t.Errorf("%s: %s with level %d is %s, %q, preset %v, want %s, %q, %v", tt.machine, tt.in, tt.level, e.Name, got, e.PrecisePreset, tt.name, tt.attrs, tt.preset)
		}
		if tt.level == 0 && e.Quantum != 0 {
			t.Errorf("%s: %s without precision is sampled by IBS", tt.machine, tt.in)
		}
	}
	// On AMD, a level makes it IBS; none does not.
	for level, quantum := range map[int8]uint64{0: 0, 2: 16} {
		r := machine(t, "zen5")
		r.Precise = &level
		if e, err := r.Parse("cycles"); err != nil || e.Quantum != quantum {
			t.Errorf("zen5: cycles with level %d: %+v, %v", level, e, err)
		}
	}
}
