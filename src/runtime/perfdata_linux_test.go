// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"internal/goarch"
	"runtime"
	"testing"
)

// TestPerfDataRecords tests that samples with addresses are read as the kernel writes them
// (perf_output_sample in kernel/events/core.c), for each kind of event, wherever in the ring
// they are; and that records of other lengths are refused.
func TestPerfDataRecords(t *testing.T) {
	const (
		ip, time, addr, read, cpu, regs, weight, source, id = 1 << 0, 1 << 2, 1 << 3, 1 << 4, 1 << 7, 1 << 12, 1 << 14, 1 << 15, 1 << 16

		all = id | ip | time | addr | cpu | regs
	)
	cpuWord := uint64(3) // u32 cpu, res
	if goarch.BigEndian {
		cpuWord <<= 32
	}
	head := []uint64{perfWord(9, 0), 7, 0x401000, 5_000_000, 0xc000012340, cpuWord} // ID, instruction, time, address, CPU
	reading := make([]uint64, runtime.PerfReadWords())                              // value, times, ID, lost
	reading[3] = 8
	user := []uint64{2, 0x401003, 0xc00009e000}
	var none = []uint64{0}
	const loadHitM = 0x2 | 0x10<<19
	for _, tt := range []struct {
		name   string
		typ    uint64
		rest   [][]uint64
		id     uint64
		regs   bool
		weight uint64
		source uint64
	}{
		{"PEBS, a load with its latency", all | weight | source, [][]uint64{user, {210}, {loadHitM}}, 7, true, 210, loadHitM},
		{"IBS in the kernel's thread", all | weight | source, [][]uint64{none, {33}, {0x4}}, 7, false, 33, 0x4},
		{"without registers", all&^regs | weight | source, [][]uint64{{33}, {0x4}}, 7, false, 33, 0x4},
		{"breakpoint", all, [][]uint64{user}, 7, true, 0, 0},
		{"page fault, whose ID is that of its reading", all | read, [][]uint64{reading, user}, 8, true, 0, 0},
	} {
		words := append([]uint64(nil), head...)
		for _, r := range tt.rest {
			words = append(words, r...)
		}
		for _, off := range []uint64{0, 8 * 20, 1<<40 + 8*31} { // the later ones wrap around
			ring := make([]uint64, 32)
			for i := range ring {
				ring[i] = 0xbad
			}
			for i, w := range words {
				ring[(off/8+uint64(i))%32] = w
			}
			size := uint64(8 * len(words))
			rec, ok := runtime.PerfRingSample(ring, off, size, tt.typ)
			want := runtime.PerfDataRecord{Time: 5_000_000, Addr: uintptr(head[4]), CPU: 3, Weight: tt.weight, Source: tt.source}
			want.ID, want.IP, want.Regs = tt.id, 0x401000, tt.regs
			if tt.regs {
				sp := uint64(0xc00009e000)
				want.PC, want.SP = 0x401003, uintptr(sp)
				if runtime.PerfRegsSwapped {
					want.PC, want.SP = want.SP, want.PC
				}
			}
			if !ok || rec != want {
				t.Errorf("%s at %#x: %+v, %v; want %+v", tt.name, off, rec, ok, want)
			}
			for n := uint64(8); n <= size+16; n += 8 {
				if _, ok := runtime.PerfRingSample(ring, off, n, tt.typ); ok && n != size {
					t.Errorf("%s at %#x: a record of %d bytes is accepted, %d wanted", tt.name, off, n, size)
				}
			}
		}
	}
}
