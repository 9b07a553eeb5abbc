// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

import "internal/goarch"

// The kernel's interface to performance counters, from
// include/uapi/linux/perf_event.h; perf_event_open(2) explains it.
//
// One file serves all architectures. They differ in three ways only, and each
// has its expression below: how ioctl numbers are put together, the value of
// O_ASYNC, and the end from which C fills a word with bit-fields.
//
// This file imports nothing but internal/goarch, so that its test can
// type-check it for every architecture from any of them.

// perfEventAttr.sampleType: what a _PERF_RECORD_SAMPLE holds.
const (
	_PERF_SAMPLE_IP         = 1 << 0
	_PERF_SAMPLE_TIME       = 1 << 2
	_PERF_SAMPLE_ADDR       = 1 << 3
	_PERF_SAMPLE_READ       = 1 << 4
	_PERF_SAMPLE_CALLCHAIN  = 1 << 5
	_PERF_SAMPLE_CPU        = 1 << 7
	_PERF_SAMPLE_REGS_USER  = 1 << 12
	_PERF_SAMPLE_STACK_USER = 1 << 13
	_PERF_SAMPLE_WEIGHT     = 1 << 14
	_PERF_SAMPLE_DATA_SRC   = 1 << 15
	_PERF_SAMPLE_IDENTIFIER = 1 << 16
)

// The bits of perfEventAttr.sampleRegsUser for the instruction pointer and the stack
// pointer: perf_event_*_regs in asm/perf_regs.h. A sample has the registers in
// ascending order, after a word that says which ABI they are of, or that there are
// none.
const (
	_PERF_REG_PC = 8*(goarch.Is386|goarch.IsAmd64) + 15*goarch.IsArm + 32*goarch.IsArm64 +
		32*(goarch.IsPpc64|goarch.IsPpc64le) + 33*goarch.IsS390x // 0 on loong64, mips and riscv64
	_PERF_REG_SP = 7*(goarch.Is386|goarch.IsAmd64) + 13*goarch.IsArm + 31*goarch.IsArm64 + 3*goarch.IsLoong64 +
		29*(goarch.IsMips|goarch.IsMipsle|goarch.IsMips64|goarch.IsMips64le) +
		1*(goarch.IsPpc64|goarch.IsPpc64le) + 2*goarch.IsRiscv64 + 15*goarch.IsS390x

	// The frame pointer's and the link register's, where they are asked for.
	_PERF_REG_FP = 6*goarch.IsAmd64 + 29*goarch.IsArm64
	_PERF_REG_LR = 30 * goarch.IsArm64

	_PERF_SAMPLE_REGS_ABI_NONE = 0
)

// What an entry of a callchain is that is no address, but says whose addresses follow.
const (
	_PERF_CONTEXT_MAX  = 1<<64 - 4095 // the least of them
	_PERF_CONTEXT_USER = 1<<64 - 512
)

// perfEventAttr.readFormat: what read(2) returns, as uint64s in this order
// after the value (with _PERF_FORMAT_GROUP: after the number of events).
const (
	_PERF_FORMAT_TOTAL_TIME_ENABLED = 1 << 0
	_PERF_FORMAT_TOTAL_TIME_RUNNING = 1 << 1
	_PERF_FORMAT_ID                 = 1 << 2
	_PERF_FORMAT_GROUP              = 1 << 3
	_PERF_FORMAT_LOST               = 1 << 4
)

// A flag of perf_event_open.
const _PERF_FLAG_FD_CLOEXEC = 1 << 3

// perfEventAttr is struct perf_event_attr as of PERF_ATTR_SIZE_VER8.
// Of the kernel's unions it names one member; the others are in the comments.
type perfEventAttr struct {
	typ              uint32 // perf.TypeHardware and so on
	size             uint32 // unsafe.Sizeof(perfEventAttr{})
	config           uint64
	samplePeriod     uint64 // events; sample_freq, in Hz, with freq
	sampleType       uint64 // _PERF_SAMPLE_*
	readFormat       uint64 // _PERF_FORMAT_*
	bits             uint64 // perfAttrBit(_PERF_ATTR_*), perfAttrPreciseIP
	wakeupEvents     uint32 // samples; wakeup_watermark, in bytes, with watermark
	bpType           uint32 // perf.BreakpointR and so on
	config1          uint64 // bp_addr of a breakpoint
	config2          uint64 // bp_len of a breakpoint, in bytes
	branchSampleType uint64
	sampleRegsUser   uint64
	sampleStackUser  uint32 // bytes
	clockid          int32  // with _PERF_ATTR_USE_CLOCKID
	sampleRegsIntr   uint64
	auxWatermark     uint32 // bytes
	sampleMaxStack   uint16 // frames
	reserved2        uint16
	auxSampleSize    uint32 // bytes
	auxAction        uint32 // reserved in older kernels
	sigData          uint64
	config3          uint64
}

// Positions of the flags in perfEventAttr.bits, in the order in which the
// kernel declares them: arguments for perfAttrBit, not masks.
// precise_ip takes 15 and 16; see perfAttrPreciseIP.
const (
	_PERF_ATTR_DISABLED       = 0
	_PERF_ATTR_EXCLUDE_USER   = 4
	_PERF_ATTR_EXCLUDE_KERNEL = 5
	_PERF_ATTR_EXCLUDE_HV     = 6
	_PERF_ATTR_EXCLUDE_IDLE   = 7
	_PERF_ATTR_WATERMARK      = 14
	_PERF_ATTR_PRECISE_IP     = 15
	_PERF_ATTR_EXCLUDE_HOST   = 19
	_PERF_ATTR_EXCLUDE_GUEST  = 20
	_PERF_ATTR_USE_CLOCKID    = 25

	_PERF_ATTR_EXCLUDE_CALLCHAIN_KERNEL = 21
)

// perfBitField returns the 64-bit word in which the C bit-field that has n
// bits declared before it and is width bits wide holds v. C compilers fill
// a word from its low end on little-endian machines and from its high end on
// big-endian ones; either way the field's own bits keep their order.
//
//go:nosplit
func perfBitField(n, width uint, v uint64, bigEndian bool) uint64 {
	if bigEndian {
		n = 64 - n - width
	}
	return (v & (1<<width - 1)) << n
}

// perfAttrBit returns the bit of perfEventAttr.bits for flag n, one of
// _PERF_ATTR_*, or that of perfEventMmapPage.capabilities for one of
// _PERF_CAP_*.
//
//go:nosplit
func perfAttrBit(n uint) uint64 {
	return perfBitField(n, 1, 1, goarch.BigEndian)
}

// perfAttrPreciseIP returns the bits of perfEventAttr.bits that ask for
// precise_ip level: 0 for any skid, 1 for a constant one, 2 for none if
// possible, 3 for none.
//
//go:nosplit
func perfAttrPreciseIP(level uint) uint64 {
	return perfBitField(_PERF_ATTR_PRECISE_IP, 2, uint64(level), goarch.BigEndian)
}

// How an ioctl number is put together: include/uapi/asm-generic/ioctl.h, and
// asm/ioctl.h of mips and powerpc, which have a direction of three bits
// instead of two, a bit for each of none, read and write, at the expense of
// the size.
const (
	_IOC_WIDE_DIR = goarch.IsMips | goarch.IsMipsle | goarch.IsMips64 | goarch.IsMips64le |
		goarch.IsPpc64 | goarch.IsPpc64le // 1 or 0

	_IOC_DIRSHIFT = 30 - _IOC_WIDE_DIR

	_PERF_IO  = _IOC_WIDE_DIR<<_IOC_DIRSHIFT | '$'<<8
	_PERF_IOR = 2<<_IOC_DIRSHIFT | '$'<<8
	_PERF_IOW = (1+3*_IOC_WIDE_DIR)<<_IOC_DIRSHIFT | '$'<<8
)

// Requests for ioctl on an event. A size is that of the type in the kernel's
// macro, which isn't always what arg points to: ID's is a pointer's although
// the kernel stores a uint64, and SET_OUTPUT, SET_BPF and PAUSE_OUTPUT take
// arg by value. PERIOD takes a pointer to a uint64.
const (
	_PERF_EVENT_IOC_ENABLE     = _PERF_IO | 0
	_PERF_EVENT_IOC_DISABLE    = _PERF_IO | 1
	_PERF_EVENT_IOC_RESET      = _PERF_IO | 3
	_PERF_EVENT_IOC_PERIOD     = _PERF_IOW | 8<<16 | 4
	_PERF_EVENT_IOC_SET_OUTPUT = _PERF_IO | 5
	_PERF_EVENT_IOC_ID         = _PERF_IOR | goarch.PtrSize<<16 | 7

	// arg of ENABLE, DISABLE and RESET, to mean the whole group.
	_PERF_IOC_FLAG_GROUP = 1
)

// perfEventMmapPage is struct perf_event_mmap_page, the first page of an
// event's mapping. The kernel writes all of it but dataTail and auxTail,
// which are the reader's. The ring begins dataOffset bytes into the mapping
// and is dataSize bytes long, a power of two; dataHead and dataTail count
// bytes for ever, so that an offset is their remainder by dataSize.
//
// The reader loads dataHead with acquire semantics before it reads records,
// and stores dataTail with release semantics after it has.
type perfEventMmapPage struct {
	version       uint32
	compatVersion uint32
	lock          uint32 // sequence lock of the fields up to timeMask
	index         uint32
	offset        int64
	timeEnabled   uint64 // ns
	timeRunning   uint64 // ns
	capabilities  uint64 // perfAttrBit(_PERF_CAP_*)
	pmcWidth      uint16 // bits
	timeShift     uint16
	timeMult      uint32
	timeOffset    uint64
	timeZero      uint64
	size          uint32 // bytes of this header, up to reserved
	reserved1     uint32
	timeCycles    uint64
	timeMask      uint64
	reserved      [116 * 8]uint8
	dataHead      uint64
	dataTail      uint64
	dataOffset    uint64
	dataSize      uint64
	auxHead       uint64
	auxTail       uint64
	auxOffset     uint64
	auxSize       uint64
}

// Positions of the flags in perfEventMmapPage.capabilities.
const (
	_PERF_CAP_USER_RDPMC      = 2
	_PERF_CAP_USER_TIME       = 3
	_PERF_CAP_USER_TIME_SHORT = 5
)

// perfEventHeader is struct perf_event_header, which begins each record of
// a ring. Records are multiples of 8 bytes long.
type perfEventHeader struct {
	typ  uint32 // _PERF_RECORD_*
	misc uint16 // _PERF_RECORD_MISC_*
	size uint16 // bytes, this header included
}

// perfEventHeader.typ.
const (
	_PERF_RECORD_LOST       = 2
	_PERF_RECORD_THROTTLE   = 5
	_PERF_RECORD_UNTHROTTLE = 6
	_PERF_RECORD_SAMPLE     = 9
)

// perfEventHeader.misc. EXACT_IP is for _PERF_RECORD_SAMPLE, SWITCH_OUT for
// _PERF_RECORD_SWITCH; the bits mean other things in other records.
const (
	_PERF_RECORD_MISC_CPUMODE_MASK = 7
	_PERF_RECORD_MISC_KERNEL       = 1
	_PERF_RECORD_MISC_EXACT_IP     = 1 << 14
)

// fcntl(2): have the kernel send a signal of our choice to a thread of our
// choice when an event overflows.
const (
	_F_SETFL     = 4
	_F_SETSIG    = 10
	_F_GETSIG    = 11
	_F_SETOWN_EX = 15 // *fOwnerEx
	_F_GETOWN_EX = 16 // *fOwnerEx

	_F_OWNER_TID = 0

	_O_ASYNC = 0x2000 >> (goarch.IsMips | goarch.IsMipsle | goarch.IsMips64 | goarch.IsMips64le)
)

// fOwnerEx is struct f_owner_ex.
type fOwnerEx struct {
	typ int32 // _F_OWNER_*
	pid int32
}

// si_code of the signals that O_ASYNC asks for.
const (
	_POLL_IN  = 1 // an overflow
	_POLL_HUP = 6 // the overflow that used up what PERF_EVENT_IOC_REFRESH had allowed
)
