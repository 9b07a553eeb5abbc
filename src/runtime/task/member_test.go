// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"runtime/pprof"
	. "runtime/task"
	"strings"
	"testing"
)

// beganIn matches labels of a task that has ended.
var beganIn = regexp.MustCompile(`"began":"[^"]*"(, )?|(, )?"trace":"[0-9a-f]{32}"`)

// labelsNow returns the labels that a sample of the calling goroutine would have now: those
// that the goroutine profile shows, without those of a task that has ended, which no sample has. It finds
// itself in that by its function.
//
//go:noinline
func labelsNow() string {
	var b bytes.Buffer
	pprof.Lookup("goroutine").WriteTo(&b, 1)
	for p := range strings.SplitSeq(b.String(), "\n\n") {
		if !strings.Contains(p, ".labelsNow+") {
			continue
		}
		for l := range strings.Lines(p) {
			if l, ok := strings.CutPrefix(l, "# labels: "); ok {
				l = strings.ReplaceAll(beganIn.ReplaceAllString(strings.TrimSpace(l), ""), ", }", "}")
				return strings.TrimPrefix(l, "{}")
			}
		}
		return ""
	}
	return "not found"
}

// A here says for which task the calling goroutine works: by its samples' label, and by
// which of some tasks has it as a member.
type here struct {
	t     *testing.T
	tasks []*Task
	kinds map[*Task]string
}

func (h *here) New(ctx context.Context, kind string) (context.Context, *Task) {
	ctx, task := New(ctx, kind)
	h.tasks = append(h.tasks, task)
	h.kinds[task] = kind
	return ctx, task
}

// is checks that the goroutine works for the task of that kind, or for none if kind is "".
// Members of children count for their parents, so the last one that has it is it.
func (h *here) is(what, kind string) {
	h.t.Helper()
	want := ""
	if kind != "" {
		want = fmt.Sprintf(`{"task":%q}`, kind)
	}
	if got := labelsNow(); got != want {
		h.t.Errorf("%s: labels %s, want %s", what, got, want)
	}
	got := ""
	for _, task := range h.tasks {
		if u, ok := task.Usage(); ok && u.Working > 0 {
			got = h.kinds[task]
		}
	}
	if got != kind {
		h.t.Errorf("%s: works for %q, want %q", what, got, kind)
	}
}

// TestMember tests for which task a goroutine works, in the ways in which it may come to work
// for one and leave it again.
func TestMember(t *testing.T) {
	bg := context.Background()
	elsewhere := func(f func()) {
		done := make(chan bool)
		go func() { f(); close(done) }()
		<-done
	}
	for _, test := range []struct {
		name string
		f    func(h *here)
	}{
		{"nested", func(h *here) {
			ctx, a := h.New(bg, "a")
			h.is("in a", "a")
			_, b := h.New(ctx, "b")
			h.is("in b", "b")
			b.End()
			h.is("after b", "a")
			a.End()
			h.is("after a", "")
		}},
		{"unrelated", func(h *here) {
			_, a := h.New(bg, "a")
			_, b := h.New(bg, "b")
			h.is("in b", "b")
			b.End()
			h.is("after b", "a")
			a.End()
			h.is("after a", "")
		}},
		{"parent ends first", func(h *here) {
			ctx, a := h.New(bg, "a")
			_, b := h.New(ctx, "b")
			a.End()
			h.is("after a", "b")
			b.End()
			h.is("after b", "")
		}},
		{"middle ends first", func(h *here) {
			_, a := h.New(bg, "a")
			_, b := h.New(bg, "b")
			_, c := h.New(bg, "c")
			b.End()
			h.is("after b", "c")
			c.End()
			h.is("after c", "a")
			a.End()
			h.is("after a", "")
		}},
		{"ended, with members", func(h *here) {
			_, a := h.New(bg, "a")
			_, b := h.New(bg, "b")
			stop := make(chan bool)
			go func() { <-stop }()
			_, c := h.New(bg, "c")
			b.End()
			c.End()
			h.is("after c", "a")
			close(stop)
			a.End()
		}},
		{"ended elsewhere", func(h *here) {
			_, a := h.New(bg, "a")
			_, b := h.New(bg, "b")
			elsewhere(b.End)
			h.is("after b", "")
			_, c := h.New(bg, "c")
			h.is("in c", "c")
			c.End()
			h.is("after c", "a")
			a.End()
			h.is("after a", "")
		}},
		{"child ended elsewhere", func(h *here) {
			ctx, a := h.New(bg, "a")
			_, b := h.New(ctx, "b")
			elsewhere(b.End)
			h.is("after b", "a")
			elsewhere(a.End)
			h.is("after a", "")
		}},
		{"deep", func(h *here) {
			var tasks []*Task
			ctx := bg
			for i := range 14 {
				var task *Task
				ctx, task = h.New(ctx, fmt.Sprint("deep ", i))
				tasks = append(tasks, task)
			}
			for i := 13; i > 0; i-- {
				tasks[i].End()
				h.is("deep", fmt.Sprint("deep ", i-1))
			}
			tasks[0].End()
			h.is("after all", "")
		}},
		{"many ended elsewhere", func(h *here) {
			_, a := h.New(bg, "a")
			for range 100 {
				_, b := New(bg, "b")
				elsewhere(b.End)
			}
			_, c := h.New(bg, "c")
			c.End()
			h.is("after many", "a")
			a.End()
			h.is("after a", "")
		}},
		{"Enter", func(h *here) {
			actx, a := h.New(bg, "a")
			bctx, b := h.New(bg, "b")
			e := Enter(actx)
			h.is("in a", "a")
			e2 := Enter(bctx)
			h.is("in b", "b")
			e3 := Enter(bctx)
			e3.Exit()
			h.is("still in b", "b")
			e2.Exit()
			h.is("in a again", "a")
			e.Exit()
			h.is("in b again", "b")
			b.End()
			a.End()
			h.is("after all", "")
			Enter(actx).Exit()
			e = Enter(actx)
			h.is("in an ended one", "")
			e.Exit()
		}},
		{"Exit leaves what was begun since", func(h *here) {
			actx, a := h.New(bg, "a")
			_, b := h.New(bg, "b")
			e := Enter(actx)
			_, c := h.New(bg, "c")
			h.is("in c", "c")
			e.Exit()
			h.is("after Exit", "b")
			c.End()
			h.is("after c", "b")
			b.End()
			a.End()
			h.is("after all", "")
		}},
		{"Exit after End elsewhere", func(h *here) {
			_, b := h.New(bg, "b")
			actx, a := h.New(bg, "a")
			e := Enter(actx) // nothing: it works for a already
			elsewhere(a.End)
			e.Exit()
			_, c := h.New(bg, "c")
			e = Enter(actx)
			h.is("a has ended", "c")
			e.Exit()
			c.End()
			h.is("after c", "b")
			b.End()
		}},
		{"Do of none", func(h *here) {
			_, a := h.New(bg, "a")
			pprof.Do(bg, pprof.Labels(), func(context.Context) { h.is("in Do", "a") })
			h.is("after Do", "a")
			pprof.SetGoroutineLabels(bg)
			h.is("after SetGoroutineLabels", "a")
			a.End()
			h.is("after a", "")
		}},
		{"Do of one", func(h *here) {
			actx, a := h.New(bg, "a")
			_, b := h.New(bg, "b")
			pprof.Do(actx, pprof.Labels(), func(ctx context.Context) {
				h.is("in Do", "a")
				pprof.Do(bg, pprof.Labels(), func(context.Context) { h.is("in Do of none", "a") })
				pprof.SetGoroutineLabels(bg)
				h.is("after SetGoroutineLabels", "a")
			})
			h.is("after Do", "b")
			b.End()
			a.End()
			h.is("after all", "")
		}},
		{"SetGoroutineLabels", func(h *here) {
			actx, a := h.New(bg, "a")
			bctx, b := h.New(bg, "b")
			pprof.SetGoroutineLabels(actx)
			h.is("a's", "a")
			pprof.SetGoroutineLabels(bctx)
			h.is("b's", "b")
			pprof.SetGoroutineLabels(actx)
			pprof.Do(bg, pprof.Labels(), func(context.Context) { h.is("in Do of none", "a") })
			h.is("after Do of none", "a")
			pprof.SetGoroutineLabels(actx)
			_, c := h.New(actx, "c")
			pprof.SetGoroutineLabels(bg)
			h.is("none's, in c", "c")
			c.End()
			h.is("after c", "a")
			pprof.SetGoroutineLabels(bg)
			h.is("none's", "b")
			pprof.SetGoroutineLabels(actx)
			a.End()
			h.is("after a", "b")
			pprof.SetGoroutineLabels(actx)
			h.is("an ended one's", "b")
			b.End()
			h.is("after b", "")
		}},
		{"children outlive", func(h *here) {
			actx, a := h.New(bg, "a")
			ask, done := make(chan string), make(chan bool)
			go func() {
				for s := range ask {
					h.is(s, s)
					pprof.SetGoroutineLabels(bg) // it was born to it
					h.is(s, s)
					done <- true
				}
				// What it starts works for no task either.
				elsewhere(func() { h.is("its child", "") })
				h.is("after a", "")
				e := Enter(actx)
				h.is("in an ended one", "")
				e.Exit()
				done <- true
			}()
			h.tasks = nil // both are a's
			h.tasks = append(h.tasks, a)
			ask <- "a"
			<-done
			a.End()
			close(ask)
			<-done
		}},
		{"own label", func(h *here) {
			pprof.Do(bg, pprof.Labels("task", "mine", "x", "y"), func(ctx context.Context) {
				_, a := New(ctx, "a")
				if got := labelsNow(); got != `{"task":"mine", "x":"y"}` {
					t.Error(got)
				}
				a.End()
			})
			_, a := New(bg, "a")
			pprof.Do(bg, pprof.Labels("x", "y", "A", "b"), func(ctx context.Context) {
				if got := labelsNow(); got != `{"A":"b", "task":"a", "x":"y"}` {
					t.Error(got)
				}
			})
			a.End()
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			start(t, Config{})
			h := &here{t: t, kinds: map[*Task]string{}}
			done := make(chan bool)
			go func() {
				defer close(done)
				h.is("at first", "")
				test.f(h)
				h.is("at last", "")
			}()
			<-done
		})
	}
}
