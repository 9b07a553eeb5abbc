// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"errors"
	"fmt"
	"internal/synctest"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestIntervalErrors tests what is said of an interval that is used wrongly, and that it
// can be used afterwards.
func TestIntervalErrors(t *testing.T) {
	wants := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	var u GoroutineTime
	var iv Interval
	wants(iv.Stop(&u, nil), "not open")
	wants(iv.Checkpoint(&u, nil), "not open")
	iv.Stop(nil, nil)
	if err := iv.Start(nil); err != nil {
		t.Fatal(err)
	}
	wants(iv.Start(nil), "is open")
	if err := iv.Stop(nil, nil); err != nil {
		t.Errorf("after an error of Start: %v", err)
	}
	wants(iv.Stop(&u, nil), "not open")

	// On another goroutine, which is accounted, or not.
	for _, f := range []func(){func() {}, func() { RunningTime() }} {
		if err := iv.Start(nil); err != nil {
			t.Fatal(err)
		}
		var err error
		inNew(func() { f(); err = iv.Stop(&u, nil) })
		wants(err, fmt.Sprintf("started by goroutine %d", goid()))
		wants(iv.Stop(&u, nil), "not open")
	}
	if err := iv.Start(nil); err != nil {
		t.Fatal(err)
	}
	inNew(func() { iv.Stop(nil, nil) })
	wants(iv.Stop(&u, nil), "not open")
	inNew(func() { // a copy of one that has ended
		RunningTime()
		for _, f := range []func(){func() {}, runtime.Gosched} {
			iv.Start(nil)
			c := reflect.ValueOf(&iv).Elem().Interface() // go vet would see an assignment
			f()
			if err := iv.Stop(&u, nil); err != nil {
				t.Error(err)
			}
			f()
			p := reflect.New(reflect.TypeOf(c))
			p.Elem().Set(reflect.ValueOf(c))
			wants(p.Interface().(*Interval).Stop(&u, nil), "not open")
		}
	})
	if err := iv.Start(new(Counters)); !errors.Is(err, errCountersClosed) {
		t.Errorf("Start with closed counters: %v", err)
	}
	wants(iv.Stop(&u, nil), "not open")
}

// TestIntervalNested tests that intervals in intervals, and such that overlap, add up.
func TestIntervalNested(t *testing.T) {
	inNew(func() {
		var outer, a, b Interval
		var all, ua, ub, uc GoroutineTime
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Error(err)
			}
		}
		must(outer.Start(nil))
		must(a.Start(nil))
		time.Sleep(2 * time.Millisecond)
		must(b.Start(nil))
		timeSpin(2 * time.Millisecond)
		must(a.Stop(&ua, nil))
		time.Sleep(2 * time.Millisecond)
		must(b.Checkpoint(&ub, nil))
		runtime.Gosched()
		must(b.Stop(&uc, nil))
		must(outer.Stop(&all, nil))
		for _, u := range []GoroutineTime{all, ua, ub, uc} {
			if u.sum() != u.Wall || u.Wall <= 0 {
				t.Errorf("%+v: sum %v", u, u.sum())
			}
			for p := range numTimeParts {
				if u.parts[p] < 0 || u.parts[p] > all.parts[p] {
					t.Errorf("%v in %v, of %v", u.parts[p], p, all.parts[p])
				}
			}
		}
		if d := ua.parts[TimeSleep]; d < 2*time.Millisecond || d >= all.parts[TimeSleep] {
			t.Errorf("slept for %v in the first one, %v in all", d, all.parts[TimeSleep])
		}
		if ua.parts[TimeSleep]+ub.parts[TimeSleep] != all.parts[TimeSleep] {
			t.Errorf("slept for %v + %v, in all for %v", ua.parts[TimeSleep], ub.parts[TimeSleep], all.parts[TimeSleep])
		}
		if ub.Switches+uc.Switches > all.Switches || uc.Switches == 0 {
			t.Errorf("%d and %d switches, in all %d", ub.Switches, uc.Switches, all.Switches)
		}
	})
}

// TestIntervalMany tests intervals at random times: their sums are exact, and their
// differences from each other are those of the clock.
func TestIntervalMany(t *testing.T) {
	inNew(func() {
		var chain, whole Interval
		var u, sum, all GoroutineTime
		whole.Start(nil)
		chain.Start(nil)
		for i := range 300 {
			switch i % 5 {
			case 1:
				runtime.Gosched()
			case 2:
				time.Sleep(time.Microsecond)
			case 3:
				timeSpin(10 * time.Microsecond)
			}
			if err := chain.Checkpoint(&u, nil); err != nil {
				t.Fatal(err)
			}
			for p := range numTimeParts {
				if u.parts[p] < 0 {
					t.Errorf("%d: %v in %v", i, u.parts[p], p)
				}
				sum.parts[p] += u.parts[p]
			}
			sum.Wall += u.Wall
			sum.Switches += u.Switches
		}
		chain.Stop(nil, nil)
		whole.Stop(&all, nil)
		if sum.sum() != sum.Wall {
			t.Errorf("sum of parts %v, of the time on the clock %v", sum.sum(), sum.Wall)
		}
		// Start and Stop of the whole are outside of the first one and the last one.
		for p := range numTimeParts {
			if sum.parts[p] > all.parts[p] {
				t.Errorf("%v in %v, %v in all", sum.parts[p], p, all.parts[p])
			}
		}
		if sum.Switches > all.Switches || sum.Switches < 120 {
			t.Errorf("%d switches, %d in all", sum.Switches, all.Switches)
		}
	})
}

// TestIntervalEnds tests goroutines that end in an interval, by all ways.
func TestIntervalEnds(t *testing.T) {
	for name, end := range map[string]func(){
		"return": func() {},
		"Goexit": runtime.Goexit,
		"panic":  func() { panic("end") },
		"locked": runtime.LockOSThread,
	} {
		for range 20 {
			inNew(func() {
				defer func() { recover() }()
				var iv Interval
				if err := iv.Start(nil); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				runtime.Gosched()
				defer func() { // across the end
					var u GoroutineTime
					if err := iv.Stop(&u, nil); err != nil || u.sum() != u.Wall {
						t.Errorf("%s: %v; %+v", name, err, u)
					}
					iv.Start(nil) // and it stays open
				}()
				end()
			})
		}
	}
}

// TestIntervalInherited tests that goroutines that an accounted goroutine starts are
// accounted from their start, and what these start too.
func TestIntervalInherited(t *testing.T) {
	inNew(func() {
		var iv Interval
		if err := iv.Start(nil); err != nil {
			t.Fatal(err)
		}
		defer iv.Stop(nil, nil)
		var child, grandchild GoroutineTime
		start := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() {
			timeSpin(time.Millisecond)
			wg.Go(func() {
				timeSpin(time.Millisecond)
				ReadGoroutineTime(&grandchild)
			})
			timeSpin(time.Millisecond)
			ReadGoroutineTime(&child)
		})
		wg.Wait()
		elapsed := time.Since(start)
		for _, u := range []GoroutineTime{child, grandchild} {
			if onCPU := u.parts[TimeRunning] + u.parts[TimePreempted]; onCPU < time.Millisecond-clockError || u.Wall > elapsed+clockError || u.Switches == 0 {
				t.Errorf("%+v, of %v", u, elapsed)
			}
			if u.Waker == 0 {
				t.Error("nobody has started it")
			}
		}
	})
}

// TestIntervalBubble tests accounts in a bubble of testing/synctest, whose goroutines
// the scheduler watches in the same way, and that the bubble works.
func TestIntervalBubble(t *testing.T) {
	for name, before := range map[string]func(){
		"accounted before": func() { RunningTime() },
		"not":              func() {},
	} {
		inNew(func() {
			before()
			synctest.Run(func() {
				var iv Interval
				var u GoroutineTime
				if err := iv.Start(nil); err != nil {
					t.Error(err)
				}
				start := time.Now()
				c := make(chan int)
				go func() {
					time.Sleep(time.Hour) // by the bubble's clock
					RunningTime()
					runtime.GC()
					c <- 1
				}()
				<-c
				synctest.Wait()
				if d := time.Since(start); d != time.Hour {
					t.Errorf("%s: %v passed in the bubble", name, d)
				}
				if err := iv.Stop(&u, nil); err != nil || u.sum() != u.Wall || u.Wall > time.Minute {
					t.Errorf("%s: %v; %+v", name, err, u)
				}
			})
			var u GoroutineTime
			ReadGoroutineTime(&u)
			if u.sum() != u.Wall {
				t.Errorf("%s: %+v", name, u)
			}
		})
	}
}
