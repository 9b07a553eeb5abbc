// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux

package main

// What goroutines count, and where their time goes, in C, in callbacks from C, and on
// threads that C has created. See TestCgoPerfAccount.

/*
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

extern void goPerfAccountCall(int had, int n);
extern void goPerfAccountCause(int n);
extern void goPerfAccountDo(void);

// inC says whether the event can be caused in C.
static void perfAccountCause(int inC, int n) {
	if (inC) {
		while (n-- > 0)
			(void)!getppid();
	} else {
		goPerfAccountCause(n);
	}
}

static void perfAccountSleep(long ns) {
	struct timespec ts = {0, ns};
	while (nanosleep(&ts, &ts) != 0)
		; // interrupted by a signal
}

// perfAccountNested causes n events in C, calls Go with n, and causes n more.
static void perfAccountNested(int inC, int n) {
	perfAccountCause(inC, n);
	goPerfAccountCall(-1, n);
	perfAccountCause(inC, n);
}

struct perfAccountArg { int inC, n; };

// A thread causes events before it calls Go, which are not counted. Then it calls Go several
// times, and causes events in between. The runtime has a goroutine for the thread from the
// first call of Go until the thread ends.
static void *perfAccountThread(void *p) {
	struct perfAccountArg *arg = p;
	int had = 0;
	if (arg->inC)
		perfAccountCause(1, arg->n);
	for (int i = 0; i < 5; i++) {
		goPerfAccountCall(had, arg->n);
		had += arg->n;
		if (arg->inC) {
			perfAccountCause(1, arg->n);
			had += arg->n;
		}
	}
	free(arg);
	return NULL;
}

static void perfAccountStart(pthread_t *t, int inC, int n) {
	struct perfAccountArg *arg = malloc(sizeof *arg);
	arg->inC = inC;
	arg->n = n;
	if (pthread_create(t, NULL, perfAccountThread, arg) != 0)
		abort();
}
static void perfAccountDo(void) { goPerfAccountDo(); }
static void perfAccountJoin(pthread_t t) { pthread_join(t, NULL); }
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func init() {
	register("CgoPerfAccount", CgoPerfAccount)
}

var perfAccount struct {
	c      *pprof.Counters
	cause  func()
	inC    C.int         // whether C can cause it, too
	ours   atomic.Uint64 // events of accounted goroutines
	others atomic.Uint64
	failed atomic.Bool
}

//go:noinline
//go:nosplit
func perfAccountTarget() {}

func perfAccountFail(format string, args ...any) {
	perfAccount.failed.Store(true)
	fmt.Printf(format+"\n", args...)
}

// perfAccountCounted returns what the calling goroutine has counted.
func perfAccountCounted() uint64 {
	var v [1]pprof.CounterValue
	if err := perfAccount.c.Goroutine(v[:]); err != nil {
		perfAccountFail("%v", err)
	}
	return v[0].Value
}

//export goPerfAccountCause
func goPerfAccountCause(n C.int) {
	for range n {
		perfAccount.cause()
	}
}

var perfAccountDo func()

//export goPerfAccountDo
func goPerfAccountDo() { perfAccountDo() }

// goPerfAccountCall is called from C: by a thread whose goroutine has had so many events,
// or by a goroutine that has called C (-1). It causes n events, and loses its P meanwhile.
//
//export goPerfAccountCall
func goPerfAccountCall(had, n C.int) {
	before := perfAccountCounted()
	if had >= 0 && before != uint64(had) {
		perfAccountFail("a thread's goroutine has counted %d, want %d", before, had)
	}
	for i := range n {
		perfAccount.cause()
		switch i % 3 {
		case 0:
			runtime.Gosched()
		case 1:
			time.Sleep(time.Microsecond)
		case 2:
			C.perfAccountSleep(1000)
		}
	}
	if got := perfAccountCounted() - before; got != uint64(n) {
		perfAccountFail("%d events in a callback counted %d", n, got)
	}
	perfAccount.ours.Add(uint64(n))
	var u pprof.GoroutineTime
	pprof.ReadGoroutineTime(&u)
	perfAccountSum(&u)
}

func perfAccountSum(u *pprof.GoroutineTime) {
	sum := time.Duration(0)
	for p := range pprof.TimeParts() {
		sum += u.Part(p)
	}
	if sum != u.Wall {
		perfAccountFail("the parts add up to %v of %v: %v", sum, u.Wall, u)
	}
}

// perfAccountDivision is package runtime/pprof's counterDivision.
//
//go:linkname perfAccountDivision runtime/pprof.counterDivision
func perfAccountDivision(c *pprof.Counters) (l struct{ goroutines, between, elsewhere []pprof.CounterValue }, err error)

// CgoPerfAccount prints what is wrong, and at the end a line with the ledger.
func CgoPerfAccount() {
	p := &perfAccount
	var err error
	// Events that happen once in each call. The first can be caused in C, too.
	p.cause = func() { syscall.Getppid() }
	p.inC = 1
	if p.c, err = pprof.OpenCounters("syscalls:sys_enter_getppid:k"); err != nil {
		p.cause = perfAccountTarget
		p.inC = 0
		if p.c, err = pprof.OpenCounters("mem:main.perfAccountTarget:x"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	for range 20 {
		perfAccountThreads()
		perfAccountCalls()
		p.cause() // this goroutine is not accounted
		p.others.Add(1)
	}
	perfAccountTimes()
	l, err := perfAccountDivision(p.c)
	if err != nil {
		perfAccountFail("%v", err)
	}
	g, rest := l.goroutines[0].Value, l.between[0].Value+l.elsewhere[0].Value
	if g != p.ours.Load() || rest != p.others.Load() {
		perfAccountFail("%d by goroutines, %d by others; want %d and %d", g, rest, p.ours.Load(), p.others.Load())
	}
	fmt.Println(g, "by goroutines,", rest, "by others")
	if p.failed.Load() {
		os.Exit(1)
	}
}

// perfAccountThreads has threads of C call Go.
func perfAccountThreads() {
	const threads = 4
	var ts [threads]C.pthread_t
	for i := range ts {
		C.perfAccountStart(&ts[i], perfAccount.inC, C.int(i))
		if perfAccount.inC != 0 {
			perfAccount.ours.Add(uint64(5 * i))
		}
	}
	for i := range ts {
		C.perfAccountJoin(ts[i])
	}
}

// perfAccountCalls has goroutines call C, which calls Go.
func perfAccountCalls() {
	var wg sync.WaitGroup
	for i := range 5 {
		wg.Go(func() {
			before := perfAccountCounted()
			for n := range i {
				C.perfAccountCause(perfAccount.inC, C.int(n))
				C.perfAccountNested(perfAccount.inC, C.int(n)) // which adds n of the 4n
				perfAccount.ours.Add(uint64(3 * n))
				runtime.Gosched()
			}
			if got, want := perfAccountCounted()-before, uint64(4*i*(i-1)/2); got != want {
				perfAccountFail("goroutine %d: %d events counted %d", i, want, got)
			}
		})
	}
	wg.Wait()
}

func perfAccountNanosleep(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	for syscall.Nanosleep(&ts, &ts) != nil { // interrupted by a signal
	}
}

// perfAccountTimes spends time in C, in a system call, and in Go that C has called.
func perfAccountTimes() {
	const planted = 30 * time.Millisecond
	for _, tt := range []struct {
		name string
		part pprof.TimePart
		f    func()
	}{
		{"C", pprof.TimeC, func() { C.perfAccountSleep(C.long(planted)) }},
		{"system call", pprof.TimeSyscall, func() { perfAccountNanosleep(planted) }},
		{"C after a system call", pprof.TimeC, func() {
			syscall.Write(-1, nil)
			C.perfAccountSleep(C.long(planted))
		}},
		{"system call in a callback", pprof.TimeSyscall, func() {
			perfAccountDo = func() { perfAccountNanosleep(planted) }
			C.perfAccountDo()
		}},
		{"sleep in a callback", pprof.TimeSleep, func() {
			perfAccountDo = func() { time.Sleep(planted) }
			C.perfAccountDo()
		}},
	} {
		var iv pprof.Interval
		var u pprof.GoroutineTime
		iv.Start(nil)
		start := time.Now()
		tt.f()
		elapsed := time.Since(start)
		if err := iv.Stop(&u, nil); err != nil {
			perfAccountFail("%v", err)
		}
		perfAccountSum(&u)
		// What is late in waking up can be runnable.
		rest := u.Part(pprof.TimeRunning) + u.Part(pprof.TimeRunnable) + u.Part(pprof.TimePreempted)
		if got := u.Part(tt.part); got+rest < planted*99/100 || got > elapsed+planted/100 || u.Wall-got-rest > planted/20 || got < planted/2 {
			perfAccountFail("%s: %v in %v, planted %v, took %v: %v", tt.name, got, tt.part, planted, elapsed, u)
		}
	}
}
