// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// A program that handles SIGPROF before Go comes, and wants it back afterwards.

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

extern int start(void);
extern long compute(long);
extern int stop(void);
extern int startBeside(int);
extern void stopBeside(void);

static volatile long mine, foreign;

static void handler(int sig, siginfo_t *info, void *ctx) {
	// A descriptor's signal has a code of POLL_*, which is ours alone.
	if (info->si_code == SI_KERNEL || info->si_code == SI_USER || info->si_code == SI_TKILL)
		mine++;
	else
		foreign++;
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
		if (stop() <= 0)
			return 2;
		if (own) {
			sigaction(SIGPROF, NULL, &now);
			if (now.sa_sigaction != handler) {
				printf("the handler is not back\n");
				fail = 3;
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
	if (foreign != 0) {
		printf("%ld of the profile's signals came to the program's handler\n", foreign);
		fail = 5;
	}
	printf("done %d\n", x != 0);
	return fail;
}
