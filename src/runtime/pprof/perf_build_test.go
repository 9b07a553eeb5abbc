// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"fmt"
	"internal/abi"
	"internal/perfevent"
	"internal/profile"
	"internal/runtime/pprof/label"
	"io"
	"maps"
	"math/rand"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

// buildProfile returns a profile of the given number of events, which are not sampled.
func buildProfile(w io.Writer, events int) *perfProfile {
	s := new(perfSession)
	p := &perfProfile{w: w}
	for i := range events {
		name := fmt.Sprintf("event%d", i)
		p.events = append(p.events, &perfEvent{
			Event:   &perfevent.Event{Name: name, Type: name, Unit: "count", Attrs: make([]perfevent.PMUAttr, 1)},
			session: s,
			profile: p,
			column:  1 + i,
			period:  uint64(10 + i),
		})
	}
	p.begin()
	return p
}

// buildText returns the limits of the program's Go functions.
func buildText() (lo, hi uintptr) {
	lo = abi.FuncPCABIInternal(buildText) &^ 4095
	hi = lo
	for runtime.FuncForPC(lo-4096) != nil {
		lo -= 4096
	}
	for runtime.FuncForPC(hi+4096) != nil {
		hi += 4096
	}
	return lo, hi
}

// buildPCs returns n return addresses in the program's Go functions.
func buildPCs(r *rand.Rand, n int) (pcs []uintptr) {
	lo, hi := buildText()
	for len(pcs) < n {
		pc := lo + uintptr(r.Int63n(int64(hi-lo)))&^15 + 4
		if inGo, _ := runtime_perfInFunc(pc - 1); inGo {
			pcs = append(pcs, pc)
		}
	}
	return pcs
}

// buildPseudo returns addresses in functions that are in profiles for their names.
var buildPseudo = sync.OnceValue(func() (pcs []uintptr) {
	lo, hi := buildText()
	for pc := lo; pc < hi; pc += 16 {
		f := runtime.FuncForPC(pc)
		if f == nil || f.Entry() != pc {
			continue
		}
		if name := f.Name(); strings.HasPrefix(name, "runtime._") || name == "runtime.goexit" {
			pcs = append(pcs, pc+1)
		}
	}
	return pcs
})

// A buildProgram makes up stacks as a program has them: one shares its callers with the
// one before.
type buildProgram struct {
	r    *rand.Rand
	text []uintptr
	stk  []int // indices in text, outermost first
}

// next returns the next stack, as the runtime records it.
func (p *buildProgram) next() []uint64 {
	p.stk = p.stk[:max(0, len(p.stk)-1-p.r.Intn(8))]
	for grow := 1 + p.r.Intn(8); len(p.stk) < 10 || grow > 0 && len(p.stk) < 64; grow-- {
		caller := 0
		if len(p.stk) > 0 {
			caller = p.stk[len(p.stk)-1]
		}
		p.stk = append(p.stk, (3*caller+1+p.r.Intn(3))%len(p.text)) // one of three callees
	}
	rec := []uint64{0}
	for i := range p.stk {
		rec = append(rec, uint64(p.text[p.stk[len(p.stk)-1-i]]))
	}
	return rec
}

// buildRecord appends a record of the runtime's buffer.
func buildRecord(data, stk []uint64, samples, events uint64) []uint64 {
	data = append(data, uint64(5+len(stk)), 0, samples, events, 0)
	return append(data, stk...)
}

type buildT struct{}

// M is called through a wrapper, where the receiver is a pointer.
func (buildT) M() {}

// buildFrames returns return addresses: of callers, of functions with inlined calls,
// of runtime.gopanic, of a wrapper, and one that isn't Go's.
func buildFrames() (pcs []uintptr) {
	defer func() {
		recover()
		buf := make([]uintptr, 100)
		pcs = append(pcs, buf[:runtime.Callers(0, buf)]...)
		pcs = append(pcs, reflect.ValueOf((*buildT).M).Pointer()+1, 1)
	}()
	panic("for runtime.gopanic")
}

// buildStacks returns random stacks of all kinds that the runtime records, with some of
// each several times.
func buildStacks(r *rand.Rand, n int) (stks [][]uint64) {
	prog := &buildProgram{r: r, text: buildPCs(r, 300)}
	frames, pseudo := buildFrames(), buildPseudo()
	for range n {
		stk := prog.next()
		switch r.Intn(10) {
		case 0: // again
			if len(stks) > 0 {
				stk = stks[r.Intn(len(stks))]
			}
		case 1: // only calls
			stk = buildCalls(stk)
			fallthrough
		case 2: // in the kernel
			ip := ^uint64(0) - uint64(r.Intn(4096))
			if unsafe.Sizeof(uintptr(0)) == 8 && r.Intn(2) == 0 {
				ip = 0xffffffff81000000 + uint64(r.Intn(1<<20))
			}
			stk = slices.Insert(slices.Clone(stk), 1, ip)
		case 3: // in C, with any callers
			stk = slices.Insert(slices.Clone(stk), 1+r.Intn(len(stk)), 1+uint64(r.Intn(3)))
		case 4:
			stk = []uint64{0, uint64(pseudo[r.Intn(len(pseudo))]), uint64(prog.text[r.Intn(len(prog.text))])}[:2+r.Intn(2)]
		case 5: // panics and wrappers
			stk = make([]uint64, 1+r.Intn(8))
			for i := range stk[1:] {
				stk[1+i] = uint64(frames[r.Intn(len(frames))])
			}
			if r.Intn(3) == 0 {
				stk = buildCalls(stk)
			}
		case 6: // any call, also as a leaf, where inlined ones have addresses of their own
			stk = buildCalls(stk)
			stk = slices.Delete(stk, 1, 1+r.Intn(len(stk)))
		}
		stks = append(stks, stk)
	}
	return stks
}

// buildCalls returns the calls of a stack, of which those beyond 64 are cut off.
func buildCalls(stk []uint64) []uint64 {
	calls := []uint64{^uint64(0)}
	for _, pc := range buildExpand(stk) {
		calls = append(calls, uint64(pc))
	}
	return calls[:min(len(calls), 65)]
}

// buildExpand has the runtime expand a stack as a whole.
func buildExpand(stk []uint64) []uintptr {
	var pcs []uintptr
	for _, pc := range stk {
		pcs = append(pcs, uintptr(pc))
	}
	buf := make([]uintptr, 1<<12)
	return buf[:pprof_fpunwindExpand(buf, pcs)]
}

// A buildSample is what a record says.
type buildSample struct {
	event           int
	stk             []uint64
	tag             unsafe.Pointer
	samples, events uint64
}

// buildSamples returns random samples of the events.
func buildSamples(r *rand.Rand, n, events int) (samples []buildSample) {
	tags := []unsafe.Pointer{nil}
	for i := range 20 {
		l := Labels("i", fmt.Sprint(i/2), "key", "value") // two that are the same
		if i == 0 {
			l = Labels()
		}
		tags = append(tags, unsafe.Pointer(&labelMap{label.Set{List: l.list}}))
	}
	for _, stk := range buildStacks(r, n) {
		samples = append(samples, buildSample{r.Intn(events), stk, tags[r.Intn(len(tags))], 1, uint64(1 + r.Intn(1000))})
	}
	return samples
}

// buildAdd adds the samples to p, some at a time.
func buildAdd(t *testing.T, p *perfProfile, r *rand.Rand, samples []buildSample) {
	t.Helper()
	for len(samples) > 0 {
		var data []uint64
		var tags []unsafe.Pointer
		n := 0
		for stop := 1 + r.Intn(10); n < min(stop, len(samples)) && samples[n].event == samples[0].event; n++ {
			s := &samples[n]
			data = buildRecord(data, s.stk, s.samples, s.events)
			tags = append(tags, s.tag)
		}
		if err := p.add(p.events[samples[0].event], data, tags); err != nil {
			t.Fatal(err)
		}
		samples = samples[n:]
	}
}

// buildReference returns the profile of the samples as upstream's builder makes it, with
// stacks that were expanded as a whole.
func buildReference(events int, samples []buildSample) []byte {
	var buf bytes.Buffer
	p := buildProfile(&buf, events)
	for i := range samples {
		s := &samples[i]
		values := make([]int64, 1+events)
		if s.event == 0 {
			values[0] = int64(s.samples)
		}
		values[1+s.event] = int64(s.events)
		var labels func()
		if s.tag != nil {
			labels = func() {
				for _, l := range (*labelMap)(s.tag).Set.List {
					p.b.pbLabel(tagSample_Label, l.Key, l.Value, 0)
				}
			}
		}
		p.b.pbSample(values, p.b.appendLocsForStack(nil, buildExpand(s.stk)), labels)
	}
	p.b.build()
	return buf.Bytes()
}

// A buildResult is a profile as text, for comparisons: IDs and the order of what is in
// a profile mean nothing, and samples that differ only in their values are added.
type buildResult struct {
	samples   map[string][]int64
	locations map[string]int
	functions map[string]int
	rest      string
}

func newBuildResult(t *testing.T, data []byte) *buildResult {
	t.Helper()
	p, err := profile.Parse(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	r := &buildResult{make(map[string][]int64), make(map[string]int), make(map[string]int), ""}
	location := func(l *profile.Location) string {
		s := fmt.Sprintf("%#x", l.Address)
		if l.Mapping != nil {
			s += fmt.Sprintf(" in %#x", l.Mapping.Start)
		}
		for _, line := range l.Line {
			s += fmt.Sprintf(" %s:%d", line.Function.Name, line.Line)
		}
		return s + "\n"
	}
	for _, s := range p.Sample {
		k := fmt.Sprintln(s.Label, s.NumLabel)
		for _, l := range s.Location {
			k += location(l)
		}
		if r.samples[k] == nil {
			r.samples[k] = make([]int64, len(s.Value))
		}
		for i, v := range s.Value {
			r.samples[k][i] += v
		}
	}
	for _, l := range p.Location {
		r.locations[location(l)]++
	}
	for _, f := range p.Function {
		r.functions[fmt.Sprintln(f.Name, f.SystemName, f.Filename, f.StartLine)]++
	}
	for _, m := range p.Mapping {
		m.ID = 0
		r.rest += fmt.Sprintln(*m)
	}
	for _, t := range append(p.SampleType, p.PeriodType) {
		r.rest += fmt.Sprintln(*t)
	}
	r.rest += fmt.Sprintln(p.Period, p.DefaultSampleType, p.Comments)
	return r
}

// check compares r with what is wanted.
func (r *buildResult) check(t *testing.T, want *buildResult) {
	t.Helper()
	if !maps.EqualFunc(r.samples, want.samples, slices.Equal[[]int64]) {
		for k, v := range want.samples {
			if !slices.Equal(r.samples[k], v) {
				t.Errorf("sample %s has %d, want %d", k, r.samples[k], v)
				break
			}
		}
		for k, v := range r.samples {
			if want.samples[k] == nil {
				t.Errorf("sample %s has %d, want none", k, v)
				break
			}
		}
	}
	for _, m := range []struct{ got, want map[string]int }{{r.locations, want.locations}, {r.functions, want.functions}} {
		for k := range maps.Keys(m.got) {
			if m.got[k] != m.want[k] {
				t.Errorf("%d of %s, want %d", m.got[k], k, m.want[k])
			}
		}
		if len(m.got) != len(m.want) {
			t.Errorf("%d, want %d", len(m.got), len(m.want))
		}
	}
	if r.rest != want.rest {
		t.Errorf("got\n%swant\n%s", r.rest, want.rest)
	}
}

// TestPerfBuild tests that a profile of any stacks is what upstream's builder makes of
// them, also if stacks are forgotten, and if frames depend on each other.
func TestPerfBuild(t *testing.T) {
	seeds := int64(4)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		r := rand.New(rand.NewSource(seed))
		events := 1 + int(seed)%3
		samples := buildSamples(r, 1500, events)
		want := newBuildResult(t, buildReference(events, samples))
		for _, tt := range []struct {
			name    string
			limit   int // of chunks
			special bool
		}{
			{"all known", stacksChunks, false},
			{"forgotten", 2, false},
			{"special", stacksChunks, true},
		} {
			t.Run(fmt.Sprint(tt.name, seed), func(t *testing.T) {
				var buf bytes.Buffer
				p := buildProfile(&buf, events)
				if p.stacks.limit = tt.limit; tt.limit == 2 {
					p.maxStrings = 20
				}
				if tt.special {
					for _, s := range samples[:100] {
						for _, pc := range s.stk[1:] {
							if _, ok := p.locator.find(uintptr(pc), roleFrame); !ok {
								p.locator.learn(perfLocEntry{pc: uintptr(pc), role: roleFrame, special: true})
							}
						}
					}
				}
				buildAdd(t, p, r, samples)
				if old := p.written[1] != 0; old != (tt.limit == 2) || old != (p.b.stringBase > 0) {
					t.Errorf("stacks were forgotten: %v; %d strings", old, p.b.stringBase)
				}
				p.end()
				newBuildResult(t, buf.Bytes()).check(t, want)
			})
		}
	}
}

// TestPerfBuildOnce tests that a stack that comes again is the same sample, if it has the
// same tag, and that its records may come from several events.
func TestPerfBuildOnce(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	samples := buildSamples(r, 2000, 2)
	var buf bytes.Buffer
	p := buildProfile(&buf, 2)
	type key struct {
		stk string
		tag unsafe.Pointer
	}
	want := make(map[key]bool)
	for range 3 {
		buildAdd(t, p, r, samples)
	}
	for _, s := range samples {
		want[key{fmt.Sprint(s.stk), s.tag}] = true
	}
	p.end()
	got, err := profile.Parse(&buf)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Sample) != len(want) {
		t.Errorf("%d samples, want %d", len(got.Sample), len(want))
	}
}

// TestPerfBuildScale tests that counts are scaled, also of samples that were written
// before the factor was known.
func TestPerfBuildScale(t *testing.T) {
	for _, limit := range []int{2, stacksChunks} {
		r := rand.New(rand.NewSource(1))
		samples := buildSamples(r, 1500, 2)
		var buf bytes.Buffer
		p := buildProfile(&buf, 2)
		p.stacks.limit = limit
		buildAdd(t, p, r, samples)
		p.scale(p.events[0], 1)
		p.scale(p.events[1], 1.5)
		p.end()
		var want, sum [3]float64
		for _, s := range samples {
			if s.event == 0 {
				want[0] += float64(s.samples)
			}
			want[1+s.event] += float64(s.events) * []float64{1, 1.5}[s.event]
		}
		got, err := profile.Parse(&buf)
		if err != nil {
			t.Fatal(err)
		}
		late := false
		for _, s := range got.Sample {
			for i, v := range s.Value {
				sum[i] += float64(v)
			}
			late = late || len(s.Location) > 0 && s.Location[0].Line[0].Function.Name == "runtime/pprof.scaleProfileEvent"
		}
		if late != (limit == 2) {
			t.Errorf("limit %d: there is a stack for what was written before: %v", limit, late)
		}
		if slack := float64(len(samples)) / 2; sum[0] != want[0] || sum[1] != want[1] || sum[2] < want[2]-slack || sum[2] > want[2]+slack {
			t.Errorf("limit %d: sums %v, want %v", limit, sum, want)
		}
	}
}

// TestPerfBuildLost tests that samples that were lost in the buffer have a stack of their
// own, which stands for the events that no other sample stands for: less than none here,
// as no counter has counted the others.
func TestPerfBuildLost(t *testing.T) {
	for _, limit := range []int{1, stacksChunks} {
		r := rand.New(rand.NewSource(1))
		samples := buildSamples(r, 1000, 1)
		var buf bytes.Buffer
		p := buildProfile(&buf, 1)
		p.stacks.limit = limit
		data := buildRecord(nil, []uint64{5}, 0, 0)
		tag := samples[slices.IndexFunc(samples, func(s buildSample) bool { return s.tag != nil })].tag
		p.add(p.events[0], data, []unsafe.Pointer{tag})
		buildAdd(t, p, r, samples)
		p.add(p.events[0], data, []unsafe.Pointer{nil})
		p.end()
		got, err := profile.Parse(&buf)
		if err != nil {
			t.Fatal(err)
		}
		var lost, all [2]int64
		for _, s := range got.Sample {
			for i, v := range s.Value {
				all[i] += v
				if len(s.Location) == 1 && s.Location[0].Line[0].Function.Name == "runtime/pprof.lostProfileEvent" && len(s.Label) == 0 && s.Value[0] != 1 {
					lost[i] += v
				}
			}
		}
		if want := [2]int64{int64(len(samples)) + 10, 0}; all != want || lost[0] != 10 || lost[1] >= 0 || p.events[0].lostBuffer != 10 {
			t.Errorf("limit %d: %d samples and events, want %d; %d and %d of them lost", limit, all, want, lost[0], lost[1])
		}
	}
}

// TestPerfBuildErrors tests records that the runtime does not produce.
func TestPerfBuildErrors(t *testing.T) {
	p := buildProfile(io.Discard, 1)
	tag := make([]unsafe.Pointer, 2)
	for _, tt := range []struct {
		data []uint64
		tags []unsafe.Pointer
		want string
	}{
		{[]uint64{5, 0, 1, 0}, tag[:1], "truncated profile"},
		{[]uint64{4, 0, 1, 1, 0}, tag[:1], "truncated profile"},
		{[]uint64{7, 0, 1, 1, 0, 0}, tag[:1], "truncated profile"},
		{[]uint64{6, 0, 1, 1, 0, 0}, nil, "mismatched profile records and tags"},
		{[]uint64{6, 0, 1, 1, 0, 0}, tag, "mismatched profile records and tags"},
	} {
		if err := p.add(p.events[0], tt.data, tt.tags); err == nil || err.Error() != tt.want {
			t.Errorf("%d: %v, want %s", tt.data, err, tt.want)
		}
	}
}

// buildDistinct returns the i-th of very many stacks of 40 frames.
func buildDistinct(stk []uint64, text []uintptr, i int) []uint64 {
	stk = append(stk[:0], 0)
	for range 40 {
		stk = append(stk, uint64(text[i%len(text)]))
		i /= len(text)
	}
	return stk
}

// TestPerfBuildBound tests that a profile of very many stacks, each with a label of its
// own, takes the memory that it may. What it has allocated in all is an upper bound of
// that: memory that is not used again would show there, even if it was freed.
func TestPerfBuildBound(t *testing.T) {
	n := 300000
	if testing.Short() {
		n = 60000
	}
	text := buildPCs(rand.New(rand.NewSource(1)), 64)
	feed := func(p *perfProfile, first, n int, tag func(i int) unsafe.Pointer) {
		var data, stk []uint64
		tags := make([]unsafe.Pointer, 1)
		for i := range n {
			stk = buildDistinct(stk, text, first+i)
			data = buildRecord(data[:0], stk, 1, 10)
			tags[0] = tag(i)
			if err := p.add(p.events[0], data, tags); err != nil {
				t.Fatal(err)
			}
		}
	}
	var before, after runtime.MemStats

	p := buildProfile(io.Discard, 1)
	feed(p, 0, 1000, func(int) unsafe.Pointer { return nil }) // it knows the locations
	runtime.ReadMemStats(&before)
	feed(p, 1000, n, func(int) unsafe.Pointer { return nil })
	p.end()
	runtime.ReadMemStats(&after)
	// The chunks, and indices up to that of 46,000 stacks.
	const bound = 8*stacksChunk*stacksChunks + 4<<20
	if got := after.TotalAlloc - before.TotalAlloc; got > bound {
		t.Errorf("%d stacks took %d bytes, want at most %d", n, got, bound)
	} else {
		t.Logf("%d stacks took %d bytes", n, got)
	}
	if got := p.written[0]; got != uint64(1000+n) {
		t.Errorf("%d samples were written, want %d", got, 1000+n)
	}

	// Labels are not the profile's, but it must not keep them. With few chunks, they
	// would be nearly all that is there.
	p = buildProfile(io.Discard, 1)
	p.stacks.limit = 4
	request := func(i int) unsafe.Pointer {
		return unsafe.Pointer(&labelMap{label.Set{List: Labels("request", fmt.Sprint(i)).list}})
	}
	feed(p, 0, 1000, request)
	runtime.GC()
	runtime.ReadMemStats(&before)
	feed(p, 1000, n, request)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if got := int64(after.HeapAlloc) - int64(before.HeapAlloc); got > 12<<20 {
		t.Errorf("after %d labels, %d bytes more are in use", n, got)
	} else {
		t.Logf("after %d labels, %d bytes more are in use", n, got)
	}
	p.end()
	runtime.KeepAlive(p)
}

// BenchmarkPerfBuild measures what it costs to make a profile of samples that have been
// read. One operation is a profile: of nothing, of 4096 stacks of 256 addresses, of the
// same twice, and of 4096 addresses in 256 stacks.
func BenchmarkPerfBuild(b *testing.B) {
	for _, bm := range []struct {
		name                    string
		addresses, stacks, reps int
	}{
		{"nothing", 1, 0, 0},
		{"stacks", 256, 4096, 1},
		{"again", 256, 4096, 2},
		{"addresses", 4096, 256, 1},
	} {
		b.Run(bm.name, func(b *testing.B) {
			r := rand.New(rand.NewSource(1))
			prog := &buildProgram{r: r, text: buildPCs(r, bm.addresses)}
			var data []uint64
			for range bm.stacks {
				data = buildRecord(data, prog.next(), 1, 10)
			}
			tags := make([]unsafe.Pointer, bm.stacks)
			b.ReportAllocs()
			for b.Loop() {
				p := buildProfile(io.Discard, 1)
				for range bm.reps {
					if err := p.add(p.events[0], data, tags); err != nil {
						b.Fatal(err)
					}
				}
				p.end()
			}
		})
	}
}
