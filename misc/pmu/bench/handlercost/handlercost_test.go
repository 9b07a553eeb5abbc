// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && linux && (amd64 || arm64)

package main

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"pmu/bench/bare"
)

// ceilings are what a sample may cost in the signal handler, or where the kernel's stacks
// are read, in instructions in user mode: 10 % above what it cost on the emulated machine
// when they were set. They may go down.
var ceilings = []struct {
	depth          int
	handler, chain float64
}{
	{10, 1950, 1225},
	{64, 2650, 1350},
}

// TestHandlerCost guards the cost of a sample. It is the number of instructions
// on the emulated machine, which does not depend on the host's speed or load. A real
// processor's counters would give nearly the same numbers, plus its interrupts.
func TestHandlerCost(t *testing.T) {
	if _, err := bare.Count(bare.Instructions, bare.User); err != nil {
		if strings.Contains(os.Getenv("PMU_TEST_REQUIRE"), "instructions") {
			t.Fatal(err)
		}
		t.Skipf("this machine does not count instructions (%v); run it on the emulated one, see misc/pmu/vm", err)
	}
	if runtime.GOARCH != "arm64" {
		t.Skip("the ceilings are those of arm64")
	}
	if err := warmUp(); err != nil {
		t.Fatal(err)
	}
	for _, c := range ceilings {
		signal, err := measure(variants[1], c.depth)
		if err != nil {
			t.Fatal(err)
		}
		event, err := measure(variants[2], c.depth)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("depth %d: %.0f instructions of the handler, ceiling %.0f; kernel %.0f, with a bare handler %.0f",
			c.depth, event.User, c.handler, event.Kernel, signal.Kernel)
		if event.User > c.handler {
			t.Errorf("depth %d: the handler takes %.0f instructions per sample, want at most %.0f", c.depth, event.User, c.handler)
		}
		chain, err := measure(variants[3], c.depth)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("depth %d: %.0f instructions to read the kernel's stack, ceiling %.0f; kernel %.0f", c.depth, chain.User, c.chain, chain.Kernel)
		if chain.User > c.chain {
			t.Errorf("depth %d: to read a sample with its stack takes %.0f instructions, want at most %.0f", c.depth, chain.User, c.chain)
		}
		for _, x := range []cost{event, chain} {
			if x.User < 500 || x.Samples < 100 {
				t.Errorf("depth %d: %.0f instructions, %.0f samples: that can't be a profiler", c.depth, x.User, x.Samples)
			}
		}
		// No signals: the counters count what the kernel does besides the interrupt.
		if chain.Kernel > signal.Kernel/2 {
			t.Errorf("depth %d: the kernel takes %.0f instructions per sample with its stack", c.depth, chain.Kernel)
		}
		// The kernel does nothing for us that it doesn't do for a bare handler,
		// except that the first samples touch the buffer's pages.
		if event.Kernel > 1.5*signal.Kernel {
			t.Errorf("depth %d: the kernel takes %.0f instructions per sample, with a bare handler %.0f", c.depth, event.Kernel, signal.Kernel)
		}
	}
}
