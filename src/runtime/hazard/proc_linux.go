// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// What Linux says of a process.

package hazard

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// procFS and cgroupFS are file systems of the kernel's. Tests replace them.
var (
	procFS   = "/proc"
	cgroupFS = "/sys/fs/cgroup"
)

// cpuTimeOf is cpuTime. Tests replace it.
var cpuTimeOf = cpuTime

const tick = time.Second / 100 // of all of Linux's ports, for user programs

// A procStat is what /proc/PID/stat says.
type procStat struct {
	state byte   // of the first thread: R, S, D, T (by a signal), t (by a tracer), Z, ...
	start uint64 // in ticks since the machine started
}

// readStat reads the stat file in a directory of a process or thread.
func readStat(dir string) (s procStat, err error) {
	b, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return s, err
	}
	// The second field is a name in parentheses, which may have any other character.
	_, rest, ok := bytes.Cut(b[bytes.LastIndexByte(b, ')')+1:], []byte(" "))
	f := strings.Fields(string(rest))
	if !ok || len(f) < 20 {
		return s, fmt.Errorf("%s/stat: unknown format", dir)
	}
	s.state = f[0][0]
	s.start, err = strconv.ParseUint(f[19], 10, 64)
	return s, err
}

func procDir(pid int) string { return procFS + "/" + strconv.Itoa(pid) }

// pidNamespace returns the inode of this process's namespace of process IDs, or 0 if nothing is
// known of it.
func pidNamespace() uint64 {
	s, err := os.Readlink("/proc/self/ns/pid") // pid:[4026531836]
	if err != nil {
		return 0
	}
	s = strings.TrimSuffix(strings.TrimPrefix(s, "pid:["), "]")
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// self returns who this process is.
func self() (id identity, err error) {
	id = identity{pid: os.Getpid(), pidns: pidNamespace(), begin: runtime_nanotime()}
	s, err := readStat("/proc/self")
	if err != nil {
		return id, fmt.Errorf("when has this process begun? %w", err)
	}
	id.start = s.start
	return id, nil
}

// ended reports whether the process is known to have ended.
func (id *identity) ended() bool {
	if id.pidns != pidNamespace() {
		return false
	}
	s, err := readStat(procDir(id.pid))
	return errors.Is(err, os.ErrNotExist) || err == nil && s.start != id.start
}

// cpuTime returns the CPU time of a process, in ns. ok is false if it is not known.
func cpuTime(pid int) (nanos int64, ok bool) {
	var ts syscall.Timespec
	clock := ^int32(pid)<<3 | 2 // as clock_getcpuclockid makes it: of the scheduler
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, uintptr(clock), uintptr(unsafe.Pointer(&ts)), 0)
	return ts.Nano(), errno == 0
}

// readyThread reports whether a thread of a process is ready to run, or runs.
func readyThread(pid int) bool {
	f, err := os.Open(procDir(pid) + "/task")
	if err != nil {
		return false
	}
	defer f.Close()
	names, _ := f.Readdirnames(1000) // as many have to do
	for _, name := range names {
		if s, err := readStat(f.Name() + "/" + name); err == nil && s.state == 'R' {
			return true
		}
	}
	return false
}

// throttled returns how many periods the quota of a process's control group has cut short.
// ok is false if that is not known. Quotas of groups around it are not seen.
func throttled(pid int) (n uint64, ok bool) {
	b, err := os.ReadFile(procDir(pid) + "/cgroup")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(b)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3) // number:controllers:path
		if len(f) != 3 {
			continue
		}
		dir := cgroupFS + f[2]
		if f[1] != "" {
			if !strings.Contains(","+f[1]+",", ",cpu,") {
				continue
			}
			dir = cgroupFS + "/cpu" + f[2]
		}
		if n, ok := readThrottled(dir + "/cpu.stat"); ok {
			return n, true
		}
	}
	return 0, false
}

func readThrottled(file string) (n uint64, ok bool) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "nr_throttled "); ok {
			n, err := strconv.ParseUint(value, 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// Commands of fcntl for locks of an open file, rather than of a process. They go when the last
// descriptor of the open file is closed, also by execve and by the end of the process.
const (
	ofdGetLock = 36
	ofdSetLock = 37
)

func lockOf(at int64, kind int16) *syscall.Flock_t {
	return &syscall.Flock_t{Type: kind, Start: at, Len: 1}
}

// fcntl calls fcntl on f, which may be closed meanwhile.
func fcntl(f *os.File, cmd int, l *syscall.Flock_t) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	if e := c.Control(func(fd uintptr) { err = syscall.FcntlFlock(fd, cmd, l) }); e != nil {
		return e
	}
	return err
}

// setLock locks or unlocks a byte, or returns an error at once. Tests replace it.
var setLock = func(f *os.File, at int64, kind int16) error {
	err := fcntl(f, ofdSetLock, lockOf(at, kind))
	if err == syscall.EINVAL {
		return fmt.Errorf("locks of open files need Linux 3.15: %w", errors.ErrUnsupported)
	}
	return err
}

// locked reports whether another open file has a lock with which one of the given kind would
// conflict.
func locked(f *os.File, at int64, kind int16) (held bool, err error) {
	l := lockOf(at, kind)
	err = fcntl(f, ofdGetLock, l)
	return err == nil && l.Type != syscall.F_UNLCK, err
}
