// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package latency

import (
	"bufio"
	"cmd/pmu/internal/htmltext"
	"fmt"
	"internal/taskrecord"
	"io"
	"strconv"
	"text/tabwriter"
)

// Bounds of the text.
const (
	maxName = 200
)

// WriteText writes where the latency of a kind goes, in words. Any error is from w.
func (k *Kind) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "latency, kind %s:\n", strconv.Quote(htmltext.Clean(k.Name, maxName)))
	fmt.Fprintf(b, "  slow   %s\n", k.groupText(isSlow))
	fmt.Fprintf(b, "  usual  %s\n\n", k.groupText(isUsual))
	tw := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "  a slow request\ta usual one\tin")
	for _, r := range k.Rows() {
		indent := "  "
		if len(r.Stack) > 0 {
			indent = "    "
		} else if r.Part == k.tree.root.name {
			indent = ""
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s%s\n", k.cell(isSlow, &r), k.cell(isUsual, &r), indent, r.where())
	}
	tw.Flush()
	fmt.Fprintln(b)
	for _, note := range k.Notes() {
		fmt.Fprintf(b, "  %s\n", note)
	}
	return b.Flush()
}

// cell says how much a request of a group has of a row.
func (k *Kind) cell(g int, r *Row) string {
	switch {
	case k.group[g].Requests == 0:
		return "?"
	case g == isSlow:
		return taskrecord.Duration(r.Slow)
	case r.AtMost:
		return "at most " + taskrecord.Duration(r.Usual)
	}
	return taskrecord.Duration(r.Usual)
}

// where says what a row is of: the part, or which function and what has called it.
func (r *Row) where() string {
	if len(r.Stack) == 0 {
		return htmltext.Clean(r.Part, maxName)
	}
	return htmltext.Callers(r.Stack)
}
