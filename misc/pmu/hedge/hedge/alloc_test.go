// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
)

// atOnce is a Base that answers at once, so that what is counted is the rest.
type atOnce struct{}

func (atOnce) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

// A discarder is a ResponseWriter for answers that nobody reads.
type discarder struct{ h http.Header }

func (d discarder) Header() http.Header         { return d.h }
func (d discarder) Write(p []byte) (int, error) { return len(p), nil }
func (d discarder) WriteHeader(int)             {}

// alone is the proxy without hedging: all goes to one server.
func alone(base http.RoundTripper, u *url.URL, pool httputil.BufferPool) http.Handler {
	return &httputil.ReverseProxy{Transport: base, BufferPool: pool, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetXForwarded()
		r.Out.URL.Scheme, r.Out.URL.Host = u.Scheme, u.Host
		r.Out.Host = r.In.Host
	}}
}

func hedged(t testing.TB, base http.RoundTripper, scoped bool, urls ...*url.URL) http.Handler {
	c := Config{Base: base, Scoped: scoped, ErrorLog: log.New(io.Discard, "", 0)}
	for _, u := range urls {
		c.Backends = append(c.Backends, Backend{URL: u, Source: plant()})
	}
	tr, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	return Proxy(tr, c.ErrorLog)
}

// request serves a request as a server would.
func request(t testing.TB, h http.Handler) func() {
	r := httptest.NewRequestWithContext(t.Context(), "GET", "http://shop.test/cart/1", nil)
	w := discarder{http.Header{}}
	return func() {
		clear(w.h)
		h.ServeHTTP(w, r)
	}
}

// mostAllocations is how many allocations a request may cost more than by ReverseProxy alone.
const mostAllocations = 4

// TestAllocations tests that a request without a hazard costs little memory more.
func TestAllocations(t *testing.T) {
	u := &url.URL{Scheme: "http", Host: "a.test"}
	one := request(t, alone(atOnce{}, u, new(buffers)))
	two := request(t, hedged(t, atOnce{}, true, u, &url.URL{Scheme: "http", Host: "b.test"}))
	for range 2 * window { // until p99 is known
		two()
	}
	was, is := testing.AllocsPerRun(1000, one), testing.AllocsPerRun(1000, two)
	t.Logf("%v allocations, and %v by ReverseProxy alone", is, was)
	if is > was+mostAllocations {
		t.Errorf("%v allocations, want at most %d more than %v", is, mostAllocations, was)
	}
}

// BenchmarkProxy compares what a request costs with ReverseProxy alone: with a Base that answers at once,
// and with a server of this process. On the emulated machine of misc/pmu/vm, -counters instructions counts it.
func BenchmarkProxy(b *testing.B) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "x") }))
	defer srv.Close()
	u, err := url.Parse(srv.URL)
	if err != nil {
		b.Fatal(err)
	}
	for _, to := range []struct {
		name string
		base http.RoundTripper
	}{{"at once", atOnce{}}, {"server", &http.Transport{}}} {
		for _, c := range []struct {
			name string
			h    http.Handler
		}{
			{"alone", alone(to.base, u, nil)},
			{"alone, with buffers", alone(to.base, u, new(buffers))},
			{"hedge", hedged(b, to.base, true, u, u)},
			{"hedge, not scoped", hedged(b, to.base, false, u, u)},
		} {
			b.Run(to.name+"/"+c.name, func(b *testing.B) {
				b.ReportAllocs()
				one := request(b, c.h)
				for b.Loop() {
					one()
				}
			})
		}
	}
}
