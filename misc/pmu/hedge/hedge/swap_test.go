// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"runtime/hazard"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// fields returns the counts of s by their names in JSON.
func fields(t testing.TB, s Stats) map[string]uint64 {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	m := make(map[string]uint64)
	for name, v := range all {
		if n, ok := v.(float64); ok {
			m[name] = uint64(n)
		}
	}
	return m
}

// TestSwap tests that what is in flight is sent again when the active server says that it is stopped
// for some time, and that later requests go to the other one.
func TestSwap(t *testing.T) {
	run(t, Config{Scoped: true}, func(b *bench) {
		ctx, end := context.WithCancel(b.Context())
		r, _ := http.NewRequestWithContext(ctx, "GET", "http://shop.test/", nil)
		r.Host = ""
		res := b.send(r)
		first := b.call(0, 1)
		if first.host != "a.test" || first.r.Host != "shop.test" {
			t.Errorf("sent to %s as %s", first.host, first.r.Host)
		}
		b.say(0, hazard.Stopped, "GC sweep termination")
		time.Sleep(lastsAtLeast - 1)
		b.call(0, 1)
		time.Sleep(1)
		second := b.call(1, 2)
		if second.host != "b.test" || second.r.Host != "shop.test" {
			t.Errorf("sent again to %s as %s", second.host, second.r.Host)
		}
		second.reply("from b")
		if text := b.read(res); text != "from b" {
			t.Errorf("answer %q", text)
		}
		end() // as servers do
		b.call(0, 2)
		if first.ended != context.Canceled {
			t.Errorf("the attempt that has lost: %v", first.ended)
		}

		later := b.get(b.Context())
		third := b.call(2, 3)
		third.reply("too")
		if b.read(later); third.host != "b.test" {
			t.Errorf("a later request was sent to %s", third.host)
		}
		b.want(map[string]uint64{"requests": 2, "single": 1, "hedged": 1, "attempts": 3, "resent": 1, "won": 1, "byWord": 1, "swaps": 1})

		// The other one stays the active one.
		b.say(0, hazard.OK, "")
		res = b.get(b.Context())
		fourth := b.call(3, 4)
		fourth.reply("")
		if b.read(res); fourth.host != "b.test" {
			t.Errorf("swapped back: sent to %s", fourth.host)
		}
	})
}

// TestShortStop tests that nothing is done about the collector's own stops.
func TestShortStop(t *testing.T) {
	run(t, Config{}, func(b *bench) {
		res := b.get(b.Context())
		for range 10 {
			b.say(0, hazard.Stopped, "GC sweep termination")
			time.Sleep(lastsAtLeast - 1)
			b.say(0, hazard.Collecting, "")
			time.Sleep(time.Second)
		}
		b.call(0, 1).reply("x")
		b.read(res)
		b.want(map[string]uint64{"single": 1, "swaps": 0})
	})
}

// TestWords tests what each state does, and what a task is told.
func TestWords(t *testing.T) {
	for _, c := range []struct {
		state  hazard.State
		reason string
		why    string // or "": nothing
	}{
		{hazard.Collecting, "", ""},
		{hazard.Overloaded, "", ""},
		{hazard.Starting, "", ""},
		{hazard.Stopped, "GC sweep termination", "a stopped (GC sweep termination)"},
		{hazard.Draining, "new version", "a drains (new version)"},
		{hazard.Gone, "", "a has gone"},
	} {
		run(t, Config{}, func(b *bench) {
			res := b.get(b.Context())
			b.say(0, c.state, c.reason)
			time.Sleep(time.Second)
			if c.why == "" {
				b.call(0, 1).reply("")
				b.read(res)
				b.want(map[string]uint64{"resent": 0})
				return
			}
			b.call(1, 2).reply("")
			for n := b.flights.first(); n != nil; n = b.flights.after(n) {
				t.Error("still in the table")
			}
			b.read(res)
			b.want(map[string]uint64{"byWord": 1, "swaps": 1})
			if why := (&reason{word, b.backends[0], b.backends[0].status}).String(); why != c.why {
				t.Errorf("%v: %q, want %q", c.state, why, c.why)
			}
		})
	}
}

// TestStopWhileDraining tests that a server that drains still does while it is stopped for a moment.
func TestStopWhileDraining(t *testing.T) {
	run(t, Config{}, func(b *bench) {
		b.say(0, hazard.Draining, "")
		b.say(1, hazard.Draining, "")
		b.say(1, hazard.Stopped, "read mem stats")
		if s := b.Stats(); s.Swaps != 1 || !s.Backends[1].Active || !s.Backends[1].Avoided {
			t.Errorf("%+v", s)
		}
		b.say(0, hazard.OK, "")
		if s := b.Stats(); s.Swaps != 2 || !s.Backends[0].Active {
			t.Errorf("%+v", s)
		}
	})
}

// TestBothStopped tests that a request stays where it is if there is no better place, and is sent again as
// soon as there is.
func TestBothStopped(t *testing.T) {
	run(t, Config{}, func(b *bench) {
		res := b.get(b.Context())
		b.say(1, hazard.Gone, "")
		b.say(0, hazard.Draining, "")
		b.call(0, 1)
		b.want(map[string]uint64{"nowhere": 1, "swaps": 0})
		b.say(1, hazard.OK, "")
		b.call(1, 2).reply("b")
		b.read(res)
		b.want(map[string]uint64{"won": 1, "swaps": 1})
	})
}

// TestLoser tests a first attempt that comes first after all, and what is left of the other.
func TestLoser(t *testing.T) {
	for i, how := range []string{"cancelled", "closed", "late", "failed", "cancelled", "closed"} {
		run(t, Config{Scoped: i >= 3}, func(b *bench) {
			res := b.get(b.Context())
			b.say(0, hazard.Draining, "")
			first, second := b.call(0, 2), b.call(1, 2)
			first.reply("a")
			switch how {
			case "late":
				second.reply("b")
				if !second.read {
					t.Error("the body of the answer that nobody wants is open")
				}
			case "failed":
				second.fail(errReset)
			default:
				if second.ended != nil {
					t.Errorf("given up before the answer was read: %v", second.ended)
				}
			}
			if how == "closed" { // before it has been read
				res.resp.Body.Close()
				synctest.Wait()
			} else if text := b.read(res); text != "a" {
				t.Errorf("answer %q", text)
			}
			if how == "cancelled" || how == "closed" {
				b.want(map[string]uint64{"hedged": 1, "cancelled": 1, "running": 0})
			} else {
				b.want(map[string]uint64{"hedged": 1, "lost": 1, "running": 0})
			}
		})
	}
}

// TestFailure tests attempts that fail.
func TestFailure(t *testing.T) {
	run(t, Config{}, func(b *bench) {
		// One fails: another is sent.
		res := b.get(b.Context())
		b.call(0, 1).fail(errReset)
		b.call(1, 2).reply("b")
		b.read(res)
		b.want(map[string]uint64{"byFailure": 1, "won": 1, "swaps": 0})
	})
	run(t, Config{Budget: 1}, func(b *bench) {
		// Both fail.
		res := b.get(b.Context())
		b.call(0, 1).fail(errReset)
		b.call(1, 2).fail(errReset)
		if !res.done || res.err != errReset {
			t.Errorf("%+v", res)
		}
		b.want(map[string]uint64{"hedged": 1, "lost": 1})
		// One fails after the other was sent, which answers.
		res = b.get(b.Context())
		b.say(0, hazard.Draining, "")
		b.call(2, 4).fail(errReset)
		b.call(3, 4).reply("b")
		b.read(res)
		b.want(map[string]uint64{"hedged": 2, "won": 1, "byFailure": 1, "byWord": 1})
	})
	run(t, Config{}, func(b *bench) {
		// Nobody listens there: the other one is the active one, for others, too.
		none := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
		res := b.get(b.Context())
		b.call(0, 1).fail(none)
		b.call(1, 2).reply("")
		b.read(res)
		post, _ := http.NewRequestWithContext(b.Context(), "POST", "http://shop.test/", strings.NewReader("x"))
		res = b.send(post)
		if c := b.call(2, 3); c.host != "b.test" {
			t.Errorf("sent to %s", c.host)
		}
		b.call(2, 3).fail(none)
		if res.err != none {
			t.Errorf("%+v", res)
		}
		b.want(map[string]uint64{"byFailure": 1, "swaps": 1, "notIdempotent": 1})
		time.Sleep(avoidRefusing)
	})
}

// TestPanic tests a Base that does not return.
func TestPanic(t *testing.T) {
	base := roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.URL.Host == "a.test" {
			panic("trap")
		}
		return &http.Response{Body: http.NoBody}, nil
	})
	run(t, Config{Base: base}, func(b *bench) {
		res := b.get(b.Context())
		if res.err != nil || !res.done {
			t.Errorf("%+v", res)
		}
		b.want(map[string]uint64{"byFailure": 1, "won": 1})
		res = b.get(b.Context()) // the budget is used up
		if res.err == nil || !strings.Contains(res.err.Error(), "trap") {
			t.Errorf("%+v", res)
		}
	})
}

type roundTripper func(r *http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestClientGone tests requests that are given up.
func TestClientGone(t *testing.T) {
	for _, scoped := range []bool{false, true} {
		run(t, Config{Scoped: scoped}, func(b *bench) {
			ctx, cancel := context.WithCancel(b.Context())
			res := b.get(ctx)
			b.say(0, hazard.Draining, "")
			b.call(1, 2)
			cancel()
			synctest.Wait()
			if !res.done || res.err != context.Canceled {
				t.Errorf("%+v", res)
			}
			for _, c := range b.base.calls {
				if c.ended == nil {
					t.Errorf("%s is still asked", c.host)
				}
			}
			b.want(map[string]uint64{"hedged": 1, "cancelled": 1, "byFailure": 0})
		})
	}
}

// TestClientGoneEarlier tests that a request is not sent again whose client has gone, though its attempt
// still runs.
func TestClientGoneEarlier(t *testing.T) {
	asked, end := 0, make(chan bool)
	base := roundTripper(func(r *http.Request) (*http.Response, error) {
		asked++
		<-end // whatever its context
		return nil, errReset
	})
	run(t, Config{Base: base}, func(b *bench) {
		end = make(chan bool)
		ctx, cancel := context.WithCancel(b.Context())
		res := b.get(ctx)
		cancel()
		b.say(0, hazard.Draining, "")
		close(end)
		synctest.Wait()
		if !res.done || asked != 1 {
			t.Errorf("asked %d times: %+v", asked, res)
		}
		b.want(map[string]uint64{"single": 1, "exhausted": 0})
	})
}
