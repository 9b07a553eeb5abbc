// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"internal/goarch"
	"runtime"
	"slices"
	"testing"
)

// TestPerfRingSizes tests that a ring takes as little memory as it can where pages
// are large.
func TestPerfRingSizes(t *testing.T) {
	for _, tt := range []struct {
		page, wants uintptr
		want        []uintptr
	}{
		{4 << 10, 0, []uintptr{16 << 10, 4 << 10}},
		{4 << 10, 16 << 10, []uintptr{16 << 10, 4 << 10}},
		{4 << 10, 64 << 10, []uintptr{64 << 10, 16 << 10, 4 << 10}},
		{16 << 10, 0, []uintptr{16 << 10}},
		{16 << 10, 64 << 10, []uintptr{64 << 10, 16 << 10}},
		{64 << 10, 0, []uintptr{64 << 10}},
		{64 << 10, 64 << 10, []uintptr{64 << 10}},
	} {
		if got := runtime.PerfRingSizes(tt.page, tt.wants); !slices.Equal(got, tt.want) {
			t.Errorf("with pages of %d bytes, %d wanted: %d, want %d", tt.page, tt.wants, got, tt.want)
		}
	}
}

// perfWord returns the first word of a record, struct perf_event_header.
func perfWord(typ uint32, size uint16) uint64 {
	if goarch.BigEndian {
		return uint64(typ)<<32 | uint64(size)
	}
	return uint64(typ) | uint64(size)<<48
}

// TestPerfRingMalformed tests that a record whose length is wrong neither keeps the
// reader from the end of the ring, nor makes it take what is behind for a part of it.
func TestPerfRingMalformed(t *testing.T) {
	const lost, throttle, unknown, sample = 2, 5, 99, 9
	const stale = 0xbad
	good := []uint64{perfWord(sample, 32), 7, 100, 1000} // ID, instruction, time
	for _, tt := range []struct {
		name string
		size uint16 // of a record that has 32 bytes
		typ  uint32
		ok   bool
	}{
		{"good", 32, sample, true},
		{"no length", 0, sample, false},
		{"shorter than a header", 4, sample, false},
		{"not a multiple of a word", 31, sample, false},
		{"more than there is", 40, sample, false},
		{"much more than there is", 0xfff8, sample, false},
		{"sample without a time", 24, sample, false},
		{"sample without an ID", 8, sample, false},
		{"loss without a number", 16, lost, false},
		{"throttling without an ID", 16, throttle, false},
		{"unknown type", 32, unknown, true},
		{"unknown type, no length", 0, unknown, false},
		{"unknown type, not a multiple of a word", 28, unknown, false},
	} {
		for _, tail := range []uint64{0, 8 * 6, 1<<40 + 8*7} { // the later ones wrap around
			words := make([]uint64, 8)
			for i := range words {
				words[i] = stale
			}
			put := func(at uint64, record ...uint64) {
				for i, w := range record {
					words[(at/8+uint64(i))%8] = w
				}
			}
			put(tail, append([]uint64{perfWord(tt.typ, tt.size)}, good[1:]...)...)
			recs, ok := runtime.PerfRingRead(words, tail, tail+32)
			if len(recs) != 1 || ok[0] != tt.ok {
				t.Errorf("%s, at %#x: %v, %v; want one record, %v", tt.name, tail, recs, ok, tt.ok)
				continue
			}
			if tt.typ == sample && tt.ok && (recs[0].ID != 7 || recs[0].IP != 100 || recs[0].Regs) {
				t.Errorf("%s, at %#x: %+v", tt.name, tail, recs[0])
			}
			if !tt.ok && (recs[0].ID != 0 || recs[0].IP != 0 || recs[0].N != 0) {
				t.Errorf("%s, at %#x: a malformed record has %+v", tt.name, tail, recs[0])
			}
		}
	}
}
