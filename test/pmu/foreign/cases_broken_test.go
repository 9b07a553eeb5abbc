// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package foreign

import (
	"fmt"
	"io"
	"net/http"
)

// brokenCases are about handlers that do what they should not.
var brokenCases = []testCase{
	{name: "abort", closes: true, serve: func(c *call) { panic(http.ErrAbortHandler) }},
	{name: "abort-header", closes: true, serve: func(c *call) {
		c.w.Header().Set("X-A", "1")
		c.w.WriteHeader(202)
		panic(http.ErrAbortHandler)
	}},
	{name: "abort-flushed", closes: true, serve: func(c *call) {
		io.WriteString(c.w, "some")
		flush(c)
		panic(http.ErrAbortHandler)
	}},
	{name: "abort-length", closes: true, serve: func(c *call) {
		c.w.Header().Set("Content-Length", "10000")
		io.WriteString(c.w, "some")
		flush(c)
		panic(http.ErrAbortHandler)
	}},
	{name: "panic", closes: true, serve: func(c *call) {
		io.WriteString(c.w, "some")
		panic("a handler's own")
	}},
	{name: "panic-error", closes: true, serve: func(c *call) { panic(fmt.Errorf("a handler's own %d", 1)) }},
	{name: "panic-recovered", serve: func(c *call) {
		defer func() { c.note("recovered %v", recover()); http.Error(c.w, "recovered", 500) }()
		panic("a handler's own")
	}},
	{name: "superfluous", serve: func(c *call) { c.w.WriteHeader(201); c.w.WriteHeader(500); io.WriteString(c.w, "x") }},
	{name: "superfluous-late", serve: func(c *call) { io.WriteString(c.w, "x"); c.w.WriteHeader(500) }},
	{name: "superfluous-informational", serve: func(c *call) { c.w.WriteHeader(200); c.w.WriteHeader(103) }},
	{name: "code-invalid", closes: true, serve: func(c *call) { c.w.WriteHeader(42) }},
	{name: "body-of-204", serve: func(c *call) {
		c.w.WriteHeader(204)
		n, err := io.WriteString(c.w, "no")
		c.note("%d, %v", n, err)
	}},
	{name: "body-of-304", serve: func(c *call) {
		c.w.WriteHeader(304)
		n, err := c.w.Write([]byte("no"))
		c.note("%d, %v", n, err)
	}},
	{name: "length-short", closes: true, serve: func(c *call) {
		c.w.Header().Set("Content-Length", "10")
		io.WriteString(c.w, "short")
	}},
	{name: "length-long", closes: true, serve: func(c *call) {
		c.w.Header().Set("Content-Length", "3")
		n, err := io.WriteString(c.w, "long")
		c.note("%d, %v", n, err)
	}},
	{name: "length-invalid", serve: func(c *call) {
		c.w.Header().Set("Content-Length", "-1")
		io.WriteString(c.w, "x")
	}},
	{name: "encoding", direct: true, closes: true, serve: func(c *call) {
		c.w.Header().Set("Transfer-Encoding", "identity")
		io.WriteString(c.w, "x")
	}},
}
