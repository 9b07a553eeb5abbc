// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package foreign

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	coder "github.com/coder/websocket"
	gorilla "github.com/gorilla/websocket"
	"golang.org/x/net/http2/hpack"
)

var upgrade = []hpack.HeaderField{
	field("Connection", "Upgrade"),
	field("Upgrade", "websocket"),
	field("Sec-WebSocket-Version", "13"),
	field("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
	field("Sec-WebSocket-Protocol", "echo"),
}

// frame returns a frame of a client's websocket (RFC 6455, section 5.2), short and masked.
func frame(opcode byte, text string) string {
	mask := [4]byte{1, 2, 3, 4}
	b := []byte{0x80 | opcode, 0x80 | byte(len(text)), mask[0], mask[1], mask[2], mask[3]}
	for i := range len(text) {
		b = append(b, text[i]^mask[i%4])
	}
	return string(b)
}

// talkWebsocket says something in frames, when the server has switched to them, and says
// good-bye when it has come back.
func talkWebsocket(d *dialogue) {
	d.await("\r\n\r\n")
	if !strings.HasPrefix(string(d.got), "HTTP/1.1 101 ") {
		return
	}
	const (
		text = iota + 1
		binary
	)
	d.send(frame(text, "hello") + frame(binary, "world"))
	d.await("world")
	d.send(frame(8, "\x03\xe8bye")) // 1000 is a normal closure
}

// hijackAndTalk takes the connection over, by whatever means, and says what it has got.
func hijackAndTalk(c *call, conn net.Conn, rw *bufio.ReadWriter, err error) {
	if err != nil {
		c.note("%v", err)
		http.Error(c.w, "no connection", 500)
		return
	}
	defer conn.Close()
	if c.r.Header.Get("Upgrade") == "" {
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nraw")
		return
	}
	rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nUpgrade: raw\r\nConnection: Upgrade\r\n\r\nraw\x00bytes\n")
	rw.Flush()
	line, err := rw.ReadString('\n')
	c.note("%q, %v, %T", line, err, conn)
	fmt.Fprintf(conn, "got %q\n", line)
	n, err := io.WriteString(c.w, "late")
	c.note("%d, %v", n, err)
}

var hijackHeader = []hpack.HeaderField{field("Connection", "Upgrade"), field("Upgrade", "raw")}

func talkRaw(d *dialogue) {
	if d.await("bytes\n", "no connection") == "bytes\n" {
		d.send("said\n")
	}
}

// upgradeCases are about handlers that take the connection over.
var upgradeCases = []testCase{
	{name: "hijack", closes: true, header: hijackHeader, talk: talkRaw, serve: func(c *call) {
		h, ok := c.w.(http.Hijacker)
		if !ok {
			hijackAndTalk(c, nil, nil, http.ErrNotSupported)
			return
		}
		conn, rw, err := h.Hijack()
		hijackAndTalk(c, conn, rw, err)
	}},
	{name: "hijack-controller", closes: true, header: hijackHeader, talk: talkRaw, serve: func(c *call) {
		conn, rw, err := http.NewResponseController(c.w).Hijack()
		hijackAndTalk(c, conn, rw, err)
	}},
	{name: "hijack-twice", closes: true, only: http1, serve: func(c *call) {
		rc := http.NewResponseController(c.w)
		conn, _, err := rc.Hijack()
		if err != nil {
			c.note("%v", err)
			return
		}
		_, _, err = rc.Hijack()
		c.note("%v", err)
		c.w.WriteHeader(500)
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nraw")
		conn.Close()
	}},
	{name: "hijack-after-header", direct: true, closes: true, serve: func(c *call) {
		c.w.Header().Set("X-A", "1")
		c.w.WriteHeader(200)
		flush(c)
		conn, _, err := http.NewResponseController(c.w).Hijack()
		if err != nil {
			c.note("%v", err)
			return
		}
		io.WriteString(conn, "raw")
		conn.Close()
	}, only: http1},
	{name: "hijack-abort", closes: true, only: http1, serve: func(c *call) {
		conn, _, err := http.NewResponseController(c.w).Hijack()
		if err == nil {
			defer conn.Close()
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nraw")
		}
		c.note("%v", err)
		panic(http.ErrAbortHandler)
	}},
	{name: "websocket-gorilla", closes: true, header: upgrade, talk: talkWebsocket, serve: func(c *call) {
		u := gorilla.Upgrader{Subprotocols: []string{"echo"}}
		conn, err := u.Upgrade(c.w, c.r, http.Header{"X-A": {"1"}})
		if err != nil {
			c.note("%v", err)
			return
		}
		defer conn.Close()
		for {
			typ, b, err := conn.ReadMessage()
			if err != nil {
				c.note("%v", err)
				return
			}
			c.note("%d %q %v", typ, b, conn.WriteMessage(typ, b))
		}
	}},
	{name: "websocket-coder", closes: true, header: upgrade, talk: talkWebsocket, serve: func(c *call) {
		conn, err := coder.Accept(c.w, c.r, &coder.AcceptOptions{Subprotocols: []string{"echo"}})
		if err != nil {
			c.note("%v", err)
			return
		}
		defer conn.CloseNow()
		for {
			// The request's own context ends with the connection that was taken over.
			typ, b, err := conn.Read(c.r.Context())
			if err != nil {
				c.note("%v", err)
				return
			}
			c.note("%d %q %v", typ, b, conn.Write(c.r.Context(), typ, b))
		}
	}},
	{name: "websocket-gorilla-plain", serve: func(c *call) {
		_, err := new(gorilla.Upgrader).Upgrade(c.w, c.r, nil)
		c.note("%v", err)
	}},
	{name: "websocket-coder-plain", serve: func(c *call) {
		_, err := coder.Accept(c.w, c.r, nil)
		c.note("%v", err)
	}},
}
