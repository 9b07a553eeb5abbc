// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package latency

import (
	"bytes"
	"cmd/pmu/internal/prof"
	"cmd/pmu/internal/slow"
	"fmt"
	"internal/profile"
	"internal/taskrecord"
	"math/rand"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

// A world makes records of requests, and samples of what they execute.
type world struct {
	r         *rand.Rand
	p         *profile.Profile
	comments  []string
	functions map[string]*profile.Location
	records   []*taskrecord.Record
}

func newWorld(seed int64) *world {
	return &world{
		r: rand.New(rand.NewSource(seed)),
		p: &profile.Profile{
			SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "task_clock", Unit: "nanoseconds"}},
			Period:     1e6,
			TimeNanos:  1_800_000_000_000_000_000, DurationNanos: 1e10,
		},
		comments:  []string{"event: task-clock", "period: 1000000 ns"},
		functions: make(map[string]*profile.Location),
	}
}

// sample adds a time on a CPU, by stack: outermost function first.
func (w *world) sample(kind, verdict, stack string, d time.Duration) {
	s := &profile.Sample{Value: []int64{int64(d / ms), int64(d)}, Label: map[string][]string{"task": {kind}, "slow": {verdict}}}
	for name := range strings.SplitSeq(stack, ";") {
		l := w.functions[name]
		if l == nil {
			f := &profile.Function{ID: uint64(len(w.p.Function) + 1), Name: name}
			l = &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}}
			w.p.Function, w.p.Location = append(w.p.Function, f), append(w.p.Location, l)
			w.functions[name] = l
		}
		s.Location = append([]*profile.Location{l}, s.Location...)
	}
	w.p.Sample = append(w.p.Sample, s)
}

// requests adds how many requests the samples of a kind are of.
func (w *world) requests(kind string, usual, slow int) {
	w.comments = append(w.comments, fmt.Sprintf("requests: %d usual, %d slow, of kind %q", usual, slow, kind))
}

// clock returns the clock of the profile.
func (w *world) clock(t *testing.T) *slow.Clock {
	t.Helper()
	var plain, full bytes.Buffer
	if err := w.p.Write(&plain); err != nil {
		t.Fatal(err)
	}
	f, err := prof.Read(&plain)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.WriteLabeled(&full, "none", func(int) string { return "" }, w.comments...); err != nil {
		t.Fatal(err)
	}
	p, err := slow.Read(&full, slow.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.Clock()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// record adds the record of a request of one goroutine, with what it waited for.
func (w *world) record(kind string, slow bool, parts map[taskrecord.Part]time.Duration, waits ...taskrecord.Stretch) *taskrecord.Record {
	t := &taskrecord.Record{Kind: kind, Goroutine: 1, Goroutines: 1}
	for p, d := range parts {
		t.Parts[p] = d
		t.Wall += d
	}
	if slow {
		t.Flags = taskrecord.Slow
		at := time.Duration(0)
		for _, s := range waits {
			s.Goroutine = 1
			s.Start, s.Wake, s.End = at, at+s.Wake, at+s.Wake
			at = s.End
			t.Timeline = append(t.Timeline, s)
		}
	}
	w.records = append(w.records, t)
	return t
}

// kinds returns the kinds, whose sums are checked.
func (w *world) kinds(t *testing.T, c *slow.Clock) []*Kind {
	t.Helper()
	var b Builder
	wall := make(map[string]*[groups]time.Duration)
	running := make(map[string]*[groups]time.Duration)
	for _, x := range w.records {
		n := &taskrecord.Node{Task: x, Call: -1}
		if err := b.Add(n); err != nil {
			t.Fatal(err)
		}
		if wall[x.Kind] == nil {
			wall[x.Kind], running[x.Kind] = new([groups]time.Duration), new([groups]time.Duration)
		}
		g := isUsual
		if x.Flags&taskrecord.Slow != 0 {
			g = isSlow
		}
		wall[x.Kind][g] += max(0, x.Wall)
		running[x.Kind][g] += n.Latency(nil)[0].Parts[pprof.TimeRunning]
	}
	list, left := b.Kinds()
	if left != 0 || len(list) != len(wall) {
		t.Fatalf("%d kinds, and %d requests left; want %d", len(list), left, len(wall))
	}
	for _, k := range list {
		for range 2 { // before and after the samples
			if k.tree.root.time != *wall[k.Name] {
				t.Fatalf("kind %s: %v, want %v", k.Name, k.tree.root.time, *wall[k.Name])
			}
			balanced(t, k.tree.root)
			if k.run != nil && k.run.time != *running[k.Name] || k.run == nil && *running[k.Name] != [groups]time.Duration{} {
				t.Fatalf("kind %s: running %v, want %v", k.Name, k.run, *running[k.Name])
			}
			if c == nil || k.clock != "" {
				break
			}
			k.Divide(c)
		}
	}
	return list
}

func (n *node) root() *node {
	for n.up != nil {
		n = n.up
	}
	return n
}

// balanced tests that each node has what it has itself, and what is below it.
func balanced(t *testing.T, n *node) {
	t.Helper()
	sum := n.own
	for _, kid := range n.kids {
		balanced(t, kid)
		for g := range groups {
			sum[g] += kid.time[g]
		}
	}
	for g := range groups {
		if n.own[g] < 0 || sum[g] != n.time[g] {
			t.Fatalf("%s: %v; it has %v itself, and %v in sum", n.name, n.time, n.own, sum)
		}
		if most, all := n.atMost(g), n.root().time[g]; most < n.time[g] || most > all {
			t.Fatalf("%s: %v, and at most %v, of %v", n.name, n.time[g], most, all)
		}
	}
}

// TestBalance has thousands of records, of any sums and timelines, and samples of any stacks: parts and stacks of each
// kind are its latency in sum, exactly, and what it ran for is what it executes, or not known.
func TestBalance(t *testing.T) {
	n := 300
	if testing.Short() {
		n = 20 // 4,000 records
	}
	records, known, unknown := 0, 0, 0
	for seed := range int64(n) {
		w := newWorld(seed)
		length := func() time.Duration { return time.Duration(w.r.Int63n(1 << w.r.Intn(34))) }
		kinds := []string{"a", "b", "c"}
		for range 200 {
			x := w.record(kinds[w.r.Intn(3)], w.r.Intn(3) == 0, nil)
			x.Wall = length()
			x.Goroutines = int64(1 + w.r.Intn(3))
			x.Ender.Goroutine = uint64(1 + w.r.Intn(3))
			for p := range x.Parts {
				if w.r.Intn(3) == 0 {
					x.Parts[p], x.Ender.Parts[p] = length(), length()
				}
			}
			for range w.r.Intn(8) {
				at := []time.Duration{length(), length(), length()}
				slices.Sort(at)
				x.Timeline = append(x.Timeline, taskrecord.Stretch{
					Goroutine: uint64(1 + w.r.Intn(3)), Part: taskrecord.Part(w.r.Intn(int(taskrecord.NumParts))), Start: at[0], Wake: at[1], End: at[2],
					Reason: []string{"", "chan receive", notKnown, "latency"}[w.r.Intn(4)], Stack: []taskrecord.Frame{{Func: "main.f"}, {}}[w.r.Intn(3)%2:],
					Waker: taskrecord.Waker{Goroutine: uint64(w.r.Intn(4)), Kind: []string{"", "flush"}[w.r.Intn(2)]}, Stopped: length(), Behind: length(), BehindKind: "hog",
				})
			}
			records++
		}
		for _, kind := range kinds[:w.r.Intn(4)] {
			for range w.r.Intn(20) {
				stack := []string{"main;f", "main;f;g", "main;syscall.Syscall;x", "main;" + notKnown, "main;running"}[w.r.Intn(5)]
				w.sample(kind, []string{"yes", "no", "unknown"}[w.r.Intn(3)], stack, 1+length())
			}
			if w.r.Intn(3) > 0 {
				w.requests(kind, w.r.Intn(100), w.r.Intn(100))
			}
		}
		w.sample("other", "no", "main", ms)
		for _, k := range w.kinds(t, w.clock(t)) {
			if k.run != nil && k.run.unknown != nil {
				unknown++
			}
			if k.run != nil && len(k.run.kids) > 1 {
				known++
			}
		}
	}
	t.Logf("%d records; samples in %d kinds, and not known in %d", records, known, unknown)
	if known < n/2 || unknown < n/2 {
		t.Error("too few of one sort")
	}
}

// text returns rows in short: the slow request's and the usual one's time in ms, and what it is.
func text(k *Kind) (list []string) {
	for _, r := range k.Rows() {
		s := fmt.Sprintf("%v %v", float64(r.Slow)/1e6, float64(r.Usual)/1e6)
		if r.AtMost {
			s += " at most"
		}
		list = append(list, s+" "+r.Part+": "+strings.Join(r.Stack, " < "))
	}
	return list
}

func equal(t *testing.T, name string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestPlanted has requests, some of them slow, for one reason: that is what they have more of, in the right numbers.
// All run for 2 ms in parse, and wait for 1 ms for the network.
func TestPlanted(t *testing.T) {
	lock := taskrecord.Stretch{Part: pprof.TimeMutex, Reason: "sync.Mutex.Lock", Wake: 20 * ms,
		Stack: []taskrecord.Frame{{Func: "sync.(*Mutex).Lock"}, {Func: "main.load"}}, Waker: taskrecord.Waker{Goroutine: 9, Kind: "flush"}}
	for _, tt := range []struct {
		name   string
		parts  map[taskrecord.Part]time.Duration // of slow ones, besides
		waits  []taskrecord.Stretch
		sample string
		want   []string
	}{
		{"mutex", map[taskrecord.Part]time.Duration{pprof.TimeMutex: 20 * ms}, []taskrecord.Stretch{lock}, "", []string{
			"23 3.25 latency: ",
			"20 0.25 mutex: ", `20 0.25 at most mutex: ended by task "flush" < sync.(*Mutex).Lock < main.load < sync.Mutex.Lock`,
			"1 1 network: ", "2 2 running: "}},
		{"computing", map[taskrecord.Part]time.Duration{pprof.TimeRunning: 20 * ms}, nil, "main;load;refill", []string{
			"23 3.25 latency: ",
			"22 2 running: ", "20 0 running: refill < load < main",
			"1 1 network: ", "0 0.25 mutex: "}},
	} {
		for run := range int64(20) {
			w := newWorld(run)
			nSlow := 5 + w.r.Intn(10)
			for i := range 100 * nSlow {
				parts := map[taskrecord.Part]time.Duration{pprof.TimeRunning: 2 * ms, pprof.TimeNetwork: 1 * ms}
				isSlow, verdict := i%100 == 0, "no"
				if isSlow {
					verdict = "yes"
					for p, d := range tt.parts {
						parts[p] += d
					}
					if tt.sample != "" {
						w.sample("GET /", verdict, tt.sample, 20*ms)
					}
				} else {
					parts[pprof.TimeMutex] = 250 * time.Microsecond // no one knows where
				}
				w.sample("GET /", verdict, "main;parse", 2*ms)
				if isSlow || w.r.Intn(10) == 0 { // by the rate
					w.record("GET /", isSlow, parts, tt.waits...)
				}
			}
			w.requests("GET /", 99*nSlow, nSlow)
			list := w.kinds(t, w.clock(t))
			equal(t, fmt.Sprint(tt.name, run), text(list[0]), tt.want...)
			if t.Failed() {
				return
			}
		}
	}
}

const kind = "GET /"

// conversions are samples, and what is made of them for two requests that have run for 10 ms each.
var conversions = []struct {
	name    string
	make    func(w *world)
	want    string // rows of running
	note    string
	without string
}{
	{"half of them have records", func(w *world) {
		w.sample(kind, "yes", "main;a", 30*ms)
		w.sample(kind, "yes", "main;b", 10*ms)
		w.requests(kind, 0, 4)
	}, "10 a;7.5 a < main;2.5 b < main", "", "all goroutines"},
	{"some of it has no sample", func(w *world) {
		w.sample(kind, "yes", "main;a", 30*ms)
		w.requests(kind, 0, 4)
	}, "10 a;7.5 a < main;2.5 not known", "", "divided"},
	{"side by side", func(w *world) {
		w.sample(kind, "yes", "main;a", 90*ms)
		w.sample(kind, "yes", "main;b", 30*ms)
		w.requests(kind, 0, 4)
	}, "10 a;7.5 a < main;2.5 b < main", "all goroutines of a slow request have run for 30 ms, and the ends of those that were recorded had to wait for 10 ms of running.", ""},
	{"of children, too", func(w *world) {
		w.sample(kind, "yes", "main;a", 90*ms)
		w.sample(kind, "yes", "main;b", 30*ms)
	}, "10 a;7.5 a < main;2.5 b < main", "does not say of how many slow requests", ""},
	{"other requests", func(w *world) {
		w.sample(kind, "no", "main;a", 90*ms)
		w.sample("other", "yes", "main;a", 90*ms)
		w.requests(kind, 4, 4)
	}, "10 a;10 not known", "no sample of a slow request that runs", ""},
	{"system calls, C and the collector", func(w *world) {
		w.sample(kind, "yes", "main;a", 40*ms)
		w.sample(kind, "yes", "main;write;syscall.Syscall;syscall.RawSyscall6", 8*ms)
		w.sample(kind, "yes", "main;syscall.Syscall6;[kernel]", 8*ms)
		w.sample(kind, "yes", "main;runtime.cgocall;f", 8*ms)
		w.sample(kind, "yes", "main;runtime.mallocgc;runtime.gcAssistAlloc;g", 8*ms)
		w.requests(kind, 0, 4)
	}, "10 a;10 a < main", "Of a slow request 8 ms on a CPU are in no stack here", ""},
	{"called by C, and a raw system call", func(w *world) {
		w.sample(kind, "yes", "main;runtime.cgocall;f;runtime.cgocallbackg;a", 20*ms)
		w.sample(kind, "yes", "main;b;syscall.RawSyscall6", 20*ms)
		w.requests(kind, 0, 4)
	}, "10 a;5 a < runtime.cgocallbackg < f < runtime.cgocall < main;5 syscall.RawSyscall6 < b < main", "", "in no stack"},
}

// TestRunning tests how samples are converted: of so many requests, as many as have records.
func TestRunning(t *testing.T) {
	for _, tt := range conversions {
		w := newWorld(1)
		for range 2 {
			w.record(kind, true, map[taskrecord.Part]time.Duration{pprof.TimeRunning: 10 * ms})
		}
		tt.make(w)
		w.sample("x", "no", "main", ms)
		k := w.kinds(t, w.clock(t))[0]
		var got []string
		for _, r := range k.Rows()[1:] {
			name := strings.Join(r.Stack, " < ")
			if name == "" {
				name = "a"
			}
			got = append(got, fmt.Sprintf("%v %s", float64(r.Slow)/1e6, name))
		}
		equal(t, tt.name, got, strings.Split(tt.want, ";")...)
		notes := strings.Join(k.Notes(), "\n")
		if !strings.Contains(notes, tt.note) || tt.without != "" && strings.Contains(notes, tt.without) {
			t.Errorf("%s: notes\n%s", tt.name, notes)
		}
	}
}
