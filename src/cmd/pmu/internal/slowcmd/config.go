// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package slowcmd

import (
	"bytes"
	"cmd/pmu/internal/flame"
	"cmd/pmu/internal/slow"
	"cmd/pmu/internal/source"
	"cmd/pmu/internal/verb"
	"cmp"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"strconv"
	"time"
)

// A config is what the arguments say.
type config struct {
	*verb.Verb
	verb.IO
	opt     slow.Options
	src     source.Source
	latency bool
	page    string // a file
	http    *verb.HTTP
	seconds int
	args    []string
}

// profile reads the profile that the first argument names, or takes one of a server.
func (c *config) profile() (*slow.Profile, error) {
	name, opt := c.args[0], c.opt
	from := profileOf(name, opt.Event, c.seconds)
	if from != name {
		opt.Event = "" // all of the profile, which may have another name for it
		c.wait(c.seconds)
	}
	p, err := read(&c.src, from, opt)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// wait has requests take so many seconds, and a minute.
func (c *config) wait(seconds int) {
	if took := time.Duration(seconds) * time.Second; c.src.Timeout > 0 && c.src.Timeout < took+time.Minute {
		c.src.Timeout = took + time.Minute
	}
}

// show writes and serves a page.
func (c *config) show(write func(w io.Writer) error) error {
	if c.page != "" {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return err
		}
		if err := os.WriteFile(c.page, b.Bytes(), 0o666); err != nil {
			return err
		}
	}
	if !c.http.Given() {
		return nil
	}
	return c.http.ServePage(c.IO, flame.ContentSecurityPolicy(), write)
}

// profileOf returns the URL of the profile that a server is asked for, if name is the server, or its page of
// profiles or of tasks.
func profileOf(name, event string, seconds int) string {
	u, dir, _ := server(name)
	if u == nil {
		return name
	}
	q := url.Values{"event": {cmp.Or(event, "task-clock")}, "seconds": {strconv.Itoa(seconds)}}
	u.Path, u.RawQuery = dir+"profile", q.Encode()
	return u.String()
}

// server returns the URL that name is, and the folder and the page of its path, if it is a server, or its page of profiles
// or of tasks. Otherwise u is nil.
func server(name string) (u *url.URL, dir, page string) {
	u, err := url.Parse(name)
	if !source.IsURL(name) || err != nil {
		return nil, "", ""
	}
	source.SetPath(u, "/debug/pprof/")
	dir, page = path.Split(u.Path)
	if page == "pprof" {
		dir, page = u.Path+"/", ""
	}
	if page != "" && page != "tasks" {
		return nil, "", ""
	}
	return u, dir, page
}

// read reads a profile.
func read(src *source.Source, name string, opt slow.Options) (*slow.Profile, error) {
	r, err := src.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	p, err := slow.Read(r, opt)
	if err := r.Err(); err != nil {
		return nil, err
	}
	return p, err
}
