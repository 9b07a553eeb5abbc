// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

// taskClock returns the nanoseconds of the calling thread by the clock of the event
// task-clock. Unlike CPU time it ticks on while the hypervisor runs something else.
// *fd is the thread's descriptor of it, and is opened if it is negative.
static inline long taskClock(int *fd) {
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
