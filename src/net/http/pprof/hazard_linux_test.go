// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/hazard"
	"strings"
	"testing"
	"time"
)

// publishHazard publishes the state of this process.
func publishHazard(t *testing.T) *hazard.Publisher {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "hazard-test-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p, err := hazard.Publish(dir + "/page")
	if errors.Is(err, errors.ErrUnsupported) { // package runtime/hazard tests where
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// A hazardEvent is one of a stream.
type hazardEvent struct {
	kind, id, data string

	Number                 uint64
	Time                   time.Time
	State, Program, Reason string
	PID                    int
	Counts, Nanoseconds    map[string]int64
}

// A hazardClient follows a stream.
type hazardClient struct {
	t     *testing.T
	resp  *http.Response
	in    *bufio.Scanner
	beats int
}

func followHazard(t *testing.T, url, last string) *hazardClient {
	t.Helper()
	return followHazardBy(t, http.DefaultClient, url, last)
}

func followHazardBy(t *testing.T, client *http.Client, url, last string) *hazardClient {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(resp.Body)
		t.Fatalf("%s: %s", resp.Status, body)
	}
	if kind := resp.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Errorf("Content-Type %q", kind)
	}
	return &hazardClient{t: t, resp: resp, in: bufio.NewScanner(resp.Body)}
}

// next returns the next event, or false at the end.
func (c *hazardClient) next() (e hazardEvent, ok bool) {
	c.t.Helper()
	for c.in.Scan() {
		name, value, _ := strings.Cut(c.in.Text(), ": ")
		switch name {
		case "event":
			e.kind = value
		case "id":
			e.id = value
		case "data":
			e.data = value
		case ":":
			c.beats++
		case "":
			if e.kind == "" {
				continue // after a comment
			}
			if e.kind != "missed" {
				if err := json.Unmarshal([]byte(e.data), &e); err != nil {
					c.t.Fatalf("%s: %v", e.data, err)
				}
				if !strings.HasSuffix(e.id, fmt.Sprintf("-%d", e.Number)) {
					c.t.Errorf("ID %s of change %d", e.id, e.Number)
				}
			}
			return e, true
		default:
			c.t.Fatalf("unknown line %q", c.in.Text())
		}
	}
	return e, false
}

// until returns the first event of a state.
func (c *hazardClient) until(state hazard.State, reason string) hazardEvent {
	c.t.Helper()
	for {
		e, ok := c.next()
		if !ok {
			c.t.Fatalf("the stream has ended without %v, %s", state, reason)
		}
		if e.State == state.String() && e.Reason == reason {
			return e
		}
	}
}

func TestHazardStream(t *testing.T) {
	p := publishHazard(t)
	srv := httptest.NewServer(http.HandlerFunc(Hazard))
	t.Cleanup(srv.Close)
	c := followHazard(t, srv.URL, "")
	e, _ := c.next()
	begun := int64(0) // a collection may have been on its way
	for _, n := range e.Counts {
		begun += n
	}
	if e.kind != "status" || e.PID != os.Getpid() || e.Program != "OK" || len(e.Counts) != 7 || len(e.Nanoseconds) != 7 || begun == 0 {
		t.Errorf("the first event: %+v", e)
	}
	first := e

	reason := `a "new" version </script>`
	if err := p.Set(hazard.Draining, reason); err != nil {
		t.Fatal(err)
	}
	e = c.until(hazard.Draining, reason)
	if e.kind != "change" || e.Program != "Draining" || e.Number <= first.Number {
		t.Errorf("a change: %+v", e)
	}
	runtime.ReadMemStats(new(runtime.MemStats))
	e = c.until(hazard.Stopped, "read mem stats")
	if e.Program != "Draining" {
		t.Errorf("a stop: %+v", e)
	}
	c.until(hazard.Draining, reason)

	// A client that comes back gets what it has not seen, and no more.
	again := followHazard(t, srv.URL, e.id)
	if next, _ := again.next(); next.kind != "change" || next.Number != e.Number+1 {
		t.Errorf("after %s: %+v", e.id, next)
	}
	for i := range 100 {
		p.Set(hazard.Overloaded, fmt.Sprint(i))
	}
	late := followHazard(t, srv.URL, e.id)
	missed, _ := late.next()
	var n uint64
	fmt.Sscan(missed.data, &n)
	if next, _ := late.next(); missed.kind != "missed" || next.Number != e.Number+1+n {
		t.Errorf("%d missed after %s, then %+v", n, e.id, next)
	}
	page, _, _ := strings.Cut(e.id, "-")
	other := followHazard(t, srv.URL, page+"-1000000000")
	if e, _ := other.next(); e.kind != "status" {
		t.Errorf("after an ID that is not yet: %+v", e)
	}

	// The end of what is published ends the streams.
	p.Close()
	for _, c := range []*hazardClient{c, again, late, other} {
		c.until(hazard.Gone, "closed")
		if e, ok := c.next(); ok {
			t.Errorf("after the end: %+v", e)
		}
	}
}

// TestHazardBeat tests that who hears nothing knows it.
func TestHazardBeat(t *testing.T) {
	p := publishHazard(t)
	srv := httptest.NewServer(http.HandlerFunc(Hazard))
	t.Cleanup(srv.Close)
	c := followHazard(t, srv.URL+"?beat=10ms", "")
	c.next()
	for c.beats < 3 {
		if !c.in.Scan() {
			t.Fatal("the stream has ended")
		}
		if strings.HasPrefix(c.in.Text(), ":") {
			c.beats++
		}
	}
	p.Set(hazard.Draining, "x")
	c.until(hazard.Draining, "x")
}

// TestHazardClients tests that there are no more streams than there may be, and that one ends when its
// client goes.
func TestHazardClients(t *testing.T) {
	publishHazard(t)
	srv := httptest.NewServer(http.HandlerFunc(Hazard))
	t.Cleanup(srv.Close)
	var clients []*hazardClient
	for range maxHazardStreams {
		c := followHazard(t, srv.URL, "")
		c.next()
		clients = append(clients, c)
	}
	resp, err := http.Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode != http.StatusConflict || !strings.Contains(string(body), "16 other clients") {
		t.Errorf("one more: %s: %s", resp.Status, body)
	}
	for _, c := range clients {
		c.resp.Body.Close()
	}
	for deadline := time.Now().Add(time.Minute); len(hazardStreams) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d streams are left", len(hazardStreams))
		}
	}
	c := followHazard(t, srv.URL, "")
	if e, _ := c.next(); e.kind != "status" {
		t.Errorf("%+v", e)
	}
}

func TestHazardErrors(t *testing.T) {
	get := func(method, query, last string) (int, string) {
		r := httptest.NewRequest(method, "/debug/pprof/hazard"+query, nil)
		if last != "" {
			r.Header.Set("Last-Event-ID", last)
		}
		w := httptest.NewRecorder()
		Hazard(w, r)
		return w.Code, w.Body.String()
	}
	if code, text := get("GET", "", ""); code != http.StatusServiceUnavailable || !strings.Contains(text, "hazard.Publish") {
		t.Errorf("not published: %d %s", code, text)
	}
	publishHazard(t)
	for _, c := range []struct {
		method, query, last string
		code                int
		text                string
	}{
		{"POST", "", "", 405, "with GET"},
		{"GET", "?bat=1s", "", 400, "unknown parameter"},
		{"GET", "?beat=1", "", 400, "invalid value"},
		{"GET", "?beat=9ms", "", 400, "10ms at least"},
		{"GET", "?beat=1s&beat=2s", "", 400, "invalid value"},
		{"GET", "?%zz", "", 400, "malformed"},
		{"GET", "?x=" + strings.Repeat("x", 5000), "", 400, "longer"},
		{"GET", "", "x", 400, "Last-Event-ID"},
		{"GET", "", "7", 400, "Last-Event-ID"},
		{"GET", "", "1f-x", 400, "Last-Event-ID"},
		{"GET", "", "", 500, "Flush"}, // httptest's recorder has no SetWriteDeadline
		{"HEAD", "", "", 200, ""},
	} {
		code, text := get(c.method, c.query, c.last)
		if code != c.code || !strings.Contains(text, c.text) {
			t.Errorf("%s %.20s: %d %s", c.method, c.query, code, text)
		}
	}
	if len(hazardStreams) != 0 {
		t.Errorf("%d streams are left", len(hazardStreams))
	}
	if indexed("hazard") == nil {
		t.Error("not below the index")
	}
}
