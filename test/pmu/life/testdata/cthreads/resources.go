// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"pmu/test/life/testdata/session"
)

const perfName = "anon_inode:[perf_event]"

// A usage is what the program has at a time.
type usage struct {
	threads, fds, rings int // descriptors of events, and their rings
	dead                int // descriptors of threads that have ended
	bare                int // threads without a descriptor
}

func (u usage) String() string {
	return fmt.Sprintf("%d threads, %d descriptors, %d rings", u.threads, u.fds, u.rings)
}

// resources returns what there is. Whose a descriptor is, the kernel says: numbers of
// them, taken one after the other while threads come and go, do not.
func resources() (u usage) {
	names, err := filepath.Glob("/proc/self/fd/*")
	session.Check(err)
	owned := make(map[int32]bool)
	var owners []int32
	for _, name := range names {
		if s, err := os.Readlink(name); err != nil || s != perfName {
			continue
		}
		fd, err := strconv.Atoi(filepath.Base(name))
		session.Check(err)
		var own struct{ typ, tid int32 } // F_GETOWN_EX in fcntl(2); 0 if it has ended, since Linux 5.12
		const getOwn = 16
		if _, _, e := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), getOwn, uintptr(unsafe.Pointer(&own))); e == 0 {
			owned[own.tid] = true
			owners = append(owners, own.tid)
		}
	}
	maps, err := os.ReadFile("/proc/self/maps")
	session.Check(err)
	tasks, err := os.ReadDir("/proc/self/task")
	session.Check(err)
	u = usage{threads: len(tasks), fds: len(owners), rings: strings.Count(string(maps), perfName)}
	alive := make(map[int32]bool)
	for _, task := range tasks {
		tid, err := strconv.Atoi(task.Name())
		session.Check(err)
		alive[int32(tid)] = true
		if !owned[int32(tid)] {
			u.bare++
		}
	}
	for _, tid := range owners {
		if !alive[tid] {
			u.dead++
		}
	}
	return u
}

// await waits until resources are as they should be. That may take seconds on a busy
// machine: all threads are listed once a second, or less often if that takes more than
// 1/2000 of the time. After half a minute await says what is missing, and gives up.
func await(ok func(u usage) bool) (u usage) {
	for range 3000 {
		if u = resources(); ok(u) {
			return u
		}
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Printf("after half a minute %d threads are bare, and %d descriptors are of dead ones\n", u.bare, u.dead)
	return u
}

// settle prints the resources when threads that have ended have none.
func settle(when string) {
	fmt.Printf("%s: %v\n", when, await(func(u usage) bool { return u.dead == 0 && u.fds <= u.threads && u.rings <= u.threads }))
}

// awaitFound waits until there is a descriptor for each thread.
func awaitFound() { await(func(u usage) bool { return u.bare == 0 }) }
