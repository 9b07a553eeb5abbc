// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"internal/taskrecord"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime/pprof"
	"runtime/task"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A backend answers when it is told. Clients say that they have asked.
type backend struct{ asked, answer chan bool }

func (b *backend) wait() {
	b.asked <- true
	<-b.answer
}

// httpClient returns how to ask an HTTP server, over a connection that stays.
func (b *backend) httpClient(t *testing.T, http2 bool) func(ctx context.Context) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.wait()
		io.WriteString(w, "x")
	}))
	if s.EnableHTTP2 = http2; http2 {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	c := s.Client()
	return func(ctx context.Context) {
		r, _ := http.NewRequestWithContext(ctx, "GET", s.URL, nil)
		resp, err := c.Do(r)
		if err != nil {
			t.Error(err)
			return
		}
		if want := 1 + map[bool]int{true: 1}[http2]; resp.ProtoMajor != want {
			t.Errorf("HTTP/%d", resp.ProtoMajor)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}

// A slowDriver is a driver whose connections are made when the backend says so.
type slowDriver struct{ b *backend }

func (d slowDriver) Connect(context.Context) (driver.Conn, error) { d.b.wait(); return slowConn{}, nil }
func (d slowDriver) Driver() driver.Driver                        { return nil }

type slowConn struct{ driver.Conn }

func (slowConn) Close() error { return nil }

// A lockingDriver holds a mutex while it makes a connection. Once it is asked to, it does so until a task
// waits for that.
type lockingDriver struct {
	slowDriver
	mu     *sync.Mutex
	asked  *atomic.Bool
	locked chan bool
	waits  chan *task.Task
}

func (d lockingDriver) Connect(ctx context.Context) (driver.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.asked.Swap(false) {
		d.locked <- true
		t := <-d.waits
		for u, ok := t.Usage(); ok && u.Part(pprof.TimeMutex) < time.Millisecond; u, ok = t.Usage() {
			time.Sleep(time.Millisecond / 4)
		}
	}
	return d.slowDriver.Connect(ctx)
}

// mutexClient has the second task wait for a mutex of a driver, which the goroutine of database/sql
// holds that opens connections.
func mutexClient(t *testing.T, b *backend) func(context.Context) {
	d := lockingDriver{slowDriver{b}, new(sync.Mutex), new(atomic.Bool), make(chan bool), make(chan *task.Task)}
	var db *sql.DB
	var held *sql.Conn
	return func(ctx context.Context) {
		if db == nil {
			db = sql.OpenDB(d)
			t.Cleanup(func() { db.Close() })
			db.SetMaxOpenConns(1)
			held, _ = db.Conn(ctx)
			return
		}
		d.asked.Store(true)
		done := make(chan bool)
		go func() { // not for the task
			defer close(done)
			if c, err := db.Conn(context.Background()); err != nil {
				t.Error(err)
			} else {
				c.Close()
			}
		}()
		go func() {
			for db.Stats().WaitCount == 0 {
				time.Sleep(time.Millisecond)
			}
			held.Raw(func(any) error { return driver.ErrBadConn })
		}()
		<-d.locked
		d.waits <- task.FromContext(ctx)
		d.mu.Lock()
		d.mu.Unlock()
		<-done
	}
}

// TestCarriers plants waits for the network, and for who brings what came from there, through goroutines
// that another task has started, which is still open: that is not why.
func TestCarriers(t *testing.T) {
	for _, test := range []struct {
		name, reason string
		// client returns what both tasks do; the second one is to wait for the backend.
		client func(t *testing.T, b *backend) func(ctx context.Context)
	}{
		{"HTTP/1.1", "answer of a connection's peer", func(t *testing.T, b *backend) func(context.Context) { return b.httpClient(t, false) }},
		{"HTTP/2", "answer of a connection's peer", func(t *testing.T, b *backend) func(context.Context) { return b.httpClient(t, true) }},
		{"database/sql", "new connection", func(t *testing.T, b *backend) func(context.Context) {
			var db *sql.DB
			var held *sql.Conn
			return func(ctx context.Context) {
				if db == nil { // so its goroutine is the first task's
					db = sql.OpenDB(slowDriver{b})
					t.Cleanup(func() { db.Close() })
					db.SetMaxOpenConns(1)
					held, _ = db.Conn(ctx)
					return
				}
				// The only connection is given back as a bad one, when the second task waits.
				go func() {
					for db.Stats().WaitCount == 0 {
						time.Sleep(time.Millisecond)
					}
					held.Raw(func(any) error { return driver.ErrBadConn })
				}()
				c, err := db.Conn(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				c.Close()
			}
		}},
		{"mutex of what database/sql's goroutine calls", "mutex held by goroutine", mutexClient},
	} {
		t.Run(test.name, func(t *testing.T) {
			rec := plantWait(t, test.client)
			for _, s := range rec.Timeline {
				if s.Waker.Kind == "opens" {
					t.Errorf("%s is ended by task %q: %+v", s.Reason, s.Waker.Kind, s.Waker.Stack)
				}
			}
			// On a busy machine, or with the race detector, it may have run for longer.
			list := rec.Causes()
			if !slices.ContainsFunc(list, func(c taskrecord.Cause) bool { return strings.HasPrefix(c.String(), test.reason+" ") }) {
				t.Errorf("reasons %v, want %s", list, test.reason)
			}
		})
	}
}

// TestHolders plants waits for what another task holds while it waits for the network itself: that is
// why.
func TestHolders(t *testing.T) {
	rec := plantWait(t, func(t *testing.T, b *backend) func(ctx context.Context) {
		var db *sql.DB
		ask := b.httpClient(t, false)
		return func(ctx context.Context) {
			if db == nil {
				instant := &backend{make(chan bool, 1), make(chan bool, 1)}
				instant.answer <- true
				db = sql.OpenDB(slowDriver{instant})
				t.Cleanup(func() { db.Close() })
				db.SetMaxOpenConns(1)
				c, err := db.Conn(ctx)
				if err != nil {
					t.Error(err)
				}
				ask(ctx)
				holds := make(chan bool)
				go func() { // of the first task
					holds <- true
					ask(ctx)
					c.Close()
				}()
				<-holds
				return
			}
			c, err := db.Conn(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			c.Close()
		}
	})
	list := rec.Causes()
	if !slices.ContainsFunc(list, func(c taskrecord.Cause) bool { return strings.Contains(c.String(), `ended by task "opens"`) }) {
		t.Errorf("reasons %v", list)
	}
}

var plantedWaits atomic.Int32

// plantWait has a task open a connection, and another one wait for it, while the first one is open. It
// returns the record of the second one.
func plantWait(t *testing.T, client func(t *testing.T, b *backend) func(ctx context.Context)) *taskrecord.Record {
	t.Helper()
	kind := "waits " + strconv.Itoa(int(plantedWaits.Add(1))) // nothing is usual of it
	if err := task.Start(task.Config{Rate: 1, Slow: map[string]time.Duration{kind: 1}}); err != nil {
		t.Fatal(err)
	}
	defer task.Stop()
	r := taskrecord.NewRingReader(false)
	b := &backend{make(chan bool), make(chan bool)}
	do := client(t, b)
	opened, end := make(chan bool), make(chan bool)
	go func() {
		ctx, a := task.New(context.Background(), "opens")
		do(ctx)
		opened <- true
		<-end
		a.End()
		end <- true
	}()
	go func() { <-b.asked; b.answer <- true }()
	<-opened
	waited := make(chan bool)
	go func() {
		ctx, a := task.New(context.Background(), kind)
		do(ctx)
		a.End()
		waited <- true
	}()
	<-b.asked
	time.Sleep(20 * time.Millisecond) // the second task waits meanwhile, and so it is the reason
	b.answer <- true
	<-waited
	end <- true
	<-end
	for rec := r.Next(); rec != nil; rec = r.Next() {
		if rec.Kind == kind {
			return rec
		}
	}
	t.Fatal(errors.New("no record"))
	return nil
}
