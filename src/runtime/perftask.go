// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tasks: what goroutines that work together use; see package runtime/task.
//
// A goroutine that works for a task has an account, and the account a perfMember. What
// the goroutine uses from when it joins the task until it leaves is the task's, and that
// of the tasks that it is a child of. A goroutine that it starts is a member from birth.
//
// While a task can be found it stays: its user holds a reference until it gives it up,
// and so do members and children.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"internal/runtime/sys"
	"unsafe"
)

// A perfTask is a task. It is allocated outside the heap and reused.
//
// Its fields, but kind and those that are set when it is made, are protected by root.lock. That is
// taken by goroutines that join, leave and ask, and by the scheduler when a goroutine of
// the task ends, or has waited for long: on a thread that holds no other lock but those
// of callers of casgstatus, which no holder of root.lock takes. It is held for a bounded
// time, however many goroutines a task has; see perftaskread.go.
type perfTask struct {
	_    sys.NotInHeap
	node lfnode

	serial atomic.Uint64 // names this use of the memory; 0 if it is free
	uses   uint64        // of the memory, up to now

	// Of a root.
	lock   mutex
	wanted atomic.Int32 // how many wait for lock who can't wait for long
	askers int
	asking [perfMostAsking]*perfAsking // who asks, or nil

	root   *perfTask
	parent *perfTask
	depth  int
	refs   int
	span   uint64
	kind   atomic.Uint32
	goid   uint64      // of the goroutine that began it, which works for it, or 0
	open   atomic.Bool // also read without lock; see live
	began  int64
	ended  int64
	set    perf.SetID
	events int

	members  *perfMember
	children *perfTask // with a reference
	next     *perfTask // among parent.children
	prev     *perfTask

	// What those have used that are not members any more. The counts are there if events is
	// not 0, as those of a member are.
	usage      perf.GoroutineTime
	counts     [perf.MaxEvents]perf.Count
	unread     uint64
	goroutines uint64
	left       *perfLeft
	unfound    int64 // goroutines that should have come back, and children that nest too deep

	log perfTaskLog

	perfTaskSamples
}

// A perfMember is what the account of a goroutine has while the goroutine works for a
// task. Allocated like an account.
type perfMember struct {
	_    sys.NotInHeap
	node lfnode

	task       *perfTask
	account    *perfAccount
	goid       uint64
	startpc    uintptr
	gopc       uintptr
	next, prev *perfMember            // in task.members
	asked      [perfMostAsking]uint32 // perfAsking.number of those who have looked at it, or when it joined

	// These belong to who owns the account.
	label bool          // the labels of a context have brought the goroutine to the task
	back  *perfTaskBack // what it worked for before, or nil

	// What the account had when the goroutine joined. See perfTask for the counts.
	usage  perf.GoroutineTime
	counts [perf.MaxEvents]perf.Count
	unread uint64

	// outlived is the task that the goroutine outlives. ranAtEnd is for how long it had run at the
	// end of that, and 1 more; 0 if it works for a task. Both are protected by root.lock.
	ranAtEnd int64
	onAtEnd  bool // see ran
	outlived perf.TaskID

	woken perfWoken
}

// A perfMemberRef is a *perfMember in an account; see perfAccountRef.
type perfMemberRef uintptr

//go:nosplit
func (r perfMemberRef) ptr() *perfMember { return (*perfMember)(unsafe.Pointer(r)) }

func (m *perfMember) ref() perfMemberRef { return perfMemberRef(unsafe.Pointer(m)) }

// A perfWoken is how a goroutine's latest wait ended. It belongs to who owns the account.
type perfWoken struct {
	since int64 // perfAccount.turn when the wait began, of which this is the end
	goid  uint64
	span  uint64
	kind  uint32
	n     uint8
	stack [perf.MaxWakerStack]uintptr
}

var (
	perfTasksMade   atomic.Int64 // used or free, for tests
	perfMembersMade atomic.Int64 // ditto
	perfLetGo       atomic.Int64 // how many times pause was called, for tests
)

// A perfJoin is how a goroutine comes to work for a task.
type perfJoin uint8

const (
	perfJoinOther perfJoin = iota
	perfJoinNew            // it has just made it
	perfJoinBorn           // it is born to it
	perfJoinBack           // it has before, until it began another one
)

// perfNeverLog is the least length of stretches that are logged, if none are.
const perfNeverLog = 1<<63 - 1

// lockTree locks root.lock for a goroutine that joins or leaves, or for the scheduler. Who
// asks lets it pass.
//
//go:nowritebarrierrec
func (root *perfTask) lockTree() {
	root.wanted.Add(1)
	lock(&root.lock)
	root.wanted.Add(-1)
}

// perfFindTask returns the task that id names, or nil if it has been given up.
func perfFindTask(id perf.TaskID) *perfTask {
	t := (*perfTask)(unsafe.Pointer(id.Task))
	if t == nil || t.serial.Load() != id.Serial {
		return nil
	}
	return t
}

func (t *perfTask) id() perf.TaskID {
	if t == nil {
		return perf.TaskID{}
	}
	return perf.TaskID{Task: uintptr(unsafe.Pointer(t)), Serial: t.serial.Load()}
}

// perfTaskNew begins a task, as a child of parent if that is still there. Its members'
// counts in a set of n counters are kept, unless set is zero. If enter, the calling
// goroutine works for it. goid is the goroutine's ID.
//
//go:linkname perfTaskNew runtime/task.runtime_perfTaskNew
func perfTaskNew(parent perf.TaskID, span uint64, kind uint32, set perf.SetID, n int, enter bool) (id perf.TaskID, goid uint64) {
	mp := acquirem()
	perfCPUOpen(mp)
	a := perfOwnAccount()
	t := (*perfTask)(perfFreeTask.pop())
	if t == nil {
		t = (*perfTask)(persistentalloc(unsafe.Sizeof(perfTask{}), tagAlign, &memstats.other_sys))
		lockInit(&t.lock, lockRankPerfTask)
		perfTasksMade.Add(1)
	}
	t.root, t.parent, t.depth = t, nil, 0
	t.span, t.set, t.events = span, set, n
	t.kind.Store(kind)
	t.usage = perf.GoroutineTime{}
	t.goroutines, t.unfound, t.goid = 0, 0, 0
	t.refs, t.ended = 1, 0
	t.open.Store(true)
	if n > 0 {
		t.counts, t.unread = [perf.MaxEvents]perf.Count{}, 0
	}
	t.log.reset()
	t.perfTaskSamples.reset()
	if p := perfFindTask(parent); p != nil {
		root := p.root
		lock(&root.lock)
		if p.root != root || p.serial.Load() != parent.Serial || p.refs == 0 {
			// It has gone meanwhile.
		} else if p.depth >= perf.MaxTaskDepth {
			p.unfound++
		} else {
			t.root, t.parent, t.depth = p.root, p, p.depth+1
			p.refs++
			t.next = p.children
			if t.next != nil {
				t.next.prev = t
			}
			p.children = t
		}
		unlock(&root.lock)
	}
	t.uses++
	t.serial.Store(t.uses)
	id = t.id()
	if enter {
		a.settleNow(mp, perfCPUPaged)
		t.began = a.latest
		t.goid = getg().goid
		a.workFor(getg(), mp, id, perfJoinNew, false)
	} else {
		t.began, _ = perfNow(mp)
	}
	goid = getg().goid
	releasem(mp)
	return id, goid
}

// readMember reads what the counters of the calling goroutine's thread have counted
// since a's were last read.
func (a *perfAccount) readMember(m *perfMember, mp *m) {
	if c := a.find(m.task.set); c != nil {
		var counts [perf.MaxEvents]perf.Count
		c.read(a, mp, counts[:m.task.events])
	}
}

func perfNewMember() *perfMember {
	m := (*perfMember)(perfFreeMember.pop())
	if m == nil {
		m = (*perfMember)(persistentalloc(unsafe.Sizeof(perfMember{}), tagAlign, &memstats.other_sys))
		perfMembersMade.Add(1)
	}
	return m
}

// joinTask makes m, with the goroutine's numbers in it, a's. It reports false if t has been given
// up, or has ended, and so have those that it is a child of.
func (a *perfAccount) joinTask(m *perfMember, t *perfTask, serial uint64, how perfJoin) bool {
	m.account, m.task = a, t
	m.woken.since, m.ranAtEnd = 0, 0
	m.prev = nil
	root := t.root
	// Nobody else has a new task. (A child's parent has.)
	locked := t.parent != nil || how != perfJoinNew
	if locked {
		root.lockTree()
	}
	if t.serial.Load() != serial || t.root != root || t.live() == nil { // never if it is new
		unlock(&root.lock)
		return false
	}
	t.refs++
	if how != perfJoinBack {
		for s := t; s != nil; s = s.parent {
			if how == perfJoinOther && s.hasCounted(m) || how == perfJoinNew && s != t && s.hasCounted(m) {
				break
			}
			s.goroutines++
		}
	}
	if root.askers != 0 {
		for i, r := range root.asking {
			if r != nil {
				m.asked[i] = r.number
			}
		}
	}
	m.next = t.members
	if m.next != nil {
		m.next.prev = m
	}
	t.members = m
	if locked {
		unlock(&root.lock)
	}
	a.member = m.ref()
	a.intervals++
	a.least = perfTaskConfig.least
	a.judge()
	return true
}

// leaveTask ends a's membership. a is settled, and its counters have been read, if they
// count for the task.
//
//go:nowritebarrierrec
func (a *perfAccount) leaveTask(why perfLeaving) {
	m := a.member.ptr()
	t := m.task
	var c *perfAccountCounts
	if t.events > 0 {
		c = a.find(t.set)
	}
	root := t.root
	root.lockTree()
	t.remove(m, &a.usage, c)
	switch {
	case why == perfLeaveGone, why == perfLeaveOn && !t.open.Load():
		t.leftBy(m.goid)
	case why == perfLeaveOn:
		t.parent.leftBy(m.goid) // t may go before it comes back
	}
	a.member = 0 // before a signal handler could find a task that has gone
	free := t.unref()
	unlock(&root.lock)
	free.freeAll()
	a.noMember(m, c)
}

// remove removes m, whose account has used that much, and counted c. The caller holds
// root.lock.
//
//go:nowritebarrierrec
func (t *perfTask) remove(m *perfMember, usage *perf.GoroutineTime, c *perfAccountCounts) {
	m.addTo(t, usage, c)
	if m.ranAtEnd != 0 {
		// It may be less: it was taken to have a CPU while it was on a thread.
		perfOutlived.Add(max(0, m.ran(usage)-(m.ranAtEnd-1)))
		m.ranAtEnd = 0
	}
	if root := t.root; root.askers != 0 {
		for _, r := range root.asking {
			if r != nil && r.at == m {
				r.at = m.next
			}
		}
	}
	if m.next != nil {
		m.next.prev = m.prev
	}
	if m.prev != nil {
		m.prev.next = m.next
	} else {
		t.members = m.next
	}
	m.next, m.prev = nil, nil
}

// noMember says that a is not a member any more.
//
//go:nowritebarrierrec
func (a *perfAccount) noMember(m *perfMember, c *perfAccountCounts) {
	a.member = 0
	a.least = perfNeverLog
	if a.intervals > 0 { // 0 if the goroutine ends
		a.intervals--
	}
	if c != nil && c.intervals > 0 {
		c.intervals--
	}
	m.back.free()
	m.back = nil
	perfFreeMember.push(&m.node)
}

// addTo adds what m has used, up to usage and what c has counted, to t and the tasks
// that t is a child of, and to what those get who ask about one of these and have not looked
// at m. The caller holds root.lock.
//
//go:nowritebarrierrec
func (m *perfMember) addTo(t *perfTask, usage *perf.GoroutineTime, c *perfAccountCounts) {
	for root := t.root; t != nil; t = t.parent {
		t.usage.AddSince(usage, &m.usage)
		if c != nil && t.set == c.set {
			m.addCounts(&t.counts, &t.unread, t.events, c)
		}
		if root.askers == 0 {
			continue
		}
		for i, r := range root.asking {
			if r == nil || r.task != t || m.asked[i] == r.number {
				continue
			}
			if m.goid != t.goid || t.open.Load() {
				r.gone++
			}
			r.left.AddSince(usage, &m.usage)
			if c != nil && t.set == c.set {
				m.addCounts(&r.counts, &r.unread, t.events, c)
			}
		}
	}
}

//go:nowritebarrierrec
func (m *perfMember) addCounts(counts *[perf.MaxEvents]perf.Count, unread *uint64, n int, c *perfAccountCounts) {
	for i := range n {
		d := c.total(i)
		d.SubNotBelow(m.counts[i])
		counts[i].Add(d)
	}
	*unread += c.unread - m.unread
}

// unref drops a reference to t, and returns t if that was the last one: linked by next
// with the tasks that lost theirs by that. The caller holds root.lock, and frees them
// when it has let go of that.
//
//go:nowritebarrierrec
func (t *perfTask) unref() (free *perfTask) {
	for t != nil {
		if t.refs--; t.refs > 0 {
			return free
		}
		p := t.parent
		if p != nil {
			if t.next != nil {
				t.next.prev = t.prev
			}
			if t.prev != nil {
				t.prev.next = t.next
			} else {
				p.children = t.next
			}
		}
		t.serial.Store(0)
		t.prev, t.next = nil, free
		free = t
		t = p
	}
	return free
}

// freeAll keeps t and those linked with it for others.
//
//go:nowritebarrierrec
func (t *perfTask) freeAll() {
	for t != nil {
		next := t.next
		t.next = nil
		if t.log.chunks[0] != nil { // most have none
			t.log.free()
		}
		if t.left != nil {
			t.left.freeAll()
			t.left = nil
		}
		perfFreeTask.push(&t.node)
		t = next
	}
}

// inherit makes newg, whose account is a, a member of p's task. If that has ended meanwhile,
// newg works for none. See perfInherit.
func (p *perfMember) inherit(newg *g, a *perfAccount) {
	m := perfNewMember()
	m.goid, m.startpc, m.gopc = newg.goid, newg.startpc, newg.gopc
	m.usage = perf.GoroutineTime{}
	m.label, m.back = false, nil
	var c *perfAccountCounts
	if p.task.events > 0 {
		m.counts, m.unread = [perf.MaxEvents]perf.Count{}, 0
		c = a.count(p.task.set)
		c.intervals++
	}
	if !a.joinTask(m, p.task, p.task.serial.Load(), perfJoinBorn) {
		if c != nil {
			c.intervals--
		}
		perfFreeMember.push(&m.node)
		a.judge()
	}
}

// perfTaskEnd ends a task, and stores what its members have used: u is zero, but for Trace. Then it gives
// the task up, unless it has taken longer than slow ns: its log can be read until
// perfTaskGiveUp then. Nor does it if u.Outlives is not 0; see perfTaskOutlived. If the
// calling goroutine works for it, it works for what it worked for before from now on. It
// reports false if the task has ended before.
//
// If the task has many members, it returns who asks, for perfTaskEndRest. Until that has been
// called the task stays, and u has not all.
//
//go:linkname perfTaskEnd runtime/task.runtime_perfTaskEnd
func perfTaskEnd(id perf.TaskID, u *perf.TaskUsage, slow int64) (ok bool, rest uintptr) {
	perfRelabel() // what has been sampled is the task's
	t, a, mp := perfLockToAsk(id)
	if t == nil {
		releasem(mp)
		return false, 0
	}
	root := t.root
	if !t.open.Load() {
		unlock(&root.lock)
		releasem(mp)
		return false, 0
	}
	var m *perfMember
	var c *perfAccountCounts
	var back *perfTaskBack
	leave := a != nil && a.member.ptr().task == t
	u.EndedBy, t.trace = getg().goid, u.Trace
	if leave {
		m = a.member.ptr()
		if t.goroutines > 1 {
			for i := range u.Ender {
				u.Ender[i] = a.usage.Parts[i] - m.usage.Parts[i]
			}
		}
		back, m.back = m.back, nil
		a.member = 0 // as in leaveTask
		if t.events > 0 {
			c = a.find(t.set)
		}
		t.remove(m, &a.usage, c)
		t.parent.endsWith(m, back)
		t.refs-- // not the last one
	}
	var free *perfTask
	if t.members == nil && t.children == nil { // nobody is to be asked
		if a != nil {
			t.ended = a.latest
		} else {
			t.ended, _ = perfNow(mp)
		}
		t.open.Store(false)
		t.read(u, t.ended)
		t.readLog(u)
		free = t.giveUp(u, slow)
	} else {
		r := t.ask(mp, a)
		t.ended = r.nanos
		t.open.Store(false)
		r.begin(u, a)
		var more bool
		if free, more = r.read(u); more {
			rest = uintptr(unsafe.Pointer(r))
		} else {
			free = free.with(r.finish(u)).with(t.giveUp(u, slow))
		}
	}
	unlock(&root.lock)
	free.freeAll()
	if leave {
		a.noMember(m, c)
		a.goBack(getg(), mp, back)
	}
	releasem(mp)
	return true, rest
}

// perfTaskEndRest does what perfTaskEnd has left to it.
//
//go:linkname perfTaskEndRest runtime/task.runtime_perfTaskEndRest
func perfTaskEndRest(rest uintptr, u *perf.TaskUsage, slow int64) {
	mp := acquirem()
	r := (*perfAsking)(unsafe.Pointer(rest))
	t := r.task // stays until it is given up
	root := t.root
	lock(&root.lock)
	mp = r.readAll(u, mp)
	lock(&root.lock)
	free := t.giveUp(u, slow)
	unlock(&root.lock)
	free.freeAll()
	releasem(mp)
}

// giveUp gives t up, which has ended, unless it has taken longer than slow ns, or goroutines
// outlive it. The caller holds root.lock.
func (t *perfTask) giveUp(u *perf.TaskUsage, slow int64) (free *perfTask) {
	t.decide(u, slow)
	if u.Wall > slow {
		return nil
	}
	if u.Outlives > 0 {
		t.log.free()
		return nil
	}
	if free = t.unref(); free == nil {
		t.log.free()
	}
	return free
}

// perfTaskGo starts a goroutine that works for no task and is in no bubble, whatever the
// calling one does.
//
//go:linkname perfTaskGo runtime/task.runtime_perfTaskGo
func perfTaskGo(f func()) {
	mp := acquirem()
	gp := getg()
	account, bubble := gp.account, gp.bubble
	gp.account, gp.bubble = 0, nil
	go f()
	gp.account, gp.bubble = account, bubble
	releasem(mp)
}

// perfTaskGiveUp gives up a task that has ended; only its log, if keep.
//
//go:linkname perfTaskGiveUp runtime/task.runtime_perfTaskGiveUp
func perfTaskGiveUp(id perf.TaskID, keep bool) {
	mp := acquirem()
	if t := perfFindTask(id); t != nil {
		root := t.root
		lock(&root.lock)
		var free *perfTask
		if !keep {
			free = t.unref()
		}
		if free == nil {
			t.log.free()
		}
		unlock(&root.lock)
		free.freeAll()
	}
	releasem(mp)
}
