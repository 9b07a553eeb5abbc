// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

// Cthreads is a program with threads that C created, which come, wait, call Go
// and go while it is profiled.
package main

/*
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
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
#include <unistd.h>

void callGo(void);

// What a thread does, one after the other, if it is to.
enum {
	CALL = 1,    // calls Go
	WAIT = 2,    // waits for endWait
	SPIN = 4,    // computes
	VANISH = 8,  // ends without its destructors
	CHAIN = 16,  // creates a thread that creates a thread, and so on; the last one computes
	SIGNAL = 32, // has signals that Go handles
	LATE = 64,   // calls Go in the end
};

static sem_t begin, end;
static volatile long clocked; // ns, all computing by the event's clock

// taskClock returns the nanoseconds of the calling thread by the clock of the event
// task-clock. Unlike CPU time it ticks on while the hypervisor runs something else.
static long taskClock(int *fd) {
	if (*fd < 0) {
		struct perf_event_attr attr = {
			.type = PERF_TYPE_SOFTWARE,
			.size = sizeof attr,
			.config = PERF_COUNT_SW_TASK_CLOCK,
			.exclude_kernel = 1, // a matter of permissions: it counts all the same
		};
		*fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	long ns;
	if (read(*fd, &ns, sizeof ns) != sizeof ns)
		abort();
	return ns;
}

// spin computes for ns nanoseconds by that clock.
static void spin(long ns) {
	int fd = -1;
	long start = taskClock(&fd), now;
	do {
		volatile long x = 0;
		for (int i = 0; i < 100000; i++)
			x += i;
		now = taskClock(&fd);
	} while (now - start < ns);
	close(fd);
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
		while (sem_wait(&end) != 0)
			;
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
	if (j->what & LATE)
		callGo();
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
static void threads(int n, int atOnce, int what, long ns) {
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

// Threads that wait.
static pthread_t *waiters;
static struct job *waiterJobs;
static int nwaiters;

static void startWaiters(int n, int what, long ns) {
	waiters = calloc(n, sizeof *waiters);
	waiterJobs = calloc(n, sizeof *waiterJobs);
	for (nwaiters = 0; nwaiters < n; nwaiters++) {
		waiterJobs[nwaiters] = (struct job){what | WAIT, ns};
		start(&waiters[nwaiters], &waiterJobs[nwaiters]);
	}
	for (int i = 0; i < n; i++)
		sem_wait(&begin);
}

static void endWaiters(void) {
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

// startOne starts a thread. If tid is not 0 it must have that ID, which startOne tries
// for; it returns the number of threads that this took, or 0, or -1 if another thread
// of the program has that ID now: the runtime creates some, too.
static int startOne(int what, int tid, long ns) {
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
static int endOne(void) {
	if (oneJob.what & WAIT) {
		sem_wait(&begin);
		sem_post(&end);
	}
	if (oneJob.what & VANISH)
		sem_wait(&begin);
	else
		pthread_join(one, NULL);
	// Who joins it may be sooner than the kernel (CLONE_CHILD_CLEARTID in clone(2)). If
	// it takes long, another thread has the ID.
	for (int i = 0; i < 1000 && alive(oneJob.tid); i++)
		usleep(100);
	return oneJob.tid;
}

// forbidRings has the kernel refuse to map rings, as it does where the limit of locked
// memory is reached: mmap with no flag but MAP_SHARED.
static void forbidRings(void) {
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

static void storm(void) {
	for (int i = 0; i < 2; i++)
		pthread_create(&stormers[i], NULL, stormer, NULL);
	pthread_create(&thunder, NULL, strike, NULL);
}

static long endStorm(void) {
	__atomic_store_n(&calm, 1, __ATOMIC_SEQ_CST);
	pthread_join(thunder, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(stormers[i], NULL);
	return calls;
}

static void init(void) {
	sem_init(&begin, 0, 0);
	sem_init(&end, 0, 0);
}
static long getClocked(void) { return clocked; }
*/
import "C"

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

var called atomic.Int32

//export callGo
func callGo() { called.Add(1) }

const perfName = "anon_inode:[perf_event]"

// A usage is what the program has at a time.
type usage struct {
	threads, fds, rings int // descriptors of events, and their rings
	dead                int // descriptors of threads that have ended
	bare                int // threads without a descriptor
}

func (u usage) String() string {
	return fmt.Sprintf("%d threads, %d descriptors, %d rings", u.threads, u.fds, u.rings)
}

// resources returns what there is. Whose a descriptor is, the kernel says: numbers of
// them, taken one after the other while threads come and go, do not.
func resources() (u usage) {
	names, err := filepath.Glob("/proc/self/fd/*")
	check(err)
	owned := make(map[int32]bool)
	var owners []int32
	for _, name := range names {
		if s, err := os.Readlink(name); err != nil || s != perfName {
			continue
		}
		fd, err := strconv.Atoi(filepath.Base(name))
		check(err)
		var own struct{ typ, tid int32 } // F_GETOWN_EX in fcntl(2); 0 if it has ended, since Linux 5.12
		const getOwn = 16
		if _, _, e := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), getOwn, uintptr(unsafe.Pointer(&own))); e == 0 {
			owned[own.tid] = true
			owners = append(owners, own.tid)
		}
	}
	maps, err := os.ReadFile("/proc/self/maps")
	check(err)
	tasks, err := os.ReadDir("/proc/self/task")
	check(err)
	u = usage{threads: len(tasks), fds: len(owners), rings: strings.Count(string(maps), perfName)}
	alive := make(map[int32]bool)
	for _, task := range tasks {
		tid, err := strconv.Atoi(task.Name())
		check(err)
		alive[int32(tid)] = true
		if !owned[int32(tid)] {
			u.bare++
		}
	}
	for _, tid := range owners {
		if !alive[tid] {
			u.dead++
		}
	}
	return u
}

// await waits for resources as they should be, or for some seconds.
func await(ok func(u usage) bool) (u usage) {
	for range 500 {
		if u = resources(); ok(u) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return u
}

// settle prints the resources when threads that have ended have none.
func settle(when string) {
	fmt.Printf("%s: %v\n", when, await(func(u usage) bool { return u.dead == 0 && u.fds <= u.threads && u.rings <= u.threads }))
}

// awaitFound waits until there is a descriptor for each thread.
func awaitFound() { await(func(u usage) bool { return u.bare == 0 }) }

func cpuTime() time.Duration {
	var r syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

var kinds = map[string]int{
	"call":   C.CALL,
	"wait":   C.WAIT,
	"spin":   C.SPIN,
	"vanish": C.VANISH,
	"chain":  C.CHAIN,
	"signal": C.SIGNAL,
}

// what returns the flags that are named in arg: call,spin.
func what(arg string) (flags C.int) {
	for _, s := range strings.Split(arg, ",") {
		flags |= C.int(kinds[s])
	}
	return flags
}

func number(s string) C.int {
	n, err := strconv.Atoi(s)
	check(err)
	return C.int(n)
}

func main() {
	C.init()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGWINCH)
	var buf bytes.Buffer
	start := func(event string, period uint64) {
		buf.Reset()
		check(pprof.StartCPUProfileWithConfig(pprof.PerfEvent(&buf, event, period)))
	}
	file, args := os.Args[2], os.Args[3:]
	switch os.Args[1] {
	case "run":
		// N threads, so many at once, do what is said, computing for some ms,
		// beside so many that wait, with a limit of descriptors if it is not 0.
		if n := number(args[5]); n != 0 {
			check(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: uint64(n), Max: uint64(n)}))
		}
		if n := number(args[4]); n > 0 {
			C.startWaiters(n, 0, 0)
		}
		C.threads(1, 1, C.CALL, 0) // from then on, the runtime knows when threads end
		if os.Getenv("CTHREADS") == "norings" {
			C.forbidRings()
		}
		start("task-clock:uk", 1e6)
		C.threads(number(args[0]), number(args[1]), what(args[2]), C.long(number(args[3]))*1e6)
		settle("end")
		pprof.StopCPUProfile()
		fmt.Printf("clocked: %d\n", C.getClocked())

	case "found":
		// N threads wait, are found, and then call Go.
		start("task-clock:uk", 1e6)
		C.startWaiters(number(args[0]), C.LATE, 0)
		awaitFound()
		settle("found")
		C.endWaiters()
		settle("end")
		pprof.StopCPUProfile()

	case "second":
		// N threads wait, are found by one session, and compute during another.
		first, err := pprof.StartSession(pprof.PerfEvent(io.Discard, "page-faults:uk", 1000))
		check(err)
		C.startWaiters(number(args[0]), C.SPIN, C.long(number(args[1]))*1e6)
		awaitFound()
		start("task-clock:uk", 1e6)
		fmt.Printf("both: %v\n", resources())
		C.endWaiters()
		pprof.StopCPUProfile()
		settle("end")
		first.Stop()
		fmt.Printf("clocked: %d\n", C.getClocked())

	case "failed":
		// N threads compute during a session, having been found by one that had too few
		// descriptors for them.
		var most syscall.Rlimit
		check(syscall.Getrlimit(syscall.RLIMIT_NOFILE, &most))
		check(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 64, Max: most.Max}))
		var firstBuf bytes.Buffer
		first, err := pprof.StartSession(pprof.PerfEvent(&firstBuf, "page-faults:uk", 1000))
		check(err)
		C.startWaiters(number(args[0]), C.SPIN, C.long(number(args[1]))*1e6)
		for before := -1; ; time.Sleep(100 * time.Millisecond) { // until all have been tried
			u := resources()
			if u.fds == before && u.fds > 10 {
				break
			}
			before = u.fds
		}
		check(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &most))
		start("task-clock:uk", 1e6)
		C.endWaiters()
		pprof.StopCPUProfile()
		first.Stop()
		check(os.WriteFile(file+".first", firstBuf.Bytes(), 0o666))
		fmt.Printf("clocked: %d\n", C.getClocked())

	case "storm":
		// Threads of C that call Go and have signals for Go, while sessions come and go
		// for some ms.
		C.storm()
		start("task-clock:uk", 50e3)
		sessions := 0
		for end := time.Now().Add(time.Duration(number(args[0])) * time.Millisecond); time.Now().Before(end); sessions++ {
			s, err := pprof.StartSession(pprof.PerfEvent(io.Discard, "page-faults:uk", 10))
			check(err)
			s.Stop()
		}
		fmt.Printf("%d calls, %d sessions\n", C.endStorm(), sessions)
		pprof.StopCPUProfile()

	case "reuse":
		// A thread ends, and another one has its ID.
		start("task-clock:uk", 1e6)
		C.startOne(what(args[0]), 0, 0)
		awaitFound()
		tid := C.endOne()
		if len(args) == 3 { // otherwise the session does not get to know
			settle("dead")
		}
		n := C.startOne(what(args[1])|C.WAIT, tid, C.long(number(args[2]))*1e6)
		if n < 0 {
			pprof.StopCPUProfile()
			check(syscall.Exec("/proc/self/exe", os.Args, os.Environ())) // once more
		}
		awaitFound()
		C.endOne()
		settle("end")
		pprof.StopCPUProfile()
		fmt.Printf("reused: %d\nclocked: %d\n", n, C.getClocked())

	case "idle":
		// The CPU time that a session takes, without and with N idle threads.
		n := number(args[0])
		for range number(args[1]) {
			for _, n := range []C.int{0, n} {
				C.startWaiters(n, what(args[2]), 0)
				start("task-clock", 0)
				time.Sleep(300 * time.Millisecond) // to find them all
				before, begin := cpuTime(), time.Now()
				time.Sleep(time.Second)
				spent := cpuTime() - before
				fmt.Printf("idle %d: %d ns/s\n", n, int64(float64(spent)/time.Since(begin).Seconds()))
				pprof.StopCPUProfile()
				C.endWaiters()
			}
		}
	}
	check(os.WriteFile(file, buf.Bytes(), 0o666))
}
