// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package http

import (
	"bufio"
	"io"
	"net"
	"net/http/internal"
	"sync/atomic"
	"time"
	_ "unsafe" // for go:linkname
)

// This file watches when the header of a response is sent, for TaskHandler of
// net/http/pprof. It is here and not there for what only this package can do: a writer
// that MaxBytesReader takes for the server's has the unexported method requestTooLarge,
// and relevantCaller blames the first caller outside of this package.
//
// A watched writer has the optional methods of the writer that it watches, no more and no
// fewer: handlers find out by them what the server can do. Writers of the server have
// types of their own here; all others have one of the shapes in task_writer_shapes.go.

// A taskWatcher is told about a response. It may be told more than once, and by more than
// one goroutine: the first time counts.
type taskWatcher = interface {
	// Answer is called just before w sends the header with a final status.
	Answer(w ResponseWriter, status int)
	// Hijacked is called when the handler has taken the connection over.
	Hijacked()
}

// watchTask returns w, watched.
//
//go:linkname watchTask net/http/pprof.watchTask
func watchTask(w ResponseWriter, o taskWatcher) ResponseWriter {
	switch rw := w.(type) {
	case *response:
		return &task1Writer{taskWriter{rw: rw, o: o}, rw}
	case *task1Writer:
		return &task1Writer{taskWriter{rw: rw, o: o}, rw.res}
	case task2Response:
		// That of golang.org/x/net/http2 is another one.
		if taskShape(w) == taskFlusher|taskErrorFlusher|taskCloseNotifier|taskPusher|taskStringWriter && !taskUnwraps(w) {
			return &task2Writer{taskWriter{rw: w, o: o}, rw}
		}
	}
	return taskShapes[taskShape(w)](&taskWriter{rw: w, o: o})
}

// A taskWriter is a watched writer with the methods that all have.
type taskWriter struct {
	rw   ResponseWriter
	o    taskWatcher
	sent atomic.Bool // o knows
}

// answer tells the watcher that a header is about to be sent.
func (w *taskWriter) answer(status int) {
	if !w.sent.Load() {
		w.sent.Store(true)
		w.o.Answer(w.rw, status)
	}
}

func (w *taskWriter) Header() Header { return w.rw.Header() }

func (w *taskWriter) WriteHeader(status int) {
	// Informational headers come before the final one, and invalid statuses panic.
	if status == StatusSwitchingProtocols || 200 <= status && status <= 999 {
		w.answer(status)
	}
	w.rw.WriteHeader(status)
}

func (w *taskWriter) Write(b []byte) (int, error) {
	w.answer(StatusOK)
	return w.rw.Write(b)
}

func (w *taskWriter) writeString(s string) (int, error) {
	w.answer(StatusOK)
	return w.rw.(io.StringWriter).WriteString(s)
}

func (w *taskWriter) flush() {
	w.answer(StatusOK)
	w.rw.(Flusher).Flush()
}

func (w *taskWriter) flushError() error {
	w.answer(StatusOK)
	return w.rw.(taskFlushErrorer).FlushError()
}

func (w *taskWriter) hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := w.rw.(Hijacker).Hijack()
	if err == nil {
		w.o.Hijacked()
	}
	return c, rw, err
}

// readFrom sends no header before src has something to send, or the handler couldn't
// answer with an error. What it has at first goes through Write, the rest has the
// writer's fast path.
func (w *taskWriter) readFrom(src io.Reader) (n int64, err error) {
	if !w.sent.Load() {
		buf := getCopyBuf()
		n, err = io.CopyBuffer(writerOnly{w}, io.LimitReader(src, internal.SniffLen), buf)
		putCopyBuf(buf)
		if err != nil || n < internal.SniffLen {
			return n, err
		}
		if res := taskResponse(w.rw); res != nil {
			res.sniffed()
		}
	}
	m, err := w.rw.(io.ReaderFrom).ReadFrom(src)
	return n + m, err
}

// taskResponse returns the server's writer that w is, watched or not, or nil.
func taskResponse(w ResponseWriter) *response {
	switch w := w.(type) {
	case *response:
		return w
	case *task1Writer:
		return w.res
	}
	return nil
}

// sniffed does what ReadFrom does after the first bytes, lest it takes what follows for the
// first ones once more, and copies beyond the Content-Length.
func (w *response) sniffed() {
	if _, ok := w.conn.rwc.(io.ReaderFrom); ok {
		w.w.Flush()
		w.cw.flush()
	}
}

// unwrap is what ResponseController looks behind a writer with. What is behind the watched
// one sends the same header and is watched, too.
func (w *taskWriter) unwrap() ResponseWriter {
	if u, ok := w.rw.(rwUnwrapper); ok {
		if rw := u.Unwrap(); rw != nil {
			return watchTask(rw, w.o)
		}
	}
	return w.rw
}

func taskUnwraps(w ResponseWriter) bool {
	_, ok := w.(rwUnwrapper)
	return ok
}

type taskFlushErrorer interface{ FlushError() error }

// taskDeadlines are the methods of ResponseController that say nothing about the response.
// Shapes don't have them: ResponseController finds them by Unwrap.
type taskDeadlines interface {
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
	EnableFullDuplex() error
}

// A task1Writer is a watched *response.
type task1Writer struct {
	taskWriter
	res *response // of rw
}

func (w *task1Writer) Flush()                                       { w.flush() }
func (w *task1Writer) FlushError() error                            { return w.flushError() }
func (w *task1Writer) Hijack() (net.Conn, *bufio.ReadWriter, error) { return w.hijack() }
func (w *task1Writer) CloseNotify() <-chan bool                     { return w.res.CloseNotify() }
func (w *task1Writer) WriteString(s string) (int, error)            { return w.writeString(s) }
func (w *task1Writer) ReadFrom(src io.Reader) (int64, error)        { return w.readFrom(src) }
func (w *task1Writer) SetReadDeadline(t time.Time) error            { return w.res.SetReadDeadline(t) }
func (w *task1Writer) SetWriteDeadline(t time.Time) error           { return w.res.SetWriteDeadline(t) }
func (w *task1Writer) EnableFullDuplex() error                      { return w.res.EnableFullDuplex() }
func (w *task1Writer) requestTooLarge()                             { w.res.requestTooLarge() }

// task2Response has the methods of the HTTP/2 server's writer, beside those that
// taskWriter knows.
type task2Response interface {
	ResponseWriter
	taskDeadlines
	CloseNotifier
	Pusher
}

// A task2Writer is a watched writer of HTTP/2.
type task2Writer struct {
	taskWriter
	res task2Response
}

func (w *task2Writer) Flush()                                 { w.flush() }
func (w *task2Writer) FlushError() error                      { return w.flushError() }
func (w *task2Writer) CloseNotify() <-chan bool               { return w.res.CloseNotify() }
func (w *task2Writer) Push(s string, opts *PushOptions) error { return w.res.Push(s, opts) }
func (w *task2Writer) WriteString(s string) (int, error)      { return w.writeString(s) }
func (w *task2Writer) SetReadDeadline(t time.Time) error      { return w.res.SetReadDeadline(t) }
func (w *task2Writer) SetWriteDeadline(t time.Time) error     { return w.res.SetWriteDeadline(t) }
func (w *task2Writer) EnableFullDuplex() error                { return w.res.EnableFullDuplex() }

// The optional methods of other writers. Each type is a taskWriter with one of them, for
// the shapes to embed.
type (
	taskF taskWriter
	taskE taskWriter
	taskH taskWriter
	taskC taskWriter
	taskP taskWriter
	taskS taskWriter
	taskR taskWriter
	taskU taskWriter
)

func (w *taskF) Flush()                                       { (*taskWriter)(w).flush() }
func (w *taskE) FlushError() error                            { return (*taskWriter)(w).flushError() }
func (w *taskH) Hijack() (net.Conn, *bufio.ReadWriter, error) { return (*taskWriter)(w).hijack() }
func (w *taskC) CloseNotify() <-chan bool                     { return w.rw.(CloseNotifier).CloseNotify() }
func (w *taskP) Push(s string, opts *PushOptions) error       { return w.rw.(Pusher).Push(s, opts) }
func (w *taskS) WriteString(s string) (int, error)            { return (*taskWriter)(w).writeString(s) }
func (w *taskR) ReadFrom(src io.Reader) (int64, error)        { return (*taskWriter)(w).readFrom(src) }
func (w *taskU) Unwrap() ResponseWriter                       { return (*taskWriter)(w).unwrap() }

// The bits of a shape.
const (
	taskFlusher = 1 << iota
	taskErrorFlusher
	taskHijacker
	taskCloseNotifier
	taskPusher
	taskStringWriter
	taskReaderFrom
)

// taskShape returns which optional methods w has.
func taskShape(w ResponseWriter) (shape int) {
	if _, ok := w.(Flusher); ok {
		shape |= taskFlusher
	}
	if _, ok := w.(taskFlushErrorer); ok {
		shape |= taskErrorFlusher
	}
	if _, ok := w.(Hijacker); ok {
		shape |= taskHijacker
	}
	if _, ok := w.(CloseNotifier); ok {
		shape |= taskCloseNotifier
	}
	if _, ok := w.(Pusher); ok {
		shape |= taskPusher
	}
	if _, ok := w.(io.StringWriter); ok {
		shape |= taskStringWriter
	}
	if _, ok := w.(io.ReaderFrom); ok {
		shape |= taskReaderFrom
	}
	return shape
}
