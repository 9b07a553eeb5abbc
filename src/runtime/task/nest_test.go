// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"bytes"
	"context"
	"fmt"
	exptrace "internal/trace"
	"io"
	"math/rand/v2"
	"runtime"
	"runtime/pprof"
	. "runtime/task"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"testing"
)

// readTrace returns the regions of an execution trace by goroutine, as names with + where they
// begin and - where they end. In a trace in which those of a goroutine do not nest, it fails.
func readTrace(b []byte) (regions map[exptrace.GoID][]string, err error) {
	r, err := exptrace.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	regions = make(map[exptrace.GoID][]string)
	for {
		e, err := r.ReadEvent()
		if err == io.EOF {
			return regions, nil
		}
		if err != nil {
			return nil, err
		}
		g := e.Goroutine()
		switch e.Kind() {
		case exptrace.EventRegionBegin:
			regions[g] = append(regions[g], "+"+e.Region().Type)
		case exptrace.EventRegionEnd:
			regions[g] = append(regions[g], "-"+e.Region().Type)
		}
	}
}

// traced calls f while an execution trace is written, and returns that.
func traced(t *testing.T, f func()) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Skip(err)
	}
	stopped := false
	defer func() {
		if !stopped {
			trace.Stop()
		}
	}()
	f()
	trace.Stop()
	stopped = true
	return b.Bytes()
}

// untold returns how many regions traces do not have as they were.
func untold() uint64 { return ReadStats().Lost["regions"] }

// A nest is what a goroutine does, by a task and by itself.
type nest struct {
	ctx  context.Context
	task *Task
}

func (n *nest) ours(name string) *Region {
	r := n.task.Region(name)
	return &r
}

func (n *nest) theirs(name string) *trace.Region { return trace.StartRegion(n.ctx, name) }

func elsewhere(f func()) {
	done := make(chan bool)
	go func() { defer close(done); f() }()
	<-done
}

var nests = []struct {
	name   string
	do     func(n *nest)
	want   string // on the goroutine
	untold int
}{
	{"nested", func(n *nest) {
		a := n.ours("a")
		b := n.ours("b")
		b.End()
		a.End()
	}, "+a +b -b -a", 0},
	{"overlapping", func(n *nest) {
		a := n.ours("a")
		b := n.ours("b")
		a.End()
		b.End()
		c := n.ours("c")
		c.End()
	}, "+a +b -b -a +c -c", 1},
	{"checkpoints", func(n *nest) {
		a := n.ours("a")
		a.Checkpoint("b")
		a.Checkpoint("c")
		a.End()
		a.End()
	}, "+a -a +b -b +c -c", 0},
	{"checkpoint of an outer one", func(n *nest) {
		a := n.ours("a")
		b := n.ours("b")
		a.Checkpoint("c")
		a.End()
		b.End()
	}, "+a +b +c -c -b -a", 1},
	{"copied", func(n *nest) {
		a := n.ours("a")
		b := n.ours("b")
		c := *b
		b.End()
		c.End()
		a.End()
	}, "+a +b -b -a", 1},
	{"ended elsewhere", func(n *nest) {
		a := n.ours("a")
		elsewhere(func() {
			b := n.ours("b")
			a.End()
			b.End()
		})
		c := n.ours("c")
		c.End()
	}, "+a -a +c -c", 1},
	{"ended elsewhere, the outer one", func(n *nest) {
		a := n.ours("a")
		b := n.ours("b")
		elsewhere(a.End)
		b.End()
		n.theirs("u").End()
	}, "+a +b -b -a +u -u", 1},
	{"ended elsewhere and here", func(n *nest) {
		a := n.ours("a")
		c := *a
		elsewhere(a.End)
		c.End()
		n.theirs("u").End()
	}, "+a -a +u -u", 2},
	{"never ended", func(n *nest) {
		n.ours("a")
		b := n.ours("b")
		b.End()
	}, "+a +b -b", 0},
	{"never ended, within", func(n *nest) {
		a := n.ours("a")
		n.ours("b")
		a.End()
	}, "+a +b", 1},
	{"within theirs", func(n *nest) {
		u := n.theirs("u")
		a := n.ours("a")
		a.End()
		u.End()
	}, "+u +a -a -u", 0},
	{"around theirs", func(n *nest) {
		a := n.ours("a")
		n.theirs("u").End()
		trace.WithRegion(n.ctx, "v", func() {})
		a.End()
	}, "+a +u -u +v -v -a", 0},
	{"longer than theirs", func(n *nest) {
		u := n.theirs("u")
		a := n.ours("a")
		u.End()
		a.End()
		n.theirs("v").End()
	}, "+u +a -a -u +v -v", 1},
	{"shorter than theirs", func(n *nest) {
		u := n.theirs("u")
		a := n.ours("a")
		v := n.theirs("v")
		a.End()
		v.End()
		u.End()
	}, "+u +a +v -v -a -u", 1},
	{"shorter than two of theirs", func(n *nest) {
		a := n.ours("a")
		u := n.theirs("u")
		trace.WithRegion(n.ctx, "v", func() { a.End() })
		b := n.ours("b")
		b.End()
		u.End()
		c := n.ours("c")
		c.End()
	}, "+a +u +v -v +b -b -u -a +c -c", 1},
	{"several longer than theirs", func(n *nest) {
		a := n.ours("a")
		u := n.theirs("u")
		b := n.ours("b")
		c := n.ours("c")
		u.End()
		c.End()
		b.End()
		a.End()
	}, "+a +u +b +c -c -b -u -a", 2},
	{"after the task", func(n *nest) {
		a := n.ours("a")
		n.task.End()
		b := n.ours("none")
		b.End()
		a.End()
	}, "+a -a", 0},
	{"names", func(n *nest) {
		for _, name := range []string{"", strings.Repeat("x", 1<<20), "a\x00\xff"} {
			a := n.ours(name)
			a.End()
		}
	}, "+ - +" + strings.Repeat("x", 1024) + " -" + strings.Repeat("x", 1024) + " +a\x00\xff -a\x00\xff", 0},
	{"of an ended goroutine", func(n *nest) {
		var a *Region
		for range 100 { // they have the same g, as a rule
			elsewhere(func() { a = n.ours("a") })
			a.End()
			elsewhere(func() { n.theirs("u").End() })
		}
	}, "", 100},
	{"too many", func(n *nest) {
		// Those of tasks that have ended make room.
		for range 3 {
			_, other := New(n.ctx, "nest")
			for range 32 {
				other.Region("x")
			}
			other.End()
		}
	}, strings.Repeat("+x ", 64) + strings.Repeat("-x ", 64) + strings.Repeat("+x ", 31) + "+x", 64},
}

// TestNests tests that a trace can be read whatever regions do, and has those of the program as
// they are.
func TestNests(t *testing.T) {
	start(t, Config{})
	for _, tt := range nests {
		var before uint64
		b := traced(t, func() {
			before = untold()
			elsewhere(func() {
				n := new(nest)
				n.ctx, n.task = New(context.Background(), "nest")
				defer n.task.End()
				trace.Log(n.ctx, "begins", "")
				tt.do(n)
			})
		})
		if n := untold() - before; n != uint64(tt.untold) {
			t.Errorf("%s: %d regions are counted, want %d", tt.name, n, tt.untold)
		}
		regions, err := readTrace(b)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		found := tt.want == ""
		for g, list := range regions {
			if list[0][0] == '-' {
				t.Errorf("%s: goroutine %d ends what it has not begun: %q", tt.name, g, list)
			}
			if strings.Join(list, " ") == tt.want {
				found = true
			}
		}
		if !found {
			t.Errorf("%s: %.500q, want %.500q", tt.name, fmt.Sprint(regions), tt.want)
		}
	}
}

// TestNestRestarted tests regions that are open when traces end and begin.
func TestNestRestarted(t *testing.T) {
	start(t, Config{})
	ctx, task := New(context.Background(), "nest")
	defer task.End()
	n := &nest{ctx, task}
	early := n.ours("early")
	var a, b *Region
	var u *trace.Region
	check := func(what string, f func()) {
		if _, err := readTrace(traced(t, f)); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	check("first", func() {
		a = n.ours("a")
		u = n.theirs("u")
		b = n.ours("b")
		early.End()
	})
	check("second", func() {
		v := n.theirs("v")
		c := n.ours("c")
		a.End()
		v.End()
		u.End()
		c.End()
		b.End()
	})
	check("third", func() { n.theirs("w").End() })
}

// shuffle begins and ends regions on a goroutine at random: the program's so that they nest, and
// ours anyhow, those of other goroutines too.
func shuffle(rnd *rand.Rand, n *nest, steps int, others chan *Region) {
	var ours []*Region
	var theirs []*trace.Region
	for range steps {
		switch rnd.IntN(8) {
		case 0, 1:
			ours = append(ours, n.ours(fmt.Sprint("ours ", len(ours))))
		case 2:
			theirs = append(theirs, n.theirs(fmt.Sprint("theirs ", len(theirs))))
		case 3:
			if l := len(theirs); l > 0 {
				theirs[l-1].End()
				theirs = theirs[:l-1]
			}
		case 4, 5:
			if l := len(ours); l > 0 {
				i := rnd.IntN(l)
				ours[i].End()
				ours = slices.Delete(ours, i, i+1)
			}
		case 6:
			if l := len(ours); l > 0 {
				i := rnd.IntN(l)
				select {
				case others <- ours[i]:
					ours = slices.Delete(ours, i, i+1)
				default:
				}
			}
		case 7:
			select {
			case r := <-others:
				r.End()
			default:
			}
		}
	}
	for _, r := range slices.Backward(theirs) {
		r.End()
	}
}

// storm has goroutines shuffle, and others take their places.
func storm(seed uint64, rounds int) {
	others := make(chan *Region, 16)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range rounds {
				elsewhere(func() {
					n := new(nest)
					n.ctx, n.task = New(context.Background(), "nest")
					shuffle(rand.New(rand.NewPCG(seed, uint64(g*rounds+i))), n, 60, others)
					n.task.End()
				})
			}
		})
	}
	wg.Wait()
}

// TestNestStorm tests that a trace can be read, and has all of the program's regions, whatever
// goroutines do with ours.
func TestNestStorm(t *testing.T) {
	defer pprof.SetGoroutineLabels(context.Background())
	start(t, Config{})
	for seed := range uint64(4) {
		regions, err := readTrace(traced(t, func() { storm(seed, 20) }))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		// Those of the program nest, as if there were none of ours.
		for g, list := range regions {
			var open []string
			for _, r := range list {
				name := r[1:]
				if !strings.HasPrefix(name, "theirs ") {
					continue
				}
				if r[0] == '+' {
					open = append(open, name)
				} else if l := len(open); l == 0 || open[l-1] != name {
					t.Fatalf("seed %d: goroutine %d: %s ends with %v open", seed, g, name, open)
				} else {
					open = open[:l-1]
				}
			}
			if len(open) > 0 {
				t.Errorf("seed %d: goroutine %d: %v have not ended", seed, g, open)
			}
		}
	}
}

// TestNestFlight tests that the flight recorder's traces can be read, which begin anywhere.
func TestNestFlight(t *testing.T) {
	start(t, Config{})
	fr := trace.NewFlightRecorder(trace.FlightRecorderConfig{})
	if err := fr.Start(); err != nil {
		t.Skip(err)
	}
	defer fr.Stop()
	ctx, task := New(context.Background(), "nest")
	defer task.End()
	n := &nest{ctx, task}
	outer := n.ours("outer")
	for seed := range uint64(6) {
		u := n.theirs("u")
		a := n.ours("a")
		storm(seed, 2)
		var b bytes.Buffer
		if _, err := fr.WriteTo(&b); err != nil { // ends a generation of the trace
			t.Fatal(err)
		}
		if regions, err := readTrace(b.Bytes()); err != nil {
			t.Fatalf("trace %d: %v", seed, err)
		} else if len(regions) == 0 {
			t.Errorf("trace %d has no regions", seed)
		}
		if seed == 3 {
			outer.End()
		}
		u.End()
		a.End()
	}
}

// TestNestMemory tests that goroutines that leave regions open leave no more behind than there are
// places for goroutines.
func TestNestMemory(t *testing.T) {
	start(t, Config{})
	_, task := New(context.Background(), "nest")
	defer task.End()
	traced(t, func() {
		elsewhere(func() { task.Region("a") })
		before := ToldGoroutines()
		for range 2000 {
			elsewhere(func() { task.Region("a") })
		}
		// Each takes the g of one that has ended, but other tests' may still be about to end.
		if n := ToldGoroutines() - before; n > 200+2*runtime.GOMAXPROCS(0) {
			t.Errorf("2,000 goroutines, one after the other, have left %d behind", n)
		}
	})
}
