// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package off

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"pmu/bench/bare"
)

func Benchmark(b *testing.B) {
	for _, o := range ops {
		b.Run(strings.NewReplacer(" ", "-", ",", "").Replace(o.name), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			before := cpu()
			o.do(b.N)
			// Other programs take less from this than from ns/op.
			b.ReportMetric(float64(cpu()-before)/float64(b.N), "cpu-ns/op")
		})
	}
}

// cpu returns the CPU time of the process, in nanoseconds.
func cpu() int64 {
	var ru syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &ru)
	return ru.Utime.Nano() + ru.Stime.Nano()
}

// TestInstructions prints the instructions per operation, in user mode, where
// the machine counts them.
func TestInstructions(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, o := range ops {
		n, err := instructions(o)
		if err != nil {
			t.Skipf("this machine does not count instructions: %v", err)
		}
		fmt.Printf("instructions\t%s\t%.3f\n", o.name, n)
	}
}

// instructions returns those per operation of o, on the thread that it stays on.
func instructions(o op) (float64, error) {
	const n = 20000
	for {
		o.do(n) // one-time work
		c, err := bare.Count(bare.Instructions, bare.User)
		if err != nil {
			return 0, err
		}
		tid := bare.Thread()
		before := c.Read()
		o.do(n)
		after := c.Read()
		c.Close()
		if bare.Thread() == tid {
			return float64(after-before) / n, nil
		}
	}
}
