// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import "runtime/pprof"

// Which waits inside a call are for the answer, and which are the program's own.

// foreign reports whether a goroutine worked for another task than w's and its children.
func (w *walker) foreign(k *Waker) bool {
	_, ours := w.spans[k.Span]
	return !ours && !k.Span.IsZero()
}

// mayAnswer reports whether x may be a wait for the answer of another server, by who has ended
// it: the network poller, a timer, or a goroutine that has read a connection, or may have. A
// program waits inside of calls for itself, too: for a connection of a pool, for example, until
// another task gives it back.
func (w *walker) mayAnswer(x *wait) bool {
	k := &x.stretch.Waker
	switch {
	case !forCall(x.stretch.Part):
		return false
	case k.Goroutine == 0 && k.Span.IsZero():
		return true
	case len(k.Stack) > 0:
		return readsNetwork(k.Stack) || k.Span.IsZero() && !below(k.Stack, []string{"database/sql"})
	}
	return !w.foreign(k)
}

// readers are the packages whose goroutines read a connection that requests share, and hand each
// the answer that is its own.
var readers = []string{
	"bufio", "crypto", "golang.org/x/net", "google.golang.org/grpc/internal/transport", "internal",
	"io", "net", "sync", "vendor/golang.org/x/net",
}

// readsNetwork reports whether a stack is that of a goroutine that reads a connection. One that
// gives an idle connection to another request ends no wait for an answer.
func readsNetwork(stack []Frame) bool {
	for _, f := range stack {
		if !f.in(readers) || f.Func == "net/http.(*Transport).tryPutIdleConn" {
			return false
		}
	}
	return true
}

// below reports whether the innermost frame of a stack that is not of the runtime or of
// package sync is of one of the packages.
func below(stack []Frame, packages []string) bool {
	for _, f := range stack {
		if !f.in([]string{"runtime", "sync", "internal"}) {
			return f.in(packages)
		}
	}
	return false
}

// forCall reports whether a wait in part p may be for the answer of another server:
// net/http's client, for example, waits in a select statement for the goroutine that reads
// the connection.
func forCall(p Part) bool {
	switch p {
	case pprof.TimeNetwork, pprof.TimeSelect, pprof.TimeChan, pprof.TimeSync, pprof.TimeOther:
		return true
	}
	return false
}
