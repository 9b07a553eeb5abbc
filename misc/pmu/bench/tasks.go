// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"os/exec"

	"pmu/bench/chart"
	"pmu/bench/stats"
)

// taskCalls are the calls that bench/tasks measures.
var taskCalls = []struct {
	name string
	more float64 // ns at most, more than context.WithValue; 0 is no limit
	ns   float64 // ns at most
}{
	{"context.WithValue", 0, 0},
	{"New and End, off", 0, 0},
	{"New and End, slow ones", 400, 0},
	{"New and End, 1 %", 400, 0},
	{"New and End, all", 0, 0},
	{"New and End, slow ones, with a clock", 0, 0},
	{"Region and End, off", 0, 0},
	{"Region and End, slow ones", 0, 130},
	{"Region and End, all", 0, 130},
	{"trace.StartRegion and End, off", 0, 0},
	{"trace.StartRegion and End, flight recorder", 0, 0},
	{"trace.StartRegion and End, execution trace", 0, 0},
}

// A taskLoad is a kind of requests that bench/tasks measures, with the most that a request
// may take in its ways, relative to the first one.
type taskLoad struct {
	flag, name         string
	title, chart, text string
	ways               []taskWay
}

type taskWay struct {
	name, short string
	most        float64 // 0 is no limit
}

var taskLoads = []taskLoad{
	{"-http", "request", "A web server", "A request of a web server", "A server that says hello, over loopback, with four clients in the same process, whose work is in all times. *Wrapped* is by `pprof.TaskHandler`.", []taskWay{
		{"unwrapped", "unwrapped", 0},
		{"unwrapped, again", "again", 0},
		{"wrapped, off", "off", 0},
		{"wrapped, slow ones", "slow", 1.01},
		{"wrapped, 1 %", "1 %", 1.01},
		{"wrapped, all", "all", 1.03},
		{"unwrapped, flight recorder", "flight r.", 0},
		{"unwrapped, execution trace", "trace", 0},
	}},
	{"-mock", "mock", "A storage server", "A request of 11 µs", "A mock of a storage server's write, after the one that ddtrace was measured with: 11 µs of counted work, in four parts by a dispatcher and a worker, which hand it over by channels. Recorded are a task and four regions. ddtrace's four intervals made theirs 6.3 % slower.", []taskWay{
		{"no records", "none", 0},
		{"no records, again", "again", 0},
		{"tasks, off", "off", 0},
		{"tasks, slow ones", "slow", 1.063},
		{"tasks, 1 %", "1 %", 1.063},
		{"tasks, all", "all", 1.063},
		{"trace regions, flight recorder", "flight r.", 0},
		{"trace regions, execution trace", "trace", 0},
	}},
}

// tasks measures what tasks cost.
func tasks(b *bench, r *report) {
	r.printf("What tasks cost, by `misc/pmu/bench/tasks`. In a run, what is compared takes turns in stretches, of 5 ms for calls, 100 ms for the server and 20 ms for the mock; a figure is the median of %d runs of 40 stretches of each, a ratio the median of ratios to the first line's stretch of the same round. *Off*: `task.Start` was not called. *Slow ones*: the rate is 0, and what is slow is recorded. Beside: upstream's regions and tasks, by the flight recorder alone and by an execution trace that is thrown away.\n\n", b.rounds)
	exe := b.build(b.fork, "build", "./bench/tasks")
	run := func(flag string) func(name string) []float64 {
		s := sampler{name: flag}
		all := b.interleave(program{"tasks", func(*bench, sampler, string) *exec.Cmd { return exec.Command(exe, flag) }}, []sampler{s}, b.rounds)
		return func(name string) []float64 { return all.numbers(flag, name) }
	}
	taskCallsTable(r, run("-calls"))
	for _, l := range taskLoads {
		l.table(r, run(l.flag))
	}
}

func taskCallsTable(r *report, number func(name string) []float64) {
	r.printf("### Calls\n\n")
	t := newTable("call", "ns", "least", "more than context.WithValue", "allocations", "required")
	with := number("ns\tcall\t" + taskCalls[0].name)
	for _, c := range taskCalls {
		ns := number("ns\tcall\t" + c.name)
		more := stats.Median(stats.Differences(ns, with))
		t.row("%s", c.name, "%.1f", stats.Median(ns), "%.1f", stats.Min(ns), "%+.0f", more,
			"%.2f", stats.Median(number("allocations\tcall\t"+c.name)),
			verdicts(verdict(more, c.more, "ns more"), verdict(stats.Median(ns), c.ns, "ns")))
	}
	r.table(t)
}

func (l taskLoad) table(r *report, number func(name string) []float64) {
	r.printf("### %s\n\n%s\n\n", l.title, l.text)
	latency := l.name == "request"
	head := []string{"way", "µs", "ratio", "CPU µs", "ratio of CPU time"}
	if latency {
		head = append(head, "p50, µs", "p99, µs")
	}
	t := newTable(append(head, "required")...)
	wall, cpu := chart.Series{Name: "time"}, chart.Series{Name: "CPU time"}
	var groups []string
	for i, w := range l.ways {
		times, cpus := number("times\t"+l.name+"\t"+w.name), number("cpu times\t"+l.name+"\t"+w.name)
		t.row("%s", w.name, "%.2f", stats.Median(number("ns\t"+l.name+"\t"+w.name))/1000, ratio(times),
			"%.2f", stats.Median(number("cpu\t"+l.name+"\t"+w.name))/1000, ratio(cpus))
		if latency {
			t.add("%.0f", stats.Median(number("p50\t"+l.name+"\t"+w.name)))
			t.add("%.0f", stats.Median(number("p99\t"+l.name+"\t"+w.name)))
		}
		t.add("%s", verdict(stats.Median(times), w.most, "times"))
		if i == 0 {
			continue
		}
		wall.Points = append(wall.Points, point(float64(len(groups)), times))
		cpu.Points = append(cpu.Points, point(float64(len(groups)), cpus))
		groups = append(groups, w.short)
	}
	r.table(t)
	r.chart(l.name, &chart.Chart{Title: l.chart + ", relative to one without records", XLabel: "what is recorded", YLabel: "ratio", Groups: groups, Series: []chart.Series{wall, cpu}})
}
