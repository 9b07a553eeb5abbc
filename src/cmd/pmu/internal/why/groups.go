// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// groupsCSV is the table of events. Its head says what it has.
//
//go:embed groups.csv
var groupsCSV string

// Groups is a table of events: by name, in which group one is, and which others include its number.
type Groups struct {
	rows     map[string]eventInfo
	prefixes []string // of rows that are for all names that begin so, the longest first
}

// An eventInfo is a row of the table.
type eventInfo struct {
	same    string // the name that the event has in the table, or "" if this is it
	group   Group
	parents []string
}

// groupNames are the groups that a table can name.
var groupNames = map[string]Group{"INST": Inst, "CACHE": Cache, "CYCLE": Cycle, "KERNEL": Kernel, "INPUT": Input, "OTHER": None}

var builtin = sync.OnceValue(func() *Groups {
	g := &Groups{rows: make(map[string]eventInfo)}
	if err := g.read(strings.NewReader(groupsCSV)); err != nil {
		panic(err)
	}
	return g
})

// ReadGroups returns the table of events with rows added, or replaced: lines of an event, its group
// and its parents with semicolons between, like the file groups.csv of this package.
func ReadGroups(r io.Reader) (*Groups, error) {
	b := builtin()
	g := &Groups{rows: make(map[string]eventInfo, len(b.rows)), prefixes: slices.Clone(b.prefixes)}
	for name, e := range b.rows {
		g.rows[name] = e
	}
	return g, g.read(r)
}

// maxGroups bounds the rows of a table: all processors' events are fewer.
const maxGroups = 1 << 20

func (g *Groups) read(r io.Reader) error {
	s := bufio.NewScanner(r)
	n := 0
	for s.Scan() {
		n++
		line := strings.TrimSpace(strings.TrimPrefix(s.Text(), "\ufeff"))
		if line == "" || line[0] == '#' {
			continue
		}
		if len(g.rows) >= maxGroups {
			return fmt.Errorf("line %d: there are more than %d events", n, maxGroups)
		}
		fields := strings.Split(line, ",")
		for i := range fields {
			fields[i] = strings.ToLower(strings.TrimSpace(fields[i]))
		}
		if slices.Equal(fields, []string{"event", "group", "parents"}) || slices.Equal(fields, []string{"event", "group", "parent"}) {
			continue
		}
		if len(fields) < 2 || len(fields) > 3 || fields[0] == "" {
			return fmt.Errorf("line %d: %.100q is no event, its group and its parents", n, line)
		}
		var e eventInfo
		if same, ok := strings.CutPrefix(fields[1], "="); ok {
			e.same, _ = eventName(same)
		} else if e.group, ok = groupNames[strings.ToUpper(fields[1])]; !ok {
			return fmt.Errorf("line %d: group %.100q is none of INST, CACHE, CYCLE, KERNEL, INPUT, OTHER and =EVENT", n, fields[1])
		}
		if len(fields) == 3 && fields[2] != "" {
			for _, p := range strings.Split(fields[2], ";") {
				p, _ = eventName(strings.TrimSpace(p))
				e.parents = append(e.parents, p)
			}
		}
		name, all := strings.CutSuffix(fields[0], "*")
		if strings.Contains(name, "*") {
			return fmt.Errorf("line %d: %.100q has a * that is not at its end", n, fields[0])
		}
		if !all {
			name, _ = eventName(name)
		}
		if all {
			name += "*"
			if _, ok := g.rows[name]; !ok {
				g.prefixes = append(g.prefixes, name[:len(name)-1])
			}
		}
		g.rows[name] = e
	}
	slices.SortStableFunc(g.prefixes, func(a, b string) int { return len(b) - len(a) })
	return s.Err()
}

var (
	modifiers = regexp.MustCompile(`[:/]([ukhGHIpPDSWeb]+)$`)
	pmuEvent  = regexp.MustCompile(`^[^/]+/([^/]*)/([ukhGHIpPDSWeb]*)$`)
	rawEvent  = regexp.MustCompile(`^r(?:0x)?0*([0-9a-f]+)$`)
	rawTerm   = regexp.MustCompile(`^(event|umask|config)=(0x[0-9a-f]+|[0-9]+)$`)
)

// eventName returns the name that an event has in the table, and whether it is counted in the kernel
// only. Modifiers are no part of the name, nor is a PMU: cpu/cache-misses/u is cache-misses. Raw
// codes are like r1c4, without zeros before.
func eventName(s string) (name string, kernel bool) {
	mods := ""
	if strings.ContainsAny(s, " \t") {
		return strings.ToLower(s), false // no event's: a region, or a call of a path
	}
	if m := pmuEvent.FindStringSubmatch(s); m != nil {
		s, mods = term(m[1]), m[2]
	} else if i := modifiers.FindStringSubmatchIndex(s); i != nil {
		s, mods = s[:i[0]], s[i[2]:]
	}
	s = strings.ToLower(s)
	if m := rawEvent.FindStringSubmatch(s); m != nil {
		s = "r" + m[1]
	}
	return s, strings.Contains(mods, "k") && !strings.Contains(mods, "u")
}

// term returns the name among the terms of a PMU's event, or its raw code.
func term(terms string) string {
	var event, umask uint64
	raw := false
	for t := range strings.SplitSeq(terms, ",") {
		t = strings.TrimSpace(t)
		if name, ok := strings.CutPrefix(t, "name="); ok {
			return name
		}
		m := rawTerm.FindStringSubmatch(strings.ToLower(t))
		if m == nil {
			if !strings.Contains(t, "=") && t != "" && !raw {
				return t
			}
			continue
		}
		var v uint64
		if _, err := fmt.Sscan(m[2], &v); err != nil {
			continue
		}
		raw = true
		switch m[1] {
		case "umask":
			umask = v
		default:
			event = v
		}
	}
	if !raw {
		return terms
	}
	return fmt.Sprintf("r%x", event|umask<<8)
}

// find returns what the table has on the event of a name, and the name under which it has it.
func (g *Groups) find(name string) (string, eventInfo, bool) {
	for range 8 { // names of the same event may be a circle
		e, ok := g.rows[name]
		if !ok {
			// As libpfm writes it, EVENT:UMASK.
			if dotted := strings.ReplaceAll(name, ":", "."); dotted != name {
				if e, ok = g.rows[dotted]; ok {
					name = dotted
				}
			}
		}
		if !ok {
			i := slices.IndexFunc(g.prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
			if i < 0 {
				return name, eventInfo{}, false
			}
			e = g.rows[g.prefixes[i]+"*"]
		}
		if e.same == "" {
			return name, e, true
		}
		name = e.same
	}
	return name, eventInfo{}, false
}

// Describe fills in Group and Parents of the columns whose Group is Unknown, of what is known of
// their names. A nil g is the table that there is for all. [Analyze] does that to a copy of the
// table.
func (t *Table) Describe(g *Groups) {
	if g == nil {
		g = builtin()
	}
	type id struct {
		name   string
		kernel bool
		of     string
	}
	columns := make(map[id][]string) // by event
	infos := make([]eventInfo, len(t.Columns))
	ids := make([]id, len(t.Columns))
	for i := range t.Columns {
		c := &t.Columns[i]
		name, kernel := eventName(strings.TrimSuffix(c.Name, c.Of))
		var ok bool
		if name, infos[i], ok = g.find(name); ok && c.Words == nil {
			ids[i] = id{name, kernel, c.Of}
			columns[ids[i]] = append(columns[ids[i]], c.Name)
		}
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Group != Unknown {
			continue
		}
		c.Group = None
		if ids[i].name == "" {
			continue
		}
		if c.Group = infos[i].group; ids[i].kernel && c.Group >= Inst {
			c.Group |= inKernel
		}
		// What includes a parent's number includes this one's, too.
		seen := map[string]bool{ids[i].name: true}
		for list := infos[i].parents; len(list) > 0; list = list[1:] {
			parent, info, _ := g.find(list[0])
			if seen[parent] {
				continue
			}
			seen[parent] = true
			c.Parents = append(c.Parents, columns[id{parent, ids[i].kernel, c.Of}]...)
			list = append(slices.Clip(list), info.parents...)
		}
	}
}
