// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

// Cprog is a program whose C code blocks, has timers, handles SIGPROF itself or
// calls Go while it is profiled.
package main

/*
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "../taskclock.h"

// calls and interrupted count blocking calls, and those with EINTR, by kind.
enum { SLEEP, POLL, READ, SEM, EPOLL, KINDS };
static volatile long calls[KINDS], interrupted[KINDS];
static volatile int quit;

static void note(int kind, int r) {
	__sync_fetch_and_add(&calls[kind], 1);
	if (r < 0 && errno == EINTR)
		__sync_fetch_and_add(&interrupted[kind], 1);
}

// block computes a little and makes each kind of call, over and over. Faults
// come from fresh memory.
static void block(void) {
	int p[2];
	if (pipe(p) != 0)
		abort();
	int ep = epoll_create1(0);
	sem_t sem;
	sem_init(&sem, 0, 0);
	while (!quit) {
		volatile long x = 0;
		for (int i = 0; i < 20000; i++)
			x += i;
		char *m = malloc(1 << 20);
		for (int i = 0; i < 1 << 20; i += 4096)
			m[i] = i;
		free(m);
		struct timespec ts = {0, 50000};
		note(SLEEP, nanosleep(&ts, NULL));
		note(POLL, poll(NULL, 0, 1));
		struct epoll_event ev;
		note(EPOLL, epoll_wait(ep, &ev, 1, 1));
		clock_gettime(CLOCK_REALTIME, &ts);
		ts.tv_nsec += 50000;
		if (ts.tv_nsec >= 1000000000) {
			ts.tv_nsec -= 1000000000;
			ts.tv_sec++;
		}
		note(SEM, sem_timedwait(&sem, &ts));
		char c = 0;
		if (write(p[1], &c, 1) != 1)
			abort();
		note(READ, read(p[0], &c, 1));
	}
	close(p[0]);
	close(p[1]);
	close(ep);
}

static void *blockThread(void *arg) {
	block();
	return NULL;
}

static pthread_t thread;
static void startThread(void) { pthread_create(&thread, NULL, blockThread, NULL); }
static void joinThread(void) { pthread_join(thread, NULL); }
static void setQuit(int q) { quit = q; }
static long getCalls(int kind) { return calls[kind]; }
static long getInterrupted(int kind) { return interrupted[kind]; }

// A timer of the program's own, which sends SIGPROF.
static void setTimer(int us) {
	struct itimerval it = {{0, us}, {0, us}};
	setitimer(ITIMER_PROF, &it, NULL);
}

static void spinC(long n) {
	volatile long x = 0;
	for (long i = 0; i < n; i++)
		x += i;
}

static void *spinner(void *arg) {
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	spinC((long)arg);
	return NULL;
}

// spinBlocked computes on a thread that blocks all signals.
static void spinBlocked(long n) {
	pthread_t t;
	pthread_create(&t, NULL, spinner, (void *)n);
	pthread_join(t, NULL);
}

static sem_t begin;
static volatile int waiting;

static void initBegin(void) { sem_init(&begin, 0, 0); }
static void postBegin(void) { sem_post(&begin); }
static int isWaiting(void) { return waiting; }

// spinLater waits for begin, computes, and returns the nanoseconds that this took.
static long spinLater(long n) {
	waiting = 1;
	while (sem_wait(&begin) != 0)
		;
	int fd = -1;
	long start = taskClock(&fd);
	spinC(n);
	long spent = taskClock(&fd) - start;
	close(fd);
	return spent;
}
*/
import "C"

import (
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"strconv"
	"time"

	"pmu/test/life/testdata/session"
)

// modes are what the program does, by its first argument.
var modes = map[string]func(){
	"block":   block,
	"itimer":  itimer,
	"inside":  stay,
	"blocked": blocked,
	"cross":   cross,
}

func main() { session.Main(modes) }

func block() {
	period, err := strconv.ParseUint(os.Args[3], 10, 64)
	session.Check(err)
	if event := os.Args[2]; event == "timer" {
		session.Check(pprof.StartCPUProfile(io.Discard))
	} else {
		session.Start(event, period)
	}
	done := make(chan bool)
	for range 2 {
		go func() { C.block(); done <- true }()
	}
	C.startThread()
	time.Sleep(time.Second)
	C.setQuit(1)
	C.joinThread()
	<-done
	<-done
	pprof.StopCPUProfile()
	for i, name := range []string{"nanosleep", "poll", "read", "sem_timedwait", "epoll_wait"} {
		fmt.Printf("%s: %d calls, %d interrupted\n", name, C.getCalls(C.int(i)), C.getInterrupted(C.int(i)))
	}
}

func itimer() {
	C.setTimer(1000)
	session.Start("task-clock:uk", 100e3)
	C.spinC(100e6)
	session.Stop(os.Args[2])
	C.spinC(20e6) // the timer's signals continue without a profile
	C.setTimer(0)
}

// stay has a thread of Go in C when the profile starts, and until it stops.
func stay() {
	C.initBegin()
	spent := make(chan int64)
	go inside(spent)
	for C.isWaiting() == 0 {
		time.Sleep(time.Millisecond)
	}
	session.Start("task-clock:uk", 1e6)
	C.postBegin()
	ns := <-spent
	session.Stop(os.Args[2])
	fmt.Println(ns)
}

// blocked has a thread with the signal blocked, in a tight loop at a short period.
func blocked() {
	session.Start("task-clock:uk", 1000)
	C.spinBlocked(100e6)
	session.Stop(os.Args[2])
}

//go:noinline
func inside(spent chan<- int64) { spent <- int64(C.spinLater(600e6)) }
