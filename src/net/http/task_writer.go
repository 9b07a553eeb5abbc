// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package http

import (
	"net/http/internal"
	_ "unsafe" // for go:linkname
)

// This file finds out how a request is answered, for TaskHandler of net/http/pprof. Handlers
// keep the writer that they are given: it may have any methods, which they look for, and no
// wrapper has them all. So the servers tell, by an internal.TaskWatch in what they know of
// a response.

// answerTask is called just before the header is copied.
func (w *response) answerTask(status int) {
	// Header is not called for nothing: it makes the server copy the header.
	if o := w.task.Answer(status); o != nil {
		o.Reply(w.Header())
	}
}

// maxTaskUnwrap bounds how many writers are around the server's: a writer may be around itself.
const maxTaskUnwrap = 100

// taskServerWriter returns the writer of this package that w is, or that w is around of by its
// methods Unwrap, or nil.
func taskServerWriter(w ResponseWriter) ResponseWriter {
	for range maxTaskUnwrap {
		switch w.(type) {
		case nil:
			return nil
		case *response, *timeoutWriter:
			return w
		}
		if _, ok := taskHTTP2(w); ok {
			return w
		}
		u, ok := w.(rwUnwrapper)
		if !ok {
			return nil
		}
		w = u.Unwrap()
	}
	return nil
}

// taskWatchOf returns where to watch a writer of this package, or nil.
func taskWatchOf(server ResponseWriter) *internal.TaskWatch {
	if w, ok := server.(*response); ok {
		return &w.task
	}
	w, _ := taskHTTP2(server)
	return w
}

// taskWatched reports whether the answer that w is for is watched.
//
//go:linkname taskWatched net/http/pprof.taskWatched
func taskWatched(w ResponseWriter) bool {
	watch := taskWatchOf(taskServerWriter(w))
	return watch != nil && watch.Watched()
}

// watchTask has o told about the answer that w is for, until unwatchTask. It returns the
// writer of this package that tells, or nil if there is none.
//
//go:linkname watchTask net/http/pprof.watchTask
func watchTask(w ResponseWriter, o *internal.TaskWatcher) (server ResponseWriter) {
	server = taskServerWriter(w)
	if _, ok := server.(*timeoutWriter); ok {
		return server // sends nothing before the handler returns
	}
	if watch := taskWatchOf(server); watch != nil && watch.Watch(o) {
		return server
	}
	return nil
}

// taskHijacked is the status of a connection that a handler has taken over.
const taskHijacked = -1

// unwatchTask ends what watchTask has begun, when the handler has returned or panicked. It
// returns what o was not told: taskHijacked, or the status that a TimeoutHandler is going to
// send; or 0.
//
//go:linkname unwatchTask net/http/pprof.unwatchTask
func unwatchTask(server ResponseWriter, o *internal.TaskWatcher) (status int) {
	if w := taskWatchOf(server); w != nil {
		w.Unwatch(o)
	}
	switch w := server.(type) {
	case *response:
		// A later request's handler has it if this one was given up, and is done to the server.
		if w.conn.hijacked() && !w.handlerDone.Load() {
			return taskHijacked
		}
	case *timeoutWriter:
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.wroteHeader {
			return w.code
		}
	}
	return 0
}
