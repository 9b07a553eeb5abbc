// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"fmt"
	"internal/abi"
	"internal/profile"
	"internal/runtime/perf"
	"internal/runtime/pprof/label"
	"math/rand"
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

// kinds has kinds be named "kind1" and so on, until the test ends.
func kinds(t *testing.T) {
	old := taskKindName.Load()
	t.Cleanup(func() { taskKindName.Store(old) })
	taskBegins(func(kind uint32) string { return fmt.Sprint("kind", kind) })
}

// waitRecord appends a record of one sample of a task to data, whose events are what tells it from
// others.
func waitRecord(data, stk []uint64, task, events uint64) []uint64 {
	n := len(data)
	data = buildRecord(data, stk, 1, events)
	data[n+1], data[n+4] = 1+task%3, task
	return data
}

// waitStack returns a stack of one function, and of n others below.
func waitStack(n int) []uint64 {
	pc := uint64(abi.FuncPCABIInternal(waitStack)) + 8
	stk := []uint64{0, pc}
	for range n {
		stk = append(stk, pc)
	}
	return stk
}

// waitingTasks returns how many tasks have samples that wait.
func waitingTasks(w *perfWaiting) (n int) {
	for _, r := range w.index {
		if r != 0 {
			n++
		}
	}
	return n
}

// A waitModel has what should become of samples.
type waitModel struct {
	p       *perfProfile
	waiting map[uint64]map[uint64]bool // by task, the events of its samples
	want    map[string]int64           // by labels, the sum of events
	tag     unsafe.Pointer
	own     string
}

func (m *waitModel) commit(task uint64, v string, trace byte) {
	for events := range m.waiting[task] {
		key := fmt.Sprintf("%s%s", m.own, v)
		if trace != 0 {
			key += fmt.Sprintf(" trace=%032x", [16]byte{trace})
		}
		m.want[key] += int64(events)
	}
	delete(m.waiting, task)
}

// labelsOf returns a sample's labels but for the kind.
func labelsOf(s *profile.Sample) string {
	var labels []string
	for _, key := range []string{"own", "slow", "trace"} {
		if v := s.Label[key]; v != nil {
			labels = append(labels, key+"="+strings.Join(v, ","))
		}
	}
	return strings.Join(labels, " ")
}

// check compares the profile with the model, whose samples wait no longer.
func (m *waitModel) check(t *testing.T, buf *bytes.Buffer) {
	t.Helper()
	got, err := profile.Parse(buf)
	if err != nil {
		t.Fatal(err)
	}
	sums, samples := make(map[string]int64), int64(0)
	for _, s := range got.Sample {
		sums[labelsOf(s)] += s.Value[1]
		samples += s.Value[0]
	}
	if len(sums) != len(m.want) {
		t.Errorf("%d sorts of labels, want %d", len(sums), len(m.want))
	}
	for key, want := range m.want {
		if sums[key] != want {
			t.Errorf("%s: events %d, want %d", key, sums[key], want)
		}
	}
	sum := uint64(0)
	for _, n := range m.p.events[0].verdicts {
		sum += n
	}
	if int64(sum) != samples {
		t.Errorf("%d samples by verdict, %d in the profile", sum, samples)
	}
}

// TestWaiting tests that samples get the verdict of their task, or of the one that it was a
// child of, in whatever order they come and tasks end; that the program's own labels stay; and that what waits
// at the end is unknown. It compares with maps.
func TestWaiting(t *testing.T) {
	kinds(t)
	var buf bytes.Buffer
	p := buildProfile(&buf, 1)
	w := &p.events[0].session.waiting
	r := rand.New(rand.NewSource(1))
	own := unsafe.Pointer(&labelMap{label.Set{List: Labels("own", "x").list}})
	m := &waitModel{p: p, waiting: make(map[uint64]map[uint64]bool), want: make(map[string]int64), tag: own, own: "own=x "}
	n, next := 40000, uint64(1)
	var open []uint64
	for i := range n {
		if len(open) < 50 {
			open = append(open, next)
			next++
		}
		k := r.Intn(len(open))
		task := open[k]
		switch r.Intn(10) {
		case 0: // end
			open = append(open[:k], open[k+1:]...)
			slow, trace := r.Intn(4) == 0, byte(1+r.Intn(5))
			w.end(&perf.TaskEnd{Task: task, Slow: slow, Trace: [16]byte{trace}})
			v := "slow=no"
			if slow {
				v = "slow=yes"
			}
			m.commit(task, v, trace)
		case 1: // the end of a child
			up := open[r.Intn(len(open))]
			if up == task {
				break
			}
			open = append(open[:k], open[k+1:]...)
			w.end(&perf.TaskEnd{Task: task, Next: up, Trace: [16]byte{9}})
			if m.waiting[up] == nil {
				m.waiting[up] = make(map[uint64]bool)
			}
			for events := range m.waiting[task] {
				m.waiting[up][events] = true
			}
			delete(m.waiting, task)
		case 2: // a sample without a task
			if err := p.add(p.events[0], buildRecord(nil, waitStack(0), 1, uint64(i)), []unsafe.Pointer{nil}); err != nil {
				t.Fatal(err)
			}
			m.want[""] += int64(i)
		default:
			if err := p.add(p.events[0], waitRecord(nil, waitStack(r.Intn(60)), task, uint64(i)), []unsafe.Pointer{own}); err != nil {
				t.Fatal(err)
			}
			if m.waiting[task] == nil {
				m.waiting[task] = make(map[uint64]bool)
			}
			m.waiting[task][uint64(i)] = true
		}
		if w.live > len(w.samples) {
			t.Fatalf("%d wait in a ring of %d", w.live, len(w.samples))
		}
	}
	if p.events[0].verdicts[verdictUnknown] != 0 {
		t.Errorf("%d samples are unknown", p.events[0].verdicts[verdictUnknown])
	}
	for task := range m.waiting {
		m.commit(task, "slow=unknown", 0)
	}
	w.finish()
	p.end()
	m.check(t, &buf)
	if w.samples != nil || w.index != nil {
		t.Error("samples are left")
	}
}

// TestWaitingBound tests that no more samples wait than may: those that have waited longest do
// so no longer, and are counted. The others get their verdict.
func TestWaitingBound(t *testing.T) {
	for _, bm := range []struct {
		name           string
		samples, words int
		stack          int
	}{
		{"samples", 512, 1 << 16, 1},
		{"words", 1 << 12, 1 << 13, 30},
	} {
		t.Run(bm.name, func(t *testing.T) {
			kinds(t)
			var buf bytes.Buffer
			p := buildProfile(&buf, 1)
			w := &p.events[0].session.waiting
			w.maxSamples, w.maxWords = bm.samples, bm.words
			const n, tasks = 20000, 100
			least := min(bm.samples, bm.words/(bm.stack+2)-1)
			for i := range n {
				if err := p.add(p.events[0], waitRecord(nil, waitStack(bm.stack), uint64(1+i%tasks), 1), []unsafe.Pointer{nil}); err != nil {
					t.Fatal(err)
				}
				if len(w.samples) > bm.samples || len(w.words) > bm.words || waitingTasks(w) > tasks {
					t.Fatalf("rings of %d and %d, %d tasks", len(w.samples), len(w.words), waitingTasks(w))
				}
			}
			live := w.live
			if live < least || waitingTasks(w) != tasks {
				t.Errorf("%d samples of %d tasks wait, want %d of %d", live, waitingTasks(w), least, tasks)
			}
			for i := range tasks {
				w.end(&perf.TaskEnd{Task: uint64(1 + i), Slow: i%2 == 0, Trace: [16]byte{1}})
			}
			v := p.events[0].verdicts
			if v[verdictUnknown] != uint64(n-live) || v[verdictYes]+v[verdictNo] != uint64(live) || v[verdictYes] == 0 || v[verdictNo] == 0 || w.live != 0 {
				t.Errorf("verdicts %d of %d samples, %d waited", v, n, live)
			}
			w.finish()
			p.end()
		})
	}
}

// TestWaitingLong tests that a sample that waits for long does not make the rings larger than
// what waits.
func TestWaitingLong(t *testing.T) {
	kinds(t)
	var buf bytes.Buffer
	p := buildProfile(&buf, 1)
	w := &p.events[0].session.waiting
	add := func(task uint64) {
		if err := p.add(p.events[0], waitRecord(nil, waitStack(10), task, 1), []unsafe.Pointer{nil}); err != nil {
			t.Fatal(err)
		}
	}
	add(1)
	for i := range uint64(100000) {
		add(2 + i)
		w.end(&perf.TaskEnd{Task: 2 + i})
	}
	if len(w.samples) != minWaiting || len(w.words) != minWaitingWords || w.live != 1 {
		t.Errorf("rings of %d and %d for %d samples", len(w.samples), len(w.words), w.live)
	}
	w.end(&perf.TaskEnd{Task: 1, Slow: true})
	if v := p.events[0].verdicts; v[verdictYes] != 1 || v[verdictNo] != 100000 || v[verdictUnknown] != 0 {
		t.Errorf("verdicts %d", v)
	}
	w.finish()
	p.end()
}

// TestWaitingMemory tests the bound that doc/pmu-tasks.md states: 10,000 open tasks, sampled at
// 10 kHz for 30 seconds, with 20 functions on each stack.
func TestWaitingMemory(t *testing.T) {
	kinds(t)
	var buf bytes.Buffer
	p := buildProfile(&buf, 1)
	w := &p.events[0].session.waiting
	var data []uint64
	stk := waitStack(19)
	tags := []unsafe.Pointer{nil}
	feed := func(n int) {
		for i := range n {
			data = waitRecord(data[:0], stk, uint64(1+i%10000), 1)
			if err := p.add(p.events[0], data, tags); err != nil {
				t.Fatal(err)
			}
		}
	}
	feed(1)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	feed(300000)
	runtime.GC()
	runtime.ReadMemStats(&after)
	const bound = 14 << 20
	if got := int64(after.HeapAlloc) - int64(before.HeapAlloc); got > bound {
		t.Errorf("%d samples of %d tasks take %d bytes, want at most %d", w.live, waitingTasks(w), got, bound)
	} else {
		t.Logf("%d samples of %d tasks take %d bytes", w.live, waitingTasks(w), got)
	}
	w.finish()
	p.end()
}

// BenchmarkWaiting measures what it costs that a sample waits: each is of a task of its own.
func BenchmarkWaiting(b *testing.B) {
	old := taskKindName.Load()
	defer taskKindName.Store(old)
	taskBegins(func(kind uint32) string { return "kind" })
	for _, wait := range []bool{false, true} {
		b.Run(fmt.Sprint(wait), func(b *testing.B) {
			p := buildProfile(new(bytes.Buffer), 1)
			w := &p.events[0].session.waiting
			data := waitRecord(nil, waitStack(9), 1, 1)
			tags := []unsafe.Pointer{nil}
			var e perf.TaskEnd
			for i := range uint64(b.N) {
				data[4] = 0
				if wait {
					data[4] = 1000 + i
				}
				if err := p.add(p.events[0], data, tags); err != nil {
					b.Fatal(err)
				}
				if e.Task = 500 + i; wait {
					w.end(&e)
				}
			}
		})
	}
}
