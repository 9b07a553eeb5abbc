// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"errors"
	"fmt"
	"internal/profile"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// A dataNode and a dataPair have pointers, so the runtime knows their types in large objects.
type dataNode struct {
	next *dataNode
	x    [5]int64
}

type dataPair struct {
	key, value *int64
}

//go:noinline
func dataTouchNodes(nodes []dataNode, each int) {
	for i := 0; i < len(nodes); i += each {
		nodes[i].x[0] = 1
		dataWork()
	}
}

//go:noinline
func dataTouchPairs(pairs []dataPair, each int) {
	for i := 0; i < len(pairs); i += each {
		pairs[i].value = nil
		dataWork()
	}
}

//go:noinline
func dataTouchBytes(b []byte, each int) {
	for i := 0; i < len(b); i += each {
		b[i] = 1
		dataWork()
	}
}

var dataWorked atomic.Int64

// dataTurns is how many turns dataWork makes.
var dataTurns = int64(100_000)

// dataWork takes several times as long as a sample, so that one of each fault is not
// more than the program can bear; see perfCostMost in package runtime.
//
//go:noinline
func dataWork() {
	n := int64(0)
	for i := range dataTurns {
		n += i & n
	}
	dataWorked.Add(n)
}

// dataWorkLong has dataWork take as long as it says. A sample takes 5 to 60 us, depending on
// the machine.
func dataWorkLong(t *testing.T) {
	_, _, each := perfBoundActed(t, "", perfReq{"page-faults:uk", 7}, func() { perfFault(t, 2000) })
	least := time.Hour
	for range 10 {
		start := time.Now()
		dataWork()
		least = min(least, time.Since(start))
	}
	dataTurns = max(dataTurns, int64(5*each/float64(least)*float64(dataTurns)))
	t.Logf("%.0f ns a sample, %v for the work: %d turns", each, least, dataTurns)
}

// Each is allocated in a function of its own.

//go:noinline
func dataNewNodes(n int) []dataNode { return make([]dataNode, n) }

//go:noinline
func dataNewPairs(n int) []dataPair { return make([]dataPair, n) }

//go:noinline
func dataNewBytes(n int) []byte { return make([]byte, n) }

//go:noinline
func dataNewSmall() *[3]int64 { return new([3]int64) }

//go:noinline
func dataWrite(p *int32, n int) {
	for i := range n {
		*p = int32(i)
	}
}

// TestPerfDataFaults tests that each first touch of a page of some arrays is a sample with the
// array, its type and the offset. The pages have been given back to the kernel before, so that
// there are faults wherever in the heap the arrays are.
//
// Where a machine is kept from running, samples may come to cost more than a fault's work, which
// was measured before. Then the overhead bound makes the period longer, as their values say, and
// the test begins anew, with more work.
func TestPerfDataFaults(t *testing.T) {
	perfNeeds(t, "page-faults:u")
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	runtime.MemProfileRate = 1
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer func(turns int64) { dataTurns = turns }(dataTurns)
	dataWorkLong(t)
	t.Setenv(costEnv, "off")
	const tries = 5
	for try := 1; ; try++ {
		if dataFaults(t) {
			return
		}
		if dataTurns *= 2; try == tries {
			t.Fatalf("the period was longer than a fault, %d times", tries)
		}
	}
}

// dataFaults is TestPerfDataFaults. It reports false if the period was longer than one fault while
// the arrays were touched.
func dataFaults(t *testing.T) (ok bool) {
	page := os.Getpagesize()
	const pages = 128
	size := pages * page
	nodes := dataNewNodes(size / int(unsafe.Sizeof(dataNode{})))
	pairs := dataNewPairs(size / int(unsafe.Sizeof(dataPair{})))
	b := dataNewBytes(size)
	first := make(map[string]uintptr) // the first whole page of each array
	for touch, p := range map[string]unsafe.Pointer{
		"runtime/pprof.dataTouchNodes": unsafe.Pointer(&nodes[0]),
		"runtime/pprof.dataTouchPairs": unsafe.Pointer(&pairs[0]),
		"runtime/pprof.dataTouchBytes": unsafe.Pointer(&b[0]),
	} {
		const noHugePage = 15 // MADV_NOHUGEPAGE
		off := -uintptr(p) & uintptr(page-1)
		first[touch] = off
		whole := unsafe.Slice((*byte)(unsafe.Add(p, off)), size-page)
		if err := syscall.Madvise(whole, noHugePage); err != nil {
			t.Log(err) // the kernel has none
		}
		if err := syscall.Madvise(whole, syscall.MADV_DONTNEED); err != nil {
			t.Fatal(err)
		}
	}
	scratch, err := syscall.Mmap(-1, 0, 2000*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(scratch)
	defer runtime.UnlockOSThread()
	runtime.LockOSThread()
	var buf bytes.Buffer
	if err := StartCPUProfileWithConfig(DataAddresses(PerfEvent(&buf, "page-faults:u", 1))); err != nil {
		t.Fatal(err)
	}
	// What the profile itself touches when it begins may have made the thread's period
	// longer, up to 29. After at most 16 samples with that, and with 13, 7 and 3, which
	// cost little, it is 1 again.
	dataTouchBytes(scratch, page)
	dataTouchNodes(nodes, page/int(unsafe.Sizeof(dataNode{})))
	dataTouchPairs(pairs, page/int(unsafe.Sizeof(dataPair{})))
	dataTouchBytes(b, page)
	StopCPUProfile()
	p, err := profile.Parse(&buf)
	if err != nil {
		t.Fatal(err)
	}
	r := &perfResult{t, "page-faults:u", p}
	t.Log(r.ledger())
	if r.count(func(s *profile.Sample) bool {
		return strings.HasPrefix(perfFrames(s)[0], "runtime/pprof.dataTouch") && s.Label["object"] != nil &&
			!slices.Equal(s.Label["object"], []string{"unknown"}) && s.Value[0] != s.Value[1]
	}) != 0 {
		return false
	}
	for _, tt := range []struct{ touch, object, typ string }{
		{"runtime/pprof.dataTouchNodes", "runtime/pprof.dataNewNodes", "pprof.dataNode"},
		{"runtime/pprof.dataTouchPairs", "runtime/pprof.dataNewPairs", "pprof.dataPair"},
		{"runtime/pprof.dataTouchBytes", "runtime/pprof.dataNewBytes", "unknown"},
	} {
		touched := make(map[uintptr]int64) // by page
		for _, s := range r.Sample {
			if perfFrames(s)[0] != tt.touch || slices.Equal(s.Label["object"], []string{"unknown"}) {
				continue
			}
			got := dataLabelsOf(t, s)
			if got.object != tt.object || got.typ != tt.typ {
				t.Errorf("%s: %d samples of %d faults: %v %v", tt.touch, s.Value[0], s.Value[1], s.Label, perfFrames(s))
				continue
			}
			if got.offset >= first[tt.touch] {
				touched[(got.offset-first[tt.touch])/uintptr(page)] += s.Value[0]
			}
		}
		for i := range uintptr(pages - 1) {
			if touched[i] != 1 {
				t.Errorf("%s: %d samples of the first touch of page %d", tt.touch, touched[i], i)
			}
		}
	}
	runtime.KeepAlive(nodes)
	runtime.KeepAlive(pairs)
	runtime.KeepAlive(b)
	return true
}

var _ = emulated(TestPerfDataFaults)

// TestPerfDataBreakpoints tests that each write to four watched places is a sample with the
// object, its type, where it was allocated, the field and the offset, whoever writes.
func TestPerfDataBreakpoints(t *testing.T) {
	perfNeeds(t, "mem:0x1000/8:w")
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	runtime.MemProfileRate = 1
	nodes := dataNewNodes(64)
	pairs := dataNewPairs(64)
	b := dataNewBytes(64)
	small := dataNewSmall()
	places := []struct {
		p *int64
		dataLabels
	}{
		{&nodes[3].x[2], dataLabels{"runtime/pprof.dataNewNodes", "pprof.dataNode", "x[]", 3*unsafe.Sizeof(dataNode{}) + unsafe.Offsetof(dataNode{}.x) + 16}},
		{(*int64)(unsafe.Pointer(&pairs[5].value)), dataLabels{"runtime/pprof.dataNewPairs", "pprof.dataPair", "value", 5*unsafe.Sizeof(dataPair{}) + unsafe.Offsetof(dataPair{}.value)}},
		{(*int64)(unsafe.Pointer(&b[24])), dataLabels{"runtime/pprof.dataNewBytes", "unknown", "", 24}},
		{&small[1], dataLabels{"runtime/pprof.dataNewSmall", "unknown", "", 8}},
	}
	var names []string
	for _, x := range places {
		names = append(names, fmt.Sprintf("mem:%#x/4:w", uintptr(unsafe.Pointer(x.p))))
	}
	var buf bytes.Buffer
	s, err := StartSession(DataAddresses(PerfEvents(&buf, 1, names...)))
	if err != nil {
		t.Fatal(err)
	}
	const calls, goroutines = 300, 4
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for i, x := range places {
				dataWrite((*int32)(unsafe.Pointer(x.p)), calls*(i+1))
				runtime.GC() // objects of the span come and go, and so do their specials
			}
		})
		wg.Wait()
	}
	s.Stop()
	p, err := profile.Parse(&buf)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range places {
		n := int64(0)
		for _, s := range p.Sample {
			if s.Value[1+i] == 0 {
				continue
			}
			n += s.Value[1+i]
			if got := dataLabelsOf(t, s); got != x.dataLabels || !slices.Equal(s.Label["access"], []string{"store"}) {
				t.Errorf("%d writes: %+v, want %+v: %v %v", s.Value[1+i], got, x.dataLabels, s.Label, perfFrames(s))
			}
		}
		if want := int64(goroutines * calls * (i + 1)); n != want {
			t.Errorf("%s: %d writes sampled, want %d", x.object, n, want)
		}
	}
	runtime.KeepAlive(nodes)
	runtime.KeepAlive(pairs)
	runtime.KeepAlive(b)
}

// dataLabels are labels of a sample.
type dataLabels struct {
	object, typ, field string // the object without the line
	offset             uintptr
}

func dataLabelsOf(t *testing.T, s *profile.Sample) (l dataLabels) {
	label := func(key string) string { return strings.Join(s.Label[key], " ") }
	l.object, _, _ = strings.Cut(label("object"), ":")
	l.typ, l.field = label("type"), label("field")
	off, err := strconv.ParseUint(label("offset"), 10, 64)
	if err != nil {
		t.Error(err)
	}
	l.offset = uintptr(off)
	return l
}

// TestPerfDataErrors tests that what has no addresses is refused, and why.
func TestPerfDataErrors(t *testing.T) {
	for _, tt := range []struct {
		opt  ProfilingOption
		want string
	}{
		{OSTimer(io.Discard), "needs an option of PerfEvent"},
		{nil, "needs an option of PerfEvent"},
		{DataAddresses(OSTimer(io.Discard)), "needs an option of PerfEvent"},
		{PerfEvent(io.Discard, "task-clock", 0), "event task-clock has no addresses"},
		{PerfEvents(io.Discard, 0, "page-faults", "context-switches"), "event context-switches has no addresses"},
		{PerfEvent(io.Discard, "mem:runtime/pprof.dataWrite:x", 0), "samples calls"},
		{PerfEvent(io.Discard, "no-such-event", 0), "no-such-event"},
	} {
		s, err := StartSession(DataAddresses(tt.opt))
		if err == nil {
			s.Stop()
			t.Errorf("accepted, want %q", tt.want)
			continue
		}
		if !errors.Is(err, errors.ErrUnsupported) && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %q, want %q", err, tt.want)
		}
	}
	perfNothingOpen(t)
}
