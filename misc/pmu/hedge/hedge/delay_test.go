// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime/hazard"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestDelay tests that what is late is sent again, and when: after what 99 of 100 have taken.
func TestDelay(t *testing.T) {
	run(t, Config{Budget: 0.2}, func(b *bench) {
		for i := range firstWindow {
			res := b.get(b.Context())
			c := b.call(i, i+1)
			time.Sleep(time.Millisecond)
			if i == 5 {
				time.Sleep(time.Hour) // nothing is known yet, so this is not sent again
			}
			c.reply("")
			b.read(res)
		}
		n := len(b.base.calls)
		k := b.Stats().Kinds[0]
		p99 := time.Duration(k.P99)
		if k.Name != "GET /cart" || p99 < time.Millisecond || p99 > 1200*time.Microsecond || k.Delay != k.P99 {
			t.Fatalf("%+v", k)
		}
		res := b.get(b.Context())
		time.Sleep(p99 - 1)
		b.call(0, n+1)
		time.Sleep(1)
		second := b.call(n+1, n+2)
		if second.host != "b.test" {
			t.Errorf("sent again to %s", second.host)
		}
		time.Sleep(time.Hour)
		b.call(n+1, n+2) // not a third time
		second.reply("b")
		b.read(res)
		b.want(map[string]uint64{"byDelay": 1, "won": 1, "swaps": 0})
		// Those that come within the delay are each sent again in their own time.
		var all []*result
		for range 3 {
			all = append(all, b.get(b.Context()))
			time.Sleep(p99 / 4)
		}
		time.Sleep(p99 / 4)
		for i := range 3 {
			b.call(0, n+2+3+1+i)
			time.Sleep(p99 / 4)
		}
		for _, c := range b.base.calls[n+2:] {
			c.reply("")
		}
		for _, res := range all {
			b.read(res)
		}
	})
}

// TestDelayFit tests that what is late is not sent to a server that has enough to do.
func TestDelayFit(t *testing.T) {
	for _, s := range []hazard.State{hazard.Overloaded, hazard.Starting, hazard.Stopped, hazard.Draining, hazard.Gone} {
		run(t, Config{Delay: func(string, time.Duration) time.Duration { return time.Millisecond }}, func(b *bench) {
			b.say(1, s, "")
			res := b.get(b.Context())
			time.Sleep(time.Second)
			b.call(0, 1).reply("")
			b.read(res)
			b.want(map[string]uint64{"nowhere": 1, "single": 1})
		})
	}
}

// TestDelayStays tests that p99 does not become shorter because duplicates win: then there would be
// ever more of them.
func TestDelayStays(t *testing.T) {
	run(t, Config{Budget: 1, Burst: 10_000}, func(b *bench) {
		r := rand.New(rand.NewPCG(1, 2))
		var all []time.Duration
		for range firstWindow + 12*window {
			d := time.Millisecond + time.Duration(r.ExpFloat64()*float64(time.Millisecond))
			all = append(all, d)
			res := b.get(b.Context())
			time.Sleep(d)
			synctest.Wait()
			c := b.base.calls[len(b.base.calls)-1] // the duplicate wins at once
			c.reply("")
			b.read(res)
			b.base.calls = nil
		}
		slices.Sort(all)
		exact := all[len(all)-len(all)/100]
		s := b.Stats()
		p99 := time.Duration(s.Kinds[0].P99)
		t.Logf("p99 %v, exactly %v; %d of %d sent again", p99, exact, s.ByDelay, s.Requests)
		if p99 < exact*9/10 || p99 > exact*12/10 || s.ByDelay < 60 || s.ByDelay > 200 {
			t.Error("want p99 as it is, and one of a hundred")
		}
	})
}

// TestKinds tests that there are not more kinds than are told apart.
func TestKinds(t *testing.T) {
	run(t, Config{}, func(b *bench) {
		for i := range 2 * maxKinds {
			r, _ := http.NewRequestWithContext(b.Context(), "GET", fmt.Sprintf("http://shop.test/k%d/x", i), nil)
			res := b.send(r)
			b.call(i, i+1).reply("")
			b.read(res)
		}
		if s := b.Stats(); len(s.Kinds) != maxKinds+1 || s.Kinds[maxKinds].Name != "others" {
			t.Errorf("%d kinds", len(s.Kinds))
		}
	})
}

func TestTimes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var tm times
	var all []time.Duration
	for range 20_000 {
		d := time.Duration(r.ExpFloat64() * float64(2*time.Millisecond))
		all = append(all, d)
		if !tm.add(d) {
			continue
		}
		slices.Sort(all)
		exact := all[len(all)-len(all)/100-1]
		if tm.p99 <= exact || float64(tm.p99) > 1.13*float64(exact) {
			t.Errorf("p99 of %d: %v, want %v and a little", len(all), tm.p99, exact)
		}
		all = all[:0]
	}
	// Every time is below what its step is up to, and not below that of the step before.
	for _, d := range []time.Duration{-1, 0, 1, 511, 512, 575, 576, 1 << 20, 1<<30 - 1, time.Minute} {
		i := step(d)
		if d >= upTo(i) || i > 0 && d < upTo(i-1) {
			t.Errorf("%d is in step %d, up to %d", d, i, upTo(i))
		}
	}
	step(1<<63 - 1)
}

// TestAfterClose tests that nothing is sent again after Close.
func TestAfterClose(t *testing.T) {
	run(t, Config{Delay: func(string, time.Duration) time.Duration { return time.Second }}, func(b *bench) {
		res := b.get(b.Context())
		b.Close()
		late := b.get(b.Context())
		time.Sleep(time.Hour)
		b.call(0, 2).reply("")
		b.call(1, 2).reply("")
		b.read(res)
		b.read(late)
		synctest.Wait()
	})
}
