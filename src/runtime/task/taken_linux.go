// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"internal/runtime/cgroup"
	"internal/taskrecord"
	"os"
	"time"
)

// readTaken reads what the kernel says of why threads have no CPU: some small files, one of them for
// each thread. That is done when recording begins and ends, and when somebody reads the numbers.
func readTaken() (t taskrecord.Taken) {
	t.Preempted = time.Duration(runtime_perfTakenSum())
	set := func(d *time.Duration, known taskrecord.TakenKnown, value time.Duration, err error) {
		if err == nil {
			*d = value
			t.Known |= known
		}
	}
	throttled, err := readThrottled()
	set(&t.Throttled, taskrecord.ThrottledKnown, throttled, err)
	delay, err := readDelay()
	set(&t.Delay, taskrecord.DelayKnown, delay, err)
	b, err := os.ReadFile("/proc/stat")
	if err == nil {
		var stolen time.Duration
		stolen, err = taskrecord.ParseStolen(b)
		set(&t.Stolen, taskrecord.StolenKnown, stolen, err)
	}
	return t
}

// readThrottled reads for how long the quota of the program's control group has stopped it. That of a
// group around it is not seen. Where there are no groups there is no quota.
func readThrottled() (time.Duration, error) {
	buf := make([]byte, cgroup.PathSize+cgroup.ParseSize)
	path := buf[:cgroup.PathSize]
	n, _, err := cgroup.FindCPU(path, buf[cgroup.PathSize:])
	if err == cgroup.ErrNoCgroup {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	b, err := os.ReadFile(string(path[:n]) + "/cpu.stat")
	if err != nil {
		return 0, err
	}
	return taskrecord.ParseThrottled(b)
}

// readDelay reads for how long the threads that there are have been ready and had no CPU.
func readDelay() (sum time.Duration, err error) {
	const dir = "/proc/self/task"
	f, err := os.Open(dir)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	names, err := f.Readdirnames(0)
	if err != nil {
		return 0, err
	}
	read := false
	for _, name := range names {
		b, gone := os.ReadFile(dir + "/" + name + "/schedstat")
		if gone != nil {
			continue // it has ended, unless none has such a file
		}
		delay, bad := taskrecord.ParseDelay(b)
		if bad != nil {
			continue // it has not run yet
		}
		read = true
		sum += delay
	}
	if !read {
		return 0, os.ErrNotExist
	}
	return sum, nil
}
