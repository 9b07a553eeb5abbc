// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package http

import (
	"bufio"
	"errors"
	"io"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// A taskNull is a writer without optional methods.
type taskNull struct {
	h     Header
	wrote strings.Builder
}

func (w *taskNull) Header() Header              { return w.h }
func (w *taskNull) WriteHeader(int)             {}
func (w *taskNull) Write(b []byte) (int, error) { return w.wrote.Write(b) }

// A taskFull has all of them, and counts their calls.
type taskFull struct {
	taskNull
	calls []string
}

func (w *taskFull) call(s string)                    { w.calls = append(w.calls, s) }
func (w *taskFull) Flush()                           { w.call("Flush") }
func (w *taskFull) FlushError() error                { w.call("FlushError"); return nil }
func (w *taskFull) CloseNotify() <-chan bool         { w.call("CloseNotify"); return nil }
func (w *taskFull) Push(string, *PushOptions) error  { w.call("Push"); return nil }
func (w *taskFull) SetReadDeadline(time.Time) error  { w.call("SetReadDeadline"); return nil }
func (w *taskFull) SetWriteDeadline(time.Time) error { w.call("SetWriteDeadline"); return nil }
func (w *taskFull) EnableFullDuplex() error          { w.call("EnableFullDuplex"); return nil }
func (w *taskFull) WriteString(s string) (int, error) {
	w.call("WriteString")
	return w.wrote.WriteString(s)
}
func (w *taskFull) ReadFrom(r io.Reader) (int64, error) {
	w.call("ReadFrom")
	return io.Copy(&w.wrote, r)
}
func (w *taskFull) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.call("Hijack")
	return nil, nil, nil
}

// A taskLog is a taskWatcher that notes what it hears.
type taskLog struct {
	status   []int
	hijacked int
}

func (o *taskLog) Answer(w ResponseWriter, status int) { o.status = append(o.status, status) }
func (o *taskLog) Hijacked()                           { o.hijacked++ }

// taskMethods returns the methods of w that can be called from other packages, and
// requestTooLarge.
func taskMethods(w ResponseWriter) (names []string) {
	t := reflect.TypeOf(w)
	for i := range t.NumMethod() {
		names = append(names, t.Method(i).Name)
	}
	if _, ok := w.(interface{ requestTooLarge() }); ok {
		names = append(names, "requestTooLarge")
	}
	slices.Sort(names)
	return names
}

// taskBitMethods are the methods of the bits of shapes.
var taskBitMethods = []string{"Flush", "FlushError", "Hijack", "CloseNotify", "Push", "WriteString", "ReadFrom"}

// TestTaskShapes tests that each watched writer has exactly the methods of the original
// one, and Unwrap.
func TestTaskShapes(t *testing.T) {
	if len(taskShapes) != 1<<len(taskBitMethods) {
		t.Fatalf("%d shapes", len(taskShapes))
	}
	for shape := range taskShapes {
		want := []string{"Header", "Unwrap", "Write", "WriteHeader"}
		for bit, name := range taskBitMethods {
			if shape>>bit&1 != 0 {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		full := new(taskFull)
		// A shape is a writer with these methods, too: here it is the original one.
		original := taskShapes[shape](&taskWriter{rw: full, o: new(taskLog)})
		if got := taskMethods(original); !slices.Equal(got, want) {
			t.Errorf("shape %d has %v, want %v", shape, got, want)
		}
		watched := watchTask(original, new(taskLog))
		if got := taskMethods(watched); !slices.Equal(got, want) {
			t.Errorf("a watched writer with %v has %v", want, got)
		}

		// Each method calls that of the same name.
		for bit, name := range taskBitMethods {
			if shape>>bit&1 == 0 {
				continue
			}
			full.calls = nil
			m := reflect.ValueOf(watched).MethodByName(name)
			var args []reflect.Value
			for i := range m.Type().NumIn() {
				args = append(args, reflect.Zero(m.Type().In(i)))
			}
			if name == "ReadFrom" {
				args[0] = reflect.ValueOf(strings.NewReader(strings.Repeat("x", 1000)))
			}
			m.Call(args)
			if !slices.Equal(full.calls, []string{name}) {
				t.Errorf("shape %d: %s called %v", shape, name, full.calls)
			}
		}
	}
}

// taskHTTP2Writer is a writer of the HTTP/2 server, if there is one.
var taskHTTP2Writer ResponseWriter

// TestTaskWriterServers tests that the writers of this package's servers have the same
// methods when watched.
func TestTaskWriterServers(t *testing.T) {
	writers := []ResponseWriter{&response{}}
	if taskHTTP2Writer != nil {
		writers = append(writers, taskHTTP2Writer)
	}
	for _, w := range writers {
		want := taskMethods(w)
		watched := watchTask(w, new(taskLog))
		if got := taskMethods(watched); !slices.Equal(got, want) {
			t.Errorf("%T:\ngot  %v\nwant %v", w, got, want)
		}
		if got := taskMethods(watchTask(watched, new(taskLog))); !slices.Equal(got, want) {
			t.Errorf("%T, watched twice:\ngot  %v\nwant %v", w, got, want)
		}
	}
	// One that doesn't implement the deadlines as a server's does.
	w := watchTask(new(taskFull), new(taskLog))
	if err := NewResponseController(w).EnableFullDuplex(); err != nil {
		t.Errorf("EnableFullDuplex behind Unwrap: %v", err)
	}
}

// TestTaskWriterAnswer tests what counts as an answer.
func TestTaskWriterAnswer(t *testing.T) {
	failing := io.MultiReader(strings.NewReader(""), errReader{})
	for _, tt := range []struct {
		name string
		f    func(w ResponseWriter)
		want []int
	}{
		{"nothing", func(w ResponseWriter) {}, nil},
		{"header", func(w ResponseWriter) { w.WriteHeader(404) }, []int{404}},
		{"informational", func(w ResponseWriter) { w.WriteHeader(103); w.WriteHeader(100); w.WriteHeader(201) }, []int{201}},
		{"switching", func(w ResponseWriter) { w.WriteHeader(101) }, []int{101}},
		{"invalid", func(w ResponseWriter) { w.WriteHeader(0); w.WriteHeader(99); w.WriteHeader(1000) }, nil},
		{"twice", func(w ResponseWriter) { w.WriteHeader(404); w.WriteHeader(200); w.Write(nil) }, []int{404}},
		{"empty write", func(w ResponseWriter) { w.Write(nil) }, []int{200}},
		{"string", func(w ResponseWriter) { io.WriteString(w, "") }, []int{200}},
		{"flush", func(w ResponseWriter) { w.(Flusher).Flush() }, []int{200}},
		{"flush by controller", func(w ResponseWriter) { NewResponseController(w).Flush() }, []int{200}},
		{"empty copy", func(w ResponseWriter) { w.(io.ReaderFrom).ReadFrom(strings.NewReader("")) }, nil},
		{"failed copy", func(w ResponseWriter) { w.(io.ReaderFrom).ReadFrom(failing); w.WriteHeader(500) }, []int{500}},
		{"copy", func(w ResponseWriter) { w.(io.ReaderFrom).ReadFrom(strings.NewReader("x")) }, []int{200}},
		{"copy with header", func(w ResponseWriter) { w.WriteHeader(206); w.(io.ReaderFrom).ReadFrom(strings.NewReader("x")) }, []int{206}},
	} {
		o := new(taskLog)
		tt.f(watchTask(new(taskFull), o))
		if !slices.Equal(o.status, tt.want) || o.hijacked != 0 {
			t.Errorf("%s: watcher heard %v, %d hijacked, want %v", tt.name, o.status, o.hijacked, tt.want)
		}
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errors.New("no source") }

// A taskMiddleware hides the optional methods of a writer, for all but ResponseController.
type taskMiddleware struct{ ResponseWriter }

func (w taskMiddleware) Unwrap() ResponseWriter { return w.ResponseWriter }

// TestTaskWriterUnwrap tests that what a ResponseController does behind a watched writer
// is seen.
func TestTaskWriterUnwrap(t *testing.T) {
	o := new(taskLog)
	full := new(taskFull)
	w := watchTask(taskMiddleware{taskMiddleware{full}}, o)
	if err := NewResponseController(w).Flush(); err != nil {
		t.Error(err)
	}
	if _, _, err := NewResponseController(w).Hijack(); err != nil {
		t.Error(err)
	}
	if want := []string{"FlushError", "Hijack"}; !slices.Equal(full.calls, want) || !slices.Equal(o.status, []int{200}) || o.hijacked != 1 {
		t.Errorf("calls %v, want %v; watcher heard %v, %d hijacked", full.calls, want, o.status, o.hijacked)
	}
}

// TestTaskWriterCopy tests that copies arrive whole, whatever goes through Write.
func TestTaskWriterCopy(t *testing.T) {
	for _, n := range []int{0, 1, 511, 512, 513, 100000} {
		for _, sent := range []bool{false, true} {
			full := new(taskFull)
			w := watchTask(full, new(taskLog))
			if sent {
				w.WriteHeader(200)
			}
			m, err := w.(io.ReaderFrom).ReadFrom(io.LimitReader(zeros{}, int64(n)))
			if err != nil || m != int64(n) || full.wrote.Len() != n {
				t.Errorf("copy of %d bytes: %d, %v; %d arrived", n, m, err, full.wrote.Len())
			}
			if fast := slices.Contains(full.calls, "ReadFrom"); fast != (sent || n >= 512) {
				t.Errorf("copy of %d bytes, header sent %v: ReadFrom %v", n, sent, fast)
			}
		}
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }
