// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/hazard"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	streamBeat = 10 * time.Millisecond
	missedLate = 5 // beats, and the server is stopped, or the network is
)

// Stream returns a source that follows the event stream at a URL, that of /debug/pprof/hazard of another machine.
// The client is http.DefaultClient if it is nil.
//
// A server that is stopped says so when that is over. So the stream has a beat of 10 ms, and if
// none is heard for five of them, the state is Stopped, with the reason "silent: nothing is heard". A
// pause of the whole machine stops the watcher, too: looks count, not time. If the stream breaks, the
// state is Gone. It is then asked for anew ten times a second.
func Stream(url string, client *http.Client) Source {
	if client == nil {
		client = http.DefaultClient
	}
	s := &streamSource{url: url, client: client, changed: make(chan struct{}, 1)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

type streamSource struct {
	url     string
	client  *http.Client
	ctx     context.Context
	cancel  context.CancelFunc
	once    sync.Once
	reader  sync.WaitGroup
	changed chan struct{} // has a value after a change

	mu     sync.Mutex
	status hazard.Status // Number is 0 before the first one
	err    error         // why nothing is known
	heard  uint64        // lines

	// Of the goroutine that waits.
	seen  uint64
	looks int
}

func (s *streamSource) Wait(ctx context.Context, after hazard.Status) (hazard.Status, error) {
	s.once.Do(func() { s.reader.Go(s.read) })
	look := time.NewTicker(streamBeat)
	defer look.Stop()
	for {
		now, err := s.now()
		if err != nil {
			return after, err
		}
		if now.Number != 0 && (now.Number != after.Number || now.State != after.State || now.Reason != after.Reason) {
			return now, nil
		}
		select {
		case <-ctx.Done():
			return after, ctx.Err()
		case <-s.changed:
		case <-look.C:
			s.look()
		}
	}
}

// look counts how often nothing was heard in a row.
func (s *streamSource) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.heard != s.seen {
		s.seen, s.looks = s.heard, 0
		return
	}
	s.looks++
}

const silent = "silent: nothing is heard"

// now returns what is known now.
func (s *streamSource) now() (hazard.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.status
	if s.looks >= missedLate && s.heard == s.seen && s.err == nil && now.State != hazard.Gone {
		now.State, now.Reason = hazard.Stopped, silent
	}
	return now, s.err
}

// set is called by the goroutine that reads, for each status and each error.
func (s *streamSource) set(status hazard.Status, err error) {
	s.mu.Lock()
	s.status, s.err = status, err
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// read reads one stream after the other.
func (s *streamSource) read() {
	for s.ctx.Err() == nil {
		err := s.follow()
		s.mu.Lock()
		last := s.status
		s.mu.Unlock()
		switch {
		case last.Number == 0 || errors.Is(err, errNoStream):
			s.set(hazard.Status{}, err)
		case last.State != hazard.Gone:
			last.State, last.Reason, last.Since = hazard.Gone, "the stream has broken", time.Now()
			s.set(last, nil)
		}
		select {
		case <-s.ctx.Done():
		case <-time.After(lookAgain):
		}
	}
}

// errNoStream means that the server is there, and says nothing of its state.
var errNoStream = errors.New("no event stream")

// follow reads one stream. The error says why it has ended.
func (s *streamSource) follow() error {
	req, err := http.NewRequestWithContext(s.ctx, http.MethodGet, s.url+"?beat="+streamBeat.String(), nil)
	if err != nil {
		return err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	in := bufio.NewScanner(resp.Body)
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
		in.Scan()
		return fmt.Errorf("%s: %w: %s, %s: %.200s", s.url, errNoStream, resp.Status, kind, in.Text())
	}
	event := ""
	for in.Scan() {
		s.mu.Lock()
		s.heard++
		s.mu.Unlock()
		name, value, _ := strings.Cut(in.Text(), ": ")
		switch name {
		case "event":
			event = value
		case "data":
			if event != "status" && event != "change" {
				continue // missed: what has come since is what counts
			}
			status, err := parseStatus(value)
			if err != nil {
				return fmt.Errorf("%s: %w", s.url, err)
			}
			s.set(status, nil)
		}
	}
	if err := in.Err(); err != nil {
		return err
	}
	return fmt.Errorf("%s: the stream has ended", s.url)
}

// parseStatus parses the data of an event.
func parseStatus(data string) (hazard.Status, error) {
	var e struct {
		Number         uint64
		State, Program string
		Reason         string
		PID            int
	}
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		return hazard.Status{}, err
	}
	state, ok := stateOf(e.State)
	program, also := stateOf(e.Program)
	if !ok || !also || e.Number == 0 {
		return hazard.Status{}, fmt.Errorf("event %s: want a number, a state and what the program has set", strconv.Quote(data))
	}
	// Times are of another clock: what counts is when it is known here.
	return hazard.Status{State: state, Program: program, Reason: e.Reason, Number: e.Number, PID: e.PID, Since: time.Now()}, nil
}

// stateOf returns the state with a name.
func stateOf(name string) (hazard.State, bool) {
	for s := hazard.OK; s <= hazard.Gone; s++ {
		if s.String() == name {
			return s, true
		}
	}
	return 0, false
}

// Close ends the stream.
func (s *streamSource) Close() error {
	s.cancel()
	s.once.Do(func() {})
	s.reader.Wait()
	return nil
}
