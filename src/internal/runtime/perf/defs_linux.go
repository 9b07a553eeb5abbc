// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perf

import "internal/goarch"

// Numbers of the kernel's interface to performance counters, from
// include/uapi/linux/perf_event.h, without its prefix PERF_; perf_event_open(2) explains
// them. Package runtime has the structs.
//
// One file serves all architectures. They differ in how ioctl numbers are put together and
// in the numbers of registers; each has its expression below.
//
// This file imports nothing but internal/goarch, so that its test, TestPerfDefs of package
// runtime, can type-check it for every architecture from any of them.

// sample_type: what a RecordSample holds.
const (
	SampleIP         = 1 << 0
	SampleTime       = 1 << 2
	SampleAddr       = 1 << 3
	SampleRead       = 1 << 4
	SampleCallchain  = 1 << 5
	SampleCPU        = 1 << 7
	SampleRegsUser   = 1 << 12
	SampleStackUser  = 1 << 13
	SampleWeight     = 1 << 14
	SampleDataSrc    = 1 << 15
	SampleIdentifier = 1 << 16
)

// The bits of sample_regs_user for the instruction pointer and the stack
// pointer: perf_event_*_regs in asm/perf_regs.h. A sample has the registers in
// ascending order, after a word that says which ABI they are of, or that there are
// none.
const (
	RegPC = 8*(goarch.Is386|goarch.IsAmd64) + 15*goarch.IsArm + 32*goarch.IsArm64 +
		32*(goarch.IsPpc64|goarch.IsPpc64le) + 33*goarch.IsS390x // 0 on loong64, mips and riscv64
	RegSP = 7*(goarch.Is386|goarch.IsAmd64) + 13*goarch.IsArm + 31*goarch.IsArm64 + 3*goarch.IsLoong64 +
		29*(goarch.IsMips|goarch.IsMipsle|goarch.IsMips64|goarch.IsMips64le) +
		1*(goarch.IsPpc64|goarch.IsPpc64le) + 2*goarch.IsRiscv64 + 15*goarch.IsS390x

	// The frame pointer's and the link register's, where they are asked for.
	RegFP = 6*goarch.IsAmd64 + 29*goarch.IsArm64
	RegLR = 30 * goarch.IsArm64

	SampleRegsABINone = 0
)

// What an entry of a callchain is that is no address, but says whose addresses follow.
const (
	ContextMax  = 1<<64 - 4095 // the least of them
	ContextUser = 1<<64 - 512
)

// read_format: what read(2) returns, as uint64s in this order
// after the value (with FormatGroup: after the number of events).
const (
	FormatTotalTimeEnabled = 1 << 0
	FormatTotalTimeRunning = 1 << 1
	FormatID               = 1 << 2
	FormatGroup            = 1 << 3
	FormatLost             = 1 << 4
)

// A flag of perf_event_open.
const FlagFDCloexec = 1 << 3

// Positions of the flags in perf_event_attr, in the order in which the
// kernel declares them; precise_ip takes 15 and 16. They are no masks, as C compilers
// fill a word from either end; see perfAttrBit of package runtime.
const (
	AttrDisabled      = 0
	AttrExcludeUser   = 4
	AttrExcludeKernel = 5
	AttrExcludeHV     = 6
	AttrExcludeIdle   = 7
	AttrWatermark     = 14
	AttrPreciseIP     = 15
	AttrExcludeHost   = 19
	AttrExcludeGuest  = 20
	AttrUseClockid    = 25

	AttrExcludeCallchainKernel = 21
)

// How an ioctl number is put together: include/uapi/asm-generic/ioctl.h, and
// asm/ioctl.h of mips and powerpc, which have a direction of three bits
// instead of two, a bit for each of none, read and write, at the expense of
// the size.
const (
	iocWideDir = goarch.IsMips | goarch.IsMipsle | goarch.IsMips64 | goarch.IsMips64le |
		goarch.IsPpc64 | goarch.IsPpc64le // 1 or 0

	iocDirShift = 30 - iocWideDir

	iocNone  = iocWideDir<<iocDirShift | '$'<<8
	iocRead  = 2<<iocDirShift | '$'<<8
	iocWrite = (1+3*iocWideDir)<<iocDirShift | '$'<<8
)

// Requests for ioctl on an event. A size is that of the type in the kernel's
// macro, which isn't always what arg points to: ID's is a pointer's although
// the kernel stores a uint64, and SET_OUTPUT, SET_BPF and PAUSE_OUTPUT take
// arg by value. PERIOD takes a pointer to a uint64.
const (
	IoctlEnable    = iocNone | 0
	IoctlDisable   = iocNone | 1
	IoctlReset     = iocNone | 3
	IoctlPeriod    = iocWrite | 8<<16 | 4
	IoctlSetOutput = iocNone | 5
	IoctlID        = iocRead | goarch.PtrSize<<16 | 7

	// arg of ENABLE, DISABLE and RESET, to mean the whole group.
	IoctlFlagGroup = 1
)

// Positions of the flags in perf_event_mmap_page.capabilities.
const (
	CapUserRDPMC     = 2
	CapUserTime      = 3
	CapUserTimeShort = 5
)

// perf_event_header.type.
const (
	RecordLost       = 2
	RecordThrottle   = 5
	RecordUnthrottle = 6
	RecordSample     = 9
)

// perf_event_header.misc. MiscExactIP is for RecordSample; its bit means other things in
// other records.
const (
	MiscCpumodeMask = 7
	MiscKernel      = 1
	MiscExactIP     = 1 << 14
)
