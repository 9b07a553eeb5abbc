// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.25

//go:debug httpmuxgo121=0

// Tasks measures what tasks cost: the calls, a web server's requests, and a mock of a
// server whose requests take 11 microseconds. What is compared takes turns, in stretches of a
// run. It prints lines NAME<tab>NUMBER.
//
//	tasks -calls    nanoseconds of each call, and its allocations
//	tasks -http     of requests by each handler
//	tasks -mock     of requests of the mock
//
// Of each there is "ns" and "cpu", nanoseconds of wall time and of CPU time, and "times" and
// "cpu times", the medians of the ratios to the first one's of the same round.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"runtime/task"
	"runtime/trace"
	"time"

	"pmu/bench/stats"
	"pmu/bench/stretch"
)

func main() {
	calls := flag.Bool("calls", false, "measure calls")
	http := flag.Bool("http", false, "measure a web server's requests")
	mock := flag.Bool("mock", false, "measure the mock's requests")
	rounds := flag.Int("rounds", 40, "`number` of stretches of each")
	flag.Parse()
	log.SetFlags(0)
	log.SetPrefix("tasks: ")
	if !*calls && !*http && !*mock || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if *calls {
		timeCalls(*rounds)
	}
	if *http {
		timeHTTP(*rounds)
	}
	if *mock {
		timeMock(*rounds)
	}
}

// show prints what calls took, the first of which is what the others are compared with.
func show(what string, calls []stretch.Call, wall, cpu [][]float64) {
	for i, c := range calls {
		fmt.Printf("ns\t%s\t%s\t%.1f\n", what, c.Name, stats.Median(wall[i]))
		fmt.Printf("cpu\t%s\t%s\t%.1f\n", what, c.Name, stats.Median(cpu[i]))
		fmt.Printf("times\t%s\t%s\t%.4f\n", what, c.Name, stats.Median(stats.Ratios(wall[i], wall[0])))
		fmt.Printf("cpu times\t%s\t%s\t%.4f\n", what, c.Name, stats.Median(stats.Ratios(cpu[i], cpu[0])))
	}
}

// A recording is a way to record, or none.
type recording struct {
	name       string
	begin, end func()
}

var none = recording{name: "none"}

// tasks returns the recording of tasks at a rate. It keeps those that are slow, too.
func tasks(name string, rate float64) recording {
	return recording{name, func() { must(task.Start(task.Config{Rate: rate})) }, task.Stop}
}

// clocked is tasks with an ID of the server, so that requests have vector clocks.
func clocked() recording {
	return recording{"", func() { must(task.Start(task.Config{Server: 1})) }, task.Stop}
}

// flightRecorder is upstream's, by itself.
func flightRecorder() recording {
	var fr *trace.FlightRecorder
	return recording{"flight recorder", func() {
		fr = trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: time.Second})
		must(fr.Start())
	}, func() { fr.Stop() }}
}

// executionTrace is upstream's, which nobody reads.
func executionTrace() recording {
	return recording{"execution trace", func() { must(trace.Start(io.Discard)) }, trace.Stop}
}

// call returns a call under r.
func (r recording) call(name string, do func(n int)) stretch.Call {
	return stretch.Call{Name: name, Do: do, Begin: r.begin, End: r.end}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
