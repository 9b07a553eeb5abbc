// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"fmt"
	"math/rand"
	"runtime/pprof"
	"slices"
	"testing"
)

// planted returns slow tasks with reasons that are known: 3 that wait in a queue for what flush
// holds, 2 that sleep, 2 that wait for a mutex that goroutines of no task hold, and one that nothing
// is known of; and a quick one.
func planted() []*Record {
	list := queue(queued{0, 100, 0}, queued{5, 101, 1}, queued{10, 102, 2})
	add := func(kind string, flags Flags, s ...Stretch) {
		n := byte(len(list) + 1)
		list = append(list, account(&Record{Trace: TraceID{n}, Span: SpanID{n}, Kind: kind, Flags: flags, Goroutine: 1,
			Start: planStart + int64(n), Wall: 100 * testMs, Timeline: s}))
	}
	for n := range 2 {
		s := waited(1, pprof.TimeSleep, 0, 90+n, 90+n, Waker{})
		s.Stack = stackIn("time.Sleep", 7)
		add("import", Slow, s)
		w := Waker{Goroutine: uint64(100 + n), Stack: stackIn("sync.(*Mutex).Unlock", 31)}
		add("GET /", Slow|ServerOf, waited(1, pprof.TimeMutex, 0, 50, 50, w))
	}
	list = append(list, &Record{Span: SpanID{99}, Kind: "import", Flags: Slow})
	add("import", 0)
	return list
}

var plantedReasons = []string{
	`GET / | mutex held by task "flush" at flush.go:112: 3 of 5 slow requests, 288 ms`,
	`import | sleep at x.go:7: 2 of 3 slow tasks, 181 ms`,
	`GET / | mutex held by a goroutine at x.go:31: 2 of 5 slow requests, 100 ms`,
	`import | nothing stands out: 1 of 3 slow tasks`,
}

// TestReasons checks that reasons are summed up, in whatever order their tasks come: that a queue
// for a mutex has one, the task that held it first, and that who belongs to no task is not told by
// its number.
func TestReasons(t *testing.T) {
	list := planted()
	for seed := range int64(20) {
		rand.New(rand.NewSource(seed)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		var r Reasons
		for _, x := range list {
			r.Add(x)
		}
		var got []string
		for _, x := range r.List() {
			got = append(got, x.Kind+" | "+x.String())
		}
		if !slices.Equal(got, plantedReasons) {
			t.Fatalf("seed %d:\n%q, want\n%q", seed, got, plantedReasons)
		}
	}
}

// TestReasonsNewest checks which tasks are the examples.
func TestReasonsNewest(t *testing.T) {
	var r Reasons
	const n = 3 * maxExamples
	for _, i := range rand.New(rand.NewSource(1)).Perm(n) {
		x := &Record{Trace: TraceID{byte(i)}, Span: SpanID{byte(i + 1)}, Kind: "x", Flags: Slow, Start: int64(i), Wall: 100 * testMs}
		x.Parts[pprof.TimeRunning] = x.Wall
		r.Add(x)
	}
	list := r.List()
	if len(list) != 1 || list[0].N != n || len(list[0].Newest) != maxExamples {
		t.Fatalf("%+v", list)
	}
	for i, x := range list[0].Newest {
		if want := n - 1 - i; x != (Example{TraceID{byte(want)}, SpanID{byte(want + 1)}, int64(want), 100 * testMs}) {
			t.Errorf("example %d is %+v, want number %d", i, x, want)
		}
	}
}

// TestReasonsBalance checks that each slow task is in one reason, whatever records have, and
// however many reasons and kinds there are.
func TestReasonsBalance(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	var r Reasons
	slow := 0
	add := func(x *Record) {
		if r.Add(x); x.Flags&Slow != 0 {
			slow++
		}
	}
	for range 1000 {
		add(anyTask(rnd))
		add(randomTask(rnd))
	}
	for i := range 3 * maxReasons {
		s := waited(1, pprof.TimeSleep, 0, 50, 50, Waker{})
		s.Reason, s.Part = "wait", pprof.TimeChan
		s.Stack = []Frame{{fmt.Sprint("f", i), fmt.Sprint("f", i, ".go"), i}}
		add(account(&Record{Span: SpanID{byte(i), byte(i >> 8), 1}, Kind: fmt.Sprint("kind ", i/2), Flags: Slow, Goroutine: 1, Wall: 60 * testMs, Timeline: []Stretch{s}}))
	}
	list := r.List()
	if most := 2*maxReasons + maxKinds; len(list) > most {
		t.Errorf("%d reasons, want %d at most", len(list), most)
	}
	n, of, others := 0, make(map[string]int), 0
	for _, x := range list {
		n += x.N
		of[KindText(x.Kind, x.Client)] = x.Of
		if x.Text == otherReasons {
			others += x.N
		}
	}
	sum := 0
	for _, k := range of {
		sum += k
	}
	if n != slow || sum != slow {
		t.Errorf("%d slow tasks; reasons have %d, and say that there are %d", slow, n, sum)
	}
	if others == 0 || len(of) > maxKinds+1 {
		t.Errorf("%d tasks with other reasons, and %d kinds", others, len(of))
	}
	if again := r.List(); len(again) != len(list) {
		t.Errorf("%d reasons, and then %d", len(list), len(again))
	}
}

// TestReasonsCalls tests that a kind's calls come after what else has its name, in every run.
func TestReasonsCalls(t *testing.T) {
	for range 20 {
		var r Reasons
		r.Add(&Record{Kind: "GET /", Span: SpanID{1}, Flags: Slow | Client})
		r.Add(&Record{Kind: "GET /", Span: SpanID{2}, Flags: Slow})
		if list := r.List(); len(list) != 2 || list[0].Client || !list[1].Client {
			t.Fatalf("%+v", list)
		}
	}
}
