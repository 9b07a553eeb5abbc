// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux

package main

// Threads of C whose rings nobody looks at. See TestCgoPerfHeld.

/*
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t perfHeldLock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t perfHeldCond = PTHREAD_COND_INITIALIZER;
static int perfHeldBegun, perfHeldEnd;
static long long perfHeldSpin;
static int perfHeldDone;

static void *perfHeldThread(void *arg) {
	struct timespec ts;
	pthread_mutex_lock(&perfHeldLock);
	while (!perfHeldBegun)
		pthread_cond_wait(&perfHeldCond, &perfHeldLock);
	pthread_mutex_unlock(&perfHeldLock);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	while (ts.tv_sec * 1000000000LL + ts.tv_nsec < perfHeldSpin);
	__atomic_add_fetch(&perfHeldDone, 1, __ATOMIC_SEQ_CST);
	// It must not end before the profile does, or its ring would go.
	pthread_mutex_lock(&perfHeldLock);
	while (!perfHeldEnd)
		pthread_cond_wait(&perfHeldCond, &perfHeldLock);
	pthread_mutex_unlock(&perfHeldLock);
	return NULL;
}

static void perfHeldStart(int n) {
	pthread_t t;
	for (int i = 0; i < n; i++)
		if (pthread_create(&t, NULL, perfHeldThread, NULL) != 0)
			abort();
}

static void perfHeldBegin(long long ns) {
	pthread_mutex_lock(&perfHeldLock);
	perfHeldSpin = ns;
	perfHeldBegun = 1;
	pthread_cond_broadcast(&perfHeldCond);
	pthread_mutex_unlock(&perfHeldLock);
}

static void perfHeldExit(void) {
	pthread_mutex_lock(&perfHeldLock);
	perfHeldEnd = 1;
	pthread_cond_broadcast(&perfHeldCond);
	pthread_mutex_unlock(&perfHeldLock);
}

static void *perfHeldDoneAt(void) { return &perfHeldDone; }
*/
import "C"

import (
	"bytes"
	"fmt"
	"internal/profile"
	"os"
	"runtime/pprof"
	"sync/atomic"
)

func init() {
	register("CgoPerfHeld", CgoPerfHeld)
}

// CgoPerfHeld prints how many ms threads of C have used while nobody could look at their
// rings, how many samples they have, and how many did not fit in a ring. It needs
// GOMAXPROCS=1 and asyncpreemptoff.
func CgoPerfHeld() {
	const threads, ms = 8, 150
	C.perfHeldStart(threads)
	done := (*int32)(C.perfHeldDoneAt())
	var buf bytes.Buffer
	if err := pprof.StartCPUProfileWithConfig(pprof.PerfEvent(&buf, "task-clock", 1e6)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	C.perfHeldBegin(ms * 1e6)
	for atomic.LoadInt32(done) < threads { // nothing takes the only P away
	}
	pprof.StopCPUProfile()
	C.perfHeldExit()
	p, err := profile.Parse(&buf)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	counts := make(map[string]int64)
	for _, s := range p.Sample {
		for _, loc := range s.Location {
			for _, line := range loc.Line {
				counts[line.Function.Name] += s.Value[0]
			}
		}
	}
	fmt.Printf("ms %d\nsampled %d\nlate %d\nlost %d\n", threads*ms, counts["runtime._ExternalCode"], counts["runtime._PerfLostLate"], counts["runtime._PerfLostRing"])
}
