// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"cmp"
	"context"
	"fmt"
	"internal/race"
	"internal/taskrecord"
	"math/rand/v2"
	"net/textproto"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"runtime/task"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Requests, of which a few are slow for a reason that is planted. Exactly these must be
// reported as slow, with the planted reason first, although most records were lost: those of
// the slow ones are in rings of their own.
//
// What is planted is as long as it must be by the task's own account: a hog spins until the
// request has been runnable for that long. So it is as long on any machine.
//
// On a busy one a request may be slow though nothing is planted in it: the test takes that
// if the record says so, with a cause that only the machine can be.

const (
	plantedSlow = 20 * time.Millisecond // above that a request is slow
	plantedTime = 3 * plantedSlow       // at least, of what is planted
)

// A plant is a reason to be slow.
type plant struct {
	name  string
	cause string // its name
	text  string // in it
	never string // in the text of no cause of the request, unless it is empty
	// alone is set if it would slow down other requests. Then before and after are called
	// before the request and after it.
	alone         bool
	before, after func(p *planted)
	counts        bool // it needs counters
	do            func(p *planted, ctx context.Context, t *task.Task)
}

// busy are the causes for which a request takes longer if the machine is busy. (What a
// thread is without a CPU for is not running.) unplanted are all for
// which a request may be slow in which nothing is planted.
var (
	busy      = []string{"preempted", "runnable", "runnable behind"}
	unplanted = append([]string{"stop-the-world", "GC"}, busy...)
)

var plants = []plant{
	{name: "lock", cause: "mutex", text: atPlanted(`mutex held by task "flush"`), do: (*planted).lock},
	{name: "GC assist", cause: "GC assist", alone: true,
		before: (*planted).fullHeap, do: (*planted).assist, after: (*planted).emptyHeap},
	{name: "stop-the-world", cause: "stop-the-world", text: "(all goroutines stack trace)", alone: true,
		before: (*planted).manyStacks, do: (*planted).stopped, after: (*planted).noStacks},
	{name: "hog", cause: "runnable behind", text: ` behind task "hog"`, alone: true,
		before: (*planted).startHogs, do: (*planted).runnable, after: (*planted).stopHogs},
	{name: "sleep", cause: "sleep", text: atPlanted(""), do: (*planted).sleep},
	{name: "slow server", cause: "call", text: `for call "GET /stock" of stock:80`, do: (*planted).call},
}

// planted is the state of the test.
type planted struct {
	t      *testing.T
	plants []plant

	// alone is held for reading by requests, and for writing by one that would slow down
	// others.
	alone sync.RWMutex

	begun, ended atomic.Uint64 // calls of End, of any task; ended are those that have returned

	flushes chan flush
	calls   chan call
	stops   chan *atomic.Bool

	plantedOrdinary

	heap       []*node
	garbage    atomic.Pointer[node]
	percent    int
	collector  sync.WaitGroup
	collecting atomic.Bool

	stacks chan struct{}

	hogs    sync.WaitGroup
	hogging atomic.Bool
}

// end ends a task.
func (p *planted) end(t *task.Task) {
	p.begun.Add(1)
	t.End()
	p.ended.Add(1)
}

// in returns what the task has been in a part for, up to now.
func (p *planted) in(t *task.Task, part taskrecord.Part) time.Duration {
	u, ok := t.Usage()
	if !ok {
		p.t.Error("a task that is open has no usage")
		return plantedTime
	}
	return u.Part(part)
}

// A flush asks the flusher to hold a lock, until the task has waited for it for long.
type flush struct {
	t    *task.Task
	mu   *sync.Mutex
	held chan struct{}
}

func (p *planted) flusher() {
	var flushes sync.WaitGroup
	defer flushes.Wait()
	for f := range p.flushes {
		flushes.Go(func() {
			_, t := task.New(context.Background(), "flush")
			f.mu.Lock()
			close(f.held)
			for p.in(f.t, pprof.TimeMutex) < plantedTime {
				time.Sleep(time.Millisecond)
			}
			p.begun.Add(1) // as the request may be over before this ends
			f.mu.Unlock()
			t.End()
			p.ended.Add(1)
		})
	}
}

func (p *planted) lock(_ context.Context, t *task.Task) {
	f := flush{t, new(sync.Mutex), make(chan struct{})}
	p.flushes <- f
	<-f.held
	f.mu.Lock()
	f.mu.Unlock()
}

func (p *planted) sleep(context.Context, *task.Task) { time.Sleep(plantedTime) }

// A call is a request to a server of the test's own, which is slow.
type call struct {
	header textproto.MIMEHeader
	answer chan struct{}
}

func (p *planted) server() {
	for c := range p.calls {
		go func() {
			_, t := task.Receive(context.Background(), "stock", c.header)
			time.Sleep(plantedTime)
			p.end(t)
			close(c.answer)
		}()
	}
}

func (p *planted) call(ctx context.Context, _ *task.Task) {
	_, t := task.NewClient(ctx, "GET /stock", "stock:80")
	c := call{make(textproto.MIMEHeader), make(chan struct{})}
	task.InjectTask(t, c.header)
	p.calls <- c
	<-c.answer
	p.end(t)
}

// A node is something for the collector to mark.
type node [1 << 10]*node

// fullHeap has the collector mark 64 MB, all the time, and leaves the heap little room to
// grow meanwhile: who allocates has to help.
func (p *planted) fullHeap() {
	rng := rand.New(rand.NewPCG(1, 2))
	p.heap = make([]*node, 8<<10)
	for i := range p.heap {
		p.heap[i] = new(node)
	}
	for _, n := range p.heap {
		for i := range n {
			n[i] = p.heap[rng.IntN(len(p.heap))]
		}
	}
	p.percent = debug.SetGCPercent(5)
	p.collecting.Store(true)
	p.collector.Go(func() {
		for p.collecting.Load() {
			runtime.GC()
		}
	})
}

func (p *planted) assist(_ context.Context, t *task.Task) {
	for {
		u, _ := t.Usage()
		gc, other := u.Part(pprof.TimeGC), max(u.Part(pprof.TimeRunning), u.Part(pprof.TimeRunnable), u.Part(pprof.TimeStopTheWorld))
		if gc >= plantedTime && gc >= other*3/2 {
			return
		}
		if u.Wall > time.Minute {
			p.t.Errorf("the collector wants little help: parts of a minute %v", u)
			return
		}
		for range 10 {
			p.garbage.Store(new(node))
		}
	}
}

func (p *planted) emptyHeap() {
	p.collecting.Store(false)
	p.collector.Wait()
	p.heap = nil
	debug.SetGCPercent(p.percent)
	runtime.GC()
}

// manyStacks starts goroutines with deep stacks: to print them takes about as long as is
// planted.
func (p *planted) manyStacks() {
	p.stacks = make(chan struct{})
	var ready sync.WaitGroup
	for range 2000 {
		ready.Add(1)
		go deep(90, &ready, p.stacks)
	}
	ready.Wait()
}

//go:noinline
func deep(n int, ready *sync.WaitGroup, c chan struct{}) {
	if n > 0 {
		deep(n-1, ready, c)
		return
	}
	ready.Done()
	<-c
}

func (p *planted) noStacks() { close(p.stacks) }

// stopper prints these stacks, for which the world is stopped, until it has been stopped
// for long.
func (p *planted) stopper() {
	buf := make([]byte, 1<<10)
	for done := range p.stops {
		for sum := time.Duration(0); sum < plantedTime*3/2; {
			start := time.Now()
			runtime.Stack(buf, true)
			sum += time.Since(start)
		}
		done.Store(true)
	}
}

func (p *planted) stopped(context.Context, *task.Task) {
	var done atomic.Bool
	p.stops <- &done
	for !done.Load() {
	}
}

// startHogs starts tasks that take all threads.
func (p *planted) startHogs() { p.hog("hog", func(*task.Task) {}, p.end) }

// hog starts goroutines that take all threads. Each begins a task of the kind, and calls before with
// it first, and after at the end.
func (p *planted) hog(kind string, before, after func(*task.Task)) {
	p.hogging.Store(true)
	var ready sync.WaitGroup
	for range 4 * runtime.GOMAXPROCS(0) {
		ready.Add(1)
		p.hogs.Go(func() {
			_, t := task.New(context.Background(), kind)
			before(t)
			ready.Done()
			for p.hogging.Load() {
			}
			after(t)
		})
	}
	ready.Wait()
}

func (p *planted) runnable(_ context.Context, t *task.Task) {
	for p.in(t, pprof.TimeRunnable) < plantedTime {
		runtime.Gosched()
	}
}

func (p *planted) stopHogs() {
	p.hogging.Store(false)
	p.hogs.Wait()
}

// long is a note's value: with it few records fill a ring.
var long = strings.Repeat("x", 250)

// request is one request; x is planted in it, unless it is nil.
func (p *planted) request(n int, x *plant) {
	if x != nil && x.alone {
		p.alone.Lock()
		defer p.alone.Unlock()
		if x.before != nil {
			x.before(p)
		}
		if x.after != nil {
			defer x.after(p)
		}
	} else {
		p.alone.RLock()
		defer p.alone.RUnlock()
	}
	ctx, t := task.New(context.Background(), "request")
	t.Note("n", strconv.Itoa(n)) // package fmt has a lock, which another request may hold without a CPU
	t.Note("long", long)
	r := t.Region("work")
	work(n % 100)
	r.End()
	if x != nil {
		t.Note("planted", x.name)
		if n%2 == 0 {
			x.do(p, ctx, t)
		} else { // by a goroutine that the request waits for
			done := make(chan struct{})
			go func() {
				x.do(p, ctx, t)
				close(done)
			}()
			<-done
		}
	}
	p.end(t)
}

//go:noinline
func work(n int) (sum int) {
	for i := range n {
		sum += i * i
	}
	return sum
}

func kindStats(kind string) (s taskrecord.KindStats) {
	for _, k := range task.AllStats().Kinds {
		if k.Kind == kind {
			return k
		}
	}
	return s
}

// tooLong returns how many records had no place in their ring.
func tooLong() uint64 {
	return task.ReadStats().Lost["too long"]
}

// watch reads what it can, and checks the numbers, until done is closed.
func (p *planted) watch(r taskrecord.RingReader, done chan struct{}) (checks int) {
	for {
		for r.Next() != nil {
		}
		ended := p.ended.Load()
		s := r.Stats()
		if begun := p.begun.Load(); s.Pushed != s.Popped+s.Dropped+s.Waiting || s.Pushed < ended || s.Pushed > begun {
			p.t.Errorf("%+v when between %d and %d tasks had ended", s, ended, begun)
			return checks
		}
		checks++
		select {
		case <-done:
			return checks
		case <-time.After(time.Millisecond):
		}
	}
}

func TestPlanted(t *testing.T) {
	requests, slow := 100_000, 137
	if testing.Short() {
		requests, slow = 10_000, 35
	}
	testPlanted(t, plants, requests, slow)
}

// testPlanted has so many requests, in slow of them one of plants each, in turn.
func testPlanted(t *testing.T, plants []plant, requests, slow int) {
	if race.Enabled {
		t.Skip("with the race detector it is that for which requests are slow; see TestLedger")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	// The collector runs only where no request is open, or it is planted. Otherwise some
	// would have to help it.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	config := task.Config{Rate: 1, Slow: map[string]time.Duration{"request": plantedSlow}}
	if err := task.Start(config); err != nil {
		t.Fatal(err)
	}
	defer task.Stop()
	defer task.Slow("request", 0)

	p := &planted{t: t, plants: plants, flushes: make(chan flush), calls: make(chan call), stops: make(chan *atomic.Bool)}
	var servers sync.WaitGroup
	defer servers.Wait()
	servers.Go(p.flusher)
	defer close(p.flushes)
	servers.Go(p.server)
	defer close(p.calls)
	servers.Go(p.stopper)
	defer close(p.stops)

	before, long := kindStats("request"), tooLong()
	abandoned, late, watched := taskrecord.NewRingReader(false), taskrecord.NewRingReader(false), taskrecord.NewRingReader(false)
	defer p.open()()
	done := make(chan struct{})
	var watcher sync.WaitGroup
	checks := 0
	watcher.Go(func() { checks = p.watch(watched, done) })

	// Where what is planted. What needs counters is in the second half, for which there are
	// counters.
	rng := rand.New(rand.NewPCG(137, 100_000))
	at := make(map[int]*plant)
	usable := plants
	c, err := pprof.OpenCounters("page-faults")
	counted := err == nil
	if counted {
		c.Close()
	} else {
		t.Logf("page faults are not planted: %v", err)
		usable = slices.DeleteFunc(slices.Clone(plants), func(x plant) bool { return x.counts })
	}
	for i := 0; len(at) < slow; {
		x := &usable[i%len(usable)]
		n := rng.IntN(requests)
		if at[n] != nil || x.counts && n < requests/2 {
			continue
		}
		at[n] = x
		i++
	}

	run := func(from, to int, at map[int]*plant) {
		next := atomic.Int64{}
		next.Store(int64(from))
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for n := int(next.Add(1)) - 1; n < to; n = int(next.Add(1)) - 1 {
					if n%5000 == 0 {
						p.alone.Lock()
						runtime.GC()
						p.alone.Unlock()
					}
					p.request(n, at[n])
				}
			})
		}
		wg.Wait()
		for p.begun.Load() != p.ended.Load() { // a flush may end after its request
			runtime.Gosched()
		}
		if s := abandoned.Stats(); s.Pushed != p.ended.Load() {
			t.Errorf("%+v when %d tasks have ended", s, p.ended.Load())
		}
	}
	run(0, requests/2, at)
	if counted {
		config.Events = []string{"page-faults"}
		if err := task.Start(config); err != nil {
			t.Fatal(err)
		}
	}
	run(requests/2, requests, at)

	// All slow requests are there, of the others few.
	found := make(map[int]bool)
	causes := make(map[string]int)
	for again := 0; ; again++ {
		retry := p.check(late, at, found, causes)
		if len(retry) == 0 || t.Failed() {
			break
		}
		if again == 10 {
			t.Errorf("the machine was too busy: something else took longer than what was planted each time, at last in %d requests", len(retry))
			break
		}
		from := requests
		for i, n := range retry {
			at[from+i] = at[n]
		}
		requests += len(retry)
		run(from, requests, at)
	}
	close(done)
	watcher.Wait()

	for n, x := range at {
		if !found[n] {
			t.Errorf("request %d, with %s, was not reported as slow", n, x.name)
		}
	}
	after := kindStats("request")
	if n := after.Slow - before.Slow; int(n) != len(found) {
		t.Errorf("%d slow requests were counted, and %d reported", n, len(found))
	}
	if n := after.Count - before.Count; int(n) != requests {
		t.Errorf("%d of %d requests were counted", n, requests)
	}
	if n := tooLong() - long; n != 0 {
		t.Errorf("%d records were too long for their rings", n)
	}
	s := late.Stats()
	if s.Pushed != p.ended.Load() || s.Waiting != 0 {
		t.Errorf("%+v when %d tasks have ended", s, p.ended.Load())
	}
	if s.Dropped == 0 {
		t.Errorf("%+v: the rings have not overflowed", s)
	}
	t.Logf("%d requests, %d planted, %d slow otherwise; reader %+v, %d checks of another one", requests, len(at), len(found)-len(at), s, checks)
	t.Logf("first causes: %v", causes)
}

// check checks the records that there are, and returns the numbers of those requests with
// a plant in which the machine has taken longer than that, so that they must be repeated.
func (p *planted) check(r taskrecord.RingReader, at map[int]*plant, found map[int]bool, causes map[string]int) (retry []int) {
	for t := r.Next(); t != nil; t = r.Next() {
		if t.Kind != "request" {
			continue
		}
		notes := make(map[string]string)
		for _, n := range t.Notes {
			notes[n.Key] = n.Value
		}
		n := -1
		fmt.Sscan(notes["n"], &n)
		x := at[n]
		if (x != nil) != (notes["planted"] != "") || x != nil && notes["planted"] != x.name {
			p.t.Errorf("request %d has notes %v", n, notes)
		}
		if slow := t.Flags&taskrecord.Slow != 0; slow != (t.Wall > plantedSlow) || t.Threshold != plantedSlow {
			p.t.Errorf("request %d took %v; slow %v above %v", n, t.Wall, slow, t.Threshold)
		} else if !slow {
			if x != nil {
				p.t.Errorf("request %d, with %s, took only %v", n, x.name, t.Wall)
			}
			continue
		}
		if found[n] {
			p.t.Errorf("request %d is reported for the second time", n)
		}
		found[n] = true
		list := t.Causes()
		if len(list) == 0 {
			p.t.Errorf("request %d, which took %v, has no causes", n, t.Wall)
			continue
		}
		first := list[0]
		if x == nil {
			causes["not planted: "+first.Name]++
			if !slices.Contains(unplanted, first.Name) || p.among(list) != nil {
				p.t.Errorf("request %d, in which nothing is planted, took %v: %v", n, t.Wall, list)
			}
			continue
		}
		causes[x.name+": "+first.Name]++
		if x.never != "" && slices.ContainsFunc(list, func(c taskrecord.Cause) bool { return strings.Contains(c.String(), x.never) }) {
			p.t.Errorf("request %d, with %s: %s in %v", n, x.name, x.never, list)
		}
		if x.is(first) && first.Time > plantedSlow {
			continue
		}
		if slices.Contains(busy, first.Name) && slices.ContainsFunc(list, x.is) {
			p.t.Logf("request %d, with %s, took %v: %v", n, x.name, t.Wall, list)
			retry = append(retry, n)
			continue
		}
		p.t.Errorf("request %d, with %s, took %v: %v\nparts %v", n, x.name, t.Wall, list, t.Parts)
	}
	slices.SortFunc(retry, cmp.Compare)
	return retry
}

// is reports whether c is what x plants.
func (x *plant) is(c taskrecord.Cause) bool {
	return c.Name == x.cause && strings.Contains(c.String(), x.text)
}

// among returns the plant that there is among causes, or nil. Any request may be runnable.
func (p *planted) among(list []taskrecord.Cause) *plant {
	for i := range p.plants {
		if p.plants[i].text != "runnable" && slices.ContainsFunc(list, p.plants[i].is) {
			return &p.plants[i]
		}
	}
	return nil
}
