// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && linux && (amd64 || arm64)

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"time"

	"pmu/bench/bare"
	"pmu/bench/stacks"
	"pmu/profile"
)

// depths are the depths of the sampled stacks in frames, goexit included. A sample
// has at most 64.
var depths = []int{10, 64, 200}

const (
	// period is the period of the cycles event: samples are rare enough that the
	// overhead bound never acts, and frequent enough that one more does not matter.
	period  = 300007
	samples = 200
	work    = samples * period / 2 * 2 // instructions

	// The timer comes with the kernel's tick.
	timerHz   = 250
	timerWork = 100e6
)

// A variant is a way to be sampled.
type variant struct {
	name string
	// start starts sampling on the calling thread. It returns a function that
	// stops it and returns the number of samples, given the instructions in user mode.
	start func() (stop func(user uint64) (float64, error), err error)
	work  uint64
}

var variants = []variant{
	{"ring only", func() (func(uint64) (float64, error), error) { return startBare(bare.Ring) }, work},
	{"ring and bare signal", func() (func(uint64) (float64, error), error) { return startBare(bare.Signal) }, work},
	{"profile by cycles", func() (func(uint64) (float64, error), error) { return startEvent("signal", false) }, work},
	{"profile by cycles, kernel's stacks", func() (func(uint64) (float64, error), error) { return startEvent("kernel", false) }, work},
	{"profile by cycles, labels", func() (func(uint64) (float64, error), error) { return startEvent("signal", true) }, work},
	{"profile by the timer", startTimer, timerWork},
}

func startBare(act bare.Action) (func(uint64) (float64, error), error) {
	s, err := bare.NewSampler(bare.Cycles, bare.User, period, act)
	if err != nil {
		return nil, err
	}
	before := bare.Signals()
	s.Start()
	return func(user uint64) (float64, error) {
		n := float64(s.Count()) / period
		s.Stop()
		s.Close()
		if got := float64(bare.Signals() - before); act == bare.Signal && (got < n-2 || got > n+2) {
			return 0, fmt.Errorf("%v signals for %v overflows", got, n)
		}
		return n, nil
	}, nil
}

// errDisturbed means that samples were lost or bounded. For example, an interrupt
// comes late if the emulated machine's host does something else meanwhile.
var errDisturbed = errors.New("the measurement was disturbed")

// labelled has the labels of the goroutine that is sampled.
var labelled = context.Background()

// startEvent starts a profile whose stacks are found by a signal's handler or the kernel.
func startEvent(stacks string, labels bool) (func(uint64) (float64, error), error) {
	os.Setenv("GO_PPROF_STACKS", stacks)
	var buf bytes.Buffer
	if labels {
		labelled = pprof.WithLabels(labelled, pprof.Labels("request", "/index", "user", "1234"))
		pprof.SetGoroutineLabels(labelled)
	}
	if err := pprof.StartCPUProfileWithConfig(pprof.CPUCycles(&buf, period)); err != nil {
		return nil, err
	}
	// Pass the first, random, period, whose end is a sample that costs more.
	bare.Spin(3 * period / 2 * 2)
	c, err := bare.Count(bare.Cycles, bare.User)
	if err != nil {
		return nil, err
	}
	return func(uint64) (float64, error) {
		n := float64(c.Read()) / float64(period)
		c.Close()
		pprof.StopCPUProfile()
		labelled = context.Background()
		pprof.SetGoroutineLabels(labelled)
		p, err := profile.Read(&buf)
		if err != nil {
			return 0, err
		}
		if _, lost := p.Ledger(); lost > 0 || p.Number(profile.LongestPeriod) != 0 {
			return 0, fmt.Errorf("%w: %q", errDisturbed, p.Comments)
		}
		// Other threads have samples too.
		if got := float64(p.Sum().Count); got < n || got > n*1.1+10 {
			return 0, fmt.Errorf("%v samples in the profile, want %v and a few", got, n)
		}
		return n, nil
	}, nil
}

func startTimer() (func(uint64) (float64, error), error) {
	var buf bytes.Buffer
	runtime.SetCPUProfileRate(timerHz)
	// The runtime complains about the rate on standard error.
	if err := pprof.StartCPUProfile(&buf); err != nil {
		return nil, err
	}
	return func(uint64) (float64, error) {
		pprof.StopCPUProfile()
		p, err := profile.Read(&buf)
		if err != nil {
			return 0, err
		}
		return float64(p.Sum().Count), nil
	}, nil
}

// A cost is the cost of one sample, in instructions.
type cost struct {
	Depth   int
	Variant string
	Kernel  float64
	User    float64
	Clock   float64 // ns
	Samples float64
}

// counts are the instructions that the thread executed, and the time. On the emulated
// machine an instruction takes a nanosecond, so that the time is what was executed on
// this thread and on others; there the counters leave out the interrupt of the event, in
// which they stand still.
type counts struct {
	user, kernel uint64
	clock        time.Duration
}

// count returns what the thread executes for f.
func count(f func()) (n counts, err error) {
	user, err := bare.Count(bare.Instructions, bare.User)
	if err != nil {
		return n, err
	}
	defer user.Close()
	kernel, err := bare.Count(bare.Instructions, bare.Kernel)
	if err != nil {
		return n, err
	}
	defer kernel.Close()
	start, u, k := time.Now(), user.Read(), kernel.Read()
	f()
	return counts{user.Read() - u, kernel.Read() - k, time.Since(start)}, nil
}

// measure returns the cost of a sample of v on a stack of depth frames. A
// disturbed measurement is made again.
func measure(v variant, depth int) (c cost, err error) {
	for try := 0; try < 5; try++ {
		if c, err = measureOnce(v, depth); !errors.Is(err, errDisturbed) {
			break
		}
	}
	return c, err
}

func measureOnce(v variant, depth int) (c cost, err error) {
	c = cost{Depth: depth, Variant: v.name}
	atDepth(depth, func() {
		var without, with counts
		count(func() { bare.Spin(2) }) // page faults and the like
		do := func() {
			bare.Spin(v.work)
			pprof.SetGoroutineLabels(labelled) // what the kernel has recorded is read before
		}
		if without, err = count(do); err != nil {
			return
		}
		stop, e := v.start()
		if err = e; err != nil {
			return
		}
		if with, err = count(do); err != nil {
			return
		}
		c.Samples, err = stop(with.user)
		c.User = (float64(with.user) - float64(without.user)) / c.Samples
		c.Kernel = (float64(with.kernel) - float64(without.kernel)) / c.Samples
		c.Clock = float64(with.clock-without.clock) / c.Samples
	})
	return c, err
}

// atDepth calls f on a thread of its own where a leaf function that it calls is
// depth frames deep.
func atDepth(depth int, f func()) {
	done := make(chan bool)
	go func() {
		runtime.LockOSThread() // until the goroutine's end, and then the thread's
		defer close(done)
		var base int
		stacks.At(0, func() { base = frames() })
		stacks.At(depth-base, f)
	}()
	<-done
}

// frames returns the number of frames of its caller's stack, with one for a
// leaf.
func frames() int {
	var pcs [100]uintptr
	return runtime.Callers(1, pcs[:])
}

// warmUp makes the kernel do its one-time work for this thread.
func warmUp() error {
	_, err := measure(variants[0], depths[0])
	return err
}

type results struct {
	Costs []cost
}

func measureAll(short bool) (*results, error) {
	res := new(results)
	depths := depths
	if short {
		depths = depths[:2]
	}
	if err := warmUp(); err != nil {
		return nil, err
	}
	for _, depth := range depths {
		for _, v := range variants {
			if short && v.work == timerWork {
				v.work /= 2
			}
			c, err := measure(v, depth)
			if err != nil {
				return nil, fmt.Errorf("%s, depth %d: %v", v.name, depth, err)
			}
			res.Costs = append(res.Costs, c)
		}
	}
	return res, nil
}
