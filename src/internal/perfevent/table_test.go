// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent_test

import (
	"internal/perfevent"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// TestTable checks the table against itself: it feeds an API, flags and
// documentation, where a slip would be hard to see.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	encoded := map[[2]uint64]string{}
	for _, p := range perfevent.Table() {
		for _, name := range p.Names() {
			if seen[name] && name != p.Flag {
				t.Errorf("%s: name %s is taken", p.Name, name)
			}
			seen[name] = true
			e, err := new(perfevent.Resolver).Parse(name)
			if err != nil {
				t.Error(err)
				continue
			}
			if e.Name != p.Name || e.Unit != p.Unit || e.Kind != p.Kind || e.Period != p.Period || e.KernelOnly != p.KernelOnly {
				t.Errorf("Parse(%s) = %+v, want what the table has: %+v", name, e, p)
			}
			if a := e.Attrs[0]; a.Type != p.Type || a.Config != p.Config {
				t.Errorf("Parse(%s): attributes %+v", name, a)
			}
		}
		key := [2]uint64{uint64(p.Type), p.Config}
		if encoded[key] != "" {
			t.Errorf("%s has the encoding of %s", p.Name, encoded[key])
		}
		encoded[key] = p.Name
		if p.Desc == "" || strings.HasSuffix(p.Desc, ".") {
			t.Errorf("%s: description %q", p.Name, p.Desc)
		}
		if (p.Flag == "") != (p.Func == "") {
			t.Errorf("%s: flag %q, but constructor %q", p.Name, p.Flag, p.Func)
		}
	}
}

// TestProposalNames checks the names that proposal 36821 fixes, sections 4.3
// and 4.5.
func TestProposalNames(t *testing.T) {
	var flags, funcs []string
	for _, p := range perfevent.Table() {
		if p.Flag != "" {
			flags = append(flags, p.Flag)
			funcs = append(funcs, p.Func)
		}
	}
	wantFlags := []string{"cycles", "instructions", "cacheReferences", "cacheMisses", "branches", "branchMisses"}
	wantFuncs := []string{"CPUCycles", "CPUInstructions", "CPUCacheReferences", "CPUCacheMisses", "CPUBranchInstructions", "CPUBranchMisses"}
	if !slices.Equal(flags, wantFlags) || !slices.Equal(funcs, wantFuncs) {
		t.Errorf("flags %q, constructors %q", flags, funcs)
	}
}

func TestPresetsArePrime(t *testing.T) {
	check := func(name string, period uint64) {
		if period != 1 && (period == 2 || !isPrime(period)) {
			t.Errorf("%s: preset %d is not an odd prime", name, period)
		}
	}
	for _, l := range machine(t, "skylake").List() {
		if l.Err == nil {
			check(l.Name, l.Period)
		}
	}
	for _, l := range machine(t, "zen5").List() {
		if strings.HasPrefix(l.Name, "ibs_") {
			check(l.Name, l.Period/16)
		}
	}
}

// TestPresetRates tests that what measures time is sampled at about 1 kHz by
// default, by whatever name, on processors of 1 to 4 GHz.
func TestPresetRates(t *testing.T) {
	for _, tt := range []struct {
		machine, in string
		low, high   float64 // events per second
	}{
		{"none", "task-clock", 1e9, 1e9},
		{"none", "cpu-clock:u", 1e9, 1e9},
		{"none", "cycles", 1e9, 4e9},
		{"none", "ref-cycles", 1e9, 4e9},
		{"lunarlake", "slots", 1e9, 4e9},
		{"neoverse", "cpu_cycles", 1e9, 4e9},
		{"zen5", "cycles:p", 1e9, 4e9},
		{"zen5", "ibs_op//", 1e9, 4e9},
	} {
		e, err := machine(t, tt.machine).Parse(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		if low, high := tt.low/float64(e.Period), tt.high/float64(e.Period); low < 499 || high > 2001 {
			t.Errorf("%s: %.0f to %.0f samples per second by preset %d", tt.in, low, high, e.Period)
		}
	}
}

func isPrime(n uint64) bool { return new(big.Int).SetUint64(n).ProbablyPrime(0) }

func TestPrimePeriod(t *testing.T) {
	for _, tt := range []struct{ p, want uint64 }{
		{0, 0}, {1, 1}, {2, 3}, {3, 3}, {4, 5}, {5, 5}, {6, 7}, {8, 7}, {9, 11}, {10, 11},
		{1000, 997}, {1001, 997}, {10_000, 10_007}, {100_000, 100_003}, {1_000_000, 1_000_003}, {10_000_000, 9_999_991},
		{561, 563},               // Carmichael number
		{3215031751, 3215031749}, // strong pseudoprime to 2, 3, 5, 7
		{3825123056546413051, 3825123056546413057}, // and to 2 to 23
		{1<<63 - 1, 1<<63 - 25},
		{1<<64 - 59, 1<<64 - 59},
		{1<<64 - 1, 1<<64 - 59},
	} {
		if got := perfevent.PrimePeriod(tt.p); got != tt.want {
			t.Errorf("PrimePeriod(%d) = %d, want %d", tt.p, got, tt.want)
		}
	}
}

// TestPrimePeriodNearest compares with math/big around some thousand numbers.
func TestPrimePeriodNearest(t *testing.T) {
	start := []uint64{4, 1 << 16, 10_000_000, 1 << 32, 1 << 53, 1 << 62}
	for _, s := range start {
		for p := s; p < s+1000; p++ {
			got := perfevent.PrimePeriod(p)
			if !isPrime(got) {
				t.Fatalf("PrimePeriod(%d) = %d is no prime", p, got)
			}
			dist := max(got, p) - min(got, p)
			for d := uint64(0); d < dist; d++ {
				if p-d > 2 && isPrime(p-d) || isPrime(p+d) {
					t.Fatalf("PrimePeriod(%d) = %d, but there is one at distance %d", p, got, d)
				}
			}
			if got < p && isPrime(p+dist) {
				t.Fatalf("PrimePeriod(%d) = %d, but %d is as near", p, got, p+dist)
			}
		}
	}
}

// TestAliasing shows what the primes are for: where k places take turns, a
// period sees all of them alike if and only if it is coprime to k.
func TestAliasing(t *testing.T) {
	places := func(period uint64, k int) int {
		seen := map[uint64]bool{}
		for i := uint64(1); i <= uint64(k); i++ {
			seen[i*period%uint64(k)] = true
		}
		return len(seen)
	}
	if got := places(1000, 2); got != 1 {
		t.Fatalf("period 1000 sees %d of 2 places", got)
	}
	for _, asked := range []uint64{2, 10, 1000, 10_000, 1 << 20} {
		p := perfevent.PrimePeriod(asked)
		for k := 2; k < int(min(p, 500)); k++ {
			if got := places(p, k); got != k {
				t.Errorf("period %d for %d sees %d of %d places", p, asked, got, k)
			}
		}
	}
}

func TestSamplePeriodQuantum(t *testing.T) {
	e, err := machine(t, "zen5").Parse("ibs_op//")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []uint64{1, 15, 16, 17, 1000, 1 << 20, 1<<64 - 1} {
		got := e.SamplePeriod(p)
		if got == 0 || got%16 != 0 {
			t.Errorf("SamplePeriod(%d) = %d, which IBS refuses", p, got)
		}
	}
}

func TestList(t *testing.T) {
	has := func(list []perfevent.Listing, name string) *perfevent.Listing {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
		t.Errorf("%s is not listed", name)
		return new(perfevent.Listing)
	}
	for _, m := range []string{"none", "vm", "skylake", "lunarlake", "zen5", "zen2", "neoverse", "bigLITTLE"} {
		r := machine(t, m)
		list := r.List()
		seen := map[string]bool{}
		for _, l := range list {
			if seen[l.Name] {
				t.Errorf("%s: %s is listed twice", m, l.Name)
			}
			seen[l.Name] = true
			for _, name := range append([]string{l.Name}, l.Aliases...) {
				e, err := r.Parse(name)
				if (err == nil) != (l.Err == nil) {
					t.Errorf("%s: %s: listed with error %v, parsed with %v", m, name, l.Err, err)
				}
				if err == nil && (e.Period != l.Period || e.Kind != l.Kind) {
					t.Errorf("%s: %s: listed as %v, period %d, parsed as %v, %d", m, name, l.Kind, l.Period, e.Kind, e.Period)
				}
			}
		}
		for _, name := range []string{"cycles", "task-clock", "LLC-load-misses", "dTLB-stores", "iTLB-loads"} {
			has(list, name)
		}
	}

	list := machine(t, "skylake").List()
	if l := has(list, "cpu/mem-loads/"); l.Desc != "event=0xcd,umask=0x1,ldlat=3" || !slices.Equal(l.Aliases, []string{"mem-loads"}) {
		t.Errorf("cpu/mem-loads/: %+v", l)
	}
	if l := has(list, "uncore_imc_0/cas_count_read/"); l.Err == nil {
		t.Error("an uncore event is listed as if it could be sampled")
	}
	has(machine(t, "zen5").List(), "ibs_op//")
	if n := len(machine(t, "none").List()); n != len(perfevent.Table())+32 {
		t.Errorf("%d events without sysfs, want the table and 32 of caches", n)
	}
}

func TestTracepoints(t *testing.T) {
	got := machine(t, "skylake").Tracepoints()
	want := []string{"sched:sched_switch", "sched:sched_wakeup", "sched:sched_waking", "syscalls:sys_enter_write", "u:odd"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := machine(t, "none").Tracepoints(); got != nil {
		t.Errorf("without tracefs: %q", got)
	}
}
