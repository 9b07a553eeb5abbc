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
	"internal/taskrecord"
	"io"
	"net/http"
	"net/url"
	"strconv"
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
		a, err := f.get(ctx, f.stream)
		if err == nil {
			done := make(chan error, 1)
			open.Go(func() { done <- f.read(a) })
			select {
			case <-time.After(time.Until(a.begun.Add(f.stream - f.overlap))):
				wait = f.retry
				continue
			case err = <-done: // early
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
	var pause time.Duration
	for ctx.Err() == nil && f.written() == nil {
		behind, well := f.line.behind()
		if well {
			f.note(ctx, nil)
			pause = 0
		}
		if !behind {
			select {
			case <-f.line.late:
			case <-ctx.Done():
			}
			continue
		}
		sleep(ctx, pause)
		begun := time.Now()
		if err := f.past(ctx); err != nil {
			f.note(ctx, err)
		}
		// It is a lot of work for the server, and may never succeed. So it has a rest of the same time at least.
		pause = max(f.retry, min(2*pause, f.stream), time.Since(begun))
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
	f.line.f.mu.Lock()
	defer f.line.f.mu.Unlock()
	return f.line.f.err
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

// past reads the records that the server still has.
func (f *follower) past(ctx context.Context) error {
	a, err := f.get(ctx, 0)
	if err != nil {
		return err
	}
	return f.read(a)
}

// An answer is one with records.
type answer struct {
	*http.Response
	reading
	known  bool // where it begins, or that the server is of an older release and does not say that
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
	a := &answer{reading: reading{begun: time.Now(), past: d == 0}, alive: func() {}}
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
	return a, nil
}

// read reads all of an answer, and adds its records to the folder.
func (f *follower) read(a *answer) error {
	defer a.close()
	end, err := f.records(a)
	if a.known {
		err = cmp.Or(f.line.end(&a.reading, end), err)
	}
	return err
}

// records reads the records of an answer, and returns where it ends.
func (f *follower) records(a *answer) (end *taskrecord.Progress, err error) {
	r := taskrecord.NewFileReader(a.Body)
	r.Mark = func(m *taskrecord.Mark) {
		if m.End {
			end = &m.Progress
		} else if !a.known {
			a.process, a.from = m.Process, m.Places
			err = cmp.Or(err, f.know(a))
		}
	}
	for {
		t, broken := r.Next()
		whole := t != nil || broken == io.EOF
		if whole && err == nil {
			err = f.know(a) // of an older release, if there was no mark before
		}
		switch {
		case err != nil:
			return nil, err
		case whole && r.Skipped() > 0:
			return nil, errors.New("the answer is damaged")
		case broken != nil:
			return a.ending(end, broken)
		}
		if err := f.add(t, a, r.At()); err != nil {
			return nil, err
		}
	}
}

// know notes where an answer begins.
func (f *follower) know(a *answer) error {
	a.alive()
	if a.known {
		return nil
	}
	a.known = true
	return f.line.begin(&a.reading)
}

// add adds a record. What is read, and up to where, is never saved apart.
func (f *follower) add(t *taskrecord.Record, a *answer, at taskrecord.Progress) error {
	n := f.line
	n.f.mu.Lock()
	defer n.f.mu.Unlock()
	u := n.of(&a.reading)
	if u.app == nil {
		u.app = &appender{f: n.f, url: n.key, process: u.Process}
	}
	if err := u.app.add(t, &a.reading, at.Places); err != nil {
		return err
	}
	if a.process == "" { // such a record tells only what its ring has lost
		at.Lost = a.to.Lost + min(max(0, t.Lost.Before), 1<<48)
	}
	return n.saw(&a.reading, at)
}

// ending returns where an answer ends that has ended after its last record, or an error if it broke off. A server of
// an older release says in trailers what is missing.
func (a *answer) ending(end *taskrecord.Progress, err error) (*taskrecord.Progress, error) {
	switch {
	case end != nil:
		return end, nil
	case err != io.EOF:
		if cause := context.Cause(a.Request.Context()); cause != nil && !errors.Is(cause, context.Canceled) {
			err = cause
		}
		return nil, fmt.Errorf("the answer broke off: %w", source.Explain(err, 0))
	case a.process != "":
		return nil, errors.New("the answer broke off: it has no end")
	}
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(a.Trailer.Get(name), 10, 64)
		return min(max(0, n), 1<<48)
	}
	return &taskrecord.Progress{Lost: number("X-Go-Tasks-Lost"), LeftOut: number("X-Go-Tasks-Left-Out")}, nil
}
