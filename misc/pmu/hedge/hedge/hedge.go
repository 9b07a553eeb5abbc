// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

// Package hedge sends a request to a second server when the first one says that it is stopped.
//
// A [Transport] has two servers or more that give the same answers. It sends each request to the
// active one. What servers say of themselves is the first reason to act (package runtime/hazard): when the active
// server is stopped, drains or has gone, another one becomes active, and what is in flight is
// sent again, to that one. The second reason is time. Nobody announces some stops, so a request that
// takes longer than 99 of 100 of its kind is sent again, too. One budget bounds both.
//
// The first answer wins. Only requests that may be sent twice are: see [Config.Idempotent].
//
//	t, err := hedge.New(hedge.Config{Backends: []hedge.Backend{
//		{URL: a, Source: hedge.File("/dev/shm/shop/a")},
//		{URL: b, Source: hedge.File("/dev/shm/shop/b")},
//	}})
//	...
//	client := &http.Client{Transport: t}
//
// [Proxy] is the same for clients that know nothing of it.
package hedge

import (
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"runtime/hazard"
	"time"
)

// A Backend is a server.
type Backend struct {
	// Name is what notes and statistics call it. If it is empty, that is a letter: a is the first one.
	Name string

	// URL has a scheme and a host. They replace those of requests.
	URL *url.URL

	// Source says what state the server is in. It may be nil: then only delays and failed
	// connections tell. If it has a method Close, that is called in the end.
	Source Source
}

// A Config says how a [Transport] acts. Only Backends is required.
type Config struct {
	Backends []Backend

	// Base sends the attempts. It is http.DefaultTransport if it is nil.
	Base http.RoundTripper

	// Act reports whether a state is a reason to ask another server, and for how long it must have lasted by
	// then. If it is nil, that is [Act].
	Act func(s hazard.Status) (after time.Duration, ok bool)

	// Kind returns what kind a request is of. There may be 64 kinds; the others together are one more.
	// If it is nil, the kind is the method and the first element of the path.
	Kind func(r *http.Request) string

	// Delay returns after how long a request of a kind is sent again; 0 is never. p99 is how long 99 of
	// 100 of this kind take at most, or 0 while that is not known. If Delay is nil, it is p99. It is
	// called when p99 is another one, while requests wait: it must not use the Transport.
	Delay func(kind string, p99 time.Duration) time.Duration

	// Idempotent reports whether a request may be sent twice. If it is nil, that is [Idempotent].
	Idempotent func(r *http.Request) bool

	// Budget is how many requests are sent again at most, in parts of all requests. If it is 0,
	// that is 0.05. If it is negative, it is none. Delays take half of it at most. What is not used is
	// saved up, but not more than for Burst requests, or 100 if that is 0.
	Budget float64
	Burst  int

	// MaxBody is up to how many bytes of a request's body are kept, to be sent again: 64 KiB if it is 0,
	// none if it is negative. A body that has GetBody need not be kept.
	MaxBody int64

	// MaxInFlight is how many requests may be in flight that can be sent again: 16,384 if it is 0.
	// Those beyond are sent once.
	MaxInFlight int

	// Warm reports whether a copy of a request without a body, which Idempotent reports true for, may be
	// sent to a server that is starting, to warm it up. If it is nil, those of GET may.
	Warm func(r *http.Request) bool

	// Scoped says that the context of each request ends as soon as its answer has been read, as that of a
	// request that a server gets does. Then the first attempt uses it as it is, which saves allocations.
	Scoped bool

	// ErrorLog gets what is wrong with sources. If it is nil, that is the log package's.
	ErrorLog *log.Logger
}

const (
	defaultBudget      = 0.05
	defaultBurst       = 100
	defaultMaxBody     = 64 << 10
	defaultMaxInFlight = 16 << 10
)

// withDefaults returns c with what it leaves out, or an error.
func (c Config) withDefaults() (Config, error) {
	if len(c.Backends) == 0 {
		return c, errors.New("hedge: no backends: name one at least, and two for something to happen")
	}
	for i, b := range c.Backends {
		if b.URL == nil || b.URL.Scheme != "http" && b.URL.Scheme != "https" || b.URL.Host == "" {
			return c, fmt.Errorf("hedge: backend %d: URL %v: want http://HOST or https://HOST", i+1, b.URL)
		}
		if b.URL.Path != "" && b.URL.Path != "/" || b.URL.RawQuery != "" || b.URL.User != nil {
			return c, fmt.Errorf("hedge: backend %d: URL %v: want a scheme and a host only", i+1, b.URL.Redacted())
		}
	}
	if !(c.Budget <= 1) {
		return c, fmt.Errorf("hedge: budget %v: want a part of all requests, 1 at most", c.Budget)
	}
	orElse(&c.Budget, defaultBudget)
	orElse(&c.Burst, defaultBurst)
	orElse(&c.MaxBody, defaultMaxBody)
	orElse(&c.MaxInFlight, defaultMaxInFlight)
	orElse(&c.Base, http.DefaultTransport)
	orElse(&c.ErrorLog, log.Default())
	if c.Act == nil {
		c.Act = Act
	}
	if c.Idempotent == nil {
		c.Idempotent = Idempotent
	}
	if c.Delay == nil {
		c.Delay = func(_ string, p99 time.Duration) time.Duration { return p99 }
	}
	if c.Warm == nil {
		c.Warm = func(r *http.Request) bool { return r.Method == "" || r.Method == http.MethodGet }
	}
	return c, nil
}

// orElse sets a value that is left out.
func orElse[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}
