// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package diagram

import (
	"fmt"
	"internal/taskrecord"
	"io"
	"strconv"
	"strings"
	"time"
)

// A PartsRow is a bar in a diagram of parts of time.
type PartsRow struct {
	Name  string
	Parts [taskrecord.NumParts]time.Duration
}

// maxPartsRows is how many bars are drawn; the rest is drawn as one.
const maxPartsRows = 50

// Sizes of the diagram.
const (
	ptWidth  = 700.0
	ptGutter = 170.0 // for the names
	ptBar    = ptWidth - ptGutter - 70
	ptRow    = 24.0
)

// WriteParts writes a diagram of where time went: a stacked bar for each row, each as
// wide as the others, as SVG. From the 50th on, the rows are added up. Any error is from w.
func WriteParts(w io.Writer, rows []PartsRow) error {
	if len(rows) > maxPartsRows {
		rest := PartsRow{Name: fmt.Sprintf("%d others", len(rows)-maxPartsRows+1)}
		for _, r := range rows[maxPartsRows-1:] {
			for p, d := range r.Parts {
				rest.Parts[p] = satAdd(rest.Parts[p], d)
			}
		}
		rows = append(rows[:maxPartsRows-1:maxPartsRows-1], rest)
	}
	b := &svgWriter{id: "gotask-p"}
	var desc strings.Builder
	y := 6.0
	for _, r := range rows {
		b.partsRow(&desc, y, r)
		y += ptRow
	}
	y = b.legend(ptGutter, y+6, ptWidth-ptGutter)
	return b.finish(w, ptWidth, y+2, "Where the time of goroutines went", desc.String())
}

// partsRow appends a bar and its texts, and says the same in desc.
func (b *svgWriter) partsRow(desc *strings.Builder, y float64, r PartsRow) {
	sum := time.Duration(0)
	for _, d := range r.Parts {
		sum = satAdd(sum, d)
	}
	b.put("<g>")
	b.title(r.Name, taskrecord.Duration(sum)+" of goroutines' time")
	b.label(ptGutter-8, y+14, ptGutter-12, "end", "", r.Name)
	b.put("</g>")
	fmt.Fprintf(desc, "%s: %s", cut(r.Name, 40), taskrecord.Duration(sum))
	x := ptGutter
	for p, d := range r.Parts {
		if d <= 0 {
			continue
		}
		p := taskrecord.Part(p)
		share := float64(d) / float64(sum)
		pct := percent(share)
		fmt.Fprintf(desc, ", %v %s", p, pct)
		w := ptBar * share
		b.put("<g>")
		b.box(p, x, y, w, ptRow-6)
		b.put(">")
		b.title(r.Name, fmt.Sprintf("%v %s, %s", p, taskrecord.Duration(d), pct))
		b.put("</rect>")
		b.firstThatFits(p, x, y+13, w, []string{p.String() + " " + pct, p.String()})
		b.put("</g>\n")
		x += w
	}
	if sum <= 0 {
		b.put("<text class=\"dim\" x=\"%\" y=\"%\">no time</text>\n", ptGutter, y+14)
	}
	b.put("<text class=\"dim\" x=\"%\" y=\"%\" text-anchor=\"end\">%</text>\n", ptWidth-2, y+14, taskrecord.Duration(sum))
	desc.WriteString(". ")
}

func percent(share float64) string {
	if x := share * 100; x < 9.95 {
		return strconv.FormatFloat(x, 'f', 1, 64) + "%"
	} else {
		return strconv.FormatFloat(x, 'f', 0, 64) + "%"
	}
}

// satAdd returns the sum of a and b, neither of which counts if it is negative.
func satAdd(a, b time.Duration) time.Duration {
	a, b = max(a, 0), max(b, 0)
	if s := a + b; s >= 0 {
		return s
	}
	return 1<<63 - 1
}
