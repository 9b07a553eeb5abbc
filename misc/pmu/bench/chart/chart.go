// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package chart draws line charts and bar charts as SVG, for light and dark
// pages.
package chart

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// A Point is a value with the range that it was seen in.
type Point struct {
	X, Y      float64
	Low, High float64 // both 0 if there is none
}

// A Series is a named line, or the bars of one colour.
type Series struct {
	Name   string
	Points []Point
	Dashed bool
}

// A Chart has lines over a numeric axis, or with Groups, bars in groups: then a
// point's X is its group's index.
type Chart struct {
	Title, XLabel, YLabel string
	LogX                  bool // with XTicks
	Groups                []string
	MinY                  float64 // where the axis begins at the latest
	XTicks                []float64
	XFormat               func(float64) string // of a tick; nil for a number
	Series                []Series
}

const (
	width, height       = 760, 420
	left, right         = 70, 20
	top, bottom         = 44, 96
	plotWidth           = width - left - right
	plotHeight          = height - top - bottom
	style               = "text{font:13px system-ui,sans-serif;fill:#222}.t{font-size:15px;font-weight:600}.g{stroke:#8884;stroke-width:1}.a{stroke:#888}rect.b{fill:#fff}@media(prefers-color-scheme:dark){text{fill:#ddd}rect.b{fill:#1b1b1f}}"
	legendY, legendLine = height - 40, 18
)

// colours can be told apart by the colour-blind (Okabe and Ito).
var colours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999", "#f0e442"}

// SVG returns the chart as an SVG document.
func (c *Chart) SVG() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n<style>%s</style>\n<rect class=\"b\" width=\"%d\" height=\"%d\"/>\n", html.EscapeString(c.Title), style, width, height)
	text(&b, left, 24, "start", "t", c.Title)
	x, y := c.xAxis(), c.yAxis()
	for _, v := range y.ticks {
		py := float64(top+plotHeight) - y.at(v)*plotHeight
		fmt.Fprintf(&b, "<line class=\"g\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n", left, py, width-right, py)
		text(&b, left-8, py+4, "end", "", number(v))
	}
	fmt.Fprintf(&b, "<line class=\"a\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n", left, top+plotHeight, width-right, top+plotHeight)
	for i, v := range x.ticks {
		label := number(v)
		switch {
		case c.Groups != nil:
			label = c.Groups[i]
		case c.XFormat != nil:
			label = c.XFormat(v)
		}
		text(&b, left+x.at(v)*plotWidth, top+plotHeight+18, "middle", "", label)
	}
	text(&b, left+plotWidth/2, top+plotHeight+38, "middle", "", c.XLabel)
	fmt.Fprintf(&b, "<text transform=\"translate(18 %d) rotate(-90)\" text-anchor=\"middle\">%s</text>\n", top+plotHeight/2, html.EscapeString(c.YLabel))
	for i, s := range c.Series {
		if c.Groups != nil {
			c.bars(&b, i, s, x, y)
		} else {
			line(&b, i, s, x, y)
		}
	}
	c.legend(&b)
	b.WriteString("</svg>\n")
	return b.String()
}

func text(b *strings.Builder, x, y float64, anchor, class, s string) {
	if class != "" {
		class = " class=\"" + class + "\""
	}
	fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>%s</text>\n", x, y, anchor, class, html.EscapeString(s))
}

func line(b *strings.Builder, i int, s Series, x, y axis) {
	colour, dash := colours[i%len(colours)], ""
	if s.Dashed {
		dash = " stroke-dasharray=\"6 4\""
	}
	var path []string
	for _, p := range s.Points {
		path = append(path, fmt.Sprintf("%.1f,%.1f", left+x.at(p.X)*plotWidth, top+plotHeight*(1-y.at(p.Y))))
	}
	fmt.Fprintf(b, "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s/>\n", strings.Join(path, " "), colour, dash)
	for _, p := range s.Points {
		px := left + x.at(p.X)*plotWidth
		whisker(b, px, p, y, colour)
		fmt.Fprintf(b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n", px, top+plotHeight*(1-y.at(p.Y)), colour)
	}
}

func (c *Chart) bars(b *strings.Builder, i int, s Series, x, y axis) {
	w := 0.8 * plotWidth / float64(len(c.Groups)) / float64(len(c.Series))
	for _, p := range s.Points {
		px := left + x.at(p.X)*plotWidth + (float64(i)-float64(len(c.Series))/2)*w
		h := plotHeight * y.at(p.Y)
		fmt.Fprintf(b, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", px, top+plotHeight-h, w*0.92, h, colours[i%len(colours)])
		whisker(b, px+w*0.46, p, y, "#666")
	}
}

func whisker(b *strings.Builder, px float64, p Point, y axis, colour string) {
	if p.Low == 0 && p.High == 0 {
		return
	}
	fmt.Fprintf(b, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", px, top+plotHeight*(1-y.at(p.Low)), px, top+plotHeight*(1-y.at(p.High)), colour)
}

func (c *Chart) legend(b *strings.Builder) {
	px, py := float64(left), float64(legendY)
	for i, s := range c.Series {
		w := 34 + 7.2*float64(len([]rune(s.Name)))
		if px+w > width-right && px > left {
			px, py = left, py+legendLine
		}
		fmt.Fprintf(b, "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" fill=\"%s\"/>\n", px, py-10, colours[i%len(colours)])
		text(b, px+17, py, "start", "", s.Name)
		px += w
	}
}

// An axis maps its range to 0..1.
type axis struct {
	low, high float64
	log       bool
	ticks     []float64
}

func (a axis) at(v float64) float64 {
	low, high := a.low, a.high
	if a.log {
		v, low, high = math.Log(math.Max(v, low)), math.Log(low), math.Log(high)
	}
	if high == low {
		return 0.5
	}
	return math.Max(0, math.Min(1, (v-low)/(high-low)))
}

func (c *Chart) xAxis() axis {
	if c.Groups != nil {
		a := axis{low: -0.5, high: float64(len(c.Groups)) - 0.5}
		for i := range c.Groups {
			a.ticks = append(a.ticks, float64(i))
		}
		return a
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range c.Series {
		for _, p := range s.Points {
			low, high = math.Min(low, p.X), math.Max(high, p.X)
		}
	}
	a := axis{low: low, high: high, log: c.LogX, ticks: c.XTicks}
	if a.ticks == nil {
		a.ticks = ticks(low, high)
	}
	return a
}

func (c *Chart) yAxis() axis {
	low, high := c.MinY, math.Inf(-1)
	for _, s := range c.Series {
		for _, p := range s.Points {
			for _, v := range []float64{p.Y, p.Low, p.High} {
				if v == 0 && p.Y != 0 {
					continue
				}
				low, high = math.Min(low, v), math.Max(high, v)
			}
		}
	}
	a := axis{low: low, high: high, ticks: ticks(low, high)}
	if n := len(a.ticks); n > 1 {
		a.high = math.Max(high, a.ticks[n-1])
	}
	return a
}

// ticks returns round values from low to high.
func ticks(low, high float64) (t []float64) {
	if high <= low {
		return []float64{low}
	}
	step := math.Pow(10, math.Floor(math.Log10((high-low)/4)))
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		if (high-low)/(step*m) <= 6 {
			step *= m
			break
		}
	}
	for i := math.Ceil(low/step - 1e-9); i*step < high+step*0.999; i++ {
		t = append(t, i*step+0) // no -0
	}
	return t
}

func number(v float64) string {
	switch a := math.Abs(v); {
	case a >= 1e6:
		return fmt.Sprintf("%.3gM", v/1e6)
	case a >= 1e4:
		return fmt.Sprintf("%.3gk", v/1e3)
	}
	return fmt.Sprintf("%.4g", v)
}
