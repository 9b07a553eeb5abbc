// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"syscall"
)

// A threadList has the threads of the process that have been seen.
//
// The kernel gives IDs in turns, to the threads of all processes, and tells the last one.
// So new threads are found by asking for the IDs that have been given since. That is all
// there is to do mostly, however many threads there are. But a thread has its ID a little
// earlier than it can be seen, and where /proc/loadavg is not of the process's own
// namespace of IDs, it does not have the last one. So threads are counted, too, and if
// there are more than known, they are listed.
//
// /proc/self/task has the threads in the order in which they have begun: the kernel appends
// each to a list when it begins and takes it out when it ends (copy_process in
// kernel/fork.c, __unhash_process in kernel/exit.c). The place to seek in the directory is
// a thread's index in the list, plus 2 for . and .. (proc_task_readdir and first_tid in
// fs/proc/base.c). An entry takes the kernel 5 to 10 times as long as a step of the walk to
// that index. So only the end of the list is read: from the newest known thread on, which
// all follow that have begun since.
//
// A thread moves down the list when one before it ends. So the first entry read must be
// a known thread; if it isn't, reading begins further ahead. This is what makes the end
// of the list complete:
//
//   - All living threads before a known one are known. One call of getdents64(2) that
//     begins with a known thread keeps it so, as it skips none: it goes from a thread to
//     the one that follows. If a thread ends just then, the call ends early. What the
//     next call begins with depends on where threads have moved to, so it must begin with
//     a known thread, too.
//   - The index of the last entry says whether all were seen that were there when they
//     were counted.
//
// Asking breaks the first rule for a thread that is still being created when its ID has
// been asked for twice, if another one ends by the time that it can be seen, so that the
// number is as expected. It is found when all are listed.
//
// The ID of a thread that has ended is known until all are listed. It could come again;
// see foreignThreads.due.
type threadList struct {
	known  []int32     // in ascending order; some may have ended
	n      int         // how many there are in the list, of which the last one is the newest
	state  threadState // before the last update
	before int         // threadState.last of the one before
	got    []int32     // memory of read
}

// A threadDir has the threads of a process.
type threadDir interface {
	// open opens their list, for reads of up to n threads at a time.
	open(n int) error
	close()

	// at appends the IDs of the thread at an index of the list and of some that follow
	// it. It reports whether there was no room for more.
	at(index int, tids []int32) (more []int32, full bool)

	// next reports whether some follow those that at has just returned.
	next() bool

	// alive reports whether there is a thread tid, and count how many there are.
	alive(tid int32) bool
	count() int
}

// update finds new threads, or lists all. state is from before. The threads that were not
// known are appended to tids. ended says whether some of the known ones have ended since
// the last update. If ok is false, some of those may be missing that there were before.
func (l *threadList) update(dir threadDir, state threadState, all bool, tids []int32) (fresh []int32, ended, ok bool) {
	first := l.before + 1
	if l.before = l.state.last; l.before == 0 {
		l.before = state.last
	}
	l.state = state
	fresh = tids
	if !all && state.threads > 0 && first > 1 {
		// Not if it would take longer than to read the list, nor if it is unknown which.
		if n := state.last + 1 - first; 0 <= n && n < 100+state.threads {
			fresh, ended, ok = l.ask(dir, int32(first), int32(state.last), state.threads, fresh)
			if ok {
				return fresh, ended, ok
			}
		}
	}
	if dir.open(state.threads) != nil {
		return fresh, ended, true // without /proc, only threads that run Go are sampled
	}
	defer dir.close()
	return l.read(dir, state.threads, all, fresh)
}

// ask finds the threads with the IDs from first to last. There were count threads before.
// If ok is false, others are new.
func (l *threadList) ask(dir threadDir, first, last int32, count int, tids []int32) (fresh []int32, ended, ok bool) {
	fresh = tids
	for tid := first; tid <= last; tid++ {
		if !contains(l.known, tid) && dir.alive(tid) {
			fresh = append(fresh, tid)
		}
	}
	some := fresh[len(tids):]
	if count > l.n+len(some) {
		// Not even these are known then, as others may precede them in the list.
		return tids, false, false
	}
	if len(some) > 0 {
		l.add(some)
		l.n += len(some)
		count = dir.count() // some may have begun after the first count
	}
	ended = count < l.n
	l.n = min(l.n, count)
	return fresh, ended, true
}

// add adds threads to those that are known.
func (l *threadList) add(tids []int32) {
	if len(tids) > 0 {
		l.known = append(l.known, tids...)
		slices.Sort(l.known)
	}
}

// threadListTries is how many reads there are at most. If threads begin and end so fast
// that more are needed, nobody knows whether all have been seen.
const threadListTries = 100

// read reads the list's end, or all of it. There were count threads before, or an unknown
// number if it is 0.
func (l *threadList) read(dir threadDir, count int, all bool, tids []int32) (fresh []int32, ended, ok bool) {
	if count == 0 {
		count = math.MaxInt
	}
	if all {
		l.known, l.n = l.known[:0], 0
	}
	fresh = tids
	index := max(min(l.n, count)-1, 0)
	back, older := 1, false
	for range threadListTries {
		got, full := dir.at(index, l.got[:0])
		l.got = got
		if index > 0 && (len(got) == 0 || !contains(l.known, got[0])) {
			index = max(index-back, 0)
			back *= 2
			older = true
			continue
		}
		if len(got) == 0 {
			break
		}
		back = 1
		some := len(fresh)
		for _, tid := range got {
			if !contains(l.known, tid) {
				fresh = append(fresh, tid)
			}
		}
		if len(fresh) > some {
			l.add(fresh[some:])
			older = false
		}
		index += len(got) - 1
		// Nothing follows a thread that is alone, unless it has just ended.
		if index+1 >= count && !full && !older || len(got) == 1 && !dir.next() && dir.alive(got[0]) {
			ended = l.n+len(fresh)-len(tids) > index+1
			l.n = index + 1
			return fresh, ended, true
		}
	}
	l.n = len(l.known)
	return fresh, true, false
}

func contains(sorted []int32, tid int32) bool {
	_, found := slices.BinarySearch(sorted, tid)
	return found
}

// A taskDir is the threadDir of this process.
type taskDir struct {
	fd, pid int
	buf     []byte
}

func (d *taskDir) open(n int) (err error) {
	const entry = 32 // bytes, with an ID of up to 12 digits
	if size := (n + 16) * entry; size > len(d.buf) {
		d.buf = make([]byte, min(max(size*5/4, 4<<10), 1<<20))
	}
	d.fd, err = syscall.Open("/proc/self/task", syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	return err
}

func (d *taskDir) close() { syscall.Close(d.fd) }

func (d *taskDir) at(index int, tids []int32) (more []int32, full bool) {
	const dots = 2
	if _, err := syscall.Seek(d.fd, int64(index+dots), 0); err != nil {
		return tids, false
	}
	n, err := syscall.ReadDirent(d.fd, d.buf)
	if n <= 0 || err != nil {
		return tids, false
	}
	return appendTIDs(tids, d.buf[:n]), n > len(d.buf)-64
}

func (d *taskDir) next() bool {
	n, err := syscall.ReadDirent(d.fd, d.buf)
	return n > 0 && err == nil
}

// alive asks whether a signal could be sent, which takes the kernel no longer if there are
// many threads.
func (d *taskDir) alive(tid int32) bool {
	if d.pid == 0 {
		d.pid = syscall.Getpid()
	}
	_, _, err := syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(d.pid), uintptr(tid), 0)
	return err == 0
}

func (d *taskDir) count() int { return countThreads() }

// appendTIDs appends the names in b that are numbers. b has entries as
// getdents64(2) returns them: u64 inode, s64 offset, u16 size of the entry, u8
// type, and the name up to a zero.
func appendTIDs(tids []int32, b []byte) []int32 {
	const size, name = 16, 19
	for len(b) > name {
		n := int(binary.NativeEndian.Uint16(b[size:]))
		if n <= name || n > len(b) {
			break
		}
		tid := int32(0)
		for _, c := range b[name:n] {
			if c < '0' || c > '9' {
				break // the zero, or . and ..
			}
			tid = 10*tid + int32(c-'0')
		}
		if tid > 0 {
			tids = append(tids, tid)
		}
		b = b[n:]
	}
	return tids
}

// A threadState differs from an earlier one if a thread of the process has been
// created since, or has ended.
type threadState struct {
	threads int // how many there are
	last    int // the ID that was given last to a thread or process; see proc_loadavg(5)
}

// readThreadState takes two short system calls on names in /proc, however many
// threads there are. (If they fail, threads are looked for at each sweep.)
func readThreadState() (s threadState) {
	s.threads = countThreads()
	if fd, err := syscall.Open("/proc/loadavg", syscall.O_RDONLY|syscall.O_CLOEXEC, 0); err == nil {
		var b [128]byte
		n, _ := syscall.Read(fd, b[:])
		syscall.Close(fd)
		line := b[:max(n, 0)]
		for _, c := range line[bytes.LastIndexByte(line, ' ')+1:] {
			if '0' <= c && c <= '9' {
				s.last = 10*s.last + int(c-'0')
			}
		}
	}
	return s
}

func countThreads() int {
	var st syscall.Stat_t
	if syscall.Stat("/proc/self/task", &st) != nil {
		return 0
	}
	return int(st.Nlink) - 2 // as for any directory
}
