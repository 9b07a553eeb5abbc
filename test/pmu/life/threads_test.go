// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package life

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pmu/profile"
)

// threads runs the program cthreads, and returns its output and profile.
func threads(t *testing.T, exe, mode string, args ...string) (string, *profile.Summary) {
	t.Helper()
	return threadsWith(t, nil, exe, mode, args...)
}

func threadsWith(t *testing.T, env []string, exe, mode string, args ...string) (string, *profile.Summary) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "prof")
	out := works(t, env, exe, append([]string{mode, file}, args...)...)
	if strings.Contains(out, "half a minute") { // see await
		t.Error(out)
	}
	return out, read(t, file)
}

var resourceLine = regexp.MustCompile(`(\w+): (\d+) threads, (\d+) descriptors, (\d+) rings`)

// usage is what the program had when it looked.
type usage struct{ threads, fds, rings int }

// usages returns what the program's output says that it had, each time.
func usages(t *testing.T, out string) (list []usage) {
	t.Helper()
	for _, m := range resourceLine.FindAllStringSubmatch(out, -1) {
		t.Log(m[0])
		var u usage
		for i, p := range []*int{&u.threads, &u.fds, &u.rings} {
			*p, _ = strconv.Atoi(m[2+i])
		}
		list = append(list, u)
	}
	if len(list) == 0 {
		t.Fatal(out)
	}
	return list
}

// noneLeft fails the test if there were more counters or rings than threads whenever
// the program looked.
func noneLeft(t *testing.T, out string) {
	t.Helper()
	for _, u := range usages(t, out) {
		if u.fds > u.threads || u.rings > u.threads {
			t.Error("more than there are threads")
		}
	}
}

// inC fails the test unless the profile has the time that C code measured by the
// event's clock on n threads. The profile has what was lost, too: interrupts are late if
// the machine stalls, a ring is full if nobody reads it meanwhile, and a thread runs
// before it is found. A quarter may be lost in such rings. inC returns the part of the time
// that threads ran before they were found.
func inC(t *testing.T, out string, p *profile.Summary, n int64) (foundLate float64) {
	t.Helper()
	var ns, spent int64
	_, s, _ := strings.Cut(out, "clocked: ")
	if _, err := fmt.Sscanf(s, "%d\nspent: %d", &ns, &spent); err != nil || spent == 0 {
		t.Fatalf("%v: %s", err, out)
	}
	// As in TestInside.
	got, late, full, start := p.Events["runtime._ExternalCode"], p.Events["runtime._PerfLostLate"], p.Events["runtime._PerfLostRing"], p.Events["runtime._PerfLostStart"]
	found := p.Number(profile.FoundLate)
	text := fmt.Sprintf("%d ns in C (%d of CPU time), %d in the profile, %d late, %d for which there was no room, %d before the start, %d of CPU time before they were found",
		ns, spent, got, late, full, start, found)
	t.Log(text)
	d := ns/50 + 2*n*p.MaxPeriod()
	lost := late + min(full+start, ns/4) + found
	if found > 0 {
		// What the event's clock counts more (see threads.h) may have been before, too.
		lost += max(0, ns-spent)
	}
	if got+lost < ns-d || got > ns+d {
		t.Errorf("%s:\n%s", text, strings.Join(p.Comments, "\n"))
	}
	return float64(found) / float64(spent)
}

// TestShortThreads tests that threads created by C leave nothing behind, however they
// end and however short they live. Threads that call Go clean up at once: there are
// too few descriptors to do it later.
func TestShortThreads(t *testing.T) {
	exe := build(t, "cthreads")
	n := 32000
	if testing.Short() {
		n = 2000
	}
	for _, tt := range []struct {
		n     int
		what  string
		limit string // of descriptors
	}{
		{n, "call", "100"},
		{n / 4, "none", "0"},
		{200, "call,vanish", "0"}, // its M and stack are lost without a profile, too
	} {
		t.Run(tt.what, func(t *testing.T) {
			out, p := threads(t, exe, "run", strconv.Itoa(tt.n), "8", tt.what, "0", "0", tt.limit)
			noneLeft(t, out)
			if armed := p.Number(profile.Threads); strings.Contains(tt.what, "call") && armed < int64(tt.n) {
				t.Errorf("%d threads were armed, of %d", armed, tt.n)
			}
		})
	}
}

// TestManyThreads tests that threads of C that have been found get no second counters
// when they call Go, even if there are many.
func TestManyThreads(t *testing.T) {
	out, p := threads(t, build(t, "cthreads"), "found", "1500")
	noneLeft(t, out)
	if armed := p.Number(profile.Threads); armed < 1500 || armed > 1600 {
		t.Errorf("%d threads were armed, of 1500", armed)
	}
}

// TestSecondSession tests that threads of C which one session has found are sampled by
// another from its start, with the same ring.
func TestSecondSession(t *testing.T) {
	const n = 20
	out, p := threads(t, build(t, "cthreads"), "second", strconv.Itoa(n), "50")
	for i, u := range usages(t, out) {
		switch {
		case i == 0 && (u.fds < 2*n || u.fds > 2*u.threads || u.rings > u.threads):
			t.Error("want two descriptors and a ring for each thread")
		case i > 0 && (u.fds > u.threads || u.rings > u.threads):
			t.Error("more than there are threads")
		}
	}
	inC(t, out, p, n)
}

// TestThreadsWithoutRings tests that threads of C for which the kernel has no ring are
// not taken for dead while they live, nor for alive after they have ended.
func TestThreadsWithoutRings(t *testing.T) {
	const n, waiting = 40, 30
	exe := build(t, "cthreads")
	for _, what := range []string{"spin", "call,spin"} {
		t.Run(what, func(t *testing.T) {
			out, p := threadsWith(t, []string{"CTHREADS=norings"}, exe, "run", strconv.Itoa(n), "2", what, "50", strconv.Itoa(waiting), "0")
			for _, u := range usages(t, out) {
				if u.rings != 0 || u.fds == 0 || u.fds > u.threads {
					t.Errorf("want no rings, and a descriptor for each of %d threads at most", u.threads)
				}
			}
			if armed := p.Number(profile.Threads); armed < waiting || armed > n+waiting+20 {
				t.Errorf("%d threads were armed, of %d:\n%s", armed, n+waiting, strings.Join(p.Comments, "\n"))
			}
		})
	}
}

// TestFailedThreads tests that threads that one session could not sample for lack of
// descriptors are sampled by the next session if there are enough then.
func TestFailedThreads(t *testing.T) {
	const n = 80
	exe := build(t, "cthreads")
	file := filepath.Join(t.TempDir(), "prof")
	out := works(t, nil, exe, "failed", file, strconv.Itoa(n), "10")
	first, p := read(t, file+".first"), read(t, file)
	failed := first.Number(profile.NotSampled)
	t.Logf("%d threads armed at first, %d not", first.Number(profile.Threads), failed)
	if failed < n/4 || failed > n+20 {
		t.Errorf("%d of %d threads were not sampled for lack of descriptors:\n%s", failed, n, strings.Join(first.Comments, "\n"))
	}
	if armed := p.Number(profile.Threads); armed < n {
		t.Errorf("%d threads were armed, of %d:\n%s", armed, n, strings.Join(p.Comments, "\n"))
	}
	inC(t, out, p, n)
}

// TestReusedThreadID tests that a thread that has the ID of one that has ended is
// sampled like any other.
func TestReusedThreadID(t *testing.T) {
	// Without the right to choose the next ID, the test would wait until all are used.
	f, err := os.OpenFile("/proc/sys/kernel/ns_last_pid", os.O_WRONLY, 0)
	if err != nil {
		if strings.Contains(os.Getenv("PMU_TEST_REQUIRE"), "root") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	f.Close()
	exe := build(t, "cthreads")
	for _, args := range [][]string{
		{"call", "spin", "500"},
		{"call", "call,spin", "500"},
		{"call,vanish", "spin", "500"},
		{"wait", "spin", "500"},
		{"wait", "call,spin", "500"},
		{"wait", "call,spin", "500", "at once"},
		{"call,wait", "spin", "500"},
		{"call,wait", "call,spin", "500", "at once"},
	} {
		t.Run(strings.Join(args, "-"), func(t *testing.T) {
			out, p := threads(t, exe, "reuse", args...)
			if strings.Contains(out, "reused: 0") {
				t.Fatalf("the ID did not come again: %s", out)
			}
			noneLeft(t, out)
			inC(t, out, p, 1)
		})
	}
}

// TestSignalOverC tests that a thread of C is sampled once while it handles a signal
// for Go. It needs an M for that, a second one if it has called Go.
func TestSignalOverC(t *testing.T) {
	exe := build(t, "cthreads")
	for _, what := range []string{"call,spin,signal", "spin,signal"} {
		t.Run(what, func(t *testing.T) {
			out, p := threads(t, exe, "run", "4", "2", what, "400", "0", "0")
			noneLeft(t, out)
			inC(t, out, p, 4)
		})
	}
}

// TestCrossingSignals tests that threads of C make progress while they cross to Go and
// back and get signals for which they need an M of their own, while sessions start and
// stop. (When a signal could need an M in the middle of the crossing, such a program
// deadlocked within seconds, each time.)
func TestCrossingSignals(t *testing.T) {
	out, p := threads(t, build(t, "cthreads"), "storm", "2000")
	t.Log(out)
	var calls, sessions int64
	if _, err := fmt.Sscanf(out, "%d calls, %d sessions", &calls, &sessions); err != nil || calls < 1000 || sessions < 10 {
		t.Errorf("%v: %s", err, out)
	}
	balance(t, p, 0.05)
}

// TestThreadsFound tests that threads created by C are found soon, also where each is
// created by one that has not been found, and however many others there are. They are
// looked for every 20 ms, or as rarely as every 0.1 s where that takes 0.15 ms, as it may
// take 1/667 of the time. A thread computes for 0.8 s of its CPU time, and is not found
// after an eighth of that.
//
// On a busy machine a single look can take far longer, so that the next one is put off by
// more than 0.1 s, or be late itself. What threads have run until then is in the ledger of
// each run. A few runs may show it.
func TestThreadsFound(t *testing.T) {
	exe := build(t, "cthreads")
	const tries, limit = 5, 0.125
	for _, what := range []string{"spin", "chain,spin"} {
		for _, idle := range []string{"300", "1000"} {
			t.Run(what+","+idle, func(t *testing.T) {
				for range tries {
					out, p := threads(t, exe, "run", "4", "2", what, "800", idle, "0")
					noneLeft(t, out)
					if inC(t, out, p, 4) <= limit || t.Failed() {
						return
					}
				}
				t.Errorf("in each of %d runs, threads were found late", tries)
			})
		}
	}
}

// TestFoundLate tests that the profile says what a thread had run when it was found. It
// begins while a goroutine that nothing preempts has the only P.
func TestFoundLate(t *testing.T) {
	out, p := threadsWith(t, []string{"GODEBUG=asyncpreemptoff=1"}, build(t, "cthreads"), "late", "400")
	inC(t, out, p, 2)
	var before int64
	if _, err := fmt.Sscanf(out, "before: %d", &before); err != nil || before == 0 {
		t.Fatalf("%v: %s", err, out)
	}
	if late := p.Number(profile.FoundLate); late < before {
		t.Errorf("found late: %d ns, want %d at least:\n%s", late, before, strings.Join(p.Comments, "\n"))
	}
}

// TestIdleThreads tests that a profile of a program with many idle threads takes at
// most 5 ms of CPU time a second more than a profile of one with none.
func TestIdleThreads(t *testing.T) {
	exe := build(t, "cthreads")
	const n, rounds, tries, limit = 1000, 3, 8, 5e6
	line := regexp.MustCompile(`idle (\d+): (\d+) ns/s`)
	for _, what := range []string{"none", "call"} {
		t.Run(what, func(t *testing.T) {
			// Other load on the machine adds to both: to the minimum of each if it
			// lasts, to the median difference if it is frequent. So take the better
			// of the two, and try again.
			ns := make(map[string][]int)
			for try := 1; try <= tries; try++ {
				file := filepath.Join(t.TempDir(), "prof")
				out := works(t, nil, exe, "idle", file, strconv.Itoa(n), strconv.Itoa(rounds), what)
				read(t, file)
				for _, m := range line.FindAllStringSubmatch(out, -1) {
					v, _ := strconv.Atoi(m[2])
					ns[m[1]] = append(ns[m[1]], v)
				}
				with, without := ns[fmt.Sprint(n)], ns["0"]
				if len(with) != try*rounds || len(without) != try*rounds {
					t.Fatal(out)
				}
				var more []int // of the runs in pairs, which follow each other
				for i := range with {
					more = append(more, with[i]-without[i])
				}
				slices.Sort(more)
				d := min(slices.Min(with)-slices.Min(without), more[len(more)/2])
				t.Logf("%d ns/s more with %d threads than without; with: %v, without: %v", d, n, with, without)
				if d < limit {
					return
				}
			}
			t.Errorf("%d threads cost more than %d ns of CPU time in a second", n, int(limit))
		})
	}
}
