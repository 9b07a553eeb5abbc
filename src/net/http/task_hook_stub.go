// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !pmutest

package http

// See task_hook.go.

func serves(srv *Server, h Handler) bool { return srv.Handler == h }
