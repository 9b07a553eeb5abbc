// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"context"
	"internal/taskrecord"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/task"
	"strings"
	"testing"
	"time"
)

// TestCallsSideBySide has a task wait for one call while a goroutine of it makes another. That one
// ends first once the wait is over, so times alone do not say what the wait was for.
func TestCallsSideBySide(t *testing.T) {
	for _, test := range []struct {
		name   string
		http2  bool
		handed bool // another goroutine reads the answer
	}{
		{"HTTP/1.1", false, false},
		{"HTTP/1.1, read by another goroutine", false, true},
		{"HTTP/2", true, false},
		{"HTTP/2, read by another goroutine", true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			asked, answer, release := make(chan bool, 1), make(chan bool), make(chan bool)
			slow := startBackend(t, test.http2, func(w http.ResponseWriter, r *http.Request) {
				if test.handed {
					w.WriteHeader(200)
					http.NewResponseController(w).Flush()
				}
				asked <- true
				<-answer
				io.WriteString(w, "x")
				http.NewResponseController(w).Flush()
				<-r.Context().Done() // the client is not done with the answer
			})
			other := startBackend(t, test.http2, func(http.ResponseWriter, *http.Request) { <-release })

			const kind = "asks two servers"
			if err := task.Start(task.Config{Rate: 1, Slow: map[string]time.Duration{kind: 1}}); err != nil {
				t.Fatal(err)
			}
			defer task.Stop()
			r := taskrecord.NewRingReader(false)
			ended := make(chan bool)
			var released time.Duration // since the task began, or a little less
			go func() {
				defer close(ended)
				ctx, task := task.New(context.Background(), kind)
				defer task.End()
				began := time.Now()
				otherDone := make(chan bool)
				go func() {
					defer close(otherDone)
					if resp := other.get(t, ctx); resp != nil {
						resp.Body.Close()
					}
				}()
				var resp *http.Response
				ask := func() { resp = slow.get(t, ctx) }
				if test.handed {
					ask()
				} else {
					waitsForAnswer(ask)
				}
				if resp == nil {
					return
				}
				read := func() {
					first := func() { resp.Body.Read(make([]byte, 1)) }
					if test.handed {
						waitsForAnswer(first)
					} else {
						first()
					}
					released = time.Since(began)
					release <- true
					<-otherDone
					resp.Body.Close()
				}
				if !test.handed {
					read()
					return
				}
				done := make(chan bool)
				go func() { defer close(done); read() }()
				<-done
			}()
			<-asked
			for !waiting("pprof.waitsForAnswer(") {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(20 * time.Millisecond) // the task waits meanwhile
			answer <- true
			<-ended

			rec := r.Next()
			for ; rec != nil && rec.Kind != kind; rec = r.Next() {
			}
			if rec == nil {
				t.Fatal("no record")
			}
			if len(rec.Calls) != 2 || rec.Calls[0].Goroutine == rec.Calls[1].Goroutine || rec.Calls[0].Goroutine == 0 || rec.Calls[1].Goroutine == 0 {
				t.Fatalf("calls %+v", rec.Calls)
			}
			for _, c := range rec.Calls {
				if handed := c.Ender != c.Goroutine; handed != (test.handed && c.Kind == slow.kind) {
					t.Errorf("a call by goroutine %d was ended by %d: %s", c.Goroutine, c.Ender, c.Kind)
				}
			}
			var waited time.Duration
			for _, s := range rec.CriticalPath() {
				switch {
				case s.Call >= 0 && rec.Calls[s.Call].Kind == slow.kind:
					waited += s.End - s.Start
				case s.Call >= 0 && s.Start < released:
					t.Errorf("a wait for %s from %v on, and nobody waited for it before %v", rec.Calls[s.Call].Kind, s.Start, released)
				}
			}
			if waited == 0 {
				t.Errorf("the task did not wait for the slow call; reasons %v", rec.Causes())
			}
		})
	}
}

// waitsForAnswer calls f, in which the goroutine waits.
//
//go:noinline
func waitsForAnswer(f func()) { f() }

// waiting reports whether a goroutine waits that has a function in its stack.
func waiting(function string) bool {
	buf := make([]byte, 1<<20)
	for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(g, function) {
			state, _, _ := strings.Cut(g, "]")
			return !strings.Contains(state, "[runn") // running, or runnable
		}
	}
	return false
}

// A callBackend is a server that a test calls.
type callBackend struct {
	url, kind string
	client    *http.Client
}

func startBackend(t *testing.T, http2 bool, f http.HandlerFunc) *callBackend {
	s := httptest.NewUnstartedServer(f)
	if s.EnableHTTP2 = http2; http2 {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	c := s.Client()
	c.Transport = TaskTransport(c.Transport)
	return &callBackend{s.URL, "GET " + s.Listener.Addr().String(), c}
}

// get returns the answer, whose body has not been read, or nil.
func (b *callBackend) get(t *testing.T, ctx context.Context) *http.Response {
	r, err := http.NewRequestWithContext(ctx, "GET", b.url, nil)
	if err == nil {
		var resp *http.Response
		if resp, err = b.client.Do(r); err == nil {
			return resp
		}
	}
	t.Error(err)
	return nil
}
