// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux

package whycmd

import (
	"bufio"
	"fmt"
	"internal/taskrecord"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"testing"
	"time"
)

// This file makes the lines of JSON that the SQL of why -sql is tested with.

// writeRequests writes n lines of a table in which causes, decoys, parents and children are
// planted, and events that are recorded in some requests only. Latencies are multiples of grain,
// so that many are alike.
func writeRequests(t *testing.T, n int, grain float64, twice bool) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "requests.json")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	r := rand.New(rand.NewPCG(5, 6))
	hit := func(part float64) bool { return r.Float64() < part }
	for i := range n {
		latency := 10 * math.Exp(r.NormFloat64()*0.1)
		cell := func(name string, v float64) {
			fmt.Fprintf(w, `,%q:%s`, name, strconv.FormatFloat(v, 'g', -1, 64))
		}
		cause := func(part, ms float64) float64 {
			v := r.Float64()
			if hit(part) {
				v += ms
				latency += ms
			}
			return v
		}
		// What causes delay, and what follows it by the rules.
		mutex, disk, dns, size := cause(0.012, 40), cause(0.02, 25), cause(0.004, 80), cause(0.008, 30)
		instructions := 1e6 + 1e4*r.NormFloat64()
		if hit(0.01) {
			instructions *= 8
			latency += 35
		}
		misses := instructions / 1e4 * (1 + 0.1*r.Float64())
		if hit(0.003) {
			misses *= 20
			latency += 15
		}
		cycles := instructions*1.3 + misses*2000 + 1e5*r.Float64()
		sampled := cause(0.02, 20) // recorded in 5 % at random
		slow := r.Float64()        // recorded in slow requests, mostly
		if latency > 30 && hit(0.3) {
			slow += 5
			latency += 12
		}
		latency = grain * math.Round(latency/grain)
		switch null := i%1000 == 999; {
		case null && twice:
			fmt.Fprintf(w, `{"latency":%v,"latency":null`, latency)
		case null:
			fmt.Fprintf(w, `{"latency":null`)
		default:
			fmt.Fprintf(w, `{"latency":%v`, latency)
		}
		cell("mutex", math.Round(mutex*1000)/1000)
		cell("disk", math.Round(disk*1000)/1000)
		cell("dns 'quoted' \\ ; --", dns)
		fmt.Fprintf(w, `,"request":{"size":%v,"first":%v}`, math.Round(size*100), hit(0.1))
		cell("instructions", math.Round(instructions))
		cell("branches", math.Round(instructions/5))
		cell("cache-misses", math.Round(misses))
		cell("cycles", math.Round(cycles))
		cell("echo", math.Round((mutex+0.1*r.Float64())*1000)/1000) // with mutex
		if hit(0.05) {
			cell("sampled", sampled)
		}
		if latency > 20 && hit(0.8) || hit(0.02) {
			cell("slow only", slow)
		}
		if hit(0.9) {
			fmt.Fprintf(w, `,"text":"%v"`, r.IntN(30))
		}
		if hit(0.5) {
			cell("half", cause(0, 0))
		}
		if hit(0.0005) {
			cell("rare", 1)
		}
		cell("constant", 7)
		for d := range 4 {
			v := r.Float64()
			if hit(0.01) {
				v += 10
			}
			cell(fmt.Sprintf("decoy%d", d), math.Round(v*100)/100)
		}
		fmt.Fprintf(w, `,"server":"s%d","kind":"%s"}`+"\n", r.IntN(5), []string{"a", "a", "a", "b's"}[r.IntN(4)])
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return name
}

// writeTasks writes n records of tasks.
func writeTasks(t *testing.T, n int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "tasks.json")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	r := rand.New(rand.NewPCG(7, 8))
	hit := func(part float64) bool { return r.Float64() < part }
	server := &taskrecord.Server{ID: 1, Name: "s", Events: []string{"page-faults", "cycles"}}
	var line []byte
	for i := range n {
		x := &taskrecord.Record{Server: server, Kind: "GET /it's", Trace: taskrecord.TraceID{byte(i), byte(i >> 8), byte(i >> 16), 1}, Span: taskrecord.SpanID{1},
			Goroutines: 1 + int64(r.IntN(3)), Events: server.Events}
		add := func(p pprof.TimePart, ms float64) {
			x.Parts[p] += time.Duration(ms * 1e6)
			x.Wall += time.Duration(ms * 1e6)
		}
		add(pprof.TimeRunning, 1+r.Float64())
		add(pprof.TimeNetwork, 5+r.NormFloat64()*0.3)
		add(pprof.TimeRunnable, r.Float64()*0.1)
		faults := uint64(r.IntN(10))
		if hit(0.02) {
			add(pprof.TimeMutex, 20+5*r.Float64())
			add(pprof.TimeRunnable, 0.2)
			if hit(0.7) {
				faults += 3000 // which take less time than the impact of their requests
				add(pprof.TimeRunning, 3)
			}
		}
		if hit(0.01) {
			faults += 5000
			add(pprof.TimeRunning, 8)
		}
		running := x.Parts[pprof.TimeRunning]
		x.Count = []pprof.CounterValue{{Value: faults, Enabled: running, Running: running}, {Value: uint64(running) * 3, Enabled: running, Running: running}}
		if hit(0.3) {
			x.Count[1].Running /= 2 // it had to share a counter
		}
		switch {
		case hit(0.05):
			x.Flags |= taskrecord.Uncounted
		case hit(0.05):
			x.Count = nil
		case hit(0.05):
			x.Count, x.Events = x.Count[:1], x.Events[:1]
		}
		if hit(0.6) {
			d := time.Duration(r.Float64() * 1e6)
			if hit(0.05) {
				d += 10 * time.Millisecond
				x.Wall += d
			}
			x.Regions = append(x.Regions, taskrecord.RegionSum{Name: "price", N: 2, Wall: d})
			if hit(0.2) {
				x.Regions = append(x.Regions, taskrecord.RegionSum{Name: "it's \\ <b>", N: 1, Wall: d / 2}, taskrecord.RegionSum{Name: "price", N: 1, Wall: d / 3})
			}
		}
		for range r.IntN(3) {
			d := time.Duration(r.Float64() * 3e6)
			if hit(0.01) {
				d += 15 * time.Millisecond
				x.Wall += d
			}
			x.Calls = append(x.Calls, taskrecord.Call{Kind: "GET stock", Wall: d})
		}
		if x.Goroutines > 1 && hit(0.3) { // another one runs, for which it does not wait
			x.Ender = taskrecord.Ender{Goroutine: 1, Parts: x.Parts}
			x.Parts[pprof.TimeRunning] += time.Duration(r.Float64() * 1e6)
			if hit(0.1) {
				x.Parts[pprof.TimeRunning] += 40 * time.Millisecond
			}
		}
		items := r.IntN(20)
		if hit(0.01) {
			items += 500
			x.Wall += 12 * time.Millisecond
		}
		x.Notes = []taskrecord.Note{{Key: "status", Value: "200"}, {Key: "cart", Value: []string{"a", "b"}[r.IntN(2)]}}
		if hit(0.8) {
			x.Notes = append(x.Notes, taskrecord.Note{Key: "items", Value: strconv.Itoa(items)})
		}
		if hit(0.01) {
			x.Notes = append(x.Notes, taskrecord.Note{Key: "items", Value: "many"}, taskrecord.Note{Key: "items", Value: "1.5e1"})
		}
		switch {
		case hit(0.1):
			x.Kind = "POST /"
		case hit(0.02):
			x.Flags |= taskrecord.Client
		case hit(0.01):
			x.Span = taskrecord.SpanID{}
		}
		if x.Wall > 20*time.Millisecond && hit(0.5) {
			x.Flags |= taskrecord.Slow
		}
		if x.Wall > 15*time.Millisecond && hit(0.2) {
			x.Flags |= taskrecord.Early
		}
		if x.Flags&taskrecord.Slow == 0 && hit(0.9) || hit(0.1) {
			x.Flags |= taskrecord.Sampled
		}
		x.Wall = x.Wall.Round(10 * time.Microsecond) // there are ties
		line = append(taskrecord.AppendJSON(line[:0], x), '\n')
		w.Write(line)
		if hit(0.01) { // once more
			w.Write(line)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return name
}
