// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why_test

import (
	"cmd/pmu/internal/why"
	"context"
	"fmt"
	"internal/race"
	"internal/taskrecord"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"runtime/task"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe" // for go:linkname, too
)

// liveFailed is the kind of requests in which it was not possible to plant a cause, so that
// there is another one.
const liveFailed = "failed"

// liveDelay is for how long what is planted delays a request, at least.
const liveDelay = 20 * time.Millisecond

// liveRequests are as many as p98 takes.
const liveRequests = 1000

// liveJobs returns how many goroutines work for no task.
func liveJobs() int { return 8 * runtime.GOMAXPROCS(0) }

// A liveCause is what is planted in some requests of a service.
type liveCause struct {
	name  string
	names string // that the report has to begin with

	// do plants it in a request, and returns what is to be done when that has ended, or nil.
	do func(s *service, ctx context.Context, t *task.Task) func()
}

var liveCauses = []liveCause{
	{"lock", "mutex", (*service).lock},
	{"GC assist", "GC", (*service).assist},
	{"page faults", "page-faults", (*service).faults},
	{"CPU hog", "runnable", (*service).hogged},
	{"slow downstream", "call GET /stock of stock:80", (*service).call},
	{"payload", "note size", (*service).payload},
}

// A service answers requests one after the other.
type service struct {
	t    *testing.T
	rnd  *rand.Rand
	heap []*liveNode // what the collector has to mark
	jobs chan func() // for goroutines that work for no task
	size int         // of the present request

	// If compared, the same work is done after each request, for no task, and has run for so long.
	compared bool
	took     []time.Duration
}

// in waits, by doing something, until the task has been in a part for as long as is planted.
func (s *service) in(t *task.Task, p pprof.TimePart, do func()) {
	for {
		u, ok := t.Usage()
		if !ok || u.Wall > time.Minute {
			s.t.Errorf("in %v for only %v of %v", p, u.Part(p), u.Wall)
			return
		}
		if u.Part(p) >= liveDelay {
			return
		}
		do()
	}
}

func (s *service) lock(_ context.Context, t *task.Task) func() {
	var mu sync.Mutex
	mu.Lock()
	s.jobs <- func() {
		s.in(t, pprof.TimeMutex, func() { time.Sleep(time.Millisecond) })
		mu.Unlock()
	}
	mu.Lock()
	return nil
}

// A liveNode is something for the collector to mark.
type liveNode [1 << 10]*liveNode

// liveGarbage keeps what is allocated from being optimized away.
var liveGarbage atomic.Pointer[liveNode]

func (s *service) assist(_ context.Context, t *task.Task) func() {
	percent := debug.SetGCPercent(5)
	var stop atomic.Bool
	stopped := make(chan bool)
	s.jobs <- func() {
		for !stop.Load() {
			runtime.GC()
		}
		close(stopped)
	}
	for {
		u, _ := t.Usage()
		if gc := u.Part(pprof.TimeGC); gc >= liveDelay && gc >= max(u.Part(pprof.TimeRunning), u.Part(pprof.TimeRunnable), u.Part(pprof.TimeStopTheWorld))*6/5 {
			break
		}
		if u.Wall > 15*liveDelay {
			t.SetKind(liveFailed) // the collector wants little help
			break
		}
		for range 10 {
			liveGarbage.Store(new(liveNode))
		}
	}
	return func() {
		stop.Store(true)
		<-stopped
		debug.SetGCPercent(percent)
	}
}

func (s *service) faults(context.Context, *task.Task) func() {
	const size = 16 << 20
	for start := time.Now(); time.Since(start) < liveDelay; {
		b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			s.t.Error(err)
			break
		}
		for i := 0; i < size; i += 4096 {
			b[i] = 1
		}
		syscall.Munmap(b)
	}
	return nil
}

func (s *service) hogged(_ context.Context, t *task.Task) func() {
	var stop atomic.Bool
	var hogs sync.WaitGroup
	n := 0
	hog := func() {
		n++
		hogs.Add(1)
		s.jobs <- func() {
			for !stop.Load() {
			}
			hogs.Done()
		}
	}
	for range 4 * runtime.GOMAXPROCS(0) {
		hog()
	}
	s.in(t, pprof.TimeRunnable, func() {
		start := time.Now()
		runtime.Gosched()
		// Where other Ps have all hogs in their queues, a yield takes no time, and thousands of
		// them, with what they allocate to see how long they took, would plant running and page
		// faults, too. So this P gets another hog.
		if time.Since(start) < time.Millisecond && n < liveJobs() {
			hog()
		}
	})
	return func() {
		stop.Store(true)
		hogs.Wait()
	}
}

func (s *service) call(ctx context.Context, _ *task.Task) func() {
	_, c := task.NewClient(ctx, "GET /stock", "stock:80")
	defer c.End()
	answer := make(chan bool)
	s.jobs <- func() {
		time.Sleep(liveDelay)
		close(answer)
	}
	<-answer
	return nil
}

func (s *service) payload(context.Context, *task.Task) func() {
	s.size *= 100
	return nil
}

// liveSink keeps work from being optimized away.
var liveSink int

// request is one request. What a cause does is planted in it, unless it is nil.
func (s *service) request(c *liveCause) {
	ctx, t := task.New(context.Background(), "GET /")
	s.size = 990 + s.rnd.IntN(20)
	if c != nil {
		if after := c.do(s, ctx, t); after != nil {
			defer after()
		}
	}
	defer t.End()
	t.Note("size", strconv.Itoa(s.size))
	liveWork(s.size)
}

func liveWork(size int) {
	for i := range 1000 * size {
		liveSink += i & 3
	}
}

// compare does what a request does, and notes for how long that ran: without what the thread was
// without its CPU, if it was so for a millisecond or more. A record can't tell less from running.
func (s *service) compare() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start, cpu := time.Now(), threadTime(s.t)
	liveWork(s.size)
	cpu = threadTime(s.t) - cpu
	took := time.Since(start)
	if took-cpu >= time.Millisecond {
		took = cpu
	}
	s.took = append(s.took, took)
}

func threadTime(t *testing.T) time.Duration {
	const threadCPUTime = 3 // CLOCK_THREAD_CPUTIME_ID
	var ts syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, threadCPUTime, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		t.Fatal(errno)
	}
	return time.Duration(ts.Nano())
}

// slower returns by which part of p98 the median of the work that was compared is lower. Processors
// that share a core, or whose frequency changes, take more or less time for the same instructions.
func (s *service) slower() float64 {
	slices.Sort(s.took)
	n := len(s.took)
	return 1 - float64(s.took[n/2])/float64(s.took[n*98/100])
}

// collections returns how often the collector has run.
func collections() uint32 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NumGC
}

// run has the service answer so many requests, in 3 % of which there is a cause, and returns
// the report of their records.
//
// What is left of the setup and of other runs would decide whether the collector runs meanwhile,
// and it would be a cause that is not planted: on one CPU, it delays as many requests for as long
// as what is planted does. So it runs before, and then only where it is planted.
func (s *service) run(t *testing.T, c *liveCause, requests int) string {
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	if c == nil || c.names != "GC" {
		defer func(n uint32) {
			if n = collections() - n; n != 0 {
				t.Errorf("the collector ran %d times", n)
			}
		}(collections())
	}
	r := taskrecord.NewRingReader(false)
	s.took = s.took[:0]
	var b why.Builder
	for i, tries := 0, 0; i < requests; tries++ {
		if tries > 3*requests {
			t.Fatalf("%d requests after %d tries: %+v", i, tries, r.Stats())
		}
		if i%33 == 7 {
			s.request(c)
		} else {
			s.request(nil)
		}
		if s.compared {
			s.compare()
		}
		for rec := r.Next(); rec != nil; rec = r.Next() {
			if rec.Flags&taskrecord.Client == 0 && rec.Kind != liveFailed {
				b.AddTask(rec)
				i++
			}
		}
	}
	if n := r.Stats().Dropped; n != 0 {
		t.Errorf("%d records were lost", n)
	}
	rep, err := why.Analyze(b.Table("ms"), why.Params{P: 0.98})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	rep.WriteText(&text)
	return text.String()
}

// liveMachine are the causes that other programs on the machine are, and the one around it.
var liveMachine = []string{"runnable", "preempted"}

// livePercentile matches p98 of a report in ms.
var livePercentile = regexp.MustCompile(` p98 ([0-9.]+) ms`)

// liveMachineMakes matches a report's first line where it names one of these.
var liveMachineMakes = regexp.MustCompile(`^(no event makes the tail, but )?(` + strings.Join(liveMachine, "|") + `) `)

// liveSeveral matches a report's first line where it names several causes.
var liveSeveral = regexp.MustCompile(`^(one of )?(.*?) (makes the tail, and no rule says which|make the tail together): `)

// leads reports whether a report names an event as the first cause. Where the machine need not
// be quiet, its causes may come before it, or leave nothing of the tail to others: where it
// often takes the CPU for longer than what is planted takes, that is the truth.
func leads(report, event string, quiet bool) bool {
	first, _, _ := strings.Cut(report, "\n")
	if strings.HasPrefix(first, event+" makes the tail: ") {
		return true
	}
	if m := liveSeveral.FindStringSubmatch(first); m != nil {
		return !quiet && only(m[2], event, m[1] == "")
	}
	if quiet || !liveMachineMakes.MatchString(first) {
		return false
	}
	_, table, _ := strings.Cut(report, "\nevent ")
	_, table, _ = strings.Cut(table, "\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for line := range strings.Lines(table) {
		name, _, _ := strings.Cut(line, "  ")
		if !slices.Contains(liveMachine, name) {
			return name == event
		}
	}
	return true
}

// madeByMachine reports whether a report has no cause that the machine is not, if it need not be quiet.
func madeByMachine(report string, quiet bool) bool {
	if first, _, _ := strings.Cut(report, "\n"); liveSeveral.MatchString(first) {
		return leads(report, "", quiet)
	}
	return !quiet && liveMachineMakes.MatchString(report)
}

// ranSlower has a report name preempted in place of running, if the machine ran the same work slower at
// times: by at least half of what the report says.
func ranSlower(report string, by float64) string {
	part := 0.2
	if m := livePart.FindStringSubmatch(report); m != nil {
		percent, _ := strconv.ParseFloat(m[1], 64)
		part = percent / 100
	}
	if by < part/2 {
		return report
	}
	return strings.ReplaceAll(report, "running", "preempted")
}

// livePart matches by how much p98 is lower without the requests that have the cause.
var livePart = regexp.MustCompile(`^.*: ([0-9.]+) % less\n`)

// only reports whether names of a list, in words, are only an event and what the machine does.
// What it takes within less than a millisecond may pass for running. So running may be there
// if preempted is, and no rule says which of them it was.
func only(names, event string, sure bool) bool {
	list := strings.Split(strings.ReplaceAll(names, " and ", ", "), ", ")
	return !slices.ContainsFunc(list, func(name string) bool {
		taken := name == "running" && !sure && slices.Contains(list, "preempted")
		return name != event && !taken && !slices.Contains(liveMachine, name)
	})
}

// TestLeads tests which reports leads accepts.
func TestLeads(t *testing.T) {
	const report = `%s makes the tail: p98 is 29.8 ms, and 8.65 ms without

1000 requests: p50 2.7 ms, p90 6.96 ms, p98 29.8 ms, slowest 295 ms

By how much p98 is lower without requests in which an event is high:

event        lower by  part   95 of 100      high in  of    above
%-11s  21.1 ms   71 %%   56 %% to 75 %%   246      1000  2.72 ms
%-11s  12 ms     40 %%   20 %% to 62 %%   31       1000  0
syscall      1.94 ms   6.5 %%  0.0 %% to 25 %%  31       1000  0 ms

What describes slow requests:
`
	for _, tt := range []struct {
		first, second string
		quiet, leads  bool
	}{
		{"page-faults", "running", true, true},
		{"page-faults", "syscall", false, true},
		{"running", "page-faults", true, false},
		{"running", "page-faults", false, false},
		{"runnable", "page-faults", true, false},
		{"runnable", "page-faults", false, true},
		{"preempted", "page-faults", false, true},
		{"mutex", "page-faults", false, false},
		{"runnable", "mutex", false, false},
		{"runnable", "preempted", false, false}, // as syscall is next
	} {
		if got := leads(fmt.Sprintf(report, tt.first, tt.first, tt.second), "page-faults", tt.quiet); got != tt.leads {
			t.Errorf("%s before %s, quiet %v: %v", tt.first, tt.second, tt.quiet, got)
		}
	}
	for report, want := range map[string]bool{
		"no cause found\n": false,
		"no event makes the tail, but running >= 19.8 ms describes slow requests\n":                    false,
		"no event makes the tail, but preempted >= 19.8 ms describes slow requests\n":                  true,
		"no event makes the tail, but mutex >= 19.8 ms describes slow requests\n":                      false,
		"running makes the tail: p98 is 9 ms\n\nevent    lower by\nrunning  21.1 ms\n\nRuled out:\n":   false,
		"runnable makes the tail: p98 is 9 ms\n\nevent    lower by\nrunnable  21.1 ms\n\nRuled out:\n": true,
		"page-faults and running make the tail together: p98 is 9 ms\n":                                false,
		"page-faults and preempted make the tail together: p98 is 9 ms\n":                              true,
		"runnable, page-faults and preempted make the tail together: p98 is 9 ms\n":                    true,
		"runnable and preempted make the tail together: p98 is 9 ms\n":                                 true,
		"page-faults and mutex make the tail together: p98 is 9 ms\n":                                  false,
		"running and mutex make the tail together: p98 is 9 ms\n":                                      false,
		"one of page-faults, preempted makes the tail, and no rule says which: p98 is 9 ms\n":          true,
		"one of preempted, running makes the tail, and no rule says which: p98 is 9 ms\n":              true,
		"one of page-faults, running makes the tail, and no rule says which: p98 is 9 ms\n":            false,
		"one of page-faults, mutex makes the tail, and no rule says which: p98 is 9 ms\n":              false,
	} {
		if machine := madeByMachine(report, false); machine && strings.Contains(report, "mutex") || madeByMachine(report, true) {
			t.Errorf("%q: made by the machine, %v, or by a quiet one", report, machine)
		}
		if leads(report, "page-faults", false) != want || leads(report, "page-faults", true) {
			t.Errorf("%q: not %v, or not false on a quiet machine", report, want)
		}
	}
}

// TestRanSlower tests that only as much running is accepted as the machine made.
func TestRanSlower(t *testing.T) {
	const (
		running = "running makes the tail: p98 is 0.799 ms, and 0.346 ms without the 335 requests in which it is above 0.345 ms: 57 % less\n"
		mutex   = "mutex makes the tail: p98 is 0.799 ms, and 0.346 ms without the 335 requests in which it is above 0.345 ms: 57 % less\n\nrunning\n"
		alone   = "no event makes the tail, but running >= 19.8 ms describes slow requests\n"
	)
	for _, tt := range []struct {
		report string
		by     float64
		want   bool
	}{{running, 0.5, true}, {running, 0.3, true}, {running, 0.28, false}, {alone, 0.11, true}, {alone, 0.09, false}, {mutex, 0.5, false}} {
		if got := madeByMachine(ranSlower(tt.report, tt.by), false); got != tt.want {
			t.Errorf("%.2f slower: %v, want %v: %s", tt.by, got, tt.want, tt.report)
		}
	}
	s := &service{}
	for i := range 100 {
		s.took = append(s.took, time.Duration(1000-10*(i%10)+1000*(i/90)))
	}
	if got := s.slower(); got < 0.51 || got > 0.53 {
		t.Errorf("slower by %v, want 0.51 to 0.53", got)
	}
}

// How many events are counted at once, and for how long, in package runtime/task.
//
//go:linkname turnSize runtime/task.turnSize
var turnSize int

//go:linkname turnEpoch runtime/task.turnEpoch
var turnEpoch time.Duration

// TestLive tests that causes that are planted in a service are named first, by what tasks have
// recorded. PMU_TEST_LIVE is how often each is. On a quiet machine, which the emulated one is,
// nothing else may be named, and elsewhere only what the machine does.
func TestLive(t *testing.T) {
	if race.Enabled {
		t.Skip("what takes time without the race detector is little beside it")
	}
	if testing.Short() {
		t.Skip("other tests that run at the same time are a cause, too")
	}
	runs := 2
	if s := os.Getenv("PMU_TEST_LIVE"); s != "" {
		var err error
		if runs, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	quiet := strings.Contains(os.Getenv("PMU_TEST_REQUIRE"), "quiet")
	config := task.Config{Rate: 1}
	c, noCounters := pprof.OpenCounters("page-faults")
	if noCounters == nil {
		c.Close()
		config.Events = []string{"page-faults"}
	} else if strings.Contains(os.Getenv("PMU_TEST_REQUIRE"), "root") {
		t.Fatalf("root is required here: %v", noCounters)
	}
	if err := task.Start(config); err != nil {
		t.Fatal(err)
	}
	defer task.Stop()
	s := &service{t: t, rnd: rand.New(rand.NewPCG(1, 1)), jobs: make(chan func())}
	defer close(s.jobs)
	for range liveJobs() {
		go func() {
			for f := range s.jobs {
				f()
			}
		}()
	}
	for range 8 << 10 { // 64 MB
		s.heap = append(s.heap, new(liveNode))
	}
	for _, n := range s.heap {
		for i := range n {
			n[i] = s.heap[s.rnd.IntN(len(s.heap))]
		}
	}
	for i := range liveCauses {
		c := &liveCauses[i]
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			if c.names == "page-faults" && noCounters != nil {
				t.Skip(noCounters)
			}
			s.t = t
			for range runs {
				if got := s.run(t, c, liveRequests); !leads(got, c.names, quiet) {
					t.Errorf("want %s:\n%s", c.names, got)
				} else {
					first, _, _ := strings.Cut(got, "\n")
					t.Log(first)
				}
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		s.t = t
		none := 0
		s.compared = !quiet
		defer func() { s.compared = false }()
		for range runs {
			got := s.run(t, nil, liveRequests)
			judged := got
			if s.compared {
				judged = ranSlower(got, s.slower())
			}
			switch {
			case strings.HasPrefix(got, "no cause found"):
				none++
			case !madeByMachine(judged, quiet):
				t.Errorf("nothing is planted:\n%s", got)
				if s.compared {
					t.Logf("the same work ran %.0f %% slower at times", 100*s.slower())
				}
			default:
				t.Log(got)
			}
		}
		t.Logf("no cause found in %d runs of %d", none, runs)
	})
	// Page faults are found, too, if they are counted in turn with other events.
	t.Run("turns", func(t *testing.T) {
		if noCounters != nil {
			t.Skip(noCounters)
		}
		s.t = t
		defer func(size int, epoch time.Duration) { turnSize, turnEpoch = size, epoch }(turnSize, turnEpoch)
		turnSize, turnEpoch = 2, liveDelay*15
		for n := 0; n < runs; n++ {
			config := task.Config{Rate: 1, Events: []string{"page-faults", "major-faults", "alignment-faults"}}
			if err := task.Start(config); err != nil {
				t.Fatal(err)
			}
			got := s.run(t, &liveCauses[2], 2*liveRequests)
			first, _, _ := strings.Cut(got, "\n")
			t.Log(first)
			if !strings.Contains(got, "3 events were recorded in some requests only") {
				t.Errorf("events were not counted in turn:\n%s", got)
			}
			if leads(got, "page-faults", quiet) {
				continue
			}
			// Epochs have to be much longer than slow requests, or these are mostly in two, and so
			// not counted.
			if m := livePercentile.FindStringSubmatch(got); m != nil && turnEpoch < liveDelay*100 {
				if ms, err := strconv.ParseFloat(m[1], 64); err == nil && ms > float64(turnEpoch/time.Millisecond)/10 {
					turnEpoch *= 2
					n--
					continue
				}
			}
			t.Errorf("want page-faults:\n%s", got)
		}
	})
	runtime.KeepAlive(s.heap)
}
