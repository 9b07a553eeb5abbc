// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"context"
	"fmt"
	"log"
	"runtime/task"
)

// A message of a protocol of one's own. It is its own header.
type message struct {
	Text  string
	Trace map[string]string // traceparent and tracestate
}

func (m *message) Get(key string) string { return m.Trace[key] }
func (m *message) Set(key, value string) { m.Trace[key] = value }
func (m *message) Del(key string)        { delete(m.Trace, key) }

// A task goes from one server to another in a request, and the causal clock comes back in its
// answer.
func ExampleInject() {
	// Each of the two is a process as a rule, with an ID of its own.
	if err := task.Start(task.Config{Rate: 1, Server: 1}); err != nil {
		log.Fatal(err)
	}
	defer task.Stop()
	requests, answers := make(chan *message), make(chan *message)
	traces := make(chan string, 1)

	go func() { // the server
		request := <-requests
		ctx, t := task.New(task.Extract(context.Background(), request), "greet")
		defer t.End()
		traces <- t.Trace()
		answer := &message{"Hello, " + request.Text + "!", make(map[string]string)}
		task.Inject(ctx, answer)
		answers <- answer
	}()

	// The client works for a task, of which the call is a child.
	ctx, t := task.New(context.Background(), "page")
	defer t.End()
	ctx, call := task.NewClient(ctx, "greet", "there:7")
	defer call.End()
	request := &message{"gopher", make(map[string]string)}
	task.Inject(ctx, request)
	requests <- request
	answer := <-answers
	task.Extract(ctx, answer)

	fmt.Println(answer.Text)
	fmt.Println("one trace:", <-traces == t.Trace())
	// Output:
	// Hello, gopher!
	// one trace: true
}
