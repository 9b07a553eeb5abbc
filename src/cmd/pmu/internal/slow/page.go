// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package slow

import (
	"cmd/pmu/internal/ratio"
	"fmt"
	"internal/profile"
	"strconv"
	"strings"
)

// pageRows is how many rows a page has above its flame graph.
const pageRows = 5

// Page returns a comparison as a flame graph. It is as wide as what slow requests have executed, and its
// colours are how much of that usual ones have. Both groups have to have samples.
func (p *Profile) Page(c *Comparison) (*ratio.Profile, error) {
	g := &ratio.Groups{
		Column: c.event.column,
		Period: c.event.period,
		Names:  [2]string{c.Event + " of slow requests", c.Event + " of usual ones"},
		Of: func(s *profile.Sample) int {
			switch {
			case label(s, labelKind) != c.Kind:
				return -1
			case verdictOf(s) == "yes":
				return 0
			case verdictOf(s) == "no":
				return 1
			}
			return -1
		},
	}
	if c.Slow.Requests > 0 && c.Usual.Requests > 0 {
		g.Title = fmt.Sprintf("%s, %s of a slow request per that of a usual one", strconv.Quote(c.Kind), c.Event)
		g.Factor = float64(c.Usual.Requests) / float64(c.Slow.Requests)
	} else {
		g.Title = fmt.Sprintf("%s, share of slow requests' %s per that of usual ones'", strconv.Quote(c.Kind), c.Event)
		g.Factor = float64(c.Usual.Value) / float64(c.Slow.Value)
	}
	for i := range c.Rows[:min(len(c.Rows), pageRows)] {
		r := &c.Rows[i]
		g.Notes = append(g.Notes, fmt.Sprintf("Slow requests spend %.1f ±%.1f %% more of theirs in %s.", 100*r.more(), 100*r.Error, r.where()))
	}
	g.Notes = append(g.Notes, c.Notes()...)
	g.Notes = append(g.Notes, "The errors of frames are as if each sample were of another request. A frame of the colour of the whole has the same share in both groups.")
	for _, comment := range p.raw.Comments {
		if warning, ok := strings.CutPrefix(comment, "warning: "); ok {
			g.Notes = append(g.Notes, "The profile warns: "+warning)
		}
	}
	return ratio.Compare(p.raw, g)
}
