// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"internal/runtime/perf"
	"internal/testenv"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"
)

//go:linkname runtime_procPin runtime.procPin
func runtime_procPin() int

//go:linkname runtime_procUnpin runtime.procUnpin
func runtime_procUnpin()

// TestManyProcs has twice as many Ps push records as have rings of their own, all at once, while
// readers read. Each record must come out whole, or be counted.
//
// A pusher pins its P and keeps it, so that each of them has another one. They wait for each
// other and then do nothing but push. So the system, which has fewer CPUs, takes the CPU from them
// in the midst of it.
func TestManyProcs(t *testing.T) {
	const env = "GO_TASK_TEST_MANY_PROCS"
	if os.Getenv(env) == "" { // in a process of its own: its threads stay
		cmd := testenv.CleanCmdEnv(testenv.Command(t, testenv.Executable(t), "-test.run=^TestManyProcs$", "-test.v"))
		cmd.Env = append(cmd.Env, env+"=1")
		if testing.Short() {
			cmd.Args = append(cmd.Args, "-test.short")
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%.5000s", err, out)
		}
		t.Logf("%s", out)
		return
	}
	const (
		pushers = 2 * perf.MaxTaskProcs
		readers = 2
	)
	each := 300
	if testing.Short() {
		each = 100
	}
	// A pusher can't be stopped.
	debug.SetGCPercent(-1)
	if err := Start(Config{Rate: 1}); err != nil {
		t.Fatal(err)
	}
	defer Stop()
	Slow(ledgerKinds[0], 1<<62)
	records := someRecords(t, 32)
	runtime_perfTaskRingSize(&[perf.NumTaskRings]int{64 << 10, 64 << 10})
	runtime.GOMAXPROCS(pushers + readers + 1)

	var list [readers]*ringReader
	for i := range list {
		list[i] = openRings(false)
	}
	read := func(r *ringReader) {
		for rec := r.Next(); rec != nil; rec = r.Next() {
			if _, err := ledgerIDOf(rec); err != nil {
				t.Error(err)
			}
		}
		if s := r.Stats(); s.Pushed != s.Popped+s.Dropped+s.Waiting || s.Pushed > pushers*uint64(each) {
			t.Errorf("%+v when %d are pushed", s, pushers*each)
		}
	}
	var gate [2]int // a pipe, which is closed when all are there
	if err := syscall.Pipe2(gate[:], syscall.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	var here, pushed atomic.Int64
	var pushing, reading sync.WaitGroup
	var done atomic.Bool
	for i := range list {
		reading.Go(func() {
			for !done.Load() && !t.Failed() {
				read(list[i])
				runtime.Gosched()
			}
		})
	}
	for range pushers {
		pushing.Go(func() {
			p := runtime_procPin()
			if here.Add(1) == pushers {
				syscall.RawSyscall(syscall.SYS_CLOSE, uintptr(gate[1]), 0, 0)
			}
			// Nobody may take the P, as they may that of a system call that the runtime knows of.
			var b [1]byte
			syscall.RawSyscall(syscall.SYS_READ, uintptr(gate[0]), uintptr(unsafe.Pointer(&b)), 1)
			for i := range each {
				if runtime_perfTaskPush(perf.TaskRing, records[(p+i)%len(records)]) {
					pushed.Add(1)
				}
			}
			runtime_procUnpin()
		})
	}
	pushing.Wait()
	done.Store(true)
	reading.Wait()
	if n := pushed.Load(); n != int64(pushers*each) {
		t.Errorf("%d records were pushed, of %d", n, pushers*each)
	}
	for _, r := range list {
		read(r)
		s := r.Stats()
		if s.Pushed != uint64(pushed.Load()) || s.Waiting != 0 || s.Popped == 0 {
			t.Errorf("%+v after %d records", s, pushed.Load())
		}
		t.Logf("%+v", s)
	}
}

// someRecords returns n records, as they are in rings, that tasks of a ledger have left. They are
// short enough for small rings.
func someRecords(t *testing.T, n int) (records [][]uint64) {
	r := openRings(false)
	l := &ledger{t: t}
	for i := 0; len(records) < n; i++ {
		l.produce(0, i, 1)
		for ring := range r.at {
			pos := r.at[ring].pos
			if n, _, _ := r.read(ring, &pos); n > 0 && n < smallRing/8/2-2 {
				records = append(records, slices.Clone(r.buf[:n]))
			}
			r.at[ring].pos = pos
		}
	}
	return records
}
