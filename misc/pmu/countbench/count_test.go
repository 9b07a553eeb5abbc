// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27 && (amd64 || arm64)

package countbench

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// perOp is the number of instructions of an operation; of those of heavy
// benchmarks, in which the scheduler has much to do (up to 100,000
// instructions an operation), bigOp, so that its part is below the tolerance.
const (
	perOp = 8_000_000
	bigOp = 128_000_000
)

func BenchmarkLoop(b *testing.B) {
	spin(perOp)
	for b.Loop() {
		spin(perOp)
	}
	spin(perOp)
}

func BenchmarkN(b *testing.B) {
	for i := 0; i < b.N; i++ {
		spin(perOp)
	}
}

func BenchmarkTimer(b *testing.B) {
	spin(perOp)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		spin(perOp / 2)
		b.StopTimer()
		spin(perOp)
		b.StartTimer()
		spin(perOp / 2)
	}
	b.StopTimer()
	spin(perOp)
}

func BenchmarkRunParallel(b *testing.B) {
	b.SetParallelism(4)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			spin(perOp)
		}
	})
}

// BenchmarkHeavyMigrate's goroutines leave their threads all the time: by yielding,
// by being locked to another thread in between, and by blocking in the kernel.
func BenchmarkHeavyMigrate(b *testing.B) {
	const steps = 4
	var p [2]int
	if err := syscall.Pipe(p[:]); err != nil {
		b.Fatal(err)
	}
	defer syscall.Close(p[0])
	defer syscall.Close(p[1])
	var moves atomic.Int32
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		var wg sync.WaitGroup
		for g := 0; g < 2; g++ {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for s := 0; s < steps; s++ {
					if s%2 == 0 {
						runtime.LockOSThread()
					}
					tid := syscall.Gettid()
					spin(bigOp / 2 / steps)
					runtime.Gosched()
					if s%2 == 0 {
						runtime.UnlockOSThread()
					} else if syscall.Gettid() != tid {
						moves.Add(1)
					}
				}
			}()
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			syscall.Write(p[1], make([]byte, 1))
		}()
		syscall.Read(p[0], make([]byte, 1))
		wg.Wait()
	}
	if b.N > 1 && moves.Load() == 0 {
		b.Error("goroutines have stayed on their threads")
	}
}

// BenchmarkHeavyThreads' threads begin and end within the operation.
func BenchmarkHeavyThreads(b *testing.B) {
	for i := 0; i < b.N; i++ {
		var wg sync.WaitGroup
		for g := 0; g < 2; g++ {
			wg.Add(1)
			go func() {
				defer wg.Done()
				runtime.LockOSThread()
				spin(bigOp / 2)
			}()
		}
		wg.Wait()
	}
}

func BenchmarkSub(b *testing.B) {
	spin(perOp)
	b.Run("N", BenchmarkN)
	spin(perOp)
}

// TestInstructions runs the benchmarks with counters, which are read by system
// calls.
func TestInstructions(t *testing.T) { testInstructions(t) }

// TestInstructionsRegisters does it with counters that are read in user mode.
func TestInstructionsRegisters(t *testing.T) {
	const file = "/proc/sys/kernel/perf_user_access" // arm64's
	old, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, []byte("1"), 0)
	}
	if err != nil && runtime.GOARCH == "arm64" {
		if required() {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	if err == nil {
		defer os.WriteFile(file, old, 0)
	}
	testInstructions(t)
}

// required reports whether there must be a PMU.
func required() bool { return strings.Contains(os.Getenv("PMU_TEST_REQUIRE"), "instructions") }

func testInstructions(t *testing.T) {
	t.Helper()
	c, err := pprof.OpenCounters("cycles", "instructions")
	if errors.Is(err, syscall.ENOENT) && !required() {
		t.Skip(err) // no PMU
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	runBenchmarks(t, perOp, 2*5, "-test.bench=^Benchmark[^HC]", "-test.benchtime=40x", "-test.cpu=1,2")
	runBenchmarks(t, bigOp, 2, "-test.bench=^BenchmarkHeavy", "-test.benchtime=5x", "-test.cpu=1")
}

// runBenchmarks runs this program's benchmarks with counters, and checks that
// there are so many results and that each is perOp instructions. What the
// runtime's own threads do meanwhile counts too, and some of it is rare: of a few
// runs it takes the least.
func runBenchmarks(t *testing.T, perOp float64, results int, args ...string) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args = append(args, "-test.run=^$", "-test.counters=cycles,instructions")
	line := regexp.MustCompile(`(?m)^Benchmark(\S+)\s+\d+\t.*\s([0-9.]+) cycles/op\s+([0-9.]+) insn/cycle\s+([0-9.]+) instructions/op$`)
	least := make(map[string]float64)
	most := func() (n float64) {
		for _, v := range least {
			n = max(n, v)
		}
		return n
	}
	for round := 1; round == 1 || most() > perOp*1.001 && round <= 3; round++ {
		out, err := exec.Command(exe, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		t.Logf("\n%s", out)
		found := line.FindAllSubmatch(out, -1)
		if len(found) != results {
			t.Errorf("%d results, want %d", len(found), results)
		}
		for _, m := range found {
			name := string(m[1])
			cycles, err1 := strconv.ParseFloat(string(m[2]), 64)
			ratio, err2 := strconv.ParseFloat(string(m[3]), 64)
			n, err3 := strconv.ParseFloat(string(m[4]), 64)
			if err := errors.Join(err1, err2, err3); err != nil {
				t.Error(err)
			}
			t.Logf("%-16s %.0f instructions/op, %+.4f %%", name, n, 100*(n/perOp-1))
			if n < perOp {
				t.Errorf("%s: %v instructions/op, want at least %v", name, n, perOp)
			}
			if r := n / cycles / ratio; r < 0.999 || r > 1.001 {
				t.Errorf("%s: %v insn/cycle, but %v instructions and %v cycles", name, ratio, n, cycles)
			}
			if l, ok := least[name]; !ok || n < l {
				least[name] = n
			}
		}
	}
	for name, n := range least {
		if n > perOp*1.001 {
			t.Errorf("%s: at the least %v instructions/op, want %v and at most 0.1 %% more", name, n, perOp)
		}
	}
}
