// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package spans

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
)

// A zipkinSpan is one of Zipkin v2; see its openapi, zipkin2-api.yaml. Times are in microseconds.
type zipkinSpan struct {
	TraceID   string         `json:"traceId"`
	ID        string         `json:"id"`
	ParentID  string         `json:"parentId"`
	Name      string         `json:"name"`
	Kind      string         `json:"kind"`
	Timestamp *int64         `json:"timestamp"`
	Duration  *int64         `json:"duration"`
	Local     zipkinEndpoint `json:"localEndpoint"`
	Remote    zipkinEndpoint `json:"remoteEndpoint"`
	Shared    bool           `json:"shared"`

	Tags map[string]string `json:"tags"`

	Binary json.RawMessage `json:"binaryAnnotations"` // of the first version
}

type zipkinEndpoint struct {
	Service string `json:"serviceName"`
}

// maxMicroseconds is the latest time that is one in ns, too.
const maxMicroseconds = 1<<63/1000 - 1

// zipkin reads a span, an array of spans, or an array of traces.
func (r *Decoder) zipkin(data []byte, depth int) error {
	if data[0] == '[' {
		var list []json.RawMessage
		if depth == 2 {
			return errors.New("there are arrays in arrays")
		}
		if err := json.Unmarshal(data, &list); err != nil {
			return err
		}
		r.elements(list, func(data json.RawMessage) error { return r.zipkin(data, depth+1) })
		return nil
	}
	var s zipkinSpan
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	switch {
	case s.Binary != nil:
		r.Bad["the form of version 2: it is of version 1"]++
		return nil
	case s.Timestamp == nil:
		r.Bad["a timestamp"]++
		return nil
	case s.Duration == nil:
		r.Bad["a duration"]++
		return nil
	case *s.Timestamp < 0 || *s.Duration < 0 || *s.Timestamp > maxMicroseconds-*s.Duration:
		r.Bad["a time that can be"]++
		return nil
	}
	x := &Span{Name: s.Name, Service: s.Local.Service, Peer: s.Remote.Service, Role: roleOf(s.Kind), Shared: s.Shared,
		Start: *s.Timestamp * 1000, End: (*s.Timestamp + *s.Duration) * 1000}
	for _, key := range slices.Sorted(maps.Keys(s.Tags)) {
		x.Attributes = append(x.Attributes, Attribute{Key: key, Text: s.Tags[key], IsText: true})
	}
	if e, ok := s.Tags["error"]; ok {
		b, err := strconv.ParseBool(e)
		x.Failed = err != nil || b
	}
	x.findPeer()
	r.span(x, s.TraceID, s.ID, s.ParentID)
	return nil
}
