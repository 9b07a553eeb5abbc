// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package foreign

import (
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"time"
)

// A question is whether a writer has an interface that handlers look for.
type question struct {
	name string
	has  func(w http.ResponseWriter) bool
}

func has[I any](name string) question {
	return question{name, func(w http.ResponseWriter) bool { _, ok := w.(I); return ok }}
}

var questions = []question{
	has[http.Flusher]("Flusher"),
	has[interface{ FlushError() error }]("FlushError"),
	has[http.Hijacker]("Hijacker"),
	has[http.Pusher]("Pusher"),
	has[io.ReaderFrom]("ReaderFrom"),
	has[io.StringWriter]("StringWriter"),
	has[interface{ CloseNotify() <-chan bool }]("CloseNotifier"),
	has[interface{ SetReadDeadline(time.Time) error }]("SetReadDeadline"),
	has[interface{ SetWriteDeadline(time.Time) error }]("SetWriteDeadline"),
	has[interface{ EnableFullDuplex() error }]("EnableFullDuplex"),
	has[unwrapper]("Unwrap"),
}

type unwrapper interface{ Unwrap() http.ResponseWriter }

// lookAtWriter returns what a handler can find out about its writer, and those it is around
// of: types, methods with their signatures, and interfaces.
func lookAtWriter(w http.ResponseWriter) (lines []string) {
	const most = 100 // a writer may be around itself
	for range most {
		typ := reflect.TypeOf(w)
		var methods, interfaces []string
		for i := range typ.NumMethod() {
			m := typ.Method(i)
			methods = append(methods, m.Name+strings.TrimPrefix(m.Type.String(), "func"))
		}
		for _, q := range questions {
			if q.has(w) {
				interfaces = append(interfaces, q.name)
			}
		}
		lines = append(lines, fmt.Sprintf("writer %T: %q, methods %q", w, interfaces, methods))
		u, ok := w.(unwrapper)
		if !ok {
			break
		}
		w = u.Unwrap()
	}
	return lines
}

// lookAtRequest returns what a handler can find out about a request, but for ports, which
// differ from server to server.
func lookAtRequest(r *http.Request) (lines []string) {
	v := reflect.ValueOf(r).Elem()
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch f.Name {
		case "Body", "GetBody", "TLS":
			lines = append(lines, fmt.Sprintf("request's %s is a %T, nil: %v", f.Name, v.Field(i).Interface(), v.Field(i).IsNil()))
		case "MultipartForm":
			// Its files are pointers.
			lines = append(lines, fmt.Sprintf("request's MultipartForm is there: %v", r.MultipartForm != nil))
		default:
			if f.IsExported() {
				lines = append(lines, fmt.Sprintf("request's %s: %s", f.Name, hidePorts(fmt.Sprint(v.Field(i).Interface()))))
			}
		}
	}
	return lines
}

// lookAtContext returns what a handler can find out about a request's context when it begins:
// as soon as the client has the answer, it may be done.
func lookAtContext(r *http.Request) string {
	ctx := r.Context()
	_, deadline := ctx.Deadline()
	return fmt.Sprintf("context: deadline %v, %v, a server %T at %T", deadline, ctx.Err(),
		ctx.Value(http.ServerContextKey), ctx.Value(http.LocalAddrContextKey))
}
