// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"maps"
	"net/http"
	"slices"
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

// shutPatience is how long a client may take nothing while the server shuts down.
const shutPatience = time.Second

// shutDown ends the streams.
func (s *hazardServer) shutDown() {
	hazardServers.Lock()
	close(s.down)
	streams := slices.Collect(maps.Keys(s.streams))
	hazardServers.Unlock()
	for _, stream := range streams { // without the lock, as what wraps a writer may wait
		stream.hurry()
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

// A deadline is set while something is written, and no longer: over HTTP/2 one that passes resets the
// stream, also when nothing is written.

// start sets the deadline for what is written next.
func (s *hazardStream) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut() { // otherwise hurry comes later, and sees that something is written
		return http.ErrServerClosed
	}
	s.writing = true
	return s.c.SetWriteDeadline(time.Now().Add(hazardPatience))
}

// stop clears the deadline, as all is written. If the server shuts down, what follows is the end.
func (s *hazardStream) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writing = false
	if s.shut() {
		return http.ErrServerClosed
	}
	return s.c.SetWriteDeadline(time.Time{})
}

// hurry has what is written be over soon, as the server shuts down.
func (s *hazardStream) hurry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writing {
		s.c.SetWriteDeadline(time.Now().Add(shutPatience))
	}
}

// finish sets the deadline for the end of the answer, which the server writes when the handler has
// returned. The server has none of its own for that, and clears this one afterwards.
func (s *hazardStream) finish(srv *http.Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	patience := hazardPatience
	if srv != nil && srv.WriteTimeout > 0 {
		patience = min(patience, srv.WriteTimeout)
	}
	if s.shut() {
		patience = min(patience, shutPatience)
	}
	s.writing = true
	s.c.SetWriteDeadline(time.Now().Add(patience))
}

// shut reports whether the server shuts down.
func (s *hazardStream) shut() bool {
	select {
	case <-s.down:
		return true
	default:
		return false
	}
}
