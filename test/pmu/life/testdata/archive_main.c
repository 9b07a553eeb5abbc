// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// A program that handles SIGPROF before Go comes, and wants it back afterwards.

#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

extern int start(void);
extern long compute(long);
extern int stop(void);
extern int startBeside(int);
extern void stopBeside(void);
extern int blockedBeside(void);

static volatile long mine, foreign;

static void handler(int sig, siginfo_t *info, void *ctx) {
	// A descriptor's signal has a code of POLL_*. (SI_TIMER is of the threads' timers
	// of the timer's profile, which stock Go lets through when that has ended.)
	if (info->si_code == SI_KERNEL || info->si_code == SI_USER || info->si_code == SI_TKILL)
		mine++;
	else if (info->si_code >= POLL_IN && info->si_code <= POLL_HUP)
		foreign++;
}

// late calls Go's handler for a signal of descriptor fd, as when the kernel has chosen
// that handler, and the thread runs it later. It returns how often that calls ours.
static long late(void (*h)(int, siginfo_t *, void *), int fd) {
	ucontext_t ctx;
	siginfo_t info;
	long before = foreign;
	memset(&info, 0, sizeof info);
	info.si_signo = SIGPROF;
	info.si_code = POLL_IN;
	info.si_fd = fd;
	getcontext(&ctx);
	h(SIGPROF, &info, &ctx);
	long n = foreign - before;
	foreign = before;
	return n;
}

static void timer(int us) {
	struct itimerval it = {{0, us}, {0, us}};
	setitimer(ITIMER_PROF, &it, NULL);
}

int main(int argc, char **argv) {
	struct sigaction sa, now;
	memset(&sa, 0, sizeof sa);
	sa.sa_sigaction = handler;
	sa.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
	int own = argc > 1 && strcmp(argv[1], "own") == 0;
	int dfl = argc > 1 && strcmp(argv[1], "default") == 0;
	if (own) {
		sigaction(SIGPROF, &sa, NULL);
		timer(1000);
	}
	long x = 0;
	int fail = 0;
	for (int i = 0; i < 20; i++) {
		if (start() != 0)
			return 1;
		x += compute(5000000);
		struct sigaction gos;
		sigaction(SIGPROF, NULL, &gos);
		if (stop() <= 0)
			return 2;
		if (own) {
			sigaction(SIGPROF, NULL, &now);
			if (now.sa_sigaction != handler) {
				printf("the handler is not back\n");
				fail = 3;
			}
			int fds[2];
			if (pipe(fds) != 0)
				return 7;
			if (late(gos.sa_sigaction, fds[0]) != 0) {
				printf("a late signal of the profile came to the program's handler\n");
				fail = 7;
			}
			fcntl(fds[0], F_SETSIG, SIGPROF);
			if (late(gos.sa_sigaction, fds[0]) != 1) {
				printf("a signal of the program's descriptor did not come\n");
				fail = 8;
			}
			close(fds[0]);
			close(fds[1]);
			if (late(gos.sa_sigaction, fds[0]) != 0) {
				printf("a late signal of a closed descriptor came to the program's handler\n");
				fail = 7;
			}
		}
		if (dfl)
			signal(SIGPROF, SIG_DFL); // a late signal kills
		long before = mine;
		x += compute(5000000);
		// The kernel looks at its timers every few milliseconds.
		for (int n = 0; own && mine == before && n < 500; n++)
			x += compute(5000000);
		if (own && mine == before) {
			printf("the timer's signals do not come any more\n");
			fail = 4;
		}
	}
	for (int i = 0; i < 30; i++) {
		if (startBeside(i * 200) != 0)
			return 1;
		x += compute(5000000);
		sigaction(SIGPROF, NULL, &now);
		if (now.sa_handler == SIG_IGN || now.sa_handler == SIG_DFL || now.sa_sigaction == handler) {
			printf("a session's handler is gone, as the timer's profile ended %d us after the session began\n", i * 200);
			fail = 6;
		}
		stopBeside();
	}
	long before = foreign;
	if (blockedBeside() != 0)
		return 1;
	if (foreign != before) {
		printf("a signal that was blocked until the end came to the program's handler\n");
		fail = 9;
	}
	if (foreign != 0) {
		printf("%ld of the profile's signals came to the program's handler\n", foreign);
		fail = 5;
	}
	printf("done %d\n", x != 0);
	return fail;
}
