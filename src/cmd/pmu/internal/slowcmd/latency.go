// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package slowcmd

import (
	"cmd/pmu/internal/latency"
	"cmd/pmu/internal/slow"
	"cmd/pmu/internal/taskscmd"
	"cmd/pmu/internal/verb"
	"errors"
	"fmt"
	"internal/taskrecord"
	"io"
	"net/url"
	"strconv"
	"time"
)

// latencies says where the latency of slow requests goes.
func (c *config) latencies() (status int, err error) {
	c.opt.Waits = true
	p, add, err := c.both()
	if err != nil {
		return verb.Error, err
	}
	clock, err := p.Clock()
	if err != nil {
		return verb.Error, fmt.Errorf("%s: %w", c.args[0], err)
	}
	r := requests{kind: c.opt.Kind, servers: make(map[string]bool)}
	r.from, r.until = p.During()
	if err := add(r.add); err != nil {
		return verb.Error, err
	}
	if err := r.check(); err != nil {
		return verb.Error, err
	}
	list, left := r.sums.Kinds()
	if left > 0 {
		fmt.Fprintf(c.Stderr, "pmu slow: %s left out, as there are too many kinds\n", taskrecord.Count(left, "record"))
	}
	for _, k := range list {
		k.Divide(clock)
	}
	if status = verb.OK; list[0].Slow().Requests == 0 {
		status = verb.Other
	}
	if c.page != "" || c.http.Given() {
		return status, c.show(func(w io.Writer) error { return list[0].WriteHTML(w, latency.Links{}) })
	}
	for i, k := range list {
		if i > 0 && k.Slow().Requests == 0 {
			break // they follow
		}
		if i > 0 {
			fmt.Fprintln(c.Stdout)
		}
		if err := k.WriteText(c.Stdout); err != nil {
			return verb.Error, err
		}
	}
	return status, nil
}

// both returns the profile, and what gives the records to a function until that returns an error.
func (c *config) both() (p *slow.Profile, add func(func(*taskrecord.Record) error) error, err error) {
	u, dir, page := server(c.args[0])
	if u != nil && c.opt.Event != "" && !slow.IsClock(c.opt.Event) {
		return nil, nil, fmt.Errorf("-event %s is no time: -latency needs a clock, such as task-clock", c.opt.Event)
	}
	if len(c.args) > 1 {
		p, err := c.profile()
		return p, func(f func(*taskrecord.Record) error) error { return c.records(c.args[1:], f) }, err
	}
	if u == nil {
		return nil, nil, errors.New("-latency needs records of tasks beside the profile: name files or URLs of them, too, or the server's address instead of both")
	}
	if page == "" {
		page = "tasks"
	}
	// Records may arrive after the profile has begun, and do so for a second after its end: those of the time between are taken.
	q := url.Values{"format": {"tasks"}, "seconds": {strconv.Itoa(c.seconds + 1)}}
	if c.opt.Kind != "" {
		q.Set("kind", c.opt.Kind)
	}
	u.Path, u.RawQuery = dir+page, q.Encode()
	c.wait(c.seconds + 1)
	var list []*taskrecord.Record
	done := make(chan error, 1)
	go func() {
		done <- c.records([]string{u.String()}, func(t *taskrecord.Record) error {
			if list = append(list, t); len(list) > taskrecord.DefaultMaxTasks {
				return fmt.Errorf("there are more than %d records: take fewer -seconds, or only one -kind", taskrecord.DefaultMaxTasks)
			}
			return nil
		})
	}()
	if p, err = c.profile(); err != nil {
		return nil, nil, err
	}
	if err := <-done; err != nil {
		return nil, nil, err
	}
	return p, func(f func(*taskrecord.Record) error) error {
		for _, t := range list {
			if err := f(t); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// records calls f with the records of files or URLs until it returns an error.
func (c *config) records(names []string, f func(*taskrecord.Record) error) (err error) {
	e := taskscmd.Read(c.src, c.Name, names, c.Stderr, func(t *taskrecord.Record) bool {
		err = f(t)
		return err == nil
	})
	if err == nil && e != nil {
		err = errors.New("not all records could be read")
	}
	return err
}

// requests are the records of the time of a profile.
type requests struct {
	kind        string
	from, until time.Time // zero if that is not known
	sums        latency.Builder
	servers     map[string]bool
	n           int       // taken
	first, last time.Time // ends of those that were not
}

// add adds a record, if it is of the kind and its task ended in the time of the profile.
func (r *requests) add(t *taskrecord.Record) error {
	if t.Flags&taskrecord.Client != 0 || r.kind != "" && t.Kind != r.kind {
		return nil
	}
	end := time.Unix(0, t.Start).Add(max(0, t.Wall))
	if !r.from.IsZero() && (end.Before(r.from) || end.After(r.until)) {
		if r.first.IsZero() || end.Before(r.first) {
			r.first = end
		}
		if end.After(r.last) {
			r.last = end
		}
		return nil
	}
	if s := t.Server; s != nil && len(r.servers) < 2 {
		r.servers[fmt.Sprint(s.ID, s.Name, s.PID, s.Start)] = true
	}
	r.n++
	return r.sums.Add(&taskrecord.Node{Task: t, Call: -1})
}

// check returns an error if the records can't be those of what the profile is of.
func (r *requests) check() error {
	const at = "15:04:05.000"
	switch {
	case len(r.servers) > 1:
		return errors.New("the records are of several servers, and the profile is of one: name only the records of that")
	case r.n > 0:
		return nil
	case r.first.IsZero() && r.kind != "":
		return fmt.Errorf("there is no record of kind %q", r.kind)
	case r.first.IsZero():
		return errors.New("there is no record: has the server recorded tasks?")
	}
	return fmt.Errorf("no record is of the time of the profile, %s to %s: those that there are ended from %s to %s", r.from.Format(at), r.until.Format(at), r.first.Format(at), r.last.Format(at))
}
