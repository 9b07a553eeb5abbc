// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux

package main

// A handler of C's for SIGBUS that was there before Go's. See TestCgoPerfHazard.

/*
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int perfHazardSeen;

static void perfHazardBus(int sig, siginfo_t *info, void *ctx) {
	uintptr_t size = sysconf(_SC_PAGESIZE);
	void *page = (void *)((uintptr_t)info->si_addr & ~(size - 1));
	perfHazardSeen++;
	if (mmap(page, size, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED, -1, 0) == MAP_FAILED)
		_exit(3);
}

__attribute__((constructor)) static void perfHazardInit(void) {
	struct sigaction sa = { .sa_sigaction = perfHazardBus, .sa_flags = SA_SIGINFO|SA_ONSTACK };
	if (getenv("PERF_HAZARD_SIGBUS"))
		sigaction(SIGBUS, &sa, NULL);
}

static int perfHazardCount(void) { return perfHazardSeen; }

// perfHazardTouch stores into a page of C's that has no file behind it.
static int perfHazardTouch(void) {
	FILE *f = tmpfile();
	if (!f)
		return -1;
	volatile char *p = mmap(NULL, 1, PROT_READ|PROT_WRITE, MAP_SHARED, fileno(f), 0);
	if (p == MAP_FAILED)
		return -2;
	*p = 1;
	return perfHazardSeen;
}
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"runtime/hazard"
	"strings"
)

func init() { register("CgoPerfHazard", CgoPerfHazard) }

func CgoPerfHazard() {
	fail := func(args ...any) {
		fmt.Println(args...)
		os.Exit(1)
	}
	dir, err := os.MkdirTemp("/dev/shm", "hazard-test-*")
	if err != nil {
		fail(err)
	}
	defer os.RemoveAll(dir)
	p, err := hazard.Publish(dir + "/page")
	if err != nil {
		fail(err)
	}
	if err := os.Truncate(dir+"/page", 0); err != nil {
		fail(err)
	}
	runtime.GC()
	if err := p.Set(hazard.Draining, ""); err == nil || !strings.Contains(err.Error(), "was cut") {
		fail("Set:", err)
	}
	if n := C.perfHazardCount(); n != 0 {
		fail("C has got what was Go's:", n)
	}
	if n := C.perfHazardTouch(); n != 1 {
		fail("C has not got what was its own:", n)
	}
	fmt.Println("OK")
}
