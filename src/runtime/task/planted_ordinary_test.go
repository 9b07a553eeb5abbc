// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime/pprof"
	"runtime/task"
	"sync"
	"testing"
	"time"
)

// ordinary is what ordinary programs do beside the reason for which a request is slow, and
// what is no reason: an analysis that takes one for the other is sure and wrong.
var ordinary = []plant{
	{name: "lock beside what nobody waits for", cause: "mutex", text: atPlanted(`mutex held by task "flush"`), do: (*planted).beside},
	{name: "lock in pprof.Do", cause: "mutex", text: atPlanted(`mutex held by task "flush"`), do: (*planted).labelled},
	{name: "lock of a task that is renamed", cause: "mutex", text: `mutex held by task "reindex"`, never: `held by task "guessed"`, do: (*planted).renamed},
	{name: "pool in a call", cause: "wait for a task", text: `ended by task "report"`, never: "db:5432", do: (*planted).pool},
	{name: "worker of an ended task", cause: "wait", text: "chan receive", never: `task "first"`, do: (*planted).worker},
	{name: "connection of an ended task", cause: ifStacks("peer", "wait"), text: ifStacks("answer of a connection's peer", "select"), never: `task "first"`, alone: true, do: (*planted).connection},
	{name: "hogs of ended tasks", cause: "runnable", text: "runnable", never: `task "first"`, alone: true,
		before: (*planted).startEnded, do: (*planted).runnable, after: (*planted).stopHogs},
	{name: "fan-out", cause: "sleep", do: (*planted).fanOut},
}

// TestPlantedOrdinary tests that of all these the reason comes first.
func TestPlantedOrdinary(t *testing.T) {
	requests, slow := 20_000, 64
	if testing.Short() {
		requests, slow = 4000, 16
	}
	testPlanted(t, ordinary, requests, slow)
}

// plantedOrdinary is the state of what ordinary has.
type plantedOrdinary struct {
	others chan func() // to be called outside of all tasks
	jobs   chan func() // for a worker that a task has started which ended long ago
	client http.Client // whose connection has been opened by such a task
	url    string
}

// open starts what requests use, and returns what ends that.
func (p *planted) open() (done func()) {
	var others sync.WaitGroup
	p.others, p.jobs = make(chan func()), make(chan func(), 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			time.Sleep(plantedTime)
		}
	}))
	transport := new(http.Transport)
	p.client.Transport, p.url = transport, server.URL
	others.Go(func() {
		for f := range p.others {
			others.Go(f)
		}
	})
	var first sync.WaitGroup
	first.Go(func() {
		_, t := task.New(context.Background(), "first")
		others.Go(func() {
			for f := range p.jobs {
				f()
			}
		})
		p.get("/fast")
		p.end(t)
	})
	first.Wait()
	return func() {
		close(p.others)
		close(p.jobs)
		others.Wait()
		transport.CloseIdleConnections()
		server.Close()
	}
}

func (p *planted) get(path string) {
	resp, err := p.client.Get(p.url + path)
	if err != nil {
		p.t.Error(err)
		return
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
}

// beside has goroutines of the request's wait longer than the request does, in sum.
func (p *planted) beside(ctx context.Context, t *task.Task) {
	release := make(chan bool)
	for range 4 {
		go func() { <-release }()
	}
	p.lock(ctx, t)
	close(release)
}

func (p *planted) labelled(ctx context.Context, t *task.Task) {
	pprof.Do(context.Background(), pprof.Labels("task", "of the program"), func(context.Context) { p.lock(ctx, t) })
}

func (p *planted) renamed(_ context.Context, t *task.Task) {
	var mu sync.Mutex
	held := make(chan bool)
	p.others <- func() {
		_, holder := task.New(context.Background(), "guessed")
		mu.Lock()
		close(held)
		for p.in(t, pprof.TimeMutex) < plantedTime {
			time.Sleep(time.Millisecond)
		}
		holder.SetKind("reindex")
		p.begun.Add(1) // as the request may be over before this ends
		mu.Unlock()
		holder.End()
		p.ended.Add(1)
	}
	<-held
	mu.Lock()
	mu.Unlock()
}

// pool waits inside a call for a connection that another task has.
func (p *planted) pool(ctx context.Context, _ *task.Task) {
	_, call := task.NewClient(ctx, "SELECT", "db:5432")
	free := make(chan bool)
	p.others <- func() {
		_, t := task.New(context.Background(), "report")
		time.Sleep(plantedTime)
		p.begun.Add(1)
		free <- true
		t.End()
		p.ended.Add(1)
	}
	<-free
	p.end(call)
}

func (p *planted) worker(context.Context, *task.Task) {
	done := make(chan bool, 1)
	p.jobs <- func() {
		time.Sleep(plantedTime)
		done <- true
	}
	<-done
}

func (p *planted) connection(context.Context, *task.Task) { p.get("/slow") }

// startEnded starts goroutines that take all threads, and whose tasks have ended.
func (p *planted) startEnded() { p.hog("first", p.end, func(*task.Task) {}) }

func (p *planted) fanOut(context.Context, *task.Task) {
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { time.Sleep(plantedTime) })
	}
	all.Wait()
}
