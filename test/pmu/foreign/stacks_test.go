// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package foreign

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"github.com/felixge/httpsnoop"
	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	chimiddleware "github.com/go-chi/chi/v5/middleware"
	"github.com/klauspost/compress/gzhttp"
	echo4 "github.com/labstack/echo/v4"
	echo5 "github.com/labstack/echo/v5"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/propagation"
)

// A middleware is a handler around another one. TaskHandler is one.
type middleware func(http.Handler) http.Handler

func identity(h http.Handler) http.Handler { return h }

// A stack is what is between a server and a handler.
type stack struct {
	name string

	// build returns the server's handler, which has h called for all paths below /in/. A
	// router that has middlewares of its own gets one to use.
	build func(s *site, use middleware, h http.Handler) http.Handler

	router bool // it uses use
	proxy  bool // h is another server's handler
}

// An opaqueWriter is what many middlewares have: nobody sees what it is around of.
type opaqueWriter struct{ http.ResponseWriter }

// route has the paths of all cases in the syntax of a router.
const route = "/in/"

var stacks = []stack{
	{name: "server", build: func(s *site, use middleware, h http.Handler) http.Handler { return h }},
	{name: "ServeMux", build: func(s *site, use middleware, h http.Handler) http.Handler {
		mux := http.NewServeMux()
		mux.Handle(route+"{case}", h)
		return mux
	}},
	{name: "TimeoutHandler", build: func(s *site, use middleware, h http.Handler) http.Handler {
		return http.TimeoutHandler(h, time.Hour, "")
	}},
	{name: "opaque", build: func(s *site, use middleware, h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(opaqueWriter{w}, r) })
	}},
	{name: "StripPrefix", build: func(s *site, use middleware, h http.Handler) http.Handler {
		return http.StripPrefix("/in", h)
	}},
	{name: "ReverseProxy", proxy: true, build: func(s *site, use middleware, h http.Handler) http.Handler {
		return proxy(s, h)
	}},
	{name: "chi", router: true, build: func(s *site, use middleware, h http.Handler) http.Handler {
		return chiRouter(use, h)
	}},
	{name: "chi, logger", router: true, build: func(s *site, use middleware, h http.Handler) http.Handler {
		return s.seen.watch(chimiddleware.RequestLogger(chiLog{s.seen})(chiRouter(use, h)))
	}},
	{name: "gin", router: true, build: func(s *site, use middleware, h http.Handler) http.Handler { return ginRouter(use, h) }},
	{name: "gin, recovery", router: true, build: func(s *site, use middleware, h http.Handler) http.Handler {
		return ginRouter(use, h, gin.RecoveryWithWriter(io.Discard))
	}},
	{name: "echo v4", router: true, build: func(s *site, use middleware, h http.Handler) http.Handler {
		e := echo4.New()
		e.Use(echo4.WrapMiddleware(use))
		e.Any(route+":case", echo4.WrapHandler(h))
		e.Logger.SetOutput(io.Discard)
		return e
	}},
	{name: "echo v5", router: true, build: func(s *site, use middleware, h http.Handler) http.Handler {
		e := echo5.New()
		e.Logger = slog.New(slog.DiscardHandler)
		e.Use(echo5.WrapMiddleware(use))
		e.Any(route+":case", echo5.WrapHandler(h))
		return e
	}},
	{name: "otelhttp", build: func(s *site, use middleware, h http.Handler) http.Handler { return otel(h) }},
	{name: "gzhttp", build: func(s *site, use middleware, h http.Handler) http.Handler { return gzhttp.GzipHandler(h) }},
	{name: "httpsnoop", build: func(s *site, use middleware, h http.Handler) http.Handler { return snoop(s, h) }},
	{name: "all", router: true, build: func(s *site, use middleware, h http.Handler) http.Handler {
		return otel(gzhttp.GzipHandler(snoop(s, chiRouter(use, h))))
	}},
}

func chiRouter(use middleware, h http.Handler) http.Handler {
	r := chi.NewRouter()
	r.Use(use)
	r.Handle(route+"{case}", h)
	return r
}

// A chiLog notes what the writer of chi's logger, which is around the server's, has been told.
type chiLog struct{ seen *notebook }

func (l chiLog) NewLogEntry(r *http.Request) chimiddleware.LogEntry { return chiEntry{l.seen, r} }

type chiEntry struct {
	seen *notebook
	r    *http.Request
}

func (e chiEntry) Write(status, bytes int, header http.Header, elapsed time.Duration, extra any) {
	e.seen.note(e.r, "chi logs %d, %d bytes, %v", status, bytes, header)
}

func (e chiEntry) Panic(v any, stack []byte) { e.seen.note(e.r, "chi logs a panic: %v", v) }

func otel(h http.Handler) http.Handler {
	return otelhttp.NewHandler(h, "foreign", otelhttp.WithPropagators(propagation.TraceContext{}))
}

// ginRouter has use as gin's users have middlewares of net/http: an adapter hands gin's own
// writer to them.
func ginRouter(use middleware, h http.Handler, around ...gin.HandlerFunc) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.Use(around...)
	e.Use(func(c *gin.Context) {
		use(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c.Request = r
			c.Next()
		})).ServeHTTP(c.Writer, c.Request)
	})
	e.Any(route+":case", gin.WrapH(h))
	return e
}

// proxy returns a proxy for a server whose handler is h. That server gets the connection of
// each request anew: whether the proxy has an old one depends on time.
func proxy(s *site, h http.Handler) http.Handler {
	back := s.serve(h, http1)
	target, err := url.Parse(back.URL)
	if err != nil {
		panic(err)
	}
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true, ExpectContinueTimeout: patience}
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host
			r.SetXForwarded()
			r.Out.Host = r.In.Host // the port differs from server to server
		},
		Transport: transport,
		ErrorLog:  s.errorLog,
	}
}

// snoop has all hooks of httpsnoop, and notes what they saw, and what it finds in its request
// when the handler has ended. (That is not all that the handler has there: see Form in the
// documentation of TaskHandler.)
func snoop(s *site, h http.Handler) http.Handler {
	return s.seen.watch(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var calls []string
		saw := func(name string) { calls = append(calls, name) }
		w = httpsnoop.Wrap(w, httpsnoop.Hooks{
			Header: func(f httpsnoop.HeaderFunc) httpsnoop.HeaderFunc { return f },
			WriteHeader: func(f httpsnoop.WriteHeaderFunc) httpsnoop.WriteHeaderFunc {
				return func(code int) { saw("WriteHeader"); f(code) }
			},
			Write: func(f httpsnoop.WriteFunc) httpsnoop.WriteFunc {
				return func(b []byte) (int, error) { saw("Write"); return f(b) }
			},
			Flush: func(f httpsnoop.FlushFunc) httpsnoop.FlushFunc {
				return func() { saw("Flush"); f() }
			},
			ReadFrom: func(f httpsnoop.ReadFromFunc) httpsnoop.ReadFromFunc {
				return func(r io.Reader) (int64, error) { saw("ReadFrom"); return f(r) }
			},
		})
		m := httpsnoop.CaptureMetricsFn(w, func(w http.ResponseWriter) {
			defer func() {
				s.seen.note(r, "httpsnoop saw %q", calls)
				s.seen.note(r, "around the handler: pattern %q, values %q %q, trailers %v, a multipart form %v",
					r.Pattern, r.PathValue("first"), r.PathValue("rest"), r.Trailer, r.MultipartForm != nil)
			}()
			h.ServeHTTP(w, r)
		})
		s.seen.note(r, "httpsnoop's metrics are %d, %d bytes", m.Code, m.Written)
	}))
}
