// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import "strings"

// Clients that keep connections have goroutines that read them, which are started by the request
// that opens one and serve all others. Such a goroutine ends waits, but it is no culprit: it
// brings what has come from the network. For whose work it was started says nothing.

// A carrier is a function of such goroutines, or a type of which they run methods, with what they
// bring. A waker's stack is short, so of those with deep ones it need not be the first function.
type carrier struct{ fn, brings string }

const (
	peersAnswer   = "answer of a connection's peer"
	newConnection = "new connection"
	nameLookup    = "name lookup"
)

var carriers = []carrier{
	{"net/http.(*persistConn).readLoop", peersAnswer},
	{"net/http.(*persistConn).writeLoop", peersAnswer}, // that takes the request
	{"net/http.(*Transport).dialConnFor", newConnection},
	{"net/http.(*connReader).backgroundRead", peersAnswer}, // of a server
	{"net/http/internal/http2.(*clientConnReadLoop)", peersAnswer},
	{"net/http/internal/http2.(*ClientConn).readLoop", peersAnswer},
	{"net/http/internal/http2.(*serverConn).readFrames", peersAnswer},
	{"net/http/internal/http2.(*serverConn).processFrame", peersAnswer},
	{"net/http/internal/http2.(*serverConn).serve", peersAnswer},
	{"golang.org/x/net/http2.(*clientConnReadLoop)", peersAnswer},
	{"golang.org/x/net/http2.(*ClientConn).readLoop", peersAnswer},
	{"golang.org/x/net/http2.(*serverConn).readFrames", peersAnswer},
	{"golang.org/x/net/http2.(*serverConn).processFrame", peersAnswer},
	{"golang.org/x/net/http2.(*serverConn).serve", peersAnswer},
	{"google.golang.org/grpc/internal/transport.(*http2Client).reader", peersAnswer},
	{"google.golang.org/grpc/internal/transport.(*http2Server).HandleStreams", peersAnswer},
	{"google.golang.org/grpc/internal/transport.(*loopyWriter).run", peersAnswer}, // when the peer has room
	{"database/sql.(*DB).connectionOpener", newConnection},
	{"net.(*sysDialer).dialParallel", newConnection},
	{"net.(*Resolver).lookupIPAddr", nameLookup},
	{"internal/singleflight.(*Group).doCall", nameLookup}, // package net's
}

// carries returns what a goroutine brings with this stack, or the empty string if that is not
// known to be such a one. A handler that a carrier calls is none: it is above that.
func carries(stack []Frame) string {
	for i := range stack {
		f := &stack[i]
		for j := range carriers {
			c := &carriers[j]
			if rest, ok := strings.CutPrefix(vendored(f.Func), c.fn); ok && (rest == "" || rest[0] == '.') {
				return c.brings
			}
		}
		if !f.in(waiters) && !isLibrary(f.Func) {
			return ""
		}
	}
	return ""
}

// vendored returns the name of a function without the directories of a vendored package.
func vendored(name string) string {
	if i := strings.LastIndex(name, "vendor/"); i >= 0 {
		return name[i+len("vendor/"):]
	}
	return name
}

// isLibrary reports whether a function is of the packages of carriers, which may be between one and
// where it wakes others.
func isLibrary(name string) bool {
	name = vendored(name)
	return strings.HasPrefix(name, "golang.org/x/net/http2.") || strings.HasPrefix(name, "google.golang.org/grpc/internal/")
}

// Disown takes the task away from wakers in t's timeline that only bring what came from the network,
// unless that is t or a child of it: what these do is part of t.
func (t *Record) Disown() {
	for i := range t.Timeline {
		k := &t.Timeline[i].Waker
		if k.Kind == "" && k.Span.IsZero() || t.owns(k.Span) || carries(k.Stack) == "" {
			continue
		}
		k.Kind, k.Span = "", SpanID{}
	}
}

// owns reports whether span is t's or that of a child.
func (t *Record) owns(span SpanID) bool {
	if span == t.Span {
		return true
	}
	for i := range t.Calls {
		if t.Calls[i].Span == span {
			return true
		}
	}
	return false
}
