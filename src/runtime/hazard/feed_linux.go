// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// What serves the page of this process to other machines, without a Watcher for each.

package hazard

import (
	"fmt"
	"internal/hazardfeed"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"
)

// A feed follows the page of this process, for all who serve it. It needs no process, and no beats:
// while the process does not run, nor do they.
type feed struct {
	id identity
	sleeper

	mu    sync.Mutex
	file  pageFile
	users int
	ended bool // by the publisher
}

// openFeed is hazardfeed.Open.
func openFeed() (hazardfeed.Feed, error) {
	publishing.Lock()
	defer publishing.Unlock()
	p := publishing.p
	if p == nil {
		return nil, errNothing
	}
	if p.feed == nil {
		f := &feed{id: p.id}
		if err := f.file.openPage(p.file); err != nil {
			return nil, fmt.Errorf("hazard: the page is published, but can't be opened: %v", err)
		}
		if info, err := f.file.f.Stat(); err != nil || !os.SameFile(info, p.inode) {
			f.file.f.Close()
			return nil, fmt.Errorf("hazard: %s is another file by now: %w", p.file, fs.ErrInvalid)
		}
		f.sleeper = sleeper{f: f.file.f, linger: lookEvery}
		p.feed = f
	}
	if _, err := p.feed.begin(); err != nil {
		return nil, fmt.Errorf("hazard: %w", err)
	}
	p.feed.mu.Lock()
	p.feed.users++
	p.feed.mu.Unlock()
	return &feedUser{feed: p.feed}, nil
}

// finish is called by the publisher, when the last change has been.
func (f *feed) finish() {
	f.mu.Lock()
	f.ended = true
	last := f.users == 0
	f.mu.Unlock()
	if last {
		f.shut()
	}
}

// shut is called by the last one who uses it.
func (f *feed) shut() {
	f.sleeper.close()
	f.file.f.Close()
}

// A feedUser is one who has opened it.
type feedUser struct {
	*feed
	once sync.Once
}

func (u *feedUser) Leave() {
	u.once.Do(func() {
		u.end()
		u.mu.Lock()
		u.users--
		last := u.users == 0 && u.ended
		u.mu.Unlock()
		if last {
			u.shut()
		}
	})
}

func (u *feedUser) Begin() int64 { return u.id.begin }

func (u *feedUser) Changed() (<-chan struct{}, error) { return u.next() }

func (u *feedUser) Status() (e hazardfeed.Event, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	raw, err := u.file.status()
	if err != nil {
		return e, fmt.Errorf("hazard: %w", err)
	}
	c := now()
	s := raw.status(&u.id, c)
	e = event(&Change{Number: s.Number, Time: c.wall, State: s.State, Program: s.Program, Reason: s.Reason})
	b := e.JSON[:len(e.JSON)-1]
	b = fmt.Appendf(b, `,"since":%q,"pid":%d`, s.Since.Format(time.RFC3339Nano), s.PID)
	counts, nanos := []byte(`,"counts":`), []byte(`,"nanoseconds":`)
	for state := range State(states) {
		sep := ','
		if state == 0 {
			sep = '{'
		}
		counts = fmt.Appendf(counts, "%c%q:%d", sep, state, s.Count(state))
		nanos = fmt.Appendf(nanos, "%c%q:%d", sep, state, s.Time(state))
	}
	e.JSON = fmt.Appendf(b, "%s}%s}}", counts, nanos)
	return e, nil
}

func (u *feedUser) Changes(after uint64) (list []hazardfeed.Event, missed uint64, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	changes, missed, err := u.file.changes(after)
	if err != nil {
		return nil, 0, fmt.Errorf("hazard: %w", err)
	}
	for i := range changes {
		list = append(list, event(&changes[i]))
	}
	return list, missed, nil
}

// event returns a change as others get it. Of what JSON escapes a reason has two characters at most.
func event(c *Change) hazardfeed.Event {
	reason := strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(c.Reason)
	return hazardfeed.Event{Number: c.Number, Last: c.State == Gone, JSON: fmt.Appendf(nil, `{"number":%d,"time":%q,"state":%q,"program":%q,"reason":"%s"}`,
		c.Number, c.Time.Format(time.RFC3339Nano), c.State, c.Program, reason)}
}
