// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package ratio

import (
	"bytes"
	"cmd/pmu/internal/prof"
	"encoding/xml"
	"fmt"
	"internal/profile"
	"io"
	"strings"
	"testing"
)

// A plant is a profile whose numbers are known. The values of a stack, written as
// "main;f;g", are its samples of the first event, and the events.
type plant struct {
	types    []string // of the events: name, or name/unit
	comments []string
	stacks   []planted
}

type planted struct {
	stack  string
	values []int64
}

// cpi is a profile of cycles with period 1000 and of instructions with period 500, in
// which g has a CPI of 6 and h one of 0.5.
func cpi() *plant {
	return &plant{
		types: []string{"cycles", "instructions"},
		comments: []string{
			"event: cycles", "period: 1000", "kernel: excluded", "samples: 1100", "delayed: 100 samples",
			"event: instructions", "period: 500", "kernel: excluded", "samples: 1600",
		},
		stacks: []planted{
			{"main;f;g", []int64{600, 600_000, 100_000}},
			{"main;f", []int64{200, 200_000, 200_000}},
			{"main;h", []int64{220, 220_000, 440_000}},
			{"main;g", []int64{60, 60_000, 10_000}},
			{"main;few", []int64{20, 20_000, 50_000}},
			{"main;none", []int64{100, 100_000, 0}},
		},
	}
}

func (p *plant) profile() *profile.Profile {
	raw := &profile.Profile{PeriodType: &profile.ValueType{}}
	raw.SampleType = []*profile.ValueType{{Type: "samples", Unit: "count"}}
	for _, t := range p.types {
		name, unit, ok := strings.Cut(t, "/")
		if !ok {
			unit = "count"
		}
		raw.SampleType = append(raw.SampleType, &profile.ValueType{Type: name, Unit: unit})
	}
	locations := make(map[string]*profile.Location)
	for _, s := range p.stacks {
		sample := &profile.Sample{Value: s.values}
		for _, name := range strings.Split(s.stack, ";") {
			l := locations[name]
			if l == nil {
				f := &profile.Function{ID: uint64(len(locations) + 1), Name: name}
				l = &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}}
				locations[name] = l
				raw.Function = append(raw.Function, f)
				raw.Location = append(raw.Location, l)
			}
			sample.Location = append([]*profile.Location{l}, sample.Location...)
		}
		raw.Sample = append(raw.Sample, sample)
	}
	return raw
}

func (p *plant) encode(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := p.profile().Write(&b); err != nil {
		t.Fatal(err)
	}
	raw, err := prof.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	var data bytes.Buffer
	if err := raw.WriteLabeled(&data, "", func(int) string { return "" }, p.comments...); err != nil { // Write has left them out
		t.Fatal(err)
	}
	return data.Bytes()
}

func (p *plant) read(t *testing.T, opt Options) *Profile {
	t.Helper()
	r, err := Read(bytes.NewReader(p.encode(t)), opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// An element is one of a page.
type element struct {
	name string
	attr map[string]string
	text string // its own and that of what is in it
	kids []*element
}

// find returns the elements below e with the name, in order.
func (e *element) find(name string) (list []*element) {
	for _, kid := range e.kids {
		if kid.name == name {
			list = append(list, kid)
		}
		list = append(list, kid.find(name)...)
	}
	return list
}

func (e *element) byID(id string) *element {
	if e.attr["id"] == id {
		return e
	}
	for _, kid := range e.kids {
		if found := kid.byID(id); found != nil {
			return found
		}
	}
	return nil
}

// pageOf writes a page and parses it.
func pageOf(t *testing.T, p *Profile) (root *element, size int) {
	t.Helper()
	var b bytes.Buffer
	if err := p.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	root = new(element)
	stack := []*element{root}
	d := xml.NewDecoder(bytes.NewReader(b.Bytes()))
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("the page is not XML: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attr: make(map[string]string)}
			for _, a := range token.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			stack[len(stack)-1].kids = append(stack[len(stack)-1].kids, e)
			stack = append(stack, e)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			for _, e := range stack {
				e.text += string(token)
			}
		case xml.Comment:
			t.Error("the page has a comment")
		}
	}
	return root, b.Len()
}

// A drawnFrame is a frame as the page has it.
type drawnFrame struct {
	class, text string
	x, w        float64
	y           int
	name        string
	lines       []string // of the title, after the name
}

// framesOf returns the frames of a page.
func framesOf(t *testing.T, page *element) (list []drawnFrame) {
	t.Helper()
	graph := page.byID("graph")
	if graph == nil {
		return nil
	}
	for _, e := range graph.kids {
		f := drawnFrame{class: e.attr["class"], text: e.text}
		if _, err := fmt.Sscanf(e.attr["style"], "left:%f%%;width:%f%%;top:%dpx", &f.x, &f.w, &f.y); err != nil {
			t.Fatalf("style %q: %v", e.attr["style"], err)
		}
		f.lines = strings.Split(e.attr["title"], "\n")
		f.name, f.lines = f.lines[0], f.lines[1:]
		list = append(list, f)
	}
	return list
}
