// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"cmp"
	"context"
	"fmt"
	"internal/race"
	"internal/taskrecord"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// newestKinds are kinds of tasks that are slow, and one of tasks that are not.
var newestKinds = [...]string{"newest a", "newest b", "newest quick"}

func startNewest(t testing.TB) {
	if err := Start(Config{Rate: 1}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(Stop)
	Slow(newestKinds[0], 1)
	Slow(newestKinds[1], 1)
	Slow(newestKinds[2], time.Hour)
}

// endTasks ends n tasks on each of some goroutines, each number with a note.
func endTasks(n int) {
	var wg sync.WaitGroup
	for g := range 2 * runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range n {
				_, t := New(context.Background(), newestKinds[(g+i)%len(newestKinds)])
				t.Note("id", fmt.Sprint(g, i))
				t.End()
			}
		})
	}
	wg.Wait()
}

func endOf(t *taskrecord.Record) int64 { return t.Start + int64(t.Wall) }

// TestNewest compares what newest finds with what a Reader reads.
func TestNewest(t *testing.T) {
	startNewest(t)
	endTasks(300)
	for range 5 { // with stacks that differ
		_, task := New(context.Background(), newestKinds[0])
		task.Note("id", "waits")
		time.Sleep(100 * time.Microsecond)
		time.Sleep(100 * time.Microsecond)
		func() { time.Sleep(100 * time.Microsecond) }()
		task.End()
	}
	var all []*taskrecord.Record
	r := openRings(true)
	lost := make(map[bool]uint64) // of slow tasks, and of all
	for i := range r.at {
		_, _, _, first := runtime_perfTaskRingState(i)
		lost[false] += first
		if i%2 == 1 {
			lost[true] += first
		}
	}
	for x := r.Next(); x != nil; x = r.Next() {
		x.Lost.Before, x.Flags = 0, x.Flags&^taskrecord.Early // which newest doesn't find out
		all = append(all, x)
	}
	slices.SortStableFunc(all, func(a, b *taskrecord.Record) int { return cmp.Compare(endOf(b), endOf(a)) })
	for _, test := range []struct {
		onlySlow bool
		kind     string
		most     int
	}{
		{true, "", 1 << 20}, {true, "", 100}, {true, "", 1}, {true, newestKinds[0], 1 << 20}, {true, newestKinds[1], 10}, {true, newestKinds[2], 10},
		{false, "", 1 << 20}, {false, "", 10}, {false, newestKinds[2], 10}, {false, "none", 10},
	} {
		var want []*taskrecord.Record
		for _, x := range all {
			if (!test.onlySlow || x.Flags&taskrecord.Slow != 0) && (test.kind == "" || x.Kind == test.kind) {
				want = append(want, x)
			}
		}
		var got []*taskrecord.Record
		chosen, gone := newest(test.onlySlow, test.most, func(head *taskrecord.Record) bool {
			return test.kind == "" || head.Kind == test.kind
		}, func(x *taskrecord.Record) bool {
			got = append(got, x)
			return true
		})
		if int(chosen) != len(want) || gone != lost[test.onlySlow] {
			t.Errorf("%+v: %d are chosen, want %d; %d are gone, want %d", test, chosen, len(want), gone, lost[test.onlySlow])
		}
		want = want[:min(len(want), test.most)]
		if len(got) != len(want) {
			t.Fatalf("%+v: %d records, want %d", test, len(got), len(want))
		}
		for i, x := range got {
			if endOf(x) != endOf(want[i]) {
				t.Fatalf("%+v: record %d ended at %d, want %d", test, i, endOf(x), endOf(want[i]))
			}
		}
		// Those that ended at the same time have no order.
		order := func(a, b *taskrecord.Record) int {
			return cmp.Or(cmp.Compare(endOf(b), endOf(a)), slices.Compare(a.Span[:], b.Span[:]))
		}
		slices.SortFunc(got, order)
		slices.SortFunc(want, order)
		for i, x := range got {
			if string(taskrecord.AppendJSON(nil, x)) != string(taskrecord.AppendJSON(nil, want[i])) && i < len(got)-1 {
				t.Errorf("%+v: record %d is\n%s, want\n%s", test, i, taskrecord.AppendJSON(nil, x), taskrecord.AppendJSON(nil, want[i]))
			}
		}
	}
	n := 0
	newest(true, 100, func(*taskrecord.Record) bool { return true }, func(*taskrecord.Record) bool { n++; return n < 5 })
	if n != 5 {
		t.Errorf("%d records after yield has returned false", n)
	}
}

// TestNewestMeanwhile has rings overflow meanwhile. What is read is whole, in order, and nothing
// comes twice.
func TestNewestMeanwhile(t *testing.T) {
	startNewest(t)
	done := make(chan bool)
	go func() {
		defer close(done)
		rounds := 20
		if testing.Short() || race.Enabled {
			rounds = 4
		}
		for range rounds {
			endTasks(1000)
		}
	}()
	times := 0
	for running := true; running; times++ {
		select {
		case <-done:
			running = false
		default:
		}
		spans := make(map[taskrecord.SpanID]bool)
		last := int64(1<<63 - 1)
		n := 0
		chosen, gone := newest(true, 500, func(head *taskrecord.Record) bool { return head.Kind == newestKinds[0] }, func(x *taskrecord.Record) bool {
			if x.Kind != newestKinds[0] || len(x.Notes) != 1 || x.Notes[0].Key != "id" || x.Flags&taskrecord.Slow == 0 || spans[x.Span] || endOf(x) > last {
				t.Errorf("after %d: %s", last, taskrecord.AppendJSON(nil, x))
			}
			spans[x.Span], last = true, endOf(x)
			n++
			return !t.Failed()
		})
		if uint64(n) > chosen || int64(chosen) < 0 || int64(gone) < 0 {
			t.Errorf("%d records of %d; %d are gone", n, chosen, gone)
		}
		if t.Failed() {
			break
		}
	}
	<-done
	t.Logf("read %d times", times)
}

// BenchmarkNewest reads the 2,000 newest of so many records.
func BenchmarkNewest(b *testing.B) {
	startNewest(b)
	endTasks(1000)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n = 0
		chosen, _ := newest(true, 2000, func(*taskrecord.Record) bool { return true }, func(*taskrecord.Record) bool { n++; return true })
		b.ReportMetric(float64(chosen), "records")
	}
	b.ReportMetric(float64(n), "unpacked")
}
