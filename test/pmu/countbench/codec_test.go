// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27 && (amd64 || arm64)

package countbench

import (
	"hash/crc32"
	"syscall"
	"testing"
)

// The example of doc/pmu-counters.md: a decoder that unpacks into a scratch
// area outside the Go heap, which it once had mapped for each message, and
// then kept.

const scratchSize = 1 << 20

func newScratch(b *testing.B) []byte {
	m, err := syscall.Mmap(-1, 0, scratchSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// unpack expands the message into scratch and returns its checksum.
func unpack(scratch, msg []byte) uint32 {
	for s := scratch; len(s) > 0; {
		s = s[copy(s, msg):]
	}
	return crc32.ChecksumIEEE(scratch)
}

func BenchmarkCodec(b *testing.B) {
	msg := make([]byte, 1000)
	b.Run("scratch=each", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			scratch := newScratch(b)
			unpack(scratch, msg)
			syscall.Munmap(scratch)
		}
	})
	b.Run("scratch=kept", func(b *testing.B) {
		b.ReportAllocs()
		scratch := newScratch(b)
		defer syscall.Munmap(scratch)
		for b.Loop() {
			unpack(scratch, msg)
		}
	})
}
