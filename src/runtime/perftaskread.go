// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// What a task's members have used, when somebody asks.
//
// There may be hundreds of thousands of them. The scheduler wants the tree's lock when one of
// them ends or has waited for long, and the world can't be stopped while somebody looks at
// them. So who asks lets go of the lock, and may be preempted, each time that it has looked
// at a few, with a cursor in the tree. The answer is as of the beginning nevertheless, but
// for what those that have not been looked at yet do meanwhile: each member counts once.
// What one had used that left the task before it was looked at is in perfAsking.left. One
// that joined since does not count.
//
// The end of a task looks at the first few only, and leaves the others to whoever has time.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"internal/runtime/sys"
	"unsafe"
)

// perfAskMost bounds how much is looked at before the lock is let go of: a task or a
// member is one, a member that counts events is perfAskCounts, as they are read by a system
// call.
const (
	perfAskMost   = 64
	perfAskCounts = 8
)

// perfMostAsking is how many can ask about one tree at once.
const perfMostAsking = 4

// A perfAsking is somebody who asks about a tree. Protected by its lock. Allocated like an
// account.
type perfAsking struct {
	_    sys.NotInHeap
	node lfnode

	slot   int    // in root.asking and perfMember.asked
	number uint32 // of the times that somebody has asked
	task   *perfTask
	cur    *perfTask // in which the cursor is, with a reference, or nil at the end
	at     *perfMember

	// The moment as of which the answer is. Both of it, as the others' times are divided by
	// ticks.
	nanos, ticks int64

	// What those had used that left since, and had not been looked at.
	more   bool // the lock has been let go of
	gone   uint64
	left   perf.GoroutineTime
	counts [perf.MaxEvents]perf.Count
	unread uint64
}

var (
	perfAskings  atomic.Uint32
	perfMadeWay  atomic.Int64 // how many times pause has called Gosched, for tests
	perfAskedFor atomic.Int64 // the most that has been looked at in one go, for tests
)

// perfLockToAsk locks the tree of the task that id names when there is room for one more who
// asks, and returns the task. It returns nil, and locks nothing, if the task has been given
// up. own is the calling goroutine's account, up to date, if it is a member of any task: its
// own account knows more than others can find out.
func perfLockToAsk(id perf.TaskID) (t *perfTask, own *perfAccount, mp *m) {
	for {
		mp = acquirem()
		t = perfFindTask(id)
		if t == nil {
			return nil, nil, mp
		}
		if own = perfAccountOf(getg()); own != nil && own.member != 0 {
			own.settleNow(mp, perfCPUPaged)
			if m := own.member.ptr(); m.task.events > 0 {
				own.readMember(m, mp)
			}
		} else {
			own = nil
		}
		root := t.root
		lock(&root.lock)
		if t.serial.Load() != id.Serial {
			unlock(&root.lock)
			return nil, nil, mp
		}
		if root.askers < perfMostAsking {
			return t, own, mp
		}
		unlock(&root.lock)
		releasem(mp)
		Gosched()
	}
}

// ask begins to ask about t. own is the calling goroutine's account, which is settled, or
// nil. The caller holds root.lock.
func (t *perfTask) ask(mp *m, own *perfAccount) *perfAsking {
	r := (*perfAsking)(perfFreeAsking.pop())
	if r == nil {
		r = (*perfAsking)(persistentalloc(unsafe.Sizeof(perfAsking{}), tagAlign, &memstats.other_sys))
	}
	root := t.root
	for r.slot = 0; root.asking[r.slot] != nil; r.slot++ {
	}
	root.asking[r.slot] = r
	root.askers++
	for r.number = 0; r.number == 0; {
		r.number = perfAskings.Add(1)
	}
	r.task, r.cur, r.at, r.more = t, t, t.members, false
	t.refs++
	if own != nil {
		// The moment up to which it knows of itself: the lock may have been waited for since.
		r.nanos, r.ticks = own.latest, own.settled
	} else {
		r.nanos, r.ticks = perfNow(mp)
	}
	return r
}

// look calls f for the next members of r.task and of its children, until that returns 0: it
// returns how much it had to look at. When perfAskMost has been looked at, look returns true:
// there may be more. The caller holds root.lock, and may let go of it then. It frees the
// tasks that look returns, as those of unref.
func (r *perfAsking) look(f func(s *perfTask, m *perfMember) (work int)) (free *perfTask, more bool) {
	work := 0
	for r.cur != nil {
		if work >= perfAskMost {
			if !r.more {
				r.more = true
				r.gone, r.left, r.counts, r.unread = 0, perf.GoroutineTime{}, [perf.MaxEvents]perf.Count{}, 0
			}
			more = true
			break
		}
		if m := r.at; m != nil {
			n := 1
			if m.asked[r.slot] != r.number { // else it has joined since, or been looked at
				n = f(r.cur, m)
			}
			if n == 0 {
				break
			}
			work += n
			m.asked[r.slot] = r.number
			r.at = m.next
			continue
		}
		next := r.cur.after(r.task)
		if next != nil {
			next.refs++
			r.at = next.members
		}
		free = free.with(r.cur.unref())
		r.cur = next
		work++
	}
	if int64(work) > perfAskedFor.Load() {
		perfAskedFor.Store(int64(work))
	}
	return free, more
}

// end ends asking. See look.
func (r *perfAsking) end() (free *perfTask) {
	root := r.task.root
	if r.cur != nil {
		free = r.cur.unref()
	}
	root.asking[r.slot] = nil
	root.askers--
	r.task, r.cur, r.at = nil, nil, nil
	perfFreeAsking.push(&r.node)
	return free
}

// pause lets others have root.lock, and the world stop. It returns the thread, which may
// be another one.
func (root *perfTask) pause(mp *m, free *perfTask) *m {
	perfLetGo.Add(1)
	unlock(&root.lock)
	free.freeAll()
	// A mutex of the runtime would most often go to the thread again that has just unlocked it.
	for i := 0; root.wanted.Load() != 0 && i < 100; i++ {
		procyield(10)
	}
	releasem(mp)
	if getg().preempt {
		perfMadeWay.Add(1)
		Gosched() // nothing here would look
	}
	mp = acquirem()
	lock(&root.lock)
	return mp
}

// perfTaskUsage stores what the members of a task have used up to now. u is zero. It
// reports false if the task has been given up.
//
//go:linkname perfTaskUsage runtime/task.runtime_perfTaskUsage
func perfTaskUsage(id perf.TaskID, u *perf.TaskUsage) (ok bool) {
	t, own, mp := perfLockToAsk(id)
	if t != nil {
		r := t.ask(mp, own)
		r.begin(u, own)
		mp = r.readAll(u, mp)
	}
	releasem(mp)
	return t != nil
}

// begin stores in u what those have used that are no members any more, and what the calling
// goroutine has, whose account is own unless that is nil. The caller holds root.lock.
func (r *perfAsking) begin(u *perf.TaskUsage, own *perfAccount) {
	t := r.task
	t.read(u, r.nanos)
	if own == nil {
		return
	}
	m := own.member.ptr()
	if m == nil {
		return
	}
	for s := m.task; s != nil; s = s.parent {
		if s == t {
			r.add(u, m.task, m, &own.usage, false)
			m.asked[r.slot] = r.number
		}
	}
}

// read stores in u, which is zero, what those have used that are no members any more, as of
// nanos if t has not ended. The caller holds root.lock.
func (t *perfTask) read(u *perf.TaskUsage, nanos int64) {
	u.GoroutineTime = t.usage
	if t.events > 0 {
		u.Counts, u.Unread = t.counts, t.unread
	}
	u.Goroutines, u.Working = t.goroutines, 0
	u.Began, u.Ended = t.began, nanos
	if !t.open.Load() {
		u.Ended = t.ended
	}
	u.Wall = u.Ended - u.Began
}

// readLog stores in u how much there is in the log. The caller holds root.lock.
func (t *perfTask) readLog(u *perf.TaskUsage) {
	u.Stretches, u.Short, u.ShortNanos, u.NoMemory = t.log.n, t.log.short, perfTicksToNanos(t.log.shortTicks), t.log.noMemory
	u.Unfound = t.unfound
}

// readAll adds what the members have used that have not been looked at, and ends asking. The
// caller holds root.lock, which readAll lets go of. It returns the thread.
func (r *perfAsking) readAll(u *perf.TaskUsage, mp *m) *m {
	root := r.task.root
	for {
		free, more := r.read(u)
		if !more {
			free = free.with(r.finish(u))
			unlock(&root.lock)
			free.freeAll()
			return mp
		}
		mp = root.pause(mp, free)
	}
}

// read adds what the next members have used. See look.
func (r *perfAsking) read(u *perf.TaskUsage) (free *perfTask, more bool) {
	return r.look(func(s *perfTask, m *perfMember) (work int) {
		var used perf.GoroutineTime
		running := m.account.peek(&used, r.nanos, r.ticks)
		return r.add(u, s, m, &used, running)
	})
}

// add adds what m, a member of s, has used if its account has used that much, and is running if
// it is on a thread of another's. It returns how much there was to look at.
func (r *perfAsking) add(u *perf.TaskUsage, s *perfTask, m *perfMember, used *perf.GoroutineTime, running bool) (work int) {
	t := r.task
	if m.goid != t.goid || t.open.Load() {
		u.Working++ // who began it does not outlive it
	}
	t.outlives(m, u, used, running)
	u.GoroutineTime.AddSince(used, &m.usage)
	if t.events == 0 || s.set != t.set {
		return 1
	}
	var counts [perf.MaxEvents]perf.Count
	unread := m.account.peekCounts(t.set, &counts, t.events)
	for i := range t.events {
		counts[i].SubNotBelow(m.counts[i])
		u.Counts[i].Add(counts[i])
	}
	u.Unread += unread - min(unread, m.unread)
	return perfAskCounts
}

// finish adds what those have used that have left, and ends asking. The caller holds root.lock.
func (r *perfAsking) finish(u *perf.TaskUsage) (free *perfTask) {
	t := r.task
	if r.more {
		u.Working += r.gone
		u.GoroutineTime.Add(&r.left)
		for i := range t.events {
			u.Counts[i].Add(r.counts[i])
		}
		u.Unread += r.unread
	}
	t.readLog(u)
	return r.end()
}

// after returns the task after s among t and its children: s's first child, or the next
// child of s's parent, or of the one above, or nil. It goes up MaxTaskDepth tasks at most.
func (s *perfTask) after(t *perfTask) *perfTask {
	if s.children != nil {
		return s.children
	}
	for s != t {
		if s.next != nil {
			return s.next
		}
		s = s.parent
	}
	return nil
}

// with appends free, which unref has returned.
func (t *perfTask) with(free *perfTask) *perfTask {
	if free == nil {
		return t
	}
	last := free
	for last.next != nil {
		last = last.next
	}
	last.next = t
	return free
}

// peek stores what a, which may be any goroutine's and change meanwhile, has used up to
// now. It stays an account: a is a member's, and the caller holds root.lock.
//
// What is running is taken to have a CPU: only the thread itself can ask for that.
func (a *perfAccount) peek(u *perf.GoroutineTime, nanos, ticks int64) (running bool) {
	b := perfNewAccount(perf.PartOther) // to settle in a's place
	for {
		seq := a.seq.Load()
		b.part, b.since, b.settled, b.shown, b.latest = a.part, a.since, a.settled, a.shown, a.latest
		b.ticks, b.known, b.nanos, b.usage = a.ticks, a.known, a.nanos, a.usage
		b.switches, b.preemptions, b.migrations = a.switches, a.preemptions, a.migrations
		if perfPeeked(&a.seq, seq) {
			break
		}
	}
	// What is there may have begun since that moment. Time divides by ticks, so both move on:
	// what was before would become less.
	if d := b.since - ticks; d > 0 {
		nanos, ticks = nanos+perfTicksToNanos(d), b.since
	}
	b.settle(max(nanos, b.latest), ticks)
	*u = b.usage
	running = b.part == perf.PartRunning
	perfFreeAccount.push(&b.node)
	perfCountAccount(-1)
	return running
}

// perfTaskMembers stores the first goroutines that outlive a task, which has ended and has not
// been given up: they work for it or for children of it, and have not begun it.
//
//go:linkname perfTaskMembers runtime/task.runtime_perfTaskMembers
func perfTaskMembers(id perf.TaskID, dst []perf.TaskGoroutine) (n int) {
	t, _, mp := perfLockToAsk(id)
	if t != nil {
		root := t.root
		r := t.ask(mp, nil)
		for {
			free, more := r.look(func(s *perfTask, m *perfMember) (work int) {
				if n == len(dst) {
					return 0
				}
				if m.goid == t.goid {
					return 1
				}
				dst[n] = perf.TaskGoroutine{Goid: m.goid, Start: m.startpc, Created: m.gopc, Part: m.account.part}
				n++
				return 1
			})
			if more {
				mp = root.pause(mp, free)
				continue
			}
			free = free.with(r.end())
			unlock(&root.lock)
			free.freeAll()
			break
		}
	}
	releasem(mp)
	return n
}
