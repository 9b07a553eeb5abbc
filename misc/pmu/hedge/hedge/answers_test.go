// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime/hazard"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func (p *planted) drain() { p.say(hazard.Draining, "test") }
func (p *planted) stop()  { p.say(hazard.Stopped, "test") }
func (p *planted) well()  { p.say(hazard.OK, "") }

// size is n, or less with -short.
func size(n, short int) int {
	if testing.Short() {
		return short
	}
	return n
}

// TestAnswers tests that each of many requests gets one answer, its own one, while their servers are
// swapped, and that those that must not be sent twice are not.
func TestAnswers(t *testing.T) {
	check := leaks(t)
	requests := size(100_000, 2_000)
	var served [2]counts
	p := newPair(t, Config{Budget: 0.2, Burst: 1000}, func(i int) http.Handler { return &served[i] })
	stop := make(chan bool)
	var swaps sync.WaitGroup
	swaps.Go(func() { p.swapAround(stop, 2*time.Millisecond) })

	var next atomic.Int64
	var clients sync.WaitGroup
	for c := range 16 {
		clients.Go(func() {
			r := rand.New(rand.NewPCG(uint64(c), 1))
			for n := next.Add(1); n <= int64(requests); n = next.Add(1) {
				if err := p.ask(r, n); err != nil {
					t.Errorf("request %d: %v", n, err)
				}
			}
		})
	}
	clients.Wait()
	close(stop)
	swaps.Wait()
	s := p.settle(t)
	twice := checkServed(t, &served, requests)
	t.Logf("%d requests: %d sent again, %d of them reached both servers; %d won, %d lost, %d cancelled, %d exhausted, %d swaps",
		s.Requests, s.Resent, twice, s.Won, s.Lost, s.Cancelled, s.Exhausted, s.Swaps)
	if s.Requests != uint64(requests) || s.Won == 0 || s.Lost+s.Cancelled == 0 || s.Swaps < 10 || s.NotIdempotent == 0 {
		t.Errorf("that is no test: %+v", s)
	}
	p.end()
	check()
}

// Counts is a server that counts how often it has got each request.
type counts struct{ m sync.Map }

func (c *counts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, _ := c.m.LoadOrStore(r.URL.Query().Get("n"), new(atomic.Int32))
	n.(*atomic.Int32).Add(1)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if rand.IntN(100) == 0 {
		time.Sleep(time.Duration(rand.IntN(int(3 * time.Millisecond)))) // to have some in flight
	}
	sum := sha256.Sum256(append(body, r.URL.RawQuery...))
	for b := hex.EncodeToString(sum[:]); b != ""; b = b[16:] {
		io.WriteString(w, b[:16])
		if rand.IntN(8) == 0 {
			w.(http.Flusher).Flush()
		}
	}
}

func (c *counts) of(n int) int {
	v, ok := c.m.Load(fmt.Sprint(n))
	if !ok {
		return 0
	}
	return int(v.(*atomic.Int32).Load())
}

// checkServed checks that each request has reached a server, none of them twice, and both of them only if
// it may. It returns how many have reached both.
func checkServed(t *testing.T, served *[2]counts, requests int) (twice int) {
	for n := 1; n <= requests; n++ {
		a, b := served[0].of(n), served[1].of(n)
		if a+b == 0 || a > 1 || b > 1 || a+b > 1 && kindOfRequest(int64(n)) == "POST" {
			t.Errorf("request %d, %s, was sent %d and %d times", n, kindOfRequest(int64(n)), a, b)
		}
		if a+b > 1 {
			twice++
		}
	}
	return twice
}

// kindOfRequest is what request n is.
func kindOfRequest(n int64) string {
	return [...]string{"GET", "POST", "POST with a key", "GET with a body"}[n%4]
}

// ask sends request n, and checks its answer.
func (p *pair) ask(r *rand.Rand, n int64) error {
	var body []byte
	kind := kindOfRequest(n)
	method, _, more := strings.Cut(kind, " ")
	if more || method == "POST" {
		body = make([]byte, 1+r.IntN(3000))
		for i := range body {
			body[i] = byte(r.Uint32())
		}
	}
	query := fmt.Sprintf("n=%d", n)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, p.proxy.URL+"/x?"+query, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if n%8 >= 4 {
		req.ContentLength = -1 // chunked
	}
	if kind == "POST with a key" {
		req.Header.Set("Idempotency-Key", query)
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(append(body, query...))
	if want := hex.EncodeToString(sum[:]); resp.StatusCode != 200 || string(got) != want {
		return fmt.Errorf("%s: %d, %q, want %q", kind, resp.StatusCode, got, want)
	}
	return nil
}
