// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Export guts for testing.

package runtime

import (
	"internal/runtime/perf"
	"unsafe"
)

var (
	PerfBitField      = perfBitField
	PerfAttrBit       = perfAttrBit
	PerfAttrPreciseIP = perfAttrPreciseIP

	PerfIoctl = ioctl
	PerfFcntl = fcntlPtr

	PerfClockGettime = clock_gettime
)

const (
	PerfSWTaskClock   = perf.SWTaskClock
	PerfFlagCloexec   = perf.FlagFDCloexec
	PerfIocEnable     = perf.IoctlEnable
	PerfIocDisable    = perf.IoctlDisable
	PerfIocReset      = perf.IoctlReset
	PerfIocPeriod     = perf.IoctlPeriod
	PerfIocID         = perf.IoctlID
	PerfAttrDisabled  = perf.AttrDisabled
	PerfAttrNoKernel  = perf.AttrExcludeKernel
	PerfAttrNoHV      = perf.AttrExcludeHV
	PerfAttrPreciseAt = perf.AttrPreciseIP
	PerfAttrSize      = unsafe.Sizeof(perfEventAttr{})
	FSetOwnEx         = _F_SETOWN_EX
	FGetOwnEx         = _F_GETOWN_EX
	FOwnerTID         = _F_OWNER_TID
	FSetSig           = _F_SETSIG
	FGetSig           = _F_GETSIG
	OAsync            = _O_ASYNC
)

type FOwnerEx = fOwnerEx

func NewFOwnerEx(typ, pid int32) FOwnerEx { return fOwnerEx{typ, pid} }

func PerfFcntlOwner(fd, cmd int32, o *FOwnerEx) int32 {
	return fcntlPtr(fd, cmd, uintptr(unsafe.Pointer(o)))
}

// PerfEventOpen calls perf_event_open with a software event's attributes. It
// returns attr.size as well, which the kernel changes when it refuses it.
func PerfEventOpen(config uint64, size uint32, bits uint64, pid, cpu, groupFD int32, flags uintptr) (fd int32, attrSize uint32) {
	attr := perfEventAttr{typ: perf.TypeSoftware, size: size, config: config, bits: bits}
	fd = perf_event_open(&attr, pid, cpu, groupFD, flags)
	return fd, attr.size
}

// PerfExactPC returns at which instruction a precise sample begins whose own is ip, if the
// interrupt came at pc, and how many of three are counted as moved.
func PerfExactPC(ip, pc uintptr) (used uintptr, moved uint64) {
	var c perfCounter
	systemstack(func() { used = c.exactPC(ip, pc, 3) })
	return used, c.Moved
}

// PerfCounterSize is the size of a perfCounter.
const PerfCounterSize = unsafe.Sizeof(perfCounter{})

// Sets of counters; see perfcount.go.
var (
	PerfCountStart = perfCountStart
	PerfCountRead  = perfCountRead
	PerfCountStop  = perfCountStop
)

// PerfCountCalls returns the number of system calls by which counters of the set
// were read, and the number of its threads.
func PerfCountCalls(set perf.SetID) (calls uint64, threads int) {
	systemstack(func() {
		lock(&perfCount.lock)
		s := perfCount.sets[set.Set]
		calls = s.calls
		for t := s.threads; t != nil; t = t.next {
			threads++
		}
		unlock(&perfCount.lock)
	})
	return calls, threads
}

// PerfCountUser reports whether counters of the set are read in user mode where
// that is possible. With off they will not be.
func PerfCountUser(set perf.SetID, off bool) (user bool) {
	systemstack(func() {
		lock(&perfCount.lock)
		s := perfCount.sets[set.Set]
		user = s.user
		s.user = user && !off
		unlock(&perfCount.lock)
	})
	return user
}

const (
	PerfMinClock    = perfMinClock
	PerfThreadStart = perfThreadStart
)

// PerfCost returns what a sample cost when the latest session started.
func PerfCost() (whole, seen, interrupt int64) {
	return perfCost.whole, perfCost.seen, perfCost.interrupt
}

// PerfLimitCost returns the overhead bound, in percent, of sessions whose owners allow
// the costs, after those before ended have ended. The last session has a clock, if any has.
// No session may run.
func PerfLimitCost(clock bool, ended int, costs ...int) (percent int) {
	perfTables.slots[0].cfg = perf.SampleConfig{Attr: perf.Attr{Type: perf.TypeSoftware}}
	for i, cost := range costs {
		ss := &perfTables.sessions[i]
		ss.n, ss.cost = 1, cost
		ss.slots[0] = 1
		if clock && i == len(costs)-1 {
			ss.slots[0] = 0
		}
	}
	perfLimitCost(nil)
	for i := range ended {
		perfLimitCost(&perfTables.sessions[i])
		perfTables.sessions[i].n = 0
	}
	percent = int(perfLinux.maxPercent.Load())
	clear(perfTables.sessions[:])
	clear(perfTables.slots[:])
	return percent
}

// PerfDirection is perfDirection where the bound is so many percent.
func PerfDirection(percent int, cost, counting, total int64) int {
	defer perfLinux.maxPercent.Store(perfLinux.maxPercent.Load())
	perfLinux.maxPercent.Store(int32(percent))
	return perfDirection(cost, counting, total)
}

// PerfStartPeriods returns the periods with which clocks start that ask for one, and
// may get 2, 4, 8 times that and so on, where a sample costs so many ns and the bound is
// so many percent. Sessions with so many clocks each start one after the other. No
// session may run.
func PerfStartPeriods(percent int, cost int64, period uint64, sessions ...int) (start []uint64) {
	defer perfLinux.maxPercent.Store(perfLinux.maxPercent.Load())
	defer func(whole int64) { perfCost.whole = whole }(perfCost.whole)
	perfLinux.maxPercent.Store(int32(percent))
	perfCost.whole = cost
	for i, clocks := range sessions {
		ss := &perfTables.sessions[i]
		for range clocks {
			s := &perfTables.slots[perfProf.n]
			s.cfg = perf.SampleConfig{Attr: perf.Attr{Type: perf.TypeSoftware}}
			for rung := range s.cfg.Periods[:24] {
				s.cfg.Periods[rung] = period << rung
			}
			ss.slots[ss.n] = uint8(perfProf.n)
			ss.mask |= perfSlotBit(perfProf.n)
			ss.n++
			perfProf.n++
		}
		perfStartRungs(ss)
		for _, slot := range ss.slots[:ss.n] {
			s := &perfTables.slots[slot]
			start = append(start, s.cfg.Periods[s.rung])
		}
	}
	clear(perfTables.sessions[:])
	clear(perfTables.slots[:])
	perfProf.n = 0
	return start
}

// PerfFirstPeriod draws the first period of a clock.
func PerfFirstPeriod(period uint64, fresh bool) (start, first uint64) {
	perfLinux.minClock = perfMinClock
	return perfFirstPeriod(&perf.SampleConfig{Attr: perf.Attr{Type: perf.TypeSoftware}}, period, fresh, false)
}

// PerfLostStart returns what is lost of a clock with that first period on a thread
// whose counter ends at value.
func PerfLostStart(period, start, first, value uint64) uint64 {
	var s perfSlot
	s.cfg.Type = perf.TypeSoftware
	s.cfg.Periods[0] = period
	c := perfCounter{start: start, first: first}
	return c.lostStart(&s, value)
}

// PerfRingSizes returns the sizes of records' areas that are tried where pages have
// the given size, if a thread wants so much.
func PerfRingSizes(page, wants uintptr) (sizes []uintptr) {
	for n := perfRingSize(0, page, wants); n != 0; n = perfRingSize(n, page, wants) {
		sizes = append(sizes, n)
	}
	return sizes
}

// A PerfForeignTable is perfForeign, with perfThreads for the test. No session may
// run.
type PerfForeignTable struct{ threads map[int32]*perfThread }

func NewPerfForeignTable() PerfForeignTable {
	return PerfForeignTable{make(map[int32]*perfThread)}
}

func (tab PerfForeignTable) Insert(tid int32) {
	t := perfNewThread()
	t.tid = tid
	tab.threads[tid] = t
	systemstack(func() { perfForeignInsert(t) })
}

func (tab PerfForeignTable) Remove(tid int32) {
	perfForeignRemove(tab.threads[tid])
	systemstack(func() {
		lock(&perfProf.lock)
		tab.threads[tid].recycle()
		unlock(&perfProf.lock)
	})
	delete(tab.threads, tid)
}

func (tab PerfForeignTable) Find(tid int32) bool {
	t := perfForeignFind(tid)
	if t != tab.threads[tid] {
		throw("perfForeignFind returned another thread")
	}
	return t != nil
}

// Entries returns how many entries are in use.
func (tab PerfForeignTable) Entries() (n int) {
	for i := range perfForeignCurrent().mask + 1 {
		if perfForeignCurrent().at(i).t.Load() != 0 {
			n++
		}
	}
	return n + int(perfForeign.n)
}

// A PerfRecord is a perfRecord.
type PerfRecord struct {
	Type   uint32
	ID, N  uint64
	IP     uintptr
	Regs   bool
	PC, SP uintptr
}

// PerfRingRead reads a ring whose area has the given words, a power of two, from tail
// to head. ok is false where perfRing.next was. It returns nil if next does not come
// to an end.
func PerfRingRead(words []uint64, tail, head uint64) (recs []PerfRecord, ok []bool) {
	r := perfRing{data: uintptr(unsafe.Pointer(&words[0])), mask: uint64(8*len(words) - 1), tail: tail}
	var rec perfRecord
	for r.tail != head {
		if len(recs) > len(words) {
			return nil, nil
		}
		rec = perfRecord{}
		ok = append(ok, r.next(&rec, head))
		recs = append(recs, PerfRecord{rec.typ, rec.id, rec.n, rec.ip, rec.regs, rec.pc, rec.sp})
	}
	KeepAlive(words)
	return recs, ok
}

// A PerfDataRecord is what readSample finds.
type PerfDataRecord struct {
	PerfRecord
	Time           int64
	Addr           uintptr
	CPU            uint32
	Weight, Source uint64
}

// PerfRegsSwapped says that a record has the stack pointer before the instruction.
const PerfRegsSwapped = perf.RegSP < perf.RegPC

// PerfReadWords is how many words a reading has.
func PerfReadWords() int { return int(perfReadSize() / 8) }

// PerfRingSample reads a sample of so many bytes at offset off of a ring whose area has the
// given words, a power of two.
func PerfRingSample(words []uint64, off, size, typ uint64) (PerfDataRecord, bool) {
	r := perfRing{data: uintptr(unsafe.Pointer(&words[0])), mask: uint64(8*len(words) - 1)}
	var rec perfRecord
	rec.chain.off, rec.chain.size = off, size
	var d perfDataRecord
	ok := r.readSample(&rec, &d, typ)
	KeepAlive(words)
	return PerfDataRecord{PerfRecord{0, rec.id, 0, rec.ip, rec.regs, rec.pc, rec.sp}, rec.time, d.addr, d.cpu, d.weight, d.source}, ok
}

// Accounts of goroutines; see perfaccount.go.

var PerfTicksNanos = perfTicksNanos

func PerfAccountsUsed() int64 {
	n := perfAccountsUsed.Load()
	for i := range perfLocals {
		n += perfLocals[i].accounts
	}
	return n
}

var perfFreeTemp lfstack

// perfFreeNow returns how many of a kind are free. Others must not take any meanwhile, or give
// any back.
func perfFreeNow(k perfFreeKind) (n int64) {
	for i := range perfLocals {
		n += int64(perfLocals[i].free[k].n)
	}
	for {
		p := perfFreeLists[k].pop()
		if p == nil {
			break
		}
		perfFreeTemp.push((*lfnode)(p))
		n++
	}
	for {
		p := perfFreeTemp.pop()
		if p == nil {
			return n
		}
		perfFreeLists[k].push((*lfnode)(p))
	}
}

// PerfFreeKept returns how many of any kind Ps have kept for themselves at most, and how many
// they may.
func PerfFreeKept() (most, bound int) {
	for i := range perfLocals {
		for k := range perfLocals[i].free {
			most = max(most, perfLocals[i].free[k].n)
		}
	}
	return most, perfFreeKeep
}

// Tasks; see perftask.go.

func PerfTasksUsed() int64 { return perfTasksMade.Load() - perfFreeNow(perfFreeTask) }

func PerfMembersUsed() int64 { return perfMembersMade.Load() - perfFreeNow(perfFreeMember) }

func PerfAccountSizes() (account, counts, epoch uintptr) {
	return unsafe.Sizeof(perfAccount{}), unsafe.Sizeof(perfAccountCounts{}), unsafe.Sizeof(perfAccountEpoch{})
}

// A PerfWait is a reason to wait: what perfWaits has of it, and whether upstream says that
// the goroutine can be suspended meanwhile, but runs.
type PerfWait struct {
	Reason      string
	Part        perf.Part
	Keeps       bool
	Suspendable bool
}

func PerfWaits() (waits []PerfWait) {
	for i, reason := range waitReasonStrings {
		w := perfWaits[i]
		waits = append(waits, PerfWait{reason, w.part, w.keeps, isWaitingForSuspendG[i]})
	}
	return waits
}

// PerfStacksDue returns up to where the ring of a thread of C is read, which is read up to tail
// and written up to head, if it was written up to looked at the previous look, and a stack is
// queued for what ends at until, or none if that is 0. The ring has 4096 bytes.
func PerfStacksDue(tail, head, looked, until uint64) uint64 {
	q := &perfStacksOfTest
	q.n, q.looked, q.until = 0, looked, 1<<40 // left from an earlier stack
	if until != 0 {
		q.n, q.until = perfStackHeader, until
	}
	due := q.due(&perfRing{tail: tail, mask: 4095}, head)
	if q.looked != head {
		return ^uint64(0)
	}
	return due
}

var perfStacksOfTest perfStacks
