// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"bytes"
	"fmt"
	"io"
	"runtime/pprof"
	"testing"
	"time"
)

// typicalTask returns the i-th of some tasks as servers have them: a request with a
// status, two regions, three events and one call; with a timeline, if slow, of 40 waits at 10 places,
// each with a stack of 12 frames, and its waker's.
func typicalTask(s *Server, i int, slow bool) *Record {
	stack := func(n int) (f []Frame) {
		for k := range 12 {
			name := fmt.Sprintf("example.com/shop/internal/order.(*Store).method%d", n%10*12+k)
			f = append(f, Frame{name, fmt.Sprintf("/build/shop/internal/order/file%d.go", k), 100 + k})
		}
		return f
	}
	usage := Usage{Measured: 200_123, Switches: 7, Preemptions: 1, Migrations: 2}
	for p, d := range map[Part]time.Duration{
		pprof.TimeRunning: 210_000, pprof.TimeRunnable: 33_000, pprof.TimeSyscall: 12_345, pprof.TimeNetwork: 812_345, pprof.TimeMutex: 4321,
	} {
		usage.Parts[p] = d + time.Duration(i%1000)
	}
	usage.Count = []pprof.CounterValue{{Value: 812_345 + uint64(i), Enabled: 210_000, Running: 210_000}, {Value: 1_812_345, Enabled: 210_000, Running: 210_000}, {Value: 3, Enabled: 210_000, Running: 210_000}}
	part := usage
	part.Count = usage.Count
	t := &Record{
		Server: s,
		Trace:  TraceID{1, 2, 3, byte(i), byte(i >> 8), 15: 1}, Span: SpanID{1, byte(i)}, Parent: SpanID{2, byte(i)},
		Kind: fmt.Sprintf("GET /order/{id}/%d", i%10), Flags: Sampled | ServerOf,
		Start: s.Start + int64(i)*1e6, Wall: 1_072_009,
		Before: Clock{N: 1, Entry: [MaxClock]ClockEntry{{1, uint32(i)}}},
		After:  Clock{N: 2, Entry: [MaxClock]ClockEntry{{1, uint32(i)}, {s.ID, uint32(2 * i)}}},
		Usage:  usage, Goroutine: uint64(1000 + i), Goroutines: 2,
		Events:  []string{"cycles", "instructions", "page-faults"},
		Regions: []RegionSum{{"decode", 1, 30_000, 30_000, part}, {"db", 3, 800_000, 400_000, part}},
		Notes:   []Note{{"status", "200"}},
		Calls:   []Call{{SpanID{3, byte(i)}, "db", Client, 1000, 800_000, "db.example.com:5432", uint64(1000 + i), uint64(1000 + i)}},
	}
	if slow {
		t.Flags |= Slow
		t.Threshold = 1e6
		t.Usual = &Usual{Tasks: 100, Wall: 500_000, Usage: usage}
		for k := range 40 {
			at := time.Duration(25_000 * k)
			t.Timeline = append(t.Timeline, Stretch{
				Goroutine: t.Goroutine, Start: at, Wake: at + 20_000, End: at + 21_000,
				Part: pprof.TimeMutex, Reason: "sync.Mutex.Lock", Stack: stack(k),
				Waker: Waker{Goroutine: 17, Span: SpanID{byte(k)}, Kind: "flush", Stack: stack(k + 1)},
			})
		}
	}
	return t
}

func typicalTasks(slow bool) (tasks []*Record) {
	s := &Server{ID: 2, Name: "shop", PID: 1234, Start: 1_700_000_000_000_000_000, Events: []string{"cycles", "instructions", "page-faults"}}
	for i := range 100 {
		tasks = append(tasks, typicalTask(s, i, slow))
	}
	return tasks
}

// TestFileSize holds records to a size, with what they are now and some room.
func TestFileSize(t *testing.T) {
	for _, test := range []struct {
		slow bool
		max  int // bytes
	}{{false, 260}, {true, 1400}} {
		tasks := typicalTasks(test.slow)
		file, ends := written(t, nil, tasks...)
		first := ends[0]
		each := (len(file) - first) / (len(tasks) - 1)
		t.Logf("slow=%v: %d bytes with the section's header and strings, then %d per record", test.slow, first, each)
		if each > test.max {
			t.Errorf("slow=%v: %d bytes per record, want at most %d", test.slow, each, test.max)
		}
	}
}

// TestFileAllocs: once its strings are known, writing a record takes no memory.
func TestFileAllocs(t *testing.T) {
	for _, slow := range []bool{false, true} {
		tasks := typicalTasks(slow)
		w := NewFileWriter(io.Discard, nil)
		i := 0
		write := func() {
			w.size = 0 // or a new section begins at times
			if err := w.Write(tasks[i%len(tasks)]); err != nil {
				t.Fatal(err)
			}
			i++
		}
		for range tasks {
			write()
		}
		if n := testing.AllocsPerRun(100, write); n > 0 {
			t.Errorf("slow=%v: %v allocations per record", slow, n)
		}
	}
}

func benchmark(b *testing.B, f func(b *testing.B, tasks []*Record)) {
	b.Run("fast", func(b *testing.B) { f(b, typicalTasks(false)) })
	b.Run("slow", func(b *testing.B) { f(b, typicalTasks(true)) })
}

func BenchmarkWrite(b *testing.B) {
	benchmark(b, func(b *testing.B, tasks []*Record) {
		b.ReportAllocs()
		w := NewFileWriter(io.Discard, nil)
		for i := 0; b.Loop(); i++ {
			if err := w.Write(tasks[i%len(tasks)]); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	benchmark(b, func(b *testing.B, tasks []*Record) {
		b.ReportAllocs()
		file, _ := written(b, nil, tasks...)
		var r *FileReader
		for i := 0; b.Loop(); i++ {
			if i%len(tasks) == 0 {
				r = NewFileReader(bytes.NewReader(file))
			}
			if _, err := r.Next(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkAppendJSON(b *testing.B) {
	benchmark(b, func(b *testing.B, tasks []*Record) {
		b.ReportAllocs()
		var line []byte
		for i := 0; b.Loop(); i++ {
			line = AppendJSON(line[:0], tasks[i%len(tasks)])
		}
		b.ReportMetric(float64(len(line)), "bytes/line")
	})
}
