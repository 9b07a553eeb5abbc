// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package keep

import (
	"bytes"
	"cmd/pmu/internal/source"
	"cmp"
	"context"
	"errors"
	"fmt"
	record "internal/task"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// A follower reads one server, by streams of records. Each begins before the one before ends, so
// that there is no time between them. Where it could not, it asks for all records that the server still
// has. What a record of these was there already is not written again.
type follower struct {
	pace
	name string
	url  *url.URL
	app  *appender
	say  *sayer
	said string // the last message, or "" while all is well

	// Streams of the same time are read by goroutines of their own.
	mu sync.Mutex // of app
}

// run follows the server until ctx is done, or a record can't be written.
func (f *follower) run(ctx context.Context) {
	var before *stream
	wait := f.retry
	var open sync.WaitGroup
	defer open.Wait()
	for ctx.Err() == nil && f.written() == nil {
		s, err := f.begin(ctx)
		// The server has begun to read before it answered. So no record is between this stream and one
		// that goes on.
		if err == nil && (before == nil || before.ended() || time.Since(before.begun) >= f.stream) {
			if err = f.catchUp(ctx); err != nil {
				s.close()
			}
		}
		f.note(ctx, err)
		if err == nil {
			before = s
			open.Go(func() { s.read(f) })
			select {
			case <-time.After(time.Until(s.begun.Add(f.stream - f.overlap))):
				wait = f.retry
				continue
			case <-s.done: // early
				f.note(ctx, s.err)
			case <-ctx.Done():
			}
		}
		sleep(ctx, wait)
		wait = min(2*wait, f.slowest)
	}
}

// sleep waits, but no longer than until ctx is done.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// written returns the error that a record could not be written by.
func (f *follower) written() error {
	f.app.f.mu.Lock()
	defer f.app.f.mu.Unlock()
	return f.app.f.err
}

// note says an error, unless it did so already, or that there is none any more.
func (f *follower) note(ctx context.Context, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if ctx.Err() != nil || f.said == text || f.written() != nil {
		return
	}
	if f.said = text; err == nil {
		text = "it is read again"
	}
	f.say.say(f.name, text)
}

// A stream is an answer of the server that goes on.
type stream struct {
	*answer
	begun time.Time // not after the server has begun it
	done  chan struct{}
	err   error // once it is done
}

func (s *stream) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// begin begins a stream. It returns when the server reads what is recorded.
func (f *follower) begin(ctx context.Context) (*stream, error) {
	s := &stream{begun: time.Now(), done: make(chan struct{})}
	var err error
	s.answer, err = f.get(ctx, f.stream)
	return s, err
}

// read reads all of a stream.
func (s *stream) read(f *follower) {
	defer close(s.done)
	s.err = s.all(f, func(*record.Task, bool) {})
}

// An answer is one with records.
type answer struct {
	*http.Response
	cancel context.CancelFunc
}

func (a *answer) close() {
	a.cancel()
	a.Body.Close()
}

// get asks for the records of some time, or for those that there are.
func (f *follower) get(ctx context.Context, d time.Duration) (*answer, error) {
	u := *f.url
	if d > 0 {
		q := u.Query()
		q.Set("seconds", strconv.Itoa(int(max(1, d/time.Second))))
		u.RawQuery = q.Encode()
	}
	most := d + time.Minute
	ctx, cancel := context.WithTimeout(ctx, most)
	req, err := http.NewRequestWithContext(ctx, "GET", u.String(), nil)
	if err != nil {
		cancel()
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("no answer within %v", most)
		}
		return nil, source.Explain(err, 0)
	}
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 512))
		resp.Body.Close()
		cancel()
		return nil, fmt.Errorf("the server says %s: %q", resp.Status, bytes.TrimSpace(text))
	}
	return &answer{resp, cancel}, nil
}

// all reads the records of an answer, and calls seen for each. Its error is nil if the answer was whole.
func (a *answer) all(f *follower, seen func(t *record.Task, twice bool)) error {
	defer a.close()
	r := record.NewReader(a.Body)
	var lost int64 // so far
	last := time.Now()
	for {
		t, err := r.Next()
		if err != nil {
			return a.end(f, err, lost, last)
		}
		last = time.Now()
		lost += max(0, t.Lost.Before)
		f.mu.Lock()
		twice, err := f.app.add(t)
		f.mu.Unlock()
		if err != nil {
			return err
		}
		seen(t, twice)
	}
}

// end notes what an answer says at its end. If it was not whole, what the server has lost is known up to
// its last record. Last is when there was something to read.
func (a *answer) end(f *follower, err error, lost int64, last time.Time) error {
	left := int64(0)
	if err == io.EOF {
		left, _ = strconv.ParseInt(a.Trailer.Get("X-Go-Tasks-Left-Out"), 10, 64)
		all, _ := strconv.ParseInt(a.Trailer.Get("X-Go-Tasks-Lost"), 10, 64)
		lost = max(lost, all)
		err = nil
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		last = time.Now() // the connection was whole until then
	}
	e := f.app.f.change(func(l *ledger) {
		l.Lost += lost
		l.LeftOut += left
		l.Last[f.name] = max(l.Last[f.name], last.UnixNano())
	})
	if err != nil {
		err = fmt.Errorf("the answer broke off: %w", source.Explain(err, 0))
	}
	return cmp.Or(e, err)
}

// catchUp reads the records that the server still has, after a time in which nobody read it. No record of
// that time is missing if one is there that was read before, and that all of the server's rings reach
// back to. If there is none, some may be missing.
func (f *follower) catchUp(ctx context.Context) error {
	var before int64
	f.app.f.change(func(l *ledger) { before = l.Last[f.name] })
	now := time.Now()
	a, err := f.get(ctx, 0)
	if err != nil {
		return err
	}
	complete := before == 0 // nobody has read it ever
	err = a.all(f, func(t *record.Task, twice bool) {
		complete = complete || twice && t.Flags&record.Early == 0
	})
	if err == nil && !complete {
		err = f.app.f.change(func(l *ledger) {
			l.Gaps++
			l.Gap += max(0, now.UnixNano()-before)
		})
	}
	return err
}
