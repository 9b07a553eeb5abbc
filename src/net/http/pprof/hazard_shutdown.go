// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"net/http"
	"sync"
	"time"
	_ "unsafe" // for go:linkname
	"weak"
)

// hazardServers are the servers that have had a stream. Shutdown waits for handlers, so it ends
// streams. A server keeps what it is told to call then, so it is told once.
var hazardServers struct {
	sync.Mutex
	list []*hazardServer
}

type hazardServer struct {
	weak.Pointer[http.Server]
	down    chan struct{} // closed when it shuts down
	streams map[*hazardStream]struct{}
}

// In net/http, shutdown_pprof.go.
//
//go:linkname serverShutsDown net/http.serverShutsDown
var serverShutsDown func(*http.Server) bool

// hazardServerOf returns srv, which may be nil: that shuts down never. The caller has locked
// hazardServers.
func hazardServerOf(srv *http.Server) *hazardServer {
	if srv == nil {
		return &hazardServer{streams: make(map[*hazardStream]struct{})}
	}
	for _, s := range hazardServers.list {
		if s.Value() == srv {
			return s
		}
	}
	list := hazardServers.list[:0]
	for _, s := range hazardServers.list {
		if s.Value() != nil { // or it was closed, or dropped
			list = append(list, s)
		}
	}
	s := &hazardServer{weak.Make(srv), make(chan struct{}), make(map[*hazardStream]struct{})}
	hazardServers.list = append(list, s)
	down := sync.OnceFunc(s.shutDown)
	srv.RegisterOnShutdown(down)
	if serverShutsDown(srv) { // it may not call that any more
		go down()
	}
	return s
}

// shutDown ends the streams. One that waits until its client takes something does so for a second.
func (s *hazardServer) shutDown() {
	hazardServers.Lock()
	defer hazardServers.Unlock()
	close(s.down)
	for stream := range s.streams {
		stream.c.SetWriteDeadline(time.Now().Add(time.Second))
	}
}

// begin has s end when srv shuts down, until the function that it returns is called.
func (s *hazardStream) begin(srv *http.Server) (end func()) {
	hazardServers.Lock()
	defer hazardServers.Unlock()
	server := hazardServerOf(srv)
	server.streams[s] = struct{}{}
	s.down = server.down
	return func() {
		hazardServers.Lock()
		defer hazardServers.Unlock()
		delete(server.streams, s)
	}
}
