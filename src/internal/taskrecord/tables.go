// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import "strings"

// AllFlags says of each flag what column of a table it is, and what it says of a task. The most
// important ones are first. Views range over it, so that a new flag is in all of them.
var AllFlags = [...]struct {
	Flag   Flags
	Column string
	Words  string
}{
	{Slow, "slow", "slow"},
	{Failed, "failed", "failed"},
	{Late, "late", "ended after its parent"},
	{Client, "client", "calls a server"},
	{ServerOf, "server", "works on a call"},
	{Sampled, "sampled", "sampled"},
	{Uncounted, "uncounted", "counts are missing"},
	{EpochChange, "epoch_change", "spans a change of what is counted"},
	{Early, "early", "later ones are gone"},
}

// partColumns are the names of parts in tables, and partColumnsNS those of columns of ns.
var partColumns, partColumnsNS = func() (columns, ns [NumParts + 1]string) {
	for p := range columns {
		columns[p] = strings.ReplaceAll(strings.ToLower(PartName(Part(p))), "-", "_")
		ns[p] = columns[p] + "_ns"
	}
	return columns, ns
}()

// PartColumn returns the name that a part has in tables: stop_the_world.
func PartColumn(p Part) string { return partColumns[p] }

// partNumbers are the parts by their names, as timelines have them.
var partNumbers = func() map[string]Part {
	m := make(map[string]Part)
	for p := range NumParts {
		m[p.String()] = p
	}
	return m
}()
