// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"bytes"
	"context"
	"fmt"
	"internal/profile"
	"internal/testenv"
	"os"
	"runtime"
	"runtime/pprof"
	. "runtime/task"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A leaver leaves goroutines that wait: until the test ends, or for ever.
type leaver struct {
	ready, stop chan bool
	leak        bool
	trace       string // of the task that they are left of
}

// wait is what goroutines are known by.
//
//go:noinline
func (l *leaver) wait() {
	l.ready <- true
	if l.leak {
		<-make(chan bool)
	}
	<-l.stop
}

// leave leaves a goroutine that has done this. It returns when that waits.
func (l *leaver) leave(do ...func()) {
	go func() {
		for _, f := range do {
			f()
		}
		l.wait()
	}()
	<-l.ready
}

// New is task.New of the task whose trace goroutines should have.
func (l *leaver) New(ctx context.Context, kind string) (context.Context, *Task) {
	ctx, t := New(ctx, kind)
	l.trace = t.Trace()
	return ctx, t
}

// begun returns what f returns, called on another goroutine, which is left.
func (l *leaver) begun(f func() *Task) (t *Task) {
	l.leave(func() { t = f() })
	return t
}

// leaveWays are the ways in which a task may leave a goroutine, and the labels that this then has. Each leaves one
// goroutine, and returns what is to be ended.
var leaveWays = []struct {
	name, want string
	f          func(l *leaver, bg context.Context) (open *Task)
}{
	{"started by a task", "began=a trace=T", func(l *leaver, bg context.Context) *Task {
		_, a := l.New(bg, "a")
		l.leave()
		a.End()
		return nil
	}},
	{"of no task", "", func(l *leaver, bg context.Context) *Task {
		l.leave()
		return nil
	}},
	{"of an open task", "task=a", func(l *leaver, bg context.Context) *Task {
		_, a := l.New(bg, "a")
		l.leave()
		return a
	}},
	{"of a child", "began=under trace=T", func(l *leaver, bg context.Context) *Task {
		ctx, a := l.New(bg, "a")
		_, under := New(ctx, "under")
		l.leave()
		under.End()
		a.End()
		return nil
	}},
	{"of a child, the parent first", "began=under trace=T", func(l *leaver, bg context.Context) *Task {
		ctx, a := l.New(bg, "a")
		_, under := New(ctx, "under")
		l.leave()
		a.End()
		under.End()
		return nil
	}},
	{"of a child of an open task", "task=a", func(l *leaver, bg context.Context) *Task {
		ctx, a := l.New(bg, "a")
		_, under := New(ctx, "under")
		l.leave()
		under.End()
		return a
	}},
	{"by a kind that was set", "began=b trace=T", func(l *leaver, bg context.Context) *Task {
		_, a := l.New(bg, "a")
		l.leave()
		a.SetKind("b")
		a.End()
		return nil
	}},
	{"with its own label", "began=own trace=T", func(l *leaver, bg context.Context) *Task {
		_, a := l.New(bg, "a")
		l.leave(func() { pprof.SetGoroutineLabels(pprof.WithLabels(bg, pprof.Labels("began", "own"))) })
		a.End()
		return nil
	}},
	{"with its own trace", "began=a trace=own", func(l *leaver, bg context.Context) *Task {
		_, a := l.New(bg, "a")
		l.leave(func() { pprof.SetGoroutineLabels(pprof.WithLabels(bg, pprof.Labels("trace", "own"))) })
		a.End()
		return nil
	}},
	{"that entered it", "began=a trace=T", func(l *leaver, bg context.Context) *Task {
		var a *Task
		work := make(chan context.Context)
		go func() {
			ctx, t := l.New(bg, "a")
			a = t
			work <- ctx
		}()
		l.leave(func() { Enter(<-work) })
		a.End()
		return nil
	}},
	{"that has exited", "", func(l *leaver, bg context.Context) *Task {
		var a *Task
		work := make(chan context.Context)
		go func() {
			ctx, t := l.New(bg, "a")
			a = t
			work <- ctx
		}()
		l.leave(func() { Enter(<-work).Exit() })
		a.End()
		return nil
	}},
	{"that began it", "", func(l *leaver, bg context.Context) *Task {
		l.begun(func() *Task { _, a := l.New(bg, "a"); return a }).End()
		return nil
	}},
	{"that ended it", "", func(l *leaver, bg context.Context) *Task {
		_, a := l.New(bg, "a")
		l.leave(a.End)
		return nil
	}},
	{"that began a child", "began=a trace=T", func(l *leaver, bg context.Context) *Task {
		ctx, a := l.New(bg, "a")
		l.begun(func() *Task { _, under := New(ctx, "under"); return under }).End()
		a.End()
		return nil
	}},
	{"started by one that outlives it", "", func(l *leaver, bg context.Context) *Task {
		_, a := l.New(bg, "a")
		more := make(chan bool)
		go func() {
			<-more
			l.leave()
			close(more)
		}()
		a.End()
		more <- true
		<-more
		return nil
	}},
	{"that works for another one", "task=b", func(l *leaver, bg context.Context) (b *Task) {
		_, a := l.New(bg, "a")
		more := make(chan bool)
		go func() {
			<-more
			_, b = New(bg, "b")
			l.wait()
		}()
		a.End()
		more <- true
		<-l.ready
		return b
	}},
	{"that has worked for another one since", "", func(l *leaver, bg context.Context) *Task {
		_, a := l.New(bg, "a")
		more := make(chan bool)
		go func() {
			<-more
			_, b := New(bg, "b")
			b.End()
			l.wait()
		}()
		a.End()
		more <- true
		<-l.ready
		return nil
	}},
}

// left returns how many goroutines of leavers a profile has, by their labels.
func left(t *testing.T, name string) map[string]int {
	t.Helper()
	var b bytes.Buffer
	if err := pprof.Lookup(name).WriteTo(&b, 0); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[string]int)
	for _, s := range p.Sample {
		if !slices.ContainsFunc(s.Location, func(l *profile.Location) bool {
			return slices.ContainsFunc(l.Line, func(l profile.Line) bool { return strings.HasSuffix(l.Function.Name, ".(*leaver).wait") })
		}) {
			continue
		}
		var labels []string
		for _, key := range []string{"began", "slow", "task", "trace"} {
			if v := s.Label[key]; v != nil {
				labels = append(labels, key+"="+strings.Join(v, ","))
			}
		}
		counts[strings.Join(labels, " ")] += int(s.Value[0])
	}
	return counts
}

func count(labels map[string]int) (n int) {
	for _, k := range labels {
		n += k
	}
	return n
}

// leakEnv has TestBegan leak goroutines, which stay. So that is done in another process.
const leakEnv = "GO_TASK_TEST_LEAK"

// TestBegan tests which goroutines the goroutine profile, and that of those that are leaked, say to have
// begun in a task that has ended, and which task and trace that is.
func TestBegan(t *testing.T) {
	names := []string{"goroutine"}
	if os.Getenv(leakEnv) != "" {
		names[0] = "goroutineleak"
	} else {
		t.Run("in another process", func(t *testing.T) {
			cmd := testenv.Command(t, testenv.Executable(t), "-test.v", "-test.run=^TestBegan$")
			cmd.Env = append(cmd.Environ(), leakEnv+"=1")
			out, err := cmd.CombinedOutput()
			if n := bytes.Count(out, []byte("--- PASS: TestBegan/goroutineleak/")); err != nil || n != len(leaveWays) {
				t.Errorf("error %v, %d of %d tests have passed:\n%s", err, n, len(leaveWays), out)
			}
		})
	}
	start(t, Config{})
	for _, name := range names {
		for _, way := range leaveWays {
			t.Run(name+"/"+way.name, func(t *testing.T) {
				before := left(t, name)
				l := &leaver{ready: make(chan bool), stop: make(chan bool), leak: name == "goroutineleak"}
				done := make(chan *Task)
				go func() { done <- way.f(l, context.Background()) }()
				open := <-done
				after := left(t, name)
				for count(after) == count(before) { // it is about to wait
					after = left(t, name)
				}
				open.End()
				close(l.stop)
				for !l.leak && count(left(t, name)) > count(before) { // it is about to end
				}
				want := way.want
				if l.trace != "" {
					want = strings.ReplaceAll(want, "trace=T", "trace="+l.trace)
				}
				n := 0
				for labels, k := range after {
					if k -= before[labels]; k != 0 {
						if n += k; labels != want {
							t.Errorf("labels %q, want %q", labels, want)
						}
					}
				}
				if n != 1 {
					t.Errorf("%d goroutines are left, want 1", n)
				}
			})
		}
	}
}

// TestBeganText tests that the text of the profile has the labels, too.
func TestBeganText(t *testing.T) {
	start(t, Config{})
	l := &leaver{ready: make(chan bool), stop: make(chan bool)}
	defer close(l.stop)
	_, a := l.New(context.Background(), "a")
	l.leave()
	a.End()
	var b bytes.Buffer
	pprof.Lookup("goroutine").WriteTo(&b, 1)
	if want := fmt.Sprintf(`# labels: {"began":"a", "trace":%q}`, l.trace); !strings.Contains(b.String(), want) {
		t.Errorf("no %s in\n%s", want, &b)
	}
}

// TestBeganKept tests that a profile tells of a task that is there no more: neither it nor its context is kept for
// that, nor by it.
func TestBeganKept(t *testing.T) {
	start(t, Config{})
	var k kept
	l := &leaver{ready: make(chan bool), stop: make(chan bool)}
	defer close(l.stop)
	done := make(chan bool)
	go func() {
		defer close(done)
		_, a := k.New(k.context(), "a")
		l.trace = a.Trace()
		l.leave()
		a.End()
	}()
	<-done
	gone := make(chan bool)
	go func() {
		k.tasks.Wait()
		k.values.Wait()
		close(gone)
	}()
	for ended := false; !ended; {
		left(t, "goroutine")
		runtime.GC()
		select {
		case <-gone:
			ended = true
		default:
			runtime.Gosched()
		}
	}
	if got := left(t, "goroutine"); got["began=a trace="+l.trace] != 1 {
		t.Errorf("goroutines by labels: %v", got)
	}
}

// TestBeganMany tests that few of very many goroutines at one place have a trace, so that the profile stays
// small, and that all of them are in it.
func TestBeganMany(t *testing.T) {
	start(t, Config{Rate: 1e-9})
	l := &leaver{ready: make(chan bool), stop: make(chan bool)}
	defer close(l.stop)
	const n, each = 100, 3
	for range n {
		_, a := New(context.Background(), "many")
		for range each {
			l.leave()
		}
		a.End()
	}
	_, b := l.New(context.Background(), "few")
	l.leave()
	b.End()
	got := left(t, "goroutine")
	sum, traces := 0, 0
	for labels, k := range got {
		if !strings.HasPrefix(labels, "began=many") {
			continue // of other tests
		}
		sum += k
		if strings.Contains(labels, "trace=") {
			if traces++; k != each {
				t.Errorf("%d goroutines with labels %q, want %d", k, labels, each)
			}
		}
	}
	if sum != n*each || traces != 16 || got["began=few trace="+l.trace] != 1 {
		t.Errorf("%d goroutines, want %d, with %d traces; %d of another kind", sum, n*each, traces, got["began=few trace="+l.trace])
	}
}

// TestBeganWhile takes profiles while tasks begin and end. A goroutine then works for its task, or it is left of that.
func TestBeganWhile(t *testing.T) {
	start(t, Config{Rate: 1e-9})
	rounds := 30
	if !testing.Short() {
		rounds = 1000
	}
	var wg sync.WaitGroup
	stop := make(chan bool)
	var traces sync.Map
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				l := &leaver{ready: make(chan bool), stop: make(chan bool)}
				_, a := New(context.Background(), "while")
				traces.Store("began=while trace="+a.Trace(), true)
				l.leave()
				l.leave()
				a.End()
				runtime.Gosched()
				close(l.stop)
			}
		})
	}
	seen := make(map[string]int)
	for n := 0; (n < rounds || seen["task"] == 0 || seen["began"] == 0) && !t.Failed(); n++ {
		for labels := range left(t, "goroutine") {
			switch _, known := traces.Load(labels); {
			case labels == "task=while":
				seen["task"]++
			case known:
				seen["began"]++
			case strings.Contains(labels, "while"):
				t.Errorf("labels %q", labels)
			}
		}
	}
	close(stop)
	wg.Wait()
	t.Logf("goroutines seen: %v", seen)
}
