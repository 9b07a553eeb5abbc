// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"net/http"
	"sync"
	"weak"
)

// hazardServers are the servers that have had a stream. The channel of one is closed when it shuts
// down, which waits for handlers. A server keeps what it is told to call then, so it is told once. One
// whose first stream begins when it shuts down already is not told in time.
var hazardServers struct {
	sync.Mutex
	list []hazardServer
}

type hazardServer struct {
	weak.Pointer[http.Server]
	down chan struct{}
}

// hazardShutdown returns a channel that is closed when a server shuts down. Without a server that is never.
func hazardShutdown(srv *http.Server) <-chan struct{} {
	if srv == nil {
		return nil
	}
	hazardServers.Lock()
	defer hazardServers.Unlock()
	for _, s := range hazardServers.list {
		if s.Value() == srv {
			return s.down
		}
	}
	list := hazardServers.list[:0]
	for _, s := range hazardServers.list {
		if s.Value() != nil { // or it was closed, or dropped
			list = append(list, s)
		}
	}
	down := make(chan struct{})
	hazardServers.list = append(list, hazardServer{weak.Make(srv), down})
	srv.RegisterOnShutdown(sync.OnceFunc(func() { close(down) }))
	return down
}
