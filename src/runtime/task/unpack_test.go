// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"context"
	"internal/taskrecord"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// richRecords returns records with all that they may have, as they are in rings, and of which ring.
func richRecords(t *testing.T) (records [][]uint64, rings []int) {
	c := Config{Rate: 1, Server: 7, Events: []string{"task-clock", "page-faults"}}
	if err := Start(c); err != nil {
		c.Events = nil // there are none here
		if err := Start(c); err != nil {
			t.Fatal(err)
		}
	}
	defer Stop()
	r := openRings(false)
	for _, kind := range ledgerKinds {
		if kind == ledgerKinds[1] {
			Slow(kind, 1)
		} else {
			Slow(kind, 1<<62)
		}
		ctx, task := New(context.Background(), kind)
		task.Note("key", "a value")
		region := task.Region("region")
		in, out := make(chan bool), make(chan bool)
		for range 3 {
			go func() {
				for {
					select {
					case out <- true:
					case <-in:
						return
					}
				}
			}()
		}
		for range 3 {
			time.Sleep(2 * time.Millisecond)
			<-out
		}
		region.End()
		_, call := NewClient(ctx, "call", "elsewhere:80")
		call.End()
		task.End()
		close(in)
		for i := range r.at {
			for {
				n, _, _ := r.read(i, &r.at[i].pos)
				if n == 0 {
					break
				}
				records = append(records, slices.Clone(r.buf[:n]))
				rings = append(rings, i)
			}
		}
	}
	return records, rings
}

// useRecord does all that is done with records.
func useRecord(t *taskrecord.Record) {
	list := slices.Values([]*taskrecord.Record{t})
	t.WriteText(io.Discard)
	t.Causes()
	t.CriticalPath()
	taskrecord.AppendJSON(nil, t)
	taskrecord.WriteProfile(io.Discard, list)
	w := taskrecord.NewFileWriter(io.Discard, t.Server)
	w.Write(t)
	for _, r := range taskrecord.Join(list) {
		r.Causes()
		r.WriteText(io.Discard)
	}
}

// TestUnpackDamaged tests that words that are no record, or not the one that was pushed, do
// no harm: it is enough that they aren't read as more than they can be.
func TestUnpackDamaged(t *testing.T) {
	records, rings := richRecords(t)
	slow := 0
	for i, w := range records {
		task := unpack(w, rings[i])
		if task == nil {
			t.Fatalf("a record of ring %d is not unpacked: %x", rings[i], w)
		}
		if task.Flags&taskrecord.Slow != 0 {
			slow++
			if task.Kind == ledgerKinds[1] && (len(task.Timeline) < 2 || len(task.Outlived) == 0 || len(task.Notes) == 0 || len(task.Regions) == 0 || len(task.Calls) == 0 || len(task.Usual.Parts) == 0) {
				t.Errorf("a slow record lacks something: %+v", task)
			}
		}
	}
	if slow == 0 || slow == len(records) {
		t.Fatalf("%d records, %d of them slow", len(records), slow)
	}
	bad, odd := 0, 0
	try := func(w []uint64, ring int) {
		task := unpack(w, ring)
		if task == nil {
			bad++
			return
		}
		odd++
		if odd%20 == 0 {
			useRecord(task)
		}
	}
	for i, w := range records {
		for n := range len(w) {
			if unpack(w[:n], rings[i]) != nil {
				t.Errorf("%d of %d words are a record", n, len(w))
			}
		}
		if unpack(append(slices.Clone(w), 0), rings[i]) != nil {
			t.Errorf("a word more than %d is a record", len(w))
		}
		try(w, rings[i]^1)
		for at, old := range w {
			for _, v := range []uint64{0, 1, 2, 3, 7, 8, 16, 17, 100, 256, 257, 1 << 15, 1 << 16, 1 << 31, 1 << 32, 1<<32 + 1, 1 << 48, 1<<63 - 1, 1 << 63, 1<<64 - 1, old + 1, old - 1, old << 8, old << 32, old>>32 | old<<32} {
				w[at] = v
				try(w, rings[i])
			}
			w[at] = old
		}
	}
	// And many words at a time.
	rng := rand.New(rand.NewPCG(3, 4))
	rounds := 100_000
	if testing.Short() {
		rounds = 10_000
	}
	for range rounds {
		i := rng.IntN(len(records))
		w := slices.Clone(records[i])
		for range 1 + rng.IntN(4) {
			at, from := rng.IntN(len(w)), records[rng.IntN(len(records))]
			switch rng.IntN(4) {
			case 0:
				w[at] = rng.Uint64() >> rng.IntN(64)
			case 1:
				w[at] ^= 1 << rng.IntN(64)
			case 2:
				copy(w[at:], from[rng.IntN(len(from)):])
			case 3:
				w = append(w[:at:at], w[at+1:]...)
			}
			if len(w) == 0 {
				break
			}
		}
		try(w, rings[i])
	}
	t.Logf("%d records; of those damaged, %d are none, and %d are others", len(records), bad, odd)
}
