// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"fmt"
	"internal/runtime/perf"
	"math/rand/v2"
	"testing"
	"time"
)

// TestIncident has ten minutes in which 5 % of requests are slow, by a clock of its own. They are
// slow from the first to the last second, some of each second are recorded, and no more than the
// budget has. What lasts is normal after an hour.
func TestIncident(t *testing.T) {
	const usual, slow = 1200 * time.Microsecond, 42 * time.Millisecond
	for _, rate := range []int{50, 200, 2000} {
		k := &kind{name: fmt.Sprint("incident at ", rate)}
		k.recent.until.Store(window)
		r := rand.New(rand.NewPCG(10, uint64(rate)))
		now := int64(time.Hour)
		recorded := 0
		// second has a second of requests, of which a part is slow. It returns how many were,
		// were found to be, and were recorded.
		second := func(part float64) (are, found, in int) {
			for range rate {
				now += int64(time.Second) / int64(rate)
				u := &perf.TaskUsage{Ended: now}
				u.Wall = int64(float64(usual) * (0.5 + 0.5*r.Float64()))
				long := r.Float64() < part
				if long {
					u.Wall = int64(slow)
					are++
				}
				is, record := k.slow(u, k.threshold.Load())
				if is && long {
					found++
					if record {
						in++
					}
				}
				if record {
					recorded++
				}
				k.observe(0, u, nil, 0, is)
			}
			return are, found, in
		}
		for range 15 * 60 {
			second(0)
		}
		if d := time.Duration(k.threshold.Load()); d < usual/2 || d > usual*2 {
			t.Fatalf("%s: normally %v, want about %v", k.name, d, usual)
		}
		recorded = 0
		const minutes = 10
		seconds := minutes * 60
		for s := range seconds {
			are, found, in := second(0.05)
			if found != are || are > 0 && in == 0 {
				t.Fatalf("%s: of %d slow requests in second %d %d are slow, and %d recorded", k.name, are, s, found, in)
			}
			if in < min(are, slowBudget/2) {
				t.Errorf("%s: of %d slow requests in second %d %d are recorded", k.name, are, s, in)
			}
		}
		if most := seconds*slowBudget + budgetBurst; recorded > most {
			t.Errorf("%s: %d are recorded, the budget has %d", k.name, recorded, most)
		}
		for range int(leastSpan*leastSpans/time.Second) + 1000*20/rate {
			second(0.05)
		}
		if d := time.Duration(k.threshold.Load()); d < slow {
			t.Errorf("%s: normally %v after an hour and more of that, want %v", k.name, d, slow)
		}
	}
}

// TestIncidentFixed has thresholds that are given: they have no budget.
func TestIncidentFixed(t *testing.T) {
	k := new(kind)
	k.setThreshold(time.Millisecond)
	for i := range 10 * budgetBurst {
		u := &perf.TaskUsage{Ended: int64(time.Hour)}
		u.Wall = int64(time.Millisecond) + 1
		if slow, recorded := k.slow(u, k.threshold.Load()); !slow || !recorded {
			t.Fatalf("task %d: slow %v, recorded %v", i, slow, recorded)
		}
	}
}

// TestBudget has tasks of a kind that is slow at once: those beyond the budget leave no record, and
// are counted.
func TestBudget(t *testing.T) {
	if err := Start(Config{Rate: 1e-18}); err != nil {
		t.Fatal(err)
	}
	defer Stop()
	r, open := openRings(false), readStats().Open
	name := fmt.Sprint("TestBudget", random()) // kinds stay
	k := kindOf(name, false)
	k.threshold.Store(1) // as if it had been found out
	before := lastRecording.Load().overBudget.Load()
	const n = 2*budgetBurst + 7
	began := time.Now()
	for range n {
		_, task := New(t.Context(), name)
		task.End()
	}
	took := time.Since(began)
	// One beyond the budget leaves nothing behind.
	_, last := New(t.Context(), name)
	time.Sleep(10 * leastStretch)
	k.budget.next.Store(1 << 62)
	last.End()
	if n := runtime_perfTaskLogRead(last.id, make([]perf.TaskStretch, perf.MaxTaskStretches)); n != 0 {
		t.Errorf("the log of a task without a record has %d stretches", n)
	}
	got := 0
	for rec := r.Next(); rec != nil; rec = r.Next() {
		if rec.Kind == name {
			got++
		}
	}
	over := lastRecording.Load().overBudget.Load() - before
	if most := budgetBurst + 1 + int(took.Seconds()*slowBudget); got+int(over) != n+1 || got > most || got < budgetBurst {
		t.Errorf("%d recorded and %d beyond the budget, of %d in %v", got, over, n, took)
	}
	for _, s := range readStats().Kinds {
		if s.Kind == name && s.Slow != n+1 {
			t.Errorf("%d were slow, want %d", s.Slow, n+1)
		}
	}
	if tasks := readStats().Open; tasks != open {
		t.Errorf("%d are open, want %d", tasks, open)
	}
}
