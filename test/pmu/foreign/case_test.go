// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package foreign

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http2/hpack"
)

type protocol int

const (
	http1 protocol = 1 + iota
	http2
)

func (p protocol) String() string { return [...]string{http1: "HTTP/1.1", http2: "HTTP/2"}[p] }

// A testCase is a handler and a request for it.
type testCase struct {
	name  string // and the last element of the request's path
	serve func(c *call)

	method   string // GET if it is empty
	target   string // /in/name if it is empty
	header   []hpack.HeaderField
	body     string
	chunked  bool // HTTP/1: it is sent without its length
	trailers []hpack.HeaderField
	raw      string // HTTP/1: all of this, in place of the request

	expects bool              // the body is sent when the server asks for it
	closes  bool              // HTTP/1: the request asks the server to close the connection
	gone    bool              // the client gives up when the handler has begun
	talk    func(d *dialogue) // HTTP/1: what the client says after the request
	only    protocol          // 0 for both
	direct  bool              // not through a proxy: what comes of it there depends on time
	unseen  bool              // requests that don't come to the case's handler don't come to the server's
}

// A call is one of a case's handler.
type call struct {
	w    http.ResponseWriter
	r    *http.Request
	note func(format string, args ...any)
}

// begun has a value when the handler of a case has begun whose client then gives up.
var begun = make(chan bool)

var cases = slices.Concat(answerCases, bodyCases, requestCases, brokenCases, controlCases, upgradeCases)

// handler returns the handler of all cases, which looks at its writer and its request before
// and after the case's own.
func handler(n *notebook) http.Handler {
	byName := make(map[string]*testCase)
	for i := range cases {
		byName[cases[i].name] = &cases[i]
	}
	return n.watch(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.add(&n.served, 1)
		look := func() {
			for _, line := range slices.Concat(lookAtWriter(w), lookAtRequest(r)) {
				n.note(r, "%s", line)
			}
		}
		n.note(r, "%s", lookAtContext(r))
		look()
		c := byName[caseOf(r)]
		if c == nil || c.serve == nil {
			http.NotFound(w, r)
			return
		}
		c.serve(&call{w, r, func(format string, args ...any) { n.note(r, format, args...) }})
		look()
	}))
}

func field(name, value string) hpack.HeaderField { return hpack.HeaderField{Name: name, Value: value} }

func (c *testCase) line() (method, target string) {
	method, target = c.method, c.target
	if method == "" {
		method = "GET"
	}
	if target == "" {
		target = route + c.name
	}
	return method, target
}

// accepts is what clients say of their own accord, for middlewares that compress.
var accepts = field("Accept-Encoding", "gzip")

// http1 returns the request by HTTP/1, without a body that is sent later.
func (c *testCase) http1() string {
	if c.raw != "" {
		return c.raw
	}
	method, target := c.line()
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: example.com\r\n", method, target)
	connection := ""
	if c.closes {
		connection = "close"
	}
	for _, f := range append([]hpack.HeaderField{accepts}, c.header...) {
		if f.Name == "Connection" {
			connection = f.Value + ", " + connection
			continue
		}
		fmt.Fprintf(&b, "%s: %s\r\n", f.Name, f.Value)
	}
	if connection != "" {
		fmt.Fprintf(&b, "Connection: %s\r\n", connection)
	}
	switch {
	case c.chunked || c.trailers != nil:
		b.WriteString("Transfer-Encoding: chunked\r\n")
	case c.body != "" || method == "POST":
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(c.body))
	}
	b.WriteString("\r\n")
	if !c.expects {
		b.WriteString(c.body1())
	}
	return b.String()
}

// body1 returns the body, and trailers, by HTTP/1.
func (c *testCase) body1() string {
	if !c.chunked && c.trailers == nil {
		return c.body
	}
	var b strings.Builder
	const chunk = 1000
	for part := range slices.Chunk([]byte(c.body), chunk) {
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(part), part)
	}
	b.WriteString("0\r\n")
	for _, f := range c.trailers {
		fmt.Fprintf(&b, "%s: %s\r\n", f.Name, f.Value)
	}
	return b.String() + "\r\n"
}

// http2 returns the request's header by HTTP/2, which has no connections to talk about.
func (c *testCase) http2() []hpack.HeaderField {
	method, target := c.line()
	fields := []hpack.HeaderField{
		field(":method", method), field(":scheme", "https"), field(":authority", "example.com"), field(":path", target),
	}
	for _, f := range append([]hpack.HeaderField{accepts}, c.header...) {
		if f.Name != "Connection" && f.Name != "Upgrade" {
			fields = append(fields, field(strings.ToLower(f.Name), f.Value))
		}
	}
	if c.body != "" && !c.chunked && c.trailers == nil {
		fields = append(fields, field("content-length", strconv.Itoa(len(c.body))))
	}
	return fields
}
