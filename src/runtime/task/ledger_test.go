// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"context"
	"fmt"
	"internal/race"
	"internal/runtime/perf"
	"internal/taskrecord"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// The ledger of the rings: whoever reads, and however, each record that was pushed is
// popped, dropped or waiting, and no record is popped twice, in part or out of turn.
//
// What a task notes follows from the goroutine that ended it and its number there. So a
// reader knows what must be in the record, whatever its size.

// A ledgerID says which goroutine of the test made a record, and which of its records. No
// two tests have the same ones, not even if they are run again.
type ledgerID struct{ producer, n int }

var ledgerTests int // ledgerID.n begins with the number of tests, times ledgerEach

const ledgerEach = 1 << 20

// ledgerText is what notes are cut from. It isn't periodic: what is shifted differs.
var ledgerText = func() string {
	b := make([]byte, 1<<16)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return string(b)
}()

// The kinds of tasks: the slow ones go to rings of their own.
var ledgerKinds = [2]string{"ledger", "ledger slow"}

// otherKinds are the same for tasks whose records are no matter.
var otherKinds = [2]string{"ledger other", "ledger other slow"}

func (id ledgerID) kind() string { return ledgerKinds[id.producer%len(ledgerKinds)] }

// details returns the task's notes and names of regions. Their sizes range from next to
// nothing to what does not fit into half of a small ring.
func (id ledgerID) details() (notes []taskrecord.Note, regions []string) {
	rng := rand.New(rand.NewPCG(uint64(id.producer), uint64(id.n)))
	text := func(most int) string {
		at := rng.IntN(len(ledgerText) - most)
		return ledgerText[at : at+rng.IntN(most+1)]
	}
	notes = append(notes, taskrecord.Note{Key: "id", Value: fmt.Sprint(id.producer, id.n)})
	for i := range rng.IntN(maxNotes) {
		notes = append(notes, taskrecord.Note{Key: fmt.Sprint(i, text(maxKey-2)), Value: text(maxValue)})
	}
	for i := range rng.IntN(4) {
		regions = append(regions, fmt.Sprint(i, text(maxKey-1)))
	}
	return notes, regions
}

// ledgerIDOf returns whose record t is, or what is wrong with it.
func ledgerIDOf(t *taskrecord.Record) (id ledgerID, err error) {
	if len(t.Notes) == 0 || t.Notes[0].Key != "id" {
		return id, fmt.Errorf("a record begins with notes %q", t.Notes)
	}
	if _, err := fmt.Sscan(t.Notes[0].Value, &id.producer, &id.n); err != nil {
		return id, fmt.Errorf("a record has the ID %q", t.Notes[0].Value)
	}
	notes, regions := id.details()
	if len(t.Notes) != len(notes) || len(t.Regions) != len(regions) {
		return id, fmt.Errorf("%v has %d notes and %d regions; there were %d and %d", id, len(t.Notes), len(t.Regions), len(notes), len(regions))
	}
	for i := range notes {
		if t.Notes[i] != notes[i] {
			return id, fmt.Errorf("%v has the note %q; it was %q", id, t.Notes[i], notes[i])
		}
	}
	for i := range regions {
		if t.Regions[i].Name != regions[i] || t.Regions[i].N != 1 {
			return id, fmt.Errorf("%v has %d regions %q; there was one %q", id, t.Regions[i].N, t.Regions[i].Name, regions[i])
		}
	}
	slow := t.Flags&taskrecord.Slow != 0
	if t.Kind != id.kind() || slow != (t.Kind == ledgerKinds[1]) || t.Flags&taskrecord.Sampled == 0 || t.Goroutines != 1 {
		return id, fmt.Errorf("%v: kind %q, flags %#x, %d goroutines", id, t.Kind, t.Flags, t.Goroutines)
	}
	if t.Lost.Notes != 0 || t.Lost.Regions != 0 || t.Lost.Before < 0 {
		return id, fmt.Errorf("%v: lost %+v", id, t.Lost)
	}
	return id, nil
}

// A ledger is what the test itself counts.
type ledger struct {
	t            *testing.T
	first        int          // ledgerID.n
	begun, ended atomic.Int64 // calls of End; ended are those that have returned
}

// tooLong returns how many records had no place in their ring.
func (l *ledger) tooLong() int64 { return int64(lastRecording.Load().tooLong.Load()) }

// produce ends n tasks.
func (l *ledger) produce(producer, first, n int) {
	ctx := context.Background()
	for i := range n {
		id := ledgerID{producer, first + i}
		notes, regions := id.details()
		_, t := New(ctx, id.kind())
		for _, n := range notes {
			t.Note(n.Key, n.Value)
		}
		for _, name := range regions {
			r := t.Region(name)
			r.End()
		}
		l.begun.Add(1)
		t.End()
		l.ended.Add(1)
	}
}

// A ledgerReader checks what it reads.
type ledgerReader struct {
	*ringReader
	l    *ledger
	name string
	seen map[ledgerID]bool
	last map[[2]int]int // by ring and producer: the record that was popped last
	lost int64          // of all records, Lost.Before
	old  int            // records of earlier tests

	// What the test had counted, at least and at most, when the reader was made.
	least, most int64
	some        bool // it began with records that there were
}

func (l *ledger) reader(name string, oldest bool) *ledgerReader {
	r := &ledgerReader{l: l, name: name, some: oldest, seen: make(map[ledgerID]bool), last: make(map[[2]int]int)}
	r.least = l.ended.Load() - l.tooLong()
	r.ringReader = openRings(oldest)
	r.most = -l.tooLong()
	r.most += l.begun.Load()
	return r
}

// pop reads a record, and reports whether there was one.
func (r *ledgerReader) pop() bool {
	t := r.Next()
	if t == nil || r.l.t.Failed() {
		return false
	}
	ring := (r.next + len(r.at) - 1) % len(r.at)
	r.lost += t.Lost.Before
	if r.some && !slices.Contains(ledgerKinds[:], t.Kind) {
		r.old++
		return true
	}
	id, err := ledgerIDOf(t)
	if r.some && err == nil && id.n < r.l.first {
		r.old++
		return true
	}
	if err != nil {
		r.l.t.Errorf("%s: ring %d: %v", r.name, ring, err)
		return true
	}
	if slow := ring%perf.NumTaskRings == perf.SlowTaskRing; slow != (t.Flags&taskrecord.Slow != 0) {
		r.l.t.Errorf("%s: ring %d has %v with flags %#x", r.name, ring, id, t.Flags)
	}
	if r.seen[id] {
		r.l.t.Errorf("%s: ring %d: %v for the second time", r.name, ring, id)
	}
	r.seen[id] = true
	at := [2]int{ring, id.producer}
	if last, ok := r.last[at]; ok && last >= id.n {
		r.l.t.Errorf("%s: ring %d: %v after %d", r.name, ring, id, last)
	}
	r.last[at] = id.n
	return true
}

// check compares the reader's numbers with what was counted, at any time.
func (r *ledgerReader) check() taskrecord.RingStats {
	ended, tooLong := r.l.ended.Load(), r.l.tooLong()
	s := r.Stats()
	tooLong2 := r.l.tooLong()
	begun := r.l.begun.Load()
	if s.Pushed != s.Popped+s.Dropped+s.Waiting {
		r.l.t.Errorf("%s: %+v does not add up", r.name, s)
	}
	if n := len(r.seen) + r.old; int(s.Popped) != n && !r.l.t.Failed() {
		r.l.t.Errorf("%s: %+v after %d records", r.name, s, n)
	}
	least, most := ended-tooLong2-r.most, begun-tooLong-r.least
	if r.some {
		most = 1 << 62 // it has some from before
	}
	if n := int64(s.Pushed); n < least || n > most || int64(s.Dropped) < 0 || int64(s.Waiting) < 0 {
		r.l.t.Errorf("%s: %+v; between %d and %d were pushed", r.name, s, least, most)
	}
	return s
}

// drain reads what there is. Nothing is pushed meanwhile, so all of that must come.
func (r *ledgerReader) drain() taskrecord.RingStats {
	before := r.check()
	for r.pop() {
	}
	s := r.check()
	if s.Waiting != 0 || s.Popped != before.Popped+before.Waiting || uint64(r.lost) != s.Dropped {
		r.l.t.Errorf("%s: %+v, then all was read: %+v, and its records say that %d were lost", r.name, before, s, r.lost)
	}
	return s
}

// smallRings are of Ps that there are beyond those that the other tests have, so that
// their size can be as it is here: a few records.
const (
	smallRings = 3
	smallRing  = 8 << 10 // bytes
)

// makeRings has the first n rings made, with the size that they have as a rule: it ends
// tasks until each has had a record.
func makeRings(n int) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for p := range n {
		wg.Go(func() {
			for i := range n {
				for {
					if _, head, _, _ := runtime_perfTaskRingState(i); head > 0 {
						break
					}
					_, t := New(context.Background(), otherKinds[p%len(otherKinds)])
					t.End()
					runtime.Gosched()
				}
			}
		})
	}
}

// withSmallRings has the test run with Ps whose rings are small, beside the others, and
// returns how many Ps there are then.
func withSmallRings(t *testing.T) int {
	procs := runtime.GOMAXPROCS(0)
	if max(procs, 2)+smallRings > perf.MaxTaskProcs {
		t.Skipf("each of %d Ps has rings already", perf.MaxTaskProcs)
	}
	// Rings stay. Other tests need two Ps with large ones, whatever there are now.
	large := max(procs, 2)
	runtime.GOMAXPROCS(large)
	makeRings(perf.NumTaskRings * large)
	runtime.GOMAXPROCS(large + smallRings)
	runtime_perfTaskRingSize(&[perf.NumTaskRings]int{smallRing, smallRing})
	t.Cleanup(func() {
		runtime_perfTaskRingSize(&[perf.NumTaskRings]int{1 << 20, 1 << 20})
		runtime.GOMAXPROCS(procs)
	})
	return large + smallRings
}

func TestLedger(t *testing.T) {
	rounds, tasks := 4, 1500
	if testing.Short() || race.Enabled {
		tasks = 250
	}
	if err := Start(Config{Rate: 1}); err != nil {
		t.Fatal(err)
	}
	defer Stop()
	Slow(ledgerKinds[0], 1<<62)
	Slow(ledgerKinds[1], 1)
	Slow(otherKinds[1], 1)
	procs := withSmallRings(t)

	l := &ledger{t: t, first: ledgerTests * ledgerEach}
	ledgerTests++
	long := l.tooLong()
	l.begun.Add(long) // of other tests
	l.ended.Add(long)
	abandoned, stopped := l.reader("abandoned", false), l.reader("stopped", false)
	fast, slow := l.reader("fast", false), l.reader("slow", false)

	done := make(chan struct{})
	var readers sync.WaitGroup
	loop := func(f func(i int)) {
		readers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
					f(i)
				}
			}
		})
	}
	loop(func(int) {
		for fast.pop() {
		}
		fast.check()
		runtime.Gosched()
	})
	loop(func(int) {
		slow.pop()
		slow.check()
		for range 10 {
			runtime.Gosched()
		}
	})
	newcomers := 0
	loop(func(i int) {
		r := l.reader("newcomer", i%2 == 0)
		r.check()
		for range 10 {
			r.pop()
		}
		r.check()
		newcomers++
	})

	producers := 2 * procs
	for round := range rounds {
		var wg sync.WaitGroup
		for p := range producers {
			wg.Go(func() { l.produce(p, l.first+round*tasks, tasks) })
		}
		for range 20 * (round & 1) { // while they run
			abandoned.check()
			stopped.check()
		}
		wg.Wait()
		if round == 0 {
			for range 10 {
				abandoned.pop()
				stopped.pop()
			}
		}
		// Nothing is pushed now: the numbers are exact.
		pushed := l.ended.Load() - l.tooLong()
		for _, r := range []*ledgerReader{abandoned, stopped} {
			if s := r.check(); int64(s.Pushed) != pushed {
				t.Errorf("%s: %+v after %d records", r.name, s, pushed)
			}
		}
	}
	close(done)
	readers.Wait()

	pushed := uint64(l.ended.Load() - l.tooLong())
	if n := int64(rounds * producers * tasks); l.ended.Load() != n+long {
		t.Errorf("%d tasks ended; %d were begun", l.ended.Load()-long, n)
	}
	for _, r := range []*ledgerReader{fast, slow, stopped, l.reader("late", true)} {
		s := r.drain()
		if !r.some && s.Pushed != pushed {
			t.Errorf("%s: %+v after %d records", r.name, s, pushed)
		}
		t.Logf("%s: %+v", r.name, s)
	}
	s := abandoned.check()
	if s.Popped == 0 || s.Popped > 10 || s.Dropped == 0 || s.Waiting == 0 {
		t.Errorf("abandoned: %+v", s)
	}
	used, wrapped := 0, 0
	for i := range perf.NumTaskRings * procs {
		tail, head, _, _ := runtime_perfTaskRingState(i)
		if head > 0 {
			used++
		}
		if tail > 0 {
			wrapped++
		}
	}
	t.Logf("%d records, %d too long, in %d rings of %d, of which %d are full; %d newcomers", pushed, l.tooLong()-long, used, perf.NumTaskRings*procs, wrapped, newcomers)
}

// TestReaderBegins has readers begin while records are pushed, at any moment of that. What
// they have not missed they must not count as dropped.
func TestReaderBegins(t *testing.T) {
	if err := Start(Config{Rate: 1}); err != nil {
		t.Fatal(err)
	}
	defer Stop()
	if procs := runtime.GOMAXPROCS(0); procs < 2 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	}
	procs := runtime.GOMAXPROCS(0)
	var begun, ended atomic.Uint64
	done := make(chan struct{})
	var producer sync.WaitGroup
	producer.Go(func() {
		ctx := context.Background()
		for {
			select {
			case <-done:
				return
			default:
			}
			_, task := New(ctx, otherKinds[0])
			begun.Add(1)
			task.End()
			ended.Add(1)
		}
	})
	readers := 20_000
	if testing.Short() || race.Enabled {
		readers = 3000
	}
	popped := 0
	for range readers {
		least := ended.Load()
		r := openRings(false)
		for i := range perf.NumTaskRings * procs {
			if task := r.pop(i); task != nil {
				popped++
				if task.Lost.Before < 0 {
					t.Errorf("ring %d: a reader's first record says that %d were lost before", i, task.Lost.Before)
				}
			}
		}
		s := r.Stats()
		if most := begun.Load() - least; s.Pushed > most || s.Dropped > most || s.Waiting > most {
			t.Errorf("%+v, when at most %d were pushed", s, most)
		}
		if t.Failed() {
			break
		}
		if begun.Load()-least < 1000 && s.Dropped != 0 { // far from written over
			t.Errorf("%+v, when the rings have room for more", s)
		}
	}
	close(done)
	producer.Wait()
	t.Logf("%d tasks; %d records were popped", ended.Load(), popped)
}

// TestReaderOverwritten has readers read the oldest records, which are being written over
// then: there is room for about two. What they get must be whole.
func TestReaderOverwritten(t *testing.T) {
	if err := Start(Config{Rate: 1}); err != nil {
		t.Fatal(err)
	}
	defer Stop()
	Slow(ledgerKinds[0], 1<<62)
	procs := withSmallRings(t)
	first := perf.NumTaskRings * (procs - smallRings)

	// Records that are nearly as long as they can be: it takes time to copy them.
	var ids [8]ledgerID
	notes := make([][]taskrecord.Note, len(ids))
	ledgerTests++
	for i, n := 0, (ledgerTests-1)*ledgerEach; i < len(ids); n++ {
		size := 0
		list, regions := (ledgerID{0, n}).details()
		for _, x := range list {
			size += 32 + len(x.Key) + len(x.Value)
		}
		if len(regions) == 0 && size > smallRing/4 && size < smallRing/2-1000 {
			ids[i], notes[i] = ledgerID{0, n}, list
			i++
		}
	}
	done := make(chan struct{})
	var producers sync.WaitGroup
	for range procs {
		producers.Go(func() {
			ctx := context.Background()
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				_, task := New(ctx, ledgerKinds[0])
				for _, n := range notes[i%len(ids)] {
					task.Note(n.Key, n.Value)
				}
				task.End()
			}
		})
	}
	records := 20_000
	if testing.Short() || race.Enabled {
		records = 3000
	}
	r := openRings(false)
	popped, again := 0, 0
	for i := 0; popped < records && !t.Failed(); i++ {
		ring := first + i%smallRings*perf.NumTaskRings
		tail, _, _, number := runtime_perfTaskRingState(ring)
		r.at[ring] = cursor{pos: tail, number: number}
		task := r.pop(ring)
		if task == nil || task.Kind != ledgerKinds[0] {
			runtime.Gosched()
			continue
		}
		popped++
		if task.Lost.Before > 0 {
			again++
		}
		if _, err := ledgerIDOf(task); err != nil {
			t.Errorf("ring %d: %v", ring, err)
		}
	}
	close(done)
	producers.Wait()
	t.Logf("%d records, %d of them in place of one that was written over", popped, again)
}
