// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"fmt"
	"io"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

// A ksymList is a list of functions as in /proc/kallsyms, made up.
type ksymList struct {
	*rand.Rand
	core, modules []string
	addrs         []uint64 // of all functions
}

func (l *ksymList) line(addr uint64, name string) string {
	l.addrs = append(l.addrs, addr)
	return fmt.Sprintf("%016x %c %s%d", addr, "tTwW"[l.Intn(4)], name, len(l.addrs))
}

// newKsymList returns a list of a kernel whose functions are in ascending order, with
// holes, in which modules are, and around which. Theirs are in any order.
func newKsymList(seed int64) *ksymList {
	l := &ksymList{Rand: rand.New(rand.NewSource(seed))}
	addr := uint64(0xffffffff81000000)
	module := func(base uint64, m int) {
		for i := range 1 + l.Intn(20) {
			addr := base + uint64(l.Intn(1<<12))
			l.modules = append(l.modules, l.line(addr, fmt.Sprintf("m%d_", i))+fmt.Sprintf("\t[m%d]", m))
		}
	}
	for range 1 + l.Intn(600) {
		switch l.Intn(20) {
		case 0: // another name
		case 1:
			l.core = append(l.core, fmt.Sprintf("%016x D data%d", addr, addr))
		case 2:
			l.core = append(l.core, fmt.Sprintf("%016x t __pfx_%d", addr, addr))
		case 3:
			if l.Intn(5) == 0 {
				module(addr+1<<24, len(l.modules))
				addr += 1 << 26
			}
		default:
			addr += uint64(1 + l.Intn(1<<10))
		}
		l.core = append(l.core, l.line(addr, "f"))
	}
	for m := range l.Intn(5) {
		module(0xffffffff00000000+uint64(m)<<20, m)
		module(0xffffffffc0000000+uint64(m)<<20, m)
	}
	l.Shuffle(len(l.modules), func(i, k int) { l.modules[i], l.modules[k] = l.modules[k], l.modules[i] })
	return l
}

// wanted returns addresses in functions, next to them and far from them.
func (l *ksymList) wanted() (addrs []uint64) {
	for range 1 + l.Intn(40) {
		addr := l.addrs[l.Intn(len(l.addrs))]
		switch l.Intn(8) {
		case 0:
			addr += uint64(l.Intn(1 << 28))
		case 1:
			addr -= uint64(l.Intn(1 << 28))
		case 2:
			addr = ^uint64(4096) - uint64(l.Intn(1<<20))
		default:
			addr += uint64(l.Intn(64)) - 3
		}
		addrs = append(addrs, addr)
	}
	return addrs
}

// TestKsymFinder tests that each name found in one pass is that of the whole list, read
// and sorted, however much a read returns.
func TestKsymFinder(t *testing.T) {
	named, early := 0, 0
	for seed := range int64(800) {
		l := newKsymList(seed)
		lines := slices.Concat(l.core, l.modules)
		switch seed % 4 {
		case 0: // modules only
			for i := range l.core {
				lines[i] += "\t[m]"
			}
			l.Shuffle(len(lines), func(i, k int) { lines[i], lines[k] = lines[k], lines[i] })
		case 1:
			lines = slices.Insert(lines, l.Intn(len(lines)), "no function", "ffffffff81000000 T", "", "\t[m]")
		}
		text := strings.Join(lines, "\n") + "\n"
		if seed%4 == 2 {
			text = text[:l.Intn(len(text))] // cut off
		}
		addrs := l.wanted()
		if l.Intn(2) == 0 {
			addrs = addrs[:1]
		}
		all := readKallsyms(strings.NewReader(text))
		got, read := findKsyms(strings.NewReader(text), addrs, 1+l.Intn(4096)/(1+l.Intn(100)))
		if read < len(text) {
			early++
		}
		for _, addr := range addrs {
			want := all.at(addr)
			if name, ok := got[addr]; !ok || name != want {
				t.Fatalf("seed %d, %#x: found %q, %v; the whole list has %q", seed, addr, name, ok, want)
			}
			if want != "" {
				named++
			}
		}
	}
	if named < 3000 || early < 50 {
		t.Errorf("the test is not worth much: %d names, %d lists not read to the end", named, early)
	}
}

// TestKsymFinderReal tests that each name found is that of the whole list, with the kernel's.
func TestKsymFinderReal(t *testing.T) {
	all := kernelList(t)
	r := rand.New(rand.NewSource(1))
	first, last := all.syms[0].addr, all.syms[len(all.syms)-1].addr
	addrs := []uint64{0, 1 << 63, first - 1, first, last - 1, last, last + 1, ^uint64(4096)}
	for range 2000 {
		s := r.Intn(len(all.syms) - 1)
		addrs = append(addrs, all.syms[s].addr, all.syms[s+1].addr-1, all.syms[s].addr+uint64(r.Intn(1<<12)))
	}
	namer, read := newNamer(kernelNames.open)
	namer.want(wantKernel(addrs...))
	for _, addr := range addrs {
		if got, want := namer.at(addr), all.at(addr); got != want {
			t.Errorf("%#x: %q, want %q", addr, got, want)
		}
	}
	if read.times != 1 || namer.all != nil {
		t.Errorf("the list was read %d times, and whole: %v", read.times, namer.all != nil)
	}
}

// TestKsymFinderEarly tests that no more is read than one buffer's worth behind the
// function after the last wanted one, and when there may be a nearer one, the whole list.
func TestKsymFinderEarly(t *testing.T) {
	const n, size = 100000, 32
	var text strings.Builder
	for i := range n {
		hole := uint64(0)
		if i >= n/2 {
			hole = ksymRoom
		}
		fmt.Fprintf(&text, "%016x t %012d\n", 0xffffffff81000000+0x10*uint64(i)+hole, i)
	}
	text.WriteString("ffffffffc0000010 t b\t[m]\nffffffffc0000000 t a\t[m]\n")
	at := func(i int) uint64 { return 0xffffffff81000008 + 0x10*uint64(i) }
	for _, test := range []struct {
		addrs []uint64
		read  int // lines; 0 for all
	}{
		{[]uint64{at(0)}, 2},
		{[]uint64{at(5), at(4), at(5) + 1}, 7},
		{[]uint64{at(1000), at(30000)}, 30002},
		{[]uint64{at(n/2 - 1)}, 0},               // a module may be in the hole behind it
		{[]uint64{at(0) - 0x10, at(0)}, 0},       // before the first one
		{[]uint64{at(n/2) + ksymRoom}, n/2 + 2},  // behind the hole
		{[]uint64{at(0), 0xffffffffc0000008}, 0}, // in a module
		{[]uint64{at(0), at(n-1) + ksymRoom}, 0}, // the last one of the kernel's own
		{[]uint64{at(n-2) + ksymRoom}, n},        // the one before
		{[]uint64{at(0), 0xffffffffffff0000}, 0}, // behind all
	} {
		names, read := findKsyms(strings.NewReader(text.String()), test.addrs, 4096)
		if len(names) != len(test.addrs) {
			t.Errorf("%#x: %d names", test.addrs, len(names))
		}
		least := test.read * size
		if most := least + 8<<10; test.read == 0 && read != text.Len() || test.read != 0 && (read < least || read > most) {
			t.Errorf("%#x: read %d bytes of %d, want %d to %d", test.addrs, read, text.Len(), least, most)
		}
	}
}

// TestKsymFinderSkip tests that of a page without a wanted function only the end is looked
// at, and no more than that of a page of data.
func TestKsymFinderSkip(t *testing.T) {
	const n, line = 50000, 32
	for _, types := range []string{"t", "tttD", "tD"} {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "%016x %c %012d\n", 0xffffffff81000000+0x10*uint64(i), types[i%len(types)], i)
		}
		looked := 0
		f := newKsymFinder(wantKernel(0xffffffff81000000 + 0x10*(n-8)))
		eachKsym(&countingReader{r: strings.NewReader(text.String()), page: 4096}, f.skip, func(addr uint64, name []byte, core bool) bool {
			looked++
			return f.function(addr, name, core)
		})
		if most := n*line/4096*2 + 4096/line; looked > most {
			t.Errorf("lines of types %q: looked at %d functions, want %d at most", types, looked, most)
		}
		if name := f.names()[0xffffffff81000000+0x10*(n-8)]; name != fmt.Sprintf("%012d", n-8) {
			t.Errorf("lines of types %q: found %q", types, name)
		}
	}
}

// TestKsymFinderAllocs tests that what is not wanted takes no memory.
func TestKsymFinderAllocs(t *testing.T) {
	allocs := func(lines int) float64 {
		var text strings.Builder
		for i := range lines {
			fmt.Fprintf(&text, "%016x t function%d\n", 0xffffffff81000000+0x10*uint64(i), i)
		}
		r := strings.NewReader(text.String())
		return testing.AllocsPerRun(10, func() {
			r.Seek(0, io.SeekStart)
			f := newKsymFinder(wantKernel(0xffffffff81000010, 0xffffffff81000021, 0xffffffff81000022, 0xffffffffff000000))
			f.find(r)
			if len(f.addrs) != len(f.names()) {
				t.Error("not all addresses are known")
			}
		})
	}
	if few, many := allocs(10), allocs(50000); many > few+2 { // of the buffer for a name
		t.Errorf("%v allocations with 50000 functions, %v with 10", many, few)
	}
}

// TestKernelNamer tests how often the list is read, and what is kept of it.
func TestKernelNamer(t *testing.T) {
	const list = "ffffffff81000000 T a\nffffffff81000010 T b\nffffffff81000020 T c\n"
	open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(list)), nil }
	want := func(k *kernelNamer, addrs ...uint64) { k.want(wantKernel(addrs...)) }
	check := func(what string, k *kernelNamer, r *readList, times int, whole bool, names ...string) {
		t.Helper()
		for i, name := range names {
			if got := k.at(0xffffffff81000000 + 0x10*uint64(i)); got != name {
				t.Errorf("%s: %q, want %q", what, got, name)
			}
		}
		if r.times != times || (k.all != nil) != whole {
			t.Errorf("%s: read %d times, want %d; kept whole: %v", what, r.times, times, k.all != nil)
		}
	}
	k, r := newNamer(open)
	check("nothing", k, r, 0, false)
	want(k, 0xffffffff81000000)
	check("a first profile", k, r, 1, false, "a")
	want(k, 0xffffffff81000000)
	check("another with the same function", k, r, 1, false, "a")
	want(k, 0xffffffff81000000, 0xffffffff81000010)
	check("one with another function", k, r, 2, true, "a", "b")
	want(k, 0xffffffff81000020)
	check("more", k, r, 2, true, "a", "b", "")

	k, r = newNamer(open)
	check("a profile written before its end", k, r, 1, true, "a", "b", "")
	want(k, 0xffffffff81000000)
	check("its end", k, r, 1, true, "a")

	// With kernel.kptr_restrict.
	hidden := "0000000000000000 T a\n" + strings.Repeat("0000000000000000 T b\n", 10000)
	k, r = newNamer(func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(hidden)), nil })
	want(k, 0xffffffff81000000)
	check("hidden", k, r, 1, false, "")
	check("hidden, too", k, r, 2, true, "", "")
	want(k, 0xffffffff81000010)
	check("always hidden", k, r, 2, true, "", "", "")
	if r.n > 2*4096 {
		t.Errorf("%d bytes were read of lists without addresses", r.n)
	}

	k, r = newNamer(func() (io.ReadCloser, error) { return nil, io.ErrUnexpectedEOF })
	want(k, 0xffffffff81000000)
	check("no list", k, r, 0, true, "", "")
}

// FuzzKsymFinder tests that lists that no kernel writes do no harm.
func FuzzKsymFinder(f *testing.F) {
	f.Add("ffffffff81000010 T b\nffffffff81000000 T a\nffffffff81000020 t c\t[m]\nffffffff81000015 T", uint64(0xffffffff81000010), 5)
	f.Add("ffffffff81000010 T b\n\n\xff\n0000000000000000 T c\n", uint64(0), 4096)
	f.Fuzz(func(t *testing.T, text string, addr uint64, page int) {
		names, read := findKsyms(strings.NewReader(text), []uint64{addr, addr + 7, addr + 1<<40}, max(1, page))
		if len(names) != 3 || read > len(text) {
			t.Errorf("%d names, read %d bytes of %d", len(names), read, len(text))
		}
		for _, name := range names {
			if !strings.Contains(text, name) {
				t.Errorf("%q is no name in the list", name)
			}
		}
	})
}
