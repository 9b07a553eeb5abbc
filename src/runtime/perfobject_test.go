// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"internal/race"
	"internal/runtime/perf"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"
)

type (
	placeSmall struct{ p, q *int } // its pointers are in the span's bitmap
	placeTyped struct {
		x [100]int64
		p *int
	}
	placeLarge struct {
		p *int
		x [1 << 14]int64
	}
)

var (
	placeGlobal int64
	placeSink   any
)

//go:noinline
func placeNewTyped() *placeTyped { return new(placeTyped) }

//go:noinline
func placeNewTyped2() *placeTyped { return new(placeTyped) }

//go:noinline
func placeNewSmall() *placeSmall { return new(placeSmall) }

//go:noinline
func placeNewLarge() *placeLarge { return new(placeLarge) }

//go:noinline
func placeNewBytes() []byte { return make([]byte, 1000) }

//go:noinline
func placeNewTiny() *int16 { return new(int16) }

// placeType returns the address of the description of v's type.
func placeType(v any) uintptr { return (*[2]uintptr)(unsafe.Pointer(&v))[0] }

// placeSite returns the innermost function of this package in a stack.
func placeSite(stk []uintptr) string {
	frames := runtime.CallersFrames(stk)
	for {
		f, more := frames.Next()
		if name, ok := strings.CutPrefix(f.Function, "runtime_test."); ok || !more {
			return name
		}
	}
}

// TestPerfObject tests what is said to be at addresses of each kind.
func TestPerfObject(t *testing.T) {
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	runtime.MemProfileRate = 1
	typed, small, large, bytes := placeNewTyped(), placeNewSmall(), placeNewLarge(), placeNewBytes()
	var local int64

	// Another goroutine's stack.
	other, done := make(chan uintptr), make(chan bool)
	go func() {
		var x int64
		other <- uintptr(unsafe.Pointer(&x))
		<-done
		runtime.KeepAlive(&x)
	}()
	defer close(done)

	const word = unsafe.Sizeof(uintptr(0))
	for _, tt := range []struct {
		name       string
		addr, base uintptr // 0 for base: not checked
		kind       perf.MemKind
		size, typ  uintptr
		site       string
	}{
		{"no address", 0, 0, perf.MemNone, 0, 0, ""},
		{"nothing of Go's", 1, 0, perf.MemUnknown, 0, 0, ""},
		{"variable", uintptr(unsafe.Pointer(&placeGlobal)), 0, perf.MemGlobal, 0, 0, ""},
		{"stack", uintptr(unsafe.Pointer(&local)), 0, perf.MemStack, 0, 0, ""},
		{"other stack", <-other, 0, perf.MemManual, 0, 0, ""},
		{"object with a header", uintptr(unsafe.Pointer(&typed.x[7])), uintptr(unsafe.Pointer(typed)), perf.MemHeap, 896 - 8, placeType(placeTyped{}), "placeNewTyped"},
		{"object without one", uintptr(unsafe.Pointer(&small.q)), uintptr(unsafe.Pointer(small)), perf.MemHeap, 2 * word, 0, "placeNewSmall"},
		{"object with a span", uintptr(unsafe.Pointer(&large.x[7000])), uintptr(unsafe.Pointer(large)), perf.MemHeap, 0, placeType(placeLarge{}), "placeNewLarge"},
		{"object without pointers", uintptr(unsafe.Pointer(&bytes[500])), uintptr(unsafe.Pointer(&bytes[0])), perf.MemHeap, 1024, 0, "placeNewBytes"},
	} {
		got := runtime.PerfObjectOf(tt.addr)
		if tt.kind != got.Kind || tt.base != 0 && tt.base != got.Base || tt.size != 0 && tt.size != got.Size || tt.typ != got.Type || tt.site != placeSite(got.Site) {
			t.Errorf("%s: %+v at %#x, want %+v", tt.name, got, tt.addr, tt)
		}
	}

	// Where objects were that are free now, in spans that others keep.
	var all, freed []uintptr
	var kept []*placeTyped
	for i := range 400 {
		p := placeNewTyped()
		all = append(all, uintptr(unsafe.Pointer(p)))
		if i%2 == 0 {
			kept = append(kept, p)
		}
	}
	runtime.GC()
	runtime.GC() // and all of it is swept
	for i, addr := range all {
		got := runtime.PerfObjectOf(addr)
		switch {
		case i%2 == 0 && (got.Kind != perf.MemHeap || got.Type != placeType(placeTyped{})):
			t.Errorf("object %d: %+v", i, got)
		case i%2 != 0 && got.Kind == perf.MemFree:
			freed = append(freed, addr)
		}
	}
	// Some may be in use again.
	if len(freed) < 100 {
		t.Errorf("%d of 200 free objects are said to be free", len(freed))
	}
	for _, p := range []any{kept, typed, small, large, bytes} {
		runtime.KeepAlive(p)
	}
}

// TestPerfObjectSweeping tests that an object that is not marked is dead until its span has been
// swept, and that nothing is said of what may be changing.
func TestPerfObjectSweeping(t *testing.T) {
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	runtime.MemProfileRate = 1
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC() // and nothing is marked
	p := placeNewTyped()
	for _, tt := range []struct {
		name     string
		off      int32
		changing bool
		kind     perf.MemKind
		known    bool
	}{
		{"swept", 0, false, perf.MemHeap, true},
		{"swept and cached", 3, false, perf.MemHeap, true},
		{"to be swept", -2, false, perf.MemFree, false},
		{"cached, to be swept", 1, false, perf.MemFree, false},
		{"being swept", -1, false, perf.MemHeap, false},
		{"specials change", 0, true, perf.MemHeap, false},
	} {
		got := runtime.PerfObjectSweeping(uintptr(unsafe.Pointer(&p.x)), tt.off, tt.changing)
		if known := got.Type == placeType(placeTyped{}) && placeSite(got.Site) == "placeNewTyped"; got.Kind != tt.kind || known != tt.known || !known && (got.Type != 0 || got.Site != nil) {
			t.Errorf("%s: %+v", tt.name, got)
		}
		if base := uintptr(unsafe.Pointer(p)); got.Kind == perf.MemHeap && (got.Base != base || got.Size != 896-8) {
			t.Errorf("%s: object of %d bytes at %#x, want %#x", tt.name, got.Size, got.Base, base)
		}
	}
	runtime.KeepAlive(p)
}

// TestPerfObjectTiny tests that nothing is guessed about small objects without pointers, several
// of which are in 16 bytes. The heap profile has the first.
func TestPerfObjectTiny(t *testing.T) {
	if race.Enabled {
		t.Skip("each object has 16 bytes, and is at their end")
	}
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	runtime.MemProfileRate = 1
	known, behind := 0, 0
	for range 16 {
		p := placeNewTiny()
		addr := uintptr(unsafe.Pointer(p))
		got := runtime.PerfObjectOf(addr)
		if got.Kind != perf.MemTiny || got.Base != addr&^15 || got.Size != 0 || got.Type != 0 {
			t.Errorf("object at %#x: %+v", addr, got)
		}
		switch site := placeSite(got.Site); {
		case addr != got.Base:
			behind++
		case site == "placeNewTiny":
			known++
		default:
			t.Errorf("object at %#x is of %q", addr, site)
		}
		runtime.KeepAlive(p)
	}
	if known == 0 || behind == 0 {
		t.Errorf("%d objects were the first of 16 bytes, and %d behind one", known, behind)
	}
}

// TestPerfObjectCollected tests that what is said of objects is true while the collector
// marks and sweeps, and other objects of the same spans come and go.
func TestPerfObjectCollected(t *testing.T) {
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	runtime.MemProfileRate = 1
	var stop atomic.Bool
	done := make(chan bool)
	cycles := 0
	go func() {
		for ; !stop.Load(); cycles++ {
			runtime.GC()
		}
		close(done)
	}()
	type object struct {
		p    *placeTyped
		site string
	}
	var live [500]object
	want := placeType(placeTyped{})
	known, looked := 0, 0
	check := func(o object, what string) {
		got := runtime.PerfObjectOf(uintptr(unsafe.Pointer(&o.p.x[50])))
		if got.Kind != perf.MemHeap || got.Base != uintptr(unsafe.Pointer(o.p)) {
			t.Errorf("%s object at %p: %+v", what, o.p, got)
		}
		looked++
		switch site := placeSite(got.Site); {
		case site == o.site && got.Type == want:
			known++
		case site == "" && got.Type == 0: // while the span was changing
		default:
			t.Errorf("%s object at %p is of %s, want %s", what, o.p, site, o.site)
		}
		runtime.KeepAlive(o.p)
	}
	n := 200_000
	if testing.Short() {
		n = 20_000
	}
	for i := 0; i < n && !t.Failed(); i++ {
		o := object{placeNewTyped(), "placeNewTyped"}
		if i%3 == 0 {
			o = object{placeNewTyped2(), "placeNewTyped2"}
		}
		check(o, "new")
		if i%2 == 0 {
			k := i / 2 % len(live)
			if live[k].p != nil {
				check(live[k], "old")
			}
			live[k] = o
		}
	}
	stop.Store(true)
	<-done
	t.Logf("%d looks during %d collections; the site was known in %d", looked, cycles, known)
	if known < looked/2 {
		t.Errorf("the site was known in only %d of %d looks", known, looked)
	}
}
