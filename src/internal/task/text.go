// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"iter"
	"math"
	"math/bits"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// Limits of the texts, which are for a screen.
const (
	textKinds   = 1000 // that a report has by themselves; see overflowKind
	textSlowest = 10   // tasks of a report
	textReasons = 20   // of a report
	textRows    = 16   // of a list in the text of one task: the longest ones
	textHazards = 5
	textName    = 40 // letters of a name in a table
)

// overflowKind is the kind in a report of tasks of kinds that are too many.
const overflowKind = "other"

// WriteText writes a report of tasks: how many there were of each kind and how long they
// took, why the slow ones were slow, summed up, and the slowest ones. Percentiles are exact to 3 %.
// What it keeps in memory does not grow with the number of tasks.
func WriteText(w io.Writer, tasks iter.Seq[*Task]) error {
	var s Summary
	for t := range tasks {
		s.Add(t)
	}
	return s.WriteText(w)
}

// A Summary sums up tasks by kind. The zero Summary is ready.
type Summary struct {
	Tasks, Slow, Failed, Lost int64

	kinds   map[string]*kindSummary
	slowest []*Task // of all kinds
	reasons Reasons
	servers map[string]bool
}

type kindSummary struct {
	name                string
	tasks, slow, failed int64
	longest             time.Duration
	histogram           [64 << subBits]uint32
}

// Add adds a task.
func (s *Summary) Add(t *Task) {
	if s.kinds == nil {
		s.kinds = make(map[string]*kindSummary)
		s.servers = make(map[string]bool)
	}
	if t.Server != nil && len(s.servers) < textKinds {
		s.servers[fmt.Sprint(t.Server.Name, "\x00", t.Server.ID, "\x00", t.Server.PID)] = true
	}
	name := t.Kind
	k := s.kinds[name]
	if k == nil && len(s.kinds) >= textKinds {
		name = overflowKind
		k = s.kinds[name]
	}
	if k == nil {
		k = &kindSummary{name: name}
		s.kinds[name] = k
	}
	d := length(t.Wall)
	k.tasks++
	s.Tasks++
	s.Lost += max(0, t.Lost.Before)
	k.longest = max(k.longest, d)
	if n := &k.histogram[bucket(d)]; *n < math.MaxUint32 {
		*n++
	}
	if t.Flags&Failed != 0 {
		k.failed++
		s.Failed++
	}
	if t.Flags&Slow != 0 {
		k.slow++
		s.Slow++
		s.reasons.Add(t)
	}
	i, _ := slices.BinarySearchFunc(s.slowest, t, func(a, b *Task) int {
		return cmp.Or(cmp.Compare(b.Wall, a.Wall), cmp.Compare(a.Start, b.Start))
	})
	if i < textSlowest {
		s.slowest = slices.Insert(s.slowest, i, t)
		s.slowest = s.slowest[:min(len(s.slowest), textSlowest)]
	}
}

// subBits is the logarithm of the number of buckets for each power of two.
const subBits = 5

// bucket returns the bucket of a duration, which is one of itself if it is short, or of
// those up to 1/32 longer.
func bucket(d time.Duration) int {
	v := uint64(max(0, d))
	shift := max(0, bits.Len64(v)-subBits-1)
	return shift<<subBits + int(v>>shift)
}

// bucketEnd returns the longest duration in a bucket.
func bucketEnd(i int) time.Duration {
	if i < 2<<subBits {
		return time.Duration(i)
	}
	shift := i>>subBits - 1
	return time.Duration((uint64(i-shift<<subBits)+1)<<shift - 1)
}

// percentile returns the duration that so many of 100 tasks don't exceed.
func (k *kindSummary) percentile(p int) time.Duration {
	rank := max(1, (k.tasks*int64(p)+99)/100)
	for i, n := range k.histogram {
		if rank -= int64(n); rank <= 0 {
			return min(bucketEnd(i), k.longest)
		}
	}
	return k.longest
}

// WriteText writes the report.
func (s *Summary) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s of %s on %s: %d slow, %d failed\n", count(s.Tasks, "task"),
		count(int64(len(s.kinds)), "kind"), count(int64(len(s.servers)), "server"), s.Slow, s.Failed)
	if s.Lost > 0 {
		fmt.Fprintf(b, "%s were lost: they were not read in time\n", count(s.Lost, "record"))
	}
	if s.Tasks == 0 {
		return b.Flush()
	}
	var kinds []*kindSummary
	for _, k := range s.kinds {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b *kindSummary) int {
		return cmp.Or(cmp.Compare(b.longest, a.longest), cmp.Compare(a.name, b.name))
	})
	fmt.Fprintln(b)
	tw := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprint(tw, "KIND\tCOUNT\tSLOW\tFAILED\tP50\tP99\tMAX\n")
	for _, k := range kinds {
		fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t%s\t%s\t%s\n", name(k.name), k.tasks, k.slow, k.failed,
			inUnits(k.percentile(50)), inUnits(k.percentile(99)), inUnits(k.longest))
	}
	tw.Flush()
	reasons := s.reasons.List()
	if len(reasons) > 0 {
		fmt.Fprint(b, "\nWhy slow ones were slow:\n")
	}
	for i, r := range reasons {
		if i == textReasons {
			fmt.Fprintf(b, "and %s\n", count(int64(len(reasons)-i), "other reason"))
			break
		}
		fmt.Fprintf(tw, "%s\t%s\n", name(r.Kind), r)
	}
	tw.Flush()
	fmt.Fprintf(b, "\nThe slowest:\n")
	for _, t := range s.slowest {
		why := ""
		if list := t.Hazards(); len(list) > 0 {
			why = s.reasons.Words(&list[0])
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", inUnits(t.Wall), name(t.Kind), t.Trace, why)
	}
	tw.Flush()
	return b.Flush()
}

// WriteText writes what there is to say about a task: what it is, why it took so long,
// where the time went, what it waited for, the critical path, and notes, which may hold
// secrets; see [Task.Public]. Of long lists it has what took longest.
func (t *Task) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	t.header(b)
	path := t.CriticalPath()
	writeHazards(b, t.Hazards(), nil)
	t.account(b, t.latency(path))
	t.timeline(b)
	writePath(b, path, nil)
	t.rest(b)
	return b.Flush()
}

func (t *Task) header(b *bufio.Writer) {
	fmt.Fprintf(b, "task %s on %s: %s", strconv.Quote(t.Kind), t.Server.text(), inUnits(t.Wall))
	for _, f := range AllFlags {
		if t.Flags&f.Flag == 0 {
			continue
		}
		fmt.Fprintf(b, ", %s", f.Words)
		if f.Flag == Slow && t.Threshold > 0 {
			fmt.Fprintf(b, " (above %s)", inUnits(t.Threshold))
		}
	}
	fmt.Fprintf(b, "\ntrace %s span %s", t.Trace, t.Span)
	if t.Parent != (SpanID{}) {
		fmt.Fprintf(b, " parent %s", t.Parent)
	}
	fmt.Fprintf(b, "\nbegan %s\n", time.Unix(0, t.Start).UTC().Format("2006-01-02 15:04:05.000000 UTC"))
	fmt.Fprintf(b, "%s, %s, %s, %s\n", count(t.Goroutines, "goroutine"), plural(t.Switches, "switch", "switches"),
		count(t.Preemptions, "preemption"), count(t.Migrations, "migration"))
	if t.Trigger != "" {
		fmt.Fprintf(b, "execution trace in %s\n", printable(t.Trigger))
	}
}

// text returns the server's name, or what else identifies it.
func (s *Server) text() string {
	switch {
	case s == nil:
		return "a server"
	case s.Name != "":
		return printable(s.Name)
	case s.ID != 0:
		return fmt.Sprintf("server %d", s.ID)
	}
	return fmt.Sprintf("process %d", s.PID)
}

func writeHazards(b *bufio.Writer, list []Hazard, r *Request) {
	if len(list) == 0 {
		return
	}
	fmt.Fprint(b, "\nWhy, by time on the critical path:\n")
	for i, h := range list {
		if i == textHazards {
			fmt.Fprintf(b, "  and %s\n", count(int64(len(list)-i), "lesser reason"))
			break
		}
		where := ""
		if r != nil {
			where = fmt.Sprintf(" (task %s on %s)", strconv.Quote(h.Task.Kind), h.Task.Server.text())
		}
		fmt.Fprintf(b, "  %s%s\n", h, where)
	}
}

// account writes the parts of the latency and of the cost, and counts, beside the usual ones.
func (t *Task) account(b *bufio.Writer, latency Latency) {
	tw := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	header := "\nWhere the time went:\tlatency\tcost, over all goroutines"
	var usual *Usual
	if u := t.Usual; u != nil {
		usual = u
		header += fmt.Sprintf("\tusual cost (%s, %s)", count(u.Tasks, "task"), inUnits(u.Wall))
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
		fmt.Fprintf(tw, "  %s\t%s\t%s", PartName(Part(p)), inUnits(latency[p]), inUnits(cost[p]))
		if usual != nil {
			fmt.Fprintf(tw, "\t%s", inUnits(usualCost[p]))
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
	keep, rest := longestOf(t.Regions, func(g *Region) time.Duration { return g.Wall })
	for _, g := range keep {
		fmt.Fprintf(tw, "  %s\t%d\t%s\t%s\t%s\n", name(g.Name), g.N, inUnits(g.Wall), inUnits(g.Max), inUnits(g.Parts[pprof.TimeRunning]))
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
		fmt.Fprintf(b, "  and %s, of %s\n", count(o.n, "shorter "+what), inUnits(o.time))
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

func (t *Task) timeline(b *bufio.Writer) {
	if len(t.Timeline) == 0 {
		return
	}
	tw := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprint(tw, "\nTimeline:\tat\ttook\n")
	keep, rest := longestOf(t.Timeline, func(s *Stretch) time.Duration { return s.End - s.Start })
	for _, s := range keep {
		fmt.Fprintf(tw, "  goroutine %d\t%s\t%s\t%s\n", s.Goroutine, inUnits(s.Start), inUnits(s.End-s.Start), s.text())
	}
	tw.Flush()
	rest.write(b, "one")
}

// text says what a stretch is, in a line.
func (s *Stretch) text() string {
	if s.Region != "" {
		return "region " + strconv.Quote(s.Region)
	}
	text := printable(cmp.Or(s.Reason, s.Part.String()))
	if s.Part == pprof.TimeRunnable || s.Start == s.Wake && s.End > s.Wake {
		text = "runnable"
	}
	if at := Place(s.Stack).at(); at != "" {
		text += " at " + printable(at)
	}
	if k := s.Waker.text(); k != "" {
		text += ", ended by " + printable(k)
	}
	if d := s.End - s.Wake; d > 0 && s.Wake > s.Start {
		text += ", then runnable " + inUnits(d)
	}
	if s.BehindKind != "" {
		text += fmt.Sprintf(", %s behind task %s", inUnits(s.Behind), strconv.Quote(s.BehindKind))
	}
	if s.Stopped > 0 {
		text += ", world stopped " + inUnits(s.Stopped)
		if s.StopReason != "" {
			text += " (" + printable(s.StopReason) + ")"
		}
	}
	return text
}

func writePath(b *bufio.Writer, path []Segment, r *Request) {
	if len(path) == 0 || len(path) == 1 && path[0].Stretch == nil {
		return
	}
	tw := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprint(tw, "\nCritical path:\tat\ttook\n")
	keep, rest := longestOf(path, func(s *Segment) time.Duration { return s.End - s.Start })
	for _, s := range keep {
		who := fmt.Sprintf("goroutine %d", s.Goroutine)
		if r != nil {
			who = name(s.Task.Server.text()) + ", " + who
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\n", who, inUnits(s.Start), inUnits(s.End-s.Start), s.text())
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
			text = append(text, strings.ReplaceAll(causeOf(&p).expand(p.word), timeMark, inUnits(p.time)))
		}
	}
	return strings.Join(text, "; ")
}

// rest writes calls, notes, goroutines that were left over and what is not there.
func (t *Task) rest(b *bufio.Writer) {
	if len(t.Calls) > 0 {
		tw := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
		fmt.Fprint(tw, "\nCalls:\tat\ttook\n")
		keep, rest := longestOf(t.Calls, func(c *Call) time.Duration { return c.Wall })
		for _, c := range keep {
			fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\n", name(c.Kind), inUnits(c.Start), inUnits(c.Wall), printable(c.Remote))
		}
		tw.Flush()
		rest.write(b, "call")
	}
	if t.Outliving > 0 {
		fmt.Fprintf(b, "\n%s went on after its end:\n", count(t.Outliving, "goroutine"))
		for _, g := range t.Outlived {
			fmt.Fprintf(b, "  goroutine %d, %s, created at %s, in %s\n", g.ID, printable(g.Func), printable(g.Created.at()), g.Part)
		}
	}
	if len(t.Notes) > 0 {
		fmt.Fprint(b, "\nNotes:\n")
		for _, n := range t.Notes {
			fmt.Fprintf(b, "  %s: %s\n", printable(n.Key), strconv.Quote(n.Value))
		}
	}
	for _, l := range []struct {
		n    int64
		text string
	}{
		{t.Lost.Stretches, fmt.Sprintf("waits, the shortest ones, of %s", inUnits(t.Lost.StretchesTime))},
		{t.Lost.Memory, "waits, for which there was no memory"},
		{t.Lost.Regions, "regions, of names that were too many"},
		{t.Lost.Calls, "calls, the shortest ones"},
		{t.Lost.Notes, "notes, too many or too long"},
		{t.Lost.Before, "records before this one"},
	} {
		if l.n > 0 {
			fmt.Fprintf(b, "\nNot recorded: %d %s", l.n, l.text)
		}
	}
	if t.Lost != (Lost{}) {
		fmt.Fprintln(b)
	}
}

// WriteText writes a request as a tree of its tasks, why it took so long, and its critical
// path over all servers.
func (r *Request) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "trace %s: %s, %s on %s\n", r.Trace, inUnits(r.Wall), count(int64(len(r.Nodes)), "task"), count(int64(len(r.Servers)), "server"))
	if r.Duplicates > 0 {
		fmt.Fprintf(b, "%s of the same span were left out\n", count(r.Duplicates, "record"))
	}
	if r.Dropped > 0 {
		fmt.Fprintf(b, "%s were left out: too many\n", count(r.Dropped, "record"))
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
			fmt.Fprintf(tw, "  %s%s\t%s\t%s\t%s\n", strings.Repeat("  ", d), name(n.Task.Kind), inUnits(n.Start), inUnits(n.Task.Wall), name(n.Task.Server.text()))
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
		fmt.Fprintf(b, "  and %s\n", count(int64(shown-4*textRows), "other"))
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
				text = "within " + inUnits(s.Error)
			}
			fmt.Fprintf(tw, "  %s\t%s\t%s\n", name(s.Server.text()), inUnits(s.Offset), text)
		}
		tw.Flush()
	}
	writeHazards(b, r.Hazards(), r)
	writePath(b, r.CriticalPath(), r)
	return b.Flush()
}

func count(n int64, what string) string { return plural(n, what, what+"s") }

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(n, 10) + " " + many
}

// name returns a name for a table: not long, and without what separates columns.
func name(s string) string {
	r := []rune(printable(s))
	if len(r) > textName {
		r = append(r[:textName-3], '.', '.', '.')
	}
	return string(r)
}
