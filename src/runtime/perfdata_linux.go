// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Samples with the address that the instruction accessed. Each is recorded by itself, with
// what is at the address; see perfobject.go.

package runtime

import (
	"internal/goarch"
	"internal/runtime/perf"
	"unsafe"
)

const (
	// perfDataType is what the records of such samples have, and perfDataPMU what those
	// of a processor's events have besides. The kernel sets to 0 what an event has not.
	perfDataType = perfSampleType | perf.SampleAddr | perf.SampleCPU
	perfDataPMU  = perf.SampleWeight | perf.SampleDataSrc
)

// A perfDataRecord is what a sample's record says about the access.
type perfDataRecord struct {
	addr   uintptr
	cpu    uint32
	weight uint64 // latency in cycles, as the processor has it
	source uint64 // union perf_mem_data_src
}

// A perfDataStack has room for perf.DataWords words, a stack, and an instruction of the
// kernel.
type perfDataStack [perf.DataWords + 2 + maxCPUProfStack]uintptr

// dataAttr has the samples of a counter bring addresses.
func (attr *perfEventAttr) dataAttr(a *perf.Attr) {
	attr.sampleType |= perfDataType
	if a.OnPMU() {
		attr.sampleType |= perfDataPMU
	}
}

// perfDataTypeOf returns what the records of slot i have, which is one with addresses. It is what
// perfOpen has asked for.
//
//go:nowritebarrierrec
func perfDataTypeOf(i int) uint64 {
	typ := uint64(perfDataType)
	cfg := &perfTables.slots[i].cfg
	if cfg.OnPMU() {
		typ |= perfDataPMU
	}
	if cfg.Software() {
		typ |= perf.SampleRead
	}
	if perfLinux.regs {
		typ |= perf.SampleRegsUser
	}
	return typ
}

// perfFields are the fields of a sample, in the order in which its record has them:
// perf_event_open(2), PERF_RECORD_SAMPLE.
var perfFields = [...]uint64{
	perf.SampleIdentifier, perf.SampleIP, perf.SampleTime, perf.SampleAddr, perf.SampleCPU,
	perf.SampleRead, perf.SampleRegsUser, perf.SampleWeight, perf.SampleDataSrc,
}

// readSample decodes rec, of which rec.chain.off and size are known, and d, as a sample of the
// given type. It reports whether that is well-formed: no field ends behind the record, and
// nothing is left over.
//
//go:nowritebarrierrec
func (r *perfRing) readSample(rec *perfRecord, d *perfDataRecord, typ uint64) bool {
	off, end := rec.chain.off, rec.chain.size/8
	rec.id, rec.ip, rec.time, rec.regs, rec.pc, rec.sp = 0, 0, 0, false, 0, 0
	*d = perfDataRecord{}
	at := uint64(1)
	for _, field := range perfFields {
		if typ&field == 0 {
			continue
		}
		if at >= end {
			return false
		}
		w := r.word(off, at)
		n := uint64(1)
		switch field {
		case perf.SampleIdentifier:
			rec.id = w
		case perf.SampleIP:
			rec.ip = uintptr(w)
		case perf.SampleTime:
			rec.time = int64(w)
		case perf.SampleAddr:
			d.addr = uintptr(w)
			if uint64(d.addr) != w {
				d.addr = ^uintptr(0) // the kernel's, of a program of 32 bits
			}
		case perf.SampleCPU: // u32 cpu, res
			if goarch.BigEndian {
				w >>= 32
			}
			d.cpu = uint32(w)
		case perf.SampleRead: // value, times, ID and perhaps records lost
			if n = uint64(perfReadSize() / 8); at+n <= end {
				rec.id = r.word(off, at+3)
			}
		case perf.SampleRegsUser: // ABI, registers
			if w == perf.SampleRegsABINone {
				break
			}
			if n = 3; at+n > end {
				return false
			}
			rec.regs = true
			rec.pc, rec.sp = uintptr(r.word(off, at+1)), uintptr(r.word(off, at+2))
			if perf.RegSP < perf.RegPC {
				rec.pc, rec.sp = rec.sp, rec.pc
			}
		case perf.SampleWeight:
			d.weight = w
		case perf.SampleDataSrc:
			d.source = w
		}
		at += n
	}
	return at == end
}

// dataSlot returns the slot of a sample that has an address, which it decodes, or -1 if
// rec is another one.
//
// The ID says which slot it is, but for software events: for these, see perfOpen, and a
// record with an address is longer than others by two words.
//
//go:nowritebarrierrec
func (t *perfThread) dataSlot(rec *perfRecord) int {
	id := t.ring.word(rec.chain.off, 1)
	plain := perfSampleMin + uint64(perfReadSize()) // of other software events
	if perfLinux.regs {
		plain += 24
	}
	for i := range t.ctr[:t.n] {
		if !t.dataSlots.has(i) {
			continue
		}
		typ := perfDataTypeOf(i)
		if typ&perf.SampleRead == 0 {
			if t.ctr[i].id == id && t.ring.readSample(rec, &t.access, typ) {
				return i
			}
			continue
		}
		if rec.chain.size > plain && t.ring.readSample(rec, &t.access, typ) && t.ctr[i].id == rec.id {
			return i
		}
	}
	return -1
}

// addData records an overflow of slot i, with what was accessed and with the stack that c
// interrupted on goroutine gp.
//
//go:nowritebarrierrec
func (t *perfThread) addData(i int, rec *perfRecord, c *sigctxt, gp *g) {
	s, k := &perfTables.slots[i], &t.ctr[i]
	// See sigprof.
	getg().m.mallocing++
	mp := t.mp.ptr()
	pc := c.sigpc()
	if rec.misc&perf.MiscExactIP != 0 && !rec.kernel() {
		pc = k.exactPC(rec.ip, pc, 1)
	}
	t.stk.unwind(&t.walk, pc, c.sigsp(), c.siglr(), gp, mp)
	stk := t.stk.user()
	if rec.kernel() {
		// As in perfThread.sample. Other architectures' kernel addresses may not fit.
		ip := rec.ip
		if goarch.PtrSize == 4 {
			ip = perfKernelIP
		}
		stk = t.stk.kernel(ip)
	}

	var tagPtr *unsafe.Pointer
	var goid uint64
	if gp != nil && gp.m != nil && gp.m.curg != nil {
		tagPtr = &gp.m.curg.labels
		goid = gp.m.curg.goid
	}
	var object perfObject
	object.find(t.access.addr, gp)

	d := &t.data
	d[perf.DataMark] = perf.DataFollows
	d[perf.DataAddr] = t.access.addr
	d[perf.DataBase] = object.base
	d[perf.DataSize] = object.size
	d[perf.DataType] = object.typ
	d[perf.DataSite] = object.site
	d[perf.DataMem] = uintptr(object.kind) | uintptr(t.access.cpu)<<8
	d[perf.DataGoid], d[perf.DataGoid+1] = perfHalves(goid)
	d[perf.DataWeight], d[perf.DataWeight+1] = perfHalves(t.access.weight)
	d[perf.DataSource], d[perf.DataSource+1] = perfHalves(t.access.source)
	n := perf.DataWords + copy(d[perf.DataWords:], stk)

	s.add(tagPtr, d[:n], 1, k.period)
	k.Samples++
	k.Sampled += k.period
	getg().m.mallocing--
}

// perfHalves returns x in two words, the low half first.
//
//go:nowritebarrierrec
func perfHalves(x uint64) (low, high uintptr) { return uintptr(uint32(x)), uintptr(x >> 32) }
