// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !nethttpomithttp2

package http

import (
	"net/http/internal"
	"net/http/internal/http2"
)

// taskHTTP2 returns where to watch w, and whether it is a writer of the HTTP/2 server.
func taskHTTP2(w ResponseWriter) (*internal.TaskWatch, bool) {
	if w, ok := w.(http2ResponseWriter); ok {
		return http2.WatchTask(w.ResponseWriter), true
	}
	return nil, false
}
