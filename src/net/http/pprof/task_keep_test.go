// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/task"
	"sync"
	"testing"
	"time"
)

// keepConn is a connection to a database that answers nothing.
type keepConn struct{}

func (keepConn) Prepare(string) (driver.Stmt, error)          { return nil, driver.ErrSkip }
func (keepConn) Close() error                                 { return nil }
func (keepConn) Begin() (driver.Tx, error)                    { return nil, driver.ErrSkip }
func (keepConn) Connect(context.Context) (driver.Conn, error) { return keepConn{}, nil }
func (keepConn) Driver() driver.Driver                        { return nil }
func (keepConn) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	return driver.ResultNoRows, nil
}

// TestTaskKeep tests that nothing keeps a request that has been answered, nor what its context
// has, while connections that it has opened are kept alive, and goroutines that it has started
// go on: those of servers, of clients, of the pool of a database and of workers.
func TestTaskKeep(t *testing.T) {
	const requests = 20
	for _, test := range []struct {
		name         string
		front, back2 bool // HTTP/2
		transport    func(http.RoundTripper) http.RoundTripper
	}{
		{"HTTP/1", false, false, func(rt http.RoundTripper) http.RoundTripper { return rt }},
		{"HTTP/2", true, true, func(rt http.RoundTripper) http.RoundTripper { return rt }},
		{"HTTP/1 TaskTransport", false, false, TaskTransport},
		{"HTTP/2 TaskTransport", true, true, TaskTransport},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := task.Start(task.Config{Rate: 1}); err != nil {
				t.Fatal(err)
			}
			defer task.Stop()
			serve := func(h http.Handler, two bool) *httptest.Server {
				s := httptest.NewUnstartedServer(h)
				s.EnableHTTP2 = two
				if two {
					s.StartTLS()
				} else {
					s.Start()
				}
				return s
			}
			var backends []*httptest.Server
			for range requests {
				s := serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "x") }), test.back2)
				defer s.Close()
				backends = append(backends, s)
			}
			var db *sql.DB
			var once sync.Once
			workers := make(chan func())
			defer close(workers)
			var kept sync.WaitGroup
			handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var i int
				for i = range backends {
					if r.URL.Path == "/"+string(rune('a'+i)) {
						break
					}
				}
				// A connection for each request, which its transport keeps.
				req, _ := http.NewRequestWithContext(r.Context(), "GET", backends[i].URL, nil)
				resp, err := test.transport(backends[i].Client().Transport).RoundTrip(req)
				if err != nil {
					t.Error(err)
					return
				}
				io.Copy(w, resp.Body)
				resp.Body.Close()
				once.Do(func() { // the first request makes the pool, and its goroutine
					db = sql.OpenDB(keepConn{})
					db.SetMaxIdleConns(requests)
				})
				if _, err := db.ExecContext(r.Context(), "x"); err != nil {
					t.Error(err)
				}
				// A worker, which goes on, and gets work of later requests.
				go func() {
					for f := range workers {
						f()
					}
				}()
				done := make(chan bool)
				workers <- func() { close(done) }
				<-done
			})
			type key struct{}
			outer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				v := new([1 << 10]byte)
				kept.Add(1)
				runtime.AddCleanup(v, func(int) { kept.Done() }, 0)
				TaskHandler(handler).ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), key{}, v)))
			})
			front := serve(outer, test.front)
			defer front.Close()
			for i := range requests {
				resp, err := front.Client().Get(front.URL + "/" + string(rune('a'+i)))
				if err != nil {
					t.Fatal(err)
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			defer db.Close()
			// A server keeps the latest request of a connection until the next one.
			resp, err := front.Client().Get(front.URL + "/a")
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			front.CloseClientConnections()
			done := make(chan bool)
			go func() { kept.Wait(); close(done) }()
			for i := 0; ; i++ {
				runtime.GC()
				select {
				case <-done:
					return
				case <-time.After(10 * time.Millisecond):
				}
				if i == 500 {
					t.Fatal("requests that have been answered are kept")
				}
			}
		})
	}
}
