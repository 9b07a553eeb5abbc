// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"internal/abi"
	"internal/perfevent"
	"internal/profile"
	"internal/runtime/perf"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// dataWords returns what the runtime writes before a stack; see perf.DataWords.
func dataWords(place perf.MemKind, cpu uint64, addr, base, size uint64, typ any, goid, weight, source uint64) []uint64 {
	w := make([]uint64, perf.DataWords)
	w[perf.DataMark] = perf.DataFollows
	w[perf.DataAddr], w[perf.DataBase], w[perf.DataSize] = addr, base, size
	w[perf.DataType] = uint64((*[2]uintptr)(unsafe.Pointer(&typ))[0])
	w[perf.DataMem] = uint64(place) | cpu<<8
	for i, x := range map[int]uint64{perf.DataGoid: goid, perf.DataWeight: weight, perf.DataSource: source} {
		w[i], w[i+1] = x&(1<<32-1), x>>32
	}
	return w
}

// TestPerfDataBuild tests the labels of samples of each kind, the values of their latencies,
// and that samples without an address are counted.
func TestPerfDataBuild(t *testing.T) {
	type node struct {
		next *node
		x    [2]int64
	}
	const load, store, hitm = 0x2, 0x4, 0x10 << 19 // union perf_mem_data_src
	var buf bytes.Buffer
	p := buildProfile(&buf, 1)
	p.data = &perfData{latencies: 1}
	e := p.events[0]
	e.latency = 2
	p.begin()
	pc := uint64(abi.FuncPCABIInternal(TestPerfDataBuild)) + 8
	samples := []struct {
		data            []uint64
		samples, events uint64
		want            string
	}{
		{dataWords(perf.MemHeap, 3, 0x10050, 0x10000, 960, node{}, 1<<33, 1<<34, load|hitm), 1, 10,
			"access=load address=0x10050 cpu=3 field=x[] goroutine=8589934592 hitm=true object=heap offset=80 size=960 type=pprof.node"},
		{dataWords(perf.MemHeap, 300, 0x10060, 0x10000, 960, node{}, 7, 5, store), 2, 20,
			"access=store address=0x10060 cpu=300 field=next goroutine=7 object=heap offset=96 size=960 type=pprof.node"},
		{dataWords(perf.MemTiny, 0, 0x10068, 0x10060, 0, nil, 7, 0, 0), 1, 10,
			"address=0x10068 cpu=0 goroutine=7 object=heap type=unknown"},
		{dataWords(perf.MemFree, 0, 0x20000, 0, 0, nil, 0, 0, 0), 1, 10, "address=0x20000 cpu=0 object=free heap"},
		{dataWords(perf.MemStack, 0, 0x30000, 0, 0, nil, 7, 0, 0), 1, 10, "address=0x30000 cpu=0 goroutine=7 object=stack"},
		{dataWords(perf.MemNone, 0, 0, 0, 0, nil, 7, 0, 0), 1, 10, "cpu=0 goroutine=7 object=no address"},
		{nil, 4, 40, ""},
	}
	latency := map[string]int64{samples[0].want: 10 << 34, samples[1].want: 100}
	want := make(map[string][]int64)
	for _, s := range samples {
		data := buildRecord(nil, append(s.data, 0, pc), s.samples, s.events)
		if err := p.add(e, data, []unsafe.Pointer{nil}); err != nil {
			t.Fatal(err)
		}
		want[s.want] = []int64{int64(s.samples), int64(s.events), latency[s.want]}
	}
	p.end()
	got, err := profile.Parse(&buf)
	if err != nil {
		t.Fatal(err)
	}
	if v := got.SampleType[2]; v.Type != "latency" || v.Unit != "cycles" {
		t.Errorf("third sample type %v", v)
	}
	values := make(map[string][]int64)
	for _, s := range got.Sample {
		var labels []string
		for k, v := range s.Label {
			labels = append(labels, k+"="+strings.Join(v, ","))
		}
		slices.Sort(labels)
		if n := len(s.Location); n != 1 || s.Location[0].Line[0].Function.Name != "runtime/pprof.TestPerfDataBuild" {
			t.Errorf("%v: stack of %d", labels, n)
		}
		values[strings.Join(labels, " ")] = s.Value
	}
	if !maps.EqualFunc(values, want, slices.Equal) {
		t.Errorf("got %v\nwant %v", values, want)
	}
	if e.noAddress != 5 || !slices.ContainsFunc(e.comments(), func(c string) bool { return strings.HasPrefix(c, "without address: 5 samples") }) {
		t.Errorf("%d samples without an address: %q", e.noAddress, e.comments())
	}
	for _, c := range buildProfile(&buf, 1).events[0].comments() {
		if strings.HasPrefix(c, "without address") {
			t.Errorf("in a profile without data addresses: %q", c)
		}
	}
}

// TestPerfDataLatency tests that each event of the processor has latencies of its own, which
// are scaled as its counts are.
func TestPerfDataLatency(t *testing.T) {
	var buf bytes.Buffer
	p := buildProfile(&buf, 3)
	p.data = &perfData{latencies: 2}
	p.events[0].latency, p.events[2].latency = 4, 5
	p.begin()
	pc := uint64(abi.FuncPCABIInternal(TestPerfDataLatency)) + 8
	for i, e := range p.events {
		stk := append(dataWords(perf.MemStack, 0, 0x30000, 0, 0, nil, 7, 100, 0), 0, pc)
		if err := p.add(e, buildRecord(nil, stk, 1, uint64(10+i)), []unsafe.Pointer{nil}); err != nil {
			t.Fatal(err)
		}
	}
	p.scale(p.events[2], 2)
	p.end()
	got, err := profile.Parse(&buf)
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, v := range got.SampleType {
		types = append(types, v.Type)
	}
	if want := []string{"samples", "event0_ukh", "event1_ukh", "event2_ukh", "event0_ukh_latency", "event2_ukh_latency"}; !slices.Equal(types, want) {
		t.Errorf("types %v, want %v", types, want)
	}
	if want := []int64{1, 10, 11, 24, 1000, 2400}; len(got.Sample) != 1 || !slices.Equal(got.Sample[0].Value, want) {
		t.Errorf("got %v, want one sample with %v", got.Sample, want)
	}
}

// TestPerfDataRefused tests which events have no addresses.
func TestPerfDataRefused(t *testing.T) {
	x86 := runtime.GOARCH == "amd64" || runtime.GOARCH == "386"
	for _, tt := range []struct {
		kind perfevent.Kind
		attr perf.Attr
		has  bool
	}{
		{perfevent.Breakpoint, perf.Attr{Type: perf.TypeBreakpoint, BPType: perf.BreakpointX}, false},
		{perfevent.Breakpoint, perf.Attr{Type: perf.TypeBreakpoint, BPType: perf.BreakpointW}, true},
		{perfevent.Software, perf.Attr{Type: perf.TypeSoftware, Config: perf.SWPageFaults}, true},
		{perfevent.Software, perf.Attr{Type: perf.TypeSoftware, Config: perf.SWMajorFaults}, true},
		{perfevent.Software, perf.Attr{Type: perf.TypeSoftware, Config: perf.SWDummy}, false},
		{perfevent.Clock, perf.Attr{Type: perf.TypeSoftware, Config: perf.SWTaskClock}, false},
		{perfevent.Tracepoint, perf.Attr{Type: perf.TypeTracepoint}, false},
		{perfevent.Raw, perf.Attr{Type: perf.TypeRaw}, false},
		{perfevent.Raw, perf.Attr{Type: perf.TypeRaw, Precise: 2}, x86},
		{perfevent.Raw, perf.Attr{Type: perf.TypeRaw, Precise: perf.PreciseBest}, x86},
	} {
		e := &perfevent.Event{Kind: tt.kind, Attrs: []perfevent.PMUAttr{{Attr: tt.attr}}}
		if why := noAddresses(e); (why == "") != tt.has {
			t.Errorf("%+v: %q", tt.attr, why)
		}
	}
}

// TestPerfDataImprecise tests that an event of the processor is refused if it is not sampled
// precisely, and only that.
func TestPerfDataImprecise(t *testing.T) {
	raw := perf.SampleConfig{Attr: perf.Attr{Type: perf.TypeRaw}}
	data := raw
	data.Data = true
	faults := perf.SampleConfig{Attr: perf.Attr{Type: perf.TypeSoftware, Config: perf.SWPageFaults}, Data: true}
	s := &perfSession{configs: []perf.SampleConfig{faults, raw, data, data}, slots: []*perfEvent{{column: 1}, {column: 2}, {column: 3}, {column: 4}}}
	for _, tt := range []struct {
		precise [4]int8
		want    int // column
	}{
		{[4]int8{0, 0, 1, 3}, 0},
		{[4]int8{0, 0, 1, 0}, 4},
		{[4]int8{0, 0, 0, 3}, 3},
	} {
		got := 0
		if e := s.imprecise(func(slot int) int8 { return tt.precise[slot] }); e != nil {
			got = e.column
		}
		if got != tt.want {
			t.Errorf("%v: event %d, want %d", tt.precise, got, tt.want)
		}
	}
}

// TestPerfDataFields tests the names of fields.
func TestPerfDataFields(t *testing.T) {
	type inner struct {
		a int8
		b int32
	}
	type outer struct {
		x     int64
		none  struct{}
		in    inner
		array [3]inner
		inner
	}
	for _, tt := range []struct {
		v    any
		off  uintptr
		want string
	}{
		{int64(0), 3, ""},
		{outer{}, 0, "x"}, {outer{}, 7, "x"}, {outer{}, 8, "in.a"}, {outer{}, 9, "in"}, {outer{}, 12, "in.b"},
		{outer{}, 16, "array[].a"}, {outer{}, 28, "array[].b"}, {outer{}, 40, "inner.a"},
		{outer{}, unsafe.Sizeof(outer{}) + 4, "x"}, {outer{}, 5*unsafe.Sizeof(outer{}) + 12, "in.b"},
		{[4]int32{}, 8, "[]"}, {struct{}{}, 0, ""},
	} {
		if got := fieldAt(reflect.TypeOf(tt.v), tt.off); got != tt.want {
			t.Errorf("%T at %d: %q, want %q", tt.v, tt.off, got, tt.want)
		}
	}
	for _, v := range []any{outer{}, new(int), "", []string{}} {
		typ := reflect.TypeOf(v)
		if got := typeAt((*[2]uintptr)(unsafe.Pointer(&v))[0]); got != typ {
			t.Errorf("type %v, want %v", got, typ)
		}
	}
}
