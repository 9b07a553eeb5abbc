// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"internal/taskrecord"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"
)

const testMs = time.Millisecond

// A fleet makes up the records of requests on several servers, whose clocks differ.
type fleet struct {
	r       *rand.Rand
	servers []*taskrecord.Server
	skew    []time.Duration
	slow    time.Duration // from here on a task has a timeline
	spans   uint64
	trace   taskrecord.TraceID
	files   [][]*taskrecord.Record
	address string // of all servers; "" for each its own
}

func newFleet(seed uint64, names ...string) *fleet {
	f := &fleet{r: rand.New(rand.NewPCG(seed, 40)), slow: 25 * testMs, files: make([][]*taskrecord.Record, len(names))}
	for i, name := range names {
		f.servers = append(f.servers, &taskrecord.Server{PID: i + 1, Name: name, Start: 1})
		f.skew = append(f.skew, time.Duration(f.r.Int64N(4e9)-2e9))
	}
	return f
}

// A job is what a server does for a call: it runs, waits for a mutex, calls others, all at a time or one
// after the other, and runs again.
type job struct {
	server         int
	kind           string
	running, mutex time.Duration
	beside         time.Duration // for which a goroutine runs that nobody waits for
	region         string        // which that one is in
	calls          []job
	parallel       bool
	audit          *job // a call that nobody waits for
}

// around is d, give or take a tenth.
func (f *fleet) around(d time.Duration) time.Duration {
	return d - d/10 + time.Duration(f.r.Int64N(int64(d/5)+1))
}

func (f *fleet) span() (s taskrecord.SpanID) {
	f.spans++
	binary.BigEndian.PutUint64(s[:], f.spans)
	return s
}

// reader is the goroutine that reads connections.
var reader = taskrecord.Waker{Goroutine: 900, Stack: []taskrecord.Frame{{Func: "net/http.(*persistConn).readLoop"}}}

// do adds the record of a job that begins at a time, and returns when it ends.
//
// It is long because a record has each thing in several places: sums, a timeline and calls.
func (f *fleet) do(j *job, parent taskrecord.SpanID, start time.Duration) time.Duration {
	t := &taskrecord.Record{Server: f.servers[j.server], Trace: f.trace, Span: f.span(), Parent: parent, Kind: j.kind,
		Flags: taskrecord.Sampled, Start: 1_800_000_000e9 + int64(start+f.skew[j.server]), Goroutine: 1, Goroutines: 1, Ender: taskrecord.Ender{Goroutine: 1}}
	if !parent.IsZero() {
		t.Flags |= taskrecord.ServerOf
	}
	now := start
	run := func(goroutine uint64, d time.Duration) {
		t.Parts[pprof.TimeRunning] += d
		if goroutine == 1 {
			t.Ender.Parts[pprof.TimeRunning] += d
			now += d
		}
	}
	wait := func(goroutine uint64, part taskrecord.Part, from, to time.Duration, w taskrecord.Waker) {
		t.Parts[part] += to - from
		if goroutine == 1 {
			t.Ender.Parts[part] += to - from
		}
		t.Timeline = append(t.Timeline, taskrecord.Stretch{Goroutine: goroutine, Part: part, Start: from - start, Wake: to - start, End: to - start, Waker: w})
	}
	call := func(goroutine uint64, c *job, from time.Duration) (to time.Duration) {
		x := taskrecord.Call{Span: f.span(), Kind: "POST " + c.kind, Flags: taskrecord.Client, Start: from - start, Remote: f.servers[c.server].Name + ":80", Goroutine: goroutine, Ender: goroutine}
		if f.address != "" {
			x.Remote = f.address
		}
		to = f.do(c, x.Span, from+f.around(100*time.Microsecond)) + f.around(100*time.Microsecond)
		x.Wall = to - from
		t.Calls = append(t.Calls, x)
		return to
	}
	run(1, f.around(j.running))
	if j.audit != nil {
		from := now
		wait(90, pprof.TimeSelect, from, call(90, j.audit, from), reader)
		t.Goroutines++
	}
	if j.beside > 0 {
		run(91, j.beside)
		t.Goroutines++
		t.Regions = append(t.Regions, taskrecord.RegionSum{Name: j.region, N: 1, Wall: j.beside})
		t.Timeline = append(t.Timeline, taskrecord.Stretch{Goroutine: 91, Region: j.region, Start: now - start, Wake: now - start + j.beside, End: now - start + j.beside})
		wait(91, pprof.TimeSleep, now+j.beside, now+j.beside+testMs, taskrecord.Waker{})
	}
	if j.mutex > 0 {
		wait(1, pprof.TimeMutex, now, now+j.mutex, taskrecord.Waker{Goroutine: 700, Span: taskrecord.SpanID{1}, Kind: "other"})
		now += j.mutex
	}
	if j.parallel {
		var last time.Duration
		var by uint64
		for i := range j.calls {
			to := call(uint64(i+2), &j.calls[i], now)
			wait(uint64(i+2), pprof.TimeSelect, now, to, reader)
			if to > last {
				last, by = to, uint64(i+2)
			}
			t.Goroutines++
		}
		wait(1, pprof.TimeSync, now, last, taskrecord.Waker{Goroutine: by, Span: t.Span, Kind: t.Kind})
		now = last
	} else {
		for i := range j.calls {
			to := call(1, &j.calls[i], now)
			wait(1, pprof.TimeSelect, now, to, reader)
			now = to
			run(1, f.around(50*time.Microsecond))
		}
	}
	run(1, f.around(j.running))
	t.Wall = now - start
	slices.SortStableFunc(t.Calls, func(a, b taskrecord.Call) int { return int(a.Start - b.Start) })
	slices.SortStableFunc(t.Timeline, func(a, b taskrecord.Stretch) int { return int(a.Start - b.Start) })
	if t.Wall > f.slow {
		t.Flags |= taskrecord.Slow
	} else {
		t.Timeline = nil
	}
	t.Events = []string{"instructions", "cycles"}
	n := uint64(t.Parts[pprof.TimeRunning])
	t.Count = []pprof.CounterValue{{Value: 2 * n}, {Value: 3*n + uint64(f.r.IntN(1e5))}}
	t.Notes = append(t.Notes, taskrecord.Note{Key: "items", Value: fmt.Sprint(f.r.IntN(9))})
	f.files[j.server] = append(f.files[j.server], t)
	return now
}

// run adds requests, and returns the names of files of them, one for each server.
func (f *fleet) run(t *testing.T, n int, plan func(i int) *job) (files []string) {
	t.Helper()
	for i := range n {
		binary.BigEndian.PutUint64(f.trace[:], uint64(i+1))
		f.do(plan(i), taskrecord.SpanID{}, time.Duration(i)*time.Second)
	}
	for _, list := range f.files {
		if len(list) > 0 {
			files = append(files, write(t, fileOf(t, list)))
		}
	}
	return files
}

// chain is five servers of which each calls the next one. The last one waits for a mutex.
func chain(mutex time.Duration) *job {
	j := &job{4, "write", 2 * testMs, mutex, 0, "", nil, false, nil}
	for i := range 4 {
		j = &job{3 - i, "write", testMs, 0, 0, "", []job{*j}, false, nil}
	}
	j.kind = "GET /"
	return j
}

// fanOut is one that calls four others at a time, of which the last one waits for a mutex.
func fanOut(mutex time.Duration) *job {
	j := &job{0, "GET /", 2 * testMs, 0, 0, "", nil, true, nil}
	for i := range 4 {
		j.calls = append(j.calls, job{i + 1, "write", 2 * testMs, 0, 0, "", nil, false, nil})
	}
	j.calls[3].mutex = mutex
	return j
}

// rare is d in one of 30 requests.
func rare(i int, d time.Duration) time.Duration {
	if i%30 == 7 {
		return d
	}
	return 0
}

var fleetNames = []string{"front", "backup2", "backup3", "backup4", "backup5", "audit"}

// joinedReport returns the first line of the report of files, and the rest.
func joinedReport(t *testing.T, files []string, errs string) (first, rest string) {
	t.Helper()
	status, got, e := call(append([]string{"-p", "0.98", "-kind", "GET /"}, files...)...)
	if status != 0 || e != errs {
		t.Errorf("status %d, messages\n%swant\n%s", status, e, errs)
	}
	first, rest, _ = strings.Cut(got, "\n")
	rest, _, _ = strings.Cut(rest, "\nTo look")
	return first, rest
}

// TestJoinedBeside tests that what nobody waits for is not the cause, where it is slow in the same requests: a
// goroutine, and a call. Requests are slow for a mutex on another server.
func TestJoinedBeside(t *testing.T) {
	for _, timelines := range []bool{true, false} {
		f := newFleet(2, fleetNames...)
		if !timelines {
			f.slow = time.Hour
		}
		files := f.run(t, 1500, func(i int) *job {
			j := fanOut(rare(i, f.around(40*testMs)))
			j.parallel = false
			j.audit = &job{5, "audit", testMs, testMs + rare(i, f.around(60*testMs)), 0, "", nil, false, nil}
			j.calls[2].beside, j.calls[2].region = testMs+rare(i, f.around(80*testMs)), "index"
			if timelines {
				j.beside, j.region = testMs+rare(i, f.around(45*testMs)), "log"
			}
			return j
		})
		first, rest := joinedReport(t, files, "")
		want := "mutex on backup5 (write) makes the tail: p98 is "
		if !timelines {
			// One of two calls that went on side by side.
			want = "call not known makes the tail: p98 is "
		}
		if !strings.HasPrefix(first, want) {
			t.Errorf("timelines %v: %s, want %s\n%s", timelines, first, want, rest)
		}
		if timelines {
			contains(t, "report", rest, "no step: region log\n", "high in slow requests, but cost, and no part of the latency: cost running (64 %), cost running on backup4 (write) (64 %)",
				": mutex on backup5 (write) >= ")
		}
	}
}

// TestJoinedMissing tests that what is not known is said to be so, if there are not all records of a server.
func TestJoinedMissing(t *testing.T) {
	for _, tt := range []struct {
		name string
		kept func(i int, slow bool) bool
		want string
		n    int // requests without a record
	}{
		{"some", func(i int, slow bool) bool { return i%5 != 0 }, "mutex on backup5 (write) makes the tail: p98 is ", 300},
		// It is not known that the mutex is why.
		{"slow ones", func(i int, slow bool) bool { return !slow }, "call POST write of backup5 makes the tail: p98 is ", 50},
	} {
		f := newFleet(3, fleetNames...)
		for i := range 1500 {
			binary.BigEndian.PutUint64(f.trace[:], uint64(i+1))
			mutex := rare(i, f.around(40*testMs))
			f.do(fanOut(mutex), taskrecord.SpanID{}, time.Duration(i)*time.Second)
			if list := f.files[4]; !tt.kept(i, mutex > 0) {
				f.files[4] = list[:len(list)-1]
			}
		}
		files := f.run(t, 0, nil)
		checkRows(t, files, func(i int) bool { return tt.kept(i, rare(i, 1) > 0) })
		first, rest := joinedReport(t, files, fmt.Sprintf("pmu why: in %d requests there is no record of what worked on \"call POST write of backup5\": what it did is not known there\n", tt.n))
		if !strings.HasPrefix(first, tt.want) {
			t.Errorf("%s: %s, want %s\n%s", tt.name, first, tt.want, rest)
		}
	}
}

// checkRows checks that times of a row are its latency in sum, and that nothing is said of a server whose record is
// missing.
func checkRows(t *testing.T, files []string, kept func(i int) bool) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "rows")
	if status, _, errs := call(append([]string{"-rows", name}, files...)...); status != 0 {
		t.Fatal(errs)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) != 1500 {
		t.Fatalf("%d rows", len(lines))
	}
	part := regexp.MustCompile(`^(way of |[a-zA-Z-]+$|[a-zA-Z-]+ on backup)`)
	for i, line := range lines {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		sum, of5 := 0.0, 0
		for name, v := range row {
			v, ok := v.(float64)
			if strings.Contains(name, "backup5") && !strings.HasPrefix(name, "call ") {
				of5++
			}
			if ok && part.MatchString(name) && !slices.Contains([]string{"latency", "goroutines", "instructions", "cycles"}, strings.Fields(name)[0]) {
				sum += v
			}
		}
		if !kept(i) {
			sum += row["call POST write of backup5"].(float64) // of which no more is known
		}
		if latency := row["latency"].(float64); math.Abs(sum-latency) > 1e-9*latency || (of5 > 0) != kept(i) {
			t.Fatalf("row %d: %v in sum, of %v; %d cells of backup5\n%s", i, sum, latency, of5, line)
		}
	}
}

// TestJoinedKind tests that with a kind each task of it is a request, on whichever server, and that servers behind
// one address are told apart.
func TestJoinedKind(t *testing.T) {
	f := newFleet(4, fleetNames...)
	for i := range 1500 {
		binary.BigEndian.PutUint64(f.trace[:], uint64(i+1))
		j := fanOut(0)
		j.calls = j.calls[:1]
		if j.calls[0].server = 1 + i%2; i%2 == 0 {
			j.calls[0].mutex = rare(i+1, 40*testMs)
		}
		f.address = "balancer:80"
		f.do(j, taskrecord.SpanID{}, time.Duration(i)*time.Second)
	}
	files := f.run(t, 0, nil)
	first, rest := joinedReport(t, files, "")
	if !strings.HasPrefix(first, "mutex on backup2 (write) makes the tail") {
		t.Errorf("%s\n%s", first, rest)
	}
	contains(t, "report", rest, "call POST write of balancer:80 follows mutex on backup2 (write)")
	status, got, errs := call(append([]string{"-p", "0.98", "-kind", "write"}, files...)...)
	if status != 0 || errs != "" || !strings.HasPrefix(got, "mutex makes the tail") {
		t.Errorf("status %d, %s\n%s", status, errs, got)
	}
	contains(t, "report", got, "1500 requests")
	if status, _, errs := call(append([]string{"-kind", "x"}, files...)...); status != 2 || !strings.Contains(errs, `there is nothing of kind "x": kinds are "GET /"`) {
		t.Errorf("status %d, %s", status, errs)
	}
}

// TestJoinedCause tests that the cause is named that is on the last one of five servers, in whichever order
// their files are.
func TestJoinedCause(t *testing.T) {
	for _, tt := range []struct {
		name string
		plan func(mutex time.Duration) *job
		call string
	}{
		{"chain", chain, "call POST write of backup2"},
		{"fan-out", fanOut, "call POST write of backup5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFleet(1, fleetNames...)
			files := f.run(t, 1500, func(i int) *job { return tt.plan(rare(i, f.around(40*testMs))) })
			status, got, errs := call(append([]string{"-p", "0.98"}, files...)...)
			first, _, _ := strings.Cut(got, "\n")
			if status != 0 || errs != "" || !strings.HasPrefix(first, "mutex on backup5 (write) makes the tail: p98 is ") {
				t.Errorf("status %d, %s\n%s", status, errs, got)
			}
			contains(t, "report", got, "1500 requests: p50 ", " without the 50 requests", tt.call)
			slices.Reverse(files)
			report := func(s string) string { s, _, _ = strings.Cut(s, "\nTo look"); return s }
			if _, again, _ := call(append([]string{"-p", "0.98"}, files...)...); report(again) != report(got) {
				t.Errorf("of files in another order:\n%s\nand before:\n%s", again, got)
			}
		})
	}
}

// TestJoinedSelf tests that a server that calls itself is its own callee, whether or not timelines say for what
// it waited.
func TestJoinedSelf(t *testing.T) {
	for _, timelines := range []bool{true, false} {
		f := newFleet(8, fleetNames...)
		if !timelines {
			f.slow = time.Hour
		}
		files := f.run(t, 1500, func(i int) *job {
			inner := job{0, "inner", testMs, rare(i, f.around(40*testMs)), 0, "", nil, false, nil}
			return &job{0, "GET /", testMs, 0, 0, "", []job{inner}, false, nil}
		})
		first, rest := joinedReport(t, files, "")
		if !strings.HasPrefix(first, "mutex on front (inner) makes the tail: p98 is ") {
			t.Errorf("timelines %v: %s\n%s", timelines, first, rest)
		}
	}
}

// TestJoinedOrder tests that the order of files changes nothing in a report, where requests are in several.
func TestJoinedOrder(t *testing.T) {
	f := newFleet(9, "front", "backup2", "backup3", "backup4", "backup5", "replica")
	files := f.run(t, 1500, func(i int) *job {
		j := fanOut(rare(i, f.around(40*testMs)))
		if j.running += time.Duration(f.r.IntN(3000)) * time.Microsecond; i%2 == 0 {
			j.server = 5
		}
		return j
	})
	first, rest := joinedReport(t, files, "")
	if !strings.HasPrefix(first, "mutex on backup5 (write) makes the tail") {
		t.Errorf("%s\n%s", first, rest)
	}
	for range 3 {
		f.r.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		if again, more := joinedReport(t, files, ""); again != first || more != rest {
			t.Errorf("of files in another order:\n%s\n%s\nand before:\n%s\n%s", again, more, first, rest)
		}
	}
	// Of requests that call nobody, too, which are rows as they come.
	f = newFleet(10, "front", "replica")
	files = f.run(t, 1500, func(i int) *job {
		return &job{i % 2, "GET /", testMs + time.Duration(f.r.IntN(3000))*time.Microsecond, rare(i, f.around(40*testMs)), 0, "", nil, false, nil}
	})
	first, rest = joinedReport(t, files, "")
	slices.Reverse(files)
	if again, more := joinedReport(t, files, ""); again != first || more != rest {
		t.Errorf("of files in another order:\n%s\n%s\nand before:\n%s\n%s", again, more, first, rest)
	}
}
