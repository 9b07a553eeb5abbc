// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package main

/*
#include <signal.h>
#include <time.h>

// (A file with exports may not define functions in its preamble.)
static volatile int computed, done;

static void compute_blocked(void) {
	sigset_t set;
	struct timespec ts;
	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	while (ts.tv_sec == 0 && ts.tv_nsec < 20000000);
	computed = 1;
	while (!done)
		;
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static int has_computed(void) { return computed; }
static void end(void) { done = 1; }
*/
import "C"

import (
	"io"
	"runtime/pprof"
	"time"
)

// computeBlocked samples C code that blocks SIGPROF. The session ends, then the timer's
// profile that runs beside it, and then the thread takes the signals that it has left.
func computeBlocked() error {
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		return err
	}
	s, err := pprof.StartSession(pprof.PerfEvent(io.Discard, "task-clock:uk", 100e3))
	if err != nil {
		pprof.StopCPUProfile()
		return err
	}
	ended := make(chan bool)
	go func() {
		C.compute_blocked()
		close(ended)
	}()
	for C.has_computed() == 0 {
		time.Sleep(time.Millisecond)
	}
	s.Stop()
	pprof.StopCPUProfile()
	C.end()
	<-ended
	return nil
}
