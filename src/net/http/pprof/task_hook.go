// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build pmutest

package pprof

import (
	"net/http"
	"runtime/task"
	_ "unsafe" // for go:linkname
)

// In net/http, task_hook.go.
//
//go:linkname wrapTestHandler net/http.wrapTestHandler
var wrapTestHandler func(http.Handler) http.Handler

func init() {
	wrapTestHandler = TaskHandler
	if err := task.Start(task.Config{Rate: 1, Server: 1}); err != nil {
		panic(err)
	}
}
