// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime/pprof"
	. "runtime/task"
	"slices"
	"testing"
)

// anyLabels runs a program with labels and tasks that depends on seed, and returns the labels
// that its goroutines had.
func anyLabels(seed uint64) (labels []string) {
	rnd := rand.New(rand.NewPCG(seed, 2))
	contexts := []context.Context{context.Background()}
	any := func() context.Context { return contexts[rnd.IntN(len(contexts))] }
	keys := []string{"a", "b", "task"}
	set := func() pprof.LabelSet {
		return pprof.Labels(keys[rnd.IntN(len(keys))], fmt.Sprint("own ", rnd.IntN(3)))
	}
	look := func() { labels = append(labels, labelsNow()) }
	var run func(depth int)
	run = func(depth int) {
		for range 4 {
			look()
			n := 7
			if depth == 0 {
				n = 2
			}
			switch rnd.IntN(n) {
			case 0:
				contexts = append(contexts, pprof.WithLabels(any(), set()))
			case 1:
				pprof.SetGoroutineLabels(any())
			case 2:
				pprof.Do(any(), set(), func(ctx context.Context) { contexts = append(contexts, ctx); run(depth - 1) })
			case 3:
				ctx, t := New(any(), "of a task")
				contexts = append(contexts, ctx)
				run(depth - 1)
				t.End()
			case 4:
				ctx, t := New(any(), "of a task")
				contexts = append(contexts, ctx) // it ends elsewhere
				done := make(chan bool)
				go func() { run(depth - 1); t.End(); close(done) }()
				<-done
			case 5:
				e := Enter(any())
				run(depth - 1)
				e.Exit()
			case 6:
				done := make(chan bool)
				go func() { run(depth - 1); close(done) }()
				<-done
			}
			look()
		}
	}
	done := make(chan bool)
	go func() { run(4); close(done) }()
	<-done
	return labels
}

// TestLabelsAsWithout tests that goroutines have the labels that they have without tasks, and
// samples the label task besides, unless there is one of that name.
func TestLabelsAsWithout(t *testing.T) {
	ours := regexp.MustCompile(`, "task":"of a task"|"task":"of a task"(, )?`)
	seen := 0
	for seed := range uint64(16) {
		Stop()
		want := anyLabels(seed)
		start(t, Config{})
		got := anyLabels(seed)
		for i, l := range got {
			if without := ours.ReplaceAllString(l, ""); without != l {
				seen++
				got[i] = without
				if without == "{}" {
					got[i] = ""
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: labels\n%q\nwant\n%q", seed, got, want)
		}
	}
	if seen < 16 {
		t.Errorf("the label task was seen %d times", seen)
	}
}
