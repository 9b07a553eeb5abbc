// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package spans

import (
	"encoding/json"
	"strconv"
)

type otlpExport struct {
	ResourceSpans []struct {
		Resource struct {
			Attributes []otlpAttr `json:"attributes"`
		} `json:"resource"`
		ScopeSpans []struct {
			Spans []json.RawMessage `json:"spans"`
		} `json:"scopeSpans"`
	} `json:"resourceSpans"`
}

type otlpSpan struct {
	TraceID    string     `json:"traceId"`
	SpanID     string     `json:"spanId"`
	ParentID   string     `json:"parentSpanId"`
	Name       string     `json:"name"`
	Kind       otlpKind   `json:"kind"`
	Start      *otlpInt   `json:"startTimeUnixNano"`
	End        otlpInt    `json:"endTimeUnixNano"`
	Attributes []otlpAttr `json:"attributes"`
	Status     struct {
		Code otlpStatus `json:"code"`
	} `json:"status"`
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

// An otlpKind is a number, or a name as protojson writes it.
type otlpKind Role

func (k *otlpKind) UnmarshalJSON(b []byte) error {
	if len(b) > 1 && b[0] == '"' {
		*k = otlpKind(roleOf(string(b[1 : len(b)-1])))
		return nil
	}
	if n, err := strconv.Atoi(string(b)); err == nil && n >= 2 && n <= 5 { // 0 is not known, and 1 internal
		*k = otlpKind(n - 1)
	}
	return nil
}

// An otlpStatus is whether the operation failed.
type otlpStatus bool

func (s *otlpStatus) UnmarshalJSON(b []byte) error {
	*s = string(b) == "2" || string(b) == `"STATUS_CODE_ERROR"`
	return nil
}

func (r *Decoder) otlp(data []byte) error {
	var e otlpExport
	if err := json.Unmarshal(data, &e); err != nil {
		return err
	}
	if e.ResourceSpans == nil {
		r.Others++
		return nil
	}
	for _, rs := range e.ResourceSpans {
		service, resource := "", []Attribute(nil)
		for _, a := range rs.Resource.Attributes {
			if a.Key == "service.name" && a.Value.String != nil {
				service = *a.Value.String
				continue
			}
			resource = a.append(resource)
		}
		for _, ss := range rs.ScopeSpans {
			r.elements(ss.Spans, func(data json.RawMessage) error {
				var s otlpSpan
				if err := json.Unmarshal(data, &s); err != nil {
					return err
				}
				if s.Start == nil {
					r.Bad["a start"]++
					return nil
				}
				x := &Span{Name: s.Name, Service: service, Role: Role(s.Kind), Start: int64(*s.Start), End: int64(s.End), Failed: bool(s.Status.Code), Resource: resource}
				for _, a := range s.Attributes {
					x.Attributes = a.append(x.Attributes)
				}
				x.findPeer()
				r.span(x, s.TraceID, s.SpanID, s.ParentID)
				return nil
			})
		}
	}
	return nil
}

func (a *otlpAttr) append(list []Attribute) []Attribute {
	x := Attribute{Key: a.Key}
	switch v := a.Value; {
	case v.String != nil:
		x.Text, x.IsText = *v.String, true
	case v.Bool != nil:
		x.Text, x.IsText = strconv.FormatBool(*v.Bool), true
	case v.Int != nil:
		x.Number = float64(*v.Int)
	case v.Double != nil:
		x.Number = *v.Double
	default:
		return list
	}
	return append(list, x)
}

// peers are attributes that say whom a client calls, by what they say best.
var peers = []string{"peer.service", "server.address", "net.peer.name", "rpc.service", "db.name", "db.namespace", "messaging.destination.name"}

// findPeer sets the peer of a span that calls another service.
func (s *Span) findPeer() {
	if s.Peer != "" || s.Role != Client && s.Role != Producer {
		return
	}
	for _, key := range peers {
		for i := range s.Attributes {
			if a := &s.Attributes[i]; a.Key == key && a.IsText && a.Text != "" {
				s.Peer = a.Text
				return
			}
		}
	}
}
