// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

// Accounts measures what accounts of goroutines cost: the calls that read them, and a
// switch to an accounted goroutine. It is built by this Go, by the stock release, and by
// the release with CockroachDB's scheme (build tag grunning); each knows the calls and the
// kinds of goroutines that it has. It prints lines NAME<tab>NUMBER.
//
//	accounts -calls           nanoseconds of each call
//	accounts -switch KIND     nanoseconds of a switch between two goroutines of a kind
//	accounts -instructions    of all of them, where the machine counts these
//
// -events are those that counters count. With -registers, which is for the emulated
// machine, programs may read the processor's counters from then on.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
	"time"

	"pmu/bench/bare"
	"pmu/bench/stats"
	"pmu/bench/stretch"
)

type call = stretch.Call

// A kind is a way in which goroutines are accounted, or not.
type kind struct {
	name string

	// begin makes the calling goroutine one of the kind, and those that it starts from now
	// on.
	begin func(events []string) (*account, error)
}

// An account is what a kind does with two goroutines that take turns.
type account struct {
	// turn, unless it is nil, returns what the calling goroutine does in each of its turns,
	// and after the last one.
	turn func() (each, end func())

	// check reports an error if the calling goroutine, which has had as many turns, was not
	// accounted. Otherwise a mistake would look like a cheap switch.
	check func(turns uint64) error
}

func main() {
	ofCalls := flag.Bool("calls", false, "print nanoseconds of each call")
	ofSwitch := flag.String("switch", "", "print nanoseconds of a switch of this `kind`")
	ofAll := flag.Bool("instructions", false, "print instructions of calls and switches")
	events := flag.String("events", "page-faults,task-clock", "count these `events`")
	registers := flag.Bool("registers", false, "let programs read the processor's counters")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	var err error
	if *registers {
		err = os.WriteFile("/proc/sys/kernel/perf_user_access", []byte("1"), 0)
	}
	names := strings.Split(*events, ",")
	switch {
	case err != nil:
	case *ofCalls:
		err = inNew(func() error { return timeCalls(names) })
	case *ofSwitch != "":
		err = timeSwitch(*ofSwitch, names)
	case *ofAll:
		err = countAll(names)
	default:
		flag.Usage()
		os.Exit(2)
	}
	must(err)
}

// inNew calls f in a new goroutine, so that f's account ends with f.
func inNew(f func() error) error {
	err := make(chan error)
	go func() { err <- f() }()
	return <-err
}

// must ends the program if err is not nil. It is inlined where calls are measured.
func must(err error) {
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "accounts:", err)
	os.Exit(1)
}

// start is a time that time.Since has only to subtract from the runtime's clock.
var start = stretch.Start

// clockTwice is what calls are compared with.
var clockTwice = call{Name: "the clock, twice", Do: func(n int) {
	for i := 0; i < n; i++ {
		time.Since(start)
		time.Since(start)
	}
}}

// timeCalls prints what each call takes: the nanoseconds of many in short stretches, and the
// median and the 99.9th percentile of single calls, with the clock's own time.
func timeCalls(events []string) error {
	calls, err := newCalls(events)
	if err != nil {
		return err
	}
	calls = append([]call{clockTwice}, calls...)
	for i, ns := range stretches(200, 100*time.Microsecond, calls...) {
		fmt.Printf("ns\t%s\t%.2f\n", calls[i].Name, ns)
	}
	calls = append(calls, call{Name: "nothing", Do: func(int) {}})
	// The calls take turns, but seldom: a first call finds cold caches.
	const turns, turn = 10, 2000
	const single = turns * turn
	times := make([][]float64, len(calls))
	for k := 0; k < turns; k++ {
		for i, c := range calls {
			for j := 0; j < turn; j++ {
				before := time.Since(start)
				c.Do(1)
				times[i] = append(times[i], float64(time.Since(start)-before))
			}
		}
	}
	for i, c := range calls {
		sort.Float64s(times[i])
		fmt.Printf("median\t%s\t%.0f\np99.9\t%s\t%.0f\n", c.Name, times[i][single/2], c.Name, times[i][single*999/1000])
	}
	return nil
}

// stretches returns the nanoseconds that each of the calls takes, measured in stretches of
// about the given length, in which they take turns. It is the lower quartile: what runs
// beside on a busy machine disturbs fewer than three in four.
func stretches(rounds int, length time.Duration, calls ...call) (ns []float64) {
	wall, _ := stretch.Times(rounds, length, calls...)
	for _, times := range wall {
		low, _ := stats.Quartiles(times)
		ns = append(ns, low)
	}
	return ns
}

// timeSwitch prints what a switch takes.
func timeSwitch(name string, events []string) error {
	for _, k := range kinds {
		if k.name == name {
			return inNew(func() error {
				return k.with(events, func(do func(n int)) error {
					fmt.Printf("ns\t%.2f\n", stretches(100, 300*time.Microsecond, call{Name: name, Do: do})[0]/2)
					return nil
				})
			})
		}
	}
	return fmt.Errorf("no kind %q", name)
}

// with calls f with what does n ping-pongs, of two switches each, between the calling
// goroutine and another one, both of the kind.
func (k kind) with(events []string, f func(do func(n int)) error) error {
	a, err := k.begin(events)
	if err != nil {
		return err
	}
	if a == nil {
		a = new(account)
	}
	turns := 0
	if err := f(func(n int) { pingPong(n, a.turn); turns += n }); err != nil {
		return err
	}
	if a.check != nil {
		return a.check(uint64(turns))
	}
	return nil
}

func pingPong(n int, turn func() (each, end func())) {
	a, b := make(chan int), make(chan int)
	go func() {
		each, end := begin(turn)
		for x := range a {
			if each != nil {
				each()
			}
			b <- x
		}
		end()
		close(b)
	}()
	each, end := begin(turn)
	for i := 0; i < n; i++ {
		a <- i
		<-b
		if each != nil {
			each()
		}
	}
	end()
	close(a)
	<-b
}

func begin(turn func() (each, end func())) (each, end func()) {
	if turn == nil {
		return nil, func() {}
	}
	return turn()
}

// countAll prints the instructions of each call and of each kind's switch.
func countAll(events []string) error {
	const n = 5000
	show := func(kind, name string, do func(n int), per float64) error {
		user, kernel, err := instructions(n, do)
		fmt.Printf("user\t%s\t%s\t%.1f\nkernel\t%s\t%s\t%.0f\n", kind, name, user/per, kind, name, kernel/per)
		return err
	}
	// Switches first: the first kind has no accounts, nor has the program then.
	for _, k := range kinds {
		k := k
		err := inNew(func() error {
			return k.with(events, func(do func(n int)) error { return show("switch", k.name, do, 2) })
		})
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
	}
	return inNew(func() error {
		calls, err := newCalls(events)
		if err != nil {
			return err
		}
		for _, c := range append([]call{clockTwice}, calls...) {
			if err := show("call", c.Name, c.Do, 1); err != nil {
				return err
			}
		}
		return nil
	})
}

// instructions returns those that each of n takes, in user mode and in the kernel, on the
// thread that they stay on. The kernel's have those of its clock's ticks.
func instructions(n int, do func(n int)) (user, kernel float64, err error) {
	for try := 0; try < 10; try++ {
		u, err := bare.Count(bare.Instructions, bare.User)
		if err != nil {
			return 0, 0, err
		}
		k, err := bare.Count(bare.Instructions, bare.Kernel)
		if err != nil {
			u.Close()
			return 0, 0, err
		}
		do(n / 10) // one-time work, also that for the new counters
		tid := bare.Thread()
		beforeK, beforeU := k.Read(), u.Read()
		do(n)
		afterU, afterK := u.Read(), k.Read()
		u.Close()
		k.Close()
		if bare.Thread() == tid {
			return float64(afterU-beforeU) / float64(n), float64(afterK-beforeK) / float64(n), nil
		}
	}
	return 0, 0, errors.New("the goroutine does not stay on a thread")
}
