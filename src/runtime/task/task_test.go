// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"context"
	"fmt"
	"internal/race"
	"internal/taskrecord"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	. "runtime/task"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// start records all tasks until the test ends, and returns a reader of them.
func start(t *testing.T, c Config) taskrecord.RingReader {
	t.Helper()
	if c.Rate == 0 {
		c.Rate = 1
	}
	if err := Start(c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(Stop)
	return taskrecord.NewRingReader(false)
}

// one returns the only record that there is.
func one(t *testing.T, r taskrecord.RingReader) *taskrecord.Record {
	t.Helper()
	rec := r.Next()
	if rec == nil {
		t.Fatal("no record")
	}
	if more := r.Next(); more != nil {
		t.Fatalf("another record: %+v", more)
	}
	return rec
}

func sum(u *taskrecord.Usage) (d time.Duration) {
	for _, p := range u.Parts {
		d += p
	}
	return d
}

func TestOff(t *testing.T) {
	ctx := context.Background()
	got, task := New(ctx, "off")
	if got != ctx || task != nil {
		t.Errorf("New: %v, %v", got, task)
	}
	r := task.Region("r")
	r.Checkpoint("s")
	r.End()
	task.Note("k", "v")
	task.Fail()
	task.SetKind("x")
	if _, ok := task.Usage(); ok {
		t.Error("a nil task has a usage")
	}
	task.End()
	Enter(ctx).Exit()
	if n := testing.AllocsPerRun(100, func() {
		_, t := New(ctx, "off")
		t.End()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A task that is not recorded is one allocation.
func TestAllocs(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	start(t, Config{Rate: 1e-9})
	Slow("TestAllocs", time.Hour)
	ctx := context.Background()
	if n := testing.AllocsPerRun(1000, func() {
		_, t := New(ctx, "TestAllocs")
		t.End()
	}); n != 1 {
		t.Errorf("%v allocations", n)
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []Config{{Rate: -1}, {Rate: 1.1}, {Rate: math.NaN()}, {Server: 65535}, {Memory: -1}} {
		if err := Start(c); err == nil {
			t.Errorf("no error: %+v", c)
		}
		if Recording() {
			t.Fatalf("records after an error: %+v", c)
		}
	}
}

// TestConfigMemory tests that more memory than rings can have is refused, not cut.
func TestConfigMemory(t *testing.T) {
	const most = 1 << 30
	for _, n := range []int{most + 1, math.MaxInt} {
		want := fmt.Sprintf("task: %d bytes of memory for each P; use %d at most", n, most)
		if err := Start(Config{Memory: n}); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
		if Recording() {
			t.Fatal("records after an error")
		}
	}
	// So much is no error. Rings are made by the first record, so none has it.
	if err := Start(Config{Memory: most}); err != nil {
		t.Error(err)
	}
	Stop()
	if err := Start(Config{}); err != nil {
		t.Error(err)
	}
	Stop()
}

func TestContext(t *testing.T) {
	r := start(t, Config{})
	parent, cancel := context.WithCancel(pprof.WithLabels(context.Background(), pprof.Labels("a", "1", "z", "2")))
	defer cancel()
	ctx, task := New(parent, "TestContext")
	if FromContext(ctx) != task || FromContext(parent) != nil {
		t.Error("FromContext")
	}
	for k, want := range map[string]string{"a": "1", "task": "", "z": "2"} {
		if got, _ := pprof.Label(ctx, k); got != want {
			t.Errorf("label %s is %q, want %q", k, got, want)
		}
	}
	sub, cancel2 := context.WithTimeout(pprof.WithLabels(ctx, pprof.Labels("b", "3")), time.Hour)
	defer cancel2()
	if FromContext(sub) != task {
		t.Error("a derived context has not the task")
	}
	if n := runtime.NumGoroutine(); true {
		cancel()
		<-sub.Done()
		if m := runtime.NumGoroutine(); m > n {
			t.Errorf("%d goroutines, and %d before", m, n)
		}
	}
	task.End()
	rec := one(t, r)
	if rec.Kind != "TestContext" || rec.Trace.String() != task.Trace() || rec.Span.String() != task.Span() || !rec.Parent.IsZero() {
		t.Errorf("%+v", rec)
	}
	if sum(&rec.Usage) != rec.Wall || rec.Goroutines != 1 || rec.Outliving != 0 {
		t.Errorf("%v of %v, %d goroutines, %d outliving", sum(&rec.Usage), rec.Wall, rec.Goroutines, rec.Outliving)
	}
	if d := time.Since(time.Unix(0, rec.Start)); d < 0 || d > time.Hour {
		t.Errorf("it began %v ago", d)
	}
	task.End()
	task.Note("k", "v")
	if r.Next() != nil {
		t.Error("a second record of a task that was ended twice")
	}
}

// TestGoroutines tests that goroutines that the task starts, and those that enter it, are
// its, and others are not.
func TestGoroutines(t *testing.T) {
	r := start(t, Config{})
	ctx, task := New(context.Background(), "TestGoroutines")
	work := make(chan context.Context)
	done := make(chan bool)
	_ = done
	stop := make(chan bool)
	var wg sync.WaitGroup
	_, other := New(context.Background(), "other")
	// The worker is started by another task, and leaves it.
	go func() {
		pprof.SetGoroutineLabels(context.Background())
		for ctx := range work {
			e := Enter(ctx)
			u, ok := FromContext(ctx).Usage()
			if !ok || u.Working != 2 {
				t.Errorf("in Enter: %+v, %v", u, ok)
			}
			e.Exit()
			pprof.Do(ctx, pprof.Labels("x", "y"), func(ctx context.Context) {
				u, _ := FromContext(ctx).Usage()
				if u.Working != 2 {
					t.Errorf("in Do: %+v", u)
				}
			})
			pprof.SetGoroutineLabels(ctx)
			if u, _ := FromContext(ctx).Usage(); u.Working != 2 {
				t.Errorf("after SetGoroutineLabels: %+v", u)
			}
			pprof.SetGoroutineLabels(context.Background())
			if u, _ := FromContext(ctx).Usage(); u.Working != 1 {
				t.Errorf("after SetGoroutineLabels of none: %+v", u)
			}
			done <- true
		}
		done <- true
	}()
	other.End() // the goroutine works for the first task again
	u, _ := task.Usage()
	if u.Working != 1 || u.Goroutines != 1 {
		t.Errorf("after another task's End: %+v", u)
	}
	work <- ctx
	<-done
	close(work)
	<-done
	for range 3 {
		wg.Go(func() { <-stop })
	}
	u, _ = task.Usage()
	if u.Working != 4 {
		t.Errorf("%d goroutines work for the task, want 4", u.Working)
	}
	close(stop)
	wg.Wait()
	waitWorking(t, task, 1)
	outlives := make(chan bool)
	go func() { <-outlives }()
	task.End()
	close(outlives)
	var rec *taskrecord.Record
	for n := r.Next(); n != nil; n = r.Next() {
		if n.Kind == "TestGoroutines" {
			rec = n
		}
	}
	if rec == nil {
		t.Fatal("no record")
	}
	// The first one, the worker, however often it enters, the three, and the last.
	if rec.Goroutines != 6 || rec.Outliving != 1 {
		t.Errorf("%d goroutines, %d outliving; want 6 and 1", rec.Goroutines, rec.Outliving)
	}
}

// waitWorking waits until as many goroutines work for a task. One that has said that it is
// done works for it until it has ended. The caller's wait is no sleep, of which tests
// count what their tasks did.
func waitWorking(t *testing.T, task *Task, want int64) {
	t.Helper()
	for range 10_000 {
		if u, _ := task.Usage(); u.Working == want {
			return
		}
		<-time.After(time.Millisecond)
	}
	u, _ := task.Usage()
	t.Fatalf("%d goroutines work for the task, want %d", u.Working, want)
}

// TestUsage tests that the task knows of goroutines that wait elsewhere.
func TestUsage(t *testing.T) {
	start(t, Config{})
	_, task := New(context.Background(), "TestUsage")
	defer task.End()
	var wg sync.WaitGroup
	stop := make(chan bool)
	for range 10 {
		wg.Go(func() { <-stop })
	}
	rounds, moved := 0, 0
	for {
		runtime.Gosched()
		a, _ := task.Usage()
		b, _ := task.Usage()
		// A thread that loses its CPU while its goroutine goes from one part to another leaves
		// the time until it has it again in the former as long as that. The sum has it.
		rounds++
		var before, sum time.Duration
		back := ""
		for p := range pprof.TimeParts() {
			before, sum = before+a.Part(p), sum+b.Part(p)
			if b.Part(p) < a.Part(p)-time.Microsecond*10 {
				back += fmt.Sprintf("%v of %v, and %v before; ", b.Part(p), p, a.Part(p))
			}
		}
		if sum < before-time.Microsecond*10 {
			t.Errorf("%v in all, and %v before: %s", sum, before, back)
		}
		if back != "" {
			if moved++; moved > 1+rounds/10 {
				t.Errorf("for the %d. time in %d: %s", moved, rounds, back)
			}
		}
		if b.Wall < a.Wall {
			t.Errorf("%v, and %v before", b.Wall, a.Wall)
		}
		// Ten goroutines wait; none can have waited for longer than the task has been there.
		if c := b.Part(pprof.TimeChan); c > 10*b.Wall {
			t.Fatalf("10 goroutines have waited for %v in %v", c, b.Wall)
		} else if c > 9*time.Millisecond {
			break
		}
	}
	close(stop)
	wg.Wait()
}

func TestChild(t *testing.T) {
	r := start(t, Config{Server: 1})
	ctx, parent := New(context.Background(), "parent")
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			ctx, child := New(ctx, fmt.Sprint("child", i%2))
			defer child.End()
			_, grandchild := New(ctx, "grandchild")
			time.Sleep(time.Millisecond)
			grandchild.End()
		})
	}
	wg.Wait()
	_, call := NewClient(ctx, "GET", "example.org:80")
	waitWorking(t, parent, 1)
	ended := make(chan bool)
	go func() {
		defer close(ended)
		pprof.SetGoroutineLabels(context.Background())
		call.End()
	}()
	<-ended
	parent.End()
	var p *taskrecord.Record
	var sleep [2]time.Duration
	n := 0
	for rec := r.Next(); rec != nil; rec = r.Next() {
		n++
		switch {
		case rec.Kind == "parent":
			p = rec
		case rec.Kind == "grandchild":
			sleep[0] += rec.Parts[pprof.TimeSleep]
		case strings.HasPrefix(rec.Kind, "child"):
			sleep[1] += rec.Parts[pprof.TimeSleep]
		case rec.Kind == "GET":
			if rec.Flags&taskrecord.Client == 0 || rec.Parent.String() != parent.Span() || sum(&rec.Usage) != 0 {
				t.Errorf("call: %+v", rec)
			}
		}
		if rec.Trace.String() != parent.Trace() {
			t.Errorf("trace %v, want %v", rec.Trace, parent.Trace())
		}
	}
	if n != 82 || p == nil {
		t.Fatalf("%d records, parent %v", n, p)
	}
	if s := p.Parts[pprof.TimeSleep]; s != sleep[0] || s != sleep[1] || s < 40*time.Millisecond {
		t.Errorf("the parent slept for %v, the children for %v, theirs for %v", s, sleep[1], sleep[0])
	}
	if len(p.Calls) != 32 || p.Lost.Calls != 9 {
		t.Errorf("%d calls, %d lost; want 32 and 9", len(p.Calls), p.Lost.Calls)
	}
}

func TestRegions(t *testing.T) {
	r := start(t, Config{})
	_, task := New(context.Background(), "TestRegions")
	outer := task.Region("outer")
	for i := range 100 {
		in := task.Region("inner")
		in.Checkpoint(fmt.Sprint("name", i))
		in.End()
		in.End()
	}
	outer.End()
	moved := task.Region("moved")
	done := make(chan bool)
	go func() {
		moved.End() // of another goroutine
		close(done)
	}()
	<-done
	open := task.Region("open")
	task.End()
	open.End()
	rec := one(t, r)
	if len(rec.Regions) != 64 {
		t.Errorf("%d regions, want 64", len(rec.Regions))
	}
	var n, lost int64
	for _, g := range rec.Regions {
		n += g.N
		if sum(&g.Usage) != g.Wall {
			t.Errorf("%s: %v of %v", g.Name, sum(&g.Usage), g.Wall)
		}
	}
	// 100 inner, 100 with names, one outer; the last two do not count.
	if lost = rec.Lost.Regions; n+lost != 202 || rec.Regions[0].Name != "inner" || rec.Regions[0].N != 100 {
		t.Errorf("%d regions, %d lost, first %+v", n, lost, rec.Regions[0])
	}
	if race.Enabled {
		return // sync.Pool forgets some on purpose
	}
	if n := testing.AllocsPerRun(100, func() {
		_, task := New(context.Background(), "TestRegions")
		for range 10 {
			r := task.Region("x")
			r.End()
		}
		task.End()
	}); n > 2 {
		t.Errorf("%v allocations", n)
	}
}

func TestNotes(t *testing.T) {
	r := start(t, Config{Filter: func(key, value string) (string, bool) {
		return strings.ReplaceAll(value, "secret", "***"), key != "password"
	}})
	_, task := New(context.Background(), "TestNotes")
	task.Note("password", "x")
	task.Note("token", "a secret")
	long := strings.Repeat("ü", 200)
	task.Note("long", long)
	for i := range 20 {
		task.Note(fmt.Sprint(i%18), fmt.Sprint(i))
	}
	task.Fail()
	task.SetKind("TestNotes2")
	task.End()
	rec := one(t, r)
	if rec.Kind != "TestNotes2" || rec.Flags&taskrecord.Failed == 0 {
		t.Errorf("%s %b", rec.Kind, rec.Flags)
	}
	if len(rec.Notes) != 16 || rec.Notes[0] != (taskrecord.Note{Key: "token", Value: "a ***"}) || rec.Notes[1].Value != long[:256] {
		t.Errorf("%q", rec.Notes)
	}
	// Of 20 notes, 14 keys, of which two are set twice, are there, and 4 are lost; and one
	// was too long.
	if rec.Lost.Notes != 5 || rec.Notes[2].Value != "18" {
		t.Errorf("%d notes lost, %q", rec.Lost.Notes, rec.Notes)
	}
}

// TestEndNotes tests the notes at the end of a task: they go through the filter, and are not made
// if the task is not recorded.
func TestEndNotes(t *testing.T) {
	var filtered []string
	filter := func(key, value string) (string, bool) {
		filtered = append(filtered, key)
		return strings.ToUpper(value), true
	}
	r := start(t, Config{Filter: filter})
	_, tk := New(context.Background(), "TestEndNotes")
	tk.Note("status", "unknown")
	EndTask(tk, "aborted", "canceled", true)
	EndTask(tk, "200", "", false)
	tk.Note("late", "x")
	rec := one(t, r)
	if want := []taskrecord.Note{{Key: "status", Value: "ABORTED"}, {Key: "context", Value: "CANCELED"}}; !slices.Equal(rec.Notes, want) || rec.Flags&taskrecord.Failed == 0 {
		t.Errorf("%q, %b", rec.Notes, rec.Flags)
	}
	_, tk = New(context.Background(), "TestEndNotes")
	EndTask(tk, "200", "", false)
	if rec := one(t, r); len(rec.Notes) != 1 || rec.Notes[0] != (taskrecord.Note{Key: "status", Value: "200"}) || rec.Flags&taskrecord.Failed != 0 {
		t.Errorf("%q, %b", rec.Notes, rec.Flags)
	}

	if err := Start(Config{Rate: 1e-12, Filter: filter}); err != nil {
		t.Fatal(err)
	}
	filtered = nil
	Slow("TestEndNotes", time.Hour)
	_, tk = New(context.Background(), "TestEndNotes")
	EndTask(tk, "200", "", false)
	Slow("TestEndNotes", 1)
	_, tk = New(context.Background(), "TestEndNotes")
	EndTask(tk, "404", "", false)
	if rec := one(t, r); len(filtered) != 1 || len(rec.Notes) != 1 || rec.Notes[0].Value != "404" || rec.Flags&taskrecord.Slow == 0 {
		t.Errorf("%q, then %q", filtered, rec.Notes)
	}
}

// header is a Header.
type header map[string]string

func (h header) Get(k string) string { return h[k] }
func (h header) Set(k, v string)     { h[k] = v }
func (h header) Del(k string)        { delete(h, k) }

func TestHeaders(t *testing.T) {
	r := start(t, Config{Server: 1})
	ctx, client := New(context.Background(), "client")
	_, call := NewClient(ctx, "call", "server:80")
	h := header{}
	InjectTask(call, h)

	_, server := Receive(context.Background(), "server", h)
	if server.Trace() != client.Trace() || !WantsClock(server) {
		t.Errorf("%v of %v, wants %v", server.Trace(), client.Trace(), WantsClock(server))
	}
	answer := header{}
	InjectTask(server, answer)
	if WantsClock(server) {
		t.Error("wants a second answer")
	}
	ExtractAnswer(call, answer)
	if len(answer) != 0 {
		t.Errorf("the answer still has %v", answer)
	}
	server.End()
	call.End()
	client.End()
	recs := map[string]*taskrecord.Record{}
	for rec := r.Next(); rec != nil; rec = r.Next() {
		recs[rec.Kind] = rec
	}
	s, c := recs["server"], recs["call"]
	if s == nil || c == nil || s.Parent != c.Span || s.Flags&taskrecord.ServerOf == 0 {
		t.Fatalf("%+v", recs)
	}
	if !c.Before.Before(&s.Before) || !s.After.Before(&c.After) {
		t.Errorf("call %v to %v, server %v to %v", c.Before, c.After, s.Before, s.After)
	}

	// What is bad begins a trace, and is counted.
	causes := func() (n uint64) {
		lost := ReadStats().Lost
		return lost["traceparent"] + lost["tracestate"]
	}
	before := causes()
	for _, bad := range []header{
		{"Traceparent": "00-xyz"},
		{"Traceparent": "00-" + strings.Repeat("0", 32) + "-" + strings.Repeat("1", 16) + "-01"},
		{"Traceparent": h["Traceparent"], "Tracestate": "go=!!!"},
	} {
		_, task := Receive(context.Background(), "bad", bad)
		if WantsClock(task) || task.Trace() == "" {
			t.Errorf("%v: %v", bad, task.Trace())
		}
		task.End()
	}
	if n := causes() - before; n != 3 {
		t.Errorf("%d bad headers counted, want 3", n)
	}
	_, task := Receive(context.Background(), "none", header{"Tracestate": "go=!!!"})
	task.End()
	if causes()-before != 3 {
		t.Error("without a traceparent a tracestate was looked at")
	}
}

// TestSendRandom tests that what is sent says that the trace's ID is random if it was
// made here, or came from somebody who said so.
func TestSendRandom(t *testing.T) {
	start(t, Config{})
	const ids = "0123456789abcdef0123456789abcdef-0123456789abcdef-"
	for _, test := range []struct {
		name, in string
		random   bool
	}{
		{"own", "", true},
		{"bad", "00-" + ids + "0", true}, // begins a trace
		{"foreign", "00-" + ids + "00", false},
		{"foreign, sampled", "00-" + ids + "01", false},
		{"foreign, random", "00-" + ids + "02", true},
		{"foreign, sampled and random", "00-" + ids + "03", true},
		{"of a later version", "01-" + ids + "02", false}, // where it may mean anything
	} {
		h := header{}
		if test.in != "" {
			h["Traceparent"] = test.in
		}
		ctx, server := Receive(context.Background(), "server", h)
		ctx, child := New(ctx, "child")
		_, call := NewClient(ctx, "call", "server:80")
		for _, task := range []*Task{child, call} {
			h := header{}
			InjectTask(task, h)
			p, err := taskrecord.ParseTraceparent(h["Traceparent"])
			if err != nil || p.Trace.String() != server.Trace() || p.Random != test.random {
				t.Errorf("%s: sent %q, %v; want random %v", test.name, h["Traceparent"], err, test.random)
			}
		}
		call.End()
		child.End()
		server.End()
	}
}

// waitForRelease is what a goroutine begins with.
//
//go:noinline
func waitForRelease(release chan bool) { <-release }

// TestStack tests that the stack of a goroutine ends where it began.
func TestStack(t *testing.T) {
	r := start(t, Config{})
	Slow("stack", 1)
	_, task := New(context.Background(), "stack")
	release := make(chan bool)
	var wg sync.WaitGroup
	wg.Add(1)
	go func() { defer wg.Done(); waitForRelease(release) }()
	for { // until it has waited for long enough to be in the timeline
		if u, _ := task.Usage(); u.Part(pprof.TimeChan) > time.Millisecond {
			break
		}
		time.Sleep(time.Millisecond)
	}
	close(release)
	wg.Wait()
	task.End()
	timeline := one(t, r).Timeline
	if !haveStacks {
		waits := 0
		for _, s := range timeline {
			if len(s.Stack) > 0 {
				t.Errorf("there is a stack: %+v", s.Stack)
			}
			if s.Part == taskrecord.Part(pprof.TimeChan) {
				waits++
			}
		}
		if waits == 0 {
			t.Error("the wait is not in the timeline")
		}
		t.Skip(noStacks)
	}
	for _, s := range timeline {
		if len(s.Stack) > 0 && strings.HasSuffix(s.Stack[0].Func, "waitForRelease") {
			if n := len(s.Stack); n != 2 || !strings.HasSuffix(s.Stack[1].Func, "TestStack.func1") {
				t.Errorf("stack %+v, want two functions", s.Stack)
			}
			return
		}
	}
	t.Error("the wait is not in the timeline")
}

// TestRate tests that the rate is right and depends on the trace ID alone.
func TestRate(t *testing.T) {
	const n = 20000
	for _, rate := range []float64{0.1, 0.5} {
		r := start(t, Config{Rate: rate})
		got := map[string]bool{}
		for range n {
			ctx, task := New(context.Background(), "TestRate")
			_, child := New(ctx, "TestRateChild")
			child.End()
			task.End()
			n := 0
			for rec := r.Next(); rec != nil; rec = r.Next() {
				if rec.Flags&taskrecord.Sampled != 0 { // or it is slow
					n++
				}
			}
			if n == 1 {
				t.Fatalf("of %v and its child one is recorded", task.Trace())
			}
			if n == 2 {
				got[task.Trace()] = true
			}
		}
		// Six standard deviations.
		if d := math.Abs(float64(len(got)) - n*rate); d > 6*math.Sqrt(n*rate*(1-rate)) {
			t.Errorf("%d of %d, at a rate of %v", len(got), n, rate)
		}
	}
}

var slowTests atomic.Int64

// TestSlow tests the threshold: that which is given, and the automatic one.
func TestSlow(t *testing.T) {
	// Of a call, whose kind comes when recording has begun.
	call := fmt.Sprint("TestSlowCall", slowTests.Add(1))
	r := start(t, Config{Rate: 1e-18, Slow: map[string]time.Duration{call: time.Nanosecond}})
	ctx, _ := New(context.Background(), "of a call")
	_, c := NewClient(ctx, call, "x")
	c.End()
	if rec := one(t, r); rec.Kind != call || rec.Flags&taskrecord.Slow == 0 {
		t.Errorf("a call is not slow: %+v", rec)
	}
	Stop()

	testSlow(t)
}

func testSlow(t *testing.T) {
	r := start(t, Config{Rate: 1e-18})
	automatic := fmt.Sprint("TestSlowAutomatic", slowTests.Add(1)) // kinds stay
	slow := func(kind string, d time.Duration) (n int) {
		_, task := New(context.Background(), kind)
		if d > 0 {
			time.Sleep(d)
		}
		task.End()
		for rec := r.Next(); rec != nil; rec = r.Next() {
			if rec.Kind == kind && rec.Flags&taskrecord.Slow != 0 {
				if rec.Wall <= rec.Threshold || rec.Usual == nil {
					t.Errorf("%v with a threshold of %v, usual %v", rec.Wall, rec.Threshold, rec.Usual)
				}
				n++
			}
		}
		return n
	}
	Slow("TestSlow", time.Nanosecond)
	if slow("TestSlow", 0) != 1 {
		t.Error("not slow")
	}
	Slow("TestSlow", time.Hour)
	if slow("TestSlow", time.Millisecond) != 0 {
		t.Error("slow")
	}
	for range 1000 {
		if slow(automatic, 0) != 0 {
			t.Fatal("slow without a threshold")
		}
	}
	var k taskrecord.KindStats
	for _, s := range AllStats().Kinds {
		if s.Kind == automatic {
			k = s
		}
	}
	if k.Count != 1000 || k.Threshold == 0 || k.P50 > k.P99 || k.P99 > k.Max || k.Open != 0 {
		t.Errorf("%+v", k)
	}
	if slow(automatic, 2*k.Threshold) != 1 {
		t.Error("not slow, at twice the threshold")
	}
}

func TestOpen(t *testing.T) {
	start(t, Config{})
	many := func() uint64 { return ReadStats().Lost["tasks"] }
	before, open := many(), ReadStats().Open
	tasks := make([]*Task, 10_100)
	for i := range tasks {
		_, tasks[i] = New(context.Background(), fmt.Sprint("open", i%10))
	}
	if n := many() - before; int64(n) != int64(len(tasks))-10_000+open {
		t.Errorf("%d tasks were too many", n)
	}
	for _, task := range tasks {
		task.End()
	}
	if n := ReadStats().Open; n != open {
		t.Errorf("%d open, and %d before", n, open)
	}
	pprof.SetGoroutineLabels(context.Background())
}

func TestKinds(t *testing.T) {
	if os.Getenv("TASK_TEST_KINDS") == "" {
		// Kinds stay, so it is a process's own.
		out, err := child(t, "TASK_TEST_KINDS=1", "-test.run=^TestKinds$")
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	r := start(t, Config{})
	n := 0
	for i := range 1500 {
		_, task := New(context.Background(), fmt.Sprintf("kind %d \xff", i))
		task.End()
		for rec := r.Next(); rec != nil; rec = r.Next() {
			if rec.Kind == "other" {
				n++
			} else if want := fmt.Sprintf("kind %d \uFFFD", i); rec.Kind != want {
				t.Fatalf("kind %q, want %q", rec.Kind, want)
			}
		}
	}
	lost := ReadStats().Lost["kinds"]
	if n != 500 || lost != 500 || len(AllStats().Kinds) != 1001 {
		t.Errorf("%d others, %d counted, %d kinds", n, lost, len(AllStats().Kinds))
	}
}

func TestFlightRecorder(t *testing.T) {
	fr := trace.NewFlightRecorder(trace.FlightRecorderConfig{})
	dir := t.TempDir()
	config := Config{Flight: fr, FlightDir: dir, Slow: map[string]time.Duration{"TestFlightRecorder": time.Nanosecond}}
	if err := Start(config); err == nil {
		t.Error("no error for one that is not started")
	}
	if err := fr.Start(); err != nil {
		t.Fatal(err)
	}
	defer fr.Stop()
	start(t, config)
	var first *Task
	for range 10 {
		_, task := New(context.Background(), "TestFlightRecorder")
		r := task.Region("region")
		r.End()
		task.End()
		if first == nil {
			first = task
		}
	}
	Stop() // waits until it is written
	if err := ReadStats().Err; err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) != 1 || !strings.Contains(files[0], first.Trace()) {
		t.Fatalf("%v, want one of %v", files, first.Trace())
	}
	b, _ := os.ReadFile(files[0])
	if !strings.Contains(string(b), "TestFlightRecorder") || !strings.Contains(string(b), "region") {
		t.Errorf("no task and region in the trace of %d bytes", len(b))
	}
}

var burnt int

// burn computes for a while.
//
//go:noinline
func burn() {
	for end := time.Now().Add(20 * time.Millisecond); time.Now().Before(end); {
		compute(1000)
	}
}

// compute adds in a register. The race detector's code for memory would get nearly all samples,
// and the timer can't tell which function called that code. What remains in burnt does not matter.
//
//go:norace
func compute(n int) {
	sum := 0
	for i := range n {
		sum += i
	}
	burnt += sum
}
