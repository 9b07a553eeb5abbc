// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27 && linux

package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	"pmu/hedge/hedge"
)

// A stretch is from one moment to another one, in nanoseconds of the clock that all processes have.
type stretch struct{ begin, end int64 }

func now() int64 { return time.Now().UnixNano() }

func (s stretch) overlaps(o stretch) bool { return s.begin < o.end && o.begin < s.end }

func newBase() *http.Transport {
	return &http.Transport{MaxIdleConnsPerHost: 1000, DisableCompression: true}
}

// A sum is what the runs of a variant have shown.
type sum struct {
	hit, others []float64 // milliseconds
	p99         []float64 // of each run
	stops       int
	stopped     float64 // milliseconds, together
	stats       []hedge.Stats
}

// oneRun adds a run to a sum.
func oneRun(s servers, h hazardKind, v variant, run uint64, to *sum) error {
	handler, active, stats, end, err := v.start(s)
	if err != nil {
		return err
	}
	defer end()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: handler}
	go srv.Serve(l)
	defer srv.Close()

	var stops []stretch
	done := make(chan bool)
	var stopping sync.WaitGroup
	var stopErr error
	if h.stop != nil {
		stopping.Go(func() { stops, stopErr = plant(h, s, active, rand.New(rand.NewPCG(*seed, run<<1)), done) })
	}
	list, err := load("http://"+l.Addr().String(), rand.New(rand.NewPCG(*seed, run<<1|1)))
	close(done)
	stopping.Wait()
	if err := errors.Join(err, stopErr); err != nil {
		return err
	}
	to.add(list, stops, stats())
	return nil
}

// start starts what a variant's requests go through. active is the server that they are sent to.
func (v *variant) start(s servers) (h http.Handler, active func() int, stats func() hedge.Stats, end func(), err error) {
	if v.alone {
		base := newBase()
		u := s[0].url
		h := &httputil.ReverseProxy{Transport: base, Rewrite: func(r *httputil.ProxyRequest) {
			r.SetXForwarded()
			r.Out.URL.Scheme, r.Out.URL.Host = u.Scheme, u.Host
			r.Out.Host = r.In.Host
		}}
		return h, func() int { return 0 }, func() hedge.Stats { return hedge.Stats{} }, base.CloseIdleConnections, nil
	}
	t, err := hedge.New(v.config(s))
	if err != nil {
		return nil, nil, nil, nil, err
	}
	active = func() int {
		for i, b := range t.Stats().Backends {
			if b.Active {
				return i
			}
		}
		return 0
	}
	return hedge.Proxy(t, log.Default()), active, t.Stats, func() { t.Close(); t.CloseIdleConnections() }, nil
}

// plant stops the active server again and again, each 200 ms on the average.
func plant(h hazardKind, s servers, active func() int, r *rand.Rand, done chan bool) (list []stretch, err error) {
	time.Sleep(50 * time.Millisecond)
	for {
		select {
		case <-done:
			return list, nil
		case <-time.After(time.Duration((0.5 + r.Float64()) * float64(200*time.Millisecond))):
		}
		one, err := h.stop(s[active()])
		if err != nil {
			return list, err
		}
		list = append(list, one)
	}
}

// load sends requests at random times, whatever becomes of those before. Each answer must be its
// request's own.
func load(proxy string, r *rand.Rand) ([]stretch, error) {
	client := &http.Client{Transport: newBase()}
	defer client.CloseIdleConnections()
	list := make([]stretch, *requests)
	errs := make([]error, *requests)
	var all sync.WaitGroup
	next := time.Now()
	for i := range list {
		next = next.Add(time.Duration(r.ExpFloat64() / *rate * 1e9))
		work := 200 + r.IntN(800)
		time.Sleep(time.Until(next))
		all.Go(func() {
			began := now()
			errs[i] = ask(client, proxy, i, work)
			list[i] = stretch{began, now()}
		})
	}
	all.Wait()
	return list, errors.Join(errs...)
}

func ask(client *http.Client, proxy string, n, work int) error {
	q := url.Values{"n": {fmt.Sprint(n)}, "work": {fmt.Sprint(work)}}
	resp, err := client.Get(proxy + "/?" + q.Encode())
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode != 200 || string(text) != fmt.Sprint(n)) {
		err = fmt.Errorf("request %d: %s, %q", n, resp.Status, text)
	}
	return err
}
