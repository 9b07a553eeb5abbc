// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

// TestQuota tests that so many can be had, and not one more, whoever has taken some in advance.
func TestQuota(t *testing.T) {
	q := &newNumbers().open
	r := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		for range 1000 { // leave some with all
			if !q.take(r.IntN(shards)) {
				t.Fatal("no more")
			}
			q.give(r.IntN(shards))
		}
		if n := q.open(); n != 0 {
			t.Fatalf("%d are open", n)
		}
		for i := range maxQuota {
			if !q.take(i % 3) {
				t.Fatalf("only %d", i)
			}
		}
		if q.take(1) || q.take(7) {
			t.Fatal("one more")
		}
		if n := q.open(); n != maxQuota {
			t.Fatalf("%d are open", n)
		}
		for range maxQuota {
			q.give(r.IntN(shards))
		}
	}

	var open, most atomic.Int64
	var wg, all sync.WaitGroup
	all.Add(8)
	for g := range uint64(8) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, g))
			mine := 0
			for range 200_000 {
				if mine > 0 && r.IntN(3000) < mine { // about 1,500 for each
					open.Add(-1)
					q.give(r.IntN(shards))
					mine--
				} else if q.take(r.IntN(shards)) {
					if n := open.Add(1); n > most.Load() {
						most.Store(n)
					}
					mine++
				}
			}
			all.Done()
			all.Wait() // so that they want more than there are
			for range mine {
				q.give(r.IntN(shards))
				open.Add(-1)
			}
		})
	}
	wg.Wait()
	if n := q.open(); n != 0 || most.Load() > maxQuota || most.Load() < maxQuota-100 { // they give back some, too
		t.Errorf("%d are open, and at most %d were", n, most.Load())
	}
}
