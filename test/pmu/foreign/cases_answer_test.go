// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package foreign

import (
	"fmt"
	"io"
	"net/http"

	"golang.org/x/net/http2/hpack"
)

// answerCases are about status and header.
var answerCases = []testCase{
	{name: "plain", serve: func(c *call) { io.WriteString(c.w, "plain") }},
	{name: "nothing", serve: func(c *call) {}},
	{name: "status-200", serve: func(c *call) { c.w.WriteHeader(200) }},
	{name: "status-201", serve: func(c *call) { c.w.WriteHeader(201); io.WriteString(c.w, "created") }},
	{name: "status-204", serve: func(c *call) { c.w.WriteHeader(204) }},
	{name: "status-304", serve: func(c *call) { c.w.Header().Set("Etag", `"1"`); c.w.WriteHeader(304) }},
	{name: "status-404", serve: func(c *call) { http.NotFound(c.w, c.r) }},
	{name: "status-500", serve: func(c *call) { http.Error(c.w, "broken", 500) }},
	{name: "status-799", serve: func(c *call) { c.w.WriteHeader(799); io.WriteString(c.w, "unheard of") }},
	{name: "redirect", serve: func(c *call) { http.Redirect(c.w, c.r, "/elsewhere?a=b", http.StatusFound) }},
	{name: "redirect-relative", serve: func(c *call) { http.Redirect(c.w, c.r, "there", http.StatusPermanentRedirect) }},
	{name: "redirect-post", method: "POST", body: "a", serve: func(c *call) {
		io.Copy(io.Discard, c.r.Body)
		http.Redirect(c.w, c.r, "/x", http.StatusSeeOther)
	}},
	{name: "head", method: "HEAD", serve: func(c *call) { io.WriteString(c.w, "not sent") }},
	{name: "head-length", method: "HEAD", serve: func(c *call) { c.w.Header().Set("Content-Length", "12345") }},
	{name: "head-large", method: "HEAD", only: http1, serve: func(c *call) { writeMuch(c, 100_000) }},
	{name: "length", serve: func(c *call) { c.w.Header().Set("Content-Length", "5"); io.WriteString(c.w, "12345") }},
	{name: "length-0", serve: func(c *call) { c.w.Header().Set("Content-Length", "0"); c.w.WriteHeader(200) }},
	{name: "header-many", serve: func(c *call) {
		h := c.w.Header()
		for i := range 50 {
			h.Add(fmt.Sprint("X-", i%7), fmt.Sprint(i))
		}
		h.Add("Set-Cookie", "a=1")
		h.Add("Set-Cookie", "b=2")
		http.SetCookie(c.w, &http.Cookie{Name: "c", Value: "3", HttpOnly: true})
		io.WriteString(c.w, "many")
	}},
	{name: "header-case", serve: func(c *call) {
		c.w.Header()["x-lower"] = []string{"1"}
		c.w.Header()["X-uPPER"] = []string{"2", "3"}
		io.WriteString(c.w, "case")
	}},
	{name: "header-none", serve: func(c *call) {
		c.w.Header()["Date"] = nil
		c.w.Header()["Content-Type"] = nil
		io.WriteString(c.w, "none")
	}},
	{name: "header-sniffed", serve: func(c *call) { io.WriteString(c.w, "<html><body>") }},
	{name: "header-late", serve: func(c *call) {
		c.w.Header().Set("X-Early", "1")
		c.w.WriteHeader(200)
		c.w.Header().Set("X-Late", "1")
		c.w.Header().Set("X-Early", "2")
		io.WriteString(c.w, "late")
	}},
	{name: "header-invalid", serve: func(c *call) {
		c.w.Header().Set("X-Lines", "a\r\nb: c")
		c.w.Header()["X Space"] = []string{"1"}
		io.WriteString(c.w, "invalid")
	}},
	{name: "header-close", closes: true, serve: func(c *call) { c.w.Header().Set("Connection", "close"); io.WriteString(c.w, "close") }},
	{name: "early-hints", serve: func(c *call) {
		c.w.Header().Set("Link", "</style.css>; rel=preload; as=style")
		c.w.WriteHeader(http.StatusEarlyHints)
		c.w.Header().Add("Link", "</script.js>; rel=preload; as=script")
		c.w.WriteHeader(http.StatusEarlyHints)
		c.w.Header().Set("X-Final", "1")
		io.WriteString(c.w, "final")
	}},
	{name: "processing", serve: func(c *call) {
		c.w.WriteHeader(http.StatusProcessing)
		c.w.WriteHeader(http.StatusNoContent)
	}},
	{name: "traced", header: []hpack.HeaderField{
		field("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
		field("Tracestate", "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7"),
		field("Baggage", "a=b"),
	}, serve: func(c *call) { io.WriteString(c.w, "traced") }},
	{name: "traced-badly", header: []hpack.HeaderField{
		field("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
		field("Traceparent", "00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"),
		field("Tracestate", "=,,;"),
		field("Tracestate", "rojo=00f067aa0ba902b7"),
	}, serve: func(c *call) { io.WriteString(c.w, "traced badly") }},

	// What is not the handler's.
	{name: "no-case", serve: nil},
	{name: "no-route", target: "/elsewhere"},
	{name: "no-clean-path", target: "/in/..//in/./plain"},
	{name: "no-method", method: "BREW"},
	{name: "options", method: "OPTIONS", serve: func(c *call) { c.w.Header().Set("Allow", "GET") }},
	{name: "server-options", method: "OPTIONS", target: "*", unseen: true},
	{name: "patterns", serve: func(c *call) {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /{first}/{rest...}", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, r.Pattern, r.PathValue("first"), r.PathValue("rest"))
		})
		mux.HandleFunc("GET /{only}", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Pattern, r.PathValue("only")) })
		mux.ServeHTTP(c.w, c.r)
		c.note("%q %q %q %q", c.r.Pattern, c.r.PathValue("first"), c.r.PathValue("rest"), c.r.PathValue("only"))
	}},
	{name: "path-values", serve: func(c *call) { fmt.Fprintf(c.w, "%q %q", c.r.Pattern, c.r.PathValue("case")) }},
	{name: "http-1.0", only: http1, closes: true, raw: "GET /in/http-1.0 HTTP/1.0\r\nHost: example.com\r\n\r\n",
		serve: func(c *call) { writeMuch(c, 10_000) }},
	{name: "http-1.0-keep", only: http1, raw: "GET /in/http-1.0-keep HTTP/1.0\r\nHost: example.com\r\nConnection: keep-alive\r\n\r\n",
		serve: func(c *call) { c.w.Header().Set("Content-Length", "4"); io.WriteString(c.w, "keep") }},
}
