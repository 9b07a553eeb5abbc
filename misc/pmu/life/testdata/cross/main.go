// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

// Cross is a program whose C thread alternates between computing in C and calling Go
// while it is profiled. It prints the time of each, by the event's own clock.
package main

/*
#include <pthread.h>

#include "../taskclock.h"

extern void callGo(long n);
extern void callC(long n);

static volatile long sink;

static void spin(long n) {
	for (long i = 0; i < n; i++)
		sink += i;
}

// taskClock returns the nanoseconds of the calling thread by the clock of the event
// task-clock. Unlike CPU time it ticks on while the hypervisor runs something else.
enum { ROUNDS = 100 };
static long inC, inGo;

static void *cross(void *arg) {
	void (*call)(long) = arg;
	int fd = -1;
	call(1); // from here on it is a thread that has called Go
	long now = taskClock(&fd);
	for (int i = 0; i < ROUNDS; i++) {
		spin(30000000);
		long then = now;
		now = taskClock(&fd);
		inC += now - then;
		call(1500000);
		then = now;
		now = taskClock(&fd);
		inGo += now - then;
	}
	close(fd);
	return NULL;
}

static void crossing(int pure) {
	pthread_t t;
	if (pthread_create(&t, NULL, cross, pure ? callGo : callC) != 0)
		abort();
	pthread_join(t, NULL);
}

static long timeInC(void) { return inC; }
static long timeInGo(void) { return inGo; }
*/
import "C"

import (
	"bytes"
	"fmt"
	"os"
	"runtime/pprof"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	pure := C.int(0)
	if os.Args[1] == "go" {
		pure = 1
	}
	var buf bytes.Buffer
	check(pprof.StartCPUProfileWithConfig(pprof.PerfEvent(&buf, os.Args[2], 1e6)))
	C.crossing(pure)
	pprof.StopCPUProfile()
	check(os.WriteFile(os.Args[3], buf.Bytes(), 0o666))
	fmt.Println(C.timeInC(), C.timeInGo())
}

var sink int

// callGo is a callback in pure Go.
//
//export callGo
func callGo(n C.long) {
	for i := range int(n) {
		sink = sink*i + i
	}
}

// callC is a callback that calls C again.
//
//export callC
func callC(n C.long) { C.spin(n) }
