// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// What /proc says of this process; see proc(5).

package pprof

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// perfProcDir returns the names in a directory of /proc/self that are numbers.
func perfProcDir(t *testing.T, dir string) (numbers []int) {
	t.Helper()
	d, err := os.ReadDir("/proc/self/" + dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range d {
		numbers = append(numbers, int(perfAtoi(t, e.Name())))
	}
	return numbers
}

// perfThreadIDs returns the process's threads.
func perfThreadIDs(t *testing.T) []int { t.Helper(); return perfProcDir(t, "task") }

// perfAllFDs returns the process's descriptors, with one that is ReadDir's own.
func perfAllFDs(t *testing.T) []int { t.Helper(); return perfProcDir(t, "fd") }

// perfFDs returns the descriptors of performance events.
func perfFDs(t *testing.T) []int {
	t.Helper()
	return slices.DeleteFunc(perfAllFDs(t), func(fd int) bool {
		link, _ := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
		return !strings.Contains(link, "perf_event")
	})
}

// perfMappings returns the number of mapped rings, which have more than one page, and of
// pages alone.
func perfMappings(t *testing.T) (rings, pages int) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if !strings.Contains(line, "perf_event") {
			continue
		}
		var start, end uint64
		if _, err := fmt.Sscanf(line, "%x-%x", &start, &end); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if end-start > uint64(os.Getpagesize()) {
			rings++
		} else {
			pages++
		}
	}
	return rings, pages
}

// perfNothingOpen fails the test if a counter or a ring is left.
func perfNothingOpen(t *testing.T) {
	t.Helper()
	if n := len(perfFDs(t)); n != 0 {
		t.Errorf("%d counters are open", n)
	}
	threads := len(perfThreadIDs(t)) // first, as one may be about to end
	rings, pages := perfMappings(t)
	if rings != 0 {
		t.Errorf("%d rings are mapped", rings)
	}
	// A thread that has run an accounted goroutine keeps a page.
	if pages > threads {
		t.Errorf("%d pages are mapped, for %d threads", pages, threads)
	}
}

// perfStatus returns a line of /proc/self/status.
func perfStatus(t *testing.T, key string) string {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, key+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	t.Fatalf("/proc/self/status has no %s", key)
	return ""
}
