// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"runtime/hazard"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestHazardRestart tests that a client that comes back to another process, which publishes at the same
// address and has had as many changes, is not told that it has missed nothing.
func TestHazardRestart(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(Hazard))
	t.Cleanup(srv.Close)
	p := publishHazard(t)
	c := followHazard(t, srv.URL, "")
	first, _ := c.next()
	p.Close()
	c.until(hazard.Gone, "closed")

	p = publishHazard(t)
	for range 10 {
		p.Set(hazard.Draining, "")
		p.Set(hazard.OK, "")
	}
	again := followHazard(t, srv.URL, first.id)
	if e, _ := again.next(); e.kind != "status" {
		t.Errorf("after %s of a page that is closed: %+v", first.id, e)
	}
}

// TestHazardChurn tests that clients that come and go leave no thread behind.
func TestHazardChurn(t *testing.T) {
	threads := func() int {
		list, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	publishHazard(t)
	srv := httptest.NewServer(http.HandlerFunc(Hazard))
	t.Cleanup(srv.Close)
	before := threads()
	const n = 200
	for range n {
		c, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if _, err := bufio.NewReader(c).ReadString('}'); err != nil {
			t.Fatal(err)
		}
		c.Close()
		for deadline := time.Now().Add(time.Minute); len(hazardStreams) > 0; time.Sleep(100 * time.Microsecond) {
			if time.Now().After(deadline) {
				t.Fatal("a stream is left")
			}
		}
	}
	if after := threads(); after > before+n/5 {
		t.Errorf("%d threads before, %d after %d clients", before, after, n)
	}
}

// TestHazardShutdown tests that a server need not wait for clients that follow the state, whose streams
// end as they should, and is not told to call more and more when it shuts down.
func TestHazardShutdown(t *testing.T) {
	publishHazard(t)
	for _, version := range []int{1, 2, 1} {
		srv := httptest.NewUnstartedServer(http.HandlerFunc(Hazard))
		srv.EnableHTTP2 = version == 2
		srv.StartTLS()
		var clients []*hazardClient
		var calls []int
		for range 3 {
			c := followHazardBy(t, srv.Client(), srv.URL, "")
			c.next()
			if c.resp.ProtoMajor != version {
				t.Errorf("%s, want %d", c.resp.Proto, version)
			}
			clients = append(clients, c)
			calls = append(calls, reflect.ValueOf(srv.Config).Elem().FieldByName("onShutdown").Len())
		}
		if calls[0] == 0 || calls[2] != calls[0] {
			t.Errorf("the server has to call %v", calls)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if err := srv.Config.Shutdown(ctx); err != nil {
			t.Fatal(err)
		}
		cancel()
		for _, c := range clients {
			for c.in.Scan() {
			}
			if err := c.in.Err(); err != nil {
				t.Errorf("HTTP/%d: %v", version, err)
			}
		}
		srv.Close()
	}
}

// TestHazardShutsDown tests a stream that begins when its server shuts down already.
func TestHazardShutsDown(t *testing.T) {
	publishHazard(t)
	there, down := make(chan struct{}), make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(there)
		<-down
		Hazard(w, r)
	}))
	defer srv.Close()
	srv.Config.RegisterOnShutdown(func() { close(down) })
	c, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	<-there
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := srv.Config.Shutdown(ctx); err != nil {
		t.Error(err)
	}
}

// slowWriter knows since when something is written.
type slowWriter struct {
	http.ResponseWriter
	since *atomic.Int64 // or 0
}

func (w slowWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w slowWriter) Write(b []byte) (int, error) {
	w.since.Store(time.Now().UnixNano())
	defer w.since.Store(0)
	return w.ResponseWriter.Write(b)
}

func (w slowWriter) FlushError() error {
	w.since.Store(time.Now().UnixNano())
	defer w.since.Store(0)
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// TestHazardSlowClient tests that a server that shuts down does not wait for a client that takes
// nothing.
func TestHazardSlowClient(t *testing.T) {
	defer func(d time.Duration) { hazardPatience = d }(hazardPatience)
	hazardPatience = time.Hour
	p := publishHazard(t)
	var since atomic.Int64
	over := make(chan struct{})
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(over)
		Hazard(slowWriter{w, &since}, r)
	}))
	srv.Listener = smallBuffers{srv.Listener}
	srv.Start()
	c, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.(*net.TCPConn).SetReadBuffer(1)
	fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	for i := 0; ; i++ { // until it has waited for half a second
		p.Set([]hazard.State{hazard.OK, hazard.Draining}[i%2], "more")
		time.Sleep(100 * time.Microsecond) // a page that changes all the time can't be read
		if t := since.Load(); t != 0 && time.Now().UnixNano()-t > int64(time.Second/2) {
			break
		}
		select {
		case <-over:
			t.Fatal("the stream has ended")
		default:
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := srv.Config.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	srv.CloseClientConnections()
	srv.Close()
}

// TestHazardNothingNew tests that a client that has missed nothing gets an answer at once.
func TestHazardNothingNew(t *testing.T) {
	publishHazard(t)
	srv := httptest.NewServer(http.HandlerFunc(Hazard))
	defer srv.Close()
	c := followHazard(t, srv.URL, "")
	defer c.resp.Body.Close()
	e, _ := c.next()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", srv.URL+"?beat=1h", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Last-Event-ID", e.id)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

// hiddenWriter hides what it wraps.
type hiddenWriter struct{ http.ResponseWriter }

// noDeadline has Flush alone.
type noDeadline struct{ http.ResponseWriter }

func (w noDeadline) Flush() { w.ResponseWriter.(http.Flusher).Flush() }

// noFlush has SetWriteDeadline alone.
type noFlush struct{ http.ResponseWriter }

func (w noFlush) SetWriteDeadline(t time.Time) error {
	return http.NewResponseController(w.ResponseWriter).SetWriteDeadline(t)
}

// unwrapper hides nothing.
type unwrapper struct{ http.ResponseWriter }

func (w unwrapper) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// TestHazardWrapped tests that where nothing can be streamed the client learns that.
func TestHazardWrapped(t *testing.T) {
	publishHazard(t)
	for _, c := range []struct {
		what string
		wrap func(w http.ResponseWriter) http.ResponseWriter
		code int
	}{
		{"plain", func(w http.ResponseWriter) http.ResponseWriter { return hiddenWriter{w} }, 500},
		{"without deadline", func(w http.ResponseWriter) http.ResponseWriter { return noDeadline{w} }, 500},
		{"without flush", func(w http.ResponseWriter) http.ResponseWriter { return noFlush{w} }, 500},
		{"with Unwrap", func(w http.ResponseWriter) http.ResponseWriter { return unwrapper{w} }, 200},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { Hazard(c.wrap(w), r) }))
		ctx, cancel := context.WithCancel(t.Context())
		req, _ := http.NewRequestWithContext(ctx, "GET", srv.URL, nil)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != c.code {
			t.Errorf("%s: %s", c.what, resp.Status)
		}
		if c.code != 200 {
			if body, _ := io.ReadAll(resp.Body); !strings.Contains(string(body), "Unwrap") {
				t.Errorf("%s: %s", c.what, body)
			}
		}
		cancel()
		resp.Body.Close()
		srv.Close()
	}
}
