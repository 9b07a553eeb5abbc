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
// time of some hundred stores. What is stored is outside the heap and has no pointers. The system call wakes those
// who wait in the kernel; it never sleeps. The scheduler does not hear of it, so the P stays.

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
	beat    atomic.Uint32 // ms of the monotonic clock, written without the lock
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
var perfHazard struct {
	lock mutex

	// page never changes once it is set. What is mapped there does: the file that is published,
	// or memory of nobody.
	page atomic.UnsafePointer

	published atomic.Bool
	lost      atomic.Bool // the file was cut: see perfHazardFault

	// With lock.
	number  uint64 // of the last change
	shown   uint8
	since   int64 // that shows
	time    int64 // of the last change
	count   [7]uint64
	nanos   [7]int64 // without what has passed since
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
// returns the page's address, or -errno. The caller lets one at a time in.
//
//go:linkname perfHazardPublish runtime/hazard.runtime_hazardPublish
func perfHazardPublish(fd int32) (addr uintptr, errno int32) {
	h := &perfHazard
	if perfSigbus == nil {
		perfSigbus = perfHazardFault
		perfHooks.replace = perfHazardExec
		perfTellWorld(&perfWorld.hazard, perfHazardWorld)
	}
	p := h.page.Load()
	flags := int32(_MAP_SHARED)
	if p != nil {
		flags |= _MAP_FIXED
	}
	p, err := mmap(p, unsafe.Sizeof(perfHazardPage{}), _PROT_READ|_PROT_WRITE, flags, fd, 0)
	if err != 0 {
		return 0, int32(err)
	}
	const dontFork = 0xa               // _MADV_DONTFORK
	madvise(p, physPageSize, dontFork) // a child of C's fork is no publisher
	systemstack(func() {
		// Who is on the system stack keeps his P. So the world is not stopped here, and no phase
		// of the collector begins or ends. A stop that has begun and waits for this P ends as one
		// that has not been seen.
		lock(&h.lock)
		h.number, h.count, h.nanos = 0, [7]uint64{}, [7]int64{}
		h.stopped, h.held, h.exec = false, false, false
		h.marking = gcphase != _GCoff
		h.program, h.length = 0, 0
		h.page.StoreNoWB(p)
		clear((*perfHazardPage)(p).ring[:]) // of a stop that began when another page was published
		h.lost.Store(false)
		h.published.Store(true)
		h.shown = 6 // Gone; the first change is from that
		h.since = nanotime()
		h.time = h.since
		perfHazardChanged(h.since)
		unlock(&h.lock)
	})
	return uintptr(p), 0
}

// perfHazardClose ends what is published. Readers that have the page see that.
//
//go:linkname perfHazardClose runtime/hazard.runtime_hazardClose
func perfHazardClose() {
	h := &perfHazard
	systemstack(func() {
		lock(&h.lock)
		h.published.Store(false)
		perfHazardChanged(nanotime())
		unlock(&h.lock)
		perfHazardWake()
	})
	perfHazardAway()
}

// perfHazardAway puts memory of nobody in the page's place. Signal handlers call it, too.
//
//go:nosplit
//go:nowritebarrierrec
func perfHazardAway() (ok bool) {
	_, err := mmap(perfHazard.page.Load(), unsafe.Sizeof(perfHazardPage{}), _PROT_READ|_PROT_WRITE, _MAP_ANON|_MAP_PRIVATE|_MAP_FIXED, -1, 0)
	return err == 0
}

// perfHazardFault is called by the handler of SIGBUS. There is one in the page if its file has been
// cut. Then memory of nobody takes its place, and the store that failed is done again.
//
//go:nowritebarrierrec
func perfHazardFault(info *siginfo) (mended bool) {
	c := sigctxt{info, nil}
	p, addr := uintptr(perfHazard.page.Load()), uintptr(c.sigaddr())
	if p == 0 || addr-p >= unsafe.Sizeof(perfHazardPage{}) || c.sigFromUser() {
		return false
	}
	perfHazard.lost.Store(true)
	return perfHazardAway()
}

// perfHazardSet sets the state of the program. It reports false if the page is lost.
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
			perfHazardChanged(nanotime())
		}
		unlock(&h.lock)
		if wake {
			perfHazardWake()
		}
	})
	return !h.lost.Load()
}

// perfHazardBeat says that goroutines run.
//
//go:linkname perfHazardBeat runtime/hazard.runtime_hazardBeat
func perfHazardBeat() {
	// Whatever is mapped there: the page's address stays.
	(*perfHazardPage)(perfHazard.page.Load()).beat.Store(perfLittle32(uint32(nanotime() / 1e6)))
}

// perfHazardWorld is called when the world is about to be stopped, and when it is about to be
// started. The collector's phases begin and end in such stops.
//
//go:nowritebarrierrec
func perfHazardWorld(w worldStop) {
	h := &perfHazard
	if !h.published.Load() {
		return
	}
	lock(&h.lock) // a page that is closed meanwhile gets one more change, and is Gone
	h.stopped, h.stop = w.finishedStopping == 0, w.reason
	if !h.stopped {
		h.marking = gcphase != _GCoff
		h.held = h.marking && sched.disable.user
	}
	perfHazardChanged(nanotime())
	unlock(&h.lock)
	perfHazardWake() // without sched.lock: it takes a lock of the kernel's
}

// perfHazardExec is called before execve, whose new program publishes nothing, and if that fails.
func perfHazardExec(begin bool) {
	h := &perfHazard
	if !h.published.Load() {
		return
	}
	systemstack(func() {
		lock(&h.lock)
		h.exec = begin
		perfHazardChanged(nanotime())
		unlock(&h.lock)
		perfHazardWake()
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
	case !h.published.Load():
		return gone, "closed"
	case h.exec:
		return gone, "execve"
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

// perfHazardChanged writes what has changed at a time. The caller holds the lock.
//
// Readers of the last change use neither of the two places that this writes to. So they are
// never wrong while this is in the middle of it, for however long; they are if this has begun
// twice, and see it by the number.
//
//go:nowritebarrierrec
func perfHazardChanged(now int64) {
	h := &perfHazard
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

// perfHazardWake wakes everybody who waits for a change, in whatever process. Without anybody
// that is a system call all the same: how many wait is known to the kernel only, which forgets
// those that are killed.
//
//go:nowritebarrierrec
func perfHazardWake() {
	p := (*perfHazardPage)(perfHazard.page.Load())
	const wakeShared = _FUTEX_WAKE_PRIVATE &^ _FUTEX_PRIVATE_FLAG
	futex(unsafe.Pointer(&p.changes), wakeShared, 1<<31-1, nil, nil, 0)
}
