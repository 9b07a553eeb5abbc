// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package latency says where the latency of requests goes, computing and waiting: of the slow ones of a kind, beside
// usual ones. It sums up critical paths, which the records of requests have. What they ran for is divided
// among the stacks of a profile's samples.
//
// The sums balance: a kind's parts are its latency, exactly. What is not known has this name.
package latency

import (
	"cmp"
	"errors"
	"internal/taskrecord"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// maxKinds bounds how many kinds are summed up.
const maxKinds = 1000

// A Builder sums up the latencies of requests.
type Builder struct {
	Servers bool // name servers, as there are several
	Callees bool // a callee comes first, then its callers; and it is not said what it was in

	kinds map[string]*Kind
	nodes int // of all kinds
	left  int64
}

// A Group is the slow requests of a kind, or the usual ones.
type Group struct {
	Requests int64
	Time     time.Duration
}

// each returns what one request has of d, on average.
func (g *Group) each(d time.Duration) time.Duration {
	if g.Requests == 0 {
		return 0
	}
	n := time.Duration(g.Requests)
	each, rest := d/n, d%n
	if rest >= n-rest {
		each++
	}
	return each
}

// A Kind is the latency of a kind of requests.
type Kind struct {
	Name  string
	group [groups]Group
	tree  *tree
	run   *node // what they ran for
	notes []string
	clock string // whose samples are in it, or ""
}

// Slow and Usual return the groups.
func (k *Kind) Slow() Group  { return k.group[isSlow] }
func (k *Kind) Usual() Group { return k.group[isUsual] }

// Add adds a request: a task, which is no client's, with all that worked for it.
func (b *Builder) Add(n *taskrecord.Node) error {
	k := b.kind(n.Task.Kind)
	if k == nil {
		b.left++
		return nil
	}
	g := isUsual
	if n.Task.Flags&taskrecord.Slow != 0 {
		g = isSlow
	}
	wall := max(0, n.Task.Wall)
	if wall > math.MaxInt64-k.group[isUsual].Time-k.group[isSlow].Time {
		return errors.New("the sum of the latencies does not fit into 64 bits")
	}
	k.group[g].Requests++
	k.group[g].Time += wall
	n.PathStacks(b.Servers, func(s *taskrecord.PathStack) {
		if b.Callees {
			k.tree.add(calleesOf(s), g, s.Time, 0)
			return
		}
		x := k.tree.add(namesOf(s.Frames[1:]), g, s.Time, 0)
		if s.Running && s.Tasks == 1 && x.depth == 1 {
			k.run = x
		}
		x.marks(s, g)
	})
	return nil
}

// kind returns the kind of a name, or nil if there are too many.
func (b *Builder) kind(name string) *Kind {
	k := b.kinds[name]
	if k == nil {
		if len(b.kinds) == maxKinds {
			return nil
		}
		if b.kinds == nil {
			b.kinds = make(map[string]*Kind)
		}
		k = &Kind{Name: name, tree: newTree(&b.nodes)}
		b.kinds[name] = k
	}
	return k
}

// namesOf returns the names of frames.
func namesOf(frames []taskrecord.Frame) []string {
	names := make([]string, 0, len(frames))
	for i := range frames {
		names = append(names, cmp.Or(frames[i].Func, "[unknown]"))
	}
	return names
}

// calleesOf returns who had the time, and then who has called it. It may be a call's, of several, or the task's itself: then
// nobody knows who had it.
func calleesOf(s *taskrecord.PathStack) []string {
	names := namesOf(s.Frames[:s.Tasks])
	if len(s.Frames) > s.Tasks && s.Frames[s.Tasks].Func == notKnown {
		names = append(names, notKnown)
	}
	slices.Reverse(names)
	return names
}

// Kinds returns the kinds, those first whose slow requests have taken most time. left says of how many requests there is
// none, as there are too many kinds.
func (b *Builder) Kinds() (list []*Kind, left int64) {
	list = slices.SortedFunc(maps.Values(b.kinds), func(x, y *Kind) int {
		return cmp.Or(cmp.Compare(y.group[isSlow].Time, x.group[isSlow].Time), cmp.Compare(y.group[isUsual].Time, x.group[isUsual].Time), strings.Compare(x.Name, y.Name))
	})
	return list, b.left
}
