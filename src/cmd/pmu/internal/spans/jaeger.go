// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package spans

import (
	"encoding/json"
	"errors"
	"strconv"
)

// A jaegerTrace is one of Jaeger's query API, or with Data the answer; see its model/json. A file may
// also have its spans alone, each with its process.
type jaegerTrace struct {
	Data      []json.RawMessage         `json:"data"`
	Spans     []json.RawMessage         `json:"spans"`
	Processes map[string]*jaegerProcess `json:"processes"`
	TraceID   string                    `json:"traceID"`
	SpanID    string                    `json:"spanID"`
}

type jaegerProcess struct {
	Service string      `json:"serviceName"`
	Tags    []jaegerTag `json:"tags"`

	resource []Attribute // of Tags, which all of its spans share; not made yet if it is nil
}

type jaegerTag struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
}

// A jaegerSpan has times in microseconds.
type jaegerSpan struct {
	TraceID    string `json:"traceID"`
	SpanID     string `json:"spanID"`
	ParentID   string `json:"parentSpanID"` // of old versions
	Name       string `json:"operationName"`
	References []struct {
		Type    string `json:"refType"`
		TraceID string `json:"traceID"`
		SpanID  string `json:"spanID"`
	} `json:"references"`
	Start     *int64         `json:"startTime"`
	Duration  *int64         `json:"duration"`
	Tags      []jaegerTag    `json:"tags"`
	ProcessID string         `json:"processID"`
	Process   *jaegerProcess `json:"process"`
}

// jaeger reads an answer, a trace, a span, or an array of those.
func (r *Decoder) jaeger(data []byte, depth int) error {
	if depth == 3 {
		return errors.New("there are arrays in arrays")
	}
	if data[0] == '[' {
		var list []json.RawMessage
		if err := json.Unmarshal(data, &list); err != nil {
			return err
		}
		r.elements(list, func(data json.RawMessage) error { return r.jaeger(data, depth+1) })
		return nil
	}
	var t jaegerTrace
	if err := json.Unmarshal(data, &t); err != nil {
		return err
	}
	if t.SpanID != "" {
		return r.jaegerSpan(data, nil)
	}
	if t.Data == nil && t.Spans == nil && t.TraceID == "" {
		return errors.New("it is no answer, trace or span")
	}
	r.elements(t.Data, func(data json.RawMessage) error { return r.jaeger(data, depth+1) })
	r.elements(t.Spans, func(data json.RawMessage) error { return r.jaegerSpan(data, t.Processes) })
	return nil
}

func (r *Decoder) jaegerSpan(data []byte, processes map[string]*jaegerProcess) error {
	var s jaegerSpan
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	switch {
	case s.Start == nil:
		r.Bad["a startTime"]++
		return nil
	case s.Duration == nil:
		r.Bad["a duration"]++
		return nil
	case *s.Start < 0 || *s.Duration < 0 || *s.Start > maxMicroseconds-*s.Duration:
		r.Bad["a time that can be"]++
		return nil
	}
	x := &Span{Name: s.Name, Start: *s.Start * 1000, End: (*s.Start + *s.Duration) * 1000}
	p := s.Process
	if p == nil {
		p = processes[s.ProcessID]
	}
	if p != nil {
		x.Service = p.Service
		if p.resource == nil {
			p.resource = []Attribute{}
			for i := range p.Tags {
				p.resource = p.Tags[i].append(p.resource)
			}
		}
		x.Resource = p.resource
	}
	for i := range s.Tags {
		x.Attributes = s.Tags[i].append(x.Attributes)
	}
	for _, a := range x.Attributes {
		switch a.Key {
		case "span.kind":
			x.Role = roleOf(a.Text)
		case "error":
			x.Failed = a.Text == "true"
		}
	}
	// The parent that waits comes before one that does not.
	parent := s.ParentID
	for _, of := range []string{"FOLLOWS_FROM", "CHILD_OF"} {
		for _, ref := range s.References {
			if ref.Type == of && (ref.TraceID == s.TraceID || ref.TraceID == "") {
				parent, x.Follows = ref.SpanID, of == "FOLLOWS_FROM"
				break
			}
		}
	}
	x.findPeer()
	r.span(x, s.TraceID, s.SpanID, parent)
	return nil
}

func (t *jaegerTag) append(list []Attribute) []Attribute {
	x := Attribute{Key: t.Key}
	if len(t.Value) == 0 {
		return list
	}
	switch t.Value[0] {
	case '"':
		if json.Unmarshal(t.Value, &x.Text) != nil {
			return list
		}
		x.IsText = true
	case 't', 'f':
		x.Text, x.IsText = string(t.Value), true
	default:
		v, err := strconv.ParseFloat(string(t.Value), 64)
		if err != nil {
			return list
		}
		x.Number = v
	}
	return append(list, x)
}
