// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux

package main

// A profile of a program whose threads of C wait most of the time. See TestCgoPerfIdle.

/*
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

// perfIdleTarget has a page fault if p is in a new page.
static void __attribute__((noinline)) perfIdleTarget(volatile char *p) { *p = 1; }
static void *perfIdleTargetAt(void) { return perfIdleTarget; }

static char *perfIdlePages(int n) {
	char *p = mmap(NULL, n * getpagesize(), PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		abort();
	madvise(p, n * getpagesize(), MADV_NOHUGEPAGE);
	return p;
}

static long long perfIdleTime(void) {
	struct timespec ts;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

// perfIdleSpin uses CPU time until the thread's is ns.
static void perfIdleSpin(long long ns) {
	while (perfIdleTime() < ns)
		;
}

static pthread_mutex_t perfIdleLock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t perfIdleCond = PTHREAD_COND_INITIALIZER;
static int perfIdleRound, perfIdleDone, perfIdleCalls, perfIdlePause, perfIdleEnd;

static void *perfIdleThread(void *arg) {
	int round = 0;
	pthread_mutex_lock(&perfIdleLock);
	for (;;) {
		while (perfIdleRound == round && !perfIdleEnd)
			pthread_cond_wait(&perfIdleCond, &perfIdleLock);
		if (perfIdleEnd)
			break;
		round = perfIdleRound;
		pthread_mutex_unlock(&perfIdleLock);
		struct timespec pause = {0, perfIdlePause};
		char *p = perfIdlePages(perfIdleCalls);
		for (int i = 0; i < perfIdleCalls; i++) {
			perfIdleTarget(p + i * getpagesize());
			if (perfIdlePause > 0)
				nanosleep(&pause, NULL);
			else
				perfIdleSpin(perfIdleTime() + 400000); // else the overhead is bounded
		}
		munmap(p, perfIdleCalls * getpagesize());
		pthread_mutex_lock(&perfIdleLock);
		perfIdleDone++;
		pthread_cond_broadcast(&perfIdleCond);
	}
	pthread_mutex_unlock(&perfIdleLock);
	return NULL;
}

static pthread_t perfIdleThreads[1000];

static void perfIdleStart(int n) {
	for (int i = 0; i < n; i++)
		if (pthread_create(&perfIdleThreads[i], NULL, perfIdleThread, NULL) != 0)
			abort();
}

// perfIdleCall has each of the n threads call the target, and waits.
static void perfIdleCall(int n, int calls, int pause) {
	pthread_mutex_lock(&perfIdleLock);
	perfIdleDone = 0;
	perfIdleCalls = calls;
	perfIdlePause = pause;
	perfIdleRound++;
	pthread_cond_broadcast(&perfIdleCond);
	while (perfIdleDone < n)
		pthread_cond_wait(&perfIdleCond, &perfIdleLock);
	pthread_mutex_unlock(&perfIdleLock);
}

static void perfIdleJoin(int n) {
	pthread_mutex_lock(&perfIdleLock);
	perfIdleEnd = 1;
	pthread_cond_broadcast(&perfIdleCond);
	pthread_mutex_unlock(&perfIdleLock);
	for (int i = 0; i < n; i++)
		pthread_join(perfIdleThreads[i], NULL);
}

// perfIdleBusy calls the target arg times, each 2 ms of its CPU time.
static void *perfIdleBusy(void *arg) {
	char *p = perfIdlePages((long)arg);
	long long start = perfIdleTime();
	for (long i = 0; i < (long)arg; i++) {
		perfIdleSpin(start + i * 2000000LL);
		perfIdleTarget(p + i * getpagesize());
	}
	munmap(p, (long)arg * getpagesize());
	return NULL;
}

static void perfIdleNew(long calls) {
	pthread_t t;
	if (pthread_create(&t, NULL, perfIdleBusy, (void*)calls) != 0)
		abort();
	pthread_join(t, NULL);
}
*/
import "C"

import (
	"bytes"
	"fmt"
	"internal/profile"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func init() {
	register("CgoPerfIdle", CgoPerfIdle)
}

// CgoPerfIdle prints how often threads have slept in an idle second and how much CPU time
// they have used in it, then how many calls there were in threads of C, how many of these
// samples stand for, and how many did not fit in a ring. The mode is in its environment.
func CgoPerfIdle() {
	n, _ := strconv.Atoi(os.Getenv("PERF_IDLE_THREADS"))
	C.perfIdleStart(C.int(n))
	before := runtime.NumGoroutine()
	var buf bytes.Buffer
	if err := pprof.StartCPUProfileWithConfig(pprof.PerfEvent(&buf, "page-faults", 1)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	const seconds = 3
	time.Sleep(time.Second)
	var r0, r1 syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &r0)
	time.Sleep(seconds * time.Second)
	syscall.Getrusage(syscall.RUSAGE_SELF, &r1)
	cpu := r1.Utime.Nano() + r1.Stime.Nano() - r0.Utime.Nano() - r0.Stime.Nano()
	fmt.Printf("slept %d\nused %d\n", (r1.Nvcsw-r0.Nvcsw)/seconds, cpu/seconds)

	calls := 0
	// A look may be put off by 200 ms, for which a ring has room if there is a record in 2 ms.
	switch mode := os.Getenv("PERF_IDLE_MODE"); mode {
	case "calls":
		const rounds, each = 5, 30
		for range rounds {
			C.perfIdleCall(C.int(n), each, 0)
			calls += n * each
			time.Sleep(100 * time.Millisecond) // until it is idle again, or nearly
		}
	case "rare":
		// Little CPU time, many records.
		const each, pause = 500, 2_000_000
		C.perfIdleCall(C.int(n), each, pause)
		calls = n * each
	case "new":
		calls = 300
		C.perfIdleNew(C.long(calls))
	default:
		fmt.Fprintf(os.Stderr, "no mode %q\n", mode)
		os.Exit(2)
	}
	pprof.StopCPUProfile()
	for runtime.NumGoroutine() != before { // the writer may be about to end
		runtime.Gosched()
	}
	var stacks [64 << 10]byte
	if s := string(stacks[:runtime.Stack(stacks[:], true)]); strings.Contains(s, "runtime/pprof.") {
		fmt.Fprintf(os.Stderr, "goroutines of the profile are left:\n%s", s)
		os.Exit(2)
	}
	C.perfIdleJoin(C.int(n))
	p, err := profile.Parse(&buf)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	sampled, lost := int64(0), int64(0)
	target, size := uint64(uintptr(C.perfIdleTargetAt())), uint64(32)
	for _, s := range p.Sample {
		leaf := s.Location[0]
		switch {
		case target <= leaf.Address && leaf.Address < target+size:
			sampled += s.Value[1]
		case len(leaf.Line) > 0 && leaf.Line[0].Function.Name == "runtime._PerfLostRing":
			lost += s.Value[0]
		}
	}
	fmt.Printf("calls %d\nsampled %d\nlost %d\n", calls, sampled, lost)
}
