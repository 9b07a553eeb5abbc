// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The ring in which the kernel records every overflow of a thread's events:
// perf_event_open(2), section "MMAP layout". All events of a thread share the
// first event's ring (PERF_EVENT_IOC_SET_OUTPUT).
//
// SIGPROF is not a real-time signal: at most one is pending per thread, and its
// siginfo names one event. Two events that overflow together, or an event that
// overflows while SIGPROF is blocked or pending from the timer, give one
// signal. The ring has a record for each, so the signal is only a doorbell.

package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"unsafe"
)

// perfKernelIP stands for kernel instructions that are not known. It is in the
// last page of the address space, where there is no code.
const perfKernelIP = ^uintptr(4095)

// A perfRing is one thread's ring. It is used only with its perfThread's lock
// held: by the thread's signal handler, or by whoever disarms the thread. The
// kernel writes head and the data, and reads tail.
type perfRing struct {
	base uintptr // of the metadata page; 0 if there is no ring
	size uintptr // of the whole mapping, in bytes
	data uintptr // of the records
	mask uint64  // size of the records' area - 1; the area is a power of two
	tail uint64  // records before it have been read
	read uint64  // records that next has decoded; takeLeafs leaves them to be decoded again
}

const _MAP_SHARED = 1

// perfRingSize returns the size of the records' area to try after that of size
// last, in bytes, or 0 if there is no more. At first last is 0. Samples that bring
// their stacks want more than others, if there is so much: see perfChooseRing. Another
// record is 56 bytes. 16 KiB hold 292 of them, which is 29 ms of a 10 kHz event with
// signals blocked, and 4 KiB 73. (With perf.SampleRead it is 96, of which they hold 170
// and 42.)
//
// The mappings of a user's processes are limited to kernel.perf_event_mlock_kb
// (516 KiB) times the number of CPUs, beyond that by RLIMIT_MEMLOCK, so take less
// when more is refused, and no more than that where pages are large.
func perfRingSize(last, page, wants uintptr) uintptr {
	for _, n := range [...]uintptr{perfChainRingMost, 16 << 10, 4 << 10} {
		if n == perfChainRingMost && n > wants {
			continue
		}
		if n = max(n, page); last == 0 || n < last {
			return n
		}
	}
	return 0
}

// open maps the ring of the event fd. It returns 0 or an errno.
func (r *perfRing) open(fd int32, wants uintptr) (errno int32) {
	for n := perfRingSize(0, physPageSize, wants); n != 0; n = perfRingSize(n, physPageSize, wants) {
		size := physPageSize + n
		p, err := mmap(nil, size, _PROT_READ|_PROT_WRITE, _MAP_SHARED, fd, 0)
		if err != 0 {
			errno = int32(err)
			continue
		}
		*r = perfRing{
			base: uintptr(p),
			size: size,
			data: uintptr(p) + physPageSize,
			mask: uint64(n) - 1,
		}
		return 0
	}
	return errno
}

// perfRingWaits reports whether the ring that is mapped at base has records that
// have not been consumed. The kernel's word and ours are in one cache line.
func perfRingWaits(base uintptr) bool {
	p := (*perfEventMmapPage)(unsafe.Pointer(base))
	head, tail := unsafe.Pointer(&p.dataHead), unsafe.Pointer(&p.dataTail)
	if goarch.PtrSize == 8 {
		return atomic.Load64((*uint64)(head)) != atomic.Load64((*uint64)(tail))
	}
	if goarch.BigEndian {
		head, tail = add(head, 4), add(tail, 4)
	}
	return atomic.Load((*uint32)(head)) != atomic.Load((*uint32)(tail))
}

func (r *perfRing) close() {
	if r.base != 0 {
		munmap(unsafe.Pointer(r.base), r.size)
		*r = perfRing{}
	}
}

// head returns the end of the records that the kernel has written. The load
// has acquire semantics: the records before it may be read. It is called
// without a g, too; see perfSigprofNonGo.
//
//go:nosplit
//go:nowritebarrierrec
func (r *perfRing) head() uint64 {
	p := r.base + unsafe.Offsetof(perfEventMmapPage{}.dataHead)
	if goarch.PtrSize == 8 {
		return atomic.Load64((*uint64)(unsafe.Pointer(p)))
	}
	// On 32-bit systems a 64-bit atomic is not atomic against the kernel, and
	// on some not safe in a signal handler. Take the low word, which is what
	// the kernel itself computes with there (perf_output_begin uses unsigned
	// long), and extend it: head is less than 4 GiB ahead of tail.
	if goarch.BigEndian {
		p += 4
	}
	low := atomic.Load((*uint32)(unsafe.Pointer(p)))
	return r.tail + uint64(low-uint32(r.tail))
}

// consume gives the records before r.tail back to the kernel. The store has
// release semantics: the records have been read.
//
//go:nowritebarrierrec
func (r *perfRing) consume() {
	p := r.base + unsafe.Offsetof(perfEventMmapPage{}.dataTail)
	if goarch.PtrSize == 8 {
		atomic.Store64((*uint64)(unsafe.Pointer(p)), r.tail)
		return
	}
	// As in head. A 64-bit kernel reads both words, but they are out of step
	// only when the low one wraps around, after 4 GiB of records.
	low, high := p, p+4
	if goarch.BigEndian {
		low, high = high, low
	}
	atomic.Store((*uint32)(unsafe.Pointer(high)), uint32(r.tail>>32))
	atomic.Store((*uint32)(unsafe.Pointer(low)), uint32(r.tail))
}

// word returns the i'th 64-bit word of the record at offset off. Records and
// the area are multiples of 8 bytes, so a word never wraps around.
//
//go:nowritebarrierrec
func (r *perfRing) word(off uint64, i uint64) uint64 {
	return *(*uint64)(unsafe.Pointer(r.data + uintptr((off+8*i)&r.mask)))
}

// A perfRecord is one record of the ring, decoded.
type perfRecord struct {
	typ  uint32 // perf.Record*
	misc uint16
	id   uint64 // of the event that it is about
	n    uint64 // perf.RecordLost: number of records lost

	// Of a perf.RecordSample.
	chain  perfChainRecord
	ip     uintptr // instruction at the overflow
	time   int64   // nanotime of the overflow
	regs   bool    // the next two are known
	pc, sp uintptr // in user mode at the overflow, or where the kernel will return to
}

// perfSampleType is what the records of samples have. In sessions they have registers
// as well if perfLinux.regs says so, and those of software events a reading.
const (
	perfSampleType = perf.SampleIdentifier | perf.SampleIP | perf.SampleTime
	perfSampleRegs = 1<<perf.RegPC | 1<<perf.RegSP
	perfSampleMin  = 32 // the size of a record without registers
)

// leaf returns the instruction of the overflow as a profile has it.
//
//go:nowritebarrierrec
func (rec *perfRecord) leaf() uintptr {
	switch {
	case goarch.PtrSize == 4 && rec.kernel():
		return perfKernelIP // a 64-bit kernel's does not fit
	case rec.ip == 0 && rec.regs:
		return rec.pc // entered the kernel, whose addresses must not show
	}
	return rec.ip
}

// kernel reports whether a sample is of an instruction of the kernel.
//
//go:nowritebarrierrec
func (rec *perfRecord) kernel() bool {
	return rec.misc&perf.MiscCpumodeMask == perf.MiscKernel
}

// next decodes the record at tail, which must be before head, and moves tail behind
// it. It returns false, and drops the rest, if the record is malformed: the ring is
// shared memory, and a handler must not trust a length in it. Fields that records of
// the type don't have keep their values.
//
//go:nowritebarrierrec
func (r *perfRing) next(rec *perfRecord, head uint64) bool {
	const (
		recordMin  = 24 // of any record that the kernel writes for an event of ours
		sampleSize = 56 // of a sample with registers; longer ones have perf.SampleRead
	)
	w := r.word(r.tail, 0)
	var size uint64
	// struct perf_event_header { u32 type; u16 misc; u16 size; }
	if goarch.BigEndian {
		rec.typ, rec.misc, size = uint32(w>>32), uint16(w>>16), w&0xffff
	} else {
		rec.typ, rec.misc, size = uint32(w), uint16(w>>32), w>>48
	}
	if size < recordMin || size%8 != 0 || size > head-r.tail || size < perfSampleMin && rec.typ == perf.RecordSample {
		r.tail = head
		return false
	}
	off := r.tail
	r.tail += size
	r.read++
	switch rec.typ {
	case perf.RecordSample: // perfSampleType, what was read, the ABI and two registers
		rec.chain.off, rec.chain.size = off, size // perhaps it is one with a stack; see perfThread.slotOf
		rec.id = r.word(off, 1)
		rec.ip = uintptr(r.word(off, 2))
		rec.time = int64(r.word(off, 3))
		abi := uint64(4)
		if size > sampleSize { // value, times, ID and perhaps records lost
			rec.id = r.word(off, 7)
			abi += uint64(perfReadSize() / 8)
		}
		rec.regs = size >= 8*(abi+3) && r.word(off, abi) != perf.SampleRegsABINone
		rec.pc, rec.sp = 0, 0
		if rec.regs {
			rec.pc, rec.sp = uintptr(r.word(off, abi+1)), uintptr(r.word(off, abi+2))
			if perf.RegSP < perf.RegPC {
				rec.pc, rec.sp = rec.sp, rec.pc
			}
		}
	case perf.RecordLost: // id, lost
		rec.id = r.word(off, 1)
		rec.n = r.word(off, 2)
	case perf.RecordThrottle, perf.RecordUnthrottle: // time, id, stream_id
		rec.id = r.word(off, 2)
	}
	return true
}
