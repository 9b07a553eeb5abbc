// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package foreign

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// controlCases are about what a writer can do besides writing.
var controlCases = []testCase{
	{name: "controller", serve: func(c *call) {
		rc := http.NewResponseController(c.w)
		c.note("%v, %v", rc.SetReadDeadline(time.Now().Add(patience)), rc.SetWriteDeadline(time.Now().Add(patience)))
		c.note("%v", rc.EnableFullDuplex())
		io.WriteString(c.w, "one")
		c.note("%v", rc.Flush())
		c.note("%v, %v", rc.SetReadDeadline(time.Time{}), rc.SetWriteDeadline(time.Time{}))
		io.WriteString(c.w, "two")
	}},
	{name: "deadline-write", closes: true, serve: func(c *call) {
		rc := http.NewResponseController(c.w)
		if err := rc.SetWriteDeadline(time.Unix(1, 0)); err != nil {
			c.note("%v", err)
			return
		}
		io.WriteString(c.w, "too late")
		c.note("flushed: %v", rc.Flush() == nil)
	}, only: http1},
	{name: "deadline-read", direct: true, closes: true, method: "POST", body: "0123456789", expects: true, serve: func(c *call) {
		// The client doesn't send the body, as nobody asks for it.
		rc := http.NewResponseController(c.w)
		if err := rc.SetReadDeadline(time.Unix(1, 0)); err != nil {
			c.note("%v", err)
			return
		}
		_, err := io.ReadAll(c.r.Body)
		c.note("read: %v", err == nil)
		http.Error(c.w, "too late", http.StatusRequestTimeout)
	}, only: http1},
	{name: "full-duplex", direct: true, method: "POST", body: strings.Repeat("0123456789", 300), chunked: true, serve: func(c *call) {
		rc := http.NewResponseController(c.w)
		c.note("%v", rc.EnableFullDuplex())
		b := make([]byte, 500)
		for {
			n, err := io.ReadFull(c.r.Body, b)
			c.w.Write(b[:n])
			if err != nil {
				c.note("%v", err)
				return
			}
			c.note("%v", rc.Flush())
		}
	}},
	{name: "push", serve: func(c *call) {
		p, ok := c.w.(http.Pusher)
		if !ok {
			c.note("no Pusher")
			return
		}
		c.note("%v", p.Push(route+"plain", nil))
		c.note("%v", p.Push(route+"status-500", &http.PushOptions{Header: http.Header{"X-A": {"1"}}}))
		c.note("%v", p.Push("relative", nil))
		io.WriteString(c.w, "pushed")
	}},
	{name: "close-notify", closes: true, serve: func(c *call) {
		cn, ok := c.w.(interface{ CloseNotify() <-chan bool })
		if !ok {
			c.note("no CloseNotifier")
			return
		}
		select {
		case <-cn.CloseNotify():
			c.note("closed")
		default:
		}
		io.WriteString(c.w, "open")
	}},
	{name: "close-notified", gone: true, serve: func(c *call) {
		cn, ok := c.w.(interface{ CloseNotify() <-chan bool })
		if ok {
			notified := cn.CloseNotify()
			begun <- true
			<-notified
		} else {
			begun <- true
		}
		c.note("closed %v", ok)
		<-c.r.Context().Done()
	}},
}
