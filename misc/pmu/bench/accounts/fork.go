// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && linux && (amd64 || arm64)

package main

import (
	"fmt"
	"runtime/pprof"
)

var kinds = []kind{
	{"unaccounted", func([]string) (*account, error) { return nil, nil }},
	{"unaccounted, others are", func([]string) (*account, error) {
		return nil, inNew(func() error {
			accounted := make(chan bool)
			go func() {
				pprof.RunningTime()
				accounted <- true
				select {}
			}()
			<-accounted
			return nil
		})
	}},
	{"accounted", func([]string) (*account, error) {
		pprof.RunningTime()
		return &account{check: func(turns uint64) error { return checkTime(turns, false) }}, nil
	}},
	{"accounted, counters", func(events []string) (*account, error) {
		c, err := pprof.OpenCounters(events...)
		if err != nil {
			return nil, err
		}
		v := make([]pprof.CounterValue, len(events))
		check := func(turns uint64) error {
			err := checkTime(turns, false)
			if err == nil {
				err = c.Goroutine(v)
			}
			if last := v[len(v)-1]; err == nil && (last.Value < turns || !last.Exact()) {
				err = fmt.Errorf("in %d turns, %s was %v", turns, events[len(v)-1], last)
			}
			c.Close()
			return err
		}
		return &account{check: check}, c.Goroutine(v)
	}},
	{"accounted, CPU time", func([]string) (*account, error) {
		return &account{check: func(turns uint64) error { return checkTime(turns, true) }}, pprof.MeasureCPUTime(true)
	}},
	{"accounted, read each turn", func([]string) (*account, error) {
		return &account{
			turn:  func() (each, end func()) { return func() { pprof.RunningTime() }, func() {} },
			check: func(turns uint64) error { return checkTime(turns, false) },
		}, nil
	}},
	{"an interval each turn", func([]string) (*account, error) {
		pprof.RunningTime()
		return &account{
			turn: func() (each, end func()) {
				iv, t := new(pprof.Interval), new(pprof.GoroutineTime)
				must(iv.Start(nil))
				each = func() {
					must(iv.Stop(t, nil))
					must(iv.Start(nil))
				}
				return each, func() { iv.Stop(nil, nil) }
			},
			check: func(turns uint64) error { return checkTime(turns, false) },
		}, nil
	}},
}

// checkTime is the check of kinds whose time is accounted, and is CPU time if cpu.
func checkTime(turns uint64, cpu bool) error {
	var t pprof.GoroutineTime
	pprof.ReadGoroutineTime(&t)
	known := t.Part(pprof.TimeRunning) + t.Part(pprof.TimePreempted)
	if t.Switches < turns || t.Part(pprof.TimeChan) == 0 || cpu && t.Measured < known*9/10 {
		return fmt.Errorf("in %d turns the goroutine was accounted as %+v", turns, t)
	}
	return nil
}

// newCalls returns the calls of an accounted goroutine, which the calling one is from now
// on.
func newCalls(events []string) ([]call, error) {
	c, err := pprof.OpenCounters(events...)
	if err != nil {
		return nil, err
	}
	pprof.RunningTime()
	iv, t, v := new(pprof.Interval), new(pprof.GoroutineTime), make([]pprof.CounterValue, len(events))
	return []call{
		{Name: "RunningTime", Do: func(n int) {
			for i := 0; i < n; i++ {
				pprof.RunningTime()
			}
		}},
		{Name: "ReadGoroutineTime", Do: func(n int) {
			for i := 0; i < n; i++ {
				pprof.ReadGoroutineTime(t)
			}
		}},
		{Name: "Start and Stop", Do: func(n int) {
			for i := 0; i < n; i++ {
				must(iv.Start(nil))
				must(iv.Stop(t, nil))
			}
		}},
		{Name: "Start and Stop, counters", Do: func(n int) {
			for i := 0; i < n; i++ {
				must(iv.Start(c))
				must(iv.Stop(t, v))
			}
		}},
	}, nil
}
