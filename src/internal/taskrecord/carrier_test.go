// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"internal/testenv"
	"os"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"strings"
	"testing"
)

// TestCarrierNames tests that the standard library has the functions that are named.
func TestCarrierNames(t *testing.T) {
	n := 0
	for _, c := range carriers {
		slash := strings.LastIndexByte(c.fn, '/') + 1
		pkg, fn, _ := strings.Cut(c.fn[slash:], ".")
		pkg = c.fn[:slash] + pkg
		if first, _, _ := strings.Cut(pkg, "/"); strings.Contains(first, ".") {
			continue
		}
		n++
		var def *regexp.Regexp
		if receiver, method, ok := strings.Cut(fn, ")."); ok {
			def = regexp.MustCompile(`(?m)^func \(\w+ ` + regexp.QuoteMeta(strings.TrimPrefix(receiver, "(")) + `\) ` + method + `\(`)
		} else {
			def = regexp.MustCompile(`(?m)^type ` + strings.Trim(fn, "(*)") + ` struct`)
		}
		files, err := filepath.Glob(filepath.Join(testenv.GOROOT(t), "src", pkg, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			found = found || def.Match(b)
		}
		if !found {
			t.Errorf("no %s", c.fn)
		}
	}
	if n < 10 {
		t.Errorf("only %d functions", n)
	}
}

// TestCarries tests who only brings what has come from the network.
func TestCarries(t *testing.T) {
	for _, test := range []struct {
		stack []string // innermost first
		want  string
	}{
		{nil, ""},
		{[]string{"net/http.(*persistConn).readLoop"}, peersAnswer},
		{[]string{"net/http.(*persistConn).wroteRequest", "net/http.(*persistConn).readLoop"}, peersAnswer},
		{[]string{"net/http/internal/http2.(*clientStream).abortStream", "net/http/internal/http2.(*clientConnReadLoop).run", "net/http/internal/http2.(*ClientConn).readLoop"}, peersAnswer},
		{[]string{"net/http/internal/http2.(*pipe).Write", "net/http/internal/http2.(*clientConnReadLoop).processData"}, peersAnswer},
		{[]string{"net/http/internal/http2.(*pipe).Write", "net/http/internal/http2.(*serverConn).processData", "net/http/internal/http2.(*serverConn).processFrame"}, peersAnswer},
		{[]string{"net/http/internal/http2.(*pipe).Write", "net/http/internal/http2.(*clientStream).writeRequest"}, ""},
		{[]string{"golang.org/x/net/http2.(*pipe).Write", "golang.org/x/net/http2.(*ClientConn).readLoop"}, peersAnswer},
		{[]string{"example.com/a/vendor/google.golang.org/grpc/internal/transport.(*recvBuffer).put", "example.com/a/vendor/google.golang.org/grpc/internal/transport.(*http2Client).reader"}, peersAnswer},
		{[]string{"net/http.(*Transport).dialConnFor", "net/http.(*Transport).startDialConnForLocked.func1"}, newConnection},
		{[]string{"database/sql.(*DB).putConnDBLocked", "database/sql.(*DB).openNewConnection", "database/sql.(*DB).connectionOpener"}, newConnection},
		{[]string{"internal/singleflight.(*Group).doCall", "internal/singleflight.(*Group).DoChan.gowrap1"}, nameLookup},
		{[]string{"net.(*Resolver).lookupIPAddr.func2"}, nameLookup},

		// Others, and what carriers call.
		{[]string{"net/http.(*persistConn).readLoopPeekFailLocked"}, ""},
		{[]string{"database/sql.(*DB).putConnDBLocked", "database/sql.(*Rows).Close", "main.query"}, ""},
		{[]string{"main.handler", "net/http.(*persistConn).readLoop"}, ""},
		{[]string{"google.golang.org/grpc.(*Server).handleStream", "google.golang.org/grpc/internal/transport.(*http2Server).HandleStreams"}, ""},
		{[]string{"main.(*persistConn).readLoop"}, ""},
	} {
		var stack []Frame
		for _, fn := range test.stack {
			stack = append(stack, Frame{Func: fn, File: "x.go", Line: 1})
		}
		if got := carries(stack); got != test.want {
			t.Errorf("%q: carries %q, want %q", test.stack, got, test.want)
		}
	}
}

// TestDisown tests whose task is taken away, and what the reason is then.
func TestDisown(t *testing.T) {
	reads := []Frame{{"net/http.(*persistConn).readLoop", "transport.go", 1}}
	holds := []Frame{{"main.hold", "x.go", 2}}
	own, child, other := SpanID{1}, SpanID{2}, SpanID{3}
	at := func(part Part, span SpanID, stack []Frame) Stretch {
		return Stretch{Goroutine: 1, Wake: 50 * testMs, End: 50 * testMs, Part: part, Reason: "select",
			Stack: []Frame{{"main.ask", "x.go", 1}}, Waker: Waker{9, span, "opens", stack}}
	}
	for _, test := range []struct {
		s         Stretch
		kind, why string
	}{
		{at(pprof.TimeSelect, other, reads), "", "answer of a connection's peer 50 ms at x.go:1"},
		{at(pprof.TimeSelect, own, reads), "opens", "answer of a connection's peer 50 ms at x.go:1"},
		{at(pprof.TimeSelect, child, reads), "opens", "answer of a connection's peer 50 ms at x.go:1"},
		{at(pprof.TimeSelect, other, holds), "opens", `select 50 ms at x.go:1, ended by task "opens" at x.go:2`},
		{at(pprof.TimeMutex, other, reads), "", "mutex held by goroutine 9 at transport.go:1, 50 ms"},
		{at(pprof.TimeSync, other, reads), "", "answer of a connection's peer 50 ms at x.go:1"},
		{at(pprof.TimeChan, other, reads), "", "answer of a connection's peer 50 ms at x.go:1"},
		{at(pprof.TimeMutex, other, holds), "opens", `mutex held by task "opens" at x.go:2, 50 ms`},
	} {
		x := account(&Record{Span: own, Goroutine: 1, Wall: 60 * testMs, Calls: []Call{{Span: child}}, Timeline: []Stretch{test.s}})
		x.Disown()
		k := &x.Timeline[0].Waker
		if k.Kind != test.kind || (k.Span == SpanID{}) != (test.kind == "") || k.Goroutine != 9 {
			t.Errorf("%+v", k)
		}
		if test.kind == "opens" && len(x.Timeline[0].Waker.Stack) > 0 && x.Timeline[0].Waker.Stack[0] == reads[0] {
			continue // its path is the task's own
		}
		if list := x.Causes(); len(list) == 0 || list[0].String() != test.why {
			t.Errorf("reasons %v, want %s", list, test.why)
		}
	}
}
