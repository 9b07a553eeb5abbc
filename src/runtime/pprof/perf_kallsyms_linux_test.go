// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"unsafe"
)

// findKsyms returns the names that a ksymFinder finds for the addresses, and how much of
// the list it has read, in pieces of one page.
func findKsyms(list io.Reader, addrs []uint64, page int) (names map[uint64]string, read int) {
	c := &countingReader{r: list, page: page}
	f := newKsymFinder(wantKernel(addrs...))
	f.find(c)
	return f.names(), c.n
}

// wantKernel returns what namers are asked for the addresses.
func wantKernel(addrs ...uint64) map[uint64]bool {
	wanted := make(map[uint64]bool)
	for _, addr := range addrs {
		wanted[addr] = true
	}
	return wanted
}

// A countingReader returns no more than a page at a time, as the kernel.
type countingReader struct {
	r    io.Reader
	page int
	n    int
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b[:min(len(b), c.page)])
	c.n += n
	return n, err
}

func TestReadKallsyms(t *testing.T) {
	const list = `0000000000000000 A fixed_percpu_data
ffffffff81000000 T _text
ffffffff81000000 T startup_64
ffffffff81000030 t __pfx_secondary
ffffffff81000040 t secondary
ffffffff81000100 D data
not an address
ffffffff81000200
ffffffffc0000000 t of_a_module	[module]
ffffffff81000300 W last
ffffffffc0000000 t of_another	[module]
`
	all := readKallsyms(strings.NewReader(list))
	for _, test := range []struct {
		addr uint64
		want string
	}{
		{0xffffffff80ffffff, ""},
		{0xffffffff81000000, "_text"},
		{0xffffffff8100003f, "_text"},
		{0xffffffff81000040, "secondary"},
		{0xffffffff81000100, "secondary"},
		{0xffffffff81000300, "last"},
		{0xffffffffbfffffff, "last"},
		{0xffffffffc0000000, ""}, // no telling where it ends
		{0xffffffffffffefff, ""},
	} {
		if got := all.at(test.addr); got != test.want {
			t.Errorf("%#x: %q, want %q", test.addr, got, test.want)
		}
		found, _ := findKsyms(strings.NewReader(list), []uint64{test.addr}, 4096)
		if got, ok := found[test.addr]; !ok || got != test.want {
			t.Errorf("%#x: found %q, want %q", test.addr, got, test.want)
		}
	}
}

// TestReadKallsymsPieces tests that it makes no difference how much a read returns, and
// what addresses and lines are not the kernel's.
func TestReadKallsymsPieces(t *testing.T) {
	var text strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&text, "%016x %c f%d\t[m%d]\n", 0xffffffff81000000+0x10*uint64(i^1), "tTwW"[i%4], i, i)
	}
	text.WriteString("ffffffffa0000000 t " + strings.Repeat("x", 1000) + "\nffffffffa0000010 t last\n")
	want := readKallsyms(strings.NewReader(text.String()))
	if len(want.syms) != 20002 {
		t.Fatalf("%d symbols, want 20002", len(want.syms))
	}
	for i := range 20000 {
		if got := want.at(0xffffffff81000000 + 0x10*uint64(i^1)); got != fmt.Sprintf("f%d", i) {
			t.Fatalf("symbol %d is %q", i, got)
		}
	}
	for _, r := range []io.Reader{iotest.OneByteReader(strings.NewReader(text.String())), iotest.HalfReader(strings.NewReader(text.String())), iotest.DataErrReader(strings.NewReader(text.String()))} {
		if got := readKallsyms(r); !slices.Equal(got.syms, want.syms) || string(got.names) != string(want.names) {
			t.Errorf("%T: other symbols", r)
		}
	}
	for _, bad := range []string{
		"0000000000000000 T hidden\nffffffff81000000 T shown\n",
		"ffffffff81000000 T unfinished",
		"ffffffff81000000T f\n", "ffffffff81000000 T\n", " T f\n", "xffffffff81000000 T f\n", "ffffffff81000000 D f\n", "ffffffff81000000 TT f\n",
		strings.Repeat("f", 100<<10) + " T f\n",
	} {
		if k := readKallsyms(strings.NewReader(bad)); len(k.syms) != 0 {
			t.Errorf("%.40q: %d symbols", bad, len(k.syms))
		}
	}
}

// TestKsymsMemory tests that the table is outside the heap and accounted for, and that
// reading it leaves nothing else.
func TestKsymsMemory(t *testing.T) {
	const n = 100e3
	var text strings.Builder
	for i := range int(n) {
		fmt.Fprintf(&text, "%016x t f%d\n", 0xffffffff81000000+0x10*uint64(i), i)
	}
	measure := func() (m runtime.MemStats) {
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m
	}
	readKallsyms(strings.NewReader("ffffffff81000000 T f\n"))
	before := measure()
	k := readKallsyms(strings.NewReader(text.String()))
	after := measure()
	if name := k.at(0xffffffff81000010); name != "f1" {
		t.Errorf("symbol 1 is %q", name)
	}
	want := int64(n*unsafe.Sizeof(ksym{})) + int64(len(k.names))
	page := int64(syscall.Getpagesize())
	if got := int64(after.OtherSys - before.OtherSys); got < want || got >= want+page {
		t.Errorf("OtherSys grows by %d, want %d and less than a page", got, want)
	}
	if got := int64(after.HeapAlloc) - int64(before.HeapAlloc); got > 100<<10 {
		t.Errorf("%d bytes of the heap are live", got)
	}
	runtime.KeepAlive(&text)
}
