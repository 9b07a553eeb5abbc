// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Accounts of goroutines: where a goroutine's time goes, and what it counts.
//
// A goroutine is accounted from when it asks (perfinterval.go), or from birth if the
// goroutine that starts it is. All others run upstream's instructions. For that,
// casgstatus and the two fast paths around it compare g.account with 0 where upstream
// compares g.bubble with nil: a goroutine of a synctest bubble has perfBubbled for an
// account if it has no other.
//
// An account belongs to who may change its goroutine's status: the thread that the
// goroutine runs on, and who makes it runnable until it is in a queue. Both change it
// just after the status, as upstream does with g.trackingStamp. Signal handlers do not
// look at accounts.

package runtime

import (
	"internal/profilerecord"
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"internal/runtime/sys"
	"unsafe"
)

// A perfAccount is a goroutine's account. It is allocated outside the heap and reused.
type perfAccount struct {
	_    sys.NotInHeap
	node lfnode

	part     perf.Part // that the goroutine is in
	onThread bool      // the goroutine has its thread in this part

	// plain says that a change of status needs no more than perfStatus does by itself; see
	// judge.
	plain bool

	// cpu says that it is always to be known for how long the thread has no CPU, and
	// cpuSince that it is, since the stretch began or settle was called, whichever was
	// later. part is PartRunning then.
	cpu      bool
	cpuSince bool

	// bubbled says that the goroutine is in a bubble, or has been. (Upstream takes
	// g.bubble away for some moments.)
	bubbled bool

	// pinned says that the account stays until the goroutine ends. Otherwise it goes
	// when the goroutine next leaves its thread and no interval is open.
	pinned    bool
	intervals uint32 // that are open, and 1 if there is a member

	// seq is odd while what follows changes; see peek.
	seq atomic.Uint32

	// turn is when the goroutine last got its thread or left it. If it then is longer than
	// least without one or with it, its task hears of it. Both are in ticks.
	turn  int64
	least int64

	member perfMemberRef // of a task that it works for, or 0

	// The parts' times are kept in ticks (perfTicks) until settle adds them to usage: for
	// each part the time of all stretches that have ended, less what settle had of the
	// present one. That began at since. The array is longer for the sake of the index.
	since int64
	ticks [perfPartMask + 1]int64
	known int64 // ticks for which it was known whether the thread had a CPU

	// When settle was last called, and steady, in ticks, and the latest perfNow.
	settled int64
	shown   int64
	latest  int64

	// The numbers in usage, up to now.
	switches    uint64
	preemptions uint64
	migrations  uint64
	waker       uint64

	// The latest thread: m.id, or perfNoThread. If the counters have to be read when the
	// goroutine gets a thread, it is perfNoThread - m.id - 1, which no thread is.
	mid int64

	calls uint64 // m.ncgocall, as far as it has been looked at

	counts perfCountsRef // of the sets that it is accounted for

	serial uint64 // names this use of the memory; > 0

	perfAccountEpoch                   // the present one
	epochs           *perfAccountEpoch // earlier ones in which intervals began that are open
}

// A perfAccountEpoch is the time between two calls of settle. In the present one it is known,
// as long as nothing changes, what the goroutine has used without changing its account:
// as much more as time has passed. An interval remembers in which epoch it began, and
// settle keeps the epoch for it. Earlier epochs are allocated like accounts.
type perfAccountEpoch struct {
	_    sys.NotInHeap
	node lfnode

	next      *perfAccountEpoch
	number    uint64
	intervals uint32             // that began in it and are open
	nanos     int64              // perfNow when it began
	usage     perf.GoroutineTime // then
}

const perfNoThread = -1

// perfPartMask is at least perf.NumParts - 1.
const perfPartMask = 15

// A perfAccountRef is a *perfAccount in a g. It is a number so that the types of accounts
// are not part of g's, which every program has.
type perfAccountRef uintptr

//go:nosplit
func (r perfAccountRef) ptr() *perfAccount { return (*perfAccount)(unsafe.Pointer(r)) }

func (a *perfAccount) ref() perfAccountRef { return perfAccountRef(unsafe.Pointer(a)) }

// A perfCountsRef is a *perfAccountCounts in an account. As the other references here it is
// no pointer for the sake of programs without counters, which have none of these types.
type perfCountsRef uintptr

//go:nosplit
func (r perfCountsRef) ptr() *perfAccountCounts { return (*perfAccountCounts)(unsafe.Pointer(r)) }

func (c *perfAccountCounts) ref() perfCountsRef { return perfCountsRef(unsafe.Pointer(c)) }

// The efforts that can be made to know for how long a thread has no CPU.
const (
	perfCPUFree   = iota // none
	perfCPUPaged         // a system call where it is rarely needed
	perfCPUAlways        // a system call
)

// A perfAccountCounts is what one goroutine has counted in one set, up to the last
// reading. Allocated like an account.
type perfAccountCounts struct {
	_    sys.NotInHeap
	node lfnode

	next      perfCountsRef
	set       perf.SetID
	pinned    bool   // as in perfAccount
	intervals uint32 // that are open, and count in this set

	fresh bool // it is new, since the goroutine got its thread

	// counted is what was counted up to the latest reading. While the goroutine has a
	// thread, base is what that had counted then less counted.
	counted perfReading
	base    [perf.MaxEvents]uint64
	thread  *perfCountThread // that thread's counters; used only if they still are

	// unread counts the stretches on a thread, from one reading to the next, that were
	// not counted.
	unread  uint64
	failure perf.Failure // why: the first one's, if it was tried
}

var (
	perfBubbled      perfAccount  // of bubbles' goroutines that are not accounted
	perfFollowed     perfAccount  // of others, while threads are sampled without signals; see perfquiet.go
	perfAccountsUsed atomic.Int64 // of Ps that have no perfLocal, for tests
)

// perfAccountHooks are what the scheduler calls for goroutines with an account. The first
// account and the first bubble set them. They are variables so that the linker leaves all
// this out of a program that has no way to make either; see perfHooks.
var perfAccountHooks perfAccountHookTable

type perfAccountHookTable struct {
	status func(gp *g, old, new uint32) (bubbled bool)
	park   func(gp *g)
	born   func(newg, parent *g)
	world  func(w worldStop) // see perfworld.go

	// kind is of the task that the goroutine works for whose labels are at tag, which may be nil.
	// Signal handlers call it.
	kind func(tag *unsafe.Pointer) int64

	// sampled is set and called as kind is. It returns the task's number, too, for a sample that
	// waits for its end; see perftaskend.go.
	sampled func(tag *unsafe.Pointer) (kind int64, number uint64)

	profiled func(gp *g) profilerecord.Task // set as kind is; see perftaskbegan.go
}

// perfSetAccountHooks sets them. It may be called by several goroutines at once.
func perfSetAccountHooks() {
	perfAccountHooks.status = perfStatus
	perfAccountHooks.park = perfParkAccounted
	perfAccountHooks.born = perfBornAccounted
}

// perfTellStop is called when the world is about to be stopped, with the reason alone; before it
// is started; and with nothing, when all Ps have been given to threads. It is on the system stack,
// with no lock held but worldsema.
func perfTellStop(w worldStop) {
	if h := perfAccountHooks.world; h != nil {
		h(w)
	}
}

// perfNewAccount returns an account whose goroutine is in the given part from now on.
// The caller has a P.
func perfNewAccount(part perf.Part) *perfAccount {
	a := (*perfAccount)(perfFreeAccount.pop())
	if a == nil {
		a = (*perfAccount)(persistentalloc(unsafe.Sizeof(perfAccount{}), tagAlign, &memstats.other_sys))
	}
	nanos, ticks := perfNow(getg().m)
	*a = perfAccount{node: a.node, serial: perfNewSerial(), part: part, since: ticks, settled: ticks, latest: nanos, mid: perfNoThread, turn: ticks, least: perfNeverLog}
	a.nanos = nanos
	perfCountAccount(1)
	return a
}

// perfCountAccount notes how many accounts there are more.
//
//go:nowritebarrierrec
func perfCountAccount(n int64) {
	if l := perfHere(); l != nil {
		l.accounts += n
	} else {
		perfAccountsUsed.Add(n)
	}
}

// count returns what a counts in a set, from now on if it did not. The caller has a P.
func (a *perfAccount) count(set perf.SetID) *perfAccountCounts {
	if c := a.find(set); c != nil {
		return c
	}
	c := (*perfAccountCounts)(perfFreeCounts.pop())
	if c == nil {
		c = (*perfAccountCounts)(persistentalloc(unsafe.Sizeof(perfAccountCounts{}), tagAlign, &memstats.other_sys))
	}
	*c = perfAccountCounts{node: c.node, set: set, fresh: true, next: a.counts}
	a.counts = c.ref()
	a.plain = false
	return c
}

// find returns what a counts in a set, or nil.
func (a *perfAccount) find(set perf.SetID) *perfAccountCounts {
	for c := a.counts.ptr(); c != nil; c = c.next.ptr() {
		if c.set == set {
			return c
		}
	}
	return nil
}

// free takes gp's account away and keeps it for others.
//
//go:nowritebarrierrec
func (a *perfAccount) free(gp *g) {
	gp.account = 0
	if a.bubbled {
		gp.account = perfBubbled.ref()
	} else if perfQuiet.Load() != 0 {
		gp.account = perfFollowed.ref()
	}
	for c := a.counts.ptr(); c != nil; {
		next := c.next.ptr()
		perfFreeCounts.push(&c.node)
		c = next
	}
	a.counts = 0
	for e := a.epochs; e != nil; {
		next := e.next
		perfFreeEpoch.push(&e.node)
		e = next
	}
	a.epochs = nil
	perfFreeAccount.push(&a.node)
	perfCountAccount(-1)
}

// release frees gp's account, or what it counts in a set, if nobody needs it. The
// goroutine has left its thread.
//
//go:nowritebarrierrec
func (a *perfAccount) release(gp *g) {
	if !a.pinned && a.intervals == 0 {
		a.free(gp)
		return
	}
	for p := &a.counts; *p != 0; {
		if c := p.ptr(); c.pinned || c.intervals > 0 {
			p = &c.next
		} else {
			*p = c.next
			perfFreeCounts.push(&c.node)
		}
	}
}

// perfAccountOf returns gp's account, or nil.
//
//go:nosplit
//go:nowritebarrierrec
func perfAccountOf(gp *g) *perfAccount {
	if a := gp.account.ptr(); a != &perfBubbled && a != &perfFollowed {
		return a
	}
	return nil
}

// perfTagAccount returns the account of the goroutine whose labels are at tag, or nil. tag may be nil.
//
//go:nowritebarrierrec
func perfTagAccount(tag *unsafe.Pointer) *perfAccount {
	if tag == nil {
		return nil
	}
	return perfAccountOf((*g)(unsafe.Pointer(uintptr(unsafe.Pointer(tag)) - unsafe.Offsetof(g{}.labels))))
}

// perfBubble is called when gp enters a bubble.
func perfBubble(gp *g) {
	perfSetAccountHooks()
	if a := perfAccountOf(gp); a != nil {
		a.bubbled, a.plain = true, false
	} else {
		gp.account = perfBubbled.ref()
	}
}

// perfBorn gives newg an account if it is started by an accounted goroutine, which
// parent may be or nil, and does what perfBubble does. It is called from newproc1,
// before newg has a status. newg has no account: it is taken away when a goroutine ends.
// While threads are sampled without signals every goroutine gets one, also the runtime's own:
// else a sample of the garbage collector's worker would be read when the next goroutine
// leaves the thread, with the labels of that.
func perfBorn(newg, parent *g) {
	if newg.bubble != nil || perfQuiet.Load() != 0 || parent != nil && parent.account != 0 {
		perfAccountHooks.born(newg, parent)
	}
}

func perfBornAccounted(newg, parent *g) {
	if newg.bubble != nil {
		newg.account = perfBubbled.ref()
	} else if perfQuiet.Load() != 0 {
		newg.account = perfFollowed.ref()
	}
	if parent == nil || isSystemGoroutine(newg, false) {
		return // what the runtime starts by the way is not the program's
	}
	if p := perfAccountOf(parent); p != nil {
		perfInherit(newg, p)
	}
}

// perfInherit gives newg an account like p, the account of the goroutine that starts it.
func perfInherit(newg *g, p *perfAccount) {
	member := p.member.ptr()
	if member != nil && member.task.live() == nil {
		member = nil // its task has ended
	}
	if !p.pinned && (p.intervals == 0 || p.intervals == 1 && member == nil && p.member != 0) {
		return
	}
	a := perfNewAccount(perf.PartRunnable)
	a.pinned = p.pinned || p.member == 0 || p.intervals > 1
	a.bubbled = newg.account == perfBubbled.ref()
	a.cpu = p.cpu
	for c := p.counts.ptr(); c != nil; c = c.next.ptr() {
		if c.pinned || c.intervals > 1 || c.intervals == 1 && (p.member == 0 || p.member.ptr().task.set != c.set) {
			a.count(c.set).pinned = true
		}
	}
	newg.account = a.ref()
	a.judge()
	if member != nil {
		member.inherit(newg, a)
	}
}
