// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"internal/abi"
	"internal/runtime/perf"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// kernelList returns the kernel's functions.
func kernelList(tb testing.TB) *ksyms {
	tb.Helper()
	f, err := os.Open("/proc/kallsyms")
	if err != nil {
		tb.Skip(err)
	}
	defer f.Close()
	all := readKallsyms(f)
	if len(all.syms) < 2 || unsafe.Sizeof(uintptr(0)) == 4 {
		tb.Skip("/proc/kallsyms shows no addresses to this process, or they do not fit in its words")
	}
	return all
}

// A readList counts how often a list is read, and how much of it.
type readList struct {
	list  func() (io.ReadCloser, error)
	times int
	countingReader
}

// newNamer returns a namer that knows nothing yet, and what it reads.
func newNamer(list func() (io.ReadCloser, error)) (*kernelNamer, *readList) {
	l := &readList{list: list, countingReader: countingReader{page: 4096}}
	return &kernelNamer{open: func() (io.ReadCloser, error) {
		f, err := l.list()
		if err != nil {
			return nil, err
		}
		l.times++
		l.r = f
		return struct {
			io.Reader
			io.Closer
		}{&l.countingReader, f}, nil
	}}, l
}

// forgetKernel has the program's namer know nothing until the test ends, and returns what
// it reads meanwhile.
func forgetKernel(t *testing.T) *readList {
	namer, read := newNamer(kernelNames.open)
	old := kernelNames
	t.Cleanup(func() { kernelNames = old })
	kernelNames = namer
	return read
}

// TestPerfKernelMark tests that whoever reads only the names of functions, as in
// pprof -top, tells the kernel's from the program's.
func TestPerfKernelMark(t *testing.T) {
	name := func(addr uintptr) string {
		f := perfKernelFrame(addr)
		if len(f) != 1 || f[0].File != "[kernel]" {
			t.Fatalf("%#x: %v", addr, f)
		}
		return f[0].Function
	}
	if got := name(^uintptr(4095)); got != "[kernel]" {
		t.Errorf("unknown instruction: %q", got)
	}
	syms := kernelList(t).syms
	addr := syms[len(syms)/2].addr
	if got, want := name(uintptr(addr)+1), kernelSymbol(addr)+" [k]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if perfKernelFrame(abi.FuncPCABIInternal(perfKernelFrame)) != nil {
		t.Error("a function of the program is the kernel's")
	}
}

// TestPerfNoKernelAddresses tests that a profile with kernel time says nothing
// of where the kernel is: names, if the process may see them, but no address.
func TestPerfNoKernelAddresses(t *testing.T) {
	perfNeeds(t, "page-faults:uk")
	r := perfProfileOf(t, []perfReq{{"task-clock:uk", 200e3}}, func() { perfFault(t, 50e3) })[0]
	kernel := 0
	for _, loc := range r.Location {
		if uint64(loc.Address)>>63 != 0 {
			t.Errorf("location %d has the address %#x", loc.ID, loc.Address)
		}
		for _, line := range loc.Line {
			name := line.Function.Name
			if line.Function.Filename == "[kernel]" {
				kernel++
				if name != "[kernel]" && !strings.HasSuffix(name, " [k]") {
					t.Errorf("the kernel's function %q is not marked", name)
				}
			} else if strings.HasSuffix(name, " [k]") {
				t.Errorf("%q is not the kernel's", name)
			}
		}
	}
	for _, m := range r.Mapping {
		// The one that is the same everywhere is in each profile on x86.
		if m.File != "[vsyscall]" && m.Start>>63 != 0 {
			t.Errorf("mapping of %#x to %#x", m.Start, m.Limit)
		}
	}
	if kernel == 0 {
		t.Errorf("no kernel frames:\n%s", r.byStack())
	}
}

// TestPerfKernelNamed tests that a profile names each function of the kernel as the whole
// list does, which is read once, and not kept.
func TestPerfKernelNamed(t *testing.T) {
	all := kernelList(t)
	sleep := func() {
		for range 1000 {
			syscall.Nanosleep(&syscall.Timespec{Nsec: 1}, nil)
		}
	}
	for _, test := range []struct {
		event     string
		period    uint64
		only      bool // all samples are in the kernel
		functions int  // at least
		f         func()
	}{
		{"context-switches", 1, true, 1, sleep},
		{"task-clock:uk", 200e3, false, 10, func() { perfFault(t, 50e3) }},
	} {
		t.Run(test.event, func(t *testing.T) {
			perfNeeds(t, test.event)
			read := forgetKernel(t)
			r := perfProfileOnce(t, []perfReq{{test.event, test.period}}, test.f)[0]
			if read.times != 1 || kernelNames.all != nil {
				t.Errorf("the list was read %d times, and whole: %v", read.times, kernelNames.all != nil)
			}
			found := make(map[string]bool)
			for addr, name := range kernelNames.named {
				if want := all.at(addr); name != want {
					t.Errorf("a function is named %q, and %q in the list", name, want)
				}
				if name != "" {
					found[name+" [k]"] = true
				}
			}
			used := make(map[string]bool)
			for _, s := range r.Sample {
				if f := s.Location[0].Line[0].Function; test.only && f.Filename != "[kernel]" {
					t.Errorf("a sample is in %s", f.Name)
				}
				for _, loc := range s.Location {
					if f := loc.Line[0].Function; f.Filename == "[kernel]" {
						used[f.Name] = true
					}
				}
			}
			delete(used, "[kernel]") // where the instruction is not known
			if len(used) < test.functions || !maps.Equal(used, found) {
				t.Errorf("functions of the profile: %q; found: %q", slices.Sorted(maps.Keys(used)), slices.Sorted(maps.Keys(found)))
			}
		})
	}
}

// TestPerfNoKernelRead tests that a profile without the kernel does not read its list.
func TestPerfNoKernelRead(t *testing.T) {
	perfNeeds(t, "task-clock:u")
	read := forgetKernel(t)
	r := perfProfileOnce(t, []perfReq{{"task-clock:u", 200e3}}, func() { perfFault(t, 50e3) })[0]
	if r.total() == 0 {
		t.Error("no samples")
	}
	if read.times != 0 {
		t.Errorf("the list was read %d times", read.times)
	}
}

// TestNameKernel tests that the functions in all profiles of a session are found at once,
// those in stacks that are about to be written, too, and of data that were accessed none.
func TestNameKernel(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) == 4 {
		t.Skip("the kernel's instructions do not fit in a word")
	}
	read := forgetKernel(t)
	kernelNames.open = func() (io.ReadCloser, error) {
		read.times++
		return io.NopCloser(strings.NewReader("ffffffff81000000 T a\nffffffff82000000 T b\nffffffff83000000 T c\n")), nil
	}
	const user, unknown = 0x401000, ^uint64(4095)
	data := make([]uint64, perf.DataWords)
	for i := range data {
		data[i] = 0xffffffff90000000
	}
	data[perf.DataMark] = perf.DataFollows
	profiles := []*perfProfile{new(perfProfile), new(perfProfile)}
	want := make(map[uint64]string)
	for i, p := range profiles {
		p.stacks.width, p.stacks.limit = 2+i, stacksChunks
		old := p.stacks
		n := uint64(i)
		old.values([]uint64{0, 0xffffffff81000011 + n, unknown, user}, nil, nil)
		old.values(append(data, 0, 0xffffffff82000011+n, user), nil, nil)
		p.stacks.values([]uint64{^uint64(0), user}, nil, nil)
		p.stacks.values([]uint64{0, 0xffffffff81000021 + n, 0xffffffff83000021}, nil, nil)
		p.stacks.old = old.young
		want[0xffffffff81000010+n], want[0xffffffff81000020+n], want[0xffffffff82000010+n] = "a", "a", "b"
	}
	want[0xffffffff83000020] = ""
	(&perfSession{profiles: profiles}).nameKernel()
	if !maps.Equal(kernelNames.named, want) {
		t.Errorf("got %v, want %v", kernelNames.named, want)
	}
	if read.times != 1 {
		t.Errorf("the list was read %d times", read.times)
	}
}

// BenchmarkKernelNames compares the names of a profile with the whole list, and with the
// time that the kernel takes to write it, in turns.
func BenchmarkKernelNames(b *testing.B) {
	all := kernelList(b)
	wanted := make(map[uint64]bool)
	for i := range 40 {
		wanted[all.syms[len(all.syms)*i/44].addr+1] = true
	}
	var some, whole, write time.Duration
	bytes, size := 0, 0
	for b.Loop() {
		namer, read := newNamer(kernelNames.open)
		begin := time.Now()
		namer.want(wanted)
		some += time.Since(begin)
		bytes = read.n

		namer, read = newNamer(kernelNames.open)
		begin = time.Now()
		namer.at(0)
		whole += time.Since(begin)
		runtime_perfTableFree(unsafe.Pointer(unsafe.SliceData(namer.all.syms)), uintptr(cap(namer.all.syms))*unsafe.Sizeof(ksym{})+uintptr(cap(namer.all.names)))

		size = read.n
		begin = time.Now()
		namer.read(func(r io.Reader) { io.Copy(io.Discard, r) })
		write += time.Since(begin)
	}
	b.ReportMetric(float64(some)/float64(whole), "some/whole")
	b.ReportMetric(float64(some)/float64(write), "some/write")
	b.ReportMetric(float64(write.Nanoseconds())/float64(b.N), "write-ns/op")
	b.ReportMetric(float64(bytes), "some-bytes")
	b.ReportMetric(float64(size), "whole-bytes")
}
