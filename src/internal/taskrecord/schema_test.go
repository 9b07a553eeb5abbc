// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A schema is a JSON Schema, as far as ours needs it. In one rule it is stricter: no
// object has properties that it does not name.
type schema struct {
	root, node map[string]any
}

func readSchema(t *testing.T) schema {
	t.Helper()
	b, err := os.ReadFile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var s schema
	if err := json.Unmarshal(b, &s.root); err != nil {
		t.Fatal(err)
	}
	s.node = s.root
	return s
}

// resolved returns s, or what it refers to.
func (s schema) resolved() schema {
	ref, ok := s.node["$ref"].(string)
	if !ok {
		return s
	}
	name, _ := strings.CutPrefix(ref, "#/$defs/")
	return schema{s.root, s.root["$defs"].(map[string]any)[name].(map[string]any)}
}

// with returns s with another node.
func (s schema) with(node any) schema { return schema{s.root, node.(map[string]any)}.resolved() }

// properties returns those that s and what it is all of name, and those of them that must be there.
func (s schema) properties() (all map[string]any, required []any) {
	all = make(map[string]any)
	if p, ok := s.node["properties"].(map[string]any); ok {
		maps.Copy(all, p)
	}
	required, _ = s.node["required"].([]any)
	of, _ := s.node["allOf"].([]any)
	for _, node := range of {
		a, r := s.with(node).properties()
		maps.Copy(all, a)
		required = append(slices.Clip(required), r...)
	}
	return all, required
}

// check returns what is wrong with v, which is at a place in the line, or nil.
func (s schema) check(at string, v any) error {
	wrong := func(what any) error { return fmt.Errorf("%s is %v: want %v", at, v, what) }
	if any, ok := s.node["anyOf"].([]any); ok {
		var err error
		for _, node := range any {
			if err = s.with(node).check(at, v); err == nil {
				return nil
			}
		}
		return err
	}
	switch typ := s.node["type"]; typ {
	case "null":
		if v != nil {
			return wrong(typ)
		}
	case "boolean":
		if _, ok := v.(bool); !ok {
			return wrong(typ)
		}
	case "integer":
		n, ok := v.(json.Number)
		if !ok || strings.ContainsAny(n.String(), ".eE") {
			return wrong(typ)
		}
		f, _ := n.Float64()
		if least, ok := s.node["minimum"].(float64); ok && f < least {
			return wrong(least)
		}
		if most, ok := s.node["maximum"].(float64); ok && f > most {
			return wrong(most)
		}
	case "string":
		text, ok := v.(string)
		if !ok {
			return wrong(typ)
		}
		if p, ok := s.node["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(text) {
			return wrong(p)
		}
		if list, ok := s.node["enum"].([]any); ok && !slices.Contains(list, v) {
			return wrong(list)
		}
	case "array":
		list, ok := v.([]any)
		if !ok {
			return wrong(typ)
		}
		if most, ok := s.node["maxItems"].(float64); ok && float64(len(list)) > most {
			return wrong(most)
		}
		for i, v := range list {
			if err := s.with(s.node["items"]).check(fmt.Sprintf("%s[%d]", at, i), v); err != nil {
				return err
			}
		}
	case "object":
		o, ok := v.(map[string]any)
		if !ok {
			return wrong(typ)
		}
		properties, required := s.properties()
		for _, name := range required {
			if _, ok := o[name.(string)]; !ok {
				return fmt.Errorf("%s has no %s", at, name)
			}
		}
		for name, v := range o {
			p := properties[name]
			if p == nil {
				p = s.node["additionalProperties"]
			}
			if p == nil {
				return fmt.Errorf("%s has %s, of which the schema says nothing", at, name)
			}
			if err := s.with(p).check(at+"."+name, v); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("%s: the schema has type %v", at, typ)
	}
	return nil
}

func (s schema) checkLine(line []byte) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return err
	}
	return s.check("task", v)
}

// TestSchema holds records against the schema, and the schema against records: each of its
// properties is in all lines, or in an object that some of them have.
func TestSchema(t *testing.T) {
	s := readSchema(t)
	r := rand.New(rand.NewSource(38))
	for i := range 300 {
		task := new(Record)
		if i > 0 {
			task = randomTask(r)
		}
		line := AppendJSON(nil, task)
		if err := s.checkLine(line); err != nil {
			t.Fatalf("%v\n%s", err, line)
		}
	}
	all, required := s.properties()
	if len(all) != len(required) || len(all) != len(jsonKeys(t, AppendJSON(nil, new(Record)))) {
		t.Errorf("%d properties, %d required", len(all), len(required))
	}
	names := s.root["$defs"].(map[string]any)["part"].(map[string]any)["enum"].([]any)
	if len(names) != int(NumParts)+1 {
		t.Errorf("%d parts", len(names)-1)
	}

	// It refuses what is not so.
	line := string(AppendJSON(nil, &Record{Timeline: make([]Stretch, 1), Calls: make([]Call, 1), Outlived: make([]Goroutine, 1)}))
	for _, change := range [][2]string{
		{`"trace_id":"0`, `"trace_id":"x`},
		{`"wall_ns":0`, `"wall_ns":"0"`},
		{`"wall_ns":0`, `"wall_ns":0.5`},
		{`"wall_ns":0,`, ``},
		{`"kind":"",`, `"kind":"","sort":"",`},
		{`"slow":false`, `"slow":0`},
		{`"server_id":0`, `"server_id":-1`},
		{`"server_id":0`, `"server_id":65536`},
		{`"part":"running"`, `"part":"walking"`},
		{`"stack":[]`, `"stack":null`},
		{`"remote":""`, `"remote":"","slower":true`},
		{`"usual":null`, `"usual":{}`},
		{`"counts":{}`, `"counts":{"cycles":-1}`},
	} {
		if bad := strings.Replace(line, change[0], change[1], 1); bad == line {
			t.Errorf("no %s in %s", change[0], line)
		} else if s.checkLine([]byte(bad)) == nil {
			t.Errorf("nothing is wrong with %s", change[1])
		}
	}
}
