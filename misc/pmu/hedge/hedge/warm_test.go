// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"net/http"
	"runtime/hazard"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestWarm tests that a server that is starting gets copies of what clients ask for, one at a time, and
// that these are no answers, and no duplicates.
func TestWarm(t *testing.T) {
	run(t, Config{Warm: func(r *http.Request) bool { return r.Method == "GET" }}, func(b *bench) {
		b.say(1, hazard.Starting, "caches")
		req := b.traced
		var all []*result
		for _, r := range []*http.Request{req("HEAD", ""), req("POST", ""), req("GET", "x"), req("GET", ""), req("GET", "")} {
			all = append(all, b.send(r))
		}
		b.call(0, 6)
		var warm *call
		for _, c := range b.base.calls {
			switch {
			case c.host == "a.test":
				c.reply("a")
			case warm != nil:
				t.Error("two at a time")
			default:
				warm = c
			}
		}
		if warm == nil || warm.r.Method != "GET" || warm.r.Host != "shop.test" || warm.r.Header.Get("Traceparent") != "" || warm.r.Header.Get("X-Test") == "" {
			t.Fatalf("%+v", warm)
		}
		for _, res := range all {
			if text := b.read(res); text != "a" || res.resp.Request.Header.Get("Traceparent") == "" {
				t.Errorf("answer %q", text)
			}
		}
		b.want(map[string]uint64{"requests": 5, "resent": 0, "warmUps": 1})

		// A stop of the world is no end of it.
		b.say(1, hazard.Stopped, "GC sweep termination")
		b.say(1, hazard.Starting, "caches")
		if warm.ended != nil {
			t.Error("given up in a stop")
		}
		warm.reply("b")
		res := b.get(b.Context())
		b.last("b.test", 8).fail(errReset)
		b.last("a.test", 8).reply("a")
		b.read(res)
		time.Sleep(lookAgain + 1) // after an error
		res = b.get(b.Context())
		last := b.last("b.test", 10)
		b.last("a.test", 10).reply("a")
		b.read(res)
		if b.say(1, hazard.OK, ""); last.ended == nil {
			t.Error("the copy is still under way")
		}
		res = b.get(b.Context())
		b.last("a.test", 11).reply("a")
		b.read(res)
		b.want(map[string]uint64{"requests": 8, "resent": 0, "warmUps": 3})
		synctest.Wait()
		if n := b.warming.Load(); n != 0 {
			t.Errorf("%d servers are still warmed up", n)
		}
	})
}

// traced returns a request that is a part of a trace.
func (b *bench) traced(method, body string) *http.Request {
	r, err := http.NewRequestWithContext(b.Context(), method, "http://shop.test/cart/1", strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Traceparent", "00-0123456789abcdef0123456789abcdef-0123456789abcdef-03")
	r.Header.Set("X-Test", "kept")
	return r
}

// last returns the last one of n attempts that a server has got.
func (b *bench) last(host string, n int) *call {
	b.Helper()
	b.call(0, n)
	for i := n - 1; i >= 0; i-- {
		if c := b.base.calls[i]; c.host == host {
			return c
		}
	}
	b.Fatalf("nothing was sent to %s", host)
	return nil
}
