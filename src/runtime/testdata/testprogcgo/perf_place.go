// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux

package main

// A profile of calls of which it is known where they come from: from Go through
// C to Go, and from a thread that C created. See TestCgoPerfPlace.

/*
#include <pthread.h>

extern void goPerfPlaceCallback(int n);

static void perfPlaceCall(int n) {
	goPerfPlaceCallback(n);
}

static void* perfPlaceThread(void* arg) {
	int i;
	for (i = 0; i < 10; i++)
		goPerfPlaceCallback(*(int*)arg);
	return 0;
}

static int perfPlaceRunThread(int n) {
	pthread_t t;
	if (pthread_create(&t, 0, perfPlaceThread, &n) != 0)
		return 1;
	return pthread_join(t, 0);
}
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
)

func init() {
	register("CgoPerfPlace", CgoPerfPlace)
}

var perfPlaceCalls = make(map[string]int)

//go:noinline
func perfPlaceTarget() {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	var stk []string
	for {
		f, more := frames.Next()
		if f.Function != "runtime.goexit" { // profiles leave it out
			stk = append(stk, f.Function)
		}
		if !more {
			break
		}
	}
	perfPlaceCalls[strings.Join(stk, " < ")]++
}

//export goPerfPlaceCallback
func goPerfPlaceCallback(n C.int) {
	for range n {
		perfPlaceTarget()
	}
}

func perfPlaceGoToC() { C.perfPlaceCall(30) }

// perfPlaceNested calls C, which calls Go, which does that again.
func perfPlaceNested() {
	C.perfPlaceCall(1)
	perfPlaceGoToC()
}

func CgoPerfPlace() {
	f, err := os.CreateTemp("", "prof")
	if err == nil {
		err = pprof.StartCPUProfileWithConfig(pprof.PerfEvent(f, "mem:main.perfPlaceTarget:x", 1))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for range 10 {
		perfPlaceTarget()
		perfPlaceGoToC()
		perfPlaceNested()
		if C.perfPlaceRunThread(7) != 0 {
			fmt.Fprintln(os.Stderr, "no thread")
			os.Exit(2)
		}
	}
	pprof.StopCPUProfile()
	if err := f.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	fmt.Println(f.Name())
	for stk, n := range perfPlaceCalls {
		fmt.Println(n, stk)
	}
}
