// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"cmd/pmu/internal/why"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
)

// This file reads spans: JSON of OTLP (opentelemetry-proto, trace/v1), one object or several.

type otlpExport struct {
	ResourceSpans []struct {
		Resource struct {
			Attributes []otlpAttr `json:"attributes"`
		} `json:"resource"`
		ScopeSpans []struct {
			Spans []otlpSpan `json:"spans"`
		} `json:"scopeSpans"`
	} `json:"resourceSpans"`
}

type otlpSpan struct {
	TraceID    string     `json:"traceId"`
	SpanID     string     `json:"spanId"`
	ParentID   string     `json:"parentSpanId"`
	Name       string     `json:"name"`
	Start      otlpInt    `json:"startTimeUnixNano"`
	End        otlpInt    `json:"endTimeUnixNano"`
	Attributes []otlpAttr `json:"attributes"`
}

type otlpAttr struct {
	Key   string `json:"key"`
	Value struct {
		String *string  `json:"stringValue"`
		Bool   *bool    `json:"boolValue"`
		Int    *otlpInt `json:"intValue"`
		Double *float64 `json:"doubleValue"`
	} `json:"value"`
}

// An otlpInt is a number of 64 bits, which is a string, or a number.
type otlpInt int64

func (v *otlpInt) UnmarshalJSON(b []byte) error {
	if len(b) > 1 && b[0] == '"' {
		b = b[1 : len(b)-1]
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	*v = otlpInt(n)
	return err
}

// A span is what is needed of one.
type span struct {
	trace      [16]byte
	id, parent [8]byte
	name       string
	service    string
	start, end int64 // ns
	attributes []otlpAttr
}

// An objectReader bounds what is read for one object.
type objectReader struct {
	r    io.Reader
	left int
}

func (r *objectReader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, fmt.Errorf("an object is longer than %d bytes: write spans as several, one a line", maxObject)
	}
	n, err := r.r.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}

// spans are those of all files: the spans of a request may be in several.
type spans struct{ list []span }

func (f *file) readOTLP(r io.Reader) error {
	if err := f.use("ms"); err != nil {
		return err
	}
	l := &objectReader{r: r}
	d := json.NewDecoder(l)
	for n := 0; ; n++ {
		var e otlpExport
		l.left = maxObject
		err := d.Decode(&e)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			if n > 0 && err == io.ErrUnexpectedEOF {
				err = fmt.Errorf("it is cut: %w", err)
			}
			return err
		}
		if len(e.ResourceSpans) == 0 {
			return fmt.Errorf("there is an object without spans: it is neither OTLP nor a table")
		}
		for _, rs := range e.ResourceSpans {
			service := ""
			for _, a := range rs.Resource.Attributes {
				if a.Key == "service.name" && a.Value.String != nil {
					service = *a.Value.String
				}
			}
			for _, ss := range rs.ScopeSpans {
				for i := range ss.Spans {
					f.span(&ss.Spans[i], service)
				}
			}
		}
	}
}

func (f *file) span(s *otlpSpan, service string) {
	x := span{name: s.Name, service: service, start: int64(s.Start), end: int64(s.End), attributes: s.Attributes}
	if !id(x.trace[:], s.TraceID) || !id(x.id[:], s.SpanID) || s.ParentID != "" && !id(x.parent[:], s.ParentID) || x.end < x.start {
		f.skipped++
		return
	}
	f.spans.list = append(f.spans.list, x)
}

// id decodes a hexadecimal ID.
func id(b []byte, s string) bool {
	if len(s) != 2*len(b) {
		return false
	}
	_, err := hex.Decode(b, []byte(s))
	return err == nil
}

// rows adds a row for each request: for a span that has no parent among the others, or each
// span of a kind. Columns are the times that spans of a name below it took, without those in
// which they waited for spans of their own (those within their time: a span that goes on
// longer was not waited for); several of one name are averaged, as in the authors' code of
// patterns.
func (s *spans) rows(b *why.Builder, kind string) {
	slices.SortStableFunc(s.list, func(x, y span) int {
		return cmp.Or(slices.Compare(x.trace[:], y.trace[:]), slices.Compare(x.id[:], y.id[:]))
	})
	s.list = slices.CompactFunc(s.list, func(x, y span) bool { return x.trace == y.trace && x.id == y.id })
	for i := 0; i < len(s.list); {
		j := i + 1
		for j < len(s.list) && s.list[j].trace == s.list[i].trace {
			j++
		}
		addTrace(b, s.list[i:j], kind)
		i = j
	}
}

func addTrace(b *why.Builder, list []span, kind string) {
	byID := make(map[[8]byte]int)
	for i := range list {
		byID[list[i].id] = i
	}
	children := make([][]int, len(list))
	var roots []int
	for i := range list {
		p, ok := byID[list[i].parent]
		if ok && p != i && list[i].parent != [8]byte{} {
			children[p] = append(children[p], i)
		}
		if kind == "" && !ok || kind != "" && list[i].name == kind {
			roots = append(roots, i)
		}
	}
	const ms = 1e6
	for _, root := range roots {
		r := &list[root]
		b.Add(float64(r.end-r.start) / ms)
		b.Time(float64(r.start) / 1e9)
		b.Column("kind", "", nan).Word(r.name)
		if r.service != "" {
			b.Column("service", "", nan).Word(r.service)
		}
		for _, a := range r.attributes {
			c := b.Column(a.Key, "", nan)
			switch v := a.Value; {
			case v.String != nil:
				c.Text(*v.String)
			case v.Bool != nil:
				c.Word(strconv.FormatBool(*v.Bool))
			case v.Int != nil:
				c.Number(float64(*v.Int))
			case v.Double != nil:
				c.Number(*v.Double)
			}
		}
		// Below it; a span is visited once, whatever parents say.
		sum, n := make(map[string]float64), make(map[string]float64)
		visited := map[int]bool{root: true}
		queue := []int{root}
		for len(queue) > 0 {
			i := queue[0]
			queue = queue[1:]
			for _, c := range children[i] {
				if !visited[c] {
					visited[c] = true
					queue = append(queue, c)
				}
			}
			name := "self"
			if i != root {
				name = list[i].name
			}
			sum[name] += float64(pure(list, i, children[i])) / ms
			n[name]++
		}
		for _, name := range slices.Sorted(maps.Keys(sum)) {
			c := b.Column("span "+name, "ms", 0)
			c.Within("span " + name)
			c.Number(sum[name] / n[name])
		}
	}
}

// pure returns the time of a span without that of the children within it.
func pure(list []span, i int, children []int) int64 {
	s := &list[i]
	within := make([][2]int64, 0, len(children))
	for _, c := range children {
		if list[c].start >= s.start && list[c].end <= s.end {
			within = append(within, [2]int64{list[c].start, list[c].end})
		}
	}
	slices.SortFunc(within, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	d, at := s.end-s.start, s.start
	for _, w := range within {
		if w[1] > at {
			d -= w[1] - max(w[0], at)
			at = w[1]
		}
	}
	return d
}
