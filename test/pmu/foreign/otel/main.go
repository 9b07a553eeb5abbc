// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build example

// Otel serves a request through the document's example for OpenTelemetry, which the test puts
// beside this file, and prints the record.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"runtime/task"

	"go.opentelemetry.io/otel/trace"
)

func main() {
	if err := task.Start(task.Config{Rate: 1}); err != nil {
		log.Fatal(err)
	}
	span := trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1, 2, 15: 3}, SpanID: trace.SpanID{4, 7: 5}, TraceFlags: trace.FlagsSampled,
	})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{name}", func(http.ResponseWriter, *http.Request) {})
	h := pprof.TaskHandler(followSpan(mux))
	serve := func(r *http.Request) {
		h.ServeHTTP(httptest.NewRecorder(), r)
		if rec := reader.Next(); rec != nil {
			json.NewEncoder(os.Stdout).Encode(map[string]string{"trace": rec.Trace, "parent": rec.Parent, "kind": rec.Kind})
		}
	}
	r := httptest.NewRequest("GET", "/x", nil)
	serve(r.WithContext(trace.ContextWithSpanContext(r.Context(), span)))
	serve(r) // no span
}

var reader = task.NewReader()
