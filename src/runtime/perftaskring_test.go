// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"internal/taskrecord"
	"runtime"
	"runtime/task"
	"strings"
	"testing"
	"time"
)

// damages are what a word may become.
var damages = []func(old uint64) uint64{
	func(uint64) uint64 { return 0 },
	func(uint64) uint64 { return 1 },
	func(uint64) uint64 { return 2 },
	func(old uint64) uint64 { return old + 1 },
	func(old uint64) uint64 { return old - 1 },
	func(old uint64) uint64 { return 2 * old },
	func(uint64) uint64 { return 200 },
	func(uint64) uint64 { return 1 << 16 },
	func(uint64) uint64 { return 1 << 31 },
	func(uint64) uint64 { return 1 << 32 },
	func(uint64) uint64 { return 1<<63 - 1 },
	func(uint64) uint64 { return 1 << 63 },
	func(uint64) uint64 { return 1<<64 - 8 },
	func(uint64) uint64 { return 1<<64 - 1 },
	func(old uint64) uint64 { return old ^ 0x9e3779b97f4a7c15 },
}

// TestPerfTaskRingDamaged damages each word of records in the rings, one at a time. Readers
// must get by and count what they can't read, and so must who pushes over it later.
func TestPerfTaskRingDamaged(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // all records are in one P's rings
	kinds := []string{"whole", "whole slow"}
	if err := task.Start(task.Config{Rate: 1, Slow: map[string]time.Duration{kinds[0]: 1 << 62, kinds[1]: 1}}); err != nil {
		t.Fatal(err)
	}
	defer task.Stop()
	n, lengths := 0, ""
	push := func(kind string) {
		n++
		ctx, tk := task.New(context.Background(), kind)
		tk.Note("n", fmt.Sprint(n))
		if lengths != "" {
			tk.Note("lengths", lengths)
		}
		r := tk.Region("region")
		runtime.Gosched()
		r.End()
		_, c := task.NewClient(ctx, kind, "elsewhere")
		c.End()
		tk.End()
	}
	const tasks = 2 // that push makes, each with a record
	// read reads all that there is, which is what was pushed since and is not as it was.
	read := func(r taskrecord.RingReader, what string, pushed uint64) (last string, lost uint64) {
		t.Helper()
		for range pushed + 1 {
			rec := r.Next()
			if rec == nil {
				break
			}
			last, lost = "", uint64(rec.Lost.Before)
			for _, note := range rec.Notes {
				if note.Key == "n" {
					last = note.Value
				}
			}
		}
		s := r.Stats()
		if s.Pushed != pushed || s.Popped+s.Dropped != pushed || s.Waiting != 0 {
			t.Fatalf("%s: %+v after %d records", what, s, pushed)
		}
		return last, lost
	}
	push(kinds[0]) // so that there are rings
	push(kinds[1])
	type ring struct {
		words []uint64
		head  uint64
	}
	var rings [2]ring
	state := func() {
		for i := range rings {
			rings[i].words, rings[i].head = runtime.PerfTaskRing(i)
		}
	}
	trials := 0
	for _, kind := range kinds {
		before, length := rings, 0
		for at := 0; at == 0 || at < length; at++ {
			for d, damage := range damages {
				trials++
				what := fmt.Sprintf("%s: word %d, damage %d", kind, at, d)
				r := taskrecord.NewRingReader(false)
				state()
				before = rings
				push(kind)
				push(kind)
				state()
				i := 0
				if kind == kinds[1] {
					i = 1
				}
				length = int(rings[i].head - before[i].head)
				if length == 0 {
					t.Fatalf("%s: no record in ring %d", what, i)
				}
				word := &rings[i].words[(before[i].head+uint64(at))%uint64(len(rings[i].words))]
				old := *word
				*word = damage(old)
				read(r, what, 2*tasks)
				*word = old // for who pushes; see below for that
				// It goes on where the writer does.
				dropped := r.Stats().Dropped
				push(kind)
				last, _ := read(r, what, 3*tasks)
				if last != fmt.Sprint(n) || r.Stats().Dropped != dropped {
					t.Fatalf("%s: then the last record has the note %q, for %d; before, %d records were dropped, now %+v", what, last, n, dropped, r.Stats())
				}
				if trials%100 == 0 {
					all := taskrecord.NewRingReader(true)
					for all.Next() != nil {
					}
					if s := all.Stats(); s.Pushed != s.Popped+s.Dropped || s.Waiting != 0 {
						t.Fatalf("%s: all: %+v", what, s)
					}
				}
			}
		}
	}
	t.Logf("%d trials", trials)

	// Over what is damaged. Words within a record look like the lengths of records, too: who
	// comes to be between two records would stay there.
	lengths = strings.Repeat(" ", 32*8)
	for i, kind := range kinds {
		state()
		from := rings[i].head
		push(kind)
		state()
		length := rings[i].head - from // of all that push pushes
		lengths = strings.Repeat(string(binary.NativeEndian.AppendUint64(nil, length)), 32)
		between := func(uint64) uint64 {
			for at := uint64(0); ; at++ {
				if words := rings[i].words; words[(from+at)%uint64(len(words))] == length {
					return at
				}
			}
		}
		for d, damage := range append(damages, between) {
			for at := range uint64(2) {
				r, idle := taskrecord.NewRingReader(false), taskrecord.NewRingReader(false)
				state()
				from = rings[i].head
				push(kind)
				words := rings[i].words
				word := &words[(from+at)%uint64(len(words))]
				*word = damage(*word)
				pushed := uint64(tasks)
				for rings[i].head < from+2*uint64(len(words)) {
					push(kind)
					pushed += tasks
					state()
				}
				what := fmt.Sprintf("%s: word %d, damage %d, in full rings", kind, at, d)
				if last, _ := read(r, what, pushed); last != fmt.Sprint(n) {
					t.Errorf("%s: the last record has the note %q, for %d", what, last, n)
				}
				if s := idle.Stats(); s.Pushed != pushed || s.Popped != 0 {
					t.Errorf("%s: idle: %+v after %d records", what, s, pushed)
				}
			}
		}
	}
}
