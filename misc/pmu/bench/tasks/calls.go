// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.25

package main

import (
	"context"
	"fmt"
	"runtime/task"
	"runtime/trace"
	"testing"
	"time"

	"pmu/bench/stretch"
)

type key struct{}

var sink context.Context

// timeCalls measures calls of a goroutine that does nothing else.
func timeCalls(rounds int) {
	ctx := context.Background()
	newTask := func(n int) {
		for i := 0; i < n; i++ {
			var t *task.Task
			sink, t = task.New(ctx, "bench")
			t.End()
		}
	}
	region := func(n int) {
		_, t := task.New(ctx, "bench")
		for i := 0; i < n; i++ {
			r := t.Region("region")
			r.End()
		}
		t.End()
	}
	traceRegion := func(n int) {
		for i := 0; i < n; i++ {
			trace.StartRegion(ctx, "region").End()
		}
	}
	calls := []stretch.Call{
		none.call("context.WithValue", func(n int) {
			for i := 0; i < n; i++ {
				sink = context.WithValue(ctx, key{}, &sink)
			}
		}),
		none.call("New and End, off", newTask),
		tasks("", 0).call("New and End, slow ones", newTask),
		tasks("", 0.01).call("New and End, 1 %", newTask),
		tasks("", 1).call("New and End, all", newTask),
		clocked().call("New and End, slow ones, with a clock", newTask),
		none.call("Region and End, off", region),
		tasks("", 0).call("Region and End, slow ones", region),
		tasks("", 1).call("Region and End, all", region),
		none.call("trace.StartRegion and End, off", traceRegion),
		flightRecorder().call("trace.StartRegion and End, flight recorder", traceRegion),
		executionTrace().call("trace.StartRegion and End, execution trace", traceRegion),
	}
	wall, cpu := stretch.Times(rounds, 5*time.Millisecond, calls...)
	show("call", calls, wall, cpu)
	for _, c := range calls {
		if c.Begin != nil {
			c.Begin()
		}
		const n = 10000
		fmt.Printf("allocations\tcall\t%s\t%.2f\n", c.Name, testing.AllocsPerRun(3, func() { c.Do(n) })/n)
		if c.End != nil {
			c.End()
		}
	}
}
