// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskscmd

import (
	"bufio"
	"cmp"
	"fmt"
	"internal/taskrecord"
	"io"
	"iter"
	"maps"
	"slices"
	"text/tabwriter"
)

// Limits of the report, which is for a screen.
const (
	reportKinds   = 1000 // that it has by themselves; see otherKind
	reportReasons = 20
	reportSlowest = 10
	reportNext    = 5  // kinds with a command
	reportName    = 40 // letters of a name
)

// otherKind is the kind of tasks of kinds that are too many.
const otherKind = "other"

// writeReport writes a report of tasks: how many there were of each kind and how long they
// took, why the slow ones were slow, summed up, and the slowest ones. From is where these are from.
// Percentiles are exact to 3 %.
// What it keeps in memory does not grow with the number of tasks.
func writeReport(w io.Writer, tasks iter.Seq[*taskrecord.Record], from origins) error {
	s := report{from: from}
	for t := range tasks {
		s.add(t)
	}
	return s.write(w)
}

// A report sums up tasks by kind. The zero report is ready.
type report struct {
	tasks, slow, failed, lost int64

	kinds   map[string]*kindSummary
	slowest []*taskrecord.Record // of all kinds
	reasons taskrecord.Reasons
	servers map[string]bool
	from    origins
}

type kindSummary struct {
	name                string
	tasks, slow, failed int64
	lengths             lengths
}

// add adds a task.
func (s *report) add(t *taskrecord.Record) {
	if s.kinds == nil {
		s.kinds = make(map[string]*kindSummary)
		s.servers = make(map[string]bool)
	}
	if t.Server != nil && len(s.servers) < reportKinds {
		s.servers[fmt.Sprint(t.Server.Name, "\x00", t.Server.ID, "\x00", t.Server.PID)] = true
	}
	name := taskrecord.KindText(t.Kind, t.Flags&taskrecord.Client != 0)
	k := s.kinds[name]
	if k == nil && len(s.kinds) >= reportKinds {
		name = otherKind
		k = s.kinds[name]
	}
	if k == nil {
		k = &kindSummary{name: name}
		s.kinds[name] = k
	}
	k.tasks++
	s.tasks++
	s.lost += max(0, t.Lost.Before)
	k.lengths.add(t.Wall)
	if t.Flags&taskrecord.Failed != 0 {
		k.failed++
		s.failed++
	}
	if t.Flags&taskrecord.Slow != 0 {
		k.slow++
		s.slow++
		s.reasons.Add(t)
	}
	i, _ := slices.BinarySearchFunc(s.slowest, t, func(a, b *taskrecord.Record) int {
		return cmp.Or(cmp.Compare(b.Wall, a.Wall), cmp.Compare(a.Start, b.Start))
	})
	if i < reportSlowest {
		s.slowest = slices.Insert(s.slowest, i, t)
		s.slowest = s.slowest[:min(len(s.slowest), reportSlowest)]
	}
}

// write writes the report.
func (s *report) write(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s of %s on %s: %d slow, %d failed\n", taskrecord.Count(s.tasks, "task"),
		taskrecord.Count(len(s.kinds), "kind"), taskrecord.Count(len(s.servers), "server"), s.slow, s.failed)
	if s.lost > 0 {
		fmt.Fprintf(b, "%s were lost: they were not read in time\n", taskrecord.Count(s.lost, "record"))
	}
	if s.tasks == 0 {
		return b.Flush()
	}
	var kinds []*kindSummary
	for _, k := range s.kinds {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b *kindSummary) int {
		return cmp.Or(cmp.Compare(b.lengths.longest, a.lengths.longest), cmp.Compare(a.name, b.name))
	})
	fmt.Fprintln(b)
	tw := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprint(tw, "KIND\tCOUNT\tSLOW\tFAILED\tP50\tP99\tMAX\n")
	for _, k := range kinds {
		fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t%s\t%s\t%s\n", cell(k.name), k.tasks, k.slow, k.failed,
			taskrecord.Duration(k.lengths.percentile(50)), taskrecord.Duration(k.lengths.percentile(99)), taskrecord.Duration(k.lengths.longest))
	}
	tw.Flush()
	reasons := s.reasons.List()
	if len(reasons) > 0 {
		fmt.Fprint(b, "\nWhy slow ones were slow:\n")
	}
	for i, r := range reasons {
		if i == reportReasons {
			fmt.Fprintf(b, "and %s\n", taskrecord.Count(len(reasons)-i, "other reason"))
			break
		}
		fmt.Fprintf(tw, "%s\t%s\n", taskrecord.KindText(cell(r.Kind), r.Client), r)
	}
	tw.Flush()
	for i, command := range s.from.next(reasons, reportNext) {
		if i == 0 {
			fmt.Fprint(b, "\nTo see what slow ones execute, while the server runs:\n")
		}
		fmt.Fprintln(b, command)
	}
	fmt.Fprintf(b, "\nThe slowest:\n")
	for _, t := range s.slowest {
		why := ""
		if list := t.Causes(); len(list) > 0 {
			why = s.reasons.Words(&list[0])
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", taskrecord.Duration(t.Wall), taskrecord.KindText(cell(t.Kind), t.Flags&taskrecord.Client != 0), t.Trace, why)
	}
	tw.Flush()
	return b.Flush()
}

// writeTaken writes why the threads of processes had no CPU.
func writeTaken(w io.Writer, taken map[string]taskrecord.Taken) error {
	list := slices.SortedFunc(maps.Values(taken), func(a, b taskrecord.Taken) int { return cmp.Compare(b.Preempted, a.Preempted) })
	for i, t := range list {
		if t.Preempted == 0 || i == reportReasons {
			break
		}
		from := "While the server recorded: "
		if len(list) > 1 {
			from = fmt.Sprintf("While server %d of %d recorded: ", i+1, len(list))
		}
		if _, err := fmt.Fprintf(w, "\n%s%s\n", from, t.Words()); err != nil {
			return err
		}
	}
	return nil
}

// cell returns a name for a table: not long, and without what separates columns, or what a
// terminal might obey.
func cell(name string) string {
	r := []rune(taskrecord.Printable(name))
	if len(r) > reportName {
		r = append(r[:reportName-3], '.', '.', '.')
	}
	return string(r)
}
