// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// Limits of the texts, which are for a screen.
const (
	textRows   = 16 // of a list: the longest ones
	textCauses = 5
	textName   = 40 // letters of a name in a table
)

// WriteText writes what there is to say about a task: what it is, why it took so long,
// where the time went, what it waited for, the critical path, and notes, which may hold
// secrets; see [Record.Public]. Of long lists it has what took longest.
func (t *Record) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	t.header(b)
	path := t.CriticalPath()
	writeCauses(b, t.Causes(), nil)
	t.account(b, t.latency(path))
	t.timeline(b)
	writePath(b, path, nil)
	t.rest(b)
	return b.Flush()
}

func (t *Record) header(b *bufio.Writer) {
	fmt.Fprintf(b, "task %s on %s: %s", strconv.Quote(t.Kind), t.Server.Text(), Duration(t.Wall))
	for _, f := range AllFlags {
		if t.Flags&f.Flag == 0 {
			continue
		}
		fmt.Fprintf(b, ", %s", f.Words)
		if f.Flag == Slow && t.Threshold > 0 {
			fmt.Fprintf(b, " (above %s)", Duration(t.Threshold))
		}
	}
	fmt.Fprintf(b, "\ntrace %s span %s", t.Trace, t.Span)
	if t.Parent != (SpanID{}) {
		fmt.Fprintf(b, " parent %s", t.Parent)
	}
	fmt.Fprintf(b, "\nbegan %s\n", time.Unix(0, t.Start).UTC().Format("2006-01-02 15:04:05.000000 UTC"))
	fmt.Fprintf(b, "%s, %s, %s, %s\n", Count(t.Goroutines, "goroutine"), Plural(t.Switches, "switch", "switches"),
		Count(t.Preemptions, "preemption"), Count(t.Migrations, "migration"))
}

// Text returns the server's name, or what else identifies it.
func (s *Server) Text() string {
	switch {
	case s == nil:
		return "a server"
	case s.Name != "":
		return Printable(s.Name)
	case s.ID != 0:
		return fmt.Sprintf("server %d", s.ID)
	}
	return fmt.Sprintf("process %d", s.PID)
}

func writeCauses(b *bufio.Writer, list []Cause, r *Request) {
	if len(list) == 0 {
		return
	}
	fmt.Fprint(b, "\nWhy, by time on the critical path:\n")
	for i, c := range list {
		if i == textCauses {
			fmt.Fprintf(b, "  and %s\n", Count(len(list)-i, "lesser reason"))
			break
		}
		where := ""
		if r != nil {
			where = fmt.Sprintf(" (task %s on %s)", strconv.Quote(c.Task.Kind), c.Task.Server.Text())
		}
		fmt.Fprintf(b, "  %s%s\n", c, where)
	}
}

// account writes the parts of the latency and of the cost, and counts, beside the usual ones.
func (t *Record) account(b *bufio.Writer, latency Latency) {
	tw := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	header := "\nWhere the time went:\tlatency\tcost, over all goroutines"
	var usual *Usual
	if u := t.Usual; u != nil {
		usual = u
		header += fmt.Sprintf("\tusual cost (%s, %s)", Count(u.Tasks, "task"), Duration(u.Wall))
	}
	fmt.Fprintln(tw, header)
	sums := func(u *Usage) Latency { return Latency(append(u.Parts[:], 0)) }
	cost, usualCost := sums(&t.Usage), Latency{}
	if usual != nil {
		usualCost = sums(&usual.Usage)
	}
	for p := range latency {
		if latency[p] == 0 && cost[p] == 0 && usualCost[p] == 0 {
			continue
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s", PartName(Part(p)), Duration(latency[p]), Duration(cost[p]))
		if usual != nil {
			fmt.Fprintf(tw, "\t%s", Duration(usualCost[p]))
		}
		fmt.Fprintln(tw)
	}
	for i, e := range t.Events {
		if i >= len(t.Count) {
			break
		}
		fmt.Fprintf(tw, "  %s\t\t%d", name(e), t.Count[i].Value)
		if usual != nil && i < len(usual.Count) {
			fmt.Fprintf(tw, "\t%d", usual.Count[i].Value)
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
	if len(t.Regions) == 0 {
		return
	}
	fmt.Fprint(tw, "\nRegions:\tnumber\ttime\tlongest\trunning\n")
	keep, rest := longestOf(t.Regions, func(g *RegionSum) time.Duration { return g.Wall })
	for _, g := range keep {
		fmt.Fprintf(tw, "  %s\t%d\t%s\t%s\t%s\n", name(g.Name), g.N, Duration(g.Wall), Duration(g.Max), Duration(g.Parts[pprof.TimeRunning]))
	}
	tw.Flush()
	rest.write(b, "region")
}

// omitted says what a list leaves out.
type omitted struct {
	n    int64
	time time.Duration
}

func (o omitted) write(b *bufio.Writer, what string) {
	if o.n > 0 {
		fmt.Fprintf(b, "  and %s, of %s\n", Count(o.n, "shorter "+what), Duration(o.time))
	}
}

// longestOf returns the textRows longest elements of list, in its order.
func longestOf[T any](list []T, length func(*T) time.Duration) (keep []*T, rest omitted) {
	index := make([]int, len(list))
	for i := range index {
		index[i] = i
	}
	slices.SortStableFunc(index, func(a, b int) int { return cmp.Compare(length(&list[b]), length(&list[a])) })
	n := min(len(list), textRows)
	for _, i := range index[n:] {
		rest.n++
		rest.time += length(&list[i])
	}
	index = index[:n]
	slices.Sort(index)
	for _, i := range index {
		keep = append(keep, &list[i])
	}
	return keep, rest
}

func (t *Record) timeline(b *bufio.Writer) {
	if len(t.Timeline) == 0 {
		return
	}
	tw := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprint(tw, "\nTimeline:\tat\ttook\n")
	keep, rest := longestOf(t.Timeline, func(s *Stretch) time.Duration { return s.End - s.Start })
	for _, s := range keep {
		fmt.Fprintf(tw, "  goroutine %d\t%s\t%s\t%s\n", s.Goroutine, Duration(s.Start), Duration(s.End-s.Start), s.text())
	}
	tw.Flush()
	rest.write(b, "one")
}

// text says what a stretch is, in a line.
func (s *Stretch) text() string {
	if s.Region != "" {
		return "region " + strconv.Quote(s.Region)
	}
	text := Printable(cmp.Or(s.Reason, s.Part.String()))
	if s.Part == pprof.TimeRunnable || s.Start == s.Wake && s.End > s.Wake {
		text = "runnable"
	}
	if at := Place(s.Stack).at(); at != "" {
		text += " at " + Printable(at)
	}
	if k := s.Waker.text(); k != "" {
		text += ", ended by " + Printable(k)
	}
	if d := s.End - s.Wake; d > 0 && s.Wake > s.Start {
		text += ", then runnable " + Duration(d)
	}
	if s.BehindKind != "" {
		text += fmt.Sprintf(", %s behind task %s", Duration(s.Behind), strconv.Quote(s.BehindKind))
	}
	if s.Stopped > 0 {
		text += ", world stopped " + Duration(s.Stopped)
		if s.StopReason != "" {
			text += " (" + Printable(s.StopReason) + ")"
		}
	}
	return text
}

func writePath(b *bufio.Writer, path []Segment, r *Request) {
	if len(path) == 0 || len(path) == 1 && path[0].Stretch == nil {
		return
	}
	tw := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprint(tw, "\nCritical path:\tat\tshare\n")
	keep, rest := longestOf(path, func(s *Segment) time.Duration { return s.End - s.Start })
	for _, s := range keep {
		who := fmt.Sprintf("goroutine %d", s.Goroutine)
		if r != nil {
			who = name(s.Task.Server.Text()) + ", " + who
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\n", who, Duration(s.Start), Duration(s.End-s.Start), s.text())
	}
	tw.Flush()
	rest.write(b, "piece")
}

// text says what a segment is, in a line.
func (s *Segment) text() string {
	if s.Stretch == nil {
		return PartName(s.Part)
	}
	var text []string
	for _, p := range s.pieces() {
		if p.time > 0 {
			text = append(text, strings.ReplaceAll(rowOf(&p).expand(p.word), timeMark, Duration(p.time)))
		}
	}
	return strings.Join(text, "; ")
}

// rest writes calls, notes, goroutines that were left over and what is not there.
func (t *Record) rest(b *bufio.Writer) {
	if len(t.Calls) > 0 {
		tw := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
		fmt.Fprint(tw, "\nCalls:\tat\ttook\n")
		keep, rest := longestOf(t.Calls, func(c *Call) time.Duration { return c.Wall })
		for _, c := range keep {
			fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\n", name(c.Kind), Duration(c.Start), Duration(c.Wall), Printable(c.Remote))
		}
		tw.Flush()
		rest.write(b, "call")
	}
	if t.Outliving > 0 {
		fmt.Fprintf(b, "\n%s went on after its end:\n", Count(t.Outliving, "goroutine"))
		for _, g := range t.Outlived {
			fmt.Fprintf(b, "  goroutine %d, %s, created at %s, in %s\n", g.ID, Printable(g.Func), Printable(g.Created.at()), g.Part)
		}
	}
	if len(t.Notes) > 0 {
		fmt.Fprint(b, "\nNotes:\n")
		for _, n := range t.Notes {
			fmt.Fprintf(b, "  %s: %s\n", Printable(n.Key), strconv.Quote(n.Value))
		}
	}
	list := t.Lost.Words()
	for _, l := range list {
		fmt.Fprintf(b, "\nNot recorded: %s", l)
	}
	if len(list) > 0 {
		fmt.Fprintln(b)
	}
}

// WriteText writes a request as a tree of its tasks, why it took so long, and its critical
// path over all servers.
func (r *Request) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "trace %s: %s, %s on %s\n", r.Trace, Duration(r.Wall), Count(len(r.Nodes), "task"), Count(len(r.Servers), "server"))
	if r.Duplicates > 0 {
		fmt.Fprintf(b, "%s of the same span were left out\n", Count(r.Duplicates, "record"))
	}
	if r.Dropped > 0 {
		fmt.Fprintf(b, "%s were left out: too many\n", Count(r.Dropped, "record"))
	}
	if r.Inconsistent {
		fmt.Fprintln(b, "the servers' clocks changed meanwhile: times of different servers may be wrong")
	}
	tw := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprint(tw, "\nTasks:\tat\ttook\tserver\n")
	depth := make(map[*Node]int)
	shown := 0
	var tree func(n *Node)
	tree = func(n *Node) {
		if shown++; shown <= 4*textRows {
			d := min(depth[n], 10)
			fmt.Fprintf(tw, "  %s%s\t%s\t%s\t%s\n", strings.Repeat("  ", d), name(n.Task.Kind), Duration(n.Start), Duration(n.Task.Wall), name(n.Task.Server.Text()))
		}
	}
	for stack := slices.Clone(r.Roots); len(stack) > 0; {
		n := stack[0]
		stack = stack[1:]
		tree(n)
		for _, c := range n.Children {
			depth[c] = depth[n] + 1
		}
		stack = append(slices.Clone(n.Children), stack...)
	}
	tw.Flush()
	if shown > 4*textRows {
		fmt.Fprintf(b, "  and %s\n", Count(shown-4*textRows, "other"))
	}
	var skew time.Duration
	for _, s := range r.Servers {
		skew = max(skew, s.Offset, -s.Offset)
	}
	if skew >= time.Millisecond {
		fmt.Fprint(tw, "\nClocks moved:\tby\n")
		for _, s := range r.Servers {
			text := "nothing bounds it"
			if s.Error >= 0 {
				text = "within " + Duration(s.Error)
			}
			fmt.Fprintf(tw, "  %s\t%s\t%s\n", name(s.Server.Text()), Duration(s.Offset), text)
		}
		tw.Flush()
	}
	writeCauses(b, r.Causes(), r)
	writePath(b, r.CriticalPath(), r)
	return b.Flush()
}
