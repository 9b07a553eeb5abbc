// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

#pragma once

void callGo(void); // of Go
void callMeet(void);
void meet(int n);

// What a thread does, one after the other, if it is to.
enum {
	CALL = 1,    // calls Go
	WAIT = 2,    // waits for endWait
	SPIN = 4,    // computes
	VANISH = 8,  // ends without its destructors
	CHAIN = 16,  // creates a thread that creates a thread, and so on; the last one computes
	SIGNAL = 32, // has signals that Go handles
	LATE = 64,   // calls Go while it waits, when callWaiters says so
};

// threads runs n threads, at most atOnce at a time.
void threads(int n, int atOnce, int what, long ns);

void startWaiters(int n, int what, long ns); // n threads that wait
void callWaiters(void); // those with LATE call Go
void endWaiters(void);

// startOne starts a thread. If tid is not 0 it must have that ID, which startOne tries
// for; it returns the number of threads that this took, or 0, or -1 if another thread
// of the program has that ID now: the runtime creates some, too.
int startOne(int what, int tid, long ns);
int endOne(void); // returns the thread's ID

// forbidRings has the kernel refuse to map rings, as it does where the limit of locked
// memory is reached.
void forbidRings(void);

// startLate has a thread that creates one, which computes, as soon as lateBegin is not 0.
void startLate(long ns);
void endLate(void);
extern volatile int lateBegin;

void startStorm(void); // threads that call Go, with signals for Go all the time
long endStorm(void);   // returns the number of their calls

void initThreads(void);

// What all computing has taken, in ns: the CPU time of its threads, and the time by the
// event's clock, added after it. Where a hypervisor takes the CPU, the kernel may know and
// leave that out of the CPU time.
extern volatile long cpuTime, clocked;
