// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"math/bits"
	"slices"
	"unsafe"
)

// stacksChunk and stacksChunks bound the memory of a profile's stacks, to 16 MiB. A
// program may have more stacks than that in one profile: deep recursion, or goroutines
// with labels of their own. So old stacks are written, and forgotten, for new ones to
// take their place. If one comes again, the profile has two samples with that stack,
// which is what its format allows, and readers add them up.
const (
	stacksChunk  = 8 << 10 // words
	stacksChunks = 256
)

// perfStacks is the stacks of a profile, each with its labels and values. All is in few
// and large pieces of memory without pointers, which cost the garbage collector of the
// program that is being profiled nothing.
//
// Stacks are found while they are young. When the young have all the chunks, they become
// old. From then on, each chunk that the young need is the next one of the old, once that
// has been written. So it is never much that is written at a time, and samples do not
// pile up in the runtime's buffer meanwhile.
type perfStacks struct {
	width int // values of a stack
	limit int // of chunks: stacksChunks, or less in tests
	young perfGeneration
	old   perfGeneration

	// index has where the young are: 0, or 1 + chunk * stacksChunk + offset in the
	// chunk. It is a hash table with open addressing, at most half full.
	index []uint32
	n     int // of the young
}

// A perfGeneration is stacks that are written, and forgotten, together.
type perfGeneration struct {
	// A chunk is stacks, one after the other. Each is:
	//
	//	its hash
	//	its tag's index in tags << 32 | number of its addresses
	//	its values
	//	its addresses, as the runtime records them
	chunks [][]uint64
	tags   []unsafe.Pointer // of type *labelMap; the first is nil
	tagIDs map[unsafe.Pointer]int
}

const stackHeader = 2 // words before the values

// hashStack returns the hash of a stack with a tag.
func hashStack(stk []uint64, tag unsafe.Pointer) uint64 {
	h := uint64(uintptr(tag))
	for _, pc := range stk {
		h = (bits.RotateLeft64(h, 25) ^ pc) * 0x9e3779b97f4a7c15
	}
	return h ^ h>>32
}

// values returns the values of a stack with a tag, which are zero if it is new. They are
// valid until the next call. If there is no room for a new stack, write writes the
// stacks in a chunk.
func (t *perfStacks) values(stk []uint64, tag unsafe.Pointer, write func(chunk []uint64, tags []unsafe.Pointer)) []uint64 {
	hash := hashStack(stk, tag)
	for i := int(hash); len(t.index) != 0; i++ {
		at := t.index[i&(len(t.index)-1)]
		if at == 0 {
			break
		}
		rec := t.young.chunks[(at-1)/stacksChunk][(at-1)%stacksChunk:]
		if rec[0] != hash || int(uint32(rec[1])) != len(stk) || t.young.tags[rec[1]>>32] != tag {
			continue
		}
		if rec = rec[stackHeader:]; slices.Equal(rec[t.width:][:len(stk)], stk) {
			return rec[:t.width]
		}
	}

	chunk := t.room(stackHeader+t.width+len(stk), write)
	last := len(t.young.chunks) - 1
	start := len(chunk)
	chunk = append(chunk, hash, uint64(t.young.tagID(tag))<<32|uint64(len(stk)))
	chunk = append(chunk, make([]uint64, t.width)...)
	values := chunk[start+stackHeader:]
	chunk = append(chunk, stk...)
	t.young.chunks[last] = chunk

	if t.n++; 2*t.n > len(t.index) {
		t.reindex()
	} else {
		t.enter(hash, last, start)
	}
	return values
}

// room returns the last chunk of the young, which has room for n words.
func (t *perfStacks) room(n int, write func([]uint64, []unsafe.Pointer)) []uint64 {
	if k := len(t.young.chunks); k > 0 {
		if c := t.young.chunks[k-1]; cap(c)-len(c) >= n {
			return c
		}
		if k == t.limit {
			t.young, t.old = perfGeneration{}, t.young
			t.old.tagIDs = nil
			t.n = 0
			clear(t.index)
		}
	}
	var chunk []uint64
	if old := t.old.chunks; len(old) > 0 {
		chunk = old[0]
		write(chunk, t.old.tags)
		if t.old.chunks = old[1:]; len(old) == 1 {
			t.old = perfGeneration{}
		}
	}
	if cap(chunk) < n {
		chunk = make([]uint64, 0, max(n, stacksChunk))
	}
	t.young.chunks = append(t.young.chunks, chunk[:0])
	return chunk[:0]
}

// enter enters the stack at offset start of a chunk of the young in the index.
func (t *perfStacks) enter(hash uint64, chunk, start int) {
	i := int(hash)
	for t.index[i&(len(t.index)-1)] != 0 {
		i++
	}
	t.index[i&(len(t.index)-1)] = uint32(1 + chunk*stacksChunk + start)
}

// reindex makes a larger index.
func (t *perfStacks) reindex() {
	t.index = make([]uint32, max(1<<10, 2*len(t.index)))
	for i, chunk := range t.young.chunks {
		for start := 0; start < len(chunk); start += stackHeader + t.width + int(uint32(chunk[start+1])) {
			t.enter(chunk[start], i, start)
		}
	}
}

// tagID returns the index of a tag in g.tags.
func (g *perfGeneration) tagID(tag unsafe.Pointer) int {
	if len(g.tags) == 0 {
		g.tags = append(g.tags, nil)
		g.tagIDs = make(map[unsafe.Pointer]int)
	}
	if tag == nil {
		return 0
	}
	id, ok := g.tagIDs[tag]
	if !ok {
		id = len(g.tags)
		g.tags = append(g.tags, tag)
		g.tagIDs[tag] = id
	}
	return id
}

// end writes all stacks, the old ones first, and forgets them.
func (t *perfStacks) end(write func(chunk []uint64, tags []unsafe.Pointer)) {
	for _, g := range []*perfGeneration{&t.old, &t.young} {
		for _, chunk := range g.chunks {
			write(chunk, g.tags)
		}
	}
	*t = perfStacks{width: t.width, limit: t.limit}
}
