// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27 && linux && (amd64 || arm64)

package countbench

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"pmu/bench/bare"
)

// perOp is the number of instructions of an operation; of those of heavy
// benchmarks, in which the scheduler or package testing has much to do, bigOp,
// so that its part is below the tolerance.
const (
	perOp = 8_000_000
	bigOp = 128_000_000
)

// A stat counts the instructions of all threads of this process, and of those
// that they start, in user mode, as perf stat does: the kernel has counters follow
// from thread to thread, and package testing has no part in it. What the runtime
// executes beside a benchmark is in both counts: preemptions each 10 ms, and
// sysmon, which is a matter of how long an operation takes.
type stat struct {
	b     *testing.B
	fds   []int
	total int64
	begin int64
}

func newStat(b *testing.B) *stat {
	b.Helper()
	s := &stat{b: b}
	b.Cleanup(s.close)
	// A thread that begins in between may have a counter or not.
	for i := 0; i < 100; i++ {
		threads := s.threads()
		for _, tid := range threads {
			s.open(tid)
		}
		if slices.Equal(s.threads(), threads) {
			return s
		}
		s.close()
	}
	b.Fatal("threads begin and end all the time")
	return nil
}

func (s *stat) threads() (tids []int) {
	d, err := os.ReadDir("/proc/self/task")
	if err != nil {
		s.b.Fatal(err)
	}
	for _, e := range d {
		tid, err := strconv.Atoi(e.Name())
		if err != nil {
			s.b.Fatal(err)
		}
		tids = append(tids, tid)
	}
	return tids
}

func (s *stat) open(tid int) {
	const (
		hardware, instructions = 0, 1
		inherit                = 1 << 1
		excludeKernel          = 1 << 5
		excludeHV              = 1 << 6
		cloexec                = 8
	)
	attr := struct { // PERF_ATTR_SIZE_VER0
		typ, size                                     uint32
		config, period, sampleType, readFormat, flags uint64
		wakeup, bpType                                uint32
		bpAddr                                        uint64
	}{typ: hardware, size: 64, config: instructions, flags: inherit | excludeKernel | excludeHV}
	nr := map[string]uintptr{"amd64": 298, "arm64": 241}[runtime.GOARCH]
	fd, _, errno := syscall.Syscall6(nr, uintptr(unsafe.Pointer(&attr)), uintptr(tid), ^uintptr(0), ^uintptr(0), cloexec, 0)
	if errno != 0 {
		s.b.Fatalf("perf_event_open of thread %d: %v", tid, errno)
	}
	s.fds = append(s.fds, int(fd))
}

func (s *stat) close() {
	for _, fd := range s.fds {
		syscall.Close(fd)
	}
	s.fds = nil
}

func (s *stat) read() (n int64) {
	for _, fd := range s.fds {
		var v int64
		if _, err := syscall.Read(fd, (*[8]byte)(unsafe.Pointer(&v))[:]); err != nil {
			s.b.Fatal(err)
		}
		n += v
	}
	return n
}

// start and stop are called where the benchmark's own counting starts and stops.
func (s *stat) start() { s.begin = s.read() }
func (s *stat) stop()  { s.total += s.read() - s.begin }

func (s *stat) report() { s.b.ReportMetric(float64(s.total)/float64(s.b.N), "stat/op") }

func BenchmarkLoop(b *testing.B) {
	s := newStat(b)
	bare.Spin(perOp)
	s.start()
	for b.Loop() {
		bare.Spin(perOp)
	}
	s.stop()
	bare.Spin(perOp)
	s.report()
}

func BenchmarkN(b *testing.B) {
	s := newStat(b)
	b.ResetTimer()
	s.start()
	for i := 0; i < b.N; i++ {
		bare.Spin(perOp)
	}
	s.stop()
	b.StopTimer()
	s.report()
}

func BenchmarkRunParallel(b *testing.B) {
	s := newStat(b)
	b.SetParallelism(4)
	b.ResetTimer()
	s.start()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			bare.Spin(perOp)
		}
	})
	s.stop()
	b.StopTimer()
	s.report()
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
	st := newStat(b)
	b.ResetTimer()
	st.start()
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
					bare.Spin(bigOp / 2 / steps)
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
	st.stop()
	b.StopTimer()
	st.report()
	if b.N > 1 && moves.Load() == 0 {
		b.Error("goroutines have stayed on their threads")
	}
}

// BenchmarkHeavyThreads' threads begin and end within the operation. They execute
// some 3,000 instructions before the runtime counts, and after.
func BenchmarkHeavyThreads(b *testing.B) {
	s := newStat(b)
	b.ResetTimer()
	s.start()
	for i := 0; i < b.N; i++ {
		var wg sync.WaitGroup
		for g := 0; g < 2; g++ {
			wg.Add(1)
			go func() {
				defer wg.Done()
				runtime.LockOSThread()
				bare.Spin(bigOp / 2)
			}()
		}
		wg.Wait()
	}
	s.stop()
	b.StopTimer()
	s.report()
}

// BenchmarkHeavyTimer's timer stops and starts: some 4,000 instructions of each
// are in one count and not in the other.
func BenchmarkHeavyTimer(b *testing.B) {
	s := newStat(b)
	bare.Spin(perOp)
	b.ResetTimer()
	s.start()
	for i := 0; i < b.N; i++ {
		bare.Spin(bigOp / 2)
		s.stop()
		b.StopTimer()
		bare.Spin(perOp)
		b.StartTimer()
		s.start()
		bare.Spin(bigOp / 2)
	}
	s.stop()
	b.StopTimer()
	bare.Spin(perOp)
	s.report()
}

func BenchmarkSub(b *testing.B) {
	bare.Spin(perOp)
	b.Run("N", BenchmarkN)
	bare.Spin(perOp)
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
	runBenchmarks(t, perOp, 2*4, "-test.bench=^Benchmark[^HC]", "-test.benchtime=40x", "-test.cpu=1,2")
	runBenchmarks(t, bigOp, 3, "-test.bench=^BenchmarkHeavy", "-test.benchtime=5x", "-test.cpu=1")
}

// runBenchmarks runs this program's benchmarks with counters, and checks that
// there are so many results, that each is perOp instructions at least, and
// that it is as many as the kernel counts, to half a thousandth: the two begin
// and end some instructions apart.
func runBenchmarks(t *testing.T, perOp float64, results int, args ...string) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args = append(args, "-test.run=^$", "-test.counters=cycles,instructions")
	line := regexp.MustCompile(`(?m)^Benchmark(\S+)\s+\d+\t.*\s([0-9.]+) cycles/op\s+([0-9.]+) insn/cycle\s+([0-9.]+) instructions/op\s+([0-9.]+) stat/op$`)
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
		kernel, err4 := strconv.ParseFloat(string(m[5]), 64)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			t.Error(err)
		}
		t.Logf("%-16s %.0f instructions/op, %+.4f %%; %+.4f %% beside what the kernel counts", name, n, 100*(n/perOp-1), 100*(n/kernel-1))
		if n < perOp {
			t.Errorf("%s: %v instructions/op, want at least %v", name, n, perOp)
		}
		if r := n / kernel; r < 0.9995 || r > 1.0005 {
			t.Errorf("%s: %v instructions/op, the kernel has %v", name, n, kernel)
		}
		if r := n / cycles / ratio; r < 0.999 || r > 1.001 {
			t.Errorf("%s: %v insn/cycle, but %v instructions and %v cycles", name, ratio, n, cycles)
		}
	}
}
