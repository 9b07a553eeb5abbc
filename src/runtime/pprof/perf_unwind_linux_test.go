// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests of perfunwind.go in package runtime: each call is one sample with the stack that
// the callee sees.

package pprof

import (
	"bytes"
	"debug/elf"
	"fmt"
	"internal/asan"
	"internal/msan"
	"internal/profile"
	"io"
	"iter"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// placeCalls are the calls of placeTarget, by the stack that runtime.Callers
// returns there.
var placeCalls struct {
	sync.Mutex
	n map[string]int64
}

//go:noinline
func placeTarget() {
	var pcs [maxPlaceDepth]uintptr
	fs := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	var stk placeStack
	for {
		f, more := fs.Next()
		stk.add(f.Function, f.Line)
		if !more {
			break
		}
	}
	placeCalls.Lock()
	placeCalls.n[stk.String()]++
	placeCalls.Unlock()
}

// maxPlaceDepth is the depth of stacks in profiles, maxCPUProfStack of package
// runtime.
const maxPlaceDepth = 64

// A placeStack is a stack as text, leaf first, with the line of each call.
type placeStack struct{ strings.Builder }

func (s *placeStack) add(function string, line int) {
	// As runtime.Frame has it; profiles name the instance.
	if i, j := strings.IndexByte(function, '['), strings.LastIndexByte(function, ']'); i >= 0 && j > i {
		function = function[:i] + "[...]" + function[j+1:]
	}
	switch {
	case function == "runtime.goexit": // profiles leave it out
	case s.Len() == 0:
		s.WriteString(function) // the breakpoint is on another line of it than runtime.Callers
	default:
		fmt.Fprintf(s, " < %s:%d", function, line)
	}
}

// placeSampled returns how many samples have each stack.
func placeSampled(r *perfResult) map[string]int64 {
	m := make(map[string]int64)
	for _, s := range r.Sample {
		var stk placeStack
		for _, loc := range s.Location {
			for _, line := range loc.Line {
				stk.add(line.Function.Name, int(line.Line))
			}
		}
		m[stk.String()] += s.Value[0]
	}
	return m
}

// Ways to call placeTarget.

func placeInlined() { placeTarget() }

func placeInlinedTwice() { placeInlined() }

//go:noinline
func placeGeneric[T any](x T) T {
	placeTarget()
	return x
}

func placeGenericInlined[T any](x T) T {
	placeTarget()
	return x
}

type placeType struct{ n int }

//go:noinline
func (p placeType) value() { placeTarget() }

//go:noinline
func (p *placeType) pointer() { placeTarget() }

type placeOuter struct {
	pad int
	*placeType
}

type placeBox[T any] struct{ v T }

//go:noinline
func (b *placeBox[T]) method() { placeTarget() }

//go:noinline
func placeDefer() {
	defer placeTarget()
	placeTarget()
}

//go:noinline
func placeDeferLoop() {
	for range 3 {
		defer placeTarget()
	}
}

//go:noinline
func placePanic() {
	defer func() { recover() }()
	defer placeTarget()
	panic("deliberate")
}

//go:noinline
func placeFault(p *placeType) {
	defer func() {
		placeTarget()
		recover()
		placeTarget()
	}()
	p.n++
}

//go:noinline
func placeRecurse(n int) {
	if n == 0 {
		placeTarget()
		return
	}
	placeRecurse(n - 1)
	if n == 7 {
		placeTarget()
	}
}

func placeSeq(yield func(int) bool) {
	placeTarget()
	if yield(1) {
		yield(2)
	}
}

// placeWait runs start, which is to arrange that f runs some time, and waits.
func placeWait(start func(f func())) {
	done := make(chan bool)
	start(func() {
		placeTarget()
		close(done)
	})
	<-done
}

var placeFns = []struct {
	name string
	f    func()
}{
	{"direct", placeTarget},
	{"inlined", placeInlined},
	{"inlined twice", func() { placeInlinedTwice(); placeInlined() }},
	{"generic", func() { placeGeneric(1); placeGeneric("s"); placeGeneric(&placeCalls) }},
	{"generic inlined", func() { placeGenericInlined(1); placeGenericInlined("s") }},
	{"generic method", func() { new(placeBox[int]).method(); new(placeBox[string]).method() }},
	{"closure", func() {
		x := 0
		f := func() { x++; placeTarget() }
		f()
		func() { f() }()
	}},
	{"method value", func() { f := placeType{1}.value; f(); g := (&placeType{1}).pointer; g() }},
	{"method expression", func() { placeType.value(placeType{}); (*placeType).value(new(placeType)) }},
	{"interface", func() {
		for _, v := range []interface{ value() }{placeType{}, &placeType{}, placeOuter{1, new(placeType)}} {
			v.value()
		}
	}},
	{"promoted", func() { var v interface{ pointer() } = &placeOuter{1, new(placeType)}; v.pointer() }},
	{"defer", placeDefer},
	{"defer in a loop", placeDeferLoop},
	{"panic", placePanic},
	{"fault", func() { placeFault(nil) }},
	{"Goexit", func() {
		var wg sync.WaitGroup
		wg.Go(func() { defer placeTarget(); runtime.Goexit() })
		wg.Wait()
	}},
	{"recursion", func() { placeRecurse(20) }},
	{"reflect", func() { reflect.ValueOf(placeGeneric[int]).Call([]reflect.Value{reflect.ValueOf(1)}) }},
	{"callback", func() { slices.SortFunc([]int{3, 1, 2}, func(a, b int) int { placeTarget(); return a - b }) }},
	{"range over func", func() {
		for i := range placeSeq {
			placeTarget()
			if i == 2 {
				defer placeTarget()
			}
		}
	}},
	{"coroutine", func() {
		next, stop := iter.Pull(placeSeq)
		next()
		placeTarget()
		stop()
	}},
	{"once", func() { new(sync.Once).Do(placeTarget); sync.OnceFunc(placeTarget)() }},
	{"goroutine", func() { placeWait(func(f func()) { go f() }) }},
	{"timer", func() { placeWait(func(f func()) { time.AfterFunc(0, f) }) }},
	{"thread", func() { placeWait(func(f func()) { go func() { runtime.LockOSThread(); f() }() }) }},
	{"finalizer", func() {
		placeWait(func(f func()) {
			runtime.SetFinalizer(new([64]byte), func(*[64]byte) { f() })
			runtime.GC()
		})
	}},
	{"cleanup", func() {
		placeWait(func(f func()) {
			runtime.AddCleanup(new([64]byte), func(int) { f() }, 0)
			runtime.GC()
		})
	}},
}

// TestPerfPlace tests that each call of placeTarget is one sample, with the very
// stack that the callee sees.
func TestPerfPlace(t *testing.T) {
	perfNeedsExact(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, tt := range placeFns {
		t.Run(tt.name, func(t *testing.T) {
			placeCalls.n = make(map[string]int64)
			r := perfProfileOf(t, []perfReq{{perfCalls("placeTarget"), 1}}, func() {
				var wg sync.WaitGroup
				for range 2 {
					wg.Go(func() {
						for range 10 {
							tt.f()
						}
					})
				}
				wg.Wait()
			})[0]
			sampled := placeSampled(r)
			if len(placeCalls.n) == 0 {
				t.Error("no calls")
			}
			for stk, n := range placeCalls.n {
				if got := sampled[stk]; got != n {
					t.Errorf("%d calls from here have %d samples:\n\t%s", n, got, stk)
				}
			}
			for stk, n := range sampled {
				if placeCalls.n[stk] == 0 {
					t.Errorf("no call from here, but %d samples:\n\t%s", n, stk)
				}
			}
		})
	}
}

// vdsoFunc returns the address of a function of the vDSO.
func vdsoFunc(t *testing.T, name string) uintptr {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	var start, end uintptr
	for line := range strings.Lines(string(maps)) {
		if strings.HasSuffix(strings.TrimSpace(line), "[vdso]") {
			fmt.Sscanf(line, "%x-%x", &start, &end)
		}
	}
	if start == 0 {
		t.Skip("no vDSO")
	}
	mem, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	f, err := elf.NewFile(io.NewSectionReader(mem, int64(start), int64(end-start)))
	if err != nil {
		t.Fatal(err)
	}
	syms, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range syms {
		if s.Name == name {
			return start + uintptr(s.Value)
		}
	}
	t.Fatalf("the vDSO has no %s", name)
	return 0
}

var (
	placeBuf  [4096]byte
	placeFrom = bytes.Repeat([]byte("x"), len(placeBuf))
	placeSink int
)

//go:noinline
func placeCopy(n int) { copy(placeBuf[:n], placeFrom) }

//go:noinline
func placeClear(n int) { clear(placeBuf[:n]) }

//go:noinline
func placeCompare(n int) {
	if string(placeBuf[:n]) == string(placeFrom[:n]) {
		placeSink++
	}
}

//go:noinline
func placeIndex(n int) { placeSink += bytes.IndexByte(placeFrom[:n], 'y') }

//go:noinline
func placeTrace(n int) { placeSink += runtime.Stack(placeBuf[:n], false) }

//go:noinline
func placeClock(n int) { placeSink += time.Now().Nanosecond() }

// TestPerfPlaceRuntime tests samples in assembly, in the vDSO and on the system
// stack: n calls of a caller are n samples with the caller's stack.
func TestPerfPlaceRuntime(t *testing.T) {
	perfNeedsExact(t)
	memmove := "runtime.memmove < runtime/pprof.placeCopy"
	if msan.Enabled || asan.Enabled {
		memmove = "runtime.memmove < runtime.slicecopy < runtime/pprof.placeCopy" // walkCopy in cmd/compile
	}
	for _, tt := range []struct {
		event string
		f     func(int)
		per   int64  // hits per call
		stack string // functions from the leaf to the caller

		// The handler itself calls some of these functions. With period 1
		// its calls would be samples, whose handler calls them again.
		period uint64
	}{
		{"mem:runtime.memequal:x", placeCompare, 1, "runtime.memequal < runtime/pprof.placeCompare", 1},
		{"mem:internal/bytealg.IndexByte:x", placeIndex, 1, "internal/bytealg.IndexByte < bytes.IndexByte < runtime/pprof.placeIndex", 1},
		{"mem:runtime.goroutineheader:x", placeTrace, 1, "runtime.goroutineheader < runtime.Stack.func1 < runtime.systemstack < runtime.Stack < runtime/pprof.placeTrace", 1},
		{"mem:runtime.memmove:x", placeCopy, 1, memmove, 101},
		{"mem:runtime.memclrNoHeapPointers:x", placeClear, 1, "runtime.memclrNoHeapPointers < runtime/pprof.placeClear", 101},
		{"vdso", placeClock, 2, "time.runtimeNow < time.Now < runtime/pprof.placeClock", 101},
	} {
		t.Run(tt.event, func(t *testing.T) {
			event := tt.event
			if event == "vdso" {
				event = fmt.Sprintf("mem:%#x:x", vdsoFunc(t, "__vdso_clock_gettime"))
			}
			n := 500 * int(tt.period)
			r := perfProfileOf(t, []perfReq{{event, tt.period}}, func() {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				for range n {
					tt.f(len(placeBuf))
				}
			})[0]
			caller := tt.stack[strings.LastIndex(tt.stack, " ")+1:]
			all := r.count(func(s *profile.Sample) bool { return slices.Contains(perfFrames(s), caller) })
			got := r.count(func(s *profile.Sample) bool {
				return strings.HasPrefix(strings.Join(perfFrames(s), " < "), tt.stack+" < runtime/pprof.TestPerfPlaceRuntime.func1.1 < ")
			})
			want, tol := float64(500*tt.per), 0.0
			if tt.period > 1 {
				tol = 0.15 * want // the handler's calls count too
			}
			r.near("samples in "+caller, float64(all), want, tol)
			// The scheduler, which may be called from the caller, has calls too.
			if tt.period == 1 && got != all || float64(got) < 0.99*float64(all) {
				t.Errorf("%d of %d samples are at %s:\n%s", got, all, tt.stack, r.byStack())
			}
		})
	}
}
