// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// For which task a goroutine works, and for which one it works again when that ends.
//
// A goroutine's labels say nothing about it. Programs set them for purposes of their own,
// and goroutines inherit them for ever.

package runtime

import (
	"internal/runtime/perf"
	"internal/runtime/sys"
	"unsafe"
)

// A perfTaskBack is what a goroutine worked for before, the latest last. It belongs to
// who owns the account. It names tasks and does not keep them: the goroutine goes back to
// the latest one that is still there. Allocated like an account.
type perfTaskBack struct {
	_    sys.NotInHeap
	node lfnode

	n   int
	was [15]perfTaskWas
}

type perfTaskWas struct {
	id    perf.TaskID
	label bool // as in perfMember
}

func perfNewBack() *perfTaskBack {
	b := (*perfTaskBack)(perfFreeBack.pop())
	if b == nil {
		b = (*perfTaskBack)(persistentalloc(unsafe.Sizeof(perfTaskBack{}), tagAlign, &memstats.other_sys))
	}
	b.n = 0
	return b
}

// push appends w. If there is no room, tasks that have ended make some, and else the
// oldest one does: who nests tasks deeper finds no way back to that, which is counted.
func (b *perfTaskBack) push(w perfTaskWas, goid uint64) *perfTaskBack {
	if b == nil {
		b = perfNewBack()
	}
	if b.n == len(b.was) {
		n := 0
		for i := range b.was {
			if perfTaskPresent(b.was[i].id) {
				b.was[n] = b.was[i]
				n++
			}
		}
		if n == len(b.was) {
			perfTaskLeft(b.was[0].id, goid, true)
			copy(b.was[:], b.was[1:])
			n--
		}
		b.n = n
	}
	b.was[b.n] = w
	b.n++
	return b
}

// pop removes the latest one.
func (b *perfTaskBack) pop() (w perfTaskWas, ok bool) {
	if b == nil || b.n == 0 {
		return w, false
	}
	b.n--
	return b.was[b.n], true
}

// find returns the index of the latest one with an ID, or -1.
func (b *perfTaskBack) find(id perf.TaskID) int {
	if b != nil {
		for i := b.n - 1; i >= 0; i-- {
			if b.was[i].id == id {
				return i
			}
		}
	}
	return -1
}

// next reports whether the latest one is t.
func (b *perfTaskBack) next(t *perfTask) bool {
	return b.len() > 0 && b.was[b.n-1].id == t.id()
}

//go:nowritebarrierrec
func (b *perfTaskBack) free() {
	if b != nil {
		perfFreeBack.push(&b.node)
	}
}

// live returns t, or the nearest task that t is a child of, which has not ended. It returns
// nil if all have: then what a member of t does is no task's.
//
// The caller is a member of t, or holds root.lock. Or it is a signal handler, which reads
// for another thread what may change meanwhile: all of this is outside the heap and stays
// mapped, and the way is bounded.
//
//go:nosplit
//go:nowritebarrierrec
func (t *perfTask) live() *perfTask {
	for range perf.MaxTaskDepth + 1 {
		if t == nil || t.open.Load() {
			return t
		}
		t = t.parent
	}
	return nil
}

// perfTaskPresent reports whether what id names, or one that it is a child of, has not ended.
func perfTaskPresent(id perf.TaskID) bool {
	t := perfFindTask(id)
	if t == nil {
		return false
	}
	root := t.root
	root.lockTree()
	ok := t.root == root && t.serial.Load() == id.Serial && t.live() != nil
	unlock(&root.lock)
	return ok
}

// perfTaskEnter has the calling goroutine work for the task until perfTaskExit. It reports
// whether that has to be called: it does nothing if the goroutine works for that task
// already, or if the task has ended.
//
//go:linkname perfTaskEnter runtime/pprof.runtime_perfTaskEnter
func perfTaskEnter(id perf.TaskID) (entered bool) {
	mp := acquirem()
	if m := perfMemberOf(getg()); (m == nil || m.label || m.task != perfFindTask(id)) && perfTaskPresent(id) {
		perfGoOn(mp, id, false)
		entered = true
	}
	releasem(mp)
	return entered
}

// perfTaskExit has the calling goroutine work for what it worked for before perfTaskEnter
// with this ID. What it has begun to work for since, and not left, it leaves too.
//
//go:linkname perfTaskExit runtime/pprof.runtime_perfTaskExit
func perfTaskExit(id perf.TaskID) {
	mp := acquirem()
	if m := perfMemberOf(getg()); m != nil {
		if i := m.back.find(id); m.task == perfFindTask(id) && !m.label {
			perfGoBack(mp)
		} else if i >= 0 {
			for _, w := range m.back.was[i:m.back.n] {
				perfTaskLeft(w.id, m.goid, false)
			}
			m.back.n = i
			perfGoBack(mp)
		}
	}
	releasem(mp)
}

// perfTaskLabel has the calling goroutine work for the task, as it gets the labels of the
// task's context, until it gets those of another one. id is zero if that has no task.
// What the goroutine works for otherwise it does not leave for that.
//
//go:linkname perfTaskLabel runtime/pprof.runtime_perfTaskLabel
func perfTaskLabel(id perf.TaskID) {
	mp := acquirem()
	m := perfMemberOf(getg())
	if !perfTaskPresent(id) {
		id = perf.TaskID{}
	}
	switch {
	case m == nil || !m.label:
		if id.Serial != 0 && (m == nil || m.task != perfFindTask(id)) {
			perfGoOn(mp, id, true)
		}
	case id.Serial == 0 || m.back.find(id) == m.back.len()-1 && m.back.len() > 0:
		perfGoBack(mp)
	case m.task != perfFindTask(id):
		perfGoBack(mp)
		perfGoOn(mp, id, true)
	}
	releasem(mp)
}

func (b *perfTaskBack) len() int {
	if b == nil {
		return 0
	}
	return b.n
}

// perfTaskHold has labels not change what the calling goroutine works for now, if they
// brought it to that, until perfTaskLet with the ID that it returns. That is zero if there
// is nothing to let go.
//
//go:linkname perfTaskHold runtime/pprof.runtime_perfTaskHold
func perfTaskHold() (id perf.TaskID) {
	mp := acquirem()
	if m := perfMemberOf(getg()); m != nil && m.label {
		m.label = false
		id = m.task.id()
	}
	releasem(mp)
	return id
}

//go:linkname perfTaskLet runtime/pprof.runtime_perfTaskLet
func perfTaskLet(id perf.TaskID) {
	mp := acquirem()
	if m := perfMemberOf(getg()); m != nil {
		if m.task == perfFindTask(id) {
			m.label = true
		} else if i := m.back.find(id); i >= 0 {
			m.back.was[i].label = true
		}
	}
	releasem(mp)
}

// perfMemberOf returns the member that gp, the calling goroutine, is, or nil.
func perfMemberOf(gp *g) *perfMember {
	if a := perfAccountOf(gp); a != nil {
		return a.member.ptr()
	}
	return nil
}

// perfGoOn has the calling goroutine work for the task, and go back some day.
func perfGoOn(mp *m, id perf.TaskID, label bool) {
	perfCPUOpen(mp)
	a := perfOwnAccount()
	a.settleNow(mp, perfCPUPaged)
	a.workFor(getg(), mp, id, perfJoinOther, label)
}

// perfGoBack has the calling goroutine, which is a member, work for what it worked for
// before.
func perfGoBack(mp *m) {
	perfRelabel() // what has been sampled is the task's
	a := perfAccountOf(getg())
	a.settleNow(mp, perfCPUPaged)
	back := a.leaveFor(mp, perfLeaveGone)
	a.goBack(getg(), mp, back)
}

// workFor has gp, the current goroutine, whose account a is settled, work for the task that
// id names. If that has gone, the goroutine works for what it worked for before. It
// remembers what it works for now.
func (a *perfAccount) workFor(gp *g, mp *m, id perf.TaskID, how perfJoin, label bool) {
	perfRelabel() // what has been sampled is not the task's
	var back *perfTaskBack
	if m := a.member.ptr(); m != nil {
		was := perfTaskWas{m.task.id(), m.label}
		back = a.leaveFor(mp, perfLeaveOn).push(was, gp.goid)
	}
	if !a.rejoin(gp, mp, id, how, label, back) {
		a.goBack(gp, mp, back)
	}
}

// leaveFor ends the membership of the current goroutine, whose account a is settled. It
// returns what the goroutine may go back to.
func (a *perfAccount) leaveFor(mp *m, why perfLeaving) (back *perfTaskBack) {
	m := a.member.ptr()
	back, m.back = m.back, nil
	if m.task.events > 0 {
		a.readMember(m, mp)
	}
	a.leaveTask(why)
	return back
}

// goBack has gp, the current goroutine, whose account a is settled, work for the latest
// task of back that is there.
func (a *perfAccount) goBack(gp *g, mp *m, back *perfTaskBack) {
	for {
		w, ok := back.pop()
		if !ok {
			break
		}
		if perfTaskPresent(w.id) && a.rejoin(gp, mp, w.id, perfJoinBack, w.label, back) {
			return
		}
	}
	back.free()
	a.judge()
}

// rejoin has gp, which is the current goroutine and a member of no task, and whose account
// a is settled, join the one that id names. It reports false if that is not there.
func (a *perfAccount) rejoin(gp *g, mp *m, id perf.TaskID, how perfJoin, label bool, back *perfTaskBack) bool {
	t := perfFindTask(id)
	if t == nil {
		return false
	}
	m := perfNewMember()
	m.goid, m.startpc, m.gopc = gp.goid, gp.startpc, gp.gopc
	m.usage = a.usage
	m.label, m.back = label, back
	if t.events > 0 {
		c := a.count(t.set)
		c.intervals++
		var counts [perf.MaxEvents]perf.Count
		m.unread, _, _ = c.read(a, mp, counts[:t.events])
		m.counts = counts
	}
	if a.joinTask(m, t, id.Serial, how) {
		return true
	}
	if t.events > 0 {
		if c := a.find(t.set); c != nil && c.intervals > 0 {
			c.intervals--
		}
	}
	m.task, m.back = nil, nil
	perfFreeMember.push(&m.node)
	return false
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

// perfTaskKind returns the kind of the task that the goroutine works for whose labels are at tag, or 0.
//
//go:nowritebarrierrec
func perfTaskKind(tag *unsafe.Pointer) int64 {
	if a := perfTagAccount(tag); a != nil {
		if m := a.member.ptr(); m != nil {
			if t := m.task.live(); t != nil {
				return int64(t.kind.Load()) & perf.TaskKindMask
			}
		}
	}
	return 0
}
