// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"io"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// perfResident returns how much of b is in memory.
func perfResident(t *testing.T, b *runtime.PerfBuf) (bytes uintptr) {
	t.Helper()
	addr, size, _ := b.Memory()
	page := uintptr(syscall.Getpagesize())
	pages := make([]byte, size/page)
	if _, _, errno := syscall.RawSyscall(syscall.SYS_MINCORE, addr, size, uintptr(unsafe.Pointer(&pages[0]))); errno != 0 {
		t.Fatal("mincore: ", errno)
	}
	for _, p := range pages {
		bytes += uintptr(p&1) * page
	}
	return bytes
}

// perfDrain reads what is in b, and returns the numbers of records and of words.
func perfDrain(b *runtime.PerfBuf) (records, words int) {
	for {
		data, tags := b.Read()
		if len(data) == 0 {
			return records, words
		}
		records += len(tags)
		words += len(data)
	}
}

// TestPerfBufMemory tests that a buffer takes as much memory as is written to it before
// it is empty again, and accounts for all of that.
func TestPerfBufMemory(t *testing.T) {
	b := runtime.NewPerfBuf()
	defer b.Free()
	_, size, first := b.Memory()
	stk := make([]uintptr, 60)
	const words = runtime.PerfBufHeader + 60 // of a record with stk
	page := uintptr(syscall.Getpagesize())
	for _, n := range []int{1, runtime.PerfBufWords / words / 16, runtime.PerfBufWords / words / 4, runtime.PerfBufWords / words} {
		for range 3 {
			for range n {
				b.Write(nil, stk)
			}
			if records, w := perfDrain(b); records != n || w != n*words {
				t.Fatalf("read %d records, %d words, want %d records of %d", records, w, n, words)
			}
		}
		_, _, charged := b.Memory()
		resident := perfResident(t, b)
		t.Logf("after 3 times %d records: %d bytes in memory, %d accounted for, of %d", n, resident, charged, size)
		// The rest of the buffer is a page. Data and tags begin and end within pages.
		want := max(first, uintptr(n)*(8*words+unsafe.Sizeof(uintptr(0)))+5*page)
		if resident > charged || charged > want {
			t.Errorf("after 3 times %d records: %d bytes in memory, %d accounted for, want %d at most", n, resident, charged, want)
		}
	}
}

// TestPerfBufRewind tests that nothing is lost or read twice where the buffer begins at
// its start again, whatever is in it.
func TestPerfBufRewind(t *testing.T) {
	b := runtime.NewPerfBuf()
	defer b.Free()
	var stk [60]uintptr
	var tag [3]unsafe.Pointer // of different values
	for i := range tag {
		tag[i] = unsafe.Pointer(&tag[i])
	}
	written, read := 0, 0
	check := func() (n int) {
		data, tags := b.Read()
		for _, tag0 := range tags {
			if data[runtime.PerfBufHeader] != uint64(read) || tag0 != tag[read%len(tag)] {
				t.Fatalf("record %d is %d", read, data[4])
			}
			data = data[data[0]:]
			read++
		}
		return len(tags)
	}
	for round := range 3000 {
		for range round % 97 * 10 {
			stk[0] = uintptr(written)
			b.Write(&tag[written%len(tag)], stk[:1+written%len(stk)])
			written++
		}
		// Sometimes what is read is not given back before the next is written.
		for check() != 0 && round%3 != 0 {
		}
	}
	for check() != 0 {
	}
	if written != read || b.Rounds() < 100 {
		t.Errorf("%d records written, %d read, %d times from the start", written, read, b.Rounds())
	}
	b.Close()
}

// perfDeepFaults makes n page faults, with 60 more frames on the stack.
func perfDeepFaults(t *testing.T, n, depth int) {
	if depth > 0 {
		perfDeepFaults(t, n, depth-1)
		return
	}
	page := syscall.Getpagesize()
	for ; n > 0; n -= 512 {
		b, err := syscall.Mmap(-1, 0, 512*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			t.Fatal(err)
		}
		syscall.Madvise(b, syscall.MADV_NOHUGEPAGE) // fails where there are no huge pages
		for i := 0; i < len(b); i += page {
			b[i] = 1
		}
		syscall.Munmap(b)
	}
}

// TestPerfMemStats tests that the runtime's figures of memory add up while a profile
// runs and its buffer comes to take more memory, and that they contain the buffer; and
// that it takes a small part of its address space although half of that is sampled.
func TestPerfMemStats(t *testing.T) {
	if !*runtime.DoubleCheckReadMemStats {
		t.Fatal("ReadMemStats does not throw where they do not add up")
	}
	if err := pprof.StartCPUProfileWithConfig(pprof.PerfEvent(io.Discard, "page-faults:u", 101)); err != nil {
		t.Skip(err) // package runtime/pprof's tests fail where it must be possible
	}
	defer pprof.StopCPUProfile()
	bufs := runtime.PerfBufs()
	if len(bufs) != 1 {
		t.Fatalf("%d buffers, want 1", len(bufs))
	}
	const rounds = 8 // a sixteenth of the buffer each
	for bufs[0].Rounds() < rounds {
		perfDeepFaults(t, 1<<14, 60)
		_, _, charged := bufs[0].Memory()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		sum := m.HeapSys + m.StackSys + m.MSpanSys + m.MCacheSys + m.BuckHashSys + m.GCSys + m.OtherSys
		if sum != m.Sys || m.OtherSys < uint64(charged) {
			t.Fatalf("Sys is %d, its parts %d; OtherSys is %d, of which the buffer %d", m.Sys, sum, m.OtherSys, charged)
		}
		perfCheckMetrics(t)
	}
	_, size, charged := bufs[0].Memory()
	resident := perfResident(t, bufs[0])
	t.Logf("%d bytes in memory, %d accounted for, of %d", resident, charged, size)
	if resident > size/4 {
		t.Errorf("%d bytes in memory, of %d", resident, size)
	}
}

// perfCheckMetrics tests that the classes of memory in package runtime/metrics add up.
func perfCheckMetrics(t *testing.T) {
	t.Helper()
	var samples []metrics.Sample
	for _, d := range metrics.All() {
		if strings.HasPrefix(d.Name, "/memory/classes/") {
			samples = append(samples, metrics.Sample{Name: d.Name})
		}
	}
	metrics.Read(samples)
	sum, total := uint64(0), uint64(0)
	for _, s := range samples {
		if s.Name == "/memory/classes/total:bytes" {
			total = s.Value.Uint64()
		} else {
			sum += s.Value.Uint64()
		}
	}
	if sum != total || total == 0 {
		t.Fatalf("the classes of memory have %d bytes, the total is %d", sum, total)
	}
}
