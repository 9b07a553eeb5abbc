// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests that a profile leaves the heap and the garbage collector alone, and gives its
// memory back; see perfbufmem.go in package runtime.

package pprof

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A perfPace is what the garbage collector does while a program allocates.
type perfPace struct {
	cycles int
	live   uint64 // bytes, after a collection
	goal   uint64
}

var (
	perfPaceLive [][]byte
	perfPaceSink []byte
)

// perfPaceOf allocates 256 MiB in small objects, while 1 MiB is live.
func perfPaceOf() (p perfPace) {
	const size, objects, live = 1 << 10, 256 << 10, 1 << 10
	perfPaceLive = nil
	for range live {
		perfPaceLive = append(perfPaceLive, make([]byte, size))
	}
	runtime.GC()
	runtime.GC() // finalizers' objects
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	p = perfPace{-int(m.NumGC), m.HeapAlloc, m.NextGC}
	for range objects {
		perfPaceSink = make([]byte, size)
	}
	runtime.ReadMemStats(&m)
	p.cycles += int(m.NumGC)
	perfPaceSink = nil
	return p
}

// TestPerfPace tests that a profile does not change how often the garbage collector
// runs.
//
// It runs when the allocations after a cycle have brought the heap to the goal. If it
// stops the world, nothing is allocated meanwhile, so that how many cycles there are
// depends on what is live alone. (Otherwise it begins the earlier the slower it was: with
// two Ps the same program had 175 to 316 cycles without a profile.)
func TestPerfPace(t *testing.T) {
	perfNeeds(t, "task-clock:u")
	if perfInChild() == "" {
		for _, procs := range []int{1, 4} {
			t.Run(fmt.Sprintf("procs=%d", procs), func(t *testing.T) {
				perfChild(t, "pace", func(cmd *exec.Cmd) {
					cmd.Env = append(cmd.Env, "GODEBUG=gcstoptheworld=2", "GOGC=100", "GOMEMLIMIT=off", "GOMAXPROCS="+strconv.Itoa(procs))
				})
			})
		}
		return
	}
	perfPaceOf() // what is made once
	without := perfPaceOf()
	var with perfPace
	r := perfProfileOnce(t, []perfReq{{"task-clock:u", 1000003}, {"page-faults:u", 101}}, func() {
		with = perfPaceOf()
		perfFault(t, 10000)
	})
	for _, r := range r {
		if r.total() < 10 {
			t.Errorf("%d samples", r.total())
		}
	}
	t.Logf("without a profile %+v, with %+v", without, with)
	// Two profiles have their builders, and some stacks.
	if grown := int64(with.live - without.live); grown > 400<<10 {
		t.Errorf("a profile of two events makes %d bytes live", grown)
	}
	if with.goal != without.goal {
		t.Errorf("the goal is %d bytes with a profile, %d without", with.goal, without.goal)
	}
	// What the profile has live is missing between it and the goal.
	room := func(p *perfPace) float64 { return float64(p.goal - p.live) }
	perfWithin(t, "cycles", float64(with.cycles), float64(without.cycles)*room(&without)/room(&with), 0.05)
}

// TestPerfBufferLabels tests that labels live on in the profile's buffer when nothing
// else refers to them. All samples are there until the profile ends, as they are too few
// to wake its reader.
func TestPerfBufferLabels(t *testing.T) {
	perfNeeds(t, "page-faults:u")
	if perfInChild() == "" {
		perfChild(t, "labels", func(cmd *exec.Cmd) {
			// What is freed is overwritten at once. The bound may make a dear sample's
			// period four times as long nevertheless.
			cmd.Env = append(cmd.Env, "GODEBUG=clobberfree=1", "GOGC=1", costEnv+"=off")
		})
		return
	}
	const n, period = 100, 101
	r := perfProfileOnce(t, []perfReq{{"page-faults:u", period}}, func() {
		for i := range n {
			Do(context.Background(), Labels("i", strconv.Itoa(i), "same", "other"), func(context.Context) { perfFault(t, 10*period) })
		}
		debug.FreeOSMemory() // collects, and sweeps
		debug.FreeOSMemory()
	})[0]
	seen := make(map[string]int64)
	for _, s := range r.Sample {
		if len(s.Label) != 0 && !slices.Equal(s.Label["same"], []string{"other"}) {
			t.Errorf("a sample has the labels %q", s.Label)
			continue
		}
		for _, i := range s.Label["i"] {
			seen[i] += s.Value[0]
		}
	}
	for i := range n {
		if seen[strconv.Itoa(i)] == 0 {
			t.Errorf("no sample has the label %d", i)
		}
	}
	if len(seen) != n {
		t.Errorf("labels of %d values, want %d:\n%s", len(seen), n, r.ledger())
	}
}

// TestPerfSessionMemory tests that profiles that have ended take no memory. Each had
// more than 2 MiB of address space per event.
func TestPerfSessionMemory(t *testing.T) {
	perfNeeds(t, "task-clock:u")
	profile := func(n int) {
		for range n {
			perfProfileOnce(t, []perfReq{{"task-clock:u", 1000003}, {"page-faults:u", 0}}, func() {})
		}
	}
	mem := func() (sys, space int64) {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b, err := os.ReadFile("/proc/self/statm")
		if err != nil {
			t.Fatal(err)
		}
		pages, err := strconv.ParseInt(string(b[:bytes.IndexByte(b, ' ')]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return int64(m.OtherSys), pages * int64(syscall.Getpagesize())
	}
	profile(10) // what is made once
	sys, space := mem()
	const n = 200
	profile(n)
	sys2, space2 := mem()
	t.Logf("%d sessions: MemStats.OtherSys %d -> %d, address space %d -> %d", n, sys, sys2, space, space2)
	// Some threads may have come, and the heap may have grown by an arena.
	if d := sys2 - sys; d > 4<<20 {
		t.Errorf("MemStats.OtherSys grew by %d bytes in %d sessions", d, n)
	}
	if d := space2 - space; d > 256<<20 {
		t.Errorf("the address space grew by %d bytes in %d sessions", d, n)
	}
}

// TestPerfNoMemory tests that a profile for whose buffer there is no address space is
// refused, and leaves the program as it was.
func TestPerfNoMemory(t *testing.T) {
	perfNeeds(t, "task-clock:u")
	if perfInChild() == "" {
		perfChild(t, "no memory", nil)
		return
	}
	start := func() error {
		err := StartCPUProfileWithConfig(PerfEvent(io.Discard, "task-clock:u", 0))
		if err == nil {
			StopCPUProfile()
		}
		return err
	}
	if err := start(); err != nil { // with what is made once
		t.Fatal(err)
	}
	var used, resident uint64 // pages
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(string(statm), &used, &resident); err != nil {
		t.Fatal(err)
	}
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &old); err != nil {
		t.Fatal(err)
	}
	lim := syscall.Rlimit{Cur: used*uint64(os.Getpagesize()) + 1<<20, Max: old.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &lim); err != nil {
		t.Fatal(err)
	}
	err = start()
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &old); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, syscall.ENOMEM) || !strings.Contains(err.Error(), "ulimit -v") {
		t.Errorf("the error is %v", err)
	}
	perfNothingOpen(t)
	if err := start(); err != nil {
		t.Errorf("with memory again: %v", err)
	}
}
