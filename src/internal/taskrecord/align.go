// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"math"
	"time"
)

// far is an offset without a bound.
const far = time.Duration(math.MaxInt64 / 4)

// bounds are of offsets of clocks: [i][j] is how much j's is more than i's at most. They
// are closed: none follows from others that is less.
type bounds [][]time.Duration

func newBounds(n int) bounds {
	b := make(bounds, n)
	for i := range b {
		b[i] = make([]time.Duration, n)
		for j := range b[i] {
			if i != j {
				b[i][j] = far
			}
		}
	}
	return b
}

// atMost bounds the offset of j over that of i, and reports whether that is possible.
func (b bounds) atMost(i, j int, d time.Duration) bool {
	if d >= b[i][j] {
		return true
	}
	if b[j][i] < far && d+b[j][i] < 0 {
		return false
	}
	b[i][j] = d
	for k := range b {
		for l := range b {
			if b[k][i] < far && b[j][l] < far {
				b[k][l] = min(b[k][l], b[k][i]+d+b[j][l])
			}
		}
	}
	return true
}

// around returns how far d is from the ends of what j's offset over i's can be, at most; or
// -1 if one end is not bounded.
func (b bounds) around(i, j int, d time.Duration) time.Duration {
	if i == j {
		return 0
	}
	if i >= len(b) || j >= len(b) || b[i][j] >= far || b[j][i] >= far {
		return -1
	}
	return max(b[i][j]-d, d+b[j][i])
}

// A link is a call of one server by another one: how much more the caller's clock is, by
// which the other one's has to be moved, at least and at most.
type link struct {
	from, to    int
	least, most time.Duration
}

// sameMachine reports whether two servers are known to run on one machine.
func (s *Server) sameMachine(o *Server) bool { return s.Boot != "" && s.Boot == o.Boot }

// sameClock is by how much the times of two servers on one machine may differ: each of them notices
// within half of that that the clock has been set.
const sameClock = 40 * time.Microsecond

// align returns what to add to the times that nodes begin at, local, for each server, and
// the bounds of that.
//
// The bounds are those of Cristian's algorithm and of NTP: what a server does for a call
// begins after the call and ends before it. (A task that is longer than the call that it
// is for has gone on after its answer; it only begins within the call.) And what has
// happened before something else by causal clocks has begun before it. Of what the bounds
// permit, that is chosen by which clocks are moved least: clocks mostly agree, and how long the
// way of a call took is not known better by halving the rest. ok is false if bounds contradict
// each other, of which then the later ones are left out.
func align(nodes []*Node, local []time.Duration, servers []*Server, base []int64) (offset []time.Duration, b bounds, ok bool) {
	n := min(len(servers), maxOffsets)
	b = newBounds(n)
	ok = len(servers) <= n
	for j := range n {
		for i := range j {
			if servers[i].sameMachine(servers[j]) {
				d := since(base[i], base[j])
				b.atMost(i, j, d+sameClock)
				b.atMost(j, i, sameClock-d)
			}
		}
	}
	at := make(map[*Node]time.Duration)
	for i, x := range nodes {
		at[x] = local[i]
	}

	var links []link
	for _, x := range nodes {
		p := x.Parent
		if p == nil || p.Server == x.Server || p.Server >= n || x.Server >= n {
			continue
		}
		start, wall := at[p], length(p.Task.Wall)
		if x.Call >= 0 {
			call := &p.Task.Calls[x.Call]
			start += length(min(call.Start, p.Task.Wall))
			wall = length(call.Wall)
		}
		l := link{p.Server, x.Server, start - at[x], far}
		// A call may have been given up before the work on it began, as the machine's clock says.
		if !servers[p.Server].sameMachine(servers[x.Server]) {
			l.most = l.least + wall
			if own := length(x.Task.Wall); own <= wall {
				l.most -= own
			}
		}
		links = append(links, l)
		ok = b.atMost(l.to, l.from, -l.least) && ok
	}
	if len(nodes) <= maxClocks && n > 1 {
		for _, x := range nodes {
			for _, y := range nodes {
				if x.Server != y.Server && x.Server < n && y.Server < n && x.Task.After.N > 0 && x.Task.After.Before(&y.Task.Before) {
					ok = b.atMost(y.Server, x.Server, at[y]-at[x]) && ok
				}
			}
		}
	}
	// What must be so is bounded by now. That work ends before its call is not so sure.
	for _, l := range links {
		if l.most < far {
			ok = b.atMost(l.from, l.to, l.most) && ok
		}
	}

	return b.nearest(servers, base), b, ok
}

// nearest returns for each server what moves its clock least of what the bounds permit. As they
// are closed, offsets can be chosen one after the other.
func (b bounds) nearest(servers []*Server, base []int64) []time.Duration {
	n := len(b)
	offset := make([]time.Duration, len(base))
	for j := range offset {
		low, high := -far, far
		asItIs := since(base[0], base[j])
		for i := range min(j, n) {
			if j < n && b[i][j] < far {
				high = min(high, offset[i]+b[i][j])
			}
			if j < n && b[j][i] < far {
				low = max(low, offset[i]-b[j][i])
			}
			if servers[i].sameMachine(servers[j]) {
				asItIs = offset[i] + since(base[i], base[j])
			}
		}
		if j > 0 {
			offset[j] = max(low, min(asItIs, high))
		}
	}
	return offset
}
