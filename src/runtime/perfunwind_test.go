// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"internal/abi"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sort"
	"strings"
	"testing"
)

type unwindStacks struct {
	walk            runtime.PerfWalk
	cached, unwound []uintptr
}

//go:noinline
func (s *unwindStacks) take() { s.cached, s.unwound = runtime.PerfUnwind(&s.walk) }

func (s *unwindStacks) takeInlined() { s.takeInlinedTwice() }

func (s *unwindStacks) takeInlinedTwice() { s.take() }

type unwindTaker interface{ take() }

// unwindEmbeds has a wrapper for take, which stacks do not show.
type unwindEmbeds struct{ *unwindStacks }

//go:noinline
func unwindGeneric[T unwindTaker](t T) { t.take() }

//go:noinline
func unwindDeep(n int, f func()) {
	if n > 0 {
		unwindDeep(n-1, f)
		return
	}
	f()
}

//go:noinline
func unwindBigFrame(f func()) byte {
	var b [3000]byte
	f()
	return b[len(b)-int(b[0])-1]
}

// A frame without locals, in a function that is not split: on some machines it
// does not save the frame pointer.
//
//go:nosplit
//go:noinline
func unwindNosplit(s *unwindStacks) { s.take() }

// unwindTests are the cases of TestPerfUnwind.
var unwindTests = []struct {
	name string
	run  func(s *unwindStacks)
	want string // function that is in the stack
	odd  bool   // perfWalk leaves it to the unwinder
}{
	{name: "call", run: func(s *unwindStacks) { s.take() }, want: "take"},
	{name: "inlined", run: func(s *unwindStacks) { s.takeInlined() }, want: "takeInlinedTwice"},
	{name: "closure", run: func(s *unwindStacks) { func() { s.take() }() }, want: "func"},
	{name: "generic", run: func(s *unwindStacks) { unwindGeneric(s) }, want: "unwindGeneric"},
	{name: "interface", run: func(s *unwindStacks) { unwindTaker(s).take() }, want: "take"},
	{name: "wrapper", run: func(s *unwindStacks) { unwindTaker(unwindEmbeds{s}).take() }, want: "take"},
	{name: "method value", run: func(s *unwindStacks) { f := unwindTaker(s).take; unwindDeep(1, f) }, want: "take"},
	{name: "deep", run: func(s *unwindStacks) { unwindDeep(40, s.take) }, want: "unwindDeep"},
	{name: "deeper than a stack", run: func(s *unwindStacks) { unwindDeep(100, s.take) }, want: "unwindDeep"},
	{name: "big frame", run: func(s *unwindStacks) { unwindBigFrame(s.take) }, want: "unwindBigFrame"},
	{name: "nosplit", run: func(s *unwindStacks) { unwindNosplit(s) }, want: "unwindNosplit"},
	{name: "deferred", run: func(s *unwindStacks) { defer s.take() }, want: "take"},
	{name: "deferred in a loop", run: func(s *unwindStacks) {
		for range 3 {
			defer s.take()
		}
	}, want: "take"},
	{name: "panicking", run: func(s *unwindStacks) {
		defer func() { s.take(); recover() }()
		panic("x")
	}, want: "gopanic"},
	{name: "sigpanic", run: func(s *unwindStacks) {
		defer func() { s.take(); recover() }()
		var p *int
		*p = 0
	}, want: "sigpanic", odd: true},
	{name: "reflect", run: func(s *unwindStacks) { reflect.ValueOf(s.take).Call(nil) }, want: "reflect.Value.call"},
	{name: "MakeFunc", run: func(s *unwindStacks) {
		f := func([]reflect.Value) []reflect.Value { s.take(); return nil }
		reflect.MakeFunc(reflect.TypeFor[func()](), f).Interface().(func())()
	}, want: "take"}, // without makeFuncStub and callReflect, which are wrappers
	{name: "sort", run: func(s *unwindStacks) {
		sort.Slice(make([]int, 2), func(i, j int) bool { s.take(); return false })
	}, want: "sort.Slice"},
	{name: "goroutine", run: func(s *unwindStacks) {
		done := make(chan bool)
		go func(a, b int, s string, c float64) { done <- true }(1, 2, "3", 4)
		<-done
		go func() { defer close(done); s.take() }()
		<-done
	}, want: "goexit"},
}

// TestPerfUnwind tests that a perfWalk finds what the unwinder does.
func TestPerfUnwind(t *testing.T) {
	for _, test := range unwindTests {
		t.Run(test.name, func(t *testing.T) {
			var s unwindStacks
			for range 3 { // the second time from the cache, the third with the stack of the second
				test.run(&s)
				var names []string
				for fs := runtime.CallersFrames(s.unwound); ; {
					f, more := fs.Next()
					names = append(names, f.Function)
					if !more {
						break
					}
				}
				if !slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, test.want) }) {
					t.Errorf("%s is not in the stack %v", test.want, names)
				}
				if test.odd {
					if len(s.cached) != 0 {
						t.Errorf("found %x without the unwinder, want nothing", s.cached)
					}
					continue
				}
				if !slices.Equal(s.cached, s.unwound[:min(len(s.unwound), len(s.cached))]) || len(s.cached) < min(len(s.unwound), 60) {
					t.Errorf("found %x\nwant  %x\nwhich is %v", s.cached, s.unwound, names)
				}
			}
		})
	}
}

// An unwindTree calls itself in random ways.
type unwindTree struct {
	unwindStacks
	rnd    *rand.Rand
	stacks int
	check  func()
}

//go:noinline
func (u *unwindTree) small(n int) { u.grow(n - 1); u.grow(n - 1) }

//go:noinline
func (u *unwindTree) other(n int) int { u.grow(n - 1); return n }

//go:noinline
func (u *unwindTree) big(n int) byte {
	var b [700]byte
	u.grow(n - 1)
	return b[len(b)-int(b[0])-1]
}

func (u *unwindTree) inlined(n int) { u.small(n - 1) }

//go:noinline
func (u *unwindTree) grow(n int) {
	for range 2 {
		u.take()
		u.check()
		if n <= 0 {
			return
		}
		switch u.rnd.IntN(6) {
		case 0:
			u.small(n)
		case 1:
			u.other(n)
		case 2:
			u.big(n)
		case 3:
			u.inlined(n)
		case 4:
			func() { defer u.grow(n - 2) }()
		case 5:
			done := make(chan bool)
			go func() { // on another stack, perhaps in the memory of one before
				defer close(done)
				u.grow(n / 2)
			}()
			<-done
		}
	}
}

// TestPerfUnwindLast tests that stacks are right which share some frames with the
// last one, in all the ways that chance finds: the same depth with another
// caller, the same caller at another depth, another goroutine's.
func TestPerfUnwindLast(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	u := &unwindTree{rnd: rand.New(rand.NewPCG(seed, 0))}
	shared := 0
	var last []uintptr
	u.check = func() {
		u.stacks++
		const most = 64 // frames, wrapper functions that stacks don't show among them
		if !slices.Equal(u.cached, u.unwound[:min(len(u.unwound), len(u.cached))]) || len(u.cached) < len(u.unwound) && u.walk.Frames() < most {
			t.Fatalf("stack %d: found %x\nwant  %x\nafter %x", u.stacks, u.cached, u.unwound, last)
		}
		if n := u.walk.Frames(); n == 0 {
			t.Fatalf("stack %d: the walk has not kept it", u.stacks)
		}
		if len(last) > 1 && len(u.cached) > 1 && u.cached[len(u.cached)-2] == last[len(last)-2] && &last[0] != &u.cached[0] {
			shared++
		}
		last = u.cached
	}
	for range 200 {
		unwindDeep(u.rnd.IntN(70), func() { u.grow(7) })
	}
	t.Logf("%d stacks, %d with the outermost call of the one before", u.stacks, shared)
	if u.stacks < 1000 || shared < u.stacks/2 {
		t.Errorf("%d stacks, %d with the outermost call of the one before: too few", u.stacks, shared)
	}
}

// TestPerfUnwindStack tests that a perfWalk does not leave the stack, whatever it
// is told.
func TestPerfUnwindStack(t *testing.T) {
	pc := abi.FuncPCABIInternal(unwindBigFrame) + 64 // in the middle of it
	for _, off := range []uintptr{0, 8, 64, 1 << 10} {
		if n := runtime.PerfUnwindAt(pc, off); n != 0 {
			t.Errorf("%d frames found %d bytes from the end of the stack", n, off)
		}
	}
	if n := runtime.PerfUnwindAt(0, 1<<12); n != 0 {
		t.Errorf("%d frames found at no function", n)
	}
}
