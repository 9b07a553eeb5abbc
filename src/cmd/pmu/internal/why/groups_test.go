// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestEventNames tests which row of the table of events is that of a name, in the forms that perf,
// libpfm, VarMRI and this toolchain write names.
func TestEventNames(t *testing.T) {
	for _, tt := range []struct {
		name, row string
		group     Group
	}{
		{"instructions", "instructions", Inst},
		{"instructions:u", "instructions", Inst},
		{"instructions:uk", "instructions", Inst},
		{"instructions:k", "instructions", Inst | inKernel},
		{"instructions:kpp", "instructions", Inst | inKernel},
		{"cpu_core/instructions/", "instructions", Inst},
		{"armv8_pmuv3_0/cpu_cycles/k", "cycles", Cycle | inKernel},
		{"cpu/event=0xd1,umask=0x8,name=MEM_LOAD_RETIRED.L1_MISS/u", "mem_load_retired.l1_miss", Cache},
		{"INST_RETIRED.ANY_P", "instructions", Inst},
		{"inst_retired.any", "instructions", Inst},
		{"INST_RETIRED:ANY_P:u", "instructions", Inst},
		{"inst_retired", "instructions", Inst},
		{"ex_ret_instr", "instructions", Inst},
		{"LLC-load-misses", "llc-load-misses", Cache},
		{"ls_dmnd_fills_from_sys.dram_io_near", "ls_dmnd_fills_from_sys.dram_io_near", Cache},
		{"ls_not_halted_cyc", "cycles", Cycle},
		{"l1d_cache_refill", "l1d_cache_refill", Cache},
		{"STALL_BACKEND_MEM", "stall_backend_mem", Cycle},
		{"CYCLE_ACTIVITY.STALLS_L3_MISS", "cycle_activity.stalls_l3_miss", Cycle},
		{"MEM_LOAD_L3_HIT_RETIRED.XSNP_HITM", "mem_load_l3_hit_retired.xsnp_hitm", Cache},
		{"page-faults", "page-faults", Kernel},
		{"exceptions:page_fault_user", "exceptions:page_fault_user", Kernel},
		{"HW_INTERRUPTS.RECEIVED", "hw_interrupts.received", None},
		{"region GET /cycles/", "", None},
		{"call GET /k", "", None},
		{"cpu/event=0xd1,umask=0x8/", "", None},
		{"r4d2", "", None},
		{"lock", "", None},
	} {
		tab := &Table{Columns: []Column{{Name: tt.name}}}
		tab.Describe(nil)
		name, _ := eventName(tt.name)
		name, _, ok := builtin().find(name)
		if !ok {
			name = ""
		}
		if name != tt.row || tab.Columns[0].Group != tt.group {
			t.Errorf("%s: %q of group %d, want %q of group %d", tt.name, name, tab.Columns[0].Group, tt.row, tt.group)
		}
	}
}

// TestVarMRI tests the table for the paper's events, and a parent for each that has one there.
func TestVarMRI(t *testing.T) {
	_, rows, _ := strings.Cut(groupsCSV, "# VarMRI")
	_, rows, _ = strings.Cut(rows, "\n")
	rows, _, _ = strings.Cut(rows, "\n# Intel")
	tab := &Table{}
	for line := range strings.Lines(rows) {
		if name, _, ok := strings.Cut(line, ","); ok {
			tab.Columns = append(tab.Columns, Column{Name: name})
		}
	}
	tab.Describe(nil)
	groups := make(map[Group]int)
	for _, c := range tab.Columns {
		groups[c.Group]++
	}
	if len(tab.Columns) != 78 || groups[Inst] != 20 || groups[Cache] != 29 || groups[Cycle] != 28 || groups[None] != 1 {
		t.Errorf("%d events, by group %v", len(tab.Columns), groups)
	}
	for _, tt := range []struct {
		child   string
		parents []string
	}{
		{"BR_INST_RETIRED.ALL_BRANCHES", []string{"INST_RETIRED.ANY_P"}},
		{"BR_INST_RETIRED.NOT_TAKEN", []string{"BR_INST_RETIRED.ALL_BRANCHES", "INST_RETIRED.ANY_P"}},
		{"BR_INST_RETIRED.FAR_BRANCH", []string{"BR_INST_RETIRED.ALL_BRANCHES", "INST_RETIRED.ANY_P"}},
		{"BR_MISP_RETIRED.ALL_BRANCHES", []string{"BR_INST_RETIRED.ALL_BRANCHES", "INST_RETIRED.ANY_P"}},
		{"BR_MISP_RETIRED.CONDITIONAL", []string{"BR_INST_RETIRED.ALL_BRANCHES", "INST_RETIRED.ANY_P"}},
		{"BR_MISP_RETIRED.NEAR_TAKEN", []string{"BR_INST_RETIRED.ALL_BRANCHES", "INST_RETIRED.ANY_P"}},
		{"MEM_INST_RETIRED.LOCK_LOADS", []string{"MEM_INST_RETIRED.ALL_LOADS"}},
		{"CPU_CLK_THREAD_UNHALTED.ONE_THREAD_ACTIVE", []string{"CPU_CLK_THREAD_UNHALTED.REF_XCLK_ANY"}},
		{"CPU_CLK_THREAD_UNHALTED.REF_XCLK", []string{"CPU_CLK_THREAD_UNHALTED.REF_XCLK_ANY"}},
		{"CPU_CLK_UNHALTED.THREAD_P", []string{"CPU_CLK_UNHALTED.THREAD_P_ANY"}},
		{"CYCLE_ACTIVITY.STALLS_L1D_MISS", []string{"CYCLE_ACTIVITY.STALLS_TOTAL"}},
		{"CYCLE_ACTIVITY.STALLS_L2_MISS", []string{"CYCLE_ACTIVITY.STALLS_TOTAL"}},
		{"CYCLE_ACTIVITY.STALLS_L3_MISS", []string{"CYCLE_ACTIVITY.STALLS_TOTAL"}},
		{"CYCLE_ACTIVITY.STALLS_MEM_ANY", []string{"CYCLE_ACTIVITY.STALLS_TOTAL"}},
		{"L1D_PEND_MISS.PENDING_CYCLES", []string{"L1D_PEND_MISS.PENDING_CYCLES_ANY"}},
	} {
		i := slices.IndexFunc(tab.Columns, func(c Column) bool { return c.Name == tt.child })
		if i < 0 || !slices.Equal(tab.Columns[i].Parents, tt.parents) {
			t.Errorf("parents of %s are not %v", tt.child, tt.parents)
		}
	}
}

// follow is a column of a table in which one in 30 requests does something more.
type follow struct {
	name string
	more float64 // of it then
}

// followTable returns requests of which one in 30 does something more that takes 30 ms. What each
// column counts varies by itself, so that none is in proportion to another.
func followTable(seed uint64, columns ...follow) *Table {
	r := rand.New(rand.NewPCG(seed, 41))
	t := &Table{Unit: "ms"}
	for _, f := range columns {
		t.Columns = append(t.Columns, Column{Name: f.name})
	}
	for range 6000 {
		hit := r.IntN(30) == 0
		v := 10 * lognormal(r, 0.1)
		if hit {
			v += 30
		}
		t.Latency = append(t.Latency, v)
		for i, f := range columns {
			x := 100 * lognormal(r, 0.3)
			if hit {
				x += f.more * lognormal(r, 0.3)
			}
			t.Columns[i].Values = append(t.Columns[i].Values, x)
		}
	}
	return t
}

// TestRules tests the first line where several events are high in the same requests: the one that
// can be the cause of the others, or all that no rule tells apart, wherever their columns are.
func TestRules(t *testing.T) {
	const more = 4000
	orders := 5
	if testing.Short() {
		orders = 1
	}
	of := func(names ...string) (list []follow) {
		for _, n := range names {
			list = append(list, follow{n, more})
		}
		return append(list, follow{"noise", 0}, follow{"zero", 0})
	}
	users, err := ReadGroups(strings.NewReader("\ufeffevent,group,parent\n# of one machine\nr4d2,CACHE,\n R01C0 , inst ,\nwait,CYCLE,\nmine,=INST_RETIRED.ANY_P,\nGET Shop Items,INST,\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		columns []follow
		groups  *Groups
		first   []string
	}{
		{of("CYCLE_ACTIVITY.STALLS_L3_MISS", "MEM_LOAD_RETIRED.L3_MISS", "INST_RETIRED.ANY_P"), nil, []string{"INST_RETIRED.ANY_P"}},
		{of("CYCLE_ACTIVITY.STALLS_L3_MISS", "MEM_LOAD_RETIRED.L3_MISS"), nil, []string{"MEM_LOAD_RETIRED.L3_MISS"}},
		{of("cycles:u", "cache-misses:u", "instructions:u"), nil, []string{"instructions:u"}},
		{of("cycles:k", "cache-misses:k", "instructions:k"), nil, []string{"instructions:k"}},
		{of("cpu_cycles", "l2d_cache_refill", "inst_retired"), nil, []string{"inst_retired"}},
		{of("ls_not_halted_cyc", "l3_lookup_state.l3_miss", "ex_ret_brn_misp"), nil, []string{"ex_ret_brn_misp"}},
		{of("cycles", "page-faults", "instructions"), nil, []string{"page-faults"}},
		// The kernel's instructions are no cause of the program's cycles, as far as is known.
		{of("cycles:u", "instructions:k"), nil, []string{"cycles:u", "instructions:k"}},
		{of("MEM_LOAD_RETIRED.L2_MISS", "MEM_LOAD_RETIRED.L1_MISS", "L2_TRANS.L2_WB"), nil, []string{"L2_TRANS.L2_WB", "MEM_LOAD_RETIRED.L1_MISS", "MEM_LOAD_RETIRED.L2_MISS"}},
		{of("r4d2", "r1c0", "wait"), nil, []string{"r1c0", "r4d2", "wait"}},
		{of("r4d2", "r1c0", "wait"), users, []string{"r1c0"}},
		{of("r4d2:u", "cpu/event=0xc0,umask=0x1/u", "wait"), users, []string{"cpu/event=0xc0,umask=0x1/u"}},
		{of("wait", "mine"), users, []string{"mine"}},
		{of("wait", "GET Shop Items"), users, []string{"GET Shop Items"}},
	} {
		tab := followTable(7, tt.columns...)
		want := text(t, tab, Params{Groups: tt.groups})
		first := tt.first[0] + " makes the tail"
		if len(tt.first) > 1 {
			first = "one of " + strings.Join(tt.first, ", ") + " makes the tail, and no rule says which"
		}
		if !strings.HasPrefix(want, first) {
			t.Errorf("of %v, not %s:\n%s", tt.columns, first, want)
		}
		rep, err := Analyze(tab, Params{Groups: tt.groups})
		if err != nil || !slices.Equal(rep.First, tt.first) || (rep.Top() == "") != (len(tt.first) > 1) {
			t.Errorf("first %q, top %q, %v", rep.First, rep.Top(), err)
		}
		r := rand.New(rand.NewPCG(8, 8))
		for range orders {
			r.Shuffle(len(tab.Columns), func(i, j int) { tab.Columns[i], tab.Columns[j] = tab.Columns[j], tab.Columns[i] })
			if got := text(t, tab, Params{Groups: tt.groups}); got != want {
				t.Fatalf("in another order:\n%s\nbefore\n%s", got, want)
			}
		}
	}
}

// TestOrder tests that the order of columns changes nothing of a report with all that one can have.
func TestOrder(t *testing.T) {
	tab := joined{around: 6}.table(3)
	more := followTable(3, follow{"cycles", 10}, follow{"lock", 0}, follow{"L1D.REPLACEMENT", 0})
	for i := range more.Columns {
		c := more.Columns[i]
		c.Values = append(c.Values, c.Values[:2000]...)
		for k := range c.Values {
			if (tab.Latency[k] > 50 || k%20 == 0) && i != 1 {
				c.Values[k] += 900
			}
		}
		tab.Columns = append(tab.Columns, c)
	}
	same := tab.Columns[0]
	same.Name = "get again"
	tab.Columns = append(tab.Columns, same)
	// Two names of one event, and a child that is in proportion to both.
	cycles := tab.Columns[slices.IndexFunc(tab.Columns, func(c Column) bool { return c.Name == "cycles" })]
	for _, name := range []string{"cpu-cycles", "ref-cycles"} {
		cycles.Name = name
		tab.Columns = append(tab.Columns, cycles)
	}
	shuffles := 40
	if testing.Short() {
		shuffles = 10
	}
	r := rand.New(rand.NewPCG(9, 9))
	want := ""
	for k := range shuffles {
		r.Shuffle(len(tab.Columns), func(i, j int) { tab.Columns[i], tab.Columns[j] = tab.Columns[j], tab.Columns[i] })
		got := text(t, tab, Params{P: 0.99})
		if want == "" {
			want = got
			for _, w := range []string{"one of L1D.REPLACEMENT, get, get again", "makes the tail", "What describes", "Ruled out", `conditions on "get" describe the same requests as some on "get again"`} {
				if !strings.Contains(got, w) {
					t.Fatalf("no %q in\n%s", w, got)
				}
			}
		}
		if got != want {
			t.Fatalf("shuffle %d:\n%s\nbefore\n%s", k, got, want)
		}
	}
}

// TestReadGroupsBad tests that a table of events that is none is an error with its line.
func TestReadGroupsBad(t *testing.T) {
	for in, want := range map[string]string{
		"a,CACHE\nb,NONE,\n":      `line 2: group "none" is none of INST, CACHE`,
		"a\n":                     `line 1: "a" is no event, its group and its parents`,
		",INST,\n":                `line 1: `,
		"a,INST,b,c\n":            `line 1: `,
		"a,INST,\na*b*,INST,\n":   `line 2: "a*b*" has a * that is not at its end`,
		"# x\n\nevent,x,parent\n": `line 3: group "x"`,
	} {
		if _, err := ReadGroups(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
	// Names of each other, and parents, may be a circle.
	g, err := ReadGroups(strings.NewReader("a,=b,\nb,=a,\nc,INST,d\nd,INST,c;d\n"))
	if err != nil {
		t.Fatal(err)
	}
	tab := &Table{Columns: []Column{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}}
	tab.Describe(g)
	if c := tab.Columns; c[0].Group != None || !slices.Equal(c[2].Parents, []string{"d"}) || !slices.Equal(c[3].Parents, []string{"c"}) {
		t.Errorf("%+v", tab.Columns)
	}
}
