// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package keep records the tasks of servers for days, in the files of a folder.
package keep

import (
	"cmd/pmu/internal/source"
	"context"
	"errors"
	"fmt"
	"internal/taskrecord"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// An Archiver keeps the records of servers in the files of a folder.
type Archiver struct {
	Dir    string
	Bytes  int64      // that the files take at most
	URLs   []string   // of /debug/pprof/tasks
	Query  url.Values // which records
	Stderr io.Writer

	// For tests.
	pace   pace
	client *http.Client
	disk   func(step string, t *taskrecord.Record) error
}

// A pace is how long things take.
type pace struct {
	stream  time.Duration // of records; whole seconds
	overlap time.Duration // of a stream with the next one
	retry   time.Duration // after an error, at first; then longer
	slowest time.Duration
	save    time.Duration // from one time that the ledger is saved to the next one, at most, while records come
}

var usualPace = pace{time.Minute, 10 * time.Second, 100 * time.Millisecond, 10 * time.Second, time.Second}

// Run keeps the records of servers until ctx is done, or a file can't be written. A server that can't
// be read is asked again.
func (a Archiver) Run(ctx context.Context) error {
	if a.pace == (pace{}) {
		a.pace = usualPace
	}
	if a.client == nil {
		a.client = &http.Client{} // requests have their own deadlines
	}
	if a.disk == nil {
		a.disk = func(string, *taskrecord.Record) error { return nil }
	}
	var list []*follower
	for _, name := range a.URLs {
		u, err := a.address(name)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(list, func(x *follower) bool { return x.url.Redacted() == u.Redacted() }) {
			return fmt.Errorf("%s is there twice", shown(name))
		}
		list = append(list, &follower{pace: a.pace, name: shown(name), url: u, client: a.client})
	}
	f, err := openFolder(a.Dir, a.Bytes, len(list), a.disk)
	if err != nil {
		return err
	}
	defer f.lock.Close()
	f.mu.Lock()
	fmt.Fprintf(a.Stderr, "pmu tasks: %s has %d records in %d files; more are kept until this program is interrupted\n", a.Dir, f.ledger.records(), len(f.ledger.Files))
	f.mu.Unlock()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	say := &sayer{w: a.Stderr}
	for _, x := range list {
		x.line = &line{f: f, url: x.name, key: x.url.Redacted(), pace: a.pace, late: make(chan struct{}, 1)}
		x.say = say
		wg.Go(func() {
			x.run(ctx)
			stop() // if it could not write, the others can't either
		})
	}
	wg.Wait()
	err = f.change(func(l *ledger) {
		fmt.Fprintf(a.Stderr, "pmu tasks: %d records were read: %d are in %s, %d were there already\n", l.Read, l.records(), a.Dir, l.Twice)
		if s := l.missing(); s != "" {
			fmt.Fprintf(a.Stderr, "pmu tasks: %s: %s\n", a.Dir, s)
		}
	})
	for _, x := range list {
		err = errors.Join(err, x.line.close())
	}
	if f.err != nil {
		return fmt.Errorf("%w: nothing is kept any more", f.err)
	}
	return err
}

// address returns what to ask of a server, without the time.
func (a *Archiver) address(name string) (*url.URL, error) {
	u, err := url.Parse(name)
	if err != nil && shown(name) != name { // the error may have a part of it
		return nil, fmt.Errorf("%s is no URL: in a password, a sign such as @ or # is written as %%40 or %%23", shown(name))
	}
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%s is no URL of a server's /debug/pprof/tasks: files are kept already", shown(name))
	}
	source.SetPath(u, "/debug/pprof/tasks")
	q := u.Query()
	q.Set("format", "tasks")
	q.Del("seconds")
	for k, v := range a.Query {
		q[k] = v
	}
	u.RawQuery = q.Encode()
	return u, nil
}

// shown returns what of a URL is said and written down: no password.
func shown(name string) string {
	u, err := url.Parse(name)
	if err != nil || u.Host == "" {
		if i := strings.LastIndex(name, "@"); i >= 0 {
			return "xxxxx" + name[i:]
		}
	} else if _, secret := u.User.Password(); secret {
		return u.Redacted()
	}
	return name
}

// A sayer writes messages of several goroutines.
type sayer struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *sayer) say(name string, what any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.w, "pmu tasks: %s: %v\n", name, what)
}
