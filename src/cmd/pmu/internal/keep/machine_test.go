// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package keep

import (
	"context"
	"encoding/binary"
	"fmt"
	"internal/taskrecord"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A machine is a server with several rings, as a process has them. Its answers break off on command. It is
// asked without a network, so that it can be in a bubble, where no time passes while anyone has work.
type machine struct {
	name  string
	clock int64         // what its clock is ahead
	pad   string        // of records
	most  int           // in a ring
	pass  bool          // a query for a kind asks for no records of the last ring
	delay time.Duration // before each record of what it still has
	limit int           // records after which each answer with what it still has breaks off, if it isn't 0
	other *machine      // that gets every second query
	turn  atomic.Int64

	mu      sync.Mutex
	process int // how many there have been
	rings   [3]struct {
		first uint64 // the number of the first one that is there
		list  []*taskrecord.Record
	}
	n       int // records of all processes
	refuse  bool
	stall   bool        // the oldest stream sends nothing
	old     bool        // it says nothing of places
	after   int         // records after which an answer that begins breaks off, if it isn't 0
	answers []chan bool // that go on, the oldest first: closed, they break off
	asked   int         // how often what it still has was asked for
}

// add makes n records in a ring.
func (m *machine) add(ring, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := &m.rings[ring]
	for range n {
		m.n++
		t := &taskrecord.Record{Kind: "GET /", Start: int64(m.n)*1e6 + m.clock, Goroutines: 1, Notes: []taskrecord.Note{{Key: "pad", Value: fmt.Sprint(m.n, m.pad)}}}
		binary.BigEndian.PutUint64(t.Trace[:], uint64(m.n))
		copy(t.Trace[8:], m.name)
		t.Span[0] = 1
		r.list = append(r.list, t)
	}
	if over := len(r.list) - m.most; over > 0 {
		r.list = r.list[over:]
		r.first += uint64(over)
	}
}

// restart begins another process.
func (m *machine) restart() {
	m.breakOff()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.process++
	clear(m.rings[:])
}

// breakOff breaks off all answers.
func (m *machine) breakOff() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.answers {
		close(c)
	}
	m.answers = nil
}

// breakOne breaks off one of them.
func (m *machine) breakOne(i int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.answers[i])
	m.answers = slices.Delete(m.answers, i, i+1)
}

// queries returns how often what it still has was asked for.
func (m *machine) queries() (n int) {
	m.change(func() { n = m.asked })
	return n
}

// change changes what the machine does from now on.
func (m *machine) change(do func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	do()
}

// mark says where an answer begins or ends.
func (a *machineAnswer) mark(end bool) {
	if a.old {
		return
	}
	m := &taskrecord.Mark{End: end, Process: a.process, Progress: taskrecord.Progress{Lost: a.lost}}
	for i, n := range a.at {
		m.Places = append(m.Places, taskrecord.RingPlace{Ring: i, Next: n})
	}
	if a.fw.Mark(m) != nil {
		panic(http.ErrAbortHandler)
	}
}

// aside has a machine do nothing at the very instant at which a test does something.
const aside = time.Nanosecond

// ServeHTTP answers as net/http/pprof does.
func (m *machine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	seconds, _ := strconv.Atoi(r.URL.Query().Get("seconds"))
	m.mu.Lock()
	if m.refuse {
		m.mu.Unlock()
		http.Error(w, "refused", http.StatusServiceUnavailable)
		return
	}
	a := &machineAnswer{m: m, old: m.old, pass: m.pass && r.URL.Query().Has("kind"), process: fmt.Sprint(m.name, m.process), ctx: r.Context(), off: make(chan bool), left: m.after, seconds: seconds}
	m.after = 0
	m.answers = append(m.answers, a.off)
	a.fw = taskrecord.NewFileWriter(w, &taskrecord.Server{Name: m.name, PID: 1 + m.process, Start: 1})
	for i := range a.at {
		if a.at[i] = m.rings[i].first; seconds > 0 {
			a.at[i] += uint64(len(m.rings[i].list))
		}
	}
	if seconds == 0 {
		if m.asked++; m.limit > 0 {
			a.left = m.limit
		}
	}
	m.mu.Unlock()
	w.(http.Flusher).Flush()
	a.mark(false)
	a.records()
	a.mark(true)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answers = slices.DeleteFunc(m.answers, func(c chan bool) bool { return c == a.off })
	w.Header().Set("X-Go-Tasks-Lost", fmt.Sprint(a.lost))
}

type machineAnswer struct {
	m       *machine
	ctx     context.Context
	fw      *taskrecord.FileWriter
	off     chan bool
	left    int
	seconds int
	at      [3]uint64
	lost    int64
	old     bool
	pass    bool
	process string
}

func (a *machineAnswer) records() {
	if a.seconds == 0 {
		a.drain()
		return
	}
	end := time.After(time.Duration(a.seconds) * time.Second)
	for {
		select {
		case <-a.ctx.Done():
			panic(http.ErrAbortHandler)
		case <-a.off:
			panic(http.ErrAbortHandler)
		case <-time.After(20*time.Millisecond + aside):
			stall := false
			a.m.change(func() { stall = a.m.stall && len(a.m.answers) > 0 && a.m.answers[0] == a.off })
			if !stall {
				a.drain()
			}
		case <-end:
			a.drain()
			return
		}
	}
}

// drain sends what is there now. The rings take turns.
func (a *machineAnswer) drain() {
	var heads [3]uint64
	a.m.change(func() {
		for i, r := range a.m.rings {
			heads[i] = r.first + uint64(len(r.list))
		}
	})
	for more := true; more; {
		more = false
		for i := range a.at {
			if a.at[i] < heads[i] {
				more = true
				a.one(i)
			}
		}
	}
}

// one sends the next record of a ring, or breaks off.
func (a *machineAnswer) one(ring int) {
	if a.seconds == 0 {
		var d time.Duration
		a.m.change(func() { d = a.m.delay })
		if d > 0 {
			time.Sleep(d + aside)
		}
	}
	select {
	case <-a.off:
		panic(http.ErrAbortHandler)
	default:
	}
	if a.left > 0 {
		if a.left--; a.left == 0 {
			panic(http.ErrAbortHandler)
		}
	}
	var t taskrecord.Record
	a.m.change(func() {
		r := &a.m.rings[ring]
		if a.at[ring] < r.first {
			t.Lost.Before = int64(r.first - a.at[ring])
			a.at[ring] = r.first
		}
		lost := t.Lost
		if i := a.at[ring] - r.first; i < uint64(len(r.list)) {
			t = *r.list[i]
		} else {
			panic(http.ErrAbortHandler) // another process has begun
		}
		t.Lost = lost
	})
	a.at[ring]++
	a.lost += t.Lost.Before
	if a.pass && ring == len(a.at)-1 {
		return
	}
	if !a.old {
		a.fw.At = taskrecord.Progress{Places: taskrecord.RingPlaces{{Ring: ring, Next: a.at[ring]}}, Lost: a.lost}
	}
	if a.fw.Write(&t) != nil {
		panic(http.ErrAbortHandler)
	}
}

// machines are the transport to machines by their names.
type machines map[string]*machine

func (ms machines) RoundTrip(r *http.Request) (*http.Response, error) {
	pr, pw := io.Pipe()
	w := &pipeWriter{pw: pw, header: make(http.Header), begun: make(chan *http.Response, 1), r: r, pr: pr}
	context.AfterFunc(r.Context(), func() { pr.CloseWithError(r.Context().Err()) })
	go func() {
		defer func() {
			if recover() != nil {
				w.begin(http.StatusOK)
				pw.CloseWithError(io.ErrUnexpectedEOF)
				return
			}
			for k, v := range w.header {
				if _, ok := w.sent[k]; !ok {
					w.resp.Trailer[k] = v
				}
			}
			pw.Close()
		}()
		m := ms[r.URL.Host]
		if m.other != nil && m.turn.Add(1)%2 == 0 {
			m = m.other
		}
		m.ServeHTTP(w, r)
	}()
	select {
	case resp := <-w.begun:
		return resp, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

type pipeWriter struct {
	pw           *io.PipeWriter
	pr           *io.PipeReader
	r            *http.Request
	header, sent http.Header
	begun        chan *http.Response
	resp         *http.Response
}

func (w *pipeWriter) begin(status int) {
	if w.resp != nil {
		return
	}
	w.sent = w.header.Clone()
	w.resp = &http.Response{StatusCode: status, Status: strings.TrimSpace(fmt.Sprint(status, " ", http.StatusText(status))),
		Header: w.sent, Trailer: make(http.Header), Body: w.pr, Request: w.r}
	w.begun <- w.resp
}

func (w *pipeWriter) Header() http.Header    { return w.header }
func (w *pipeWriter) WriteHeader(status int) { w.begin(status) }
func (w *pipeWriter) Flush()                 { w.begin(http.StatusOK) }
func (w *pipeWriter) Write(b []byte) (int, error) {
	w.begin(http.StatusOK)
	return w.pw.Write(b)
}
