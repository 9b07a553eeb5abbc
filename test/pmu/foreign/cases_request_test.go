// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package foreign

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sort"
	"strings"

	"golang.org/x/net/http2/hpack"
)

var formType = []hpack.HeaderField{field("Content-Type", "application/x-www-form-urlencoded")}

const boundary = "----------foreign"

var multipartType = []hpack.HeaderField{field("Content-Type", "multipart/form-data; boundary="+boundary)}

// multipartBody has two values and two files.
func multipartBody() string {
	var b strings.Builder
	part := func(disposition, text string) {
		fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; %s\r\n\r\n%s\r\n", boundary, disposition, text)
	}
	part(`name="a"`, "1")
	part(`name="b"`, strings.Repeat("2", 100))
	part(`name="f"; filename="small"`, "three")
	part(`name="f"; filename="large"`, strings.Repeat("4", 20_000))
	return b.String() + "--" + boundary + "--\r\n"
}

// readAll reads the request's body and notes what came.
func readAll(c *call) {
	b, err := io.ReadAll(c.r.Body)
	c.note("body of %d bytes, %v, trailers %v", len(b), err, c.r.Trailer)
	c.w.Write(b)
	c.note("%v", c.r.Body.Close())
}

// requestCases are about what comes with the request.
var requestCases = []testCase{
	{name: "body", method: "POST", body: strings.Repeat("body", 1000), serve: readAll},
	{name: "body-chunked", method: "PUT", body: strings.Repeat("body", 1000), chunked: true, serve: readAll},
	{name: "body-empty", method: "POST", serve: readAll},
	{name: "body-unread", method: "POST", body: strings.Repeat("body", 1000), only: http1, serve: func(c *call) { io.WriteString(c.w, "unread") }},
	{name: "body-half", method: "POST", body: strings.Repeat("body", 1000), only: http1, serve: func(c *call) {
		n, err := io.ReadFull(c.r.Body, make([]byte, 100))
		fmt.Fprint(c.w, n, err)
	}},
	{name: "body-after-answer", direct: true, method: "POST", body: strings.Repeat("body", 1000), only: http1, serve: func(c *call) {
		io.WriteString(c.w, "answer")
		flush(c)
		b, err := io.ReadAll(c.r.Body)
		c.note("%d bytes, %v", len(b), err)
	}},
	{name: "body-limited", direct: true, method: "POST", body: strings.Repeat("body", 1000), closes: true, serve: func(c *call) {
		c.r.Body = http.MaxBytesReader(c.w, c.r.Body, 100)
		b, err := io.ReadAll(c.r.Body)
		c.note("%d bytes, %v", len(b), err)
		http.Error(c.w, err.Error(), http.StatusRequestEntityTooLarge)
	}},
	{name: "body-limited-kept", direct: true, only: http1, method: "POST", body: strings.Repeat("body", 1000), unseen: true, talk: func(d *dialogue) { d.await("too large") },
		serve: func(c *call) {
			// The server's writer has a method, which nobody else knows, that closes the connection.
			_, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, 100))
			http.Error(c.w, err.Error(), http.StatusRequestEntityTooLarge)
		}},
	{name: "form", method: "POST", header: formType, body: "a=1&b=2&b=3", target: route + "form?a=4&c=5", serve: func(c *call) {
		err := c.r.ParseForm()
		fmt.Fprint(c.w, err, c.r.Form, c.r.PostForm, c.r.FormValue("b"), c.r.PostFormValue("a"), c.r.FormValue("c"))
	}},
	{name: "form-bad", method: "POST", header: formType, body: "a=%zz;b", serve: func(c *call) {
		err := c.r.ParseForm()
		fmt.Fprint(c.w, err, c.r.Form)
	}},
	{name: "query", target: route + "query?a=1&a=2&%62=3", serve: func(c *call) { fmt.Fprint(c.w, c.r.FormValue("b"), c.r.Form, c.r.URL.Query()) }},
	{name: "multipart", method: "POST", header: multipartType, body: multipartBody(), serve: func(c *call) {
		err := c.r.ParseMultipartForm(1 << 20)
		noteForm(c, err)
	}},
	{name: "multipart-files", method: "POST", header: multipartType, body: multipartBody(), serve: func(c *call) {
		err := c.r.ParseMultipartForm(1) // the server removes the files
		noteForm(c, err)
	}},
	{name: "multipart-value", method: "POST", header: multipartType, body: multipartBody(), chunked: true, serve: func(c *call) {
		fmt.Fprint(c.w, c.r.FormValue("a"), c.r.PostFormValue("b"))
	}},
	{name: "multipart-panic", method: "POST", header: multipartType, body: multipartBody(), closes: true, serve: func(c *call) {
		err := c.r.ParseMultipartForm(1)
		c.note("%v", err)
		panic("a handler's own, with files")
	}},
	{name: "multipart-reader", method: "POST", header: multipartType, body: multipartBody(), serve: func(c *call) {
		mr, err := c.r.MultipartReader()
		if err != nil {
			c.note("%v", err)
			return
		}
		var all bytes.Buffer
		for {
			p, err := mr.NextPart()
			if err != nil {
				c.note("%v", err)
				break
			}
			n, err := io.Copy(&all, p)
			c.note("%q %q %d %v", p.FormName(), p.FileName(), n, err)
		}
		all.WriteTo(c.w)
	}},
	{name: "trailers-in", method: "POST", body: "body", header: []hpack.HeaderField{field("Trailer", "X-A")},
		trailers: []hpack.HeaderField{field("x-a", "1")}, serve: readAll},
	{name: "trailers-in-undeclared", method: "POST", body: "body", trailers: []hpack.HeaderField{field("x-a", "1")}, serve: readAll},
	{name: "trailers-in-some", method: "POST", body: strings.Repeat("body", 1000), header: []hpack.HeaderField{field("Trailer", "X-B")},
		trailers: []hpack.HeaderField{field("x-a", "1"), field("x-b", "2"), field("x-b", "3")}, serve: readAll},
	{name: "expect", method: "POST", body: "expected", closes: true, expects: true, header: []hpack.HeaderField{field("Expect", "100-continue")}, serve: readAll},
	{name: "expect-hints", direct: true, method: "POST", body: "expected", closes: true, expects: true, header: []hpack.HeaderField{field("Expect", "100-continue")}, serve: func(c *call) {
		c.w.WriteHeader(http.StatusContinue)
		readAll(c)
	}},
	{name: "expect-chunked", method: "POST", body: "expected", closes: true, chunked: true, expects: true,
		header: []hpack.HeaderField{field("Expect", "100-continue")}, trailers: []hpack.HeaderField{field("x-a", "1")}, serve: readAll},
	{name: "expect-refused", direct: true, method: "POST", body: "expected", closes: true, expects: true, header: []hpack.HeaderField{field("Expect", "100-continue")},
		serve: func(c *call) { http.Error(c.w, "no", http.StatusForbidden) }},
	{name: "expect-unknown", method: "POST", body: "expected", only: http1, closes: true, header: []hpack.HeaderField{field("Expect", "miracles")}, unseen: true,
		serve: readAll},
	{name: "context", serve: func(c *call) {
		ctx, cancel := context.WithCancel(c.r.Context())
		defer cancel()
		r := c.r.WithContext(ctx)
		c.note("%v %v %v", ctx.Err(), context.Cause(ctx), r.Header)
		var names []string
		for _, cookie := range c.r.Cookies() {
			names = append(names, cookie.Name)
		}
		sort.Strings(names)
		fmt.Fprint(c.w, names, c.r.UserAgent(), c.r.Referer(), c.r.ProtoAtLeast(1, 1))
	}, header: []hpack.HeaderField{field("Cookie", "a=1; b=2"), field("User-Agent", "foreign"), field("Referer", "somewhere")}},
	{name: "gone", gone: true, serve: func(c *call) {
		begun <- true
		<-c.r.Context().Done()
		c.note("%v, %v", c.r.Context().Err(), context.Cause(c.r.Context()))
	}},
}

// noteForm writes what a multipart form has.
func noteForm(c *call, err error) {
	fmt.Fprint(c.w, err)
	if err != nil {
		return
	}
	fmt.Fprint(c.w, c.r.MultipartForm.Value, c.r.Form, c.r.PostForm)
	for _, fh := range c.r.MultipartForm.File["f"] {
		fmt.Fprint(c.w, fh.Filename, fh.Size, fh.Header)
		f, err := fh.Open()
		if err != nil {
			c.note("%v", err)
			continue
		}
		c.note("%T", f)
		io.Copy(c.w, f)
		f.Close()
	}
	_, fh, err := c.r.FormFile("f")
	fmt.Fprint(c.w, fh.Filename, err)
}
