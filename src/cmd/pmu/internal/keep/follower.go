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
	"strings"
	"sync"
	"time"
)

// A follower reads one server, by streams of records. Each begins before the one before ends, so
// that there is no time between them. Beside them it asks for all records that the server still
// has, whenever its line is behind. What a record of these was there already is not written again.
type follower struct {
	pace
	name   string
	url    *url.URL
	client *http.Client
	app    *appender
	line   *line
	say    *sayer

	mu   sync.Mutex
	said string // the last message, or "" while all is well
}

// run follows the server until ctx is done, or a record can't be written.
func (f *follower) run(ctx context.Context) {
	var open sync.WaitGroup
	defer open.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	open.Go(func() { f.catchUp(ctx) })
	wait := f.retry
	for ctx.Err() == nil && f.written() == nil {
		s, err := f.begin(ctx)
		if err == nil {
			open.Go(func() { s.read(f) })
			select {
			case <-time.After(time.Until(s.begun.Add(f.stream - f.overlap))):
				wait = f.retry
				continue
			case <-s.done: // early
				err = s.err
			case <-ctx.Done():
			}
		}
		f.note(ctx, err)
		sleep(ctx, wait)
		wait = min(2*wait, f.slowest)
	}
}

// catchUp reads what the server still has whenever the line is behind, until ctx is done.
func (f *follower) catchUp(ctx context.Context) {
	wait := f.retry
	for ctx.Err() == nil && f.written() == nil {
		behind, well := f.line.behind()
		if well {
			f.note(ctx, nil)
		}
		if !behind {
			select {
			case <-f.line.late:
			case <-ctx.Done():
			}
			continue
		}
		begun := time.Now()
		if err := f.past(ctx); err != nil {
			f.note(ctx, err)
		}
		if wait = min(2*wait, f.slowest); time.Since(begun) > f.slowest {
			wait = f.retry
		}
		sleep(ctx, wait)
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
	f.mu.Lock()
	defer f.mu.Unlock()
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
	done chan struct{}
	err  error // once it is done
}

// begin begins a stream. It returns when the server reads what is recorded.
func (f *follower) begin(ctx context.Context) (*stream, error) {
	a, err := f.get(ctx, f.stream)
	if err != nil {
		return nil, err
	}
	if err := f.line.begin(&a.reading); err != nil {
		a.close()
		return nil, err
	}
	return &stream{answer: a, done: make(chan struct{})}, nil
}

// read reads all of a stream.
func (s *stream) read(f *follower) {
	defer close(s.done)
	e := s.all(f)
	s.err = cmp.Or(f.line.end(&s.reading, e), e.err)
}

// past reads the records that the server still has.
func (f *follower) past(ctx context.Context) error {
	a, err := f.get(ctx, 0)
	if err != nil {
		return err
	}
	if err := f.line.beginPast(&a.reading); err != nil {
		a.close()
		return err
	}
	e := a.all(f)
	return cmp.Or(f.line.endPast(&a.reading, e), e.err)
}

// An answer is one with records.
type answer struct {
	*http.Response
	reading
	cancel context.CancelFunc
	alive  func() // there was something to read
}

func (a *answer) close() {
	a.cancel()
	a.Body.Close()
}

// get asks for the records of some time, or for those that there are. A stream has its time to end, and
// another minute. The rest may take as long as it goes on.
func (f *follower) get(ctx context.Context, d time.Duration) (*answer, error) {
	u := *f.url
	if d > 0 {
		q := u.Query()
		q.Set("seconds", strconv.Itoa(int(max(1, d/time.Second))))
		u.RawQuery = q.Encode()
	}
	most := d + time.Minute
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(most, func() { cancel(fmt.Errorf("nothing came within %v", most)) })
	a := &answer{reading: reading{begun: time.Now()}, alive: func() {}}
	a.cancel = func() { timer.Stop(); cancel(nil) }
	if d == 0 {
		a.alive = func() { timer.Reset(most) }
	}
	req, err := http.NewRequestWithContext(ctx, "GET", u.String(), nil)
	if err != nil {
		a.cancel()
		return nil, err
	}
	a.Response, err = f.client.Do(req)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
			err = cause
		}
		a.cancel()
		return nil, source.Explain(err, 0)
	}
	if a.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(a.Body, 512))
		a.close()
		return nil, fmt.Errorf("the server says %s: %q", a.Status, bytes.TrimSpace(text))
	}
	if a.process, a.from, err = places(a.Header, "X-Go-Tasks-From"); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

// places returns a process, and places in its rings, from a header or a trailer.
func places(h http.Header, name string) (process string, at record.RingPlaces, err error) {
	process, text, _ := strings.Cut(h.Get(name), " ")
	if process == "" {
		return "", nil, fmt.Errorf("the answer has no %s: the server is of an older release, or a proxy takes it away", name)
	}
	err = at.UnmarshalText([]byte(text))
	return process, at, err
}

// An ending is how an answer has ended.
type ending struct {
	whole         bool
	to            record.RingPlaces
	lost, leftOut int64 // what the server says at the end of one that is whole
	err           error // nil if it is whole
}

// count counts what a reading's records have not told.
func (e *ending) count(l *ledger, r *reading) {
	if e.whole {
		// What was too large is lost, too, as records tell it.
		l.LeftOut += e.leftOut
		l.Lost += max(e.lost-r.told, -e.leftOut)
	}
}

// all reads the records of an answer, and adds them to the folder.
func (a *answer) all(f *follower) *ending {
	defer a.close()
	r := record.NewReader(a.Body)
	for {
		t, err := r.Next()
		if err != nil {
			return a.ending(err)
		}
		a.alive()
		if err := f.add(t, a, r.At()); err != nil {
			return &ending{err: err}
		}
	}
}

// add adds a record. What is read, and up to where, is never saved apart.
func (f *follower) add(t *record.Task, a *answer, at record.RingPlaces) error {
	f.app.f.mu.Lock()
	defer f.app.f.mu.Unlock()
	if err := f.app.add(t, &a.reading, at); err != nil {
		return err
	}
	return f.line.saw(&a.reading, t, at)
}

// ending returns how an answer has ended after its last record.
func (a *answer) ending(err error) *ending {
	if err != io.EOF {
		if cause := context.Cause(a.Request.Context()); cause != nil && !errors.Is(cause, context.Canceled) {
			err = cause
		}
		return &ending{err: fmt.Errorf("the answer broke off: %w", source.Explain(err, 0))}
	}
	e := &ending{whole: true}
	if _, e.to, e.err = places(a.Trailer, "X-Go-Tasks-Until"); e.err != nil {
		return &ending{err: fmt.Errorf("the answer broke off: %w", e.err)}
	}
	e.lost, _ = strconv.ParseInt(a.Trailer.Get("X-Go-Tasks-Lost"), 10, 64)
	e.leftOut, _ = strconv.ParseInt(a.Trailer.Get("X-Go-Tasks-Left-Out"), 10, 64)
	return e
}
