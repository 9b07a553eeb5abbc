// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

// A Group is a kind of events. Groups say what can cause what (VarMRI: INST > CACHE > CYCLE): more instructions miss the caches more often, and both take cycles, but
// not the other way round.
type Group uint8

const (
	Unknown Group = iota // look the event up
	None                 // can neither cause nor be caused, as far as is known
	Input                // what is not the program's: sizes, and calls of other servers
	Kernel               // what the kernel does for the request: page faults
	Inst                 // instructions, of all or of some kinds
	Cache                // accesses and misses of caches and of TLBs
	Cycle                // time and cycles on a CPU
)

// mayCause reports whether events of group g can cause those of group h. What a request came
// with can cause all else.
func (g Group) mayCause(h Group) bool { return g != h && (g == Input || Kernel <= g && g < h) }

// An eventInfo is a row of the table of events.
type eventInfo struct {
	name    string
	group   Group
	parents []string // events whose number includes this one's
}

// events is the table of events: of the names that perf list has, and of the parts of tasks'
// time, as columns are called. Events that are not in it are in group None.
var events = []eventInfo{
	{"cycles", Cycle, nil},
	{"cpu-cycles", Cycle, nil},
	{"ref-cycles", Cycle, []string{"cycles"}},
	{"bus-cycles", Cycle, []string{"cycles"}},
	{"stalled-cycles-frontend", Cycle, []string{"cycles"}},
	{"stalled-cycles-backend", Cycle, []string{"cycles"}},
	{"task-clock", Cycle, []string{"cycles"}},
	{"cpu-clock", Cycle, []string{"task-clock"}},
	{"instructions", Inst, nil},
	{"branches", Inst, []string{"instructions"}},
	{"branch-instructions", Inst, []string{"instructions"}},
	{"branch-misses", Inst, []string{"branches", "branch-instructions"}},
	{"cache-references", Cache, nil},
	{"cache-misses", Cache, []string{"cache-references"}},
	{"L1-dcache-loads", Inst, []string{"instructions"}},
	{"L1-dcache-stores", Inst, []string{"instructions"}},
	{"L1-dcache-load-misses", Cache, []string{"L1-dcache-loads"}},
	{"L1-icache-load-misses", Cache, nil},
	{"LLC-loads", Cache, []string{"cache-references"}},
	{"LLC-load-misses", Cache, []string{"LLC-loads", "cache-misses"}},
	{"LLC-stores", Cache, []string{"cache-references"}},
	{"dTLB-loads", Inst, []string{"instructions"}},
	{"dTLB-load-misses", Cache, []string{"dTLB-loads"}},
	{"iTLB-load-misses", Cache, nil},
	{"page-faults", Kernel, nil},
	{"faults", Kernel, nil},
	{"minor-faults", Kernel, []string{"page-faults", "faults"}},
	{"major-faults", Kernel, []string{"page-faults", "faults"}},
	{"context-switches", None, nil},
	{"cpu-migrations", None, nil},

	// Parts of time, and numbers of tasks.
	{"running", Cycle, nil},
	{"measured", None, nil},
}

// Describe fills in Group and Parents, of what is known by Name, if Group is Unknown. [Analyze]
// does that to a copy of the table.
func (c *Column) Describe() {
	if c.Group != Unknown {
		return
	}
	c.Group = None
	for _, e := range events {
		if e.name == c.Name {
			c.Group, c.Parents = e.group, e.parents
		}
	}
}
