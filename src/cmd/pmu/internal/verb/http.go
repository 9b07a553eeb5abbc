// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package verb

import (
	"bytes"
	"cmd/internal/browser"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
)

// HTTP is the flag -http.
type HTTP struct {
	name string // of the verb
	addr string
}

// HTTP defines the flag -http.
func (v *Verb) HTTP(fs *flag.FlagSet) *HTTP {
	h := &HTTP{name: v.Name}
	fs.Func("http", "show pages at this `address`, [host]:port, in a browser; a free port if it is empty,\nfor this machine only if there is no host", func(addr string) error {
		h.addr = addr
		if addr == "" {
			return nil
		}
		_, _, err := net.SplitHostPort(addr)
		return err
	})
	return h
}

// Given reports whether the flag is there.
func (h *HTTP) Given() bool { return h.addr != "" }

// ServePage serves one page, until the process is ended.
func (h *HTTP) ServePage(std IO, contentSecurityPolicy string, write func(w io.Writer) error) error {
	var page bytes.Buffer
	if err := write(&page); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", contentSecurityPolicy)
		w.Write(page.Bytes())
	})
	return h.Serve(std, mux)
}

// Serve serves pages, and opens the one at / in a browser. It returns if there is an error.
func (h *HTTP) Serve(std IO, pages http.Handler) error {
	host, port, err := net.SplitHostPort(h.addr)
	if err != nil {
		return fmt.Errorf("-http: %w", err)
	}
	if host == "" {
		host = "localhost"
	}
	ln, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return fmt.Errorf("-http: %w", err)
	}
	defer ln.Close()
	url := "http://" + ln.Addr().String() + "/"
	fmt.Fprintf(std.Stderr, "pmu %s: the pages are at %s until this program is interrupted\n", h.name, url)
	go browser.Open(url)
	return http.Serve(ln, local(ln.Addr(), pages))
}

// local lets through what asks for this machine by an address or as localhost, if the server is for
// this machine only. A page from elsewhere may have a name of its own point here.
func local(at net.Addr, pages http.Handler) http.Handler {
	if tcp, ok := at.(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		return pages
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
			http.Error(w, "the pages are for this machine only", http.StatusForbidden)
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		pages.ServeHTTP(w, r)
	})
}
