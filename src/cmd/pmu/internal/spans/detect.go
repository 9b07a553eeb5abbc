// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package spans

import (
	"bytes"
	"encoding/json"
	"io"
)

// Detect returns the format that data are in. They are the beginning of a file, or all of it. Column is the member that
// a table's objects have. They are none of spans, whatever else they have.
func Detect(data []byte, column string) Format {
	d := json.NewDecoder(bytes.NewReader(data))
	t, err := d.Token()
	arrays := 0
	for err == nil && t == json.Delim('[') && arrays < 2 {
		arrays++
		t, err = d.Token()
	}
	if err != nil || t != json.Delim('{') {
		if arrays > 0 && (t == json.Delim(']') || err == io.EOF || err == io.ErrUnexpectedEOF) {
			return Zipkin // with nothing in it
		}
		return None
	}
	seen := keys(d, 0)
	switch {
	case seen[column] && arrays == 0:
		return None
	case arrays == 0 && (seen["resourceSpans"] || seen["resourceMetrics"] || seen["resourceLogs"] || seen["resourceProfiles"]):
		return OTLP
	case seen["traceID"] && (seen["spans"] || seen["spanID"]), arrays == 0 && seen["data"] && (seen["data.traceID"] || seen["data.spans"] || seen["data."]):
		return Jaeger
	case seen["traceId"] && seen["id"] && !seen["spanId"]:
		return Zipkin
	}
	return None
}

// keys returns the names of the members of an object that has begun, and for the member data those of
// the first object in it, as far as they can be read.
func keys(d *json.Decoder, depth int) map[string]bool {
	seen := make(map[string]bool)
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			break
		}
		seen[name] = true
		t, err = d.Token()
		if err != nil {
			break
		}
		if name == "data" && depth == 0 && t == json.Delim('[') {
			t, err = d.Token()
			if t == json.Delim(']') {
				seen["data."] = true
				continue
			}
			if err == nil && t == json.Delim('{') {
				for k := range keys(d, 1) {
					seen["data."+k] = true
				}
			}
			break
		}
		if !skip(d, t) {
			break
		}
	}
	return seen
}

// skip reads the rest of a value that begins with a token.
func skip(d *json.Decoder, t json.Token) bool {
	for depth := 0; ; {
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth <= 0 {
			return true
		}
		var err error
		if t, err = d.Token(); err != nil {
			return false
		}
	}
}
