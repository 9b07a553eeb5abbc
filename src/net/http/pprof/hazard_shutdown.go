// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"net/http"
	"sync"
	"weak"
)

// hazardServers has a channel for each server that has had a stream. It is closed when the server shuts
// down, which waits for handlers. A server keeps what it is told to call then, so it is told once. One
// whose first stream begins when it shuts down already is not told in time.
var hazardServers struct {
	sync.Mutex
	down map[weak.Pointer[http.Server]]chan struct{}
}

// hazardShutdown returns a channel that is closed when a server shuts down. Without a server that is never.
func hazardShutdown(srv *http.Server) <-chan struct{} {
	if srv == nil {
		return nil
	}
	s := &hazardServers
	s.Lock()
	defer s.Unlock()
	key := weak.Make(srv)
	if down := s.down[key]; down != nil {
		return down
	}
	for p := range s.down {
		if p.Value() == nil {
			delete(s.down, p) // a server that was closed, or dropped
		}
	}
	if s.down == nil {
		s.down = make(map[weak.Pointer[http.Server]]chan struct{})
	}
	down := make(chan struct{})
	s.down[key] = down
	srv.RegisterOnShutdown(sync.OnceFunc(func() { close(down) }))
	return down
}
