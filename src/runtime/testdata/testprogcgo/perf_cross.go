// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux

package main

// Profiles of calls of which it is known where they come from, on a thread of C
// that has called Go: with SIGPROF blocked, and with a C traceback. See
// TestCgoPerfCross.

/*
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

extern void goPerfCrossCall(int n);
extern void goPerfCrossRelease(int n);

static volatile int perfCrossSink;

// perfCrossTarget is what the breakpoint is on, in C.
static void __attribute__((noinline)) perfCrossTarget(void) { perfCrossSink++; }

// perfCrossMarker is where perfCrossTraceback says that the thread is.
static void __attribute__((noinline)) perfCrossMarker(void) { perfCrossSink--; }

static void perfCrossMask(int how) {
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	pthread_sigmask(how, &set, NULL);
}
static void perfCrossUnblock(void) { perfCrossMask(SIG_UNBLOCK); }

static void perfCrossCalls(int n) {
	for (int i = 0; i < n; i++)
		perfCrossTarget();
}

enum { CROSS_BLOCKED, CROSS_RELEASED, CROSS_OPEN };
static int perfCrossMode;

static void *perfCrossThread(void *arg) {
	int n = *(int*)arg;
	goPerfCrossCall(0); // from here on it is a thread that has called Go
	if (perfCrossMode != CROSS_OPEN)
		perfCrossMask(SIG_BLOCK);
	perfCrossCalls(n);
	if (perfCrossMode == CROSS_RELEASED)
		goPerfCrossRelease(n);
	else
		goPerfCrossCall(n);
	perfCrossCalls(n);
	perfCrossUnblock();
	goPerfCrossCall(0);
	return NULL;
}

static void perfCrossRun(int mode, int n) {
	pthread_t t;
	perfCrossMode = mode;
	if (pthread_create(&t, NULL, perfCrossThread, &n) != 0)
		abort();
	pthread_join(t, NULL);
}

struct perfCrossTracebackArg {
	uintptr_t  context;
	uintptr_t  sigContext;
	uintptr_t* buf;
	uintptr_t  max;
};

static void perfCrossTraceback(void *parg) {
	struct perfCrossTracebackArg *arg = parg;
	arg->buf[0] = (uintptr_t)perfCrossMarker + 1;
	arg->buf[1] = 0;
}

// Where they are: cgo's other files have copies of static functions.
static void *perfCrossTracebackAt(void) { return perfCrossTraceback; }
static void *perfCrossTargetAt(void) { return perfCrossTarget; }
static void *perfCrossMarkerAt(void) { return perfCrossMarker; }
*/
import "C"

import (
	"bytes"
	"fmt"
	"internal/profile"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
)

func init() {
	register("CgoPerfCross", CgoPerfCross)
}

var perfCrossSink int

//go:noinline
func perfCrossGoTarget() { perfCrossSink++ }

//export goPerfCrossCall
func goPerfCrossCall(n C.int) {
	for range n {
		perfCrossGoTarget()
	}
}

//export goPerfCrossRelease
func goPerfCrossRelease(n C.int) {
	C.perfCrossUnblock()
	for range n {
		perfCrossGoTarget()
	}
}

// CgoPerfCross prints how many samples each stack has of the calls that a thread
// makes, by the mode and the target in its environment.
func CgoPerfCross() {
	if os.Getenv("PERF_CROSS_TRACEBACK") != "" {
		runtime.SetCgoTraceback(0, C.perfCrossTracebackAt(), nil, nil)
	}
	event := "mem:main.perfCrossGoTarget:x"
	if os.Getenv("PERF_CROSS_TARGET") == "c" {
		event = fmt.Sprintf("mem:%#x:x", uintptr(C.perfCrossTargetAt()))
	}
	mode := map[string]C.int{"blocked": C.CROSS_BLOCKED, "released": C.CROSS_RELEASED, "open": C.CROSS_OPEN}[os.Getenv("PERF_CROSS_MODE")]
	var buf bytes.Buffer
	if err := pprof.StartCPUProfileWithConfig(pprof.PerfEvent(&buf, event, 1)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	C.perfCrossRun(mode, 50)
	pprof.StopCPUProfile()
	p, err := profile.Parse(&buf)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	names := map[uint64]string{
		uint64(uintptr(C.perfCrossTargetAt())): "perfCrossTarget",
		uint64(uintptr(C.perfCrossMarkerAt())): "perfCrossMarker",
	}
	stacks := make(map[string]int64)
	for _, s := range p.Sample {
		var stk []string
		for _, loc := range s.Location {
			if name := names[loc.Address]; name != "" {
				stk = append(stk, name)
				continue
			}
			for _, line := range loc.Line {
				stk = append(stk, line.Function.Name)
			}
			if len(loc.Line) == 0 {
				stk = append(stk, fmt.Sprintf("%#x", loc.Address))
			}
		}
		stacks[strings.Join(stk, " < ")] += s.Value[0]
	}
	for stk, n := range stacks {
		fmt.Println(n, stk)
	}
}
