// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"encoding/binary"
	"math"
	"slices"
	"syscall"
)

// A threadList has the threads of the process that have been seen in /proc/self/task.
//
// The kernel has them in a list: it appends a thread that begins and takes out one that
// ends, and the others stay in order (copy_process in kernel/fork.c, __unhash_process in
// kernel/exit.c). The directory has the list's order, and the place to seek in it is a
// thread's index, plus 2 for . and .. (proc_task_readdir and first_tid in
// fs/proc/base.c). An entry takes over a microsecond, and 10 times less is what it takes
// the kernel to walk past a thread. So only the end of the list is read: from the newest
// known thread on. All that have begun since follow it.
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
// The ID of a thread that has ended is known until the whole list is read. It could come
// again; see foreignThreads.find.
type threadList struct {
	known []int32 // in ascending order; some may have ended
	n     int     // threads in the list when it was last read; the newest was the last one
	got   []int32 // memory of read
}

// A threadDir reads the list.
type threadDir interface {
	// at appends the IDs of the thread at an index and of some that follow it. It
	// reports whether there was no room for more.
	at(index int, tids []int32) (more []int32, full bool)

	// end reports whether nothing follows thread tid, which at has just returned alone.
	end(tid int32) bool
}

// threadListTries is how many reads there are at most. If threads begin and end so fast
// that more are needed, nobody knows whether all have been seen.
const threadListTries = 100

// read reads the list's end, or all of it. There were count threads before, or an unknown
// number if it is 0. Those that were not known are appended to tids. The result says
// whether some of the known ones have ended since the list was last read, and whether the
// end was reached. Then all threads that there were before are known, unless some have
// ended since they were counted.
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
			break // there is no such directory
		}
		back = 1
		some := len(fresh)
		for _, tid := range got {
			if !contains(l.known, tid) {
				fresh = append(fresh, tid)
			}
		}
		if len(fresh) > some {
			l.known = append(l.known, fresh[some:]...)
			slices.Sort(l.known)
			older = false
		}
		index += len(got) - 1
		if index+1 >= count && !full && !older || len(got) == 1 && dir.end(got[0]) {
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
	fd  int
	buf []byte
}

// open opens the directory, for reads of up to n threads at a time. Without /proc, only
// threads that run Go are sampled.
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

func (d *taskDir) end(tid int32) bool {
	if n, err := syscall.ReadDirent(d.fd, d.buf); n > 0 && err == nil {
		return false // a signal has ended the read early
	}
	// So does the end of the thread.
	_, _, err := syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(syscall.Getpid()), uintptr(tid), 0)
	return err == 0
}

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
