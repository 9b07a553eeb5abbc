// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package foreign

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// A wire2 sends requests by HTTP/2, on one connection as long as the server keeps it. It
// knows frames and no more, so that nothing is put right before it is compared.
type wire2 struct {
	addr string

	conn   *tls.Conn
	out    *bufio.Writer
	frames *xhttp2.Framer
	block  bytes.Buffer // that encode writes to
	encode *hpack.Encoder
	next   uint32 // stream
	pings  byte
}

// The server's windows, and ours, are such that nobody waits for an update.
const window = 1 << 30

func (w *wire2) dial(t *testing.T) {
	conn, err := tls.Dial("tcp", w.addr, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	w.conn, w.out, w.next = conn, bufio.NewWriter(conn), 1
	w.frames = xhttp2.NewFramer(w.out, conn)
	w.frames.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	w.encode = hpack.NewEncoder(&w.block)
	io.WriteString(w.out, xhttp2.ClientPreface)
	w.frames.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: window})
	w.frames.WriteWindowUpdate(0, window)
}

func (w *wire2) close() {
	if w.conn != nil {
		w.conn.Close()
		w.conn = nil
	}
}

// do sends the request of a case. It returns the frames of the answer, and of those that
// the server has pushed, by stream. Data is put together: a proxy's frames are as the other
// server's chunks came.
func (w *wire2) do(t *testing.T, c *testCase) answer {
	if w.conn == nil {
		w.dial(t)
	}
	w.conn.SetDeadline(time.Now().Add(patience))
	stream := w.next
	w.next += 2
	w.writeHeaders(stream, c.http2(), c.body == "" && c.trailers == nil)
	body := func() {
		if c.body != "" {
			w.frames.WriteData(stream, c.trailers == nil, []byte(c.body))
		}
		if c.trailers != nil {
			w.writeHeaders(stream, c.trailers, true)
		}
	}
	if !c.expects {
		body()
	}
	w.out.Flush()
	if c.gone {
		<-begun
		w.frames.WriteRSTStream(stream, xhttp2.ErrCodeCancel)
		w.out.Flush()
		return answer{requests: 1}
	}

	r := &frames2{w: w, streams: map[uint32]*stream2{stream: {}}}
	if c.expects {
		r.until(func() bool { s := r.streams[stream]; return s.ended || len(s.lines) > 0 })
		if s := r.streams[stream]; len(s.lines) > 0 && strings.HasPrefix(s.lines[0], "HEADERS\n\t:status: 100") {
			body()
			w.out.Flush()
		}
	}
	r.until(func() bool {
		for _, s := range r.streams {
			if !s.ended {
				return false
			}
		}
		return true
	})
	// What the server has sent before it has seen a ping is here before the answer to that.
	w.pings++
	w.frames.WritePing(false, [8]byte{w.pings})
	w.out.Flush()
	r.until(func() bool { return r.pong == w.pings })
	if r.closed {
		w.close()
	}
	return answer{wire: r.String(stream), requests: len(r.streams)}
}

func (w *wire2) writeHeaders(stream uint32, fields []hpack.HeaderField, end bool) {
	w.block.Reset()
	for _, f := range fields {
		w.encode.WriteField(f)
	}
	w.frames.WriteHeaders(xhttp2.HeadersFrameParam{
		StreamID: stream, BlockFragment: w.block.Bytes(), EndHeaders: true, EndStream: end,
	})
}

// frames2 is what a server has sent.
type frames2 struct {
	w       *wire2
	streams map[uint32]*stream2
	all     []string // frames of the connection
	pong    byte
	closed  bool // the server is about to close the connection
	err     error
}

type stream2 struct {
	lines []string // frames
	data  []byte   // since then
	ended bool
}

func (s *stream2) add(format string, args ...any) {
	s.flush()
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

func (s *stream2) flush() {
	if len(s.data) > 0 {
		s.lines = append(s.lines, fmt.Sprintf("DATA %d bytes %s", len(s.data), s.data))
		s.data = nil
	}
}

// until reads until done returns true, or there is nothing more.
func (r *frames2) until(done func() bool) {
	for r.err == nil && !done() {
		f, err := r.w.frames.ReadFrame()
		if err != nil {
			r.err, r.closed = err, true
			return
		}
		r.take(f)
	}
}

func (r *frames2) take(f xhttp2.Frame) {
	id := f.Header().StreamID
	s := r.streams[id]
	switch f := f.(type) {
	case *xhttp2.SettingsFrame:
		if !f.IsAck() {
			r.w.frames.WriteSettingsAck()
			r.w.out.Flush()
		}
		return
	case *xhttp2.WindowUpdateFrame:
		return // depends on time
	case *xhttp2.PingFrame:
		if f.IsAck() {
			r.pong = f.Data[0]
		}
		return
	case *xhttp2.GoAwayFrame:
		r.closed = true
		r.all = append(r.all, fmt.Sprintf("GOAWAY %v %q", f.ErrCode, f.DebugData()))
		return
	}
	if s == nil {
		// Of a request that we gave up.
		return
	}
	switch f := f.(type) {
	case *xhttp2.MetaHeadersFrame:
		s.add("HEADERS%s", fields2(f.Fields))
		s.ended = s.ended || f.StreamEnded()
	case *xhttp2.DataFrame:
		s.data = append(s.data, f.Data()...)
		s.ended = s.ended || f.StreamEnded()
	case *xhttp2.RSTStreamFrame:
		s.add("RST_STREAM %v", f.ErrCode)
		s.ended = true
	case *xhttp2.PushPromiseFrame:
		fields, err := r.w.frames.ReadMetaHeaders.DecodeFull(f.HeaderBlockFragment())
		s.add("PUSH_PROMISE %v%s", err, fields2(fields))
		r.streams[f.PromiseID] = new(stream2)
	default:
		s.add("%v", f)
	}
	if s.ended {
		s.add("END_STREAM")
	}
}

func fields2(fields []hpack.HeaderField) string {
	var b strings.Builder
	for _, f := range fields {
		if f.Name == "date" {
			f.Value = "now"
		}
		fmt.Fprintf(&b, "\n\t%s: %s", f.Name, f.Value)
	}
	return b.String()
}

// String returns the frames, those of the stream first and then those of pushed ones.
func (r *frames2) String(stream uint32) string {
	ids := []uint32{stream}
	for id := range r.streams {
		if id != stream {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids[1:])
	var b strings.Builder
	for i, id := range ids {
		s := r.streams[id]
		s.flush()
		fmt.Fprintf(&b, "stream %d of the request:\n%s\n", i, strings.Join(s.lines, "\n"))
	}
	for _, s := range r.all {
		fmt.Fprintln(&b, s)
	}
	if r.err != nil {
		fmt.Fprintln(&b, hidePorts(r.err.Error()))
	}
	return b.String()
}
