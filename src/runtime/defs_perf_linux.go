// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

import (
	"internal/goarch"
	"internal/runtime/perf"
)

// The structs of the kernel's interface to performance counters, from
// include/uapi/linux/perf_event.h; perf_event_open(2) explains them. Package perf has the
// numbers.
//
// One file serves all architectures. They differ in two ways only, and each
// has its expression below: the value of O_ASYNC, and the end from which C fills a word
// with bit-fields.
//
// This file imports nothing but internal/goarch and the numbers, so that its test can
// type-check it for every architecture from any of them.

// perfEventAttr is struct perf_event_attr as of PERF_ATTR_SIZE_VER8.
// Of the kernel's unions it names one member; the others are in the comments.
type perfEventAttr struct {
	typ              uint32 // perf.TypeHardware and so on
	size             uint32 // unsafe.Sizeof(perfEventAttr{})
	config           uint64
	samplePeriod     uint64 // events; sample_freq, in Hz, with freq
	sampleType       uint64 // perf.Sample*
	readFormat       uint64 // perf.Format*
	bits             uint64 // perfAttrBit(perf.Attr*), perfAttrPreciseIP
	wakeupEvents     uint32 // samples; wakeup_watermark, in bytes, with watermark
	bpType           uint32 // perf.BreakpointR and so on
	config1          uint64 // bp_addr of a breakpoint
	config2          uint64 // bp_len of a breakpoint, in bytes
	branchSampleType uint64
	sampleRegsUser   uint64
	sampleStackUser  uint32 // bytes
	clockid          int32  // with perf.AttrUseClockid
	sampleRegsIntr   uint64
	auxWatermark     uint32 // bytes
	sampleMaxStack   uint16 // frames
	reserved2        uint16
	auxSampleSize    uint32 // bytes
	auxAction        uint32 // reserved in older kernels
	sigData          uint64
	config3          uint64
}

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
// perf.Attr*, or that of perfEventMmapPage.capabilities for one of
// perf.Cap*.
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
	return perfBitField(perf.AttrPreciseIP, 2, uint64(level), goarch.BigEndian)
}

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
	capabilities  uint64 // perfAttrBit(perf.Cap*)
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

// perfEventHeader is struct perf_event_header, which begins each record of
// a ring. Records are multiples of 8 bytes long.
type perfEventHeader struct {
	typ  uint32 // perf.Record*
	misc uint16 // perf.Misc*
	size uint16 // bytes, this header included
}

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
