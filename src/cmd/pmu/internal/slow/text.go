// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package slow

import (
	"bufio"
	"cmd/pmu/internal/htmltext"
	"fmt"
	"internal/taskrecord"
	"io"
	"strconv"
	"text/tabwriter"
	"time"
)

// Bounds of the text.
const (
	textRows   = 10
	maxName    = 200
	maxUnknown = 0.1
)

// WriteText writes the comparisons. Any error is from w.
func (p *Profile) WriteText(w io.Writer, list []*Comparison) error {
	for i, c := range list {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := c.WriteText(w); err != nil {
			return err
		}
	}
	return nil
}

// Notes returns sentences: why there are no rows, and what limits them.
func (c *Comparison) Notes() (list []string) {
	switch {
	case c.Slow.Value == 0:
		list = append(list, "No slow request has a sample.")
	case c.Usual.Value == 0:
		list = append(list, "No usual request has a sample to compare with.")
	case c.Traces == 0:
		list = append(list, "Samples do not say which slow request they are of. So nobody can say whether these are alike.")
	case c.Traces == 1:
		list = append(list, "All that is known is of one slow request. So nobody can say whether others would do the same.")
	case len(c.Rows) == 0:
		list = append(list, "No code was found to have a larger share in slow requests, beyond the error.")
	case c.Slow.Requests > int64(c.Traces):
		list = append(list, fmt.Sprintf("Shares of slow requests are of %d of them, whose samples have the label trace.", c.Traces))
	}
	if c.Known() && c.UsualTraces < 2 {
		list = append(list, "Samples do not say which usual request they are of. So how much these differ is a guess.")
	}
	if c.Unknown > maxUnknown {
		list = append(list, fmt.Sprintf("%.0f %% as many samples again are of requests that ended after the profile, or later than samples wait. Long requests may be missing.", 100*c.Unknown/(1-min(c.Unknown, 0.99))))
	}
	if c.Slow.Requests+c.Usual.Requests == 0 {
		list = append(list, "The profile does not say how many requests of this kind there were.")
	}
	return list
}

// WriteText writes what slow requests do more than usual ones, in words. Any error is from w.
func (c *Comparison) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s, kind %s:\n", htmltext.Clean(c.Event, maxName), strconv.Quote(htmltext.Clean(c.Kind, maxName)))
	c.writeGroup(b, "slow", &c.Slow)
	c.writeGroup(b, "usual", &c.Usual)
	if len(c.Rows) > 0 {
		c.writeRows(b)
	}
	for _, note := range c.Notes() {
		fmt.Fprintf(b, "  %s\n", note)
	}
	return b.Flush()
}

func (c *Comparison) writeGroup(b *bufio.Writer, name string, g *Group) {
	n := int64(g.Samples + 0.5)
	fmt.Fprintf(b, "  %-5s ", name)
	if v, ok := g.PerRequest(); ok {
		fmt.Fprintf(b, " %s, %s each", taskrecord.Count(g.Requests, "request"), c.amount(v))
	} else {
		fmt.Fprintf(b, " %s", c.amount(float64(g.Value)))
	}
	fmt.Fprintf(b, ", in %s\n", taskrecord.Count(n, "sample"))
}

func (c *Comparison) writeRows(b *bufio.Writer) {
	_, each := c.Slow.PerRequest()
	fmt.Fprint(b, "\n")
	tw := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	title := "  more by\tof slow\tof usual\t"
	if each {
		title += "a slow request\ta usual one\t"
	}
	fmt.Fprintln(tw, title+"in")
	for i := range c.Rows[:min(len(c.Rows), textRows)] {
		r := &c.Rows[i]
		fmt.Fprintf(tw, "  %.1f ±%.1f %%\t%.1f %%\t%.1f %%\t", 100*r.more(), 100*r.Error, 100*r.Slow, 100*r.Usual)
		if each {
			usual := "?"
			if c.Usual.Requests > 0 {
				usual = c.amount(r.PerUsual)
			}
			fmt.Fprintf(tw, "%s\t%s\t", c.amount(r.PerSlow), usual)
		}
		fmt.Fprintln(tw, r.where())
	}
	tw.Flush()
	if more := len(c.Rows) - textRows; more > 0 {
		fmt.Fprintf(b, "  and %d more\n", more)
	}
	fmt.Fprint(b, "\n")
}

// where says which function, and what has called it.
func (r *Row) where() string { return htmltext.Callers(r.Stack) }

// amount returns so much of the event.
func (c *Comparison) amount(v float64) string {
	if c.Unit == "nanoseconds" {
		return taskrecord.Duration(time.Duration(v))
	}
	return strconv.FormatFloat(v, 'f', precision(v), 64)
}

// precision returns how many digits after the point leave v three digits.
func precision(v float64) (n int) {
	for ; v != 0 && v < 100 && n < 6; n++ {
		v *= 10
	}
	return n
}
