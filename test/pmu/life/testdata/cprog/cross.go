// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

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

enum { ROUNDS = 100 };
static long inC, inGo;

static void *crossThread(void *arg) {
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

static void cross(int pure) {
	pthread_t t;
	if (pthread_create(&t, NULL, crossThread, pure ? callGo : callC) != 0)
		abort();
	pthread_join(t, NULL);
}

static long timeInC(void) { return inC; }
static long timeInGo(void) { return inGo; }
*/
import "C"

import (
	"fmt"
	"os"

	"pmu/test/life/testdata/session"
)

// cross has a C thread alternate between computing in C and calling Go, and prints the
// time of each by the event's own clock. Its arguments are the profile's file, the
// callback and the event.
func cross() {
	pure := C.int(0)
	if os.Args[3] == "go" {
		pure = 1
	}
	session.Start(os.Args[4], 1e6)
	C.cross(pure)
	session.Stop(os.Args[2])
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
