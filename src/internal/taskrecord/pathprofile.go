// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"errors"
	"io"
	"math"
	"time"
)

// Callers returns the tasks of requests that no other one has called, or if kind is not empty each task of that kind.
// Tasks of clients, which are calls, are none.
func Callers(requests []*Request, kind string) (list []*Node) {
	for _, r := range requests {
		for _, n := range r.Nodes {
			if n.Task.Flags&Client == 0 && (kind == "" && n.isCaller() || kind != "" && n.Task.Kind == kind) {
				list = append(list, n)
			}
		}
	}
	return list
}

// isCaller reports whether no task among the records has n as a child, apart from clients'.
func (n *Node) isCaller() bool {
	p := n.Parent
	for p != nil && p.isCall() {
		p = p.Parent
	}
	return p == nil
}

// Servers returns how many names servers of tasks have, and those of tasks that worked for these.
func Servers(list []*Node) int {
	names := make(map[string]bool)
	seen := make(map[*Node]bool)
	var add func(n *Node)
	add = func(n *Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		names[n.Task.Server.Text()] = true
		for _, c := range n.Children {
			add(c)
		}
	}
	for _, n := range list {
		add(n)
	}
	return len(names)
}

// WritePathProfile writes what the ends of tasks had to wait for as a profile for go tool pprof. The tasks are
// no clients'.
//
// Stacks of samples are those of [Node.PathStacks], over servers: the root is the task, and what worked on its calls
// is above these. The values are the tasks, which have a sample of their own whose stack is just the kind, and the
// time ("latency"). Samples have the label kind, that of the root, and slow=yes if that was slow. Latencies
// of a kind are in sum exactly the lengths of its tasks in list. An error says if all of them do not fit into 64 bits.
func WritePathProfile(w io.Writer, list []*Node) error {
	b := profileBuilder{paths: true, samples: make(map[string]*profileSample)}
	servers := Servers(list) > 1
	var sum time.Duration
	for _, n := range list {
		t := n.Task
		if max(0, t.Wall) > math.MaxInt64-sum {
			return errors.New("task: the sum of the latencies does not fit into 64 bits: select fewer tasks")
		}
		sum += max(0, t.Wall)
		b.during(t)
		b.sample(t, Frame{Func: n.kindFrame(servers)}).tasks++
		n.PathStacks(servers, func(s *PathStack) {
			b.sample(t, s.Frames...).wall += int64(s.Time)
		})
	}
	return b.profile().Write(w)
}
