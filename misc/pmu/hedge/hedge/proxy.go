// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"context"
	"errors"
	"log"
	"net/http"
	"net/http/httputil"
	"runtime/task"
	"sync"
)

// Proxy returns a handler that answers requests by sending them with t, which should be
// [Config.Scoped]. The servers get the client's Host, and X-Forwarded headers. What t returns an error for
// is answered with 502, and logged to l, or to the log package's if that is nil, unless the client has gone.
// If a request has a task of [task], that has the kind that the request has for t.
func Proxy(t *Transport, l *log.Logger) http.Handler {
	if l == nil {
		l = log.Default()
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetXForwarded()
			r.Out.URL.Scheme, r.Out.URL.Host = "http", r.In.Host // t has others
			r.Out.Host = r.In.Host
		},
		Transport:  t,
		BufferPool: new(buffers),
		ErrorLog:   l,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if !errors.Is(err, context.Canceled) {
				l.Printf("hedge: %s %s: %v", r.Method, r.Host, err)
			}
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if task := task.FromContext(r.Context()); task != nil {
			task.SetKind(t.kindText(r))
		}
		proxy.ServeHTTP(w, r)
	})
}

// kindText returns the name of a request's kind. There are only so many.
func (t *Transport) kindText(r *http.Request) string {
	name := t.kindName(r)
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.kindOf(name).name
}

// Buffers are used again. Otherwise each answer would take one of 32 KiB, which costs more than all the rest.
type buffers struct{ free sync.Pool }

const bufferSize = 32 << 10

func (b *buffers) Get() []byte {
	if p, ok := b.free.Get().(*[bufferSize]byte); ok {
		return p[:]
	}
	return make([]byte, bufferSize)
}

func (b *buffers) Put(p []byte) { b.free.Put((*[bufferSize]byte)(p)) }
