// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The page in which a program says what state it is in, for other processes. Package
// runtime/hazard makes its file and reads the pages of others; its page.go has the layout.
//
// Three owners have a say. The runtime stops the world, and marks for the garbage collector. The
// program says whatever else it is. What shows is the first of them that is not well.
//
// Who stops the world writes with a P, without another lock, and on the system stack. He takes
// perfHazard.lock, which is taken on the system stack only, where nobody is preempted, for the
// time of some hundred stores. What is stored is outside the heap and has no pointers. The system call that wakes
// those who wait in the kernel never sleeps, but takes a microsecond or two for each of them. So none is made while
// the world is stopped. The scheduler does not hear of it, so the P stays.

package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// A perfHazardPage is the page. Its file may be cut, or written by others: nothing of it is ever
// read here.
type perfHazardPage struct {
	_       sys.NotInHeap
	_       [64]byte      // who publishes, written before the page is mapped here
	changes atomic.Uint32 // the low half of the last change's number: who waits, waits for this
	beat    atomic.Uint32 // ms of the monotonic clock
	_       [56]byte
	_       [64]byte // for what the Ps do
	_       [64]byte
	totals  [2]perfHazardTotals
	ring    [32]perfHazardChange
}

// Totals are what a change has left. Readers of the change before use the other one.
type perfHazardTotals struct {
	count, nanos [7]perfLittle64 // by state
	since        perfLittle64
	_            [8]byte
}

type perfHazardChange struct {
	number, time   perfLittle64
	state, program uint8
	length         uint8
	_              [5]byte
	reason         [40]byte
}

// A perfLittle64 is a little-endian number.
type perfLittle64 uint64

//go:nosplit
func (n *perfLittle64) set(v uint64) {
	if goarch.BigEndian {
		v = sys.Bswap64(v)
	}
	*n = perfLittle64(v)
}

//go:nosplit
func perfLittle32(v uint32) uint32 {
	if goarch.BigEndian {
		v = sys.Bswap32(v)
	}
	return v
}

// perfHazard is what is published.
var perfHazard perfHazardState

type perfHazardState struct {
	lock mutex

	// page is where the file is mapped that is published, or nil. It changes with the lock only.
	// Who stores there holds the lock. So an address that has been given back is never used again.
	page atomic.UnsafePointer

	lost atomic.Bool // the file was cut: see perfHazardFault

	// With lock.
	number  uint64 // of the last change
	shown   uint8
	since   int64 // that shows
	time    int64 // of the last change
	count   [7]uint64
	nanos   [7]int64 // without what has passed since
	closed  bool     // after the change that follows nothing is published
	stopped bool
	held    bool      // stopped to mark: the debug setting gcstoptheworld
	stop    stwReason // if stopped
	marking bool
	exec    bool
	program uint8
	length  uint8
	reason  [40]byte // the program's
}

// perfHazardPublish maps the page of fd, whose beginning is written, and publishes in it. It
// returns the page's address, or an errno. The caller lets one at a time in, and closes what was
// published before.
//
//go:linkname perfHazardPublish runtime/hazard.runtime_hazardPublish
func perfHazardPublish(fd int32) (addr uintptr, errno int32) {
	h := &perfHazard
	if perfSigbus == nil {
		perfSigbus = perfHazardFault
		perfHooks.replace = perfHazardExec
		perfTellWorld(&perfWorld.hazard, perfHazardWorld)
	}
	p, err := mmap(nil, unsafe.Sizeof(perfHazardPage{}), _PROT_READ|_PROT_WRITE, _MAP_SHARED, fd, 0)
	if err != 0 {
		return 0, int32(err)
	}
	const dontFork = 0xa               // _MADV_DONTFORK
	madvise(p, physPageSize, dontFork) // a child of C's fork is no publisher
	// Whoever stops the world holds worldsema, from before he tells of it until after he has started it.
	// So none does here, and the page sees a stop from its begin. Nor does a phase of the collector begin or end.
	semacquire(&worldsema)
	systemstack(func() {
		lock(&h.lock)
		h.number, h.count, h.nanos = 0, [7]uint64{}, [7]int64{}
		h.closed, h.stopped, h.held, h.exec = false, false, false, false
		h.marking = gcphase != _GCoff
		h.program, h.length = 0, 0
		h.page.StoreNoWB(p)
		h.lost.Store(false)
		h.shown = 6 // Gone; the first change is from that
		h.since = nanotime()
		h.time = h.since
		h.changed(h.since)
		perfHazardBeats((*perfHazardPage)(p))
		unlock(&h.lock)
	})
	semrelease(&worldsema)
	return uintptr(p), 0
}

// perfHazardClose ends what is published. Readers that have the page see that.
//
//go:linkname perfHazardClose runtime/hazard.runtime_hazardClose
func perfHazardClose() {
	h := &perfHazard
	p := h.page.Load() // which the caller alone can close
	systemstack(func() {
		lock(&h.lock)
		h.closed = true
		h.changed(nanotime())
		h.page.StoreNoWB(nil)
		unlock(&h.lock)
		perfHazardWake((*perfHazardPage)(p))
	})
	munmap(p, unsafe.Sizeof(perfHazardPage{}))
}

// perfHazardFault is called by the handler of SIGBUS. There is one in the page if its file has been
// cut. Then memory of nobody takes its place, and the store that failed is done again. The thread
// has the lock, so the page is still this one.
//
//go:nowritebarrierrec
func perfHazardFault(info *siginfo) (mended bool) {
	c := sigctxt{info, nil}
	p, addr := perfHazard.page.Load(), uintptr(c.sigaddr())
	if p == nil || addr-uintptr(p) >= unsafe.Sizeof(perfHazardPage{}) || c.sigFromUser() {
		return false
	}
	perfHazard.lost.Store(true)
	_, err := mmap(p, unsafe.Sizeof(perfHazardPage{}), _PROT_READ|_PROT_WRITE, _MAP_ANON|_MAP_PRIVATE|_MAP_FIXED, -1, 0)
	return err == 0
}

// perfHazardSet sets the state of the program. It reports false if the page is lost. The caller
// keeps it published.
//
//go:linkname perfHazardSet runtime/hazard.runtime_hazardSet
func perfHazardSet(state uint8, reason string) (ok bool) {
	h := &perfHazard
	systemstack(func() {
		lock(&h.lock)
		wake := h.program != state || string(h.reason[:h.length]) != reason
		if wake {
			h.program = state
			h.length = uint8(copy(h.reason[:], reason))
			h.changed(nanotime())
		}
		unlock(&h.lock)
		if wake {
			perfHazardWake((*perfHazardPage)(h.page.Load()))
		}
	})
	return !h.lost.Load()
}

// perfHazardBeat says that goroutines run, if a page is published.
//
//go:linkname perfHazardBeat runtime/hazard.runtime_hazardBeat
func perfHazardBeat() {
	h := &perfHazard
	systemstack(func() {
		lock(&h.lock)
		if p := (*perfHazardPage)(h.page.Load()); p != nil {
			perfHazardBeats(p)
		}
		unlock(&h.lock)
	})
}

// perfHazardBeats is perfHazardBeat's part with the lock.
func perfHazardBeats(p *perfHazardPage) {
	p.beat.Store(perfLittle32(uint32(nanotime() / 1e6)))
}

// perfHazardWorld is called when the world is about to be stopped, when it is about to be
// started, and when all Ps have been given to threads. The collector's phases begin and end in such stops.
//
//go:nowritebarrierrec
func perfHazardWorld(w worldStop) {
	h := &perfHazard
	p := (*perfHazardPage)(h.page.Load())
	if p == nil {
		return
	}
	ends, runs := w.finishedStopping != 0, w == worldStop{}
	if !runs {
		lock(&h.lock)
		if p = (*perfHazardPage)(h.page.Load()); p != nil { // or it was closed meanwhile
			h.stopped, h.stop = !ends, w.reason
			if ends {
				h.marking = gcphase != _GCoff
				h.held = h.marking && sched.disable.user
			}
			h.changed(nanotime())
		}
		unlock(&h.lock)
	}
	if ends || p == nil {
		return // who waits for the end of a stop is woken when goroutines run
	}
	// Without sched.lock: it takes a lock of the kernel's. If the page has been closed since, the
	// kernel finds no page, or wakes who then looks for himself.
	perfHazardWake(p)
}

// perfHazardExec is called before execve, whose new program publishes nothing, and if that fails.
// If it succeeds, the kernel drops the lock of the page's file, by which others know.
func perfHazardExec(begin bool) {
	h := &perfHazard
	systemstack(func() {
		lock(&h.lock)
		p := (*perfHazardPage)(h.page.Load())
		if p != nil {
			h.exec = begin
			h.changed(nanotime())
		}
		unlock(&h.lock)
		if p != nil {
			perfHazardWake(p)
		}
	})
}

// perfHazardShows returns the state that shows, and why. The caller holds the lock.
//
//go:nowritebarrierrec
func perfHazardShows() (state uint8, reason string) {
	// As in package runtime/hazard.
	const (
		ok         = 0
		collecting = 2
		stopped    = 3
		gone       = 6
	)
	const marks = "GC mark"
	h := &perfHazard
	switch {
	case h.closed:
		return gone, "closed"
	case h.exec:
		return stopped, "execve" // or gone, if it succeeds
	case h.stopped:
		return stopped, h.stop.String()
	case h.held:
		return stopped, marks
	case h.program != ok:
		return h.program, perfHazardProgram()
	case h.marking:
		return collecting, marks
	}
	return ok, perfHazardProgram()
}

// perfHazardProgram returns the program's reason. (unsafe.String can panic, which allocates.)
//
//go:nowritebarrierrec
func perfHazardProgram() string {
	s := stringStruct{unsafe.Pointer(&perfHazard.reason), int(perfHazard.length)}
	return *(*string)(unsafe.Pointer(&s))
}

// changed writes what has changed at a time. The caller holds the lock, and a page is published.
//
// Readers of the last change use neither of the two places that this writes to. So they are
// never wrong while this is in the middle of it, for however long; they are if this has begun
// twice, and see it by the number.
//
// It has its variables by a pointer: the compiler for s390x can't swap the bytes of a global
// where it loads it.
//
//go:nowritebarrierrec
func (h *perfHazardState) changed(now int64) {
	p := (*perfHazardPage)(h.page.Load())
	now = max(now, h.time) // an earlier one may have waited for the lock
	h.time = now
	h.number++
	state, reason := perfHazardShows()
	if state != h.shown {
		h.nanos[h.shown] += now - h.since
		h.count[state]++
		h.shown, h.since = state, now
	}

	publicationBarrier() // the number of the last change comes before
	t := &p.totals[h.number&1]
	for i := range h.count {
		t.count[i].set(h.count[i])
		t.nanos[i].set(uint64(h.nanos[i]))
	}
	t.since.set(uint64(h.since))
	c := &p.ring[h.number%uint64(len(p.ring))]
	c.number.set(h.number)
	c.time.set(uint64(now))
	c.state, c.program = state, h.program
	c.length = uint8(min(len(reason), len(c.reason)))
	for i := range c.reason {
		c.reason[i] = 0
		if i < len(reason) {
			c.reason[i] = reason[i]
		}
	}
	publicationBarrier() // the number comes after
	p.changes.Store(perfLittle32(uint32(h.number)))
}

// perfHazardWake wakes everybody who waits for a change of a page, in whatever process. Without anybody
// that is a system call all the same: how many wait is known to the kernel only, which forgets
// those that are killed. It looks for the page, and where that is not locked in memory it may have to
// wait for a disk.
//
//go:nowritebarrierrec
func perfHazardWake(p *perfHazardPage) {
	const wakeShared = _FUTEX_WAKE_PRIVATE &^ _FUTEX_PRIVATE_FLAG
	futex(unsafe.Pointer(&p.changes), wakeShared, 1<<31-1, nil, nil, 0)
}
