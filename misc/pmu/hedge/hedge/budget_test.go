// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"math/rand/v2"
	"net/http"
	"runtime/hazard"
	"strings"
	"testing"
	"testing/synctest"
)

// TestBudget tests a budget, and that what is not in it is never sent.
func TestBudget(t *testing.T) {
	for _, c := range []struct {
		part  float64
		burst int
	}{{0.05, 3}, {0.05, 1000}, {0.3, 2}, {1, 10}, {-1, 0}} {
		run(t, Config{Budget: c.part, Burst: c.burst}, func(b *bench) {
			r := rand.New(rand.NewPCG(1, 2))
			var flying []*result
			drains := 0
			for range 300 {
				for range r.IntN(10) {
					flying = append(flying, b.get(b.Context()))
				}
				if r.IntN(3) == 0 {
					b.say(drains, hazard.Draining, "") // all that is in flight would be sent again
					b.say(1-drains, hazard.OK, "")
					drains = 1 - drains
				}
				b.balances()
				if r.IntN(4) == 0 {
					for _, c := range b.base.calls {
						if len(c.answer) == 0 && c.ended == nil {
							select {
							case c.answer <- answer{text: "x"}:
							default:
							}
						}
					}
					synctest.Wait()
					for _, res := range flying {
						b.read(res)
					}
					flying = nil
					b.base.calls = nil
				}
			}
			for _, c := range b.base.calls {
				c.answer <- answer{}
			}
			synctest.Wait()
			for _, res := range flying {
				b.read(res)
			}
			s := b.Stats()
			t.Logf("budget %v, burst %d: %d requests, %d sent again, %d times exhausted", c.part, c.burst, s.Requests, s.Resent, s.Exhausted)
			if c.part < 0 && s.Resent != 0 || c.part > 0 && s.Resent < 3 || c.part < 1 && s.Exhausted == 0 {
				t.Error("that can't be")
			}
		})
	}
}

// TestBurst tests that what is saved up is bounded, and that delays leave half of it.
func TestBurst(t *testing.T) {
	b := newBudget(0.05, 4)
	take := func(why cause) (n int) {
		for b.take(why) {
			n++
		}
		return n
	}
	for range 1000 {
		b.earn()
	}
	if delays, words := take(delay), take(word); delays != 2 || words != 2 {
		t.Errorf("%d and %d saved up, want 2 and 2", delays, words)
	}
	// One more for each twenty requests. Delays have one for each forty, if nobody else has taken it.
	delays, words := 0, 0
	for range 400 {
		b.earn()
		delays += take(delay)
		words += take(word)
	}
	if delays+words != 20 || delays > 10 {
		t.Errorf("%d and %d for 400 requests", delays, words)
	}
	for range 400 {
		b.earn()
		delays += take(delay)
	}
	if delays < 10 || delays > 20 {
		t.Errorf("%d delays", delays)
	}
}

var long = strings.Repeat("x", 101)

// onceCases are requests, with up to 100 bytes of body kept.
var onceCases = []struct {
	name, method, header, body string
	resent                     bool
	counted                    string
}{
	{"GET", "GET", "", "", true, ""},
	{"HEAD", "HEAD", "", "", true, ""},
	{"OPTIONS", "OPTIONS", "", "", true, ""},
	{"GET with a body", "GET", "", "x", true, ""},
	{"GET with a body as long as is kept", "GET", "", long[:100], true, ""},
	{"GET with a long body", "GET", "", long, false, "large"},
	{"POST", "POST", "", "x", false, "notIdempotent"},
	{"POST without a body", "POST", "", "", false, "notIdempotent"},
	{"POST with a key", "POST", "Idempotency-Key", "x", true, ""},
	{"POST with another key", "POST", "X-Idempotency-Key", "x", true, ""},
	{"POST with a key and a long body", "POST", "Idempotency-Key", long, false, "large"},
	{"PUT", "PUT", "", "x", false, "notIdempotent"},
	{"DELETE", "DELETE", "", "", false, "notIdempotent"},
	{"websocket", "GET", "Upgrade", "", false, "notIdempotent"},
	{"unknown", "BREW", "", "", false, "notIdempotent"},
}

// TestOnce tests requests that are never sent again: their server drains as soon as they are in flight.
func TestOnce(t *testing.T) {
	for _, c := range onceCases {
		for _, length := range []int64{int64(len(c.body)), -1} {
			run(t, Config{MaxBody: 100, Scoped: true}, func(b *bench) {
				r, _ := http.NewRequestWithContext(b.Context(), c.method, "http://shop.test/", nil)
				if c.body != "" {
					r.Body = &closeCounter{Reader: strings.NewReader(c.body)}
					r.ContentLength = length
				}
				if c.header != "" {
					r.Header.Set(c.header, "1")
				}
				res := b.send(r)
				b.say(0, hazard.Draining, "")
				want := 1
				if c.resent {
					want = 2
				}
				last := b.call(want-1, want)
				for _, call := range b.base.calls {
					if call.body != c.body {
						t.Errorf("%s: %s got %d bytes, want %d", c.name, call.host, len(call.body), len(c.body))
					}
				}
				last.reply("x")
				b.read(res)
				for _, call := range b.base.calls[:want-1] {
					call.reply("")
				}
				counts := map[string]uint64{"requests": 1, "resent": uint64(want - 1), "notIdempotent": 0, "large": 0}
				if c.counted != "" {
					counts[c.counted] = 1
				}
				b.want(counts)
				if k, ok := r.Body.(*closeCounter); ok && k.closed != 1 {
					t.Errorf("%s: the body was closed %d times", c.name, k.closed)
				}
			})
		}
	}
}

type closeCounter struct {
	*strings.Reader
	closed int
}

func (c *closeCounter) Close() error { c.closed++; return nil }

// TestUnread tests a body that can't be read: nothing is sent.
func TestUnread(t *testing.T) {
	run(t, Config{}, func(b *bench) {
		for _, length := range []int64{-1, 5, 4} {
			r, _ := http.NewRequestWithContext(b.Context(), "GET", "http://shop.test/", nil)
			body := &closeCounter{Reader: strings.NewReader("abc")}
			r.Body, r.ContentLength = body, length
			if length < 0 {
				r.Body = failing{body}
			}
			if res := b.send(r); res.err == nil || body.closed != 1 {
				t.Errorf("length %d: %+v, closed %d times", length, res, body.closed)
			}
		}
		b.want(map[string]uint64{"requests": 0, "unread": 3})
	})
}

type failing struct{ *closeCounter }

func (f failing) Read(p []byte) (int, error) { return 0, errReset }

// TestGetBody tests a body of any length, which its client can make again.
func TestGetBody(t *testing.T) {
	run(t, Config{MaxBody: -1}, func(b *bench) {
		r, _ := http.NewRequestWithContext(b.Context(), "POST", "http://shop.test/", strings.NewReader(strings.Repeat("x", 1000)))
		r.Header["Idempotency-Key"] = nil
		res := b.send(r)
		b.say(0, hazard.Draining, "")
		b.call(1, 2).reply("")
		b.read(res)
		for _, call := range b.base.calls {
			if len(call.body) != 1000 {
				t.Errorf("%s got %d bytes", call.host, len(call.body))
			}
		}
	})
}

// TestFull tests that the table is bounded.
func TestFull(t *testing.T) {
	run(t, Config{MaxInFlight: 3}, func(b *bench) {
		var all []*result
		for range 5 {
			all = append(all, b.get(b.Context()))
		}
		b.call(0, 5)
		b.want(map[string]uint64{"full": 2, "inFlight": 5})
		for _, c := range b.base.calls {
			c.reply("")
		}
		for _, res := range all {
			b.read(res)
		}
		b.want(map[string]uint64{"single": 5, "inFlight": 0})
	})
}
