// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"bytes"
	"context"
	"internal/profile"
	"io"
	"runtime/pprof"
	. "runtime/task"
	"strings"
	"testing"
)

// Each of these burns some CPU time for a task of a kind, or for none, with labels or without.

//go:noinline
func burnOuter() { burn() }

//go:noinline
func burnInner() { burn() }

//go:noinline
func burnLabeled() { burn() }

//go:noinline
func burnOwn() { burn() }

//go:noinline
func burnChild() { burn() }

//go:noinline
func burnNone() { burn() }

// TestSampleLabels tests that a sample has the kind of the task that its goroutine worked for
// when it was taken, besides the goroutine's labels.
func TestSampleLabels(t *testing.T) {
	want := map[string]string{
		"burnOuter":   `task=[outer]`,
		"burnInner":   `task=[inner]`,
		"burnLabeled": `step=[one] task=[outer]`,
		"burnOwn":     `task=[own]`,
		"burnChild":   `task=[outer]`,
		"burnNone":    ``,
	}
	work := func() {
		bg := context.Background()
		burnNone()
		ctx, outer := New(bg, "outer")
		burnOuter()
		done := make(chan bool)
		go func() {
			burnChild()
			done <- true
			<-done
			burnNone() // the task has ended
			done <- true
		}()
		<-done
		burnOuter()
		_, inner := New(ctx, "inner") // nothing reads the thread's ring but this
		burnInner()
		inner.End()
		burnOuter()
		pprof.Do(bg, pprof.Labels("step", "one"), func(context.Context) { burnLabeled() })
		pprof.Do(bg, pprof.Labels("task", "own"), func(context.Context) { burnOwn() })
		burnOuter()
		outer.End()
		burnNone()
		done <- true
		<-done
	}
	for _, test := range []struct {
		name  string
		start func(w io.Writer) error
	}{
		{"timer", pprof.StartCPUProfile},
		{"task-clock", func(w io.Writer) error {
			return pprof.StartCPUProfileWithConfig(pprof.PerfEvent(w, "task-clock", 1_000_000))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			start(t, Config{})
			seen := make(map[string]int)
			for try := 0; len(seen) < len(want) && try < 50; try++ {
				var b bytes.Buffer
				if err := test.start(&b); err != nil {
					t.Skip(err)
				}
				done := make(chan bool)
				go func() { work(); work(); close(done) }()
				<-done
				pprof.StopCPUProfile()
				p, err := profile.Parse(&b)
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range p.Sample {
					name := burner(s)
					if name == "" {
						continue
					}
					seen[name]++
					var labels []string
					for _, key := range []string{"step", "task"} {
						if v := s.Label[key]; v != nil {
							labels = append(labels, key+"=["+strings.Join(v, " ")+"]")
						}
					}
					if got := strings.Join(labels, " "); got != want[name] {
						t.Errorf("%s: labels %q, want %q", name, got, want[name])
					}
				}
			}
			if len(seen) < len(want) {
				t.Errorf("samples of %v only", seen)
			}
		})
	}
}

// burner returns the function of those above in which the sample was taken.
func burner(s *profile.Sample) string {
	for _, l := range s.Location {
		for _, line := range l.Line {
			if _, name, ok := strings.Cut(line.Function.Name, ".burn"); ok && name != "" {
				return "burn" + name
			}
		}
	}
	return ""
}
