// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"strings"
	"time"
)

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

// A LostField is a field of [Lost].
type LostField struct {
	Column    string // of a table
	Attr      string // of a span in OTLP; empty if spans count it themselves: events and attributes
	One, Many string // what it counts; empty if it is the time of what the field before it counts
	Of        func(l *Lost) *int64
}

// AllLost are all fields of [Lost], in their order, which is that in files. Views range over it, so that
// nothing is lost without a word in one of them. Fields are added at the end.
var AllLost = [...]LostField{
	{"lost_stretches", "", "short wait", "short waits", func(l *Lost) *int64 { return &l.Stretches }},
	{"lost_stretches_ns", "go.lost.wait.duration", "", "", func(l *Lost) *int64 { return (*int64)(&l.StretchesTime) }},
	{"lost_memory", "", "wait for which there was no memory", "waits for which there was no memory", func(l *Lost) *int64 { return &l.Memory }},
	{"lost_regions", "go.lost.regions", "region of further names", "regions of further names", func(l *Lost) *int64 { return &l.Regions }},
	{"lost_calls", "go.lost.calls", "short call", "short calls", func(l *Lost) *int64 { return &l.Calls }},
	{"lost_notes", "", "note too many or too long", "notes too many or too long", func(l *Lost) *int64 { return &l.Notes }},
	{"lost_before", "go.lost.records", "record before this one", "records before this one", func(l *Lost) *int64 { return &l.Before }},
	{"lost_unfound", "go.lost.unfound", "goroutine or child nested too deeply to be followed", "goroutines and children nested too deeply to be followed", func(l *Lost) *int64 { return &l.Unfound }},
}

// Words says what is lost: "12 short waits (90 us in all)".
func (l *Lost) Words() (list []string) {
	said := false
	for i := range AllLost {
		f := &AllLost[i]
		n := *f.Of(l)
		switch {
		case f.One == "" && said && n != 0:
			list[len(list)-1] += " (" + Duration(time.Duration(n)) + " in all)"
		case f.One == "" && n != 0:
			list = append(list, Duration(time.Duration(n))+" of "+AllLost[i-1].Many)
		case f.One != "" && n != 0:
			list = append(list, Plural(n, f.One, f.Many))
		}
		said = n != 0
	}
	return list
}

// OfTask returns how much is lost of the task that the record is of, whatever that is.
func (l *Lost) OfTask() (n int64) {
	for _, f := range AllLost {
		if f.One != "" && f.Column != "lost_before" {
			n += *f.Of(l)
		}
	}
	return n
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
