// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package main

import (
	"bytes"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// A meter is the size of the process at a time without a profile.
type meter struct {
	fds, threads, heap, rss int
}

// perfDescriptors returns the process's descriptors that are counters.
func perfDescriptors() (fds []string) {
	for _, link := range descriptors() {
		if strings.Contains(link, "perf_event") {
			fds = append(fds, link)
		}
	}
	return fds
}

func descriptors() (links []string) {
	d, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		panic(err)
	}
	for _, e := range d {
		if link, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil {
			links = append(links, link)
		}
	}
	return links
}

// status returns the value of a line of /proc/self/status.
func status(key string) string {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, key+":"); ok {
			return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(v), "kB"))
		}
	}
	panic("/proc/self/status has no " + key)
}

// dispositions returns which signals are ignored and which have handlers.
func dispositions() string { return status("SigIgn") + " " + status("SigCgt") }

// A sigaction is struct sigaction of the kernel on 64-bit machines: SIG_DFL is
// all zero.
type sigaction struct{ handler, flags, restorer, mask uintptr }

const ignore = 1 // SIG_IGN

// setSIGPROF sets how SIGPROF is treated and returns how it was.
func setSIGPROF(sa sigaction) (old sigaction) {
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGPROF),
		uintptr(unsafe.Pointer(&sa)), uintptr(unsafe.Pointer(&old)), 8, 0, 0); errno != 0 {
		panic(errno)
	}
	return old
}

// measure waits until no profile runs and then checks that nothing of it is left.
func (s *soak) measure() {
	s.prof.gate.Lock()
	defer s.prof.gate.Unlock()
	if got := dispositions(); got != s.signals {
		s.errorf("ignored and caught signals were %s and are %s", s.signals, got)
	}
	if fds := perfDescriptors(); len(fds) > 0 {
		s.errorf("counters are open after the last profile: %v", fds)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		panic(err)
	}
	if n := bytes.Count(maps, []byte("perf_event")); n > 0 {
		s.errorf("%d rings are mapped", n)
	}
	// The load goes on, on all threads, and a SIGPROF that is sent now kills us. Ignoring
	// it first discards those that are pending (do_sigaction in kernel/signal.c): on a
	// busy machine a thread may not have run since before the session ended.
	old := setSIGPROF(sigaction{handler: ignore})
	setSIGPROF(sigaction{})
	time.Sleep(min(time.Second, s.quiet/4))
	setSIGPROF(old)
	runtime.GC()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	var m meter
	m.fds = len(descriptors())
	m.threads, _ = strconv.Atoi(status("Threads"))
	m.heap = int(mem.HeapAlloc)
	m.rss, _ = strconv.Atoi(status("VmRSS"))
	m.rss <<= 10
	s.meters = append(s.meters, m)
	s.logf("quiet: %d descriptors, %d threads, heap %.1f MB, resident %.1f MB; so far %d requests, %d profiles, %d errors",
		m.fds, m.threads, mb(m.heap), mb(m.rss), s.requests.Load(), s.prof.good.Load(), s.errors.Load())
}

// medians returns what was typical of the first and of the last fifth of the
// times, or of three if that is more.
func medians(ms []meter) (first, last meter) {
	n := min(max(len(ms)/5, 3), len(ms))
	return median(ms[:n]), median(ms[len(ms)-n:])
}

func median(ms []meter) (m meter) {
	of := func(get func(*meter) *int) {
		var v []int
		for i := range ms {
			v = append(v, *get(&ms[i]))
		}
		slices.Sort(v)
		*get(&m) = v[len(v)/2]
	}
	of(func(m *meter) *int { return &m.fds })
	of(func(m *meter) *int { return &m.threads })
	of(func(m *meter) *int { return &m.heap })
	of(func(m *meter) *int { return &m.rss })
	return m
}
