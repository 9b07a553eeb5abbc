// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perf

// A MemKind is the kind of memory that an address is in.
type MemKind uint8

const (
	MemUnknown     MemKind = iota // memory of C, of mmap, or of the kernel
	MemNone                       // the record has no address
	MemHeap                       // an object of the heap
	MemTiny                       // an object of the heap, or one behind it that is in the same 16 bytes
	MemFree                       // the heap, but no object
	MemStack                      // the goroutine's stack
	MemSystemStack                // the thread's stacks for the runtime and for signals
	MemManual                     // another goroutine's stack, or the runtime's own memory
	MemGlobal                     // a package-level variable, or read-only data
	NumMemKinds
)

// Before the stack of a sample with a data address are DataWords words. Numbers of 64 bits
// take two, the low half first.
const (
	DataMark = iota // DataFollows
	DataAddr        // the address
	DataBase        // the object's first address
	DataSize        // its size, or 0
	DataType        // its type's address, or 0
	DataSite        // where it was allocated, for runtime_perfSiteStack, or 0
	DataMem         // MemKind | CPU << 8| CPU << 8
	DataGoid        // 64 bits: the goroutine, or 0
	_
	DataWeight // 64 bits: PERF_SAMPLE_WEIGHT, or 0
	_
	DataSource // 64 bits: PERF_SAMPLE_DATA_SRC, or 0
	_
	DataWords
)

// DataFollows is what a stack begins with that has such words. Others begin with 0, or with
// all bits set.
const DataFollows = 1
