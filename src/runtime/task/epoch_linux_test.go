// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"context"
	"fmt"
	"internal/taskrecord"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/task"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// turnEvents are system calls that nothing but the test makes.
var turnEvents = []struct {
	event  string
	number uintptr
}{
	{"syscalls:sys_enter_getppid:k", syscall.SYS_GETPPID},
	{"syscalls:sys_enter_getpgid:k", syscall.SYS_GETPGID},
	{"syscalls:sys_enter_getsid:k", syscall.SYS_GETSID},
}

// openCounters opens counters until the test ends, and skips the test if it can't. CI can.
func openCounters(t *testing.T, events ...string) *pprof.Counters {
	t.Helper()
	c, err := pprof.OpenCounters(events...)
	if err != nil {
		skipTurns(t, err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func skipTurns(t *testing.T, why any) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("PMU_TEST_REQUIRE"), ","), "root") {
		t.Fatal(why)
	}
	t.Skip(why)
}

// needTurnEvents skips the test if they can't be counted here. They are open until it ends:
// to open a tracepoint which nobody else has open has taken Linux 6.18 up to 4 s, and closing
// the last one 70 ms, as it waits for all CPUs to leave the code that it changes.
func needTurnEvents(t *testing.T) {
	t.Helper()
	var names []string
	for _, e := range turnEvents {
		names = append(names, e.event)
	}
	c := openCounters(t, names...)
	// Kernels of 64 bits don't trace the system calls of 32-bit programs: see
	// arch_trace_is_compat_syscall in their arch/x86/include/asm/ftrace.h.
	doPlan([3]int{1, 1, 1})
	counts := make([]pprof.CounterValue, len(names))
	if err := c.Read(counts); err != nil || counts[0].Value == 0 {
		skipTurns(t, fmt.Sprintf("system calls are not counted: %v %v", counts, err))
	}
}

// plan is how often a task makes each call: some number in a region, and in another
// goroutine, too.
func plan(seed uint64) (n [3][3]int) {
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range n {
		for e := range n[i] {
			n[i][e] = 1 + r.IntN(20)
		}
	}
	return n
}

func doPlan(n [3]int) {
	for e, k := range n {
		for range k {
			syscall.RawSyscall(turnEvents[e].number, 0, 0, 0)
		}
		runtime.Gosched()
	}
}

// A task has the counts of all its goroutines if it was in one epoch, exactly; otherwise it
// has none, and says so, but has its times.
func TestEpochs(t *testing.T) {
	needTurnEvents(t)
	const workers = 4
	var names []string
	for _, e := range turnEvents {
		names = append(names, e.event)
	}
	sets := task.Turns(2, names...)
	if len(sets) != 3 {
		t.Fatalf("%d sets of three pairs", len(sets))
	}
	before := task.ReadStats()
	epochs := task.Epochs()
	defer task.SetTurns(2, 5*time.Millisecond)()
	r := start(t, task.Config{Events: names, Memory: 64 << 20})
	var plans sync.Map // by span
	var stop atomic.Bool
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop.Store(true) // also if the test fails: other tests' records must be their own
	for w := range workers {
		wg.Go(func() {
			for i := uint64(0); !stop.Load(); i++ {
				n := plan(uint64(w)<<32 | i)
				ctx, task := task.New(context.Background(), "TestEpochs")
				plans.Store(task.Span(), n)
				var other sync.WaitGroup
				other.Go(func() { doPlan(n[0]) })
				doPlan(n[1])
				region := task.Region("r")
				doPlan(n[2])
				region.Checkpoint("s")
				region.End()
				other.Wait()
				if i%16 == 0 { // a child
					_, child := FromContextNew(ctx)
					plans.Store(child.Span(), plan(0))
					child.End()
				}
				task.End()
			}
		})
	}
	counted := make(map[string]int)
	changed, all := 0, 0
	read := func() {
		for rec := r.Next(); rec != nil; rec = r.Next() {
			all++
			p, ok := plans.Load(rec.Span.String())
			if !ok {
				t.Fatal("a record of no task")
			}
			n := p.([3][3]int)
			if rec.Flags&taskrecord.EpochChange != 0 {
				changed++
				if rec.Events != nil || rec.Count != nil || rec.Flags&taskrecord.Uncounted != 0 {
					t.Fatalf("counts in a record of two epochs: %v %v, flags %#x", rec.Events, rec.Count, rec.Flags)
				}
			} else if rec.Events == nil {
				continue // it began between two epochs
			}
			if rec.Kind == "child" {
				continue
			}
			if len(rec.Regions) != 2 || rec.Regions[0].Name != "r" || rec.Regions[0].Wall <= 0 || rec.Regions[1].Name != "s" || rec.Lost.Regions != 0 {
				t.Fatalf("regions %+v, lost %d", rec.Regions, rec.Lost.Regions)
			}
			if rec.Events == nil {
				continue
			}
			counted[strings.Join(rec.Events, ",")]++
			if len(rec.Events) != 2 || len(rec.Count) != 2 || rec.Flags&taskrecord.Uncounted != 0 {
				t.Fatalf("%v %v, flags %#x", rec.Events, rec.Count, rec.Flags)
			}
			for i, e := range rec.Events {
				at := slices.Index(names, e)
				want := uint64(n[0][at] + n[1][at] + n[2][at])
				if rec.Count[i].Value != want || rec.Regions[0].Count[i].Value != uint64(n[2][at]) || rec.Count[i].Enabled != rec.Count[i].Running {
					t.Fatalf("%s: %+v, want %d; in the region %+v, want %d", e, rec.Count[i], want, rec.Regions[0].Count[i], n[2][at])
				}
			}
		}
	}
	least := func() int {
		n := 1 << 30
		for _, set := range sets {
			n = min(n, counted[strings.Join(set, ",")])
		}
		return n
	}
	for least() < 500 || changed < 50 {
		if t.Failed() {
			break
		}
		read()
		time.Sleep(time.Millisecond)
	}
	stop.Store(true)
	wg.Wait()
	task.Stop()
	read()
	s := task.ReadStats()
	t.Logf("%d records: %v counted, %d in two epochs; %d epochs", all, counted, changed, task.Epochs()-epochs)
	if got := r.Stats(); got.Dropped != 0 || got.Waiting != 0 {
		t.Errorf("%+v", got)
	}
	const lost = "counts"
	if n := s.Lost[lost] - before.Lost[lost]; n != uint64(changed) {
		t.Errorf("%d tasks were in two epochs, and the recorder says %d", changed, n)
	}
	stats := task.AllStats()
	for _, k := range stats.Kinds {
		if k.Kind != "TestEpochs" {
			continue
		}
		for i, e := range stats.Events {
			want := int64(0)
			for set, n := range counted {
				if strings.Contains(set, e.Name) {
					want += int64(n)
				}
			}
			if k.Counted[i] < want { // in the rings nothing was lost
				t.Errorf("%s was counted in %d tasks, and the recorder says %d", e.Name, want, k.Counted[i])
			}
		}
	}
	// Nothing else is open any more.
	for range 7 {
		c, err := pprof.OpenCounters("task-clock")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
}

// FromContextNew begins a child that does nothing.
func FromContextNew(ctx context.Context) (context.Context, *task.Task) { return task.New(ctx, "child") }

// byKind returns all records that there are, in rings of whatever P, of which each has a kind of its
// own.
func byKind(r taskrecord.RingReader) map[string]*taskrecord.Record {
	records := make(map[string]*taskrecord.Record)
	for rec := r.Next(); rec != nil; rec = r.Next() {
		records[rec.Kind] = rec
	}
	return records
}

// The counts of other events than when a task began are not taken for its own.
func TestOtherCounters(t *testing.T) {
	needTurnEvents(t)
	first, second := []string{turnEvents[0].event}, []string{turnEvents[1].event}
	r := start(t, task.Config{Events: first})
	call := func(n int) { doPlan([3]int{n, 2 * n, 0}) }
	ctx := context.Background()
	_, a := task.New(ctx, "a")
	call(3)
	a.End()
	_, b := task.New(ctx, "b")
	call(5)
	start(t, task.Config{Events: first}) // nothing changes
	if u, ok := b.Usage(); !ok || len(u.Counts) != 1 || u.Counts[0].Value != 5 || u.Events[0] != turnEvents[0].event {
		t.Errorf("%v %+v", ok, u)
	}
	b.End()
	_, c := task.New(ctx, "c")
	call(7)
	start(t, task.Config{Events: second})
	if u, ok := c.Usage(); !ok || u.Counts != nil || u.Events != nil {
		t.Errorf("%v %+v", ok, u)
	}
	c.End()
	_, d := task.New(ctx, "d")
	call(9)
	d.End()
	records := byKind(r)
	for _, want := range []struct {
		kind, event string
		n           uint64
	}{{"a", turnEvents[0].event, 3}, {"b", turnEvents[0].event, 5}, {"c", "", 0}, {"d", turnEvents[1].event, 18}} {
		rec := records[want.kind]
		if rec == nil {
			t.Fatal("no record")
		}
		if want.event == "" {
			if rec.Events != nil || rec.Count != nil || rec.Flags&taskrecord.EpochChange == 0 {
				t.Errorf("%+v", rec)
			}
		} else if len(rec.Events) != 1 || rec.Events[0] != want.event || len(rec.Count) != 1 || rec.Count[0].Value != want.n {
			t.Errorf("%s: %s %v %v, want %s %d", rec.Kind, want.kind, rec.Events, rec.Count, want.event, want.n)
		}
	}
	// The sums of a kind are not mixed either.
	for _, k := range task.AllStats().Kinds {
		if k.Kind == "a" && (len(k.Counted) != 1 || k.Counted[0] != 0 || k.Usage.Count[0].Value != 0) {
			t.Errorf("%+v", k)
		}
		if k.Kind == "d" && (len(k.Counted) != 1 || k.Counted[0] != k.Count || k.Usage.Count[0].Value != 18*uint64(k.Count)) {
			t.Errorf("%+v", k)
		}
	}
}

// Turns can be begun again where there is room for one set, and go on if others can't be
// counted.
func TestTurnsAgain(t *testing.T) {
	defer task.SetTurns(1, time.Millisecond)()
	config := task.Config{Events: []string{"task-clock", "page-faults"}}
	for range 7 {
		openCounters(t, "task-clock")
	}
	start(t, config)
	start(t, config)
	if err := task.Start(task.Config{Events: []string{"task-clock", "nothing"}}); err == nil {
		t.Error("no error")
	}
	n := task.Epochs()
	for end := time.Now().Add(time.Minute); task.Epochs() < n+3; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("there are no more epochs")
		}
	}
	c, err := pprof.OpenCounters("task-clock")
	if err == nil {
		c.Close()
		// It has come between two epochs; then that one could not begin.
	}
	start(t, task.Config{Events: []string{}}) // none
	if _, x := task.New(context.Background(), "nothing counted"); x == nil {
		t.Error("no task")
	} else if u, ok := x.Usage(); !ok || u.Events != nil {
		t.Errorf("counts %v", u.Events)
	} else {
		x.End()
	}
	if c, err = pprof.OpenCounters("task-clock"); err != nil {
		t.Error(err)
	} else {
		c.Close()
	}
}

// TestEventsFit tests that events are counted all the time if they fit, and in turns if they are more
// than can be counted at once; and that a task whose events are not counted any more says so.
func TestEventsFit(t *testing.T) {
	openCounters(t, "task-clock", "context-switches").Close()
	many := []string{"page-faults", "minor-faults", "major-faults", "alignment-faults", "emulation-faults", "task-clock", "cpu-clock",
		"context-switches", "cpu-migrations"}
	defer task.SetTurns(0, time.Millisecond)()
	for _, n := range []int{1, 2, 8, 9} {
		r := start(t, task.Config{Events: many[:n]})
		epochs := task.Epochs()
		_, x := task.New(context.Background(), "fit")
		u, ok := x.Usage()
		if n <= 8 {
			time.Sleep(3 * time.Millisecond)
			if !ok || !slices.Equal(u.Events, many[:n]) || len(u.Counts) != n || task.Epochs() != epochs {
				t.Errorf("of %d events %q are counted: %v, %d epochs more", n, u.Events, u.Counts, task.Epochs()-epochs)
			}
		} else {
			for task.Epochs() < epochs+3 {
				time.Sleep(time.Millisecond)
			}
		}
		task.Stop()
		if u, ok := x.Usage(); !ok || u.Counts != nil {
			t.Errorf("after Stop: %v %+v", ok, u)
		}
		x.End()
		rec := one(t, r)
		says := rec.Flags & (taskrecord.EpochChange | taskrecord.Uncounted)
		// Where there are turns, it may have begun between two epochs.
		if rec.Events != nil || rec.Count != nil || says != taskrecord.EpochChange && !(n > 8 && says == taskrecord.Uncounted) {
			t.Errorf("%d events: %v %v, flags %#x", n, rec.Events, rec.Count, rec.Flags)
		}
	}
}

// TestBetweenEpochs tests that a task says that its counts are missing if it begins between two epochs,
// and only then.
func TestBetweenEpochs(t *testing.T) {
	openCounters(t, "task-clock").Close()
	for _, tt := range []struct {
		events []string
		want   taskrecord.Flags
	}{
		{[]string{"task-clock"}, taskrecord.Uncounted},
		{nil, 0}, // there is nothing to count
	} {
		r := start(t, task.Config{Events: tt.events})
		restore := task.NoEpoch()
		_, x := task.New(context.Background(), "between")
		restore()
		x.End()
		if rec := one(t, r); rec.Count != nil || rec.Flags&(taskrecord.EpochChange|taskrecord.Uncounted) != tt.want {
			t.Errorf("events %q: counts %v, flags %#x, want %#x", tt.events, rec.Count, rec.Flags, tt.want)
		}
		task.Stop()
	}
}
