// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package http

import _ "unsafe" // for go:linkname

// serverShutsDown reports whether a server has begun to shut down. It is for a handler of package
// net/http/pprof: what RegisterOnShutdown is told then is not called any more.
//
//go:linkname serverShutsDown
var serverShutsDown = (*Server).shuttingDown
