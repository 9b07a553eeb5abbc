// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A wire1 sends requests by HTTP/1, each on a connection of its own.
type wire1 struct {
	addr string

	// decode has chunks put together: a proxy reads what there is of the other server's
	// answer, so where it cuts that depends on time.
	decode bool
}

// do sends the request of a case, and after it another one, unless the first asks the
// server to close the connection. It returns all bytes that came.
func (w *wire1) do(t *testing.T, c *testCase) answer {
	conn, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	d := &dialogue{conn: conn}
	requests := 1
	last := ""
	if !c.closes {
		requests = 2
		last = "GET /in/plain HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n"
	}
	switch {
	case c.gone:
		d.send(c.http1())
		<-begun
		conn.Close()
		return answer{requests: 1}
	case c.expects:
		d.send(c.http1())
		d.await("\r\n\r\n")
		if strings.HasPrefix(string(d.got), "HTTP/1.1 100 ") {
			d.send(c.body1() + last)
		}
	case c.talk != nil:
		d.send(c.http1())
		c.talk(d)
		d.send(last)
	default:
		d.send(c.http1() + last)
	}
	for d.read() == nil {
	}
	if d.err != io.EOF {
		d.got = fmt.Appendf(d.got, "\n%v", hidePorts(d.err.Error()))
	}
	got := string(date.ReplaceAll(d.got, []byte("\nDate: now\r\n")))
	if w.decode {
		got = decodeChunks(got)
	}
	return answer{wire: got, requests: requests}
}

var date = regexp.MustCompile(`\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n`)

// A dialogue is what is said over a connection.
type dialogue struct {
	conn net.Conn
	got  []byte // from the server
	err  error
}

func (d *dialogue) send(s string) {
	if s != "" && d.err == nil {
		// An error is one of reading, too.
		io.WriteString(d.conn, s)
	}
}

// read reads more.
func (d *dialogue) read() error {
	if d.err != nil {
		return d.err
	}
	b := make([]byte, 32<<10)
	n, err := d.conn.Read(b)
	d.got = append(d.got, b[:n]...)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errors.New("the server goes on waiting")
	}
	d.err = err
	return err
}

// await reads until what came has one of the strings, or to its end, and reports which.
func (d *dialogue) await(some ...string) string {
	for {
		for _, s := range some {
			if bytes.Contains(d.got, []byte(s)) {
				return s
			}
		}
		if d.read() != nil {
			return ""
		}
	}
}

// decodeChunks puts the chunks of bodies together.
func decodeChunks(raw string) string {
	var b strings.Builder
	for {
		header, rest, ok := strings.Cut(raw, "\r\n\r\n")
		if !ok || !strings.Contains(header, "\r\nTransfer-Encoding: chunked") {
			// The last one, or one whose body can't be found.
			if i := strings.Index(raw, "HTTP/1.1 "); ok && i == 0 && strings.Contains(rest, "HTTP/1.1 ") {
				next := len(header) + 4 + strings.Index(rest, "HTTP/1.1 ")
				b.WriteString(raw[:next])
				raw = raw[next:]
				continue
			}
			return b.String() + raw
		}
		b.WriteString(header + "\r\n\r\n")
		raw = rest
		for {
			size, rest, ok := strings.Cut(raw, "\r\n")
			n := 0
			if _, err := fmt.Sscanf(size, "%x", &n); !ok || err != nil || len(rest) < n+2 {
				return b.String() + " cut " + raw
			}
			if n == 0 {
				raw = rest // the trailers
				break
			}
			b.WriteString(rest[:n])
			raw = rest[n+2:]
		}
		b.WriteString("\r\nend of chunks\r\n")
		trailers, rest, ok := strings.Cut(raw, "\r\n")
		for ok && trailers != "" {
			b.WriteString(trailers + "\r\n")
			trailers, rest, ok = strings.Cut(rest, "\r\n")
		}
		raw = rest
	}
}
