// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package linescmd

import (
	"bytes"
	"cmd/pmu/internal/prof"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

type counters struct{ hits, misses int64 }

type paddedCounters struct {
	hits   int64
	_      [56]byte
	misses int64
}

//go:noinline
func newCounters() *counters { return new(counters) }

//go:noinline
func newPadded() *paddedCounters { return new(paddedCounters) }

//go:noinline
func addHits(p *int64, n int) {
	for i := 0; i < n; i++ {
		*p++
	}
}

//go:noinline
func addMisses(p *int64, n int) {
	for i := 0; i < n; i++ {
		*p++
	}
}

// TestCounters tests that two counters in a line, each with a goroutine that adds to it, are
// found, with both places and both functions, and that nothing is found if they are apart.
func TestCounters(t *testing.T) {
	// Only these objects, so that nothing changes in their spans while they are accessed; see
	// perfSpanLook in package runtime.
	rate := runtime.MemProfileRate
	runtime.MemProfileRate = 1
	near, far := newCounters(), newPadded()
	runtime.MemProfileRate = rate
	for _, tt := range []struct {
		name         string
		hits, misses *int64
		want         []string
	}{
		{"one line", &near.hits, &near.misses, []string{
			"false sharing, 5000 accesses", "3000  cmd/pmu/internal/linescmd.newCounters", ", offset 0, at 0x", "in cmd/pmu/internal/linescmd.addHits",
			"2000  cmd/pmu/internal/linescmd.newCounters", ", or behind it, offset 8, at 0x", "in cmd/pmu/internal/linescmd.addMisses"}},
		{"two lines", &far.hits, &far.misses, []string{"no false sharing"}},
	} {
		event := func(p *int64) string { return fmt.Sprintf("mem:%#x/8:w", uintptr(unsafe.Pointer(p))) }
		var buf bytes.Buffer
		s, err := pprof.StartSession(pprof.DataAddresses(pprof.PerfEvents(&buf, 1, event(tt.hits), event(tt.misses))))
		if err != nil {
			if strings.Contains(os.Getenv("PMU_TEST_REQUIRE"), "breakpoints") {
				t.Fatal(err)
			}
			t.Skip(err)
		}
		var wg sync.WaitGroup
		wg.Add(2)
		go func() { defer wg.Done(); addHits(tt.hits, 3000) }()
		go func() { defer wg.Done(); addMisses(tt.misses, 2000) }()
		wg.Wait()
		s.Stop()
		p, err := prof.Read(&buf)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := find(p, 10)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		report(&out, lines, false)
		testLabels(t, p, lines)
		rest := out.String()
		for _, part := range tt.want {
			_, after, ok := strings.Cut(rest, part)
			if !ok {
				t.Fatalf("%s: no %q in its place:\n%s", tt.name, part, &out)
			}
			rest = after
		}
	}
}

// testLabels tests that the profile can be written with the places of a falsely shared line in
// a label, and is the same otherwise.
func testLabels(t *testing.T, p *prof.File, lines []*line) {
	var out bytes.Buffer
	value := sharing(p, lines)
	if err := p.WriteLabeled(&out, "sharing", value); err != nil {
		t.Fatal(err)
	}
	labeled, err := prof.Read(&out)
	if err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	for i, s := range labeled.Sample {
		got := labelsOf(s)["sharing"]
		if got != value(i) {
			t.Errorf("sample %d has %q, want %q", i, got, value(i))
		}
		if got != "" {
			n += s.Value[1] + s.Value[2] // of the two events
			if a, b, ok := strings.Cut(got, " | "); !ok || !strings.Contains(a, "linescmd.newCounters") || !strings.Contains(b, "linescmd.newCounters") {
				t.Errorf("sample %d: sharing of %q", i, got)
			}
			delete(s.Label, "sharing")
		}
	}
	if !bytes.Equal(encoded(t, labeled), encoded(t, p)) {
		t.Errorf("there is another difference than the label:\n%s\nwas\n%s", labeled, p)
	}
	want := int64(0)
	for _, ln := range lines {
		if ln.shared {
			want += ln.events
		}
	}
	if n != want {
		t.Errorf("%d samples have the label, want %d", n, want)
	}
}

func encoded(t *testing.T, p *prof.File) []byte {
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
