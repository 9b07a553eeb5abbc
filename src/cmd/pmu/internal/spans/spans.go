// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package spans reads what tracing systems export as JSON: spans of OTLP (opentelemetry-proto), of
// Zipkin's second version, and of Jaeger's query API.
package spans

import (
	"encoding/hex"
	"strings"
)

// A Span is what the formats have in common.
type Span struct {
	Trace      [16]byte
	ID, Parent [8]byte // Parent is zero if there is none
	Name       string
	Service    string
	Peer       string // the service that a client calls, if that is known
	Role       Role
	Start, End int64 // ns since 1970
	Failed     bool

	// Shared says that the span has the ID of the one that called it, as Zipkin's servers may do.
	Shared bool

	// Follows says that whatever the parent is, it did not wait for this span: it is a link, or a
	// reference that says so.
	Follows bool

	Attributes []Attribute
	Resource   []Attribute // of what has recorded the span: host, version
}

// A Role is the part that the service plays which has recorded a span.
type Role uint8

const (
	Internal Role = iota // or not known
	Server
	Client
	Producer
	Consumer
)

// roles are by their names in OTLP, without SPAN_KIND_ before them.
var roles = map[string]Role{"SERVER": Server, "CLIENT": Client, "PRODUCER": Producer, "CONSUMER": Consumer}

func roleOf(s string) Role { return roles[strings.TrimPrefix(strings.ToUpper(s), "SPAN_KIND_")] }

// An Attribute is a number, or text.
type Attribute struct {
	Key    string
	Text   string
	Number float64
	IsText bool
}

// A Format is how spans are written.
type Format uint8

const (
	None Format = iota // it is something else
	OTLP
	Zipkin
	Jaeger
)

// String returns the format's name for people.
func (f Format) String() string {
	return [...]string{"no format of spans", "JSON of OTLP", "JSON of Zipkin v2", "JSON of Jaeger"}[f]
}

// id decodes a hexadecimal ID. Some systems leave out zeros at the front.
func id(b []byte, s string) bool {
	if s == "" || len(s) > 2*len(b) {
		return false
	}
	s = strings.Repeat("0", 2*len(b)-len(s)) + s
	_, err := hex.Decode(b, []byte(s))
	return err == nil
}
