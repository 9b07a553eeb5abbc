// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../taskclock.h"
#include "threads.h"

static sem_t begin, end, call, called;
volatile long cpuTime, clocked;

// threadTime returns the CPU time of this thread.
static long threadTime(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

// spin computes for ns nanoseconds by that clock.
static void spin(long ns) {
	int fd = -1;
	long begin = threadTime(), start = taskClock(&fd), now;
	do {
		volatile long x = 0;
		for (int i = 0; i < 100000; i++)
			x += i;
		now = taskClock(&fd);
	} while (now - start < ns);
	close(fd);
	__sync_fetch_and_add(&cpuTime, threadTime() - begin);
	__sync_fetch_and_add(&clocked, now - start);
}

struct job {
	int what;
	long ns;  // to compute
	int tid;  // set by the thread; if it is not 0 before, only that thread computes
	int was;  // what tid was before
	int more; // of CHAIN
	int begun;
};

static void start(pthread_t *t, struct job *j);

static void await(sem_t *s) {
	while (sem_wait(s) != 0)
		; // a signal
}

static void *work(void *arg) {
	struct job *j = arg;
	j->was = j->tid;
	j->tid = syscall(SYS_gettid);
	__atomic_store_n(&j->begun, 1, __ATOMIC_SEQ_CST);
	if (j->was != 0 && j->tid != j->was)
		return NULL;
	if (j->what & CALL)
		callGo();
	if (j->what & WAIT) {
		sem_post(&begin);
		if (j->what & LATE) {
			await(&call);
			callGo();
			sem_post(&called);
		}
		await(&end);
	}
	if (j->what & CHAIN && j->more > 0) {
		struct job next = {j->what, j->ns, 0, 0, j->more - 1};
		pthread_t t;
		start(&t, &next);
		pthread_join(t, NULL);
	} else if (j->what & SPIN) {
		for (int i = 0; i < 10; i++) {
			if (j->what & SIGNAL)
				pthread_kill(pthread_self(), SIGWINCH);
			spin(j->ns / 10);
		}
	}
	if (j->what & VANISH) {
		// Its joiner must not wait: the thread is detached.
		sem_post(&begin);
		syscall(SYS_exit, 0);
	}
	return NULL;
}

static void start(pthread_t *t, struct job *j) {
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 << 10);
	pthread_attr_setdetachstate(&attr, j->what & VANISH ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
	if (pthread_create(t, &attr, work, j) != 0)
		abort();
	pthread_attr_destroy(&attr);
}

// threads runs n threads, at most atOnce at a time.
void threads(int n, int atOnce, int what, long ns) {
	pthread_t *ts = calloc(atOnce, sizeof *ts);
	struct job *js = calloc(atOnce, sizeof *js);
	while (n > 0) {
		int some = n < atOnce ? n : atOnce;
		for (int i = 0; i < some; i++) {
			js[i] = (struct job){what, ns, 0, 0, 5};
			start(&ts[i], &js[i]);
		}
		for (int i = 0; i < some; i++)
			if (what & VANISH)
				sem_wait(&begin);
			else
				pthread_join(ts[i], NULL);
		n -= some;
	}
	free(ts);
	free(js);
}

// Threads that wait. Only a few of them call Go for the first time at once: those that
// find no spare M spin until one is made, which took 1,500 of them 10 to 30 s on two CPUs
// in a program without a profile (lockextra in runtime/proc.go).
enum { FEW = 8 };
static pthread_t *waiters;
static struct job *waiterJobs;
static int nwaiters;

void startWaiters(int n, int what, long ns) {
	waiters = calloc(n, sizeof *waiters);
	waiterJobs = calloc(n, sizeof *waiterJobs);
	nwaiters = n;
	for (int i = 0; i < n + FEW; i++) {
		if (i < n) {
			waiterJobs[i] = (struct job){what | WAIT, ns};
			start(&waiters[i], &waiterJobs[i]);
		}
		if (i >= FEW)
			await(&begin);
	}
}

void callWaiters(void) {
	for (int i = 0; i < nwaiters + FEW; i++) {
		if (i < nwaiters)
			sem_post(&call);
		if (i >= FEW)
			await(&called);
	}
}

void endWaiters(void) {
	for (int i = 0; i < nwaiters; i++)
		sem_post(&end);
	for (int i = 0; i < nwaiters; i++)
		pthread_join(waiters[i], NULL);
}

static pthread_t one;
static struct job oneJob;

// alive reports whether the program has a thread of that ID.
static int alive(int tid) {
	char task[64];
	snprintf(task, sizeof task, "/proc/self/task/%d", tid);
	return access(task, F_OK) == 0;
}

int startOne(int what, int tid, long ns) {
	for (int i = 1; i < 100000; i++) {
		if (tid != 0 && alive(tid))
			return -1;
		// Say which ID is next, if that is allowed. Otherwise it comes round.
		FILE *f = tid == 0 ? NULL : fopen("/proc/sys/kernel/ns_last_pid", "w");
		if (f != NULL) {
			fprintf(f, "%d", tid - 1);
			fclose(f);
		}
		oneJob = (struct job){what, ns, tid};
		start(&one, &oneJob);
		while (!__atomic_load_n(&oneJob.begun, __ATOMIC_SEQ_CST))
			usleep(100);
		if (tid == 0 || oneJob.tid == tid)
			return i;
		pthread_join(one, NULL);
	}
	return 0;
}

// endOne ends it, and returns its ID.
int endOne(void) {
	if (oneJob.what & WAIT) {
		sem_wait(&begin);
		sem_post(&end);
	}
	if (oneJob.what & VANISH)
		sem_wait(&begin);
	else
		pthread_join(one, NULL);
	// pthread_join may return before the thread is gone (CLONE_CHILD_CLEARTID in
	// clone(2)). If it takes long, another thread has the ID.
	for (int i = 0; i < 1000 && alive(oneJob.tid); i++)
		usleep(100);
	return oneJob.tid;
}

// forbidRings has the kernel refuse to map rings, as it does where the limit of locked
// memory is reached: mmap with no flag but MAP_SHARED.
void forbidRings(void) {
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[3])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MAP_SHARED, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {sizeof filter / sizeof filter[0], filter};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		abort();
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &prog) != 0)
		abort();
}

volatile int lateBegin;
static pthread_t creator;

static void *create(void *arg) {
	while (!lateBegin)
		usleep(1000);
	pthread_t t;
	start(&t, arg);
	pthread_join(t, NULL);
	return NULL;
}

void startLate(long ns) {
	oneJob = (struct job){SPIN, ns};
	pthread_create(&creator, NULL, create, &oneJob);
}

void endLate(void) { pthread_join(creator, NULL); }

static void *meeter(void *arg) {
	callMeet();
	return arg;
}

// meet has n threads call Go together, and waits for their end.
void meet(int n) {
	pthread_t all[n];
	for (int i = 0; i < n; i++)
		pthread_create(&all[i], NULL, meeter, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(all[i], NULL);
}

static volatile long calls; // of Go by stormers
static volatile int calm;

// stormer computes and calls Go in turns, with signals for Go all the time.
static void *stormer(void *arg) {
	(void)arg;
	while (!__atomic_load_n(&calm, __ATOMIC_SEQ_CST)) {
		volatile long x = 0;
		for (int i = 0; i < 20000; i++)
			x += i;
		callGo();
		__sync_fetch_and_add(&calls, 1);
	}
	return NULL;
}

static pthread_t stormers[2], thunder;

static void *strike(void *arg) {
	(void)arg;
	while (!__atomic_load_n(&calm, __ATOMIC_SEQ_CST)) {
		for (int i = 0; i < 2; i++)
			pthread_kill(stormers[i], SIGWINCH);
		usleep(20);
	}
	return NULL;
}

void startStorm(void) {
	for (int i = 0; i < 2; i++)
		pthread_create(&stormers[i], NULL, stormer, NULL);
	pthread_create(&thunder, NULL, strike, NULL);
}

long endStorm(void) {
	__atomic_store_n(&calm, 1, __ATOMIC_SEQ_CST);
	pthread_join(thunder, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(stormers[i], NULL);
	return calls;
}

void initThreads(void) {
	sem_init(&begin, 0, 0);
	sem_init(&end, 0, 0);
	sem_init(&call, 0, 0);
	sem_init(&called, 0, 0);
}
