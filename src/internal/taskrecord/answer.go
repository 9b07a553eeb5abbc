// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"runtime/pprof"
	"slices"
	"time"
)

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

// answers returns the calls of which x, in [from, to), may be a wait for an answer: those that one
// goroutine has made, or ended, and that went on meanwhile; nil if there are none.
//
// That is the goroutine that has ended the wait, if it has made calls: it need not be one of the task's. Else,
// or if that one has ended a call for the goroutine that waited, it is the latter. If that only reads a
// connection, it is the one that waited for it.
// Where no record says who made the calls, it is all of them.
func (w *walker) answers(x *wait, from, to time.Duration) []wait {
	switch {
	case len(w.calls) == 0 || w.steps >= maxSteps || !w.mayAnswer(x):
		return nil
	case !w.known:
		return w.during(w.calls, from, to)
	}
	waker, own := x.stretch.Waker.Goroutine, w.made[x.goroutine]
	if waker != 0 && slices.ContainsFunc(own, func(c wait) bool {
		w.steps++
		return c.maker == x.goroutine && c.ender == waker && c.start < to && c.end > from
	}) {
		return own
	}
	list := w.during(w.made[waker], from, to)
	if list == nil {
		list = w.during(own, from, to)
	}
	for i := len(w.stack) - 1; i >= 0 && list == nil; i-- {
		x := w.stack[i].wait
		if x == nil || !w.mayAnswer(x) {
			break
		}
		list = w.during(w.made[x.goroutine], from, to)
	}
	return list
}

// during returns list if one of the calls in it went on in [from, to), and otherwise nil.
func (w *walker) during(list []wait, from, to time.Duration) []wait {
	if w.lastCall(list, from, to) == nil {
		return nil
	}
	return list
}

// lastCall returns that of the calls in list which goes on just before to: the one that ends first
// after that, as it is a goroutine that was waiting for it that ends it. If there is none, it is the
// last that ended after from; or nil.
func (w *walker) lastCall(list []wait, from, to time.Duration) *wait {
	var best, last *wait
	for i := range list {
		c := &list[i]
		w.steps++
		switch {
		case c.start >= to || c.end <= from:
		case c.end >= to:
			if best == nil || c.end <= best.end {
				best = c
			}
		case last == nil || c.end >= last.end:
			last = c
		}
	}
	if best == nil {
		best = last
	}
	return best
}

// call is lastCall. It is not sure if another one may have been waited for as well, since when one of them
// goes on. A goroutine with a call within a call waits for the inner one. One that ends calls for several
// others may have been waited for in any of these.
func (w *walker) call(list []wait, from, to time.Duration) (c *wait, sure bool, since time.Duration) {
	c = w.lastCall(list, from, to)
	if c == nil {
		return nil, true, from
	}
	sure, since = true, c.start
	from, to = max(from, c.start), min(to, c.end)
	nests := w.known || w.t.Goroutines <= 1
	for i := range list {
		o := &list[i]
		w.steps++
		switch {
		case o.call == c.call || o.start >= to || o.end <= from:
		case !nests, o.start < c.start && o.end < c.end, o.start > c.start && o.end > c.end,
			o.maker != c.maker && o.maker != o.goroutine && c.maker != c.goroutine:
			sure, since = false, min(since, o.start)
		}
	}
	return c, sure, since
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
