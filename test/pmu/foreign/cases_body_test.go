// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package foreign

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing/iotest"
	"time"

	"golang.org/x/net/http2/hpack"
)

// file is what handlers copy from; see TestMain.
var file struct {
	name string
	text []byte
}

// writeMuch writes n bytes that can be told apart, in parts of many lengths.
func writeMuch(c *call, n int) {
	for i := 0; n > 0; i++ {
		b := bytes.Repeat([]byte{'a' + byte(i%26)}, min(1+i*i%9973, n))
		m, err := c.w.Write(b)
		if m != len(b) || err != nil {
			c.note("wrote %d of %d: %v", m, len(b), err)
			return
		}
		n -= m
	}
}

// flush flushes if the writer can.
func flush(c *call) {
	if f, ok := c.w.(http.Flusher); ok {
		f.Flush()
	} else {
		c.note("no Flusher")
	}
}

func open(c *call) *os.File {
	f, err := os.Open(file.name)
	if err != nil {
		c.note("%v", err)
	}
	return f
}

// bodyCases are about the answer's body, and trailers.
var bodyCases = []testCase{
	{name: "large", serve: func(c *call) { writeMuch(c, 500_000) }},
	{name: "large-once", serve: func(c *call) {
		n, err := c.w.Write(bytes.Repeat([]byte("0123456789"), 30_000))
		c.note("%d, %v", n, err)
	}},
	{name: "large-length", serve: func(c *call) { c.w.Header().Set("Content-Length", "200000"); writeMuch(c, 200_000) }},
	{name: "string", serve: func(c *call) {
		w, ok := c.w.(io.StringWriter)
		if !ok {
			c.note("no StringWriter")
			return
		}
		for _, s := range []string{"a", "", strings.Repeat("b", 5000)} {
			n, err := w.WriteString(s)
			c.note("%d, %v", n, err)
		}
	}},
	{name: "flush", serve: func(c *call) {
		for _, s := range []string{"one", "two", "three"} {
			io.WriteString(c.w, s)
			flush(c)
		}
	}},
	{name: "flush-first", serve: func(c *call) {
		c.w.Header().Set("Content-Type", "text/plain") // a proxy guesses it from what it has got by then
		flush(c)
		c.w.Header().Set("X-Late", "1")
		io.WriteString(c.w, "body")
	}},
	{name: "flush-204", serve: func(c *call) { c.w.WriteHeader(204); flush(c) }},
	{name: "events", serve: func(c *call) {
		c.w.Header().Set("Content-Type", "text/event-stream")
		for range 3 {
			io.WriteString(c.w, "data: "+strings.Repeat("x", 700)+"\n\n")
			flush(c)
		}
	}},
	{name: "copy-file", serve: func(c *call) {
		f := open(c)
		defer f.Close()
		n, err := io.Copy(c.w, f)
		c.note("%d, %v", n, err)
	}},
	{name: "copy-file-length", serve: func(c *call) {
		f := open(c)
		defer f.Close()
		c.w.Header().Set("Content-Length", "20000")
		n, err := io.CopyN(c.w, f, 20_000)
		c.note("%d, %v", n, err)
	}},
	{name: "copy-reader", serve: func(c *call) {
		n, err := io.Copy(c.w, io.MultiReader(strings.NewReader("a"), strings.NewReader(strings.Repeat("b", 4000)), iotest.OneByteReader(strings.NewReader("ccc"))))
		c.note("%d, %v", n, err)
	}},
	{name: "copy-empty", serve: func(c *call) {
		n, err := io.Copy(c.w, io.MultiReader())
		c.note("%d, %v", n, err)
	}},
	{name: "copy-fails", serve: func(c *call) {
		n, err := io.Copy(c.w, iotest.ErrReader(errors.New("no more")))
		c.note("%d, %v", n, err)
		http.Error(c.w, err.Error(), 500)
	}},
	{name: "copy-after-write", serve: func(c *call) {
		f := open(c)
		defer f.Close()
		io.WriteString(c.w, "before")
		n, err := io.Copy(c.w, io.LimitReader(f, 3000))
		c.note("%d, %v", n, err)
		io.WriteString(c.w, "after")
	}},
	{name: "file", serve: func(c *call) { http.ServeFile(c.w, c.r, file.name) }},
	{name: "file-range", header: []hpack.HeaderField{field("Range", "bytes=100-199")}, serve: func(c *call) { http.ServeFile(c.w, c.r, file.name) }},
	{name: "file-ranges", header: []hpack.HeaderField{field("Range", "bytes=999999999-")}, serve: func(c *call) { http.ServeFile(c.w, c.r, file.name) }},
	{name: "file-unchanged", header: []hpack.HeaderField{field("If-Modified-Since", "Tue, 24 Nov 2026 18:12:50 GMT")},
		serve: func(c *call) { http.ServeFile(c.w, c.r, file.name) }},
	{name: "file-head", method: "HEAD", serve: func(c *call) { http.ServeFile(c.w, c.r, file.name) }},
	{name: "content", serve: func(c *call) {
		http.ServeContent(c.w, c.r, "x.css", time.Unix(1e9, 0), strings.NewReader("p { }"))
	}},
	{name: "trailers", serve: func(c *call) {
		c.w.Header().Set("Trailer", "X-A")
		io.WriteString(c.w, "body")
		c.w.Header().Set("X-A", "1")
		c.w.Header().Set("X-B", "not declared")
	}},
	// A proxy has the names in an order by chance.
	{name: "trailers-two", direct: true, serve: func(c *call) {
		c.w.Header().Set("Trailer", "X-A, X-B")
		io.WriteString(c.w, "body")
		c.w.Header().Set("X-A", "1")
		c.w.Header().Set("X-C", "not declared")
	}},
	{name: "trailers-undeclared", serve: func(c *call) {
		io.WriteString(c.w, "body")
		flush(c)
		c.w.Header().Set(http.TrailerPrefix+"X-A", "1")
		c.w.Header().Add(http.TrailerPrefix+"X-A", "2")
		c.w.Header().Set("X-B", "no trailer")
	}},
	{name: "trailers-only", serve: func(c *call) {
		c.w.Header().Set("Trailer", "X-A")
		c.w.WriteHeader(200)
		c.w.Header().Set("X-A", "1")
	}},
	{name: "trailers-flushed", serve: func(c *call) {
		c.w.Header().Set("Content-Type", "text/plain")
		c.w.Header().Add("Trailer", "X-A")
		flush(c)
		writeMuch(c, 20_000)
		flush(c)
		c.w.Header().Set("X-A", "1")
		c.w.Header().Set(http.TrailerPrefix+"X-B", "1")
	}},
}
