// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// What a task's members have used, when somebody asks.
//
// There may be thousands of them, and the scheduler wants the tree's lock when one of them
// ends or has waited for long. So who asks lets go of it now and then, with a cursor in
// the tree. The answer is as of the beginning nevertheless, but for what those that have not
// been looked at yet do meanwhile: each member counts once. What one had used that left the
// task before it was looked at is in asking.late. One that joined since does not count.

package runtime

import (
	"internal/runtime/perf"
	_ "unsafe" // for linkname
)

// perfAskMost bounds how much is looked at before the lock is let go of: a task or a
// member is one, a member that counts events is perfAskCounts, as they are read by a system
// call.
const (
	perfAskMost   = 64
	perfAskCounts = 8
)

// perfAsking is what the root of a tree has for who asks. Protected by its lock.
type perfAsking struct {
	task   *perfTask // whose members are being looked at, or nil
	number uint32    // of the times that somebody has asked
	at     *perfMember

	late   perf.Usage
	counts [perf.MaxEvents]perf.Count
	unread uint64
}

// perfLockToAsk locks the tree of the task that id names, when nobody is asking, and
// returns it. It returns nil, and locks nothing, if the task has been given up. own is the
// calling goroutine's account, up to date, if it is a member of any task: its own account
// knows more than others can find out.
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
		if root.asking.task == nil {
			return t, own, mp
		}
		unlock(&root.lock)
		releasem(mp)
		Gosched()
	}
}

// perfTaskUsage stores what the members of a task have used up to now. It reports false
// if the task has been given up.
//
//go:linkname perfTaskUsage runtime/task.runtime_perfTaskUsage
func perfTaskUsage(id perf.TaskID, u *perf.TaskUsage) (ok bool) {
	t, own, mp := perfLockToAsk(id)
	if t != nil {
		root := t.root
		free := t.read(u, mp, own)
		unlock(&root.lock)
		free.freeAll()
	}
	releasem(mp)
	return t != nil
}

// read stores what t's members have used up to now. own is the calling goroutine's
// account, which is settled, or nil. u is zero. The caller holds root.lock, which read may let go of,
// and frees the tasks that read returns, as those of unref.
func (t *perfTask) read(u *perf.TaskUsage, mp *m, own *perfAccount) (free *perfTask) {
	nanos, ticks := perfNow(mp)
	if own != nil {
		// The moment up to which it knows of itself: the lock may have been waited for since.
		// Both of it, as the others' times are divided by ticks.
		nanos, ticks = own.latest, own.settled
	}
	u.Usage = t.usage
	if t.events > 0 {
		u.Counts, u.Unread = t.counts, t.unread
	}
	u.Goroutines, u.Working = t.goroutines, 0
	free, late := t.ask(func(s *perfTask, m *perfMember) (work int) {
		u.Working++
		used := perf.Usage{}
		if m.account == own {
			used = own.usage
		} else {
			m.account.peek(&used, nanos, ticks)
		}
		used.Sub(&m.usage)
		u.Usage.Add(&used)
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
	})
	if late {
		r := &t.root.asking
		u.Usage.Add(&r.late)
		for i := range t.events {
			u.Counts[i].Add(r.counts[i])
		}
		u.Unread += r.unread
	}
	u.Began, u.Ended = t.began, nanos
	if !t.open.Load() {
		u.Ended = t.ended
	}
	u.Wall = u.Ended - u.Began
	u.Stretches, u.Short, u.ShortNanos, u.NoMemory = t.log.n, t.log.short, perfTicksToNanos(t.log.shortTicks), t.log.noMemory
	return free
}

// ask calls look for the members of t and of its children, until that returns 0: it
// returns how much it had to look at. The caller holds root.lock, which ask lets go of when
// perfAskMost has been looked at. It reports whether it did, so that asking.late is to be
// considered, and returns tasks for the caller to free.
//
// Nobody else asks meanwhile, and whoever leaves moves the cursor on. The task that it is in
// has a reference for that, so its ancestors stay, too.
func (t *perfTask) ask(look func(s *perfTask, m *perfMember) (work int)) (free *perfTask, late bool) {
	root := t.root
	r := &root.asking
	r.task = t
	r.number++
	t.refs++
	s := t
	r.at = t.members
	work := 0
	for s != nil {
		if work >= perfAskMost {
			if !late {
				late = true
				r.late, r.counts, r.unread = perf.Usage{}, [perf.MaxEvents]perf.Count{}, 0
			}
			root.letGo()
			work = 0
		}
		if m := r.at; m != nil {
			n := 1
			if m.asked != r.number { // else it has joined since
				n = look(s, m)
			}
			if n == 0 {
				break
			}
			work += n
			m.asked = r.number
			r.at = m.next
			continue
		}
		next := s.after(t)
		if next != nil {
			next.refs++
			r.at = next.members
		}
		free = free.with(s.unref())
		s = next
		work++
	}
	if s != nil {
		free = free.with(s.unref())
	}
	r.task, r.at = nil, nil
	return free, late
}

// letGo lets others have root.lock for a moment, who want it. A mutex of the runtime would
// most often go to the thread again that has just unlocked it.
func (root *perfTask) letGo() {
	perfLetGo.Add(1)
	unlock(&root.lock)
	for i := 0; root.wanted.Load() != 0 && i < 100; i++ {
		procyield(10)
	}
	lock(&root.lock)
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
func (a *perfAccount) peek(u *perf.Usage, nanos, ticks int64) {
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
	perfFreeAccount.push(&b.node)
	perfCountAccount(-1)
}

// perfTaskMembers stores the first goroutines that work for a task, which has not been
// given up, and its children.
//
//go:linkname perfTaskMembers runtime/task.runtime_perfTaskMembers
func perfTaskMembers(id perf.TaskID, dst []perf.TaskGoroutine) (n int) {
	t, _, mp := perfLockToAsk(id)
	if t != nil {
		root := t.root
		free, _ := t.ask(func(s *perfTask, m *perfMember) (work int) {
			if n == len(dst) {
				return 0
			}
			dst[n] = perf.TaskGoroutine{Goid: m.goid, Start: m.startpc, Created: m.gopc, Part: m.account.part}
			n++
			return 1
		})
		unlock(&root.lock)
		free.freeAll()
	}
	releasem(mp)
	return n
}
