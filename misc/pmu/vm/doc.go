// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package vm holds the emulated machine, one with a performance monitoring unit for
// those who have none: arm64, emulated by QEMU, under Debian's own kernel. Its PMUv3
// counts cycles and instructions, exactly and repeatably, and interrupts on overflow. The
// package itself has only tests.
//
//	misc/pmu/vm/setup.bash                  # once: QEMU and the kernel, about 50 MB
//	export PATH=$PWD/misc/pmu/vm:$PATH
//	GOARCH=arm64 CGO_ENABLED=0 goroot/bin/go test -short runtime/pprof
//	GOARCH=arm64 CGO_ENABLED=0 goroot/bin/go run ./prog
//
// The go command finds go_linux_arm64_exec in PATH and runs in the machine
// what it built for arm64. go_linux_arm64_exec program [arguments] does the
// same by hand. Programs must be linked statically (CGO_ENABLED=0).
//
// setup.bash needs a Linux host, a go command (GO, else the one in PATH), and
// Debian's package sources; root only where QEMU is missing. What it makes is in
// .cache/vm, or in the directory that PMUVM names, which ignores itself in
// git.
//
// # What the program sees
//
//   - Its arguments, its exit status (128 + signal when one killed it), and
//     standard output and error as it writes them, byte for byte. Where the host's
//     two streams are one file, as under go test, so are the guest's.
//   - The variables GO* and PMU_*, without those that name places on the host
//     (GOROOT, GOPATH, GOCACHE, ...), and those that PMUVM_ENV names.
//   - The host's current directory, at the same path, with the regular files in
//     it and its testdata, and nothing else: what a test needs that reads its
//     package's sources. More comes by name, at the path it has on the host:
//     PMUVM_FILES=../other:/usr/share/zoneinfo, directories whole. Together they
//     may have 512 MiB.
//   - An empty /tmp, which is HOME and TMPDIR too; /proc, /sys, tracefs; a
//     loopback interface; no disk, no other network, no shell.
//   - Files come back from one directory: with PMUVM_OUT=DIR the guest has
//     DIR, at the same path, and its path in the variable PMUVM_OUT. When the
//     program has ended, regular files there that are new or changed are copied to
//     the host's DIR. So with PMUVM_OUT=$PWD,
//     go test -cpuprofile=cpu.pprof leaves its profile where it always does.
//
// # Knobs
//
//	Variable        Default                Meaning
//	PMUVM           .cache/vm              what setup.bash made
//	PMUVM_ARCH      arm64                  for what; go_linux_riscv64_exec sets it
//	PMUVM_SMP       1                      CPUs
//	PMUVM_ICOUNT    shift=0,sleep=off      QEMU's -icount; none for real time
//	PMUVM_CPU                              QEMU's -cpu; see runvm/arch.go for the presets
//	PMUVM_MEM       2048                   memory in MiB
//	PMUVM_TIMEOUT   600                    limit in seconds of real time; then exit status 124
//	PMUVM_UID       0                      user and group that the program runs as
//	PMUVM_PARANOID  1                      kernel.perf_event_paranoid
//	PMUVM_OUT                              directory whose files come back
//	PMUVM_FILES                            more files to ship, separated by colons
//	PMUVM_ENV                              names of more variables to pass on
//	PMUVM_SEED      1                      seed of all randomness that QEMU gives the guest
//	PMUVM_DATE      2026-01-01T00:00:00    the guest's clock at power-on, UTC
//
// With the presets a run is a function of the program and its files: one
// instruction takes one virtual nanosecond, every instruction is one cycle,
// randomness is seeded, and idle time passes at once. Time in the guest is
// therefore not time on the host: time limits of tests run on virtual time,
// PMUVM_TIMEOUT on real time. PMUVM_ICOUNT=none gives real time, and real
// parallelism with PMUVM_SMP=2; counters are then virtual nanoseconds, and
// small periods lose interrupts. In between, PMUVM_ICOUNT=shift=3,sleep=off is
// as repeatable as the preset, at 8 virtual nanoseconds and cycles an
// instruction: what runs for a time, as many tests do, then runs an eighth of the
// instructions.
//
// Exit status 97 means that the machine, not the program, failed; the reason is
// on standard error.
//
// # What its PMU can do
//
// Cycles, instructions and raw events 0x08 and 0x11 count and sample; software
// events work, and breakpoints that are only counted; cache and branch events do not exist (ENOENT).
// QEMU notices an overflow of the instruction counter only at the next exception
// or tick: sample instructions at periods of 10 million or more, or beside
// cycles.
//
// # riscv64
//
// A second machine is there to be used by hand: riscv64 with the extensions Sscofpmf
// (overflows interrupt) and Smcntrpmf (counting by mode), under Debian 13's kernel.
//
//	misc/pmu/vm/setup.bash riscv64          # once: packages of 120 MB
//	export PATH=$PWD/misc/pmu/vm:$PATH
//	GOARCH=riscv64 CGO_ENABLED=0 PMU_TEST_REQUIRE=cycles,instructions,root \
//		goroot/bin/go test -short -run '^TestEmulated$/^TestPerfCycles$' runtime/pprof
//
// doc/pmu-quality.md has what the tests say there. It is not part of the tests: QEMU 10.0
// ends itself with "Raised interrupt while not in I/O function" in some programs, as
// -icount forbids what its counters do there.
package vm
