// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build nethttpomithttp2

package http

import "net/http/internal"

func taskHTTP2(ResponseWriter) (*internal.TaskWatch, bool) { return nil, false }
