// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"bytes"
	"context"
	"fmt"
	"internal/profile"
	"internal/taskrecord"
	"runtime/pprof"
	. "runtime/task"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"
)

// Samples that wait for their task: see runtime/perftaskend.go and runtime/pprof/perf_wait.go.

// slowSession starts a session that samples an event, and returns what stops it and parses its
// profile.
func slowSession(t *testing.T, event string, period uint64) (stop func() *profile.Profile) {
	t.Helper()
	var b bytes.Buffer
	s, err := pprof.StartSession(pprof.PerfEvent(&b, event, period))
	if err != nil {
		t.Skip(err)
	}
	return func() *profile.Profile {
		t.Helper()
		s.Stop()
		p, err := profile.Parse(&b)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

// A slowLedger is what the comments of a profile say of its samples.
type slowLedger struct{ none, yes, no, unknown int64 }

// slowLedgerOf returns a profile's ledger, and checks that its sum is that of the samples.
func slowLedgerOf(t *testing.T, p *profile.Profile) (l slowLedger) {
	t.Helper()
	found := 0
	for _, c := range p.Comments {
		for _, line := range []struct {
			key string
			n   *int64
		}{{"without a task: ", &l.none}, {"slow yes: ", &l.yes}, {"slow no: ", &l.no}, {"slow unknown: ", &l.unknown}} {
			if rest, ok := strings.CutPrefix(c, line.key); ok {
				found++
				fmt.Sscan(rest, line.n)
			}
		}
	}
	sum := int64(0)
	for _, s := range p.Sample {
		sum += s.Value[0]
	}
	if found != 4 || l.none+l.yes+l.no+l.unknown != sum {
		t.Errorf("%+v in %d comments, and %d samples in the profile", l, found, sum)
	}
	return l
}

// label returns the value of a sample's label, or "".
func label(s *profile.Sample, key string) string { return strings.Join(s.Label[key], " ") }

// slowEngines runs a test with stacks by the kernel and by signal handlers.
func slowEngines(t *testing.T, f func(t *testing.T)) {
	for _, stacks := range []string{"kernel", "signal"} {
		t.Run(stacks, func(t *testing.T) {
			t.Setenv("GO_PPROF_STACKS", stacks)
			f(t)
		})
	}
}

//go:noinline
func burnSlow() { burn() }

//go:noinline
func burnFast() { burn() }

//go:noinline
func burnUnder() { burn() }

//go:noinline
func burnSlowChild() { burn() }

//go:noinline
func burnEntered() { burn() }

//go:noinline
func burnOwnSlow() { burn() }

//go:noinline
func burnOwnTrace() { burn() }

//go:noinline
func burnOutlives() { burn() }

//go:noinline
func burnAfterSlow() { burn() }

//go:noinline
func burnAfterFast() { burn() }

//go:noinline
func burnStaysOpen() { burn() }

// TestSlowLabels tests which samples are slow, wherever a goroutine begins or ceases to work for
// a task, and which trace they have.
func TestSlowLabels(t *testing.T) {
	want := map[string]string{
		"burnNone":      ``,
		"burnSlow":      `slow=yes task=slow trace=1`,
		"burnUnder":     `slow=yes task=fast trace=1`, // a child of a slow one
		"burnFast":      `slow=no task=fast trace=2`,
		"burnSlowChild": `slow=yes task=slow trace=2`, // a slow child of one that is not
		"burnEntered":   `slow=yes task=slow trace=1`,
		"burnOwnSlow":   `slow=own task=slow trace=1`,
		"burnOwnTrace":  `slow=yes task=slow trace=own`,
		"burnChild":     `slow=yes task=slow trace=1`, // a goroutine
		"burnOutlives":  ``,
		"burnAfterSlow": `slow=yes task=fast trace=3`, // of which the slow parent had ended
		"burnAfterFast": `slow=no task=fast trace=4`,
		"burnStaysOpen": `slow=unknown task=fast`,
	}
	slowEngines(t, func(t *testing.T) {
		start(t, Config{Slow: map[string]time.Duration{"slow": 1, "fast": time.Hour}})
		seen := make(map[string]int)
		for try := 0; len(seen) < len(want) && try < 50; try++ {
			stop := slowSession(t, "task-clock", 1_000_000)
			traces := make(map[string]string)
			var open *Task
			done := make(chan bool)
			go func() { open = slowWork(traces); close(done) }()
			<-done
			p := stop()
			open.End()
			slowLedgerOf(t, p)
			for _, s := range p.Sample {
				name := burner(s)
				if name == "" {
					continue
				}
				seen[name]++
				var labels []string
				for _, key := range []string{"slow", "task", "trace"} {
					if v := label(s, key); v != "" {
						if n := traces[v]; key == "trace" && n != "" {
							v = n
						}
						labels = append(labels, key+"="+v)
					}
				}
				if got := strings.Join(labels, " "); got != want[name] {
					t.Errorf("%s: labels %q, want %q", name, got, want[name])
				}
			}
		}
		if len(seen) < len(want) {
			t.Errorf("samples of %v only", seen)
		}
	})
}

// slowWork works as TestSlowLabels wants it, and stores numbers of the traces. It returns a task that
// is open.
func slowWork(traces map[string]string) (open *Task) {
	bg := context.Background()
	burnNone()
	ctx, slow := New(bg, "slow")
	traces[slow.Trace()] = "1"
	burnSlow()
	_, under := New(ctx, "fast")
	burnUnder()
	under.End()
	done := make(chan bool)
	go func() {
		burnChild()
		done <- true
		<-done
		burnOutlives()
		done <- true
	}()
	<-done
	pprof.Do(bg, pprof.Labels("slow", "own"), func(context.Context) { burnOwnSlow() })
	pprof.Do(bg, pprof.Labels("trace", "own"), func(context.Context) { burnOwnTrace() })
	fastCtx, fast := New(bg, "fast") // nothing of it is to be seen in the others
	traces[fast.Trace()] = "2"
	burnFast()
	e := Enter(ctx)
	burnEntered()
	e.Exit()
	burnFast()
	_, child := New(fastCtx, "slow")
	burnSlowChild()
	child.End()
	burnFast()
	fast.End()
	slow.End()
	burnNone()
	done <- true
	<-done

	ctx, slow = New(bg, "slow")
	traces[slow.Trace()] = "3"
	_, after := New(ctx, "fast")
	burnAfterSlow()
	slow.End()
	burnAfterSlow()
	after.End()
	ctx, fast = New(bg, "fast")
	traces[fast.Trace()] = "4"
	_, after = New(ctx, "fast")
	burnAfterFast()
	fast.End()
	burnAfterFast()
	after.End()
	_, open = New(bg, "fast")
	burnStaysOpen()
	return open
}

// slowRecords has records by span.
type slowRecords map[string]*taskrecord.Record

func (r slowRecords) read(reader taskrecord.RingReader) {
	for rec := reader.Next(); rec != nil; rec = reader.Next() {
		r[rec.Span.String()] = rec
	}
}

// slow returns the verdict on samples of a task, and its trace.
func (r slowRecords) slow(span string) (verdict, trace string) {
	rec := r[span]
	if rec == nil {
		return "unknown", ""
	}
	trace = rec.Trace.String()
	for rec != nil {
		if rec.Flags&taskrecord.Slow != 0 {
			return "yes", trace
		}
		rec = r[rec.Parent.String()]
	}
	return "no", trace
}

// slowRequest is a task with children, on several goroutines. Some of them burn more, so that they
// are slow, or a child is.
func slowRequest(i int) {
	ctx, t := New(context.Background(), "request")
	work := func(ctx context.Context, t *Task, extra bool) {
		pprof.Do(ctx, pprof.Labels("span", t.Span()), func(context.Context) {
			for begin := time.Now(); ; {
				compute(20000)
				if took := time.Since(begin); !extra || took > slowLimit {
					break
				}
			}
		})
	}
	var wg sync.WaitGroup
	for k := range 2 {
		wg.Go(func() {
			ctx, c := New(ctx, "child")
			work(ctx, c, (i+k)%30 == 0)
			c.End()
		})
		wg.Go(func() { work(ctx, t, (i+k)%50 == 0) })
	}
	work(ctx, t, false)
	wg.Wait()
	t.End()
}

const slowLimit = 5 * time.Millisecond

// TestSlowSamples compares samples with the records of their tasks, in two sessions: none may
// be wrong. Only tasks that are open at the end may be unknown.
func TestSlowSamples(t *testing.T) {
	want := 3000
	if !testing.Short() {
		want = 100_000
	}
	slowEngines(t, func(t *testing.T) {
		reader := start(t, Config{Slow: map[string]time.Duration{"request": slowLimit, "child": slowLimit / 2}, Memory: 16 << 20})
		records := make(slowRecords)
		counts := make(map[string]int64)
		for i := 0; counts["yes"]+counts["no"] < int64(want); {
			one := slowSession(t, "task-clock", 100_000)
			two := slowSession(t, "cpu-clock", 300_000)
			ctx, open := New(context.Background(), "request")
			pprof.Do(ctx, pprof.Labels("span", open.Span()), func(context.Context) { burn() })
			for range 200 {
				slowRequest(i)
				i++
				records.read(reader)
			}
			profiles := []*profile.Profile{one(), two()}
			open.End()
			for _, p := range profiles {
				slowLedgerOf(t, p)
				slowCompare(t, p, records, counts)
			}
			records.read(reader)
			clear(records)
		}
		if counts["yes"] == 0 || counts["no"] == 0 || counts["unknown"] == 0 || counts["trace of yes"] == 0 || counts["trace of no"] == 0 {
			t.Errorf("samples: %v", counts)
		}
		t.Logf("samples: %v", counts)
	})
}

// slowCompare compares the samples that have a span with the records.
func slowCompare(t *testing.T, p *profile.Profile, records slowRecords, counts map[string]int64) {
	for _, s := range p.Sample {
		span := label(s, "span")
		if span == "" {
			continue
		}
		want, trace := records.slow(span)
		if got := label(s, "slow"); got != want {
			t.Errorf("%d samples of %s: slow=%s, want %s", s.Value[0], span, got, want)
		}
		counts[want] += s.Value[0]
		if got := label(s, "trace"); got != "" {
			counts["trace of "+want] += s.Value[0]
			if got != trace || want == "unknown" {
				t.Errorf("%d samples of %s: trace %q, want %q", s.Value[0], span, got, trace)
			}
		}
	}
}

// Each call of slowCall writes slowCalled, and a breakpoint samples each write. (One on the function would
// sample a call again that was preempted on it.) What is written does not matter.
var slowCalled, slowCalledOnce int32

//go:noinline
//go:norace
func slowCall() { slowCalled++ }

//go:noinline
//go:norace
func slowCallOnce() { slowCalledOnce++ }

// slowCalls returns the event that samples each write of a variable.
func slowCalls(p *int32) string { return fmt.Sprintf("mem:%#x/4:w", uintptr(unsafe.Pointer(p))) }

// TestSlowExact tests that of samples at each call all are there, with the right verdict: each
// task has a number of its own, though they use the same memory again and again.
func TestSlowExact(t *testing.T) {
	start(t, Config{Rate: 1e-9, Slow: map[string]time.Duration{"slow": 1, "fast": time.Hour}})
	stop := slowSession(t, slowCalls(&slowCalled), 1)
	var want slowLedger
	n := 2000
	if !testing.Short() {
		n = 20000
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := range n {
				kind := "fast"
				if i%4 == 0 {
					kind = "slow"
				}
				ctx, task := New(context.Background(), kind)
				if i%5 == 0 { // the root has no sample of its own
					_, child := New(ctx, "fast")
					slowCall()
					child.End()
				} else {
					slowCall()
				}
				task.End()
				if i%10 == 0 {
					slowCall()
				}
			}
		})
	}
	wg.Wait()
	want = slowLedger{none: 2 * int64(n) / 10, yes: 2 * int64(n) / 4, no: 2 * int64(n) * 3 / 4}
	p := stop()
	if got := slowLedgerOf(t, p); got != want {
		t.Errorf("samples: %+v, want %+v", got, want)
	}
	traces := make(map[string]bool)
	for _, s := range p.Sample {
		if trace := label(s, "trace"); trace != "" {
			traces[trace] = true
		}
	}
	if n := len(traces); n < 2*32 || n > 2*128 {
		t.Errorf("%d traces of two kinds, want 32 of each at once, and 128 at most", n)
	}
}

// TestSlowEndedByOther tests that no sample is lost, and none waits in vain, if another goroutine
// ends the task meanwhile.
func TestSlowEndedByOther(t *testing.T) {
	start(t, Config{Rate: 1e-9, Slow: map[string]time.Duration{"slow": 1, "fast": time.Hour}})
	stop := slowSession(t, slowCalls(&slowCalled), 1)
	n, calls := 500, int64(0)
	if !testing.Short() {
		n = 10000
	}
	for i := range n {
		kind := "fast"
		if i%4 == 0 {
			kind = "slow"
		}
		ctx, task := New(context.Background(), kind)
		if i%2 == 0 {
			ctx, _ = New(ctx, "fast")
		}
		began, ended := make(chan bool), make(chan int64)
		go func() {
			for i := int64(0); ; i++ {
				slowCall()
				if i == 0 {
					close(began)
				} else if _, ok := FromContext(ctx).Usage(); !ok {
					ended <- i + 1
					return
				}
			}
		}()
		<-began
		FromContext(ctx).End()
		calls += <-ended
		task.End()
	}
	l := slowLedgerOf(t, stop())
	if l.unknown != 0 || l.none+l.yes+l.no != calls || l.yes == 0 || l.no == 0 || l.none == 0 {
		t.Errorf("samples: %+v of %d calls", l, calls)
	}
	t.Logf("samples: %+v", l)
}

// TestSlowWake tests that the end of a task does not get lost if more tasks of another session's samples
// end than are remembered, before this one's reader has anything else to read.
func TestSlowWake(t *testing.T) {
	start(t, Config{Rate: 1e-9, Slow: map[string]time.Duration{"slow": 1, "fast": time.Hour}})
	rare, often := slowSession(t, slowCalls(&slowCalledOnce), 1), slowSession(t, slowCalls(&slowCalled), 1)
	_, task := New(context.Background(), "slow")
	slowCallOnce()
	task.End()
	const n = 1<<14 + 1<<13 // more than perfMostTaskEnds in package runtime
	for range n {
		_, task := New(context.Background(), "fast")
		slowCall()
		task.End()
	}
	if got, want := slowLedgerOf(t, rare()), (slowLedger{yes: 1}); got != want {
		t.Errorf("samples: %+v, want %+v", got, want)
	}
	if got, want := slowLedgerOf(t, often()), (slowLedger{no: n}); got != want {
		t.Errorf("samples: %+v, want %+v", got, want)
	}
}

// TestSlowRequests tests that a profile says how many tasks have ended meanwhile, of each kind that has samples. It says
// nothing of kinds that have samples of others, too: children, or tasks that got another kind later.
func TestSlowRequests(t *testing.T) {
	start(t, Config{Slow: map[string]time.Duration{"slow": 1, "fast": time.Hour, "none": 1}})
	end := func(kind string) {
		ctx, task := New(context.Background(), kind)
		_, child := New(ctx, "child")
		slowCall()
		child.End()
		slowCall()
		task.End()
	}
	end("fast") // before
	_, open := New(context.Background(), "fast")
	stop := slowSession(t, slowCalls(&slowCalled), 1)
	for range 5 {
		end("fast")
	}
	for range 3 {
		end("slow")
	}
	_, none := New(context.Background(), "none") // it has no sample
	none.End()
	end("from")
	end("to")
	_, renamed := New(context.Background(), "from")
	slowCall()
	renamed.SetKind("to")
	renamed.End()
	_, early := New(context.Background(), "none")
	early.SetKind("slow")
	slowCall()
	early.End()
	_, after := New(context.Background(), "fast")
	slowCall()
	open.End() // which is another task's
	p := stop()
	after.End()
	var got []string
	for _, c := range p.Comments {
		if strings.HasPrefix(c, "requests: ") {
			got = append(got, c)
		}
	}
	slices.Sort(got)
	if want := []string{`requests: 0 usual, 4 slow, of kind "slow"`, `requests: 6 usual, 0 slow, of kind "fast"`}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
