// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"fmt"
	"internal/runtime/perf"
	"os"
	"strings"
	"syscall"
)

// perfCause says in a sentence why an event can't be sampled, and what to do. All such
// messages are here. See evsel__open_strerror in the kernel's tools/perf for where the
// errors come from.
func perfCause(f perf.Failure) string {
	errno := syscall.Errno(f.Errno)
	switch f.Op {
	case perf.OpBusy:
		return fmt.Sprintf("other sessions have taken too many of the %d events that can be sampled at once; stop one, or ask for fewer events", perf.MaxEvents)
	case perf.OpWatch:
		return "another session samples every execution of the same instruction; stop it, or choose a period above 1"
	case perf.OpBuffer:
		return "no address space for the event's buffer of 2.25 MiB (" + syscall.ENOMEM.Error() + "); raise the limit (ulimit -v), or ask for fewer events"
	case perf.OpRing:
		if f.Errno == 0 {
			return "the limit of locked memory is reached, so that overflows of several events at once are told apart by reading the counters; " +
				"raise kernel.perf_event_mlock_kb" + perfSysctl("perf_event_mlock_kb") + " or ulimit -l, or profile fewer threads"
		}
	case perf.OpOpen:
		switch errno {
		case syscall.ENOENT, syscall.EOPNOTSUPP, syscall.ENODEV:
			return "not supported by this machine (" + errno.Error() + "): virtual machines often have no PMU, " +
				"and processors not every event; use a machine with one, have the hypervisor pass it on, or sample task-clock or the timer"
		case syscall.EACCES, syscall.EPERM:
			return perfDenied(errno)
		case syscall.EMFILE, syscall.ENFILE:
			return "too few file descriptors left (" + errno.Error() + "): each thread takes one per event (mem-loads may take two), " +
				"and the last 256, or the last quarter of fewer than 1024, are the program's; raise ulimit -n" + perfNofile()
		case syscall.EINVAL:
			return "the kernel does not accept this combination of event, modifiers and period (" + errno.Error() + ")"
		case syscall.EBUSY:
			return "the counters are in use by another profiler or the NMI watchdog (" + errno.Error() + "); stop it, or set kernel.nmi_watchdog=0"
		case syscall.ENOSPC:
			return "all breakpoint registers of the processor are in use (" + errno.Error() + "); ask for fewer breakpoints"
		case syscall.ENODATA:
			// See perfevent.addLeaders, which could not read what the PMU has.
			return "the processor samples loads only beside the event mem-loads-aux, which was not found in /sys/bus/event_source/devices (" + errno.Error() + "); make that readable, or sample stores (cpu/mem-stores/P)"
		case syscall.ENOSYS:
			return "this kernel has no perf_event_open (" + errno.Error() + ")"
		}
	case perf.OpControl:
		if errno == syscall.EBADF {
			return "the program has closed a counter's file descriptor (" + errno.Error() + "); have it close only what it has opened"
		}
	}
	return fmt.Sprintf("%s failed: %v", perfOpNames[f.Op], errno)
}

var perfOpNames = [...]string{
	perf.OpOpen:    "perf_event_open",
	perf.OpSignal:  "asking for a signal on overflow (fcntl)",
	perf.OpRing:    "sharing the ring buffer (PERF_EVENT_IOC_SET_OUTPUT)",
	perf.OpControl: "controlling the counter (ioctl)",
}

// perfRefused reports whether the event may not be opened by this process, or
// not in the kernel's mode.
func perfRefused(f perf.Failure) bool {
	errno := syscall.Errno(f.Errno)
	return f.Op == perf.OpOpen && (errno == syscall.EACCES || errno == syscall.EPERM)
}

// perfDenied says what forbids perf_event_open. The kernel's setting answers EACCES, a
// seccomp filter nearly always EPERM.
func perfDenied(errno syscall.Errno) string {
	const remedy = "grant CAP_PERFMON, or lower it: 2 allows user mode, 1 the kernel too"
	paranoid := perfSysctl("perf_event_paranoid")
	if errno == syscall.EACCES {
		return "permission denied by kernel.perf_event_paranoid" + paranoid + ": " + remedy
	}
	return "operation not permitted: a container's seccomp filter forbids perf_event_open, unless it is kernel.perf_event_paranoid" + paranoid +
		"; in Docker or Kubernetes use a seccomp profile that allows it, or add CAP_PERFMON; otherwise " + remedy
}

// perfSysctl returns the value of a kernel.* setting as " (now 2)", or nothing
// if it can't be read.
func perfSysctl(name string) string {
	b, err := os.ReadFile("/proc/sys/kernel/" + name)
	if err != nil {
		return ""
	}
	return " (now " + strings.TrimSpace(string(b)) + ")"
}

// perfNofile is perfSysctl for the limit of open files.
func perfNofile() string {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		return ""
	}
	return fmt.Sprintf(" (now %d)", lim.Cur)
}

func perfErrno(f perf.Failure) error {
	switch f.Op {
	case perf.OpBusy, perf.OpWatch:
		return syscall.EBUSY
	case perf.OpBuffer:
		return syscall.ENOMEM
	}
	return syscall.Errno(f.Errno)
}

// perfMayBePrecise reports whether it may be the precision that the kernel
// refuses.
func perfMayBePrecise(f perf.Failure) bool {
	switch syscall.Errno(f.Errno) {
	case syscall.ENOENT, syscall.EOPNOTSUPP, syscall.EINVAL:
		return f.Op == perf.OpOpen
	}
	return false
}
