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
	"strings"
	"text/tabwriter"
	"time"
)

// Bounds of the text.
const (
	textRows    = 10
	textCallers = 4
	maxName     = 200
	maxUnknown  = 0.01 // of the samples
)

// WriteText writes the comparisons, and what the profile does not say. Any error is from w.
func (p *Profile) WriteText(w io.Writer, list []*Comparison) error {
	for i, c := range list {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := c.WriteText(w); err != nil {
			return err
		}
	}
	_, err := fmt.Fprint(w, p.notes())
	return err
}

// notes returns lines on what the profile does not say.
func (p *Profile) notes() (s string) {
	if p.unknown > maxUnknown {
		s += fmt.Sprintf("\nOf the samples of requests, %.1f %% are of neither group: these requests ended after the profile, or later than samples wait. A longer profile has fewer.\n", 100*p.unknown)
	}
	if p.requests == nil {
		s += "\nThe profile does not say how many requests there were: it is of an older program, or made of several profiles.\n"
	}
	return s
}

// WriteText writes what slow requests do more than usual ones, in words. Any error is from w.
func (c *Comparison) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s, kind %s:\n", htmltext.Clean(c.Event, maxName), strconv.Quote(htmltext.Clean(c.Kind, maxName)))
	c.writeGroup(b, "slow", &c.Slow)
	c.writeGroup(b, "usual", &c.Usual)
	switch {
	case c.Slow.Value == 0:
		fmt.Fprint(b, "  No slow request has a sample.\n")
	case c.Usual.Value == 0:
		fmt.Fprint(b, "  No usual request has a sample to compare with.\n")
	case c.Traces == 1:
		fmt.Fprint(b, "  All that is known is of one slow request: nobody can say if others would do the same.\n")
	case len(c.Rows) == 0:
		fmt.Fprint(b, "  No code has a larger share in slow requests, beyond the error.\n")
	default:
		c.writeRows(b)
	}
	if c.Known() && c.Traces == 0 {
		fmt.Fprint(b, "  Samples do not say which request they are of, so errors are as if each were of another.\n")
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
		fmt.Fprintf(tw, "  %.1f ±%.1f %%\t%.1f %%\t%.1f %%\t", 100*(r.Slow-r.Usual), 100*r.Error, 100*r.Slow, 100*r.Usual)
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
}

// where says which function, and what has called it.
func (r *Row) where() string {
	var list []string
	for _, name := range r.Stack[:min(len(r.Stack), 1+textCallers)] {
		list = append(list, htmltext.Clean(name, maxName))
	}
	s := strings.Join(list, " < ")
	if len(r.Stack) > 1+textCallers {
		s += " < ..."
	}
	return s
}

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
